//! Accurate ECN between two ends, and scalable laws at queues that mark them early.

use crate::common::{chain, metric, ns2_tcp, run_once, wire};
use lasthop_sim::Outcome;
use lasthop_sim::model::{Config, TransportConfig};
use lasthop_stack::link::managed::{codel, dualpi2};
use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::registry::{AqmConfig, CongestionKind, Parts, RecoveryKind, tcp};
use lasthop_stack::schemes::congestion_warning;
use lasthop_stack::transport::tcp::EcnMode;
use lasthop_stack::units::Span;

fn sender(law: CongestionKind, ecn: EcnMode) -> tcp::Config {
    let parts = Parts::new(RecoveryKind::Sack, law.config());
    tcp::Config { parts, sack: true, window: 2_000, ecn, ack_every: 2, ..ns2_tcp() }
}

/// Flows with these ends over 40 Mbit/s with 20 ms of round trip.
fn shared(ends: &[tcp::Config], aqm: AqmConfig) -> Outcome {
    let links = [(1_000_000_000, Span::from_millis(1)), (40_000_000, Span::from_millis(9))];
    let mut config: Config = chain(&links, ends[0].clone(), Span::from_secs(60));
    config.run.warmup = Span::from_secs(20);
    for (number, tcp) in ends.iter().enumerate().skip(1) {
        let mut flow = config.flows[0].clone();
        flow.name = format!("other{number}");
        flow.transport = TransportConfig::Tcp(tcp.clone());
        config.flows.push(flow);
    }
    wire(&mut config, 1, 0).queue = QueueLimit::Packets(1_000);
    config.links[1].aqm = Some(aqm);
    run_once(&config)
}

fn goodput(outcome: &Outcome, flow: &str) -> f64 {
    metric(outcome, &format!("flows.{flow}.goodput_bps"))
}

fn l4s_wait_s(outcome: &Outcome) -> f64 {
    let of = |name: &str| metric(outcome, &format!("links.l1.aqm.{name}"));
    of("l4s_waited") / of("l4s_packets") / 1e6
}

#[test]
fn dualpi2_gives_an_l4s_flow_a_short_queue_and_about_the_rate_of_a_classic_one() {
    for classic in [EcnMode::Off, EcnMode::Classic] {
        let ends = [sender(CongestionKind::Prague, EcnMode::Accurate), sender(CongestionKind::Reno, classic)];
        let outcome = shared(&ends, AqmConfig::DualPi2(dualpi2::Config::default()));
        let ratio = goodput(&outcome, "main") / goodput(&outcome, "other1");
        assert!((0.5..2.0).contains(&ratio), "{classic:?}: {ratio}");
        let wait = l4s_wait_s(&outcome);
        assert!(wait < 0.0012, "{classic:?}: {wait}");
        assert!(metric(&outcome, "links.l1.utilisation") > 0.9);
        assert_eq!(metric(&outcome, "flows.main.retransmits"), 0.0);
    }
}

#[test]
fn dctcp_holds_a_queue_at_the_threshold_that_marks_it() {
    let step = congestion_warning::Config { threshold: 20.0, weight: 1.0 };
    let outcome = shared(&[sender(CongestionKind::Dctcp, EcnMode::Accurate)], AqmConfig::Warning(step));
    let mean = metric(&outcome, "links.l1.queue_mean_packets");
    assert!((8.0..24.0).contains(&mean), "{mean}");
    assert!(metric(&outcome, "links.l1.utilisation") > 0.97);
    // One that halves its window at each mark leaves the link idle in part.
    let outcome = shared(&[sender(CongestionKind::Reno, EcnMode::Classic)], AqmConfig::Warning(step));
    assert!(metric(&outcome, "links.l1.utilisation") < 0.97);
}

#[test]
fn accurate_ecn_serves_classic_laws_and_falls_back() {
    for law in [CongestionKind::Reno, CongestionKind::Cubic, CongestionKind::Jersey] {
        let outcome = shared(&[sender(law, EcnMode::Accurate)], AqmConfig::Codel(codel::Config::default()));
        assert!(metric(&outcome, "flows.main.marks_answered") > 0.0, "{law:?}");
        assert_eq!(metric(&outcome, "flows.main.retransmits"), 0.0, "{law:?}");
        assert!(goodput(&outcome, "main") > 25e6, "{law:?}");
    }
}
