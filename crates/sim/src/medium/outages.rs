//! When a link is down.
//!
//! Outages are intervals of time that a law generates, one after another, independently of what is sent. Each user of
//! them has its own process on a stream of the same name. Both directions of a wire, its medium, and the reports to
//! endpoints thus agree without shared state, and none of them shifts the draws of others.

use lasthop_stack::units::{Span, Time};

use crate::engine::streams::Stream;

/// The shortest outage, and the shortest time between two, that is drawn.
const SHORTEST_S: f64 = 1e-9;

/// When a link goes down, and for how long.
#[derive(Clone, Debug, PartialEq)]
pub enum OutageLaw {
    /// At these times, ascending, and for so long; none begins before the one before it has ended.
    Script(Vec<(Time, Span)>),
    /// At equal intervals.
    Periodic {
        /// The first.
        first: Time,
        /// From one to the next.
        every: Span,
        /// How long each lasts, less than the interval.
        lasts: Span,
    },
    /// For exponential times, after exponential times.
    Random {
        /// Mean time from an outage to the next.
        mean_up: Span,
        /// Mean time of an outage.
        mean_down: Span,
    },
    /// While a node is at another link, between which it is handed off.
    Away {
        /// When it is handed off.
        law: HandoffLaw,
        /// How long it is at neither.
        gap: Span,
        /// Whether it is at the other link first.
        begins_away: bool,
    },
}

/// When a node is handed off.
#[derive(Clone, Debug, PartialEq)]
pub enum HandoffLaw {
    /// At these times, ascending, the gap apart at least.
    Script(Vec<Time>),
    /// At equal intervals, longer than the gap.
    Periodic {
        /// The first.
        first: Time,
        /// From one to the next.
        every: Span,
    },
    /// At exponential times after the end of the one before.
    Random {
        /// Mean time at a link.
        mean: Span,
    },
}

/// A time during which a link is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Its begin.
    pub down: Time,
    /// Its end.
    pub up: Time,
}

impl Outage {
    /// None any more.
    const NEVER: Outage = Outage { down: Time::NEVER, up: Time::NEVER };
}

/// A law of hand-offs with its stream and state.
#[derive(Clone, Debug)]
pub struct Handoffs {
    law: HandoffLaw,
    gap: Span,
    stream: Stream,
    number: usize,
    last: Option<Time>,
}

impl Handoffs {
    /// Those of a law, from the first.
    #[must_use]
    pub fn new(law: HandoffLaw, gap: Span, stream: Stream) -> Handoffs {
        Handoffs { law, gap, stream, number: 0, last: None }
    }

    /// When the next begins.
    pub fn next_begin(&mut self) -> Time {
        let begin = match &self.law {
            HandoffLaw::Script(times) => times.get(self.number).copied().unwrap_or(Time::NEVER),
            HandoffLaw::Periodic { first, every } => self.last.map_or(*first, |last| last.after(*every)),
            HandoffLaw::Random { mean } => {
                let stays = Span::from_secs_f64(self.stream.exponential(mean.as_secs()).max(SHORTEST_S));
                self.last.map_or(Time::ZERO, |last| last.after(self.gap)).after(stays)
            }
        };
        self.number += 1;
        self.last = Some(begin);
        begin
    }
}

/// The outages of a link by one law.
#[derive(Clone, Debug)]
pub struct Outages {
    source: Source,
    /// The first that has not been passed.
    current: Outage,
}

#[derive(Clone, Debug)]
enum Source {
    Own { law: OutageLaw, stream: Stream, number: usize },
    Away { handoffs: Handoffs, gap: Span, is_first: bool, begins_away: bool },
}

impl Outages {
    /// Those of a law, from the first.
    #[must_use]
    pub fn new(law: OutageLaw, stream: Stream) -> Outages {
        let source = match law {
            OutageLaw::Away { law, gap, begins_away } => {
                Source::Away { handoffs: Handoffs::new(law, gap, stream), gap, is_first: true, begins_away }
            }
            law => Source::Own { law, stream, number: 0 },
        };
        let mut outages = Outages { source, current: Outage { down: Time::ZERO, up: Time::ZERO } };
        outages.pass();
        outages
    }

    /// The first outage that has not been passed.
    #[must_use]
    pub fn current(&self) -> Outage {
        self.current
    }

    /// Passes the current outage.
    pub fn pass(&mut self) {
        let before = self.current;
        self.current = match &mut self.source {
            Source::Own { law, stream, number } => {
                *number += 1;
                own(law, stream, *number - 1, before)
            }
            Source::Away { handoffs, gap, is_first, begins_away } => {
                let down = if *is_first && *begins_away { Time::ZERO } else { handoffs.next_begin() };
                *is_first = false;
                let up = if down == Time::NEVER { down } else { handoffs.next_begin().after(*gap) };
                Outage { down, up }
            }
        };
    }

    /// Whether the link is down at any time from `from` to `to`. The times requested never decrease.
    pub fn cuts(&mut self, from: Time, to: Time) -> bool {
        while self.current.up <= from {
            if self.current == Outage::NEVER {
                return false;
            }
            self.pass();
        }
        self.current.down < to || self.current.down <= from
    }

    /// The first time from `at` at which the link is up. The times requested never decrease.
    pub fn up_from(&mut self, at: Time) -> Time {
        if self.cuts(at, at) { self.current.up } else { at }
    }
}

fn own(law: &OutageLaw, stream: &mut Stream, number: usize, before: Outage) -> Outage {
    match law {
        OutageLaw::Script(lines) => lines
            .get(number)
            .map_or(Outage::NEVER, |(down, lasts)| Outage { down: *down, up: down.after(*lasts) }),
        OutageLaw::Periodic { first, every, lasts } => {
            let down = if number == 0 { *first } else { before.down.after(*every) };
            Outage { down, up: down.after(*lasts) }
        }
        OutageLaw::Random { mean_up, mean_down } => {
            let mut draw =
                |mean: &Span| Span::from_secs_f64(stream.exponential(mean.as_secs()).max(SHORTEST_S));
            let down = before.up.after(draw(mean_up));
            Outage { down, up: down.after(draw(mean_down)) }
        }
        OutageLaw::Away { .. } => Outage::NEVER,
    }
}

/// All that cuts what a link carries.
#[derive(Clone, Debug, Default)]
pub struct Cuts {
    of: Vec<(Option<u32>, Outages)>,
    /// Whether what waits for the link is kept until it is up, where the first of them is an outage of the link itself.
    is_kept: bool,
}

impl Cuts {
    /// Cuts of all that is carried, or of what one station sends or hears; at most 64.
    #[must_use]
    pub fn new(of: Vec<(Option<u32>, Outages)>, is_kept: bool) -> Option<Cuts> {
        debug_assert!(of.len() <= 64, "a mask has a bit for each");
        (!of.is_empty()).then_some(Cuts { of, is_kept })
    }

    /// Those in force at any time from `from` to `to`, a bit for each. The times requested never decrease.
    #[inline]
    pub fn mask(&mut self, from: Time, to: Time) -> u64 {
        let mut mask = 0;
        for (place, (_, outages)) in self.of.iter_mut().enumerate() {
            mask |= u64::from(outages.cuts(from, to)) << place;
        }
        mask
    }

    /// Whether those of a mask cut what `from` sends to `to`.
    #[must_use]
    pub fn between(&self, mask: u64, from: u32, to: u32) -> bool {
        let is_meant = |station: Option<u32>| station.is_none_or(|station| station == from || station == to);
        mask != 0 && (0..self.of.len()).any(|place| mask >> place & 1 == 1 && is_meant(self.of[place].0))
    }

    /// The time at which a transmission due at `at` begins. The times requested never decrease.
    pub fn begins(&mut self, at: Time) -> Time {
        match self.of.first_mut() {
            Some((None, outages)) if self.is_kept => outages.up_from(at),
            _ => at,
        }
    }
}

#[cfg(test)]
mod tests;
