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

/// What a source does when its time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// It writes without end.
    WriteForEver,
    /// It writes this many bytes and closes.
    WriteAndClose(u64),
    /// It writes one packet of this many bytes, and acts again at this time.
    WritePacket(u32, Time),
}

/// A source with its stream and state.
#[derive(Clone, Debug)]
pub struct Source {
    kind: AppKind,
    stream: Stream,
    burst_ends: Time,
    /// Bytes of a file that went as datagrams.
    sent: u64,
}

impl Source {
    /// A source that has not started.
    #[must_use]
    pub fn new(kind: AppKind, stream: Stream) -> Source {
        Source { kind, stream, burst_ends: Time::ZERO, sent: 0 }
    }

    /// What it does now.
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
                // What is left of the distance to the next packet when a burst ends is carried over the pause, so that
                // the mean rate is right for short bursts too.
                let mut next = now.after(interval(rate, packet));
                while next >= self.burst_ends && next < Time::NEVER {
                    let left = next - self.burst_ends;
                    let begins = self.burst_ends.after(draw(&mut self.stream, off, law));
                    self.burst_ends = begins.after(draw(&mut self.stream, on, law));
                    next = begins.after(left);
                }
                Act::WritePacket(packet, next)
            }
            AppKind::User(_) => unreachable!("who serves a user writes what it is asked for"),
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
            let Act::WritePacket(packet, next) = source.act(now) else {
                panic!("a packet source writes packets")
            };
            bytes += u64::from(packet);
            now = next;
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
}
