//! The congestion laws end to end: what their papers say of simple paths.

use crate::common::{chain, ejtcp_fig9, metric, ns2_tcp, run_once, run_replication, run_seed, wire};
use lasthop_sim::Outcome;
use lasthop_sim::medium::loss::{LossConfig, PacketClass};
use lasthop_sim::model::SinkConfig;
use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::registry::tcp::{self, Profile};
use lasthop_stack::registry::{CongestionKind, LawConfig, Parts, RecoveryKind, variant};
use lasthop_stack::transport::congestion::VegasConfig;
use lasthop_stack::transport::tcp::SackPipe;
use lasthop_stack::units::{Span, Time};

/// TCP of this variant, otherwise as ns-2's.
fn tcp_of(name: &str) -> tcp::Config {
    let variant = variant(name).unwrap();
    let sack = variant.recovery == RecoveryKind::Sack;
    tcp::Config {
        parts: Parts::new(variant.recovery, variant.congestion.config()),
        sack,
        growth_at_recovery_end: !sack,
        ..ns2_tcp()
    }
}

/// The same under this law.
fn with_law(name: &str, law: LawConfig) -> tcp::Config {
    let tcp = tcp_of(name);
    tcp::Config { parts: Parts { law, ..tcp.parts }, ..tcp }
}

/// A flow alone behind a bottleneck of 5 Mbit/s, round trip 90 ms, from 20 s on.
fn alone(tcp: tcp::Config, duration: Span, queue: u32) -> Outcome {
    let links = [(100_000_000, Span::from_millis(5)), (5_000_000, Span::from_millis(40))];
    let mut config = chain(&links, tcp, duration);
    config.run.warmup = Span::from_secs(20);
    wire(&mut config, 1, 0).queue = QueueLimit::Packets(queue);
    run_once(&config)
}

/// Mean goodput over ten runs with this random loss on the last hop of EJTCP's path.
fn under_loss(name: &str, loss: f64) -> f64 {
    let config = ejtcp_fig9(tcp_of(name), loss, Span::from_secs(100));
    let runs = (0..10).map(|replication| run_replication(&config, replication));
    runs.map(|outcome| metric(&outcome, "flows.main.goodput_bps")).sum::<f64>() / 10.0
}

#[test]
fn vegas_alone_keeps_between_alpha_and_beta_segments_queued_and_the_link_busy() {
    for vegas in [VegasConfig::NS2, VegasConfig::LINUX] {
        let outcome = alone(with_law("vegas", LawConfig::Vegas(vegas)), Span::from_secs(100), 100);
        let held = metric(&outcome, "links.l1.queue_mean_packets");
        // The segment being sent waits for no other: the least round trip includes its time, too.
        let queued = held - metric(&outcome, "links.l1.utilisation");
        assert!((vegas.alpha..=vegas.beta).contains(&queued), "{queued} with {vegas:?}");
        let goodput = metric(&outcome, "flows.main.goodput_bps");
        assert!(goodput > 0.999 * 5e6 * 1000.0 / 1040.0, "{goodput}");
        assert_eq!(metric(&outcome, "links.l1.drops_queue"), 0.0);
    }
}

/// The probes of a closed window are departures like all others. BBR's record of the segments that left has no gap, and
/// the go-back after the window opens finds its place.
#[test]
fn bbr_finds_the_rate_of_the_path_again_after_the_window_was_closed() {
    let variant = variant("bbr").unwrap();
    let tcp = tcp::Config {
        parts: Parts::new(variant.recovery, variant.congestion.config()),
        receive_buffer: Some(64_000),
        ..Profile::Modern.config()
    };
    let mut config = chain(&[(10_000_000, Span::from_millis(10))], tcp, Span::from_secs(30));
    config.flows[0].sink =
        SinkConfig { read_rate: None, pause_at: Some(Time(10_000_000_000)), pause: Span::from_secs(2) };
    config.run.warmup = Span::from_secs(20);
    let outcome = run_once(&config);
    let most = 10e6 * 1448.0 / 1500.0;
    let goodput = metric(&outcome, "flows.main.goodput_bps");
    assert!(goodput > 0.9 * most, "{goodput}");
}

/// A window that loses a share `1 - b` and grows by one a round trip moves, at loss `p`, `sqrt((1 + b) / (2 (1 - b) p))`
/// segments a round trip. Veno's `b` is 4/5 where Reno's is 1/2: 2.12 against 1.22 times `1 / sqrt(p)`.
#[test]
fn veno_meets_random_loss_with_the_window_that_a_fifth_lost_instead_of_a_half_explains() {
    let share = |kept: f64| ((1.0 + kept) / (2.0 * (1.0 - kept))).sqrt();
    let expected = share(0.8) / share(0.5);
    let gain = under_loss("veno", 0.01) / under_loss("newreno", 0.01);
    assert!((gain / expected - 1.0).abs() < 0.1, "{gain}, not {expected}");
}

/// Behind a queue much shorter than the bandwidth-delay product of 54 segments half a window leaves the link idle, and the
/// window that the rate fills does not. With RFC 6675's SACK, since `NewReno`, and ns-2's SACK,
/// have to time out after each overshoot of slow start here.
#[test]
fn westwood_keeps_a_link_busy_behind_a_short_queue_where_reno_cannot() {
    let busy = |congestion: CongestionKind| {
        let sack_pipe = SackPipe::Scoreboard;
        let tcp = tcp::Config { sack_pipe, ..with_law("sack", congestion.config()) };
        metric(&alone(tcp, Span::from_secs(220), 10), "links.l1.utilisation")
    };
    let laws = [CongestionKind::Reno, CongestionKind::Westwood, CongestionKind::WestwoodPlus];
    let [reno, westwood, plus] = laws.map(busy);
    assert!(reno < 0.9 && westwood > 0.97 && plus > 0.97, "{reno}, {westwood} and {plus}");
}

#[test]
fn westwood_takes_random_loss_for_less_than_newreno_does() {
    let newreno = under_loss("newreno", 0.01);
    for name in ["westwood", "westwood-plus"] {
        let gain = under_loss(name, 0.01) / newreno;
        assert!(gain > 2.0, "{name}: {gain}");
    }
}

/// The 300th and the 310th data packet are lost, of a window of forty that the path holds without a queue. `NewReno` mends both in
/// one recovery; Reno, once a window, leaves the second to the timer; and the module of 2002 answers each by a fast retransmit.
#[test]
fn two_losses_of_a_window_meet_each_recovery_of_westwood_in_its_own_way() {
    let mended = |recovery: RecoveryKind| {
        let parts = Parts { recovery, ..tcp_of("westwood").parts };
        let tcp = tcp::Config { parts, window: 40, ..tcp_of("westwood") };
        let mut config = chain(&[(10_000_000, Span::from_millis(20))], tcp, Span::from_secs(5));
        wire(&mut config, 0, 0).loss = LossConfig::List { drop: vec![300, 310], of: PacketClass::Data };
        let outcome = run_once(&config);
        ["fast_retransmits", "timeouts"].map(|name| metric(&outcome, &format!("flows.main.{name}")))
    };
    assert_eq!(mended(RecoveryKind::NewReno), [1.0, 0.0]);
    assert_eq!(mended(RecoveryKind::Reno), [1.0, 1.0]);
    assert_eq!(mended(RecoveryKind::Uninflated), [2.0, 0.0]);
}

/// Alone behind a bottleneck of 4.81 Mbit/s of payload the rate of the acknowledgements is the bottleneck's, at each loss.
#[test]
fn what_westwood_takes_for_the_rate_of_a_path_it_has_alone_is_told() {
    let estimate = |congestion: CongestionKind| {
        let outcome = alone(with_law("sack", congestion.config()), Span::from_secs(220), 30);
        let name = "flows.main.rate_estimate_bps";
        outcome.metrics.iter().find(|(found, _)| found == name).map(|(_, value)| value.unwrap_or_default())
    };
    for kind in [CongestionKind::Westwood, CongestionKind::WestwoodPlus] {
        let share = estimate(kind).unwrap() / (5e6 * 1000.0 / 1040.0);
        assert!((0.9..1.05).contains(&share), "{kind:?}: {share}");
    }
    assert_eq!(estimate(CongestionKind::Reno), None);
}

/// Vegas declares the head lost at a duplicate, and Tahoe performs a go-back. What limited transmit sent before is not
/// part of the flight that begins then, and the next loss found the threshold beyond all bounds.
#[test]
fn limited_transmit_before_a_go_back_is_not_taken_off_the_flight_after_it() {
    let text = include_str!("scenarios/go-back.toml");
    let scenario =
        lasthop_sim::scenario::Scenario::from_text(text, "go-back.toml", &[]).expect("it is valid");
    let outcome = run_seed(&scenario.config(0), 567, 0);
    assert!(metric(&outcome, "flows.f0.fast_retransmits") > 0.0);
}
