//! Properties that hold whatever is sent.

use super::*;
use crate::engine::streams::Stream;

const RECEPTIONS: [Reception; 4] = [
    Reception::Ns2 { capture: Some(10.0) },
    Reception::Ns2 { capture: None },
    Reception::Capture { capture: Some(10.0) },
    Reception::Sinr { least: 4.0 },
];

/// The state of a station that follows from what it heard.
#[derive(Clone, Default)]
struct Told {
    busy: bool,
    /// When its frame ends, while it sends.
    sends_until: Option<u64>,
}

#[test]
fn busy_and_idle_alternate_and_a_station_that_sends_receives_nothing() {
    let mut draw = Stream::named(1, 0, "frames");
    for round in 0..80 {
        let errors =
            ErrorConfig { law: ErrorLaw::Snr, meaning: LossMeaning::OnAir, of: LossOf::All, at: None };
        let config = RadioConfig { reception: RECEPTIONS[round % 4], errors, ..ns2() };
        let metres: Vec<f64> = (0..8).map(|_| draw.uniform() * 1500.0).collect();
        let mut bench = Bench::line(&config, &metres);
        let mut told = vec![Told::default(); 8];
        let mut now = 0;
        for _ in 0..400 {
            now += [0, 0, 1, 200, 900][(draw.next_u64() % 5) as usize];
            end_due(&mut bench, &mut told, now);
            let (from, to) = ((draw.next_u64() % 8) as usize, (draw.next_u64() % 8) as usize);
            if told[from].sends_until.is_none() {
                let lasts = 193 + draw.next_u64() % 2000;
                let heard = bench.start(from, to, now, lasts);
                told[from].sends_until = Some(now + lasts);
                note(&heard, &mut told, from);
            }
        }
        end_due(&mut bench, &mut told, u64::MAX / 2_000);
        assert!(told.iter().all(|station| !station.busy), "reception {:?}", config.reception);
        for station in 0..8 {
            let frames = bench.radio.counters(station);
            let fates = frames.received + frames.errored + frames.collided + frames.out_of_reach;
            assert_eq!(fates, frames.sent);
        }
    }
}

#[test]
fn a_frame_that_stays_alone_is_heard_as_one_that_receivers_follow() {
    let (mut draw, mut alone) = (Stream::named(1, 0, "lone frames"), 0);
    for round in 0..160 {
        let law = if round % 3 == 0 { ErrorLaw::Snr } else { ErrorLaw::None };
        let errors = ErrorConfig { law, meaning: LossMeaning::OnAir, of: LossOf::All, at: None };
        let preamble = (round % 5 == 0).then_some(2.5);
        let config = RadioConfig { reception: RECEPTIONS[round % 4], errors, preamble, ..ns2() };
        let metres: Vec<f64> = (0..6).map(|_| draw.uniform() * 900.0).collect();
        let mut benches = [Bench::line(&config, &metres), Bench::line(&config, &metres)];
        benches[1].radio.let_all_follow();
        let (mut now, mut ends) = (0, [None; 6]);
        for _ in 0..300 {
            now += [0, 1, 300, 1500, 4000][(draw.next_u64() % 5) as usize];
            while let Some((end, from)) = (0..6).filter_map(|at| Some((ends[at]?, at))).min()
                && end <= now
            {
                ends[from] = None;
                alone += u32::from(benches[0].radio.lone.is_some());
                let [lone, followed] = benches.each_mut().map(|bench| bench.end(from, end));
                assert_eq!(lone, followed, "{config:?}");
            }
            let (from, to) = ((draw.next_u64() % 6) as usize, (draw.next_u64() % 6) as usize);
            if ends[from].is_none() {
                let lasts = 193 + draw.next_u64() % 2000;
                ends[from] = Some(now + lasts);
                let [lone, followed] = benches.each_mut().map(|bench| bench.start(from, to, now, lasts));
                assert_eq!(lone, followed, "{config:?}");
            }
        }
        let counters =
            benches.each_ref().map(|bench| (0..6).map(|at| bench.radio.counters(at)).collect::<Vec<_>>());
        assert_eq!(counters[0], counters[1]);
    }
    assert!(alone > 1_000, "{alone}");
}

/// Ends the frames that are over by `now`, in the order of their ends.
fn end_due(bench: &mut Bench, told: &mut [Told], now: u64) {
    let next = |told: &[Told]| {
        let sending = told.iter().enumerate().filter_map(|(from, told)| Some((told.sends_until?, from)));
        sending.min().filter(|(end, _)| *end <= now)
    };
    while let Some((end, from)) = next(told) {
        let (_, heard) = bench.end(from, end);
        told[from].sends_until = None;
        note(&heard, told, from);
    }
}

/// Notes what stations hear, in the order of their numbers.
fn note(heard: &[Heard], told: &mut [Told], from: usize) {
    let mut last = 0;
    for what in heard {
        let (Heard::Busy(at) | Heard::Idle(at) | Heard::Received(at) | Heard::Error(at) | Heard::Missed(at)) =
            *what;
        assert!(at >= last && at != from, "{heard:?}");
        last = at;
        match what {
            Heard::Busy(_) => assert!(!std::mem::replace(&mut told[at].busy, true)),
            Heard::Idle(_) => assert!(std::mem::replace(&mut told[at].busy, false)),
            Heard::Received(_) | Heard::Error(_) => {
                assert!(told[at].busy && told[at].sends_until.is_none(), "{heard:?}");
            }
            Heard::Missed(_) => assert!(told[at].busy, "{heard:?}"),
        }
    }
}
