//! Laws that judge losses, against what the network knows of each loss.

use crate::common::{ejtcp_fig9, metric, ns2_tcp, run_once, run_replication, wire};
use lasthop_sim::Outcome;
use lasthop_sim::medium::loss::{LossConfig, PacketClass};
use lasthop_sim::model::Config;
use lasthop_stack::estimate::Reach;
use lasthop_stack::packet::Form;
use lasthop_stack::registry::tcp;
use lasthop_stack::registry::{CongestionKind, LawConfig, Parts, RecoveryKind};
use lasthop_stack::schemes::ejtcp::EjtcpConfig;
use lasthop_stack::transport::congestion::JtcpConfig;
use lasthop_stack::transport::tcp::FastRetransmit;
use lasthop_stack::units::Span;

const JUDGES: [(&str, CongestionKind); 2] =
    [("jtcp", CongestionKind::Jtcp), ("ejtcp", CongestionKind::Ejtcp)];

/// A flow whose losses both laws only judge.
fn judged(recovery: RecoveryKind) -> tcp::Config {
    let judges = JUDGES.map(|(_, kind)| kind.config()).to_vec();
    let parts = Parts { judges, ..Parts::new(recovery, LawConfig::Reno(())) };
    tcp::Config { parts, reno_fast_retransmit: FastRetransmit::EveryHole, ..ns2_tcp() }
}

/// A flow under one of the laws.
fn governed(law: LawConfig) -> tcp::Config {
    tcp::Config { parts: Parts::new(RecoveryKind::Reno, law), ..judged(RecoveryKind::Reno) }
}

/// The fast retransmits of a judge: random as random and as congestion, congestion as random and as congestion, none.
fn fast(outcome: &Outcome, judge: &str) -> [f64; 5] {
    row(outcome, judge, "fast")
}

fn row(outcome: &Outcome, judge: &str, kind: &str) -> [f64; 5] {
    let names = [
        "random_as_random",
        "random_as_congestion",
        "congestion_as_random",
        "congestion_as_congestion",
        "spurious",
    ];
    names.map(|name| metric(outcome, &format!("flows.main.{judge}.{kind}.{name}")))
}

#[test]
fn each_loss_of_a_flow_that_fills_the_path_alone_is_congestion_to_both_judges() {
    // algorithms.md 2.3: 32 of 32 over two runs.
    for replication in 0..2 {
        let config = ejtcp_fig9(judged(RecoveryKind::NewReno), 0.0, Span::from_secs(250));
        let outcome = run_replication(&config, replication);
        let losses = metric(&outcome, "flows.main.fast_retransmits");
        assert!(losses > 10.0);
        for (judge, _) in JUDGES {
            assert_eq!(fast(&outcome, &format!("judges.{judge}")), [0.0, 0.0, 0.0, losses, 0.0], "{judge}");
        }
    }
}

#[test]
fn over_no_more_packets_than_the_window_holds_the_ratio_misses_nearly_all_of_it() {
    let mut tcp = judged(RecoveryKind::NewReno);
    let jtcp = JtcpConfig { reach: Reach::Cwnd, ..JtcpConfig::default() };
    tcp.parts.judges[0] = LawConfig::Jtcp(jtcp);
    let outcome = run_once(&ejtcp_fig9(tcp, 0.0, Span::from_secs(250)));
    let [.., missed, found, _] = fast(&outcome, "judges.jtcp");
    assert!(missed > 10.0 * found, "{missed} {found}");
}

#[test]
fn the_round_trip_clears_most_random_losses_that_meet_a_growing_queue() {
    for loss in [0.0005, 0.001] {
        let config = ejtcp_fig9(judged(RecoveryKind::NewReno), loss, Span::from_secs(250));
        let outcome = run_once(&config);
        let [right, wrong, ..] = fast(&outcome, "judges.jtcp");
        let [righter, less, ..] = fast(&outcome, "judges.ejtcp");
        assert_eq!(right + wrong, righter + less, "they judge the same losses");
        assert!(wrong > 20.0 && less < wrong / 2.0, "{loss}: {wrong} {less}");
    }
}

#[test]
fn at_one_percent_neither_judge_of_newreno_takes_a_random_loss_for_congestion() {
    let outcome = run_once(&ejtcp_fig9(judged(RecoveryKind::NewReno), 0.01, Span::from_secs(250)));
    for (judge, _) in JUDGES {
        let [right, wrong, ..] = fast(&outcome, &format!("judges.{judge}"));
        assert!(right > 200.0 && wrong == 0.0, "{judge}: {right} {wrong}");
    }
}

#[test]
fn a_judge_changes_nothing_that_it_judges() {
    let config = ejtcp_fig9(judged(RecoveryKind::NewReno), 0.01, Span::from_secs(60));
    let alone = judged(RecoveryKind::NewReno);
    let alone = tcp::Config { parts: Parts { judges: Vec::new(), ..alone.parts }, ..alone };
    let alone = run_once(&ejtcp_fig9(alone, 0.01, Span::from_secs(60)));
    let watched = run_once(&config);
    assert_eq!(alone.events, watched.events);
    for (name, value) in &alone.metrics {
        assert!(watched.metrics.contains(&(name.clone(), *value)), "{name}");
    }
}

#[test]
fn every_judged_loss_is_in_the_matrix_of_the_law_that_governs() {
    for (name, kind) in JUDGES {
        let outcome = run_once(&ejtcp_fig9(governed(kind.config()), 0.02, Span::from_secs(100)));
        for (kind, counter) in [("fast", "fast_retransmits"), ("timeout", "timeouts")] {
            let sum: f64 = row(&outcome, "judged", kind).iter().sum();
            assert_eq!(sum, metric(&outcome, &format!("flows.main.{counter}")), "{name} {kind}");
        }
        assert!(metric(&outcome, "flows.main.fast_retransmits") > 50.0);
    }
}

/// The path of Fig. 9 on which nothing queues, with these data packets lost on the last hop.
fn two_losses(tcp: tcp::Config, drop: Vec<u64>) -> Config {
    let mut config = ejtcp_fig9(tcp, 0.0, Span::from_secs(3));
    wire(&mut config, 2, 0).loss = LossConfig::List { drop, of: PacketClass::Data };
    config
}

#[test]
fn a_second_loss_close_to_the_first_misleads_jtcp_and_not_ejtcp() {
    // EJTCP, Fig. 2. A window of 30 on a path that holds 54 never queues, so both losses are random beyond doubt.
    let mut tcp = tcp::Config { window: 30, ..judged(RecoveryKind::Reno) };
    tcp.parts.law = CongestionKind::Ejtcp.config();
    let outcome = run_once(&two_losses(tcp, vec![400, 410]));
    assert_eq!(fast(&outcome, "judges.jtcp"), [1.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(fast(&outcome, "judges.ejtcp"), [2.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn the_form_of_the_header_costs_what_it_says() {
    let goodput = |form| {
        let mut tcp = governed(LawConfig::Ejtcp(EjtcpConfig { header: form, ..EjtcpConfig::default() }));
        // A window that fills the path and no queue.
        tcp.window = 100;
        metric(&run_once(&ejtcp_fig9(tcp, 0.0, Span::from_secs(100))), "flows.main.goodput_bps")
    };
    let ratio = goodput(Form::Paper) / goodput(Form::Option);
    assert!((ratio - 1060.0 / 1042.0).abs() < 1e-3, "{ratio}");
}

#[test]
fn ejtcp_keeps_its_window_through_random_losses_and_reno_does_not() {
    let goodput =
        |tcp| metric(&run_once(&ejtcp_fig9(tcp, 0.01, Span::from_secs(100))), "flows.main.goodput_bps");
    let [reno, jtcp, ejtcp] = [CongestionKind::Reno, CongestionKind::Jtcp, CongestionKind::Ejtcp]
        .map(|kind| goodput(governed(kind.config())));
    assert!(jtcp > 1.5 * reno && ejtcp > jtcp, "{reno} {jtcp} {ejtcp}");
}
