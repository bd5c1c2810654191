//! Data both ways on one TCP connection, end to end.

use crate::common::{back, chain, file, metric, run, run_once, source, wire};
use lasthop_sim::medium::loss::LossConfig;
use lasthop_sim::model::Config;
use lasthop_sim::probe::trace::Column;
use lasthop_sim::traffic::{AppConfig, AppKind};
use lasthop_sim::{Outcome, Request};
use lasthop_stack::registry::Parts;
use lasthop_stack::registry::VARIANTS;
use lasthop_stack::registry::tcp::{self, Profile};
use lasthop_stack::units::{Rate, Span, Time};
use proptest::prelude::*;

const MEGABIT: u64 = 1_000_000;

/// The bytes delivered over the whole run in one direction of `main`.
fn delivered(outcome: &Outcome, direction: &str) -> f64 {
    metric(outcome, &format!("flows.main.{direction}goodput_bps")) * outcome.simulated.as_secs() / 8.0
}

/// A bulk flow over a hop of 1 Mbit/s and 10 ms each way.
fn hop(tcp: tcp::Config) -> Config {
    chain(&[(MEGABIT, Span::from_millis(10))], tcp, Span::from_secs(60))
}

/// Acknowledgements without data on a direction of the hop: what it carried other than data segments.
fn pure_acks(outcome: &Outcome, link: &str, segments: f64) -> f64 {
    let utilisation = metric(outcome, &format!("links.l0.{link}utilisation"));
    let bytes = utilisation * MEGABIT as f64 * outcome.simulated.as_secs() / 8.0;
    ((bytes - segments * 1500.0) / 52.0).round()
}

#[test]
fn acknowledgements_ride_on_data_where_there_is_any() {
    let mut config = hop(tcp::Config { window: 20, ..Profile::Modern.config() });
    let one_way = run_once(&config);
    let segments = metric(&one_way, "flows.main.segments_sent");
    let alone = pure_acks(&one_way, "reverse.", 0.0);
    // One for every second segment, but for those on their way at the end.
    assert!((alone - segments / 2.0).abs() < 15.0, "{alone} for {segments}");
    back(&mut config, source(AppKind::Bulk));
    let both = run_once(&config);
    for way in ["", "reverse."] {
        let segments = metric(&both, &format!("flows.main.{way}segments_sent"));
        let alone = pure_acks(&both, way, segments);
        assert!(segments > 4_900.0 && alone < 0.02 * segments, "{way}: {alone} beside {segments}");
    }
}

#[test]
fn each_direction_fills_its_own_side_of_the_hop() {
    let tcp = Profile::Ns2Of2004.config();
    let mut config = hop(tcp);
    let one_way = metric(&run_once(&config), "flows.main.goodput_bps");
    back(&mut config, source(AppKind::Bulk));
    let both = run_once(&config);
    for direction in ["", "reverse."] {
        let goodput = metric(&both, &format!("flows.main.{direction}goodput_bps"));
        assert!(goodput > 0.95 * one_way && goodput <= 1e6 / 1.04, "{direction}{goodput} of {one_way}");
        assert_eq!(metric(&both, &format!("flows.main.{direction}retransmits")), 0.0);
    }
    assert!(metric(&both, "jain_index") > 0.999);
}

#[test]
fn both_ends_measure_the_round_trip_of_the_path() {
    for profile in [Profile::Modern, Profile::Ns2Of2004] {
        let tcp = tcp::Config { tick: Span::ZERO, ack_every: 1, nagle: false, ..profile.config() };
        let mut config = hop(tcp);
        let app = source(AppKind::Poisson { rate: Rate(50_000), packet: 200 });
        config.flows[0].app = app.clone();
        back(&mut config, app);
        let outcome = run_once(&config);
        for direction in ["", "reverse."] {
            let mean = metric(&outcome, &format!("flows.main.{direction}rtt_mean_s"));
            // 20 ms on the way, 2 ms of a small packet, less than 1 ms of its answer, and some waiting in line.
            assert!((0.022..0.026).contains(&mean), "{direction}{mean}");
        }
    }
}

#[test]
fn a_direction_may_end_long_before_the_other_begins() {
    for (forward, reverse) in [(0, 20), (20, 0)] {
        let mut config = hop(Profile::Modern.config());
        config.flows[0].app = file(100_000);
        let later = |start: u64| Time(start * 1_000_000_000);
        back(&mut config, AppConfig { start: later(reverse), ..file(50_000) });
        if forward > 0 {
            // The connection opens at zero; what goes forward is a trickle that stops at 20 s.
            let kind = AppKind::Cbr { rate: Rate(8_000), packet: 1000 };
            config.flows[0].app = AppConfig { stop: Some(later(forward)), ..source(kind) };
        }
        let outcome = run_once(&config);
        let size = if forward > 0 { 20_000.0 } else { 100_000.0 };
        assert!((delivered(&outcome, "") - size).abs() < 1e-3, "{}", delivered(&outcome, ""));
        assert!((delivered(&outcome, "reverse.") - 50_000.0).abs() < 1e-3);
        // Each time counts from the start of its own source.
        let completion = metric(&outcome, "flows.main.reverse.completion_s");
        assert!((0.4..1.0).contains(&completion), "{completion}");
    }
}

#[test]
fn a_slow_reader_of_what_comes_back_holds_up_that_direction_alone() {
    let mut config = hop(tcp::Config { window: 20, ..Profile::Modern.config() });
    config.flows[0].app = file(400_000);
    let reverse = back(&mut config, file(400_000));
    reverse.sink.read_rate = Some(Rate(100_000));
    reverse.buffer = Some(20_000);
    let outcome = run_once(&config);
    let [forward, reverse] =
        ["", "reverse."].map(|way| metric(&outcome, &format!("flows.main.{way}completion_s")));
    assert!((3.3..3.8).contains(&forward), "{forward}");
    // 400 kB at 12.5 kB/s take 32 s, less what fits into the buffer at the end.
    assert!((30.0..32.2).contains(&reverse), "{reverse}");
    assert_eq!(metric(&outcome, "flows.main.reverse.timeouts"), 0.0);
}

#[test]
fn traces_tell_the_directions_apart_and_change_nothing() {
    let mut config = hop(Profile::Modern.config());
    let mut other = config.flows[0].clone();
    other.name = "other".into();
    config.flows.insert(0, other);
    config.flows[1].app = file(100_000);
    config.flows.swap(0, 1);
    back(&mut config, file(30_000));
    let plain = run_once(&config);
    let trace = ["tcp", "rtt", "cwnd"].map(String::from);
    let request = Request { trace: &trace, ..Request::new(&config, 1, 0) };
    let traced = run(&request).expect("the run succeeds");
    assert_eq!((plain.metrics, plain.events), (traced.metrics, traced.events));
    for table in traced.traces {
        let Column::Word { codes, words } = &table.columns[1].1 else { panic!("flows are words") };
        assert_eq!(words[..], ["main", "main.reverse", "other", "other.reverse"].map(String::from));
        for word in 0..3 {
            assert!(codes.contains(&word), "{}: no row of {}", table.name, words[word as usize]);
        }
        if table.name == "tcp" {
            let events = table.words("event");
            let sent = |flow: u32| -> i64 {
                let rows = codes.iter().zip(&events).zip(table.ints("len"));
                rows.filter(|((code, event), _)| **code == flow && **event == "send")
                    .map(|(_, len)| len)
                    .sum()
            };
            assert_eq!((sent(0), sent(1), sent(3)), (100_000, 30_000, 0));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// Random losses both ways, small buffers and slow readers at both ends: both streams arrive whole, each byte once,
    /// under every variant.
    #[test]
    fn two_files_arrive_whole_whatever_is_lost(
        variant in 0usize..5,
        modern in any::<bool>(),
        sizes in (1u64..200_000, 1u64..200_000),
        losses in (0.0f64..0.25, 0.0f64..0.25),
        buffers in (prop::option::of(3_000u64..40_000), prop::option::of(3_000u64..40_000)),
        slow in (prop::option::of(100_000u64..2_000_000), prop::option::of(100_000u64..2_000_000)),
        start in 0u64..3_000_000_000,
        seed in 0u64..1000,
    ) {
        let variant = &VARIANTS[variant % VARIANTS.len()];
        let base = if modern { Profile::Modern } else { Profile::Ns2Of2004 }.config();
        let tcp = tcp::Config {
            parts: Parts::new(variant.recovery, variant.congestion.config()),
            sack: base.sack || variant.name == "sack" || variant.name == "fack",
            receive_buffer: buffers.0,
            ..base
        };
        let mut config = chain(&[(2_000_000, Span::from_millis(20))], tcp, Span::from_secs(100_000));
        wire(&mut config, 0, 0).loss = LossConfig::Packet { rate: losses.0 };
        wire(&mut config, 0, 1).loss = LossConfig::Packet { rate: losses.1 };
        config.flows[0].sink.read_rate = slow.0.map(Rate);
        config.flows[0].app = file(sizes.0);
        let reverse = back(&mut config, AppConfig { start: Time(start), ..file(sizes.1) });
        reverse.sink.read_rate = slow.1.map(Rate);
        reverse.buffer = buffers.1;
        let request = Request { max_events: Some(5_000_000), ..Request::new(&config, seed, 0) };
        let outcome = run(&request).expect("the run succeeds");
        prop_assert_eq!(outcome.stopped, None);
        for (direction, size) in [("", sizes.0), ("reverse.", sizes.1)] {
            let delivered = delivered(&outcome, direction);
            prop_assert!((delivered - size as f64).abs() < 1e-3, "{direction}{delivered} of {size}");
            let name = format!("flows.main.{direction}completion_s");
            let completed = outcome.metrics.iter().any(|(key, value)| *key == name && value.is_some());
            prop_assert!(completed, "{}", name);
        }
    }
}
