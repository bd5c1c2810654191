use super::*;

const MS: u64 = 1_000_000;
const PACKETS: u64 = 200_000;

fn impairments(config: ImpairmentConfig) -> Impairments {
    Impairments::new(config, |what| Stream::named(1, 0, what)).expect("impairments")
}

fn jitter(law: JitterLaw, correlation: f64, keeps_order: bool) -> ImpairmentConfig {
    let jitter = JitterConfig { spread: Span::from_millis(10), law, correlation, keeps_order };
    ImpairmentConfig { jitter: Some(jitter), ..ImpairmentConfig::default() }
}

fn reorder(rate: f64, correlation: f64, gap: u32, by: Option<Span>) -> ImpairmentConfig {
    let reorder = ReorderConfig { rate, correlation, gap, by };
    ImpairmentConfig { reorder: Some(reorder), ..ImpairmentConfig::default() }
}

fn duplicate(rate: f64, correlation: f64) -> ImpairmentConfig {
    let duplicate = DuplicateConfig { rate, correlation };
    ImpairmentConfig { duplicate: Some(duplicate), ..ImpairmentConfig::default() }
}

/// A packet a millisecond over 100 ms.
fn passages(config: ImpairmentConfig, packets: u64) -> Vec<Passage> {
    let mut wire = impairments(config);
    (0..packets).map(|number| wire.pass(Time(number * MS), Span::from_millis(100), false)).collect()
}

/// What each is delayed by, in spreads of 10 ms around 100 ms.
fn deviations(config: ImpairmentConfig) -> Vec<f64> {
    let delay = |(number, passage): (usize, Passage)| passage.arrival.0 as f64 - number as f64 * MS as f64;
    passages(config, PACKETS)
        .into_iter()
        .enumerate()
        .map(|it| (delay(it) / MS as f64 - 100.0) / 10.0)
        .collect()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// Mean, variance, and correlation of each value with the one before it.
fn moments(values: &[f64]) -> (f64, f64, f64) {
    let centre = mean(values.iter().copied());
    let variance = mean(values.iter().map(|value| (value - centre) * (value - centre)));
    let together = mean(values.windows(2).map(|pair| (pair[0] - centre) * (pair[1] - centre)));
    (centre, variance, together / variance)
}

#[test]
fn a_normal_quantile_is_the_inverse_of_the_distribution() {
    for (share, expected) in [(0.5, 0.0), (0.841_344_746_068_542_9, 1.0), (0.025, -1.959_963_984_540_054)] {
        assert!((normal(share) - expected).abs() < 1e-12, "{share}: {}", normal(share));
    }
    for place in 1..1000 {
        let share = f64::from(place) / 1000.0;
        let back = 0.5 * libm::erfc(-normal(share) * std::f64::consts::FRAC_1_SQRT_2);
        assert!((back - share).abs() < 1e-12, "{share}");
    }
    assert_eq!([0.0, 1e-300, 1.0 - f64::EPSILON / 2.0, 1.0].map(normal), [-4.0, -4.0, 4.0, 4.0]);
}

#[test]
fn jitter_has_the_moments_of_its_law() {
    // Of a Pareto number of shape 3 the variance is 3/4, times 16/9; what is cut off at 4 spreads, 1 in 91, has tails.
    let cut = |power: f64| {
        // The integral over shares of (number)^power up to the cut at number 4.5, and the cut itself above.
        let tail = 1.0 / (4.5 * 4.5 * 4.5);
        let below = 3.0 / (3.0 - power) * (1.0 - libm::pow(tail, 1.0 - power / 3.0));
        below + tail * libm::pow(4.5, power)
    };
    let (first, second) = (cut(1.0), cut(2.0));
    let scale = 4.0 / 3.0;
    let pareto = (scale * (first - 1.5), scale * scale * (second - first * first));
    for (law, (centre, variance)) in
        [(JitterLaw::Uniform, (0.0, 1.0 / 3.0)), (JitterLaw::Normal, (0.0, 1.0)), (JitterLaw::Pareto, pareto)]
    {
        let found = moments(&deviations(jitter(law, 0.0, false)));
        assert!((found.0 - centre).abs() < 0.01, "{law:?}: {found:?}, not {centre}");
        assert!((found.1 / variance - 1.0).abs() < 0.02, "{law:?}: {found:?}, not {variance}");
        assert!(found.2.abs() < 0.01, "{law:?}: {found:?}");
    }
    let mixed = deviations(jitter(JitterLaw::ParetoNormal, 0.0, false));
    let least = mixed.iter().copied().fold(f64::INFINITY, f64::min);
    assert!((-1.6..-1.3).contains(&least) && mixed.iter().all(|value| *value <= 4.0), "{least}");
}

#[test]
fn correlation_is_that_of_a_packet_with_the_one_before_and_narrows_the_distribution() {
    for correlation in [0.25, 0.5, 0.9] {
        let found = moments(&deviations(jitter(JitterLaw::Uniform, correlation, false)));
        let variance = (1.0 - correlation) / (1.0 + correlation) / 3.0;
        assert!(found.0.abs() < 0.02, "{correlation}: {found:?}");
        assert!((found.1 / variance - 1.0).abs() < 0.05, "{correlation}: {found:?}, not {variance}");
        assert!((found.2 - correlation).abs() < 0.01, "{correlation}: {found:?}");
    }
    // Without anything new, all packets have one number.
    let all = deviations(jitter(JitterLaw::Uniform, 1.0, false));
    assert!(all.iter().all(|value| (value - all[0]).abs() < 1e-6));
}

#[test]
fn correlation_makes_rare_copies_rarer_and_come_together() {
    let copied = |correlation: f64| {
        let found = passages(duplicate(0.1, correlation), PACKETS);
        let copies: Vec<f64> = found.iter().map(|it| f64::from(u8::from(it.copy.is_some()))).collect();
        moments(&copies)
    };
    let (independent, correlated) = (copied(0.0), copied(0.25));
    assert!((independent.0 - 0.1).abs() < 0.003 && independent.2.abs() < 0.01, "{independent:?}");
    // x = 0.25 y + 0.75 u < 0.1: with y uniform it would be 0.0167 of those y below 0.4, on average.
    assert!(correlated.0 < 0.06 && correlated.0 > 0.005, "{correlated:?}");
    assert!(correlated.2 > 0.05, "{correlated:?}");
}

#[test]
fn jitter_keeps_the_order_or_does_not() {
    for law in [JitterLaw::Uniform, JitterLaw::Normal, JitterLaw::Pareto, JitterLaw::ParetoNormal] {
        let kept = passages(jitter(law, 0.0, true), 10_000);
        assert!(kept.windows(2).all(|pair| pair[0].arrival <= pair[1].arrival), "{law:?}");
        assert_eq!(kept.iter().map(|passage| passage.overtaking).sum::<u32>(), 0, "{law:?}");
        let free = passages(jitter(law, 0.0, false), 10_000);
        let before = free.windows(2).filter(|pair| pair[1].arrival < pair[0].arrival).count();
        assert!(before > 1000, "{law:?}: {before}");
        // The draws are the same, so a packet never arrives before its own time where the order is kept.
        assert!(kept.iter().zip(&free).all(|(kept, free)| kept.arrival >= free.arrival), "{law:?}");
    }
}

#[test]
fn no_packet_takes_less_than_no_time() {
    let mut wire = impairments(jitter(JitterLaw::Normal, 0.0, false));
    let arrivals = (0..1000).map(|number| wire.pass(Time(number * MS), Span::from_millis(5), false).arrival);
    let early: Vec<bool> = arrivals.zip(0..1000).map(|(arrival, number)| arrival.0 < number * MS).collect();
    assert!(!early.contains(&true));
}

#[test]
fn a_packet_sent_ahead_takes_no_delay_or_that_much_less() {
    for (by, delay) in [(None, 0), (Some(Span::from_millis(30)), 70), (Some(Span::from_millis(300)), 0)] {
        let found = passages(reorder(0.01, 0.0, 1, by), PACKETS);
        let ahead = found.iter().enumerate().filter(|(number, passage)| {
            let taken = passage.arrival.0 - *number as u64 * MS;
            assert!(taken == delay * MS || taken == 100 * MS, "{taken}");
            taken == delay * MS
        });
        let (ahead, overtaking) = (ahead.count() as f64, found.iter().map(|it| it.overtaking).sum::<u32>());
        assert!((ahead / PACKETS as f64 - 0.01).abs() < 0.001, "{by:?}: {ahead}");
        // All but one that would be the first of the wire.
        assert!((f64::from(overtaking) - ahead).abs() <= 1.0, "{by:?}: {ahead} {overtaking}");
    }
}

#[test]
fn with_a_gap_only_each_so_many_th_packet_may_be_sent_ahead() {
    let ahead = |config: ImpairmentConfig| {
        let found = passages(config, 10_000);
        let places = found.iter().enumerate().filter(|(place, it)| it.arrival.0 == *place as u64 * MS);
        places.map(|(place, _)| place).collect::<Vec<_>>()
    };
    // Of five packets the last one, if all are sent ahead whose turn it is.
    let all = ahead(reorder(1.0, 0.0, 5, None));
    assert_eq!(all[..3], [4, 9, 14]);
    assert_eq!(all.len(), 2000);
    let some = ahead(reorder(0.5, 0.0, 5, None));
    assert!(some.windows(2).all(|pair| pair[1] - pair[0] >= 5));
    // From each to the next four packets that cannot be, and on average two that can.
    assert!((some.len() as f64 - 10_000.0 / 6.0).abs() < 80.0, "{}", some.len());
}

#[test]
fn a_copy_arrives_with_its_original_where_the_delay_does_not_vary_and_what_is_lost_has_none() {
    let mut wire = impairments(duplicate(1.0, 0.0));
    let found = wire.pass(Time(5), Span(100), false);
    assert_eq!(found, Passage { arrival: Time(105), copy: Some(Time(105)), overtaking: 0 });
    assert_eq!(wire.pass(Time(6), Span(100), true).copy, None);
}

#[test]
fn losses_and_copies_do_not_change_the_delays_of_other_packets() {
    let alone = jitter(JitterLaw::Normal, 0.3, false);
    let more = ImpairmentConfig { duplicate: duplicate(0.5, 0.0).duplicate, ..alone };
    let arrivals = |config: ImpairmentConfig, each: u64| {
        let mut wire = impairments(config);
        let pass = |number: u64| {
            let is_lost = number % each == each - 1;
            let passage = wire.pass(Time(number * MS), Span::from_millis(100), is_lost);
            (!is_lost).then_some(passage.arrival)
        };
        (0..1000).map(pass).collect::<Vec<_>>()
    };
    let (whole, copied) = (arrivals(alone, u64::MAX), arrivals(more, u64::MAX));
    assert_eq!(whole, copied);
    for (kept, lossy) in whole.iter().zip(arrivals(alone, 3)) {
        assert!(lossy.is_none() || lossy == *kept);
    }
}

#[test]
fn a_wire_without_impairments_has_none() {
    let none = Impairments::new(ImpairmentConfig::default(), |_| panic!("no stream"));
    assert!(none.is_none());
}
