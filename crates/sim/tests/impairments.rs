//! Wires that police, delay, reorder and duplicate packets, end to end: what arrives, and that nothing is gone or there
//! twice without being counted.

use crate::common::{chain, metric, run, run_once, source, wire};
use lasthop_sim::medium::impairments::{
    DuplicateConfig, ImpairmentConfig, JitterConfig, JitterLaw, ReorderConfig,
};
use lasthop_sim::medium::loss::LossConfig;
use lasthop_sim::model::{Config, TransportConfig};
use lasthop_sim::traffic::AppKind;
use lasthop_sim::{Outcome, Request};
use lasthop_stack::link::policer::PolicerConfig;
use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::registry::AqmKind;
use lasthop_stack::registry::tcp::Profile;
use lasthop_stack::units::{Bytes, Rate, Span};

const FAST: u64 = 100_000_000;

fn all() -> ImpairmentConfig {
    ImpairmentConfig {
        jitter: Some(JitterConfig {
            spread: Span::from_millis(4),
            law: JitterLaw::Normal,
            correlation: 0.25,
            keeps_order: false,
        }),
        reorder: Some(ReorderConfig { rate: 0.02, correlation: 0.0, gap: 3, by: None }),
        duplicate: Some(DuplicateConfig { rate: 0.05, correlation: 0.1 }),
    }
}

/// Three wires of 20 ms, the one in the middle with impairments in both directions.
fn path(impairments: ImpairmentConfig, seconds: u64) -> Config {
    let links = [(FAST, Span::from_millis(1)), (10_000_000, Span::from_millis(20)), (FAST, Span::ZERO)];
    let mut config = chain(&links, Profile::Modern.config(), Span::from_secs(seconds));
    for direction in 0..2 {
        wire(&mut config, 1, direction).impairments = impairments;
    }
    config
}

/// The same under a constant rate of datagrams of 1000 bytes with their headers.
fn datagrams(impairments: ImpairmentConfig, rate_bps: u64, seconds: u64) -> Config {
    let mut config = path(impairments, seconds);
    config.flows[0].transport = TransportConfig::Udp { extra_header: 0 };
    config.flows[0].app = source(AppKind::Cbr { rate: Rate(rate_bps), packet: 972 });
    config
}

/// The packets and bytes that came are those that went.
fn balance(outcome: &Outcome) {
    for (name, account) in &outcome.accounts {
        let terms = account.terms().map(|(_, tally)| (tally.packets, tally.bytes));
        let sum = |(packets, bytes), (more, of_them): &(u64, u64)| (packets + more, bytes + of_them);
        let [came, went] = [&terms[..3], &terms[3..]].map(|terms| terms.iter().fold((0, 0), sum));
        assert_eq!(came, went, "{name}: {account:?}");
    }
}

#[test]
fn each_packet_and_each_copy_is_delivered_or_lost_and_counted_once() {
    let mut config = path(all(), 20);
    wire(&mut config, 1, 0).loss = LossConfig::Packet { rate: 0.01 };
    wire(&mut config, 1, 0).policer = Some(PolicerConfig { rate: Rate(8_000_000), burst: Bytes(50_000) });
    for aqm in [None, Some(AqmKind::DropHead), Some(AqmKind::Red)] {
        config.links[1].aqm = aqm.map(AqmKind::config);
        let outcome = run_once(&config);
        balance(&outcome);
        let sum = |name: &str| ["", "reverse."].map(|way| metric(&outcome, &format!("links.l1.{way}{name}")));
        let repeated: u64 = outcome.accounts.iter().map(|(_, account)| account.repeated.packets).sum();
        assert!(repeated > 100, "{aqm:?}: {repeated}");
        assert_eq!(sum("duplicated").iter().sum::<f64>(), repeated as f64, "{aqm:?}");
        assert!(sum("reordered")[0] > 100.0, "{aqm:?}");
        assert!(metric(&outcome, "links.l1.drops_policer") > 0.0, "{aqm:?}");
        assert!(metric(&outcome, "flows.main.goodput_bps") > 1e5, "{aqm:?}");
    }
}

#[test]
fn a_wire_with_impairments_gives_the_same_watched_or_not() {
    for aqm in [None, Some(AqmKind::Codel)] {
        let mut config = path(all(), 5);
        config.links[1].aqm = aqm.map(AqmKind::config);
        let of = |trace: &[&str]| {
            let trace: Vec<String> = trace.iter().map(|name| (*name).to_owned()).collect();
            run(&Request { trace: &trace, ..Request::new(&config, 1, 0) }).expect("the run succeeds")
        };
        let plain = of(&[]);
        for other in [of(&["queue"]), of(&["events"])] {
            assert_eq!((&plain.metrics, plain.events), (&other.metrics, other.events));
        }
    }
}

#[test]
fn rates_of_zero_change_neither_events_nor_results() {
    let none = ImpairmentConfig::default();
    let (plain, policed) = (run_once(&path(none, 5)), {
        let mut config = path(none, 5);
        wire(&mut config, 1, 0).policer =
            Some(PolicerConfig { rate: Rate(1_000_000_000), burst: Bytes(1_000_000) });
        run_once(&config)
    });
    let goodput = "flows.main.goodput_bps";
    assert_eq!(metric(&plain, goodput), metric(&policed, goodput));
    assert_eq!(metric(&policed, "links.l1.drops_policer"), 0.0);
}

#[test]
fn a_policer_passes_its_rate_and_its_burst_and_no_more() {
    let mut config = datagrams(ImpairmentConfig::default(), 9_000_000, 10);
    wire(&mut config, 1, 0).policer = Some(PolicerConfig { rate: Rate(4_000_000), burst: Bytes(40_000) });
    let outcome = run_once(&config);
    balance(&outcome);
    // 4 Mbit/s of packets of 1000 bytes in 10 s, and 40 at once.
    let passed = metric(&outcome, "flows.main.packets_received");
    assert!((passed - 5040.0).abs() < 15.0, "{passed}");
    let sent = metric(&outcome, "flows.main.packets_sent");
    let dropped = metric(&outcome, "links.l1.drops_policer");
    assert!(sent - passed - dropped < 30.0, "{sent} {passed} {dropped}");
    assert_eq!(metric(&outcome, "links.l1.drops_queue"), 0.0);
}

#[test]
fn datagrams_arrive_in_another_order_or_not_and_twice_at_the_rate_of_duplicates() {
    let duplicate = Some(DuplicateConfig { rate: 0.1, correlation: 0.0 });
    let outcome = run_once(&datagrams(ImpairmentConfig { duplicate, ..Default::default() }, 4_000_000, 20));
    balance(&outcome);
    let duplicated = metric(&outcome, "links.l1.duplicated") / metric(&outcome, "flows.main.packets_sent");
    assert!((duplicated - 0.1).abs() < 0.01, "{duplicated}");
    assert_eq!(metric(&outcome, "links.l1.reordered"), 0.0);
    for keeps_order in [false, true] {
        let jitter = all().jitter.map(|jitter| JitterConfig { keeps_order, ..jitter });
        let outcome = run_once(&datagrams(ImpairmentConfig { jitter, ..Default::default() }, 4_000_000, 5));
        balance(&outcome);
        assert_eq!(metric(&outcome, "links.l1.reordered") == 0.0, keeps_order);
    }
}

#[test]
fn the_delay_varies_around_the_delay_of_the_wire() {
    let jitter = JitterConfig {
        spread: Span::from_millis(10),
        law: JitterLaw::Uniform,
        correlation: 0.0,
        keeps_order: false,
    };
    let impairments = ImpairmentConfig { jitter: Some(jitter), ..Default::default() };
    let outcome = run_once(&datagrams(impairments, 1_000_000, 60));
    let plain = run_once(&datagrams(ImpairmentConfig::default(), 1_000_000, 60));
    let of = |outcome: &Outcome, name: &str| metric(outcome, &format!("flows.main.{name}"));
    assert!((of(&outcome, "delay_mean_s") - of(&plain, "delay_mean_s")).abs() < 3e-4);
    let most = of(&outcome, "delay_max_s") - of(&plain, "delay_max_s");
    assert!((0.0099..=0.0101).contains(&most), "{most}");
}

#[test]
fn a_queue_that_drops_at_its_head_delivers_younger_packets_than_one_that_drops_at_its_tail() {
    let delay = |aqm: Option<AqmKind>| {
        let mut config = datagrams(ImpairmentConfig::default(), 12_000_000, 10);
        wire(&mut config, 1, 0).queue = QueueLimit::Packets(101);
        config.links[1].aqm = aqm.map(AqmKind::config);
        let outcome = run_once(&config);
        balance(&outcome);
        let drops = metric(&outcome, "links.l1.drops_queue");
        assert!((drops - 2832.0).abs() < 120.0, "{aqm:?}: {drops}");
        metric(&outcome, "flows.main.delay_mean_s")
    };
    // Both are full: 101 packets of 0.8 ms. At the tail each waits for all of them; at the head, 1543 packets a second drive
    // 100 through in 65 ms.
    let (tail, head) = (delay(None), delay(Some(AqmKind::DropHead)));
    assert!((tail - 0.021 - 0.0808).abs() < 0.004, "{tail}");
    assert!((head - 0.021 - 0.0656).abs() < 0.003, "{head}");
}
