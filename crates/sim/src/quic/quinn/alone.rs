//! An end of `quinn-proto` as a peer, for callers with a network of their own.

use std::fmt;
use std::io::{self, Write};
use std::time::Duration;

use lasthop_peer::LogWriter;
use lasthop_stack::packet::{Ecn, NodeId};
use lasthop_stack::units::Time;
use quinn_proto::TransportConfig;

use super::super::{Log, Peer, Reader, Role, Stack, Writer};
use super::{Open, over};
use crate::engine::streams::Stream;

/// The longest UDP payload in an IP packet of 1500 B.
const PACKET: u16 = 1472;
/// The address of the other end; the connection only requires that it does not change.
const REMOTE: (NodeId, u16) = (NodeId(0), 443);
/// The address of this end, in its log.
const LOCAL: (NodeId, u16) = (NodeId(1), 443);

/// An end of `quinn-proto` with its application: it writes to one stream, and reads all at once.
///
/// The session has no cipher, and the lengths of one. Connection IDs and all random numbers of the connection come from a seed.
pub struct Quinn {
    end: Peer<Open>,
    writer: Writer,
    reader: Reader,
    /// It opens the connection and has not done so.
    opens: bool,
}

impl Quinn {
    /// The end that opens the connection, with this transport.
    #[must_use]
    pub fn client(seed: u64, transport: TransportConfig) -> Quinn {
        Quinn::new(Role::Client, seed, transport)
    }

    /// The end that accepts it, with this transport.
    #[must_use]
    pub fn server(seed: u64, transport: TransportConfig) -> Quinn {
        Quinn::new(Role::Server, seed, transport)
    }

    /// Writes this many bytes to a stream as soon as the connection is open, and ends the stream.
    #[must_use]
    pub fn writes(mut self, bytes: u64) -> Quinn {
        self.writer.write(bytes);
        self.writer.close();
        self
    }

    fn new(role: Role, seed: u64, transport: TransportConfig) -> Quinn {
        let stream = Stream::named(seed, 0, "quinn");
        Quinn {
            end: over(PACKET, role, REMOTE, stream, false, |_, _| transport),
            writer: Writer::new(1, false),
            reader: Reader::default(),
            opens: role == Role::Client,
        }
    }
}

impl lasthop_peer::Peer for Quinn {
    fn receive(&mut self, now: Duration, datagram: &[u8], ecn: u8) {
        self.end.up(datagram, Ecn::of_bits(ecn), [REMOTE.0, LOCAL.0], time(now));
    }

    fn send(&mut self, now: Duration, into: &mut Vec<u8>) -> Option<u8> {
        let now = time(now);
        if std::mem::take(&mut self.opens) {
            self.end.connect(now);
        }
        if self.end.next_at().is_some_and(|at| at <= now) {
            self.end.on_timer(now);
        }
        _ = self.end.work(&mut self.writer, &mut self.reader);
        self.end.next_datagram(now, into).map(|ecn| ecn as u8)
    }

    fn deadline(&mut self) -> Option<Duration> {
        self.end.next_at().map(|at| Duration::from_nanos(at.0))
    }

    fn delivered(&self) -> u64 {
        self.reader.delivered
    }

    fn log(&mut self, write: LogWriter) {
        let (name, role) = if self.opens { ("client", Role::Client) } else { ("server", Role::Server) };
        self.end.log(Log::new(Box::new(Written(write)), name, role), 0, LOCAL);
    }
}

/// What takes a log piece by piece.
struct Written(LogWriter);

impl Write for Written {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        (self.0)(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Debug for Quinn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Quinn").field("delivered", &self.reader.delivered).finish_non_exhaustive()
    }
}

fn time(now: Duration) -> Time {
    Time(now.as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_peer::Peer as _;
    use std::collections::VecDeque;

    const DELAY: Duration = Duration::from_millis(20);

    /// Both ends over a wire, until nothing happens any more: when the client had all, and all that the client sent.
    fn over_a_wire(seed: u64, bytes: u64) -> (Duration, Vec<Vec<u8>>) {
        let transport = || {
            let mut transport = TransportConfig::default();
            transport.max_idle_timeout(None);
            transport
        };
        let server = Quinn::server(seed + 1, transport()).writes(bytes);
        let mut ends = [Quinn::client(seed, transport()), server];
        let mut wire: VecDeque<(_, usize, _, _)> = VecDeque::new();
        let (mut now, mut complete, mut sent) = (Duration::ZERO, None, Vec::new());
        loop {
            for (side, end) in ends.iter_mut().enumerate() {
                let mut datagram = Vec::new();
                while let Some(ecn) = end.send(now, &mut datagram) {
                    wire.push_back((now + DELAY, 1 - side, datagram.clone(), ecn));
                    sent.extend((side == 0).then(|| datagram.clone()));
                }
            }
            if ends[0].delivered() == bytes {
                complete.get_or_insert(now);
            }
            let arrival = wire.front().map(|(at, ..)| *at);
            let deadlines = ends.each_mut().map(Quinn::deadline);
            let Some(next) = deadlines.into_iter().chain([arrival]).flatten().min() else { break };
            now = next.max(now);
            if arrival == Some(now)
                && let Some((_, side, datagram, ecn)) = wire.pop_front()
            {
                ends[side].receive(now, &datagram, ecn);
            }
        }
        (complete.expect("all arrives"), sent)
    }

    #[test]
    fn a_peer_of_quinn_opens_transfers_and_falls_silent_and_its_bytes_depend_on_its_seed_alone() {
        let (complete, sent) = over_a_wire(1, 10_000);
        // The handshake takes a round trip, and what the server writes leaves after the client's last flight.
        assert_eq!(complete, 4 * DELAY);
        assert_eq!(over_a_wire(1, 10_000).1, sent);
        assert_ne!(over_a_wire(3, 10_000).1, sent);
    }
}
