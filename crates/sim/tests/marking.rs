//! Queues that mark, flows that use ECN, and TCP-Jersey between them.

use crate::common::{chain, file, metric, ns2_tcp, run_once, run_replication, source, wire, wlan};
use lasthop_sim::Outcome;
use lasthop_sim::medium::loss::LossConfig;
use lasthop_sim::medium::modulation::ModulationLaw;
use lasthop_sim::model::{AirConfig, Config, LinkKind, Sends, TransportConfig};
use lasthop_sim::traffic::AppKind;
use lasthop_stack::link::dot11::Preset;
use lasthop_stack::link::dot16::{Frame, Rates};
use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::packet::Modulation;
use lasthop_stack::registry::{AqmConfig, CongestionKind, Parts, RecoveryKind, tcp};
use lasthop_stack::schemes::congestion_warning;
use lasthop_stack::transport::tcp::EcnMode;
use lasthop_stack::units::{Rate, Span};
use proptest::prelude::*;

/// A window that no path here reaches, and ECN.
fn ecn(law: CongestionKind) -> tcp::Config {
    let parts = Parts::new(RecoveryKind::NewReno, law.config());
    tcp::Config { parts, window: 500, ecn: EcnMode::Classic, ..ns2_tcp() }
}

fn warning(threshold: f64) -> AqmConfig {
    AqmConfig::Warning(congestion_warning::Config { threshold, weight: 0.2 })
}

/// A fast wire, then 2 Mbit/s with room for 50 packets, where the queue may warn above a mean of 10.
fn bottleneck(tcp: tcp::Config, aqm: Option<AqmConfig>) -> Config {
    let links = [(10_000_000, Span::from_millis(45)), (2_000_000, Span::from_millis(1))];
    let mut config = chain(&links, tcp, Span::from_secs(60));
    wire(&mut config, 1, 0).queue = QueueLimit::Packets(50);
    config.links[1].aqm = aqm;
    config
}

fn drops(outcome: &Outcome) -> f64 {
    metric(outcome, "links.l1.drops_queue")
}

#[test]
fn a_queue_that_warns_keeps_short_and_drops_nothing() {
    for law in [CongestionKind::Reno, CongestionKind::Cubic, CongestionKind::Westwood, CongestionKind::Jersey]
    {
        let mut tcp = ecn(law);
        // Slow start may fill the queue before the first warning is back.
        tcp.initial_ssthresh = Some(20.0);
        let full = run_once(&bottleneck(tcp.clone(), None));
        let warned = run_once(&bottleneck(tcp, Some(warning(10.0))));
        let marks = metric(&warned, "links.l1.marks");
        assert!(marks > 0.0 && metric(&warned, "flows.main.marks_answered") > 0.0, "{law:?}: {marks}");
        assert_eq!(drops(&warned), 0.0, "{law:?}");
        assert!(drops(&full) > 0.0, "{law:?}");
        let longest = metric(&warned, "links.l1.queue_max_packets");
        assert!(longest < 35.0, "{law:?}: {longest}");
        let goodput = metric(&warned, "flows.main.goodput_bps");
        assert!(goodput > 1.7e6, "{law:?}: {goodput}");
    }
}

#[test]
fn without_ecn_a_managed_queue_is_one_that_drops_when_full() {
    let plain = tcp::Config { ecn: EcnMode::Off, ..ecn(CongestionKind::Reno) };
    let (with, without) = (bottleneck(plain.clone(), Some(warning(1.0))), bottleneck(plain, None));
    let (with, without) = (run_once(&with), run_once(&without));
    assert_eq!(metric(&with, "links.l1.marks"), 0.0);
    let of_law = |name: &str| {
        ["marks", "drops_aqm"].iter().any(|end| name.ends_with(end)) || name.contains("aqm_delay")
    };
    let others: Vec<_> = with.metrics.iter().filter(|(name, _)| !of_law(name)).cloned().collect();
    assert_eq!(others, without.metrics);
    let mut datagrams = bottleneck(ecn(CongestionKind::Reno), Some(warning(1.0)));
    datagrams.flows[0].transport = TransportConfig::Udp { extra_header: 0 };
    datagrams.flows[0].app = source(AppKind::Cbr { rate: Rate(3_000_000), packet: 1_000 });
    let outcome = run_once(&datagrams);
    assert_eq!(metric(&outcome, "links.l1.marks"), 0.0);
    assert!(drops(&outcome) > 0.0);
}

#[test]
fn the_marks_of_a_constant_overload_are_counted_packet_by_packet() {
    // One window of 20 segments at once: k packets are before the k-th, and the mean is theirs with a weight of 1.
    let tcp = tcp::Config { initial_window: 20, initial_ssthresh: Some(20.0), ..ecn(CongestionKind::Reno) };
    let links = [(2_000_000, Span::from_millis(50))];
    let mut config = chain(&links, tcp, Span::from_secs(5));
    config.flows[0].app = file(20_000);
    let law = congestion_warning::Config { threshold: 12.0, weight: 1.0 };
    config.links[0].aqm = Some(AqmConfig::Warning(law));
    let outcome = run_once(&config);
    // 13 are before the 14th: seven of twenty see more than 12. The handshake ends on the first of them.
    assert_eq!(metric(&outcome, "links.l0.marks"), 7.0);
    assert_eq!(metric(&outcome, "links.l0.reverse.marks"), 0.0);
}

#[test]
fn stations_and_the_air_of_802_16_mark_too() {
    let mut wifi = bottleneck(ecn(CongestionKind::Reno), None);
    wifi.links[1] = wlan(vec![1, 2], Some(1), Preset::Dot11b.config(), None);
    wifi.links[1].aqm = Some(warning(5.0));
    for (node, metres) in [(1, 0.0), (2, 10.0)] {
        let at = |metres| lasthop_stack::units::Metres(metres);
        wifi.nodes[node].position = Some((at(metres), at(0.0)));
    }
    wire(&mut wifi, 0, 0).rate = Rate(100_000_000);
    let outcome = run_once(&wifi);
    assert!(metric(&outcome, "links.wlan.marks") > 0.0);
    assert!(metric(&outcome, "flows.main.marks_answered") > 0.0);

    let mut wimax = bottleneck(ecn(CongestionKind::Reno), Some(warning(5.0)));
    let LinkKind::PointToPoint(link) = &mut wimax.links[1].kind else { panic!("a wire") };
    let frame = Frame {
        length: Span::from_millis(1),
        down: Span::from_micros(500),
        maps: Span::from_micros(20),
        requests: Span::from_micros(20),
    };
    let (rates, start) = (Rates::SINGLE_CARRIER_20_MHZ, Modulation::Qpsk);
    link.sends = Sends::Air(Box::new(AirConfig { frame, rates, start, law: ModulationLaw::Fixed }));
    wire(&mut wimax, 0, 0).rate = Rate(100_000_000);
    assert!(metric(&run_once(&wimax), "links.l1.marks") > 0.0);
}

/// The losses by cause and class, however detected: random as random, random as congestion, congestion as random,
/// congestion as congestion.
fn judged(outcome: &Outcome) -> [f64; 4] {
    let classes =
        ["random_as_random", "random_as_congestion", "congestion_as_random", "congestion_as_congestion"];
    let of = |detected, class| metric(outcome, &format!("flows.main.judged.{detected}.{class}"));
    classes.map(|class| of("fast", class) + of("timeout", class))
}

#[test]
fn tcp_jersey_takes_losses_behind_a_short_queue_for_random_and_drops_of_a_full_one_for_congestion() {
    // The air loses 2 % behind a wire that is never full: nothing warns.
    let mut config = bottleneck(ecn(CongestionKind::Jersey), Some(warning(10.0)));
    (wire(&mut config, 0, 0).rate, wire(&mut config, 1, 0).rate) = (Rate(1_000_000), Rate(2_000_000));
    wire(&mut config, 1, 0).loss = LossConfig::Packet { rate: 0.02 };
    wire(&mut config, 0, 0).queue = QueueLimit::Unlimited;
    config.flows[0].app = source(AppKind::Cbr { rate: Rate(500_000), packet: 1_000 });
    let [right, wrong, ..] = judged(&run_once(&config));
    assert!(right > 20.0 && wrong == 0.0, "{right} and {wrong}");

    // Datagrams overfill a queue that warns, now and then.
    let mut config = bottleneck(ecn(CongestionKind::Jersey), Some(warning(5.0)));
    wire(&mut config, 1, 0).queue = QueueLimit::Packets(15);
    let mut other = config.flows[0].clone();
    other.name = "other".into();
    other.transport = TransportConfig::Udp { extra_header: 0 };
    other.app = source(AppKind::Poisson { rate: Rate(1_700_000), packet: 1_000 });
    config.flows.push(other);
    let [.., wrong, right] = judged(&run_once(&config));
    assert!(right > 10.0 * wrong.max(1.0), "{right} and {wrong}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn a_file_arrives_whole_and_once_over_queues_that_mark_and_drop_and_links_that_lose(
        law in prop::sample::select(CongestionKind::named_in_scenarios()),
        recovery in prop::sample::select(RecoveryKind::ALL),
        threshold in 0u32..20,
        room in 1u32..40,
        percent in 0u32..8,
        replication in 0u64..1_000,
    ) {
        let parts = Parts::new(recovery, law.config());
        let sack = matches!(recovery, RecoveryKind::Sack | RecoveryKind::Fack);
        let tcp = tcp::Config { parts, sack, ..ecn(CongestionKind::Reno) };
        let mut config = bottleneck(tcp, Some(warning(f64::from(threshold))));
        // Where a queue of one packet drops every second copy, timeouts follow one another and take most of an hour.
        let seconds = 20_000;
        config.run.duration = Span::from_secs(seconds);
        config.flows[0].app = file(150_000);
        wire(&mut config, 1, 0).queue = QueueLimit::Packets(room);
        for side in 0..2 {
            wire(&mut config, 1, side).loss = LossConfig::Packet { rate: f64::from(percent) / 100.0 };
        }
        let outcome = run_replication(&config, replication);
        let goodput = metric(&outcome, "flows.main.goodput_bps") * seconds as f64 / 8.0;
        prop_assert_eq!(goodput.round(), 150_000.0);
    }
}
