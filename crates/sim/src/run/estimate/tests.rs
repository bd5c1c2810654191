//! The needs of runs compared with their estimates; `crates/sim/tests/limits.rs` measures their memory.

use std::fmt::Write;

use super::*;
use crate::probe::transfers::Transfer;
use crate::scenario::Scenario;

fn of(more: &str) -> Estimate {
    let text = format!(
        "[run]\nduration = \"1000 s\"\n[nodes]\na = {{}}\nb = {{}}\n[links.ab]\nkind = \"wired\"\n\
         nodes = [\"a\", \"b\"]\nrate = \"1 Gbit/s\"\ndelay = \"5 ms\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n{more}"
    );
    let scenario = Scenario::from_text(&text, "estimate.toml", &[]).expect("a valid scenario");
    estimate(&scenario.config(0))
}

#[test]
fn a_long_udp_flow_needs_the_memory_of_its_path_not_of_all_its_packets() {
    let app = "app = { kind = \"cbr\", cbr = { rate = \"500 Mbit/s\", packet = \"1000 B\" } }";
    let needed = of(app).memory_bytes;
    assert!(needed > 1e6 && needed < 50e6, "{needed}");
}

#[test]
fn a_user_needs_no_more_than_was_estimated_and_less_the_longer_the_pauses() {
    let text = |pause: &str| {
        let app = format!(
            "kind = \"mix\", ftp = {{ size = \"100 kB\", pause = \"{pause}\" }}, \
             web = {{ reading = \"{pause}\" }}, mail = {{ pause = \"{pause}\" }}"
        );
        format!(
            "[run]\nduration = \"200 s\"\n[nodes]\na = {{}}\nb = {{}}\n[links.ab]\nkind = \"wired\"\n\
             nodes = [\"a\", \"b\"]\nrate = \"2 Mbit/s\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\napp = {{ {app} }}"
        )
    };
    let both = |pause: &str| {
        let scenario = Scenario::from_text(&text(pause), "estimate.toml", &[]).expect("a valid scenario");
        let config = scenario.config(0);
        let request = crate::run::Request::new(&config, 1, 0);
        (estimate(&config), crate::run::run(&request).expect("it runs"))
    };
    let mut events = Vec::new();
    for pause in ["0 s", "1 s", "30 s"] {
        let (estimate, outcome) = both(pause);
        let (needed, transfers) = (outcome.events as f64, outcome.transfers.len());
        assert!(estimate.events > needed, "{pause}: {estimate:?}, {needed}");
        assert!(estimate.events < 40.0 * needed, "{pause}: {estimate:?}, {needed}");
        assert!(estimate.memory_bytes - memory::FIXED > (transfers * size_of::<Transfer>()) as f64);
        events.push(estimate.events);
    }
    assert!(events.windows(2).all(|pair| pair[0] > pair[1]), "{events:?}");
}

#[test]
fn data_that_goes_back_is_counted_as_that_of_a_second_flow() {
    let app = "app = { kind = \"bulk\" }";
    let (one_way, both) = (of(app), of("app = { kind = \"bulk\", reverse = { kind = \"bulk\" } }"));
    assert!((both.events / one_way.events - 2.0).abs() < 1e-3, "{both:?} {one_way:?}");
    assert!(both.memory_bytes > 1.5 * one_way.memory_bytes);
}

#[test]
fn no_more_is_outstanding_than_was_written_or_has_room_whatever_is_lost() {
    let of = |loss: &str, flow: &str| {
        let text = format!(
            "[run]\nduration = \"1 s\"\n[nodes]\na = {{}}\nb = {{}}\n[links.ab]\nkind = \"lossy\"\n\
             nodes = [\"a\", \"b\"]\nrate = \"1 Gbit/s\"\ndelay = \"300 ms\"\nqueue = \"unlimited\"\n\
             loss = {{ {loss} }}\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n{flow}"
        );
        let scenario = Scenario::from_text(&text, "estimate.toml", &[]).expect("a valid scenario");
        estimate(&scenario.config(0)).memory_bytes
    };
    for variant in ["sack", "ejtcp", "jtcp", "bbr"] {
        let writes = format!(
            "tcp = {{ variant = \"{variant}\" }}\nsink = {{ buffer = \"10 kB\" }}\n\
             app = {{ kind = \"cbr\", cbr = {{ rate = \"300 kbit/s\", packet = \"1 B\" }} }}"
        );
        let file = format!(
            "tcp = {{ variant = \"{variant}\", window = \"700000 segments\" }}\n\
             app = {{ kind = \"file\", file.size = \"10 kB\" }}"
        );
        for loss in ["rate = \"0 %\"", "rate = \"100 %\"", "model = \"list\", list = { drop = [] }"] {
            let (writes, file) = (of(loss, &writes), of(loss, &file));
            assert!(writes < 100e6, "{variant}, {loss}: {writes}");
            assert!(file < 2e6, "{variant}, {loss}: {file}");
        }
    }
}

#[test]
fn flows_that_share_a_link_are_counted_by_what_it_holds_and_those_that_take_turns_are_not() {
    let of = |start: fn(usize) -> usize| {
        let mut text = "[run]\nduration = \"100 s\"\n[nodes]\na = {}\nb = {}\n[links.ab]\nkind = \"wired\"\n\
             nodes = [\"a\", \"b\"]\nrate = \"1 Gbit/s\"\ndelay = \"300 ms\"\n"
            .to_string();
        for flow in 0..100 {
            let start = start(flow);
            let _ = write!(
                text,
                "[flows.f{flow}]\nfrom = \"a\"\nto = \"b\"\n\
                 app = {{ start = \"{start} s\" }}\ntcp = {{ window = \"50000 segments\" }}\n"
            );
        }
        let scenario = Scenario::from_text(&text, "estimate.toml", &[]).expect("a valid scenario");
        estimate(&scenario.config(0)).memory_bytes
    };
    let (together, in_turn) = (of(|_| 0), of(|flow| flow));
    // The path holds 25 000 segments, and each flow twice as many if it is alone.
    assert!(in_turn > 100.0 * 50_000.0 * 256.0, "{in_turn}");
    assert!(together < in_turn - 1e9, "{together} {in_turn}");
}

#[test]
fn small_writes_over_tcp_are_counted_as_packets_of_their_own() {
    let app =
        "app = { kind = \"cbr\", cbr = { rate = \"1 Mbit/s\", packet = \"10 B\" } }\ntcp = { nagle = false }";
    // 12.5 million writes of 10 bytes, each an event, a packet and an acknowledgement.
    let events = of(app).events;
    assert!(events > 3.0 * 12.5e6, "{events}");
}

#[test]
fn the_turns_of_packets_in_a_managed_queue_are_counted() {
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/examples/traces/cell.down");
    let text = format!(
        "[run]\nduration = \"10 s\"\n[nodes]\na = {{}}\nb = {{}}\n[links.ab]\nkind = \"trace\"\nnodes = [\"a\", \"b\"]\n\
         trace = {{ file = {trace:?} }}\naqm = {{ law = \"pie\" }}\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n\
         app = {{ kind = \"cbr\", cbr = {{ rate = \"1 Mbit/s\" }} }}\nudp = {{}}\n"
    );
    let config = Scenario::from_text(&text, "estimate.toml", &[]).expect("a valid scenario").config(0);
    let outcome = crate::run::run(&crate::run::Request::new(&config, 1, 0)).expect("it runs");
    let estimated = estimate(&config).events;
    assert!(outcome.events as f64 <= estimated, "{} {estimated}", outcome.events);
    assert!(outcome.events as f64 > 0.7 * estimated, "{} {estimated}", outcome.events);
}
