//! Packets from one interface to the other, each at its time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use lasthop_stack::units::{Span, Time};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::lateness::Lateness;
use super::path::{Fate, Path, Way};

/// Longer packets are cut off, and count as not an IP packet.
const LONGEST: usize = 16 * 1024;
/// Packets that are read from an interface before due ones are written again.
const AT_ONCE: usize = 32;

/// How a relay ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// How long it ran.
    pub length: Span,
    /// How late packets were delivered.
    pub lateness: Lateness,
    /// Packets that an interface did not take.
    pub refused: u64,
}

/// Room for packets: one that is being read, and those that were delivered.
struct Spare {
    bytes: Vec<u8>,
    used: Vec<Vec<u8>>,
}

/// When a packet arrives, its number, the link that it has reached if it is not the end, and its bytes.
type Due = (Time, u64, Option<usize>, Vec<u8>);

/// One direction: the packets under way, the first to arrive first.
struct Under<'a> {
    way: &'a mut Way,
    from: BorrowedFd<'a>,
    to: BorrowedFd<'a>,
    pipe: BinaryHeap<Reverse<Due>>,
    number: u64,
}

/// Relays packets between two interfaces, which do not block, over a path: for `length`, or until `stop` can be read.
///
/// # Errors
/// An interface fails.
pub fn relay(
    path: &mut Path,
    ends: [BorrowedFd<'_>; 2],
    stop: BorrowedFd<'_>,
    length: Span,
) -> io::Result<Ended> {
    let clock = Clock::start();
    let [there, back] = &mut path.ways;
    let mut ways = [Under::new(there, ends[0], ends[1]), Under::new(back, ends[1], ends[0])];
    let mut ended = Ended { length, lateness: Lateness::default(), refused: 0 };
    let mut spare = Spare { bytes: vec![0; LONGEST], used: Vec::new() };
    let until = Time(length.0);
    loop {
        let mut is_idle = true;
        for way in &mut ways {
            ended.refused += way.deliver(&clock, &mut ended.lateness, &mut spare)?;
        }
        for way in &mut ways {
            is_idle &= way.collect(&clock, &mut spare)?;
        }
        let now = clock.now();
        if now >= until {
            return Ok(ended);
        }
        let next = ways.iter().filter_map(|way| way.pipe.peek()).map(|Reverse((due, ..))| *due).min();
        let next = next.map_or(until, |due| due.min(until));
        if !is_idle || next <= now {
            continue;
        }
        let mut polled = [stop, ends[0], ends[1]].map(|end| PollFd::from_borrowed_fd(end, PollFlags::IN));
        wait(&mut polled, next.since(now))?;
        if !polled[0].revents().is_empty() {
            return Ok(Ended { length: Span(clock.now().0), ..ended });
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

impl<'a> Under<'a> {
    fn new(way: &'a mut Way, from: BorrowedFd<'a>, to: BorrowedFd<'a>) -> Under<'a> {
        Under { way, from, to, pipe: BinaryHeap::new(), number: 0 }
    }

    /// Writes what is due, and returns how many packets the interface did not take.
    fn deliver(&mut self, clock: &Clock, lateness: &mut Lateness, spare: &mut Spare) -> io::Result<u64> {
        let mut refused = 0;
        while let Some(Reverse((due, ..))) = self.pipe.peek() {
            let now = clock.now();
            if *due > now {
                break;
            }
            let Some(Reverse((due, _, place, bytes))) = self.pipe.pop() else { break };
            if let Some(place) = place {
                let fate = self.way.resume(&bytes, place, due);
                self.put(fate, &bytes, spare);
                spare.used.push(bytes);
                continue;
            }
            lateness.add(now.since(due));
            match rustix::io::write(self.to, &bytes) {
                Ok(_) => {}
                Err(Errno::AGAIN | Errno::NOBUFS | Errno::INVAL) => refused += 1,
                Err(error) => return Err(error.into()),
            }
            spare.used.push(bytes);
        }
        Ok(refused)
    }

    /// Reads what the interface has, and returns whether that was all.
    fn collect(&mut self, clock: &Clock, spare: &mut Spare) -> io::Result<bool> {
        for _ in 0..AT_ONCE {
            let len = match rustix::io::read(self.from, &mut spare.bytes[..]) {
                Ok(len) => len,
                Err(Errno::AGAIN | Errno::INTR) => return Ok(true),
                Err(error) => return Err(error.into()),
            };
            let read = std::mem::take(&mut spare.bytes);
            let fate = self.way.take(&read[..len], clock.now());
            self.put(fate, &read[..len], spare);
            spare.bytes = read;
        }
        Ok(false)
    }

    /// Puts a packet on its way, and its copies.
    fn put(&mut self, fate: Fate, read: &[u8], spare: &mut Spare) {
        let copies = self.way.copies.drain(..);
        for fate in [fate].into_iter().chain(copies) {
            let (at, place) = match fate {
                Fate::Arrives(at) => (at, None),
                Fate::Under(at, place) => (at, Some(place)),
                Fate::Dropped | Fate::Policed | Fate::Lost | Fate::Ignored => continue,
            };
            let mut bytes = spare.used.pop().unwrap_or_default();
            bytes.clear();
            bytes.extend_from_slice(read);
            self.number += 1;
            self.pipe.push(Reverse((at, self.number, place, bytes)));
        }
    }
}

/// Time since the start of a relay.
struct Clock(Instant);

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "a relay runs in real time")]
    fn start() -> Clock {
        Clock(Instant::now())
    }

    fn now(&self) -> Time {
        Time(self.0.elapsed().as_nanos() as u64)
    }
}
