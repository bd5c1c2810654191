//! Packets from each interface to the others, each at its time.

use std::collections::HashSet;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use lasthop_stack::units::{Span, Time};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::lateness::Lateness;
use super::network::Network;

/// Longer packets are cut off, and count as not an IP packet.
const LONGEST: usize = 16 * 1024;
/// Packets that are read from an interface before due ones are written again.
const AT_ONCE: usize = 32;
/// A packet that is shorter has little or no payload, and is mostly the only one of its time.
const ALONE: usize = 128;
/// The protocol number and the flags of TCP.
const TCP: u8 = 6;
const SYN: u8 = 0x02;
const ACK: u8 = 0x10;
/// Rounds without a pause before `stop` is looked at.
const BUSY: u32 = 64;

/// How a live run ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// When it ended.
    pub at: Time,
    /// How late packets were delivered.
    pub lateness: Lateness,
    /// Packets that an interface did not take.
    pub refused: u64,
}

/// What takes the metrics of a network, again and again.
pub struct Watch<'a> {
    /// The time between two samples.
    pub every: Span,
    /// Takes the metrics since the last sample, and the time.
    pub take: &'a mut dyn FnMut(Time, Vec<(String, Option<f64>)>),
}

/// What a relay calls.
#[derive(Default)]
pub struct Calls<'a> {
    /// Takes metrics.
    pub watch: Option<Watch<'a>>,
    /// Takes a port of TCP in the Internet to which a packet is the first that opens a connection, before it leaves.
    pub opens: Option<&'a mut dyn FnMut(u16)>,
}

/// A network under the wall clock.
struct Live<'a> {
    network: &'a mut Network,
    ends: &'a [BorrowedFd<'a>],
    /// The interfaces that may have packets.
    may_have: Vec<bool>,
    clock: Clock,
    lateness: Lateness,
    refused: u64,
    opens: Option<&'a mut dyn FnMut(u16)>,
    /// The ports that it took.
    opened: HashSet<u16>,
}

/// Relays packets between interfaces, which do not block, over a network, until its time is over or `stop` can be read. Interface
/// n is that of the n-th bound node; behind them is that of the Internet, if it is joined.
///
/// The network keeps its own time: an event in it happens at the time for which it was due, however late this thread
/// processes it. A packet enters it at the time at which it is read. A pause ends this `early` before the next event is due, because
/// threads wake up late, and the rest passes without one. In virtual time it is zero: a clock that stands still while threads
/// compute is read once after each pause, and not for each packet.
///
/// # Errors
/// An interface fails.
pub fn relay<'a>(
    network: &'a mut Network,
    ends: &'a [BorrowedFd<'a>],
    stop: BorrowedFd<'_>,
    clock: Clock,
    until: Time,
    early: Span,
    Calls { mut watch, opens }: Calls<'a>,
) -> io::Result<Ended> {
    let mut next_sample = watch.as_ref().map_or(Time::NEVER, |watch| Time(watch.every.0));
    let (lateness, opened) = (Lateness::default(), HashSet::new());
    let may_have = vec![false; ends.len()];
    let mut live = Live { network, ends, may_have, clock, lateness, refused: 0, opens, opened };
    live.clock.stands_still = early == Span::ZERO;
    let mut spare = vec![0; LONGEST];
    let watched = [stop].into_iter().chain(ends.iter().copied());
    let mut polled: Vec<_> = watched.map(|end| PollFd::from_borrowed_fd(end, PollFlags::IN)).collect();
    let mut busy = 0;
    loop {
        let now = live.clock.look();
        live.deliver(now.min(until))?;
        if now >= until {
            return Ok(live.end(until));
        }
        if let Some(watch) = watch.as_mut().filter(|_| now >= next_sample) {
            next_sample = now.after(watch.every);
            (watch.take)(now, live.network.sample());
        }
        for end in 0..ends.len() {
            live.collect(end, &mut spare)?;
        }
        let next = live.network.next_at().into_iter().fold(until.min(next_sample), Time::min);
        let is_idle = !live.may_have.contains(&true);
        let left = if is_idle { live.clock.left(next) } else { Span::ZERO };
        let pause = Span(left.0.saturating_sub(early.0));
        if pause == Span::ZERO && busy < BUSY {
            busy += 1;
            live.may_have.fill(true);
            continue;
        }
        busy = 0;
        wait(&mut polled, pause)?;
        if !polled[0].revents().is_empty() {
            let now = live.clock.look();
            live.deliver(now)?;
            return Ok(live.end(now));
        }
        for (may_have, end) in live.may_have.iter_mut().zip(&polled[1..]) {
            *may_have |= !end.revents().is_empty();
        }
    }
}

fn wait(polled: &mut [PollFd<'_>], span: Span) -> io::Result<()> {
    let timeout = Timespec::try_from(Duration::from_nanos(span.0)).map_err(io::Error::other)?;
    match poll(polled, Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Writes a packet to an interface, or a message; false if that does not take it.
fn write(end: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<bool> {
    match rustix::io::write(end, bytes) {
        Ok(_) => Ok(true),
        Err(Errno::AGAIN | Errno::NOBUFS | Errno::INVAL) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The port to which a packet opens a connection of TCP.
fn opening(bytes: &[u8]) -> Option<u16> {
    let segment = bytes.get(4 * usize::from(bytes.first()? & 0x0F)..)?;
    let is_first = bytes.get(9) == Some(&TCP) && segment.get(13)? & (SYN | ACK) == SYN;
    is_first.then(|| u16::from_be_bytes([segment[2], segment[3]]))
}

impl Live<'_> {
    /// Lets happen what is due, and writes the packets that arrive.
    fn deliver(&mut self, now: Time) -> io::Result<()> {
        self.network.advance(now);
        let internet = self.network.internet();
        while let Some((end, due, bytes)) = self.network.arrival() {
            if internet == Some(end)
                && let Some(opens) = &mut self.opens
                && let Some(port) = opening(bytes)
                && self.opened.insert(port)
            {
                opens(port);
            }
            self.lateness.add(self.clock.now().since(due));
            // A program behind the interface may answer.
            self.may_have[end] = true;
            self.refused += u64::from(!write(self.ends[end], bytes)?);
        }
        while let Some(end) = self.network.radios()
            && let Some((due, message)) = self.network.for_radios()
        {
            self.lateness.add(self.clock.now().since(due));
            self.may_have[end] = true;
            self.refused += u64::from(!write(self.ends[end], message)?);
        }
        Ok(())
    }

    /// Reads some packets of an interface, if it may have any.
    fn collect(&mut self, end: usize, spare: &mut [u8]) -> io::Result<()> {
        for _ in 0..AT_ONCE {
            if !self.may_have[end] {
                break;
            }
            let len = match rustix::io::read(self.ends[end], &mut *spare) {
                Ok(len) => len,
                Err(Errno::AGAIN | Errno::INTR) => {
                    self.may_have[end] = false;
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            self.may_have[end] = len >= ALONE;
            let now = self.clock.now();
            self.deliver(now)?;
            if self.network.radios() == Some(end) {
                self.refused += u64::from(!self.network.transmit(&spare[..len], now));
            } else {
                self.network.take(end, &spare[..len], now);
            }
        }
        Ok(())
    }

    fn end(self, at: Time) -> Ended {
        Ended { at, lateness: self.lateness, refused: self.refused }
    }
}

/// The time of a network under the wall clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    began: Instant,
    ahead: Span,
    /// The count of packets at the last check.
    seen: u64,
    stands_still: bool,
}

impl Clock {
    /// A clock that is at zero for this long from now on.
    #[expect(clippy::disallowed_methods, reason = "a relay runs in real time")]
    #[must_use]
    pub fn start(ahead: Span) -> Clock {
        Clock { began: Instant::now(), ahead, seen: 0, stands_still: false }
    }

    /// The time after a pause.
    fn look(&mut self) -> Time {
        self.seen = self.began.elapsed().as_nanos() as u64;
        self.at(self.seen)
    }

    fn at(&self, passed: u64) -> Time {
        Time(passed.saturating_sub(self.ahead.0))
    }

    fn passed(&self) -> u64 {
        if self.stands_still { self.seen } else { self.began.elapsed().as_nanos() as u64 }
    }

    fn now(&self) -> Time {
        self.at(self.passed())
    }

    /// How long it is until then.
    fn left(&self, at: Time) -> Span {
        Span(at.0.saturating_add(self.ahead.0).saturating_sub(self.passed()))
    }
}
