//! A slotted network end to end.

use crate::common::{chain, metric, run, run_once, source};
use lasthop_sim::model::{
    Config, ErrorAt, FlowConfig, FrnConfig, LinkConfig, LinkKind, NodeConfig, Sense, SinkConfig,
    TransportConfig,
};
use lasthop_sim::probe::trace::TraceTable;
use lasthop_sim::traffic::{AppConfig, AppKind};
use lasthop_sim::{Outcome, Request, estimate};
use lasthop_stack::link::slotted::{CountScope, Discard, Remembered, Routing, Rules, Service, WaitFrom};
use lasthop_stack::registry::IntervalConfig;
use lasthop_stack::transport::tcp::Profile;
use lasthop_stack::units::{Bytes, Metres, Rate, Span, Time};
use proptest::prelude::*;

const ROUTINGS: [Routing; 3] = [Routing::Table, Routing::Turn, Routing::Load { frames: 8 }];

const SLOT: Span = Span::from_millis(10);

fn network(stations: usize) -> FrnConfig {
    let of_paper = FrnConfig::default();
    FrnConfig {
        nodes: (0..stations).collect(),
        rules: Rules { remembered: Remembered::NONE, wait_from: WaitFrom::Transmission, ..of_paper.rules },
        interval: IntervalConfig::Fixed(()),
        ..of_paper
    }
}

/// Nodes at these places in one network, and no flow.
fn scenario(places_m: &[(f64, f64)], duration: Span) -> Config {
    let mut config = chain(&[(1, Span::ZERO)], Profile::Ns2Of2004.config(), duration);
    config.nodes = places_m
        .iter()
        .enumerate()
        .map(|(node, (x, y))| NodeConfig {
            name: format!("n{node}"),
            position: Some((Metres(*x), Metres(*y))),
            ..NodeConfig::default()
        })
        .collect();
    let kind = LinkKind::Frn(Box::new(network(places_m.len())));
    config.links = vec![LinkConfig { name: "air".into(), group: None, kind, outages: None, aqm: None }];
    config.flows.clear();
    config
}

fn flow(config: &mut Config, from: usize, to: usize, app: AppConfig, transport: TransportConfig) {
    let name = format!("f{}", config.flows.len());
    let sink = SinkConfig::default();
    let (group, reverse, dscp, encrypted, is_outside) = (None, None, 0, false, false);
    config.flows.push(FlowConfig {
        name,
        group,
        from,
        to,
        app,
        sink,
        transport,
        dscp,
        encrypted,
        is_outside,
        reverse,
    });
}

/// A flow of one datagram at a time.
fn datagram(config: &mut Config, from: usize, to: usize, at: Time) {
    let kind = AppKind::Cbr { rate: Rate(800), packet: 100 };
    let app = AppConfig { start: at, spread: Span::ZERO, stop: Some(at.after(SLOT)), kind };
    flow(config, from, to, app, TransportConfig::Udp { extra_header: 0 });
}

fn tcp(config: &mut Config, from: usize, to: usize, kind: AppKind) {
    let tcp = TransportConfig::Tcp(Profile::Ns2Of2004.config());
    flow(config, from, to, source(kind), tcp);
}

fn frn(config: &mut Config) -> &mut FrnConfig {
    match &mut config.links[0].kind {
        LinkKind::Frn(frn) => frn,
        _ => panic!("a slotted network"),
    }
}

/// A chain of `hops` hops of 200 m.
fn in_a_row(hops: usize, duration: Span) -> Config {
    let places: Vec<(f64, f64)> = (0..=hops).map(|node| (200.0 * node as f64, 0.0)).collect();
    scenario(&places, duration)
}

fn air(outcome: &Outcome, name: &str) -> u64 {
    metric(outcome, &format!("links.air.{name}")) as u64
}

/// A row of the slot table: slot, node, event, source of the packet, other node, count of retransmissions.
type Row = (u64, String, String, String, String, i64);

fn slots(config: &Config) -> (Outcome, Vec<Row>) {
    let request = Request { trace: &["slots".to_string()], ..Request::new(config, 1, 0) };
    let outcome = run(&request).expect("the run succeeds");
    let table: &TraceTable = &outcome.traces[0];
    let all = table.ints("slot");
    let word = |name: &str, row: usize| table.words(name)[row].to_string();
    let rows = (0..all.len())
        .map(|row| {
            let count = table.ints("retransmissions")[row];
            let [node, event, from, peer] = ["node", "event", "source", "peer"].map(|name| word(name, row));
            (all[row].cast_unsigned(), node, event, from, peer, count)
        })
        .collect();
    (outcome, rows)
}

/// Fig. 1: a packet is forwarded (a, b), and its relay echo collides with another packet (c). Its sender therefore
/// forwards it to another node (d, e), and two copies are in the network (f).
#[test]
fn a_lost_relay_echo_makes_a_duplicate_by_another_route() {
    let places = [
        (0.0, 0.0),
        (170.0, 100.0),
        (170.0, -100.0),
        (340.0, 0.0),
        (540.0, 0.0),
        (-240.0, 0.0),
        (-440.0, 0.0),
    ];
    let mut config = scenario(&places, Span::from_millis(500));
    // The node on the left does not sense who forwards on the right.
    frn(&mut config).medium.carrier_sense_m = 250.0;
    datagram(&mut config, 0, 4, Time::ZERO);
    datagram(&mut config, 5, 6, Time(SLOT.0 / 2));
    let (outcome, rows) = slots(&config);
    let has = |slot: u64, node: &str, event: &str, peer: &str, count: i64| {
        let found = rows.iter().any(|row| {
            (row.0, &*row.1, &*row.2, &*row.3, &*row.4, row.5) == (slot, node, event, "n0", peer, count)
        });
        assert!(found, "{slot} {node} {event} {peer} {count} in {rows:#?}");
    };
    // (a) n0 sends to n1, and (b) n1 forwards to n3, which (c) does not come to n0: n5 sends in the same slot.
    has(0, "n0", "send", "n1", 0);
    has(0, "n1", "receive", "n0", 0);
    has(1, "n1", "send", "n3", 0);
    has(1, "n3", "receive", "n1", 0);
    has(1, "n0", "collided", "n1", 0);
    assert!(rows.iter().any(|row| (row.0, &*row.1, &*row.2, &*row.3) == (1, "n5", "send", "n5")));
    // (d) The first copy is forwarded; n0 waits for three to five slots.
    has(2, "n3", "send", "n4", 0);
    has(2, "n4", "receive", "n3", 0);
    has(3, "n4", "ack", "n3", 0);
    let again = rows.iter().find(|row| row.1 == "n0" && row.2 == "send" && row.5 == 1).expect("sent again");
    assert!((3..=5).contains(&again.0), "{again:?}");
    // (e) It goes to n2 now, and (f) there are two copies, both of which arrive.
    has(again.0, "n0", "send", "n2", 1);
    has(again.0 + 1, "n2", "send", "n3", 1);
    has(again.0 + 1, "n0", "passed", "n0", -1);
    has(again.0 + 2, "n3", "send", "n4", 1);
    has(again.0 + 2, "n4", "receive", "n3", 1);
    let counts =
        ["duplicates_created", "duplicates_delivered", "echoes_lost", "retransmissions", "collisions"];
    assert_eq!(counts.map(|name| air(&outcome, name)), [1, 1, 1, 1, 0]);
    // A datagram that comes twice is received once.
    let received =
        ["packets_received", "duplicates_received"].map(|name| metric(&outcome, &format!("flows.f0.{name}")));
    assert_eq!(received, [1.0, 1.0]);
}

#[test]
fn with_the_echo_heard_there_is_no_duplicate() {
    let mut config = in_a_row(3, Span::from_millis(500));
    datagram(&mut config, 0, 3, Time::ZERO);
    let outcome = run_once(&config);
    let counts = ["transmissions", "acks", "hops_per_slot", "duplicates_created", "slots_used"];
    assert_eq!(counts.map(|name| air(&outcome, name)), [3, 1, 0, 0, 4]);
    assert!((metric(&outcome, "links.air.hops_per_slot") * 50.0 - 3.0).abs() < 1e-9);
    // It arrives at the end of the third slot.
    assert!((metric(&outcome, "flows.f0.delay_mean_s") - 0.03).abs() < 1e-9);
}

#[test]
fn a_file_crosses_eight_hops_and_every_branch_of_its_packets_is_accounted_for() {
    let serial = Rules { service: Service::Serial, wait_from: WaitFrom::Echo, ..network(9).rules };
    for (error, sense, rules) in [
        (0.0, Sense::Nothing, network(9).rules),
        (0.05, Sense::Nothing, network(9).rules),
        (0.05, Sense::Random, network(9).rules),
        (0.05, Sense::Nothing, serial),
    ] {
        let mut config = in_a_row(8, Span::from_secs(600));
        frn(&mut config).sense = sense;
        frn(&mut config).rules = rules;
        frn(&mut config).medium.error = error;
        tcp(&mut config, 0, 8, AppKind::File { size: Bytes(300_000) });
        let outcome = run_once(&config);
        assert!(metric(&outcome, "flows.f0.completion_s") < 600.0);
        let [entered, created, delivered, again, discarded, lost] = [
            "packets_entered",
            "duplicates_created",
            "packets_delivered",
            "duplicates_delivered",
            "duplicates_discarded",
            "packets_lost",
        ]
        .map(|name| air(&outcome, name));
        assert!(created > 0, "nothing was duplicated");
        assert_eq!(entered + created, delivered + again + discarded + lost);
        assert_eq!(air(&outcome, "errored") > 0, error > 0.0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Whatever the network: each packet has arrived, is lost or is still there, and each datagram counts once.
    #[test]
    fn each_packet_is_counted_once_in_every_network(
        (nodes, wide) in (2..14_usize, 1..5_usize),
        (error, sense, error_at) in (0.0..0.4_f64, 0..3_usize, any::<bool>()),
        (count, lifetime, per_hop, remembered) in (0..5_u32, prop::option::of(4..60_u64), any::<bool>(), 0..6_usize),
        (serial, by_echo, warm, routing) in (any::<bool>(), any::<bool>(), any::<bool>(), 0..3_usize),
        ends in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 200..20_000_u64), 1..4),
    ) {
        let place = |node: usize| (180.0 * (node % wide) as f64, 180.0 * (node / wide) as f64);
        let places: Vec<(f64, f64)> = (0..nodes).map(place).collect();
        let mut config = scenario(&places, Span::from_secs(20));
        config.run.warmup = if warm { Span::from_secs(3) } else { Span::ZERO };
        frn(&mut config).sense = [Sense::Committed, Sense::Random, Sense::Nothing][sense];
        frn(&mut config).error_at = if error_at { ErrorAt::Addressee } else { ErrorAt::Listeners };
        frn(&mut config).medium.error = error;
        frn(&mut config).rules = Rules {
            discard: lifetime.map_or(Discard::Count(count), Discard::Lifetime),
            scope: if per_hop { CountScope::Hop } else { CountScope::Path },
            remembered: if remembered > 4 { Remembered::All } else { Remembered::Last(remembered) },
            service: if serial { Service::Serial } else { Service::Parallel },
            wait_from: if by_echo { WaitFrom::Echo } else { WaitFrom::Transmission },
            routing: ROUTINGS[routing],
            ..frn(&mut config).rules
        };
        for (from, to, rate) in ends {
            let (from, to) = (from.index(nodes), to.index(nodes - 1));
            let kind = AppKind::Cbr { rate: Rate(rate), packet: 100 };
            let to = if to < from { to } else { to + 1 };
            flow(&mut config, from, to, source(kind), TransportConfig::Udp { extra_header: 0 });
        }
        let outcome = run_once(&config);
        let of = |what: &str| air(&outcome, what);
        let sum = |what: &str| -> u64 {
            (0..config.flows.len()).map(|f| metric(&outcome, &format!("flows.f{f}.{what}")) as u64).sum()
        };
        prop_assert_eq!(of("packets_entered"), of("packets_delivered") + of("packets_lost") + of("packets_held"));
        prop_assert_eq!(sum("packets_sent"), of("packets_entered"));
        prop_assert_eq!(sum("packets_received"), of("packets_delivered"));
        prop_assert_eq!(sum("duplicates_received"), of("duplicates_delivered"));
        prop_assert!(sum("packets_received") <= sum("packets_sent"));
    }
}

#[test]
fn nodes_that_do_nothing_cost_nothing() {
    let events = |places: &[(f64, f64)]| {
        let mut config = scenario(places, Span::from_secs(30));
        tcp(&mut config, 0, 4, AppKind::Bulk);
        let outcome = run_once(&config);
        (outcome.events, air(&outcome, "transmissions"))
    };
    let row: Vec<(f64, f64)> = (0..5).map(|node| (200.0 * f64::from(node), 0.0)).collect();
    let far = (0..500).map(|node| (200.0 * f64::from(node % 25), 5000.0 + 200.0 * f64::from(node / 25)));
    let with_idlers: Vec<(f64, f64)> = row.iter().copied().chain(far).collect();
    let alone = events(&row);
    assert!(alone.1 > 1000, "{alone:?}");
    assert_eq!(alone, events(&with_idlers));
}

#[test]
fn the_events_of_a_run_are_estimated_from_above_and_nearly() {
    let rows = |count: usize| -> Vec<(f64, f64)> {
        (0..count).map(|node| (200.0 * (node % 10) as f64, 200.0 * (node / 10) as f64)).collect()
    };
    for (nodes, flows, is_bulk) in [(9, 1, true), (100, 20, true), (100, 4, false)] {
        let mut config = scenario(&rows(nodes), Span::from_secs(300));
        for number in 0..flows {
            let (from, to) = (number, nodes - 1 - number);
            if is_bulk {
                tcp(&mut config, from, to, AppKind::Bulk);
            } else {
                let now_and_then = source(AppKind::Cbr { rate: Rate(800), packet: 100 });
                flow(&mut config, from, to, now_and_then, TransportConfig::Udp { extra_header: 0 });
            }
        }
        let (bound, events) = (estimate(&config).events, run_once(&config).events as f64);
        assert!(events <= bound, "{nodes} nodes: {events} events, estimated {bound}");
        if is_bulk {
            assert!(bound < 1.25 * events, "{nodes} nodes: {events} events, estimated {bound}");
        }
    }
}

#[test]
fn the_more_is_sensed_the_less_collides() {
    let run = |sense: Sense| {
        let mut config = in_a_row(6, Span::from_secs(200));
        frn(&mut config).sense = sense;
        tcp(&mut config, 0, 6, AppKind::Bulk);
        let outcome = run_once(&config);
        let spoilt = air(&outcome, "collisions") + air(&outcome, "deaf");
        (spoilt as f64 / air(&outcome, "transmissions") as f64, air(&outcome, "deferrals"))
    };
    let [nothing, random, committed] = [Sense::Nothing, Sense::Random, Sense::Committed].map(run);
    assert!(
        nothing.0 > 1.2 * random.0 && nothing.0 > 1.2 * committed.0,
        "{nothing:?} {random:?} {committed:?}"
    );
    assert!(nothing.1 == 0 && random.1 > 0 && committed.1 > 0);
}

/// Nodes in range of each other that draw their instants collide only where they draw the same of 32.
#[test]
fn who_draws_an_earlier_instant_is_heard_by_the_others() {
    let mut config = scenario(&[(0.0, 0.0), (200.0, 0.0), (100.0, 100.0)], Span::from_secs(100));
    frn(&mut config).sense = Sense::Random;
    for from in 0..2 {
        let kind = AppKind::Cbr { rate: Rate(8000), packet: 100 };
        flow(&mut config, from, 2, source(kind), TransportConfig::Udp { extra_header: 0 });
    }
    let outcome = run_once(&config);
    let sent = air(&outcome, "transmissions") as f64;
    let spoilt = (air(&outcome, "collisions") + air(&outcome, "deaf")) as f64;
    assert!(sent > 1900.0 && spoilt > 0.0 && spoilt / sent < 0.1, "{spoilt} of {sent}");
}

#[test]
fn errors_at_the_addressee_alone_leave_relay_echoes_to_be_heard() {
    let lost = |error_at: ErrorAt| {
        let mut config = in_a_row(5, Span::from_secs(400));
        frn(&mut config).error_at = error_at;
        frn(&mut config).medium.error = 0.1;
        // A packet every quarter of a second: none meets another.
        let kind = AppKind::Cbr { rate: Rate(3200), packet: 100 };
        flow(&mut config, 0, 5, source(kind), TransportConfig::Udp { extra_header: 0 });
        let outcome = run_once(&config);
        (
            air(&outcome, "echoes_lost") as f64 / air(&outcome, "transmissions") as f64,
            air(&outcome, "errored"),
        )
    };
    let (everywhere, at_addressee) = (lost(ErrorAt::Listeners), lost(ErrorAt::Addressee));
    assert!(at_addressee.1 > 500);
    // A tenth of the echoes of five hops, or of the FRN ACK of the last hop alone.
    assert!((0.06..0.14).contains(&everywhere.0), "{everywhere:?}");
    assert!((0.01..0.03).contains(&at_addressee.0), "{at_addressee:?}");
}

#[test]
fn a_station_waits_as_long_as_its_own_window_says() {
    let waits = |uppers: Option<Vec<u64>>| {
        let mut config = in_a_row(1, Span::from_secs(20));
        frn(&mut config).uppers = uppers;
        frn(&mut config).rules.discard = Discard::Count(1);
        // Nothing arrives: each packet is sent again once.
        frn(&mut config).medium.error = 1.0;
        datagram(&mut config, 0, 1, Time::ZERO);
        datagram(&mut config, 1, 0, Time(20 * SLOT.0));
        let (_, rows) = slots(&config);
        ["n0", "n1"].map(|node| {
            let sent: Vec<u64> =
                rows.iter().filter(|row| row.1 == node && row.2 == "send").map(|row| row.0).collect();
            sent[1] - sent[0]
        })
    };
    // From the transmission on, with a window of one slot.
    assert_eq!(waits(Some(vec![3, 3])), [3, 3]);
    let apart: Vec<u64> = (0..2).map(|station| waits(Some(vec![3, 1_000 * station + 3]))[1]).collect();
    assert!(apart[0] == 3 && apart[1] > 5, "{apart:?}");
}

#[test]
fn routes_that_spread_the_load_use_both_ways_of_a_square_and_leave_a_chain_as_it_is() {
    let under = |mut config: Config, routing: Routing| {
        frn(&mut config).rules.routing = routing;
        tcp(&mut config, 0, 3, AppKind::Bulk);
        slots(&config).1
    };
    let [table, turn, load] = ROUTINGS.map(|routing| under(in_a_row(3, Span::from_secs(20)), routing));
    assert!(table.len() > 100 && table == turn && table == load);
    // From the corner n0 to the one opposite by n1 or n2.
    let places = [(0.0, 0.0), (200.0, 0.0), (0.0, 200.0), (200.0, 200.0)];
    let shares = ROUTINGS.map(|routing| {
        let rows = under(scenario(&places, Span::from_secs(20)), routing);
        let first = rows.iter().filter(|row| (&*row.1, &*row.2, row.5) == ("n0", "send", 0));
        let (by_n1, all) = first.fold((0, 0), |(one, all), row| (one + i32::from(row.4 == "n1"), all + 1));
        assert!(all > 100, "{routing:?}: {all}");
        f64::from(by_n1) / f64::from(all)
    });
    assert!((shares[0] - 1.0).abs() < 1e-9, "{shares:?}");
    assert!(shares[1..].iter().all(|share| (0.3..0.7).contains(share)), "{shares:?}");
}
