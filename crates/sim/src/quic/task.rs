//! What the applications at both ends do with a connection.

use std::collections::VecDeque;

use bytes::Bytes;

/// Bytes written to a stream before the turn of the next one.
const CHUNK: u64 = 1 << 14;
/// The data written; one datagram may contain all of it.
static DATA: [u8; 1 << 16] = [0; 1 << 16];

/// The application that sends.
pub(crate) struct Writer {
    streams: Vec<u64>,
    /// How many streams it uses.
    wanted: u32,
    /// The stream whose turn it is.
    turn: usize,
    /// Bytes that are still to be written.
    backlog: u64,
    /// Unreliable datagrams that wait for the handshake, by their lengths; `None` if it sends streams.
    datagrams: Option<VecDeque<u32>>,
    /// Nothing will be written after the backlog.
    closes: bool,
    is_finished: bool,
    is_connected: bool,
    /// Streams that the other end has acknowledged as a whole.
    acknowledged: usize,
}

/// The application that reads, at once.
#[derive(Default)]
pub(crate) struct Reader {
    /// Bytes in order, and in datagrams.
    pub(crate) delivered: u64,
    streams: usize,
    ended: usize,
}

impl Writer {
    /// One that writes to this many streams in turn, or in datagrams.
    pub(crate) fn new(streams: u32, sends_datagrams: bool) -> Writer {
        Writer {
            streams: Vec::new(),
            wanted: streams,
            turn: 0,
            backlog: 0,
            datagrams: sends_datagrams.then(VecDeque::new),
            closes: false,
            is_finished: false,
            is_connected: false,
            acknowledged: 0,
        }
    }

    /// Adds bytes to those to be written.
    pub(crate) fn write(&mut self, bytes: u64) {
        match &mut self.datagrams {
            Some(datagrams) => datagrams.push_back(bytes as u32),
            None => self.backlog += bytes,
        }
    }

    /// Ends after the backlog.
    pub(crate) fn close(&mut self) {
        self.closes = true;
    }

    /// Writes nothing more.
    pub(crate) fn stop(&mut self) {
        (self.backlog, self.closes) = (0, true);
    }

    /// Whether all is acknowledged.
    pub(crate) fn is_done(&self) -> bool {
        self.is_finished && self.acknowledged == self.streams.len()
    }

    fn pump(&mut self, connection: &mut impl Carrier) {
        if !self.is_connected || self.is_finished {
            return;
        }
        for length in self.datagrams.iter_mut().flat_map(|datagrams| datagrams.drain(..)) {
            connection.send_datagram(&DATA[..length as usize]);
        }
        while self.backlog > 0 && self.streams.len() < self.wanted as usize {
            let Some(stream) = connection.open() else { break };
            self.streams.push(stream);
        }
        let mut blocked = 0;
        while self.backlog > 0 && blocked < self.streams.len() {
            let length = self.backlog.min(CHUNK) as usize;
            let Some(written) = connection.write(self.streams[self.turn], &DATA[..length]) else { return };
            self.backlog -= written as u64;
            blocked = if written < length { blocked + 1 } else { 0 };
            self.turn = (self.turn + 1) % self.streams.len();
        }
        if self.closes && self.backlog == 0 {
            for stream in &self.streams {
                connection.finish(*stream);
            }
            self.is_finished = true;
        }
    }
}

impl Reader {
    /// Whether every stream has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.streams > 0 && self.ended == self.streams
    }
}

/// The applications of an end act on what has happened: the one that sends, and the one that reads. Returns whether the
/// handshake has just been completed.
pub(super) fn work(connection: &mut impl Carrier, writer: &mut Writer, reader: &mut Reader) -> bool {
    let connected = connection.happen(writer, reader);
    // A client that resumes sends at once, and its server answers before the handshake ends.
    writer.is_connected |= connected || connection.is_early();
    writer.pump(connection);
    connected
}

/// A connection as its applications use it.
pub(super) trait Carrier {
    /// Opens a stream if the other end lets it.
    fn open(&mut self) -> Option<u64>;

    /// Writes to a stream; how much of it, `None` if the connection is over.
    fn write(&mut self, stream: u64, data: &'static [u8]) -> Option<usize>;

    /// Ends a stream.
    fn finish(&mut self, stream: u64);

    /// Sends an unreliable datagram. One that is too large for the path is lost here.
    fn send_datagram(&mut self, data: &'static [u8]);

    /// Reads what has arrived, and notes what is acknowledged. Returns whether the handshake has just been completed.
    fn happen(&mut self, writer: &mut Writer, reader: &mut Reader) -> bool;

    /// Whether data may be sent before the handshake ends.
    fn is_early(&self) -> bool;
}

/// A stream of a stack by the number that the stack gave it.
macro_rules! stream_id {
    ($proto:ident, $stream:ident) => {
        $proto::StreamId::from($proto::VarInt::try_from($stream).expect("a number of the stack"))
    };
}

/// The connection of a stack; `$written` says how much of chunks it has written.
macro_rules! carrier {
    ($proto:ident, |$stream:ident, $chunk:ident| $written:expr) => {
        impl Carrier for $proto::Connection {
            fn open(&mut self) -> Option<u64> {
                self.streams().open($proto::Dir::Uni).map(u64::from)
            }

            fn write(&mut self, stream: u64, data: &'static [u8]) -> Option<usize> {
                let mut $stream = self.send_stream(stream_id!($proto, stream));
                let mut $chunk = [Bytes::from_static(data)];
                match $written {
                    Ok(written) => Some(written),
                    Err($proto::WriteError::Blocked) => Some(0),
                    Err(_) => None,
                }
            }

            fn finish(&mut self, stream: u64) {
                _ = self.send_stream(stream_id!($proto, stream)).finish();
            }

            fn send_datagram(&mut self, data: &'static [u8]) {
                _ = self.datagrams().send(Bytes::from_static(data), true);
            }

            fn happen(&mut self, writer: &mut Writer, reader: &mut Reader) -> bool {
                fn read(of: $proto::StreamId, connection: &mut $proto::Connection, reader: &mut Reader) {
                    let mut received = connection.recv_stream(of);
                    let Ok(mut chunks) = received.read(true) else { return };
                    loop {
                        match chunks.next(usize::MAX) {
                            Ok(Some(chunk)) => reader.delivered += chunk.bytes.len() as u64,
                            Ok(None) => {
                                reader.ended += 1;
                                break;
                            }
                            Err(_) => break,
                        }
                    }
                    // What may now be sent in addition goes with the next datagrams.
                    let _ = chunks.finalize();
                }
                let mut connected = false;
                while let Some(event) = self.poll() {
                    match event {
                        $proto::Event::Connected => connected = true,
                        $proto::Event::Stream($proto::StreamEvent::Opened { dir }) => {
                            while let Some(stream) = self.streams().accept(dir) {
                                reader.streams += 1;
                                read(stream, self, reader);
                            }
                        }
                        $proto::Event::Stream($proto::StreamEvent::Readable { id }) => read(id, self, reader),
                        $proto::Event::Stream($proto::StreamEvent::Finished { .. }) => {
                            writer.acknowledged += 1
                        }
                        $proto::Event::DatagramReceived => {
                            while let Some(datagram) = self.datagrams().recv() {
                                reader.delivered += datagram.len() as u64;
                            }
                        }
                        _ => {}
                    }
                }
                connected
            }

            fn is_early(&self) -> bool {
                self.has_0rtt()
            }
        }
    };
}

carrier!(quinn_proto, |stream, chunk| stream.write_chunks(&mut chunk).map(|written| written.bytes));
#[cfg(feature = "noq")]
carrier!(noq_proto, |stream, chunk| stream.write_chunks(&mut &mut chunk[..]));
