//! The modulation of an 802.16 link, frame by frame.
//!
//! Both directions of a link run the same law on streams of the same name, so they agree without shared state.

use lasthop_stack::packet::Modulation;
use lasthop_stack::units::{Span, Time};

use crate::engine::streams::Stream;

/// How the modulation of an 802.16 link changes.
#[derive(Clone, Debug, PartialEq)]
pub enum ModulationLaw {
    /// It does not.
    Fixed,
    /// At these times, ascending.
    Script(Vec<(Time, Modulation)>),
    /// After exponential times, to a neighbour; from the middle up or down with equal probability.
    Markov {
        /// Mean time between changes.
        mean: Span,
    },
    /// By a signal-to-noise ratio that is drawn anew after each coherence time, normal in decibels.
    Snr {
        /// Mean.
        mean_db: f64,
        /// Standard deviation.
        deviation_db: f64,
        /// How long one draw lasts.
        coherence: Span,
        /// Least ratio for 16-QAM.
        qam16_db: f64,
        /// Least ratio for 64-QAM.
        qam64_db: f64,
    },
}

/// A law with its stream and state.
#[derive(Clone, Debug)]
pub struct ModulationProcess {
    law: ModulationLaw,
    stream: Stream,
    current: Modulation,
    /// When the current one ends; for a script, when its next line begins.
    until: Time,
    next_line: usize,
}

impl ModulationProcess {
    /// A process at its start.
    #[must_use]
    pub fn new(law: ModulationLaw, start: Modulation, stream: Stream) -> ModulationProcess {
        let mut process = ModulationProcess { law, stream, current: start, until: Time::NEVER, next_line: 0 };
        match &process.law {
            ModulationLaw::Fixed => {}
            ModulationLaw::Script(lines) => process.until = lines.first().map_or(Time::NEVER, |line| line.0),
            ModulationLaw::Markov { mean } => {
                let stay = process.stream.exponential(mean.as_secs());
                process.until = Time::ZERO.after(Span::from_secs_f64(stay));
            }
            ModulationLaw::Snr { .. } => process.until = Time::ZERO,
        }
        process
    }

    /// The modulation in force in the frame that begins at `begins`, which never decreases.
    pub fn at(&mut self, begins: Time) -> Modulation {
        while self.until <= begins {
            self.step();
        }
        self.current
    }

    fn step(&mut self) {
        match &self.law {
            ModulationLaw::Fixed => self.until = Time::NEVER,
            ModulationLaw::Script(lines) => {
                self.current = lines[self.next_line].1;
                self.next_line += 1;
                self.until = lines.get(self.next_line).map_or(Time::NEVER, |line| line.0);
            }
            ModulationLaw::Markov { mean } => {
                let up = self.stream.chance(0.5);
                self.current = match self.current {
                    Modulation::Qam16 if up => Modulation::Qam64,
                    Modulation::Qam16 => Modulation::Qpsk,
                    Modulation::Qpsk | Modulation::Qam64 => Modulation::Qam16,
                };
                let stay = self.stream.exponential(mean.as_secs()).max(1e-9);
                self.until = self.until.after(Span::from_secs_f64(stay));
            }
            ModulationLaw::Snr { mean_db, deviation_db, coherence, qam16_db, qam64_db } => {
                let snr = mean_db + deviation_db * self.stream.normal();
                self.current = if snr >= *qam64_db {
                    Modulation::Qam64
                } else if snr >= *qam16_db {
                    Modulation::Qam16
                } else {
                    Modulation::Qpsk
                };
                self.until = self.until.after(*coherence);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(law: ModulationLaw) -> ModulationProcess {
        ModulationProcess::new(law, Modulation::Qam16, Stream::named(1, 0, "links.air.modulation"))
    }

    fn ms(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    /// Shares of the three over a million milliseconds.
    fn shares(law: ModulationLaw) -> [f64; 3] {
        let mut process = process(law);
        let mut count = [0.0; 3];
        for frame in 0..1_000_000 {
            count[process.at(ms(frame)) as usize] += 1e-6;
        }
        count
    }

    #[test]
    fn a_script_is_followed_from_the_frame_that_begins_at_its_time() {
        use Modulation::{Qam16, Qam64, Qpsk};
        let lines = vec![(ms(10), Modulation::Qpsk), (ms(20), Modulation::Qam64)];
        let mut process = process(ModulationLaw::Script(lines));
        let met = [0, 9, 10, 19, 20, 500].map(|at| process.at(ms(at)));
        assert_eq!(met, [Qam16, Qam16, Qpsk, Qpsk, Qam64, Qam64]);
    }

    #[test]
    fn the_markov_law_spends_half_of_its_time_in_the_middle() {
        let share = shares(ModulationLaw::Markov { mean: Span::from_millis(50) });
        for (found, expected) in share.into_iter().zip([0.25, 0.5, 0.25]) {
            assert!((found - expected).abs() < 0.02, "{share:?}");
        }
    }

    #[test]
    fn thresholds_cut_the_normal_law_where_they_should() {
        let law = ModulationLaw::Snr {
            mean_db: 15.0,
            deviation_db: 4.0,
            coherence: Span::from_millis(3),
            qam16_db: 11.0,
            qam64_db: 19.0,
        };
        // One standard deviation either side: 15.87 %, 68.27 %, 15.87 %.
        for (found, expected) in shares(law).into_iter().zip([0.1587, 0.6827, 0.1587]) {
            assert!((found - expected).abs() < 0.004, "{found} {expected}");
        }
    }

    #[test]
    fn both_directions_of_a_link_see_the_same() {
        let law = ModulationLaw::Markov { mean: Span::from_millis(5) };
        let (mut down, mut up) = (process(law.clone()), process(law));
        for frame in (0..10_000).step_by(7) {
            assert_eq!(down.at(ms(frame)), up.at(ms(frame)));
        }
    }
}
