//! Nothing allocates per packet once a run is warm: counted, not argued.

#![allow(unsafe_code, reason = "a global allocator that counts cannot be written without it")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::{CELL, ejtcp_fig9, metric, ns2_tcp, run_alone, source};
use lasthop_sim::model::TransportConfig;
use lasthop_sim::scenario::Scenario;
use lasthop_sim::traffic::AppKind;
use lasthop_stack::registry::VARIANTS;
use lasthop_stack::registry::tcp::Config;
use lasthop_stack::registry::{Parts, RecoveryKind};
use lasthop_stack::units::{Rate, Span};

struct Counting;

thread_local! {
    /// Of this thread, since those that report the results of tests allocate, too.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Allocations of this thread so far.
fn allocations() -> u64 {
    ALLOCATIONS.get()
}

fn count() {
    // A thread that ends has no count.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations and packets of a run of this length.
fn counted(tcp: &Config, loss: f64, seconds: u64) -> (u64, f64) {
    let config = ejtcp_fig9(tcp.clone(), loss, Span::from_secs(seconds));
    let before = allocations();
    let outcome = run_alone(&config);
    let made = allocations() - before;
    (made, metric(&outcome, "flows.main.segments_sent"))
}

#[test]
fn a_run_ten_times_as_long_allocates_no_more() {
    for variant in VARIANTS {
        // As a scenario has it: these recoveries need the option.
        let sack = matches!(variant.recovery, RecoveryKind::Sack | RecoveryKind::Fack);
        let tcp =
            Config { parts: Parts::new(variant.recovery, variant.congestion.config()), sack, ..ns2_tcp() };
        for loss in [0.0, 0.01] {
            let (short, few) = counted(&tcp, loss, 200);
            let (long, many) = counted(&tcp, loss, 2000);
            assert!(many > 5.0 * few, "{}: {few} and {many} packets", variant.name);
            // A burst that is longer than any before may still enlarge a ring: a handful, whatever the packets.
            assert!(long <= short + 8, "{}: {short} allocations, then {long}", variant.name);
        }
    }
}

#[test]
fn datagrams_and_probes_in_a_run_ten_times_as_long_allocate_no_more() {
    let sources = [
        AppKind::Cbr { rate: Rate(800_000), packet: 500 },
        AppKind::Ping { interval: Span::from_millis(5), packet: 56 },
    ];
    for kind in sources {
        let counted = |seconds: u64| {
            let mut config = ejtcp_fig9(ns2_tcp(), 0.01, Span::from_secs(seconds));
            config.flows[0].transport = TransportConfig::Udp { extra_header: 0 };
            config.flows[0].app.kind = kind.clone();
            let before = allocations();
            let outcome = run_alone(&config);
            let made = allocations() - before;
            assert!(outcome.events > 200 * seconds);
            made
        };
        let (short, long) = (counted(10), counted(100));
        // A bit for each datagram since the first that was lost is kept at both ends, in rings that double.
        assert!(long <= short + 16, "{kind:?}: {short} allocations, then {long}");
    }
}

#[test]
fn an_access_point_with_dynamic_arq_allocates_no_more_in_a_run_ten_times_as_long() {
    for more in [("arq.order", "together"), ("arq.order", "new-first"), ("arq.timing", "estimate")] {
        let counted = |duration: &str| {
            let set = |key: &str, value: &str| (key.to_string(), value.to_string());
            let mut overrides =
                vec![set("run.duration", duration), set(&format!("links.air.{}", more.0), more.1)];
            overrides.extend(
                ["fa", "fb", "fc", "up"].map(|flow| set(&format!("flows.{flow}.app.file.size"), "1 GB")),
            );
            let scenario = Scenario::from_text(CELL, "cell", &overrides).expect("a scenario");
            let config = scenario.config(0);
            let before = allocations();
            let outcome = run_alone(&config);
            let made = allocations() - before;
            (made, metric(&outcome, "links.air.arq.first_transmissions"))
        };
        let ((short, few), (long, many)) = (counted("20 s"), counted("200 s"));
        assert!(many > 5.0 * few, "{more:?}: {few} and {many} fragments");
        assert!(long <= short + 40, "{more:?}: {short} allocations, then {long} for {many} fragments");
    }
}

#[test]
fn an_access_point_with_aggregation_allocates_no_more_in_a_run_ten_times_as_long() {
    let counted = |duration: &str| {
        let text = format!(
            "[run]\nduration = \"{duration}\"\n[nodes]\nap = {{}}\nsta = {{ count = 3 }}\n\
             [links.air]\nkind = \"wifi\"\nnodes = [\"ap\", \"sta\"]\naccess-point = \"ap\"\n\
             standard = \"802.11ax\"\nmcs = 3\nloss = {{ rate = \"5 %\" }}\n\
             [flows.f]\nfrom = \"ap\"\nto = \"sta\"\n"
        );
        let config = Scenario::from_text(&text, "ax.toml", &[]).expect("a scenario").config(0);
        let before = allocations();
        let outcome = run_alone(&config);
        let made = allocations() - before;
        (made, metric(&outcome, "links.air.aggregated_mpdus"))
    };
    let ((short, few), (long, many)) = (counted("4 s"), counted("40 s"));
    assert!(many > 5.0 * few, "{few} and {many} MPDUs");
    assert!(long <= short + 60, "{short} allocations, then {long} for {many} MPDUs");
}

#[test]
fn a_managed_queue_allocates_no_more_in_a_run_ten_times_as_long() {
    for law in ["red", "codel", "fq-codel", "pie", "dualpi2"] {
        let counted = |duration: &str| {
            let text = format!(
                "[run]\nduration = \"{duration}\"\n[nodes]\na = {{}}\nb = {{}}\n[links.l]\nkind = \"wired\"\n\
                 nodes = [\"a\", \"b\"]\nrate = \"5 Mbit/s\"\ndelay = \"20 ms\"\n[links.l.aqm]\nlaw = \"{law}\"\n\
                 [flows.f]\nfrom = \"a\"\nto = \"b\"\n[flows.g]\nfrom = \"a\"\nto = \"b\"\n"
            );
            let config = Scenario::from_text(&text, "managed.toml", &[]).expect("a scenario").config(0);
            let before = allocations();
            let outcome = run_alone(&config);
            let made = allocations() - before;
            (made, metric(&outcome, "flows.f.segments_sent"))
        };
        let ((short, few), (long, many)) = (counted("50 s"), counted("500 s"));
        assert!(many > 5.0 * few, "{law}: {few} and {many} segments");
        assert!(long <= short + 40, "{law}: {short} allocations, then {long} for {many} segments");
    }
}

#[test]
fn a_station_that_ends_connections_allocates_no_more_in_a_run_ten_times_as_long() {
    for kind in ["i-tcp", "m-tcp"] {
        let counted = |duration: &str| {
            let text = format!(
                "[run]\nduration = \"{duration}\"\n[nodes]\nhost = {{}}\nbase = {{}}\nmobile = {{}}\n\
                 [links.core]\nkind = \"wired\"\nnodes = [\"host\", \"base\"]\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\n\
                 [links.air]\nkind = \"lossy\"\nnodes = [\"base\", \"mobile\"]\nrate = \"2 Mbit/s\"\ndelay = \"5 ms\"\n\
                 loss = {{ rate = \"1 %\" }}\n[agents.a]\nkind = \"{kind}\"\nnode = \"base\"\nlink = \"air\"\n\
                 [flows.f]\nfrom = \"host\"\nto = \"mobile\"\napp.reverse.kind = \"bulk\"\n"
            );
            let config = Scenario::from_text(&text, "split.toml", &[]).expect("a scenario").config(0);
            let before = allocations();
            let outcome = run_alone(&config);
            let made = allocations() - before;
            (made, metric(&outcome, "flows.f.segments_sent"))
        };
        let ((short, few), (long, many)) = (counted("20 s"), counted("200 s"));
        assert!(many > 5.0 * few, "{kind}: {few} and {many} segments");
        assert!(long <= short + 40, "{kind}: {short} allocations, then {long} for {many} segments");
    }
}

#[test]
fn a_recorded_link_allocates_no_more_in_a_run_ten_times_as_long() {
    for law in ["", "aqm.law = \"fq-codel\"\n"] {
        let counted = |duration: &str| {
            let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/examples/traces/cell.down");
            let text = format!(
                "[run]\nduration = \"{duration}\"\n[nodes]\nbase = {{}}\nphone = {{}}\n\
                 [links.cell]\nkind = \"trace\"\nnodes = [\"base\", \"phone\"]\ntrace.file = {file:?}\n{law}\
                 [flows.f]\nfrom = \"base\"\nto = \"phone\"\n"
            );
            let config = Scenario::from_text(&text, "record.toml", &[]).expect("a scenario").config(0);
            let before = allocations();
            let outcome = run_alone(&config);
            let made = allocations() - before;
            (made, metric(&outcome, "flows.f.segments_sent"))
        };
        // The first losses, and with them the lists of what is lost, come after some minutes.
        let ((short, few), (long, many)) = (counted("600 s"), counted("6000 s"));
        assert!(many > 5.0 * few, "{law}: {few} and {many} segments");
        assert!(long <= short + 8, "{law}: {short} allocations, then {long} for {many} segments");
    }
}

#[test]
fn a_user_with_five_times_as_many_sessions_allocates_no_more() {
    let text = "[run]\nduration = \"1 s\"\n[nodes]\na = {}\nb = {}\n[links.l]\nkind = \"wired\"\nnodes = [\"a\", \"b\"]\n\
                rate = \"1 Mbit/s\"\n[flows.f]\nfrom = \"a\"\nto = \"b\"\n[flows.f.app]\nkind = \"mix\"\n\
                ftp = { size = \"20 kB\", pause = \"500 ms\" }\nweb = { reading = \"500 ms\" }\n\
                mail = { pause = \"500 ms\" }\n";
    let scenario = Scenario::from_text(text, "user.toml", &[]).expect("a valid scenario");
    let user = scenario.config(0).flows[0].app.kind.clone();
    assert!(matches!(user, AppKind::User(_)));
    let counted = |seconds: u64| {
        let mut config = ejtcp_fig9(ns2_tcp(), 0.01, Span::from_secs(seconds));
        config.flows[0].app = source(user.clone());
        let before = allocations();
        let outcome = run_alone(&config);
        (allocations() - before, outcome.transfers.len())
    };
    let ((short, few), (long, many)) = (counted(500), counted(2500));
    assert!(few > 300 && many > 4 * few && many < 4000, "{few} and {many} sessions");
    // Among this many pages some are larger than any before, and double rings: scoreboards, pipes, what came out of order.
    // Memory for a session would show by thousands.
    assert!(long <= short + 16, "{short} allocations, then {long}");
}
