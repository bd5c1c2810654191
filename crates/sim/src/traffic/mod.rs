//! Traffic sources: when and how much an application writes.
//!
//! A source that sends by itself is a [`Source`]. A source that answers the requests of a user, session by session, is
//! driven by what arrives; [`sessions`] gives the requests of its user.

mod config;
pub mod sessions;
mod web;

pub use config::{AppConfig, AppKind, Files, OnOffLaw, PageModel, Pages, PauseLaw, Shares, UserConfig};

use lasthop_stack::units::{Bytes, Rate, Span, Time};

use crate::engine::streams::Stream;

/// The action of a source when its time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// It writes without end.
    WriteForEver,
    /// It writes this many bytes and closes.
    WriteAndClose(u64),
    /// It writes one packet of this many bytes, and acts again at this time.
    WritePacket(u32, Time),
    /// It acts again at this time.
    Wait(Time),
}

/// Bursts that one act goes through one by one. Of more, the number and the pauses are drawn together, where their law allows it.
pub(crate) const MOST_BURSTS: u32 = 4096;

/// A source with its stream and state.
#[derive(Clone, Debug)]
pub struct Source {
    kind: AppKind,
    stream: Stream,
    burst_ends: Time,
    /// Until its next packet, in the time of bursts, where it waits for that.
    distance: Option<Span>,
    /// Bytes of a file that went as datagrams.
    sent: u64,
}

impl Source {
    /// A source that has not started.
    #[must_use]
    pub fn new(kind: AppKind, stream: Stream) -> Source {
        Source { kind, stream, burst_ends: Time::ZERO, distance: None, sent: 0 }
    }

    /// Its present action.
    pub fn act(&mut self, now: Time) -> Act {
        match self.kind {
            AppKind::Bulk => Act::WriteForEver,
            AppKind::File { size } => Act::WriteAndClose(size.0),
            AppKind::Datagrams { size, packet, rate } => {
                let bytes = u64::from(packet).min(size.0 - self.sent) as u32;
                self.sent += u64::from(bytes);
                let next = rate.map_or(now, |rate| now.after(interval(rate, packet)));
                Act::WritePacket(bytes, if self.sent < size.0 { next } else { Time::NEVER })
            }
            AppKind::Cbr { rate, packet } => Act::WritePacket(packet, now.after(interval(rate, packet))),
            AppKind::Ping { interval, packet } => Act::WritePacket(packet, now.after(interval)),
            AppKind::Poisson { rate, packet } => {
                let mean = interval(rate, packet).as_secs();
                let next = now.after(Span::from_secs_f64(self.stream.exponential(mean)));
                Act::WritePacket(packet, next)
            }
            AppKind::OnOff { rate, packet, on, off, law } => {
                if self.burst_ends == Time::ZERO {
                    self.burst_ends = now.after(draw(&mut self.stream, on, law));
                }
                if let Some(distance) = self.distance.take() {
                    return Act::Wait(self.after_bursts(now, distance, Bursts { on, off, law }));
                }
                let next = self.after_bursts(now, interval(rate, packet), Bursts { on, off, law });
                Act::WritePacket(packet, next)
            }
            AppKind::User(_) => unreachable!("who serves a user writes what it is asked for"),
        }
    }
}

/// The mean lengths of bursts and of the pauses between them, and their law.
#[derive(Clone, Copy)]
struct Bursts {
    on: Span,
    off: Span,
    law: OnOffLaw,
}

impl Source {
    /// When so much time of bursts has passed. The rest of the distance to the next packet when a burst ends is carried
    /// over the pause, so that the mean rate is right for short bursts too. Where these are too many to go through, the
    /// time at which the source acts again, with [`Self::distance`] to go.
    fn after_bursts(&mut self, now: Time, distance: Span, bursts: Bursts) -> Time {
        let Bursts { on, off, law } = bursts;
        let mut next = now.after(distance);
        for burst in 0..=MOST_BURSTS {
            if next < self.burst_ends || next == Time::NEVER {
                return next;
            }
            let left = next - self.burst_ends;
            let mut begins = self.burst_ends.after(draw(&mut self.stream, off, law));
            if burst == MOST_BURSTS {
                self.distance = Some(left);
                self.burst_ends = begins.after(draw(&mut self.stream, on, law));
                return begins;
            }
            let (skipped, pauses) = self.skipped(left, bursts);
            begins = begins.after(skipped).after(pauses);
            self.burst_ends = begins.after(draw(&mut self.stream, on, law));
            next = begins.after(left - skipped);
        }
        next
    }

    /// Whole bursts in a time of bursts, which are more than [`MOST_BURSTS`] in the mean, and the pauses after them.
    /// Those of a fixed length are taken as they are. Of exponential ones the number has the law of Poisson and their
    /// pauses that of Erlang, both of which are normal for large numbers. Others have no mean spread, or a large one,
    /// and are not drawn together.
    fn skipped(&mut self, time: Span, bursts: Bursts) -> (Span, Span) {
        let Bursts { on, off, law } = bursts;
        let mean = time.as_secs() / on.as_secs();
        if mean <= f64::from(MOST_BURSTS) {
            return (Span::ZERO, Span::ZERO);
        }
        match law {
            OnOffLaw::Fixed => {
                let bursts = time.0 / on.0 - 1;
                (Span(bursts * on.0), Span(bursts.saturating_mul(off.0)))
            }
            OnOffLaw::Exponential => {
                let bursts = (mean + mean.sqrt() * self.stream.normal()).max(0.0);
                let pauses = off.as_secs() * (bursts + bursts.sqrt() * self.stream.normal());
                (time, Span::from_secs_f64(pauses.max(0.0)))
            }
            OnOffLaw::Pareto(_) => (Span::ZERO, Span::ZERO),
        }
    }
}

/// When a source starts. Without a spread no draw is needed.
pub(crate) fn start_of(app: &AppConfig, stream: impl FnOnce() -> Stream) -> Time {
    if app.spread == Span::ZERO {
        return app.start;
    }
    app.start.after(Span::from_secs_f64(app.spread.as_secs() * stream().uniform()))
}

/// The time between packets that makes `rate` of payload.
fn interval(rate: Rate, packet: u32) -> Span {
    Bytes(u64::from(packet)).time_at(rate)
}

fn draw(stream: &mut Stream, mean: Span, law: OnOffLaw) -> Span {
    let seconds = match law {
        OnOffLaw::Exponential => stream.exponential(mean.as_secs()),
        OnOffLaw::Pareto(shape) => stream.pareto(mean.as_secs(), shape),
        OnOffLaw::Fixed => return mean,
    };
    Span::from_secs_f64(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written_in(kind: AppKind, seconds: u64) -> f64 {
        let mut source = Source::new(kind, Stream::named(5, 0, "source"));
        let (mut now, mut bytes) = (Time::ZERO, 0u64);
        while now < Time(seconds * 1_000_000_000) {
            now = match source.act(now) {
                Act::WritePacket(packet, next) => {
                    bytes += u64::from(packet);
                    next
                }
                Act::Wait(next) => next,
                other => panic!("{other:?}; a packet source writes packets"),
            };
        }
        bytes as f64 * 8.0 / seconds as f64
    }

    #[test]
    fn a_file_of_datagrams_ends_with_what_is_left() {
        let acts = |rate| {
            let kind = AppKind::Datagrams { size: Bytes(2500), packet: 1000, rate };
            let mut source = Source::new(kind, Stream::named(5, 0, "source"));
            let mut now = Time(7);
            let mut acts = Vec::new();
            while now < Time::NEVER {
                let Act::WritePacket(bytes, next) = source.act(now) else { panic!("a datagram") };
                acts.push((now.0, bytes));
                now = next;
            }
            acts
        };
        assert_eq!(acts(Some(Rate(8_000_000))), [(7, 1000), (1_000_007, 1000), (2_000_007, 500)]);
        assert_eq!(acts(None), [(7, 1000), (7, 1000), (7, 500)]);
    }

    #[test]
    fn a_constant_rate_source_writes_at_its_rate() {
        let rate = written_in(AppKind::Cbr { rate: Rate(1_000_000), packet: 500 }, 100);
        assert!((rate - 1e6).abs() < 100.0, "{rate}");
    }

    #[test]
    fn a_poisson_source_writes_at_its_mean_rate() {
        let rate = written_in(AppKind::Poisson { rate: Rate(1_000_000), packet: 500 }, 1000);
        assert!((rate - 1e6).abs() < 1e4, "{rate}");
    }

    #[test]
    fn an_on_off_source_writes_its_rate_times_the_share_it_is_on() {
        for law in [OnOffLaw::Fixed, OnOffLaw::Exponential, OnOffLaw::Pareto(2.5)] {
            for (on, off) in [(500, 1500), (20, 60)] {
                let (on, off) = (Span::from_millis(on), Span::from_millis(off));
                let kind = AppKind::OnOff { rate: Rate(1_000_000), packet: 1000, on, off, law };
                let rate = written_in(kind, 20_000);
                assert!((rate - 0.25e6).abs() < 0.015e6, "{law:?}: {rate}");
            }
        }
    }

    /// A packet of 8 ms takes 8000 bursts, and 8 million. The last are too many to draw each.
    #[test]
    fn bursts_far_shorter_than_a_packet_have_the_same_rate_and_take_no_time_to_draw() {
        for (law, nanoseconds) in [
            (OnOffLaw::Fixed, 1000),
            (OnOffLaw::Fixed, 1),
            (OnOffLaw::Exponential, 1000),
            (OnOffLaw::Exponential, 1),
            (OnOffLaw::Pareto(2.5), 1000),
        ] {
            let (on, off) = (Span(nanoseconds), Span(3 * nanoseconds));
            let kind = AppKind::OnOff { rate: Rate(1_000_000), packet: 1000, on, off, law };
            let rate = written_in(kind, 20);
            assert!((rate - 0.25e6).abs() < 0.001e6, "{law:?} of {on:?}: {rate}");
        }
    }

    #[test]
    fn fixed_bursts_that_are_skipped_end_when_those_gone_through_one_by_one_do() {
        let (on, off, law) = (Span(700), Span(1300), OnOffLaw::Fixed);
        for distance in [Span(700 * 5000), Span(700 * 5000 + 699), Span(3_141_592_653)] {
            let mut source = Source::new(AppKind::Bulk, Stream::named(5, 0, "source"));
            source.burst_ends = Time(1_000_700);
            // `distance / on` pauses, since the burst has just begun.
            let expected = Time(1_000_000 + distance.0 + distance.0 / on.0 * off.0);
            assert_eq!(source.after_bursts(Time(1_000_000), distance, Bursts { on, off, law }), expected);
        }
    }
}
