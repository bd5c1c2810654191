//! What the applications at both ends do with a connection.

use std::collections::VecDeque;

use bytes::Bytes;
use quinn_proto::{Connection, Dir, Event, StreamEvent, StreamId, VarInt, WriteError};

use super::Peer;
use lasthop_stack::units::Time;

/// What is written to a stream at a time, before it is the turn of the next one.
const CHUNK: u64 = 1 << 14;
/// What is written; a datagram has all at once.
static DATA: [u8; 1 << 16] = [0; 1 << 16];

/// The application that sends.
pub(crate) struct Writer {
    streams: Vec<StreamId>,
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

    fn pump(&mut self, connection: &mut Connection) {
        if !self.is_connected || self.is_finished {
            return;
        }
        for length in self.datagrams.iter_mut().flat_map(|datagrams| datagrams.drain(..)) {
            // One that is too large for the path is lost here.
            _ = connection.datagrams().send(Bytes::from_static(&DATA[..length as usize]), true);
        }
        while self.backlog > 0 && self.streams.len() < self.wanted as usize {
            let Some(stream) = connection.streams().open(Dir::Uni) else { break };
            self.streams.push(stream);
        }
        let mut blocked = 0;
        while self.backlog > 0 && blocked < self.streams.len() {
            let length = self.backlog.min(CHUNK) as usize;
            let mut chunk = [Bytes::from_static(&DATA[..length])];
            match connection.send_stream(self.streams[self.turn]).write_chunks(&mut chunk) {
                Ok(written) => {
                    self.backlog -= written.bytes as u64;
                    blocked = if written.bytes < length { blocked + 1 } else { 0 };
                }
                Err(WriteError::Blocked) => blocked += 1,
                Err(_) => return,
            }
            self.turn = (self.turn + 1) % self.streams.len();
        }
        if self.closes && self.backlog == 0 {
            for stream in &self.streams {
                _ = connection.send_stream(*stream).finish();
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

    fn read(&mut self, stream: StreamId, connection: &mut Connection) {
        let mut received = connection.recv_stream(stream);
        let Ok(mut chunks) = received.read(true) else { return };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => self.delivered += chunk.bytes.len() as u64,
                Ok(None) => {
                    self.ended += 1;
                    break;
                }
                Err(_) => break,
            }
        }
        // What may now be sent in addition goes with the next datagrams.
        let _ = chunks.finalize();
    }
}

impl Peer {
    /// The applications of this end act on what has happened: the one that sends, and the one that reads. Returns whether the
    /// handshake has just been completed.
    pub(crate) fn work(&mut self, writer: &mut Writer, reader: &mut Reader) -> bool {
        let Some((_, connection)) = &mut self.connection else { return false };
        let mut connected = false;
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected => connected = true,
                Event::Stream(StreamEvent::Opened { dir }) => {
                    while let Some(stream) = connection.streams().accept(dir) {
                        reader.streams += 1;
                        reader.read(stream, connection);
                    }
                }
                Event::Stream(StreamEvent::Readable { id }) => reader.read(id, connection),
                Event::Stream(StreamEvent::Finished { .. }) => writer.acknowledged += 1,
                Event::DatagramReceived => {
                    while let Some(datagram) = connection.datagrams().recv() {
                        reader.delivered += datagram.len() as u64;
                    }
                }
                _ => {}
            }
        }
        // A client that resumes sends at once, and its server answers before the handshake ends.
        writer.is_connected |= connected || connection.has_0rtt();
        writer.pump(connection);
        connected
    }

    /// Closes the connection.
    pub(crate) fn close(&mut self, now: Time) {
        let now = self.at(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.close(now, VarInt::from_u32(0), Bytes::new());
        }
    }
}
