//! A run that sends packets ahead over relays gives what a run gives that takes every crossing by itself.

use crate::common::{chain, direction, ns2_tcp, run, wire};
use lasthop_sim::medium::loss::LossConfig;
use lasthop_sim::model::{Config, FlowConfig, LinkConfig, LinkKind, PointToPoint, Sends};
use lasthop_sim::{Outcome, Request};
use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::registry::AqmConfig;
use lasthop_stack::registry::tcp::{self, Profile};
use lasthop_stack::schemes::congestion_warning;
use lasthop_stack::transport::tcp::EcnMode;
use lasthop_stack::units::{Span, Time};
use proptest::prelude::*;

/// The outcome, with each link watched or none.
fn outcome(config: &Config, trace: &[&str], max_events: Option<u64>) -> Outcome {
    let trace: Vec<String> = trace.iter().map(|name| (*name).to_owned()).collect();
    let request = Request { trace: &trace, max_events, ..Request::new(config, 1, 0) };
    run(&request).expect("the run succeeds")
}

fn assert_same_watched_or_not(config: &Config, least_events: u64) {
    let plain = outcome(config, &[], None);
    assert!(plain.events >= least_events, "{} events", plain.events);
    for other in [outcome(config, &["queue"], None), outcome(config, &[], Some(u64::MAX))] {
        assert_eq!(plain.metrics, other.metrics);
        assert_eq!(plain.events, other.events);
    }
}

/// Adds a flow like the first between two other nodes.
fn add_flow(config: &mut Config, name: &str, from: usize, to: usize, start: Time) {
    let mut flow: FlowConfig = config.flows[0].clone();
    (flow.name, flow.from, flow.to) = (name.into(), from, to);
    flow.app.start = start;
    config.flows.push(flow);
}

#[test]
fn a_delayed_acknowledgement_due_when_a_segment_arrives_goes_first_watched_or_not() {
    // The timer's acknowledgement releases data that arrives one round trip later. At that very instant the timer of a
    // segment released by an earlier acknowledgement is due.
    let links = [(50_000_000, Span::from_millis(44)), (100_000_000, Span::from_millis(1))];
    let mut config = chain(&links, Profile::Modern.config(), Span::from_secs(100));
    wire(&mut config, 1, 0).loss = LossConfig::Packet { rate: 0.001 };
    assert_same_watched_or_not(&config, 100);
}

#[test]
fn flows_that_start_at_once_on_like_paths_meet_in_the_same_order_watched_or_not() {
    // Two paths of two links each join in node 4.
    let links = [(8_000_000, Span::from_millis(2)); 2];
    let mut config = chain(&links, ns2_tcp(), Span::from_secs(20));
    for (number, nodes) in [[3, 4], [4, 1], [2, 5]].into_iter().enumerate() {
        let directions =
            [direction(8_000_000, Span::from_millis(2)), direction(8_000_000, Span::from_millis(2))];
        let kind = LinkKind::PointToPoint(PointToPoint { nodes, directions, rtt: None, sends: Sends::Wires });
        config.links.push(LinkConfig {
            name: format!("m{number}"),
            group: None,
            kind,
            outages: None,
            aqm: None,
        });
    }
    for node in 3..6 {
        let like = lasthop_sim::model::NodeConfig { name: format!("n{node}"), ..Default::default() };
        config.nodes.push(like);
    }
    config.flows[0].to = 5;
    add_flow(&mut config, "second", 3, 5, Time::ZERO);
    add_flow(&mut config, "third", 4, 5, Time(1_000_000));
    assert_same_watched_or_not(&config, 100);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn chains_with_joining_flows_losses_and_short_queues(
        links in prop::collection::vec((1u64..20, 0u64..30, 1u32..20, 0u32..4), 2..5),
        modern: bool,
        threshold in prop::option::of(0u32..12),
        warmup_ms in 0u64..3000,
        joins in prop::collection::vec((0usize..5, 0usize..5, 0u64..1000), 0..3),
    ) {
        let mut tcp: tcp::Config = if modern { Profile::Modern.config() } else { ns2_tcp() };
        if threshold.is_some() {
            tcp.ecn = EcnMode::Classic;
        }
        let rates: Vec<(u64, Span)> =
            links.iter().map(|&(mbit, ms, _, _)| (mbit * 1_000_000, Span::from_millis(ms))).collect();
        let mut config = chain(&rates, tcp, Span::from_secs(4));
        config.run.warmup = Span::from_millis(warmup_ms);
        for (number, &(_, _, queue, percent)) in links.iter().enumerate() {
            let warning = |above| congestion_warning::Config { threshold: f64::from(above), weight: 0.3 };
            config.links[number].aqm = threshold.map(warning).map(AqmConfig::Warning);
            for side in 0..2 {
                let direction = wire(&mut config, number, side);
                direction.queue = QueueLimit::Packets(queue);
                direction.loss = LossConfig::Packet { rate: f64::from(percent) / 100.0 };
            }
        }
        for (number, &(from, to, start_ms)) in joins.iter().enumerate() {
            let (from, to) = (from % (links.len() + 1), to % (links.len() + 1));
            if from != to {
                add_flow(&mut config, &format!("join{number}"), from, to, Time(start_ms * 1_000_000));
            }
        }
        // A handshake may be lost again and again in a queue of one packet.
        assert_same_watched_or_not(&config, 1);
    }
}
