//! Every packet is accounted for: delivered, lost, or on its way when the run ends.

use std::collections::BTreeSet;

use crate::common::{CELL, chain, metric, ns2_tcp, run, run_once, wire};
use lasthop_sim::Outcome;
use lasthop_sim::Request;
use lasthop_sim::medium::loss::LossConfig;
use lasthop_sim::model::Config;
use lasthop_sim::probe::accounts::{Account, Tally};
use lasthop_sim::probe::trace::Column;
use lasthop_sim::scenario::Scenario;
use lasthop_stack::units::Span;

fn account(outcome: &Outcome, name: &str) -> Account {
    outcome.accounts.iter().find(|(end, _)| end == name).expect("an end of this name").1
}

fn sum(tallies: &[Tally]) -> (u64, u64) {
    tallies.iter().fold((0, 0), |sum, tally| (sum.0 + tally.packets, sum.1 + tally.bytes))
}

/// Checks the sum of every end; returns the packets on their way.
pub(crate) fn balanced(outcome: &Outcome) -> u64 {
    for (name, account) in &outcome.accounts {
        let Account { entered, made, repeated, delivered, lost, taken, on_the_way, .. } = *account;
        let came = sum(&[entered, made, repeated]);
        assert_eq!(came, sum(&[delivered, lost, taken, on_the_way]), "{name}: {account:?}");
    }
    outcome.accounts.iter().map(|(_, account)| account.on_the_way.packets).sum()
}

fn config(text: &str) -> Config {
    Scenario::from_text(text, "accounts.toml", &[]).expect("a valid scenario").config(0)
}

#[test]
fn what_a_tcp_run_leaves_in_flight_adds_up_with_what_arrived_and_what_was_lost() {
    let links = [(2_000_000, Span::from_millis(30)), (1_000_000, Span::from_millis(50))];
    let mut left = 0;
    for tenths in 1..40 {
        let mut config = chain(&links, ns2_tcp(), Span::from_millis(100 * tenths));
        wire(&mut config, 1, 0).loss = LossConfig::Packet { rate: 0.02 };
        let outcome = run_once(&config);
        left += balanced(&outcome);
        let drops = ["l0.drops_queue", "l1.drops_queue", "l1.drops_loss"];
        let drops: f64 = drops.iter().map(|name| metric(&outcome, &format!("links.{name}"))).sum();
        assert_eq!(account(&outcome, "main").lost.packets as f64, drops);
        let stream = account(&outcome, "main").stream.expect("a stream");
        let order = [stream.acknowledged, stream.received, stream.sent, stream.written];
        assert!(order.is_sorted() && !stream.is_stalled, "{stream:?}");
    }
    assert!(left > 300, "runs that are cut off leave something: {left}");
}

#[test]
fn every_station_and_agent_of_a_cell_passes_on_or_gives_up_what_it_takes() {
    let agent = |kind: &str| format!("{CELL}\n[agents.at]\nkind = \"{kind}\"\n");
    for text in [CELL.to_string(), agent("lle-tcp"), agent("proxy-tcp")] {
        for seconds in [1, 3, 20] {
            let mut config = config(&text);
            config.run.duration = Span::from_secs(seconds);
            balanced(&run_once(&config));
        }
    }
}

/// Datagrams over a hop on which every third frame is lost, two attempts each.
const HOP: &str = r#"
[run]
duration = "20 s"

[nodes]
a = {}
b = {}
c = {}

[links.air]
kind = "wifi"
nodes = ["a", "b"]
short-retry = 2
loss = { rate = "33 %" }

[links.wire]
kind = "wired"
nodes = ["b", "c"]
rate = "1 Mbit/s"

[flows.f]
from = "a"
to = "c"
app = { kind = "poisson", poisson = { rate = "300 kbit/s", packet = "500 B" } }
udp = {}
"#;

#[test]
fn a_packet_that_the_link_gives_up_after_it_was_received_is_not_lost() {
    let outcome = run_once(&config(HOP));
    balanced(&outcome);
    let (lost, given_up) =
        (account(&outcome, "f").lost.packets as f64, metric(&outcome, "links.air.drops_retry"));
    let received = metric(&outcome, "flows.f.packets_received");
    assert!(lost > 100.0 && given_up > lost + 50.0, "{lost} {given_up}");
    assert!(received + given_up > metric(&outcome, "flows.f.packets_sent"));
}

/// Downloads through a link with short outages, whose receivers wait for packets that the link discarded.
const INTERRUPTED: &str = r#"
[run]
duration = "822 ms"

[nodes]
ap = { position = ["0 m", "0 m"] }
sta = { count = 3, place = { kind = "circle", circle = { radius = "5 m" } } }

[links.air]
kind = "wifi"
nodes = ["ap", "sta"]
access-point = "ap"
arq = { kind = "dynamic", reorder-timeout = "142 ms" }
outages = { law = "random", random = { mean-up = "22 ms", mean-down = "3 ms" } }

[flows.f1]
from = "ap"
to = "sta"
"#;

#[test]
fn what_waits_to_be_handed_up_in_order_when_the_run_ends_is_on_its_way() {
    let outcome = run_once(&config(INTERRUPTED));
    balanced(&outcome);
    assert!(account(&outcome, "f12").on_the_way.packets > 10, "{:?}", account(&outcome, "f12"));
}

#[test]
fn the_trace_of_queues_names_the_link_and_the_node_of_each_queue() {
    let config = config(HOP);
    let request = Request { trace: &["queue".into()], ..Request::new(&config, 1, 0) };
    let traces = run(&request).expect("the run succeeds").traces;
    let words = |name: &str| -> Vec<&str> {
        match traces[0].columns.iter().find(|(column, _)| *column == name) {
            Some((_, Column::Word { codes, words })) => {
                codes.iter().map(|code| words[*code as usize].as_str()).collect()
            }
            _ => panic!("{name} is not a column of words"),
        }
    };
    let (links, ways, nodes) = (words("link"), words("direction"), words("node"));
    let met: BTreeSet<_> =
        links.iter().zip(ways).zip(nodes).map(|((link, way), node)| (*link, way, node)).collect();
    assert_eq!(met, BTreeSet::from([("air", "-", "a"), ("wire", "forward", "b")]));
}
