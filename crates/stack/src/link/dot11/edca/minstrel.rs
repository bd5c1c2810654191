//! Minstrel-HT: selects the mode of data frames by the share of MPDUs that was acknowledged.
//!
//! **Limits.** The categories of a receiver learn separately. No legacy rates, no RTS before fallback rates.
//!
//! **Source.** Linux 6.12, `net/mac80211/rc80211_minstrel_ht.c`.
//!
//! **How.** Each rung of the ladder has an average of its success, over windows of 50 ms in which it was used. Each
//! update keeps 3/4 of the old value and adds 1/4 of the value in the window. The throughput of a rung is that success
//! over the time of a packet of 1200 bytes with its share of an A-MPDU's overhead. It is zero below a success of 10 %,
//! and at most that of 90 %. At the end of a window the best, the second and the surest rung are chosen. A PPDU goes at
//! the best; after two failures without an answer at the second, after four at the surest. Every 20 ms a PPDU of one
//! MPDU samples another rung. Of six samples, three are of the next faster rung, two of all faster ones in turn, and
//! one of the slower ones in turn. No rung whose success is above 95 % is sampled.
//!
//! **Choices.** 1. The faster rungs take turns, where Linux draws one: a run needs no random numbers for it. 2. The
//! window ends at once when more than 30 of its MPDUs have gone at the best rung and fewer than 20 % of them arrived,
//! whatever the number of streams. 3. A rung has two attempts in the chain, as Linux has for long A-MPDUs. 4. The first
//! rung is the slowest. 5. A missing CTS counts as an A-MPDU without BlockAck, as ath9k reports it. 6. BlockAckReqs go
//! at the slowest rung, as in Linux.

use super::super::mode::Mode;
use crate::units::{Span, Time};

/// A window of the statistics.
const WINDOW: Span = Span::from_millis(50);
/// Between two samples.
const SAMPLE: Span = Span::from_millis(20);
/// The part of the old average that stays.
const OLD: f64 = 0.75;
/// Bits of the packet whose time is compared.
const PACKET_BITS: f64 = 8.0 * 1_200.0;
/// A success below it gives no throughput; one above the second counts as that.
const SUCCESSES: [f64; 2] = [0.1, 0.9];
/// Above it the surest rung is the one with the most throughput.
const SURE: f64 = 0.75;
/// A rung with more success is not sampled.
const NO_DOUBT: f64 = 0.95;
/// Sudden death: more MPDUs than this in a window, and a smaller part of them arrived.
const DEATH: (u32, f64) = (30, 0.2);
/// Failures without an answer after which the next of the chain is used.
const ATTEMPTS: u32 = 2;

/// Which rung a sample tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sample {
    Next,
    Faster,
    Slower,
}

const SAMPLES: [Sample; 6] =
    [Sample::Next, Sample::Faster, Sample::Next, Sample::Faster, Sample::Next, Sample::Slower];

/// What is known of a rung.
#[derive(Clone, Copy, Debug, Default)]
struct Rung {
    /// MPDUs of this window: sent, and acknowledged.
    sent: u32,
    acknowledged: u32,
    /// The average of its success, once it was used.
    success: Option<f64>,
    /// Bits per second by the last average.
    throughput: f64,
}

/// The statistics for one receiver.
#[derive(Clone, Debug)]
pub(super) struct Minstrel {
    rungs: Vec<Rung>,
    /// Time of a packet at each rung, s.
    times: Vec<f64>,
    /// What a PPDU takes besides its packets, s.
    overhead: f64,
    /// MPDUs of a PPDU: the average, and those of this window with their PPDUs.
    length: f64,
    lengths: (u32, u32),
    best: usize,
    second: usize,
    surest: usize,
    window_ends: Time,
    sample_at: Time,
    /// The next kind of sample, and how far the turns of the faster and the slower rungs are.
    turn: usize,
    turns: [usize; 2],
    /// The rung of the last PPDU, and whether it was a sample.
    used: usize,
    pub(super) is_sample: bool,
    /// PPDUs in a row without an answer.
    unanswered: u32,
}

impl Minstrel {
    /// Nothing is known. `overhead` is what a PPDU takes besides its preamble and its data.
    pub(super) fn new(ladder: &[Mode], overhead: Span) -> Minstrel {
        let preamble = ladder.first().map_or(Span::ZERO, |mode| mode.preamble());
        Minstrel {
            rungs: vec![Rung::default(); ladder.len()],
            times: ladder.iter().map(|mode| PACKET_BITS / mode.rate().0 as f64).collect(),
            overhead: (overhead + preamble).as_secs(),
            length: 1.0,
            lengths: (0, 0),
            best: 0,
            second: 0,
            surest: 0,
            window_ends: Time::ZERO,
            sample_at: Time::ZERO,
            turn: 0,
            turns: [0; 2],
            used: 0,
            is_sample: false,
            unanswered: 0,
        }
    }

    /// The rung of the next PPDU.
    pub(super) fn choose(&mut self, now: Time) -> usize {
        if now >= self.window_ends {
            self.end_window(now);
        }
        self.is_sample = false;
        self.used = match self.unanswered / ATTEMPTS {
            0 => self.best,
            1 => self.second,
            _ => self.surest,
        };
        if self.unanswered == 0 && now >= self.sample_at {
            self.sample_at = now + SAMPLE;
            if let Some(rung) = self.sample() {
                (self.used, self.is_sample) = (rung, true);
            }
        }
        self.used
    }

    /// What became of the MPDUs of the last PPDU; `is_answered` unless no acknowledgement came.
    pub(super) fn learn(&mut self, sent: u32, acknowledged: u32, is_answered: bool) {
        let rung = &mut self.rungs[self.used];
        rung.sent += sent;
        rung.acknowledged += acknowledged;
        if self.is_sample {
            return;
        }
        self.unanswered = if is_answered { 0 } else { self.unanswered + 1 };
        self.lengths.0 += sent;
        self.lengths.1 += 1;
        let (many, few) = DEATH;
        let best = &self.rungs[self.best];
        if best.sent > many && f64::from(best.acknowledged) < few * f64::from(best.sent) {
            self.window_ends = Time::ZERO;
        }
    }

    fn end_window(&mut self, now: Time) {
        self.window_ends = now + WINDOW;
        if self.lengths.1 > 0 {
            let length = f64::from(self.lengths.0) / f64::from(self.lengths.1);
            self.length = OLD * self.length + (1.0 - OLD) * length;
            self.lengths = (0, 0);
        }
        let share = self.overhead / self.length.max(1.0);
        for (rung, time) in self.rungs.iter_mut().zip(&self.times) {
            if rung.sent > 0 {
                let present = f64::from(rung.acknowledged) / f64::from(rung.sent);
                rung.success = Some(rung.success.map_or(present, |old| OLD * old + (1.0 - OLD) * present));
                (rung.sent, rung.acknowledged) = (0, 0);
            }
            let [least, most] = SUCCESSES;
            let success = rung.success.unwrap_or(0.0);
            let counted = if success < least { 0.0 } else { success.min(most) };
            rung.throughput = counted * PACKET_BITS / (share + time);
        }
        self.rank();
    }

    /// Chooses the best, the second and the surest rung.
    fn rank(&mut self) {
        let rungs = &self.rungs;
        let better = |one: usize, other: usize| rungs[one].throughput > rungs[other].throughput;
        let (mut best, mut second, mut surest) = (0, 0, 0);
        for rung in 1..rungs.len() {
            if better(rung, best) {
                (second, best) = (best, rung);
            } else if second == best || better(rung, second) {
                second = rung;
            }
            let [success, before] = [rung, surest].map(|rung| rungs[rung].success.unwrap_or(0.0));
            let is_surer =
                if success > SURE { before <= SURE || better(rung, surest) } else { success > before };
            if is_surer {
                surest = rung;
            }
        }
        (self.best, self.second, self.surest) = (best, second, surest);
    }

    /// The rung that the next sample tries, if any is in doubt.
    fn sample(&mut self) -> Option<usize> {
        let kind = SAMPLES[self.turn];
        self.turn = (self.turn + 1) % SAMPLES.len();
        let (best, all) = (self.best, self.rungs.len());
        let is_in_doubt = |rung: &usize| self.rungs[*rung].success.is_none_or(|success| success <= NO_DOUBT);
        let (from, count, turn) = match kind {
            Sample::Next => return (best + 1..all).find(is_in_doubt),
            Sample::Faster => (best + 1, all - best - 1, &mut self.turns[0]),
            Sample::Slower => (0, best, &mut self.turns[1]),
        };
        if count == 0 {
            return None;
        }
        *turn = (*turn + 1) % count;
        let first = *turn;
        (0..count).map(|step| from + (first + step) % count).find(is_in_doubt)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::mode::{Family, Guard};
    use super::super::super::ru::Ru;
    use super::*;

    /// A millisecond for each PPDU of up to 20 MPDUs, of which rung after rung these parts arrive.
    fn run(minstrel: &mut Minstrel, success: &[f64], from: u64, ppdus: u64) -> Vec<usize> {
        let mut used = Vec::new();
        for ppdu in from..from + ppdus {
            let rung = minstrel.choose(Time(ppdu * 1_000_000));
            let sent = if minstrel.is_sample { 1 } else { 20 };
            // The fraction that arrives varies from PPDU to PPDU, with the right mean.
            let draw = (ppdu * 37 % 100) as f64 / 100.0;
            let acknowledged = (f64::from(sent) * success[rung] + draw).floor().min(sent.into()) as u32;
            minstrel.learn(sent, acknowledged, acknowledged > 0);
            if !minstrel.is_sample {
                used.push(rung);
            }
        }
        used
    }

    fn fresh() -> Minstrel {
        let mode = |mcs| Mode {
            family: Family::Ht,
            mcs,
            width: 20,
            guard: Guard::Normal,
            streams: 1,
            ru: Ru::Whole,
        };
        let ladder: Vec<Mode> = (0..8).map(mode).collect();
        Minstrel::new(&ladder, Span::from_micros(150))
    }

    #[test]
    fn it_finds_the_rung_with_the_most_throughput_and_leaves_it_when_it_fails() {
        let mut minstrel = fresh();
        // 6.5, 13, 19.5, 26, 39, 52, 58.5 and 65 Mbit/s: the most is 52 times 0.9.
        let far = [1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.5, 0.0];
        run(&mut minstrel, &far, 0, 1_000);
        let used = run(&mut minstrel, &far, 1_000, 2_000);
        let share = |rung| used.iter().filter(|of| **of == rung).count() as f64 / used.len() as f64;
        assert!(share(5) > 0.9, "{}", share(5));
        let farther = [1.0, 0.95, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0];
        run(&mut minstrel, &farther, 3_000, 500);
        let used = run(&mut minstrel, &farther, 3_500, 1_000);
        let share = used.iter().filter(|of| **of == 1).count() as f64 / used.len() as f64;
        assert!(share > 0.9, "{share}");
    }

    #[test]
    fn after_failures_without_an_answer_come_the_second_and_the_surest_rung() {
        let mut minstrel = fresh();
        run(&mut minstrel, &[1.0, 1.0, 1.0, 0.85, 0.85, 0.0, 0.0, 0.0], 0, 2_000);
        let (best, second) = (minstrel.best, minstrel.second);
        assert_eq!((best, second), (4, 3));
        minstrel.sample_at = Time::NEVER;
        minstrel.window_ends = Time::NEVER;
        let found: Vec<usize> = (0..6)
            .map(|_| {
                let rung = minstrel.choose(Time(2_000_000_001));
                minstrel.learn(20, 0, false);
                rung
            })
            .collect();
        assert_eq!(found, [best, best, second, second, minstrel.surest, minstrel.surest]);
    }
}
