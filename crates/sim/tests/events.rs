//! The trace of events: every packet's path adds up over the layers, and equals what the metrics count.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{CELL, metric, run};
use lasthop_sim::probe::accounts::Account;
use lasthop_sim::scenario::Scenario;
use lasthop_sim::{Outcome, Request};

/// A wire into an 802.11 cell with frames lost, on which two stations send to a third.
const LOSSY: &str = r#"
[run]
duration = "8 s"
[nodes]
host = {}
ap = { position = ["0 m", "0 m"] }
a  = { position = ["50 m", "0 m"] }
b  = { position = ["0 m", "50 m"] }
[links.wire]
kind  = "lossy"
nodes = ["host", "ap"]
rate  = "2 Mbit/s"
delay = "5 ms"
queue = "5 packets"
loss  = { rate = "1 %" }
[links.air]
kind = "wifi"
nodes = ["ap", "a", "b"]
standard = "802.11b"
rate = "2 Mbit/s"
rts-threshold = "500 B"
short-retry = 3
long-retry = 3
loss = { model = "packet", rate = "15 %" }
[flows.down]
from = "host"
to   = "a"
app  = { kind = "bulk" }
tcp  = { variant = "newreno", packet = "1000 B", growth = "acks", rto-floor = "timeout", whole-window = false, growth-at-recovery-end = false, quick-acks = 0, dsack = false }
[flows.up]
from = "b"
to   = "ap"
app  = { kind = "file", file = { size = "200 kB" } }
tcp  = { variant = "sack", packet = "1000 B", growth = "acks", rto-floor = "timeout", whole-window = false, growth-at-recovery-end = false, quick-acks = 0, dsack = false, prr = false, loss-detection = "rfc6675" }
[flows.talk]
from = "a"
to   = "host"
app  = { kind = "cbr", cbr = { rate = "20 kbit/s" } }
udp  = {}
"#;

/// One hop with LLE-TCP.
const HOP: &str = r#"
[run]
duration = "5 s"
[nodes]
left  = { position = ["0 m", "0 m"] }
right = { position = ["100 m", "0 m"] }
[links.wlan]
kind = "wifi"
nodes = ["left", "right"]
standard = "802.11"
rate = "1 Mbit/s"
rts-threshold = "0 B"
loss = { model = "packet", rate = "10 %" }
[flows.main]
from = "left"
to   = "right"
app  = { kind = "bulk" }
tcp  = { profile = "ns2-2004", variant = "tahoe", packet = "1000 B" }
[agents.snoop]
kind = "lle-tcp"
lle-tcp.mode = "paper"
flows = ["main"]
"#;

/// A row without its floating-point columns.
#[derive(Clone, Debug)]
struct Row {
    layer: String,
    event: String,
    what: String,
    why: String,
    node: String,
    flow: String,
    packet: i64,
    frame: i64,
    seq: i64,
    len: i64,
    attempt: i64,
}

fn traced(text: &str, overrides: &[(&str, &str)]) -> (Outcome, Vec<Row>) {
    let overrides: Vec<_> =
        overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let scenario =
        Scenario::from_text(text, "events.toml", &overrides).unwrap_or_else(|error| panic!("{error}"));
    let config = scenario.config(0);
    let plain = run(&Request::new(&config, 1, 0)).expect("the run succeeds");
    let trace = ["events".to_string()];
    let outcome = run(&Request { trace: &trace, ..Request::new(&config, 1, 0) }).expect("the run succeeds");
    assert_eq!((&plain.metrics, plain.events), (&outcome.metrics, outcome.events));
    let table = &outcome.traces[0];
    let words = ["layer", "event", "what", "why", "node", "flow"].map(|name| table.words(name));
    let ints = ["packet", "frame", "seq", "len", "attempt"].map(|name| table.ints(name));
    let rows = (0..outcome.traces[0].rows()).map(|row| {
        let [layer, event, what, why, node, flow] =
            [0, 1, 2, 3, 4, 5].map(|name| words[name][row].to_string());
        let [packet, frame, seq, len, attempt] = [0, 1, 2, 3, 4].map(|name| ints[name][row]);
        Row { layer, event, what, why, node, flow, packet, frame, seq, len, attempt }
    });
    let rows = rows.collect();
    assert!(table.floats("time_s").is_sorted());
    (outcome, rows)
}

fn count(rows: &[Row], is: impl Fn(&Row) -> bool) -> f64 {
    rows.iter().filter(|row| is(row)).count() as f64
}

fn is(row: &Row, layer: &str, event: &str) -> bool {
    row.layer == layer && row.event == event
}

/// Rules that hold whatever the scenario.
fn adds_up(outcome: &Outcome, rows: &[Row]) {
    let mut made = BTreeSet::new();
    let (mut begun, mut ended) = (BTreeMap::new(), BTreeSet::new());
    for row in rows {
        if row.layer != "app" && row.packet != 0 {
            let is_made = matches!(row.event.as_str(), "send" | "make" | "again") && row.layer != "frame";
            assert!(!made.insert(row.packet) || is_made, "{row:?}: no one made it");
        }
        if row.layer == "frame" {
            assert!(row.frame > 0, "{row:?}");
            if row.event == "send" {
                assert!(begun.insert(row.frame, row.clone()).is_none(), "{row:?} begins again");
            } else {
                let sent = begun.get(&row.frame).unwrap_or_else(|| panic!("{row:?} was not sent"));
                assert!(ended.insert(row.frame), "{row:?} ends again");
                assert_eq!((sent.packet, &sent.what, &sent.flow), (row.packet, &row.what, &row.flow));
                assert_eq!(row.event == "lost", !row.why.is_empty(), "{row:?}");
            }
        }
    }
    // What has not ended is on the air when the run ends, a frame or a packet of each wire.
    assert!(begun.len() - ended.len() <= 60, "{} of {}", begun.len() - ended.len(), begun.len());
    let tally =
        |term: fn(&Account) -> u64| outcome.accounts.iter().map(|(_, account)| term(account)).sum::<u64>();
    assert_eq!(count(rows, |row| is(row, "link", "lost")), tally(|account| account.lost.packets) as f64);
    let sends = count(rows, |row| row.event == "send" && (row.layer == "tcp" || row.layer == "udp"));
    assert_eq!(sends, tally(|account| account.entered.packets) as f64);
    let receives = count(rows, |row| row.event == "receive" && (row.layer == "tcp" || row.layer == "udp"));
    assert_eq!(receives, tally(|account| account.delivered.packets) as f64);
    assert!(rows.iter().filter(|row| is(row, "link", "lost")).all(|row| !row.why.is_empty()));
}

#[test]
fn over_a_wire_and_a_cell_each_packet_s_path_adds_up_and_equals_the_metrics() {
    let (outcome, rows) = traced(LOSSY, &[]);
    adds_up(&outcome, &rows);
    let of_air = |row: &Row| row.layer == "frame" && row.what != "packet";
    for (name, event, why) in [
        ("frames_sent", "send", ""),
        ("frames_errored", "lost", "error"),
        ("frames_collided", "lost", "collision"),
    ] {
        let found = count(&rows, |row| of_air(row) && row.event == event && row.why == why);
        assert_eq!(found, metric(&outcome, &format!("links.air.{name}")), "{name}");
        assert!(found > 0.0, "{name}");
    }
    let drops = |layer, why: &str| count(&rows, |row| is(row, layer, "lost") && row.why == why);
    let given_up = count(&rows, |row| is(row, "link", "done") && row.why == "retry-limit");
    assert_eq!(given_up, metric(&outcome, "links.air.drops_retry"));
    assert!(drops("link", "retry-limit") <= given_up, "what has come is not lost");
    assert_eq!(drops("link", "error"), metric(&outcome, "links.wire.drops_loss"));
    assert_eq!(drops("link", "queue"), metric(&outcome, "links.wire.drops_queue"));
    for why in ["retry-limit", "error", "queue"] {
        assert!(drops("link", why) > 0.0, "{why}");
    }
    for flow in ["down", "up"] {
        let again =
            |why: &str| count(&rows, |row| is(row, "tcp", "send") && row.flow == flow && row.why == why);
        let all = again("timeout") + again("fast-retransmit") + again("again");
        assert_eq!(all, metric(&outcome, &format!("flows.{flow}.retransmits")), "{flow}");
        let timeouts = count(&rows, |row| is(row, "tcp", "timeout") && row.flow == flow);
        assert_eq!(timeouts, metric(&outcome, &format!("flows.{flow}.timeouts")), "{flow}");
        let enters = count(&rows, |row| is(row, "tcp", "enter") && row.flow == flow);
        assert_eq!(enters, metric(&outcome, &format!("flows.{flow}.fast_retransmits")), "{flow}");
    }
    let read: i64 =
        rows.iter().filter(|row| is(row, "app", "read") && row.flow == "up.reverse").map(|row| row.len).sum();
    assert_eq!(read, 200_000);
    // Every frame of an exchange has the packet that it is for, also its RTS, CTS and ACK.
    assert!(rows.iter().all(|row| row.layer != "frame" || row.packet > 0));
    let rts = count(&rows, |row| is(row, "frame", "send") && row.what == "rts");
    assert!(rts > 100.0, "{rts}");
    // An attempt of a data frame is one more than those before it that failed.
    let mut last = BTreeMap::new();
    for row in rows.iter().filter(|row| is(row, "frame", "send") && row.what == "data") {
        let before = last.insert((row.packet, row.node.clone()), row.attempt).unwrap_or(0);
        assert!(row.attempt == before + 1, "{row:?} after attempt {before}");
    }
    assert!(last.values().any(|attempts| *attempts == 3));
}

#[test]
fn a_packet_that_the_medium_loses_for_good_is_lost_by_an_error_and_not_by_the_retry_limit() {
    let (outcome, rows) = traced(HOP, &[("links.wlan.loss.repaired-by-arq", "false")]);
    adds_up(&outcome, &rows);
    let done = |why: &str| count(&rows, |row| is(row, "link", "done") && row.why == why);
    assert!(done("error") > 10.0 && done("retry-limit") == 0.0);
    assert_eq!(done("error"), metric(&outcome, "links.wlan.drops_retry"));
}

#[test]
fn of_an_lle_tcp_agent_it_tells_what_it_made_and_what_it_kept_off_the_air() {
    let (outcome, rows) = traced(HOP, &[]);
    adds_up(&outcome, &rows);
    let agent = |event: &str| count(&rows, |row| is(row, "agent", event));
    assert_eq!(agent("make"), metric(&outcome, "agents.snoop.generated"));
    assert_eq!(agent("keep"), metric(&outcome, "agents.snoop.suppressed"));
    assert!(agent("make") > 100.0 && agent("keep") > 100.0 && agent("release") == 0.0);
    let kept: BTreeSet<i64> =
        rows.iter().filter(|row| is(row, "agent", "keep")).map(|row| row.packet).collect();
    assert!(
        rows.iter().all(|row| row.layer != "frame" || !kept.contains(&row.packet)),
        "it is kept off the air"
    );
    let made: BTreeSet<i64> =
        rows.iter().filter(|row| is(row, "agent", "make")).map(|row| row.packet).collect();
    let received: BTreeSet<i64> =
        rows.iter().filter(|row| is(row, "tcp", "receive")).map(|row| row.packet).collect();
    assert!(made.is_subset(&received), "the sender receives it at once");
    assert!(rows.iter().all(|row| row.layer != "frame" || !made.contains(&row.packet)));
}

#[test]
fn what_an_agent_sends_again_and_changes_is_recorded() {
    let (outcome, rows) = traced(HOP, &[("agents.snoop.lle-tcp.mode", "safe")]);
    adds_up(&outcome, &rows);
    let again = count(&rows, |row| is(row, "agent", "again") && row.what == "data");
    assert_eq!(again, metric(&outcome, "agents.snoop.repaired"));
}

#[test]
fn in_slotted_networks_behind_dynamic_arq_and_for_users_it_adds_up_too() {
    let frn = "[run]\nduration = \"20 s\"\n[nodes]\n\
        s = { count = 4, place = { kind = \"line\", line = { step = [\"200 m\", \"0 m\"] } } }\n\
        [links.frn]\nkind = \"frn\"\nnodes = [\"s\"]\n[flows.f]\nfrom = \"s1\"\nto = \"s4\"\n\
        app = { kind = \"bulk\" }\ntcp = { variant = \"newreno\" }\n";
    let (outcome, rows) = traced(frn, &[]);
    assert!(count(&rows, |row| is(row, "frame", "receive")) > 10.0);
    adds_up(&outcome, &rows);
    let (outcome, rows) = traced(CELL, &[]);
    adds_up(&outcome, &rows);
    let user = "[run]\nduration = \"20 s\"\n[nodes]\na = {}\nb = {}\n[links.l]\nkind = \"lossy\"\nnodes = [\"a\", \"b\"]\n\
        rate = \"1 Mbit/s\"\nloss = { rate = \"5 %\" }\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n[flows.f.app]\nkind = \"mix\"\n\
        ftp = { size = \"20 kB\", pause = \"500 ms\" }\nweb = { reading = \"500 ms\" }\n\
        mail = { pause = \"500 ms\" }\n";
    let (outcome, rows) = traced(user, &[]);
    adds_up(&outcome, &rows);
    let syns = count(&rows, |row| is(row, "tcp", "send") && row.what == "syn" && row.why == "new");
    assert!(syns > 3.0, "{syns} connections");
    // Each stream begins anew.
    assert!(rows.iter().all(|row| row.what != "syn" || row.seq == -1));
    assert!(rows.iter().all(|row| !is(row, "tcp", "send") || row.seq >= -1));
}

#[test]
fn a_gate_between_two_cells_answers_in_each_for_itself() {
    let cells = "[run]\nduration = \"2 s\"\n[nodes]\na = {}\ngate = {}\nb = {}\n[links.air]\nkind = \"wifi\"\n\
        nodes = [\"a\", \"gate\"]\n[links.air2]\nkind = \"wifi\"\nnodes = [\"gate\", \"b\"]\n\
        [flows.f]\nfrom = \"b\"\nto = \"a\"\ntcp = { variant = \"newreno\" }\n\
        [flows.talk]\nfrom = \"a\"\nto = \"b\"\napp = { kind = \"cbr\", cbr = { rate = \"20 kbit/s\" } }\nudp = {}\n";
    let (outcome, rows) = traced(cells, &[]);
    adds_up(&outcome, &rows);
    assert!(count(&rows, |row| is(row, "frame", "receive") && row.what == "ack") > 100.0);
    // Each datagram is a new one, whatever its number and its length.
    let datagrams = count(&rows, |row| is(row, "udp", "send"));
    assert!(datagrams > 5.0);
    assert_eq!(count(&rows, |row| is(row, "udp", "send") && row.why == "new"), datagrams);
}

#[test]
fn copies_that_go_ahead_delay_the_frames_behind_them() {
    let snoop = "[run]\nduration = \"20 s\"\n[nodes]\nhost = {}\nbase = {}\nmobile = {}\n[links.core]\nkind = \"wired\"\n\
        nodes = [\"host\", \"base\"]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n[links.air]\nkind = \"lossy\"\n\
        nodes = [\"base\", \"mobile\"]\nrate = \"2 Mbit/s\"\ndelay = \"5 ms\"\nqueue = \"12 packets\"\n\
        loss = { rate = \"5 %\" }\n[flows.f]\nfrom = \"host\"\nto = \"mobile\"\ntcp = { variant = \"newreno\" }\n\
        [agents.station]\nkind = \"snoop\"\nnode = \"base\"\nlink = \"air\"\n";
    let (outcome, rows) = traced(snoop, &[]);
    adds_up(&outcome, &rows);
    assert!(count(&rows, |row| is(row, "agent", "again")) > 50.0);
    let [times, durations] = ["time_s", "duration_s"].map(|name| outcome.traces[0].floats(name));
    let mut free = 0.0;
    for (row, (time, duration)) in rows.iter().zip(times.iter().zip(durations)) {
        if is(row, "frame", "send") && row.node == "base" && row.what == "packet" && row.len > 500 {
            assert!(*time >= free - 1e-9, "a frame begins at {time} while another is sent until {free}");
            free = time + duration;
        }
    }
}
