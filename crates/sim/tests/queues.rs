//! Managed queues under traffic: what each law holds the delay at, what it drops, and that nothing is lost from the accounts.

use crate::common::{chain, file, metric, ns2_tcp, run_once, run_replication, source, wire, wlan};
use lasthop_sim::Outcome;
use lasthop_sim::model::{Config, LinkKind, TransportConfig};
use lasthop_sim::traffic::AppKind;
use lasthop_stack::link::dot11::Preset;
use lasthop_stack::link::managed::{codel, dualpi2, fq_codel, pie, red};
use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::registry::{AqmConfig, AqmKind, CongestionKind, Parts, RecoveryKind, tcp};
use lasthop_stack::transport::tcp::EcnMode;
use lasthop_stack::units::{Bytes, Metres, Rate, Span};
use proptest::prelude::*;

fn sender(law: CongestionKind, ecn: EcnMode) -> tcp::Config {
    let parts = Parts::new(RecoveryKind::Sack, law.config());
    tcp::Config { parts, sack: true, window: 2_000, ecn, ..ns2_tcp() }
}

/// A fast wire, then 10 Mbit/s with 40 ms of round trip and this queue.
fn bottleneck(tcp: tcp::Config, aqm: Option<AqmConfig>) -> Config {
    let links = [(100_000_000, Span::from_millis(10)), (10_000_000, Span::from_millis(10))];
    let mut config = chain(&links, tcp, Span::from_secs(40));
    config.run.warmup = Span::from_secs(10);
    wire(&mut config, 1, 0).queue = QueueLimit::Packets(1_000);
    config.links[1].aqm = aqm;
    config
}

fn laws_of_wires() -> impl Iterator<Item = AqmKind> {
    AqmKind::ALL.iter().copied().filter(|kind| !kind.is_for_stations())
}

fn all() -> Vec<AqmConfig> {
    laws_of_wires().map(AqmKind::config).collect()
}

fn delay(outcome: &Outcome) -> f64 {
    metric(outcome, "links.l1.aqm_delay_mean_s")
}

fn goodput(outcome: &Outcome, flow: &str) -> f64 {
    metric(outcome, &format!("flows.{flow}.goodput_bps"))
}

#[test]
fn codel_and_pie_hold_the_delay_of_one_cubic_flow_near_their_targets() {
    let run = |aqm| run_once(&bottleneck(sender(CongestionKind::Cubic, EcnMode::Off), aqm));
    let full = run(None);
    assert!(metric(&full, "links.l1.queue_mean_packets") > 300.0);
    for (aqm, least, most) in [
        (AqmConfig::Codel(codel::Config::default()), 0.001, 0.010),
        (AqmConfig::FqCodel(fq_codel::Config::default()), 0.001, 0.010),
        (AqmConfig::Pie(pie::Config::default()), 0.008, 0.022),
        (AqmConfig::DualPi2(dualpi2::Config::default()), 0.005, 0.022),
    ] {
        let name = aqm.kind().entry().name;
        let outcome = run(Some(aqm));
        let found = delay(&outcome);
        assert!((least..most).contains(&found), "{name}: {found}");
        assert!(metric(&outcome, "links.l1.drops_aqm") > 0.0, "{name}");
        assert_eq!(metric(&outcome, "links.l1.drops_queue"), 0.0, "{name}");
        assert!(goodput(&outcome, "main") > 8.0e6, "{name}: {}", goodput(&outcome, "main"));
    }
}

#[test]
fn packets_that_use_ecn_are_marked_and_not_dropped() {
    for aqm in all().into_iter().filter(AqmConfig::is_early) {
        let name = aqm.kind().entry().name;
        let outcome = run_once(&bottleneck(sender(CongestionKind::Cubic, EcnMode::Classic), Some(aqm)));
        assert!(metric(&outcome, "links.l1.marks") > 0.0, "{name}");
        // RED drops above twice its threshold, where slow start takes it; that is before the measurement.
        assert_eq!(metric(&outcome, "links.l1.drops_aqm"), 0.0, "{name}");
        assert_eq!(metric(&outcome, "flows.main.retransmits"), 0.0, "{name}");
    }
}

/// A bulk flow and 20 small datagrams a second over the bottleneck: the delay that 95 % of the datagrams do not exceed, and those that
/// are missing.
fn beside_bulk(aqm: AqmConfig) -> (f64, f64) {
    let mut config = bottleneck(sender(CongestionKind::Cubic, EcnMode::Off), Some(aqm));
    let mut ping = config.flows[0].clone();
    ping.name = "ping".into();
    ping.transport = TransportConfig::Udp { extra_header: 0 };
    ping.app = source(AppKind::Cbr { rate: Rate(16_000), packet: 100 });
    config.flows.push(ping);
    let outcome = run_once(&config);
    let lost = metric(&outcome, "flows.ping.packets_sent") - metric(&outcome, "flows.ping.packets_received");
    (metric(&outcome, "flows.ping.delay_p95_s"), lost)
}

#[test]
fn fq_codel_keeps_a_sparse_flow_apart_from_bulk() {
    let (apart, lost) = beside_bulk(AqmConfig::FqCodel(fq_codel::Config::default()));
    let (together, _) = beside_bulk(AqmConfig::Codel(codel::Config::default()));
    // 20 ms of propagation, and at most one packet of 0.8 ms before it on the bottleneck.
    assert!((0.020..0.0213).contains(&apart), "{apart}");
    assert!(together > apart + 0.003, "{together}");
    assert!(lost <= 1.0, "one may be on its way: {lost}");
}

#[test]
fn red_holds_the_mean_at_which_its_drops_are_those_of_the_load() {
    // Datagrams at 1.25 times the rate: a fifth must go. With gentle, p_b between 15 and 30 is 0.1 + 0.9 (avg - 15) /
    // 15. Uniform spacing with p_b drops 2 p / (1 + p) of all, for p = 1/9 a fifth. Then avg = 15 + 15 (1/9 - 0.1) /
    // 0.9 = 15.185.
    let mut config =
        bottleneck(sender(CongestionKind::Reno, EcnMode::Off), Some(AqmConfig::Red(red::Config::default())));
    config.flows[0].transport = TransportConfig::Udp { extra_header: 0 };
    config.flows[0].app = source(AppKind::Poisson { rate: Rate(12_500_000), packet: 972 });
    let outcome = run_once(&config);
    let mean = metric(&outcome, "links.l1.queue_mean_packets");
    assert!((mean - 15.185).abs() < 1.0, "{mean}");
}

#[test]
fn a_queue_in_bytes_bounds_the_bytes_of_each_law() {
    for aqm in all() {
        let name = aqm.kind().entry().name;
        let mut config = bottleneck(sender(CongestionKind::Reno, EcnMode::Off), Some(aqm));
        config.flows[0].transport = TransportConfig::Udp { extra_header: 0 };
        config.flows[0].app = source(AppKind::Cbr { rate: Rate(30_000_000), packet: 972 });
        wire(&mut config, 1, 0).queue = QueueLimit::Bytes(Bytes(10_500));
        let outcome = run_once(&config);
        assert_eq!(metric(&outcome, "links.l1.queue_max_packets"), 10.0, "{name}");
        assert!(metric(&outcome, "links.l1.utilisation") > 0.999, "{name}");
    }
}

#[test]
fn a_full_queue_is_so_but_for_the_time_between_a_departure_and_the_next_arrival() {
    // One leaves every 800 us and one comes every 243 us, which have no common divisor: the gap is 121.5 us in the mean.
    let share = |limit, aqm: Option<AqmKind>| {
        let mut config = bottleneck(sender(CongestionKind::Reno, EcnMode::Off), aqm.map(AqmKind::config));
        config.flows[0].transport = TransportConfig::Udp { extra_header: 0 };
        config.flows[0].app = source(AppKind::Cbr { rate: Rate(32_000_000), packet: 972 });
        wire(&mut config, 1, 0).queue = limit;
        let outcome = run_once(&config);
        let found = outcome.metrics.iter().find(|(name, _)| name == "links.l1.queue_full_share");
        found.expect("a metric of each link").1
    };
    for limit in [QueueLimit::Packets(10), QueueLimit::Bytes(Bytes(10_500))] {
        let full = share(limit, None).expect("defined without a law");
        assert!((full - (1.0 - 121.5 / 800.0)).abs() < 0.001, "{limit:?}: {full}");
        // The limit is that of the queue if its law decides at arrivals only.
        assert!(share(limit, Some(AqmKind::Red)).is_some());
        assert_eq!(share(limit, Some(AqmKind::Codel)), None);
    }
    assert_eq!(share(QueueLimit::Unlimited, None), Some(0.0));
}

#[test]
fn stations_and_the_air_of_802_16_have_all_laws() {
    for aqm in all() {
        let name = aqm.kind().entry().name;
        let mut config = bottleneck(sender(CongestionKind::Cubic, EcnMode::Off), None);
        config.links[1] = wlan(vec![1, 2], Some(1), Preset::Dot11b.config(), None);
        config.links[1].aqm = Some(aqm.clone());
        for (node, metres) in [(1, 0.0), (2, 10.0)] {
            config.nodes[node].position = Some((Metres(metres), Metres(0.0)));
        }
        let LinkKind::Wifi(wifi) = &mut config.links[1].kind else { panic!("802.11") };
        wifi.mac.queue = 500;
        let outcome = run_once(&config);
        if aqm.drops() && aqm.is_early() {
            assert!(metric(&outcome, "links.wlan.drops_aqm") > 0.0, "{name}");
            let delay = metric(&outcome, "links.wlan.aqm_delay_mean_s");
            assert!((0.001..0.060).contains(&delay), "{name}: {delay}");
        }
        assert!(goodput(&outcome, "main") > 3.2e6, "{name}: {}", goodput(&outcome, "main"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_file_arrives_whole_and_once_over_each_law(
        law in prop::sample::select(laws_of_wires().collect::<Vec<_>>()),
        mode in prop::sample::select(vec![EcnMode::Off, EcnMode::Classic]),
        room in 1u32..40,
        replication in 0u64..1_000,
    ) {
        let mut config = bottleneck(sender(CongestionKind::Cubic, mode), Some(law.config()));
        config.run.warmup = Span::ZERO;
        config.run.duration = Span::from_secs(500);
        config.flows[0].app = file(150_000);
        wire(&mut config, 1, 0).queue = QueueLimit::Packets(room);
        let outcome = run_replication(&config, replication);
        prop_assert_eq!((goodput(&outcome, "main") * 500.0 / 8.0).round(), 150_000.0);
    }
}
