//! What a scenario and a run of it take, against what they are said to take: counted, not argued.

#![allow(unsafe_code, reason = "a global allocator that counts cannot be written without it")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use lasthop_sim::scenario::Scenario;
use lasthop_sim::{Estimate, Outcome, Request, estimate, run};

struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicUsize = AtomicUsize::new(0);

fn grow(bytes: usize) {
    CALLS.fetch_add(1, Relaxed);
    MOST.fetch_max(HELD.fetch_add(bytes, Relaxed) + bytes, Relaxed);
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // The old and the new memory exist at the same time for a moment.
        grow(size);
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// What is counted is of the whole process: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// The result of an action, the most memory that it held in addition to before, and how often it allocated.
fn counted<T>(act: impl FnOnce() -> T) -> (T, f64, f64) {
    let (held, calls) = (HELD.load(Relaxed), CALLS.load(Relaxed));
    MOST.store(held, Relaxed);
    let given = act();
    (given, (MOST.load(Relaxed) - held) as f64, (CALLS.load(Relaxed) - calls) as f64)
}

fn load(text: &str) -> Scenario {
    Scenario::from_text(text, "limits.toml", &[]).expect("a valid scenario")
}

/// Makes a scenario with this many tables.
type Text<'a> = &'a dyn Fn(usize) -> String;

/// A wire with this many flows over it, each in a table of its own.
fn flows(count: usize, more: &str) -> String {
    let mut text = format!("{RUN}[nodes]\na = {{}}\nb = {{}}\n{WIRE}");
    for flow in 0..count {
        let _ =
            write!(text, "[flows.f{flow}]\nfrom = \"a\"\nto = \"b\"\napp = {{ kind = \"bulk\" }}\n{more}");
    }
    text
}

const RUN: &str = "[run]\nduration = \"2 s\"\n";
const WIRE: &str =
    "[links.ab]\nkind = \"wired\"\nnodes = [\"a\", \"b\"]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n";

/// Pairs of nodes, each with a wire and a flow.
fn pairs(count: usize) -> String {
    let mut text = format!("{RUN}[nodes]\n");
    for pair in 0..count {
        let _ = write!(text, "a{pair} = {{}}\nb{pair} = {{}}\n");
    }
    for pair in 0..count {
        let ends = format!("a{pair}\", \"b{pair}");
        let _ =
            write!(text, "[links.l{pair}]\nkind = \"wired\"\nnodes = [\"{ends}\"]\nrate = \"1 Mbit/s\"\n");
        let _ = write!(text, "[flows.f{pair}]\nfrom = \"a{pair}\"\nto = \"b{pair}\"\n");
    }
    text
}

/// A cell in which all hear each other, and some of its stations send.
fn cell(stations: usize, more: &str) -> String {
    format!(
        "{RUN}[nodes]\nap = {{}}\nsta = {{ count = {stations} }}\n[links.air]\nkind = \"wifi\"\n\
         nodes = [\"ap\", \"sta\"]\n{more}"
    )
}

const ONE_STATION: &str = "[flows.f]\nfrom = \"sta1\"\nto = \"ap\"\n";

fn simulate(scenario: &Scenario) -> (Estimate, Outcome, f64) {
    let config = scenario.config(0);
    let request = Request::new(&config, 1, 0);
    let (outcome, bytes, _) = counted(|| run(&request).expect("it runs"));
    (estimate(&config), outcome, bytes)
}

#[test]
fn each_table_of_a_file_takes_less_than_ten_kilobytes_however_many_there_are() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    load(&pairs(1));
    let kinds: [(&str, Text<'_>, f64); 3] = [
        ("flows", &|count| flows(count, ""), 1.0),
        (
            "flows that differ",
            &|count| flows(count, "tcp = { variant = \"reno\", window = \"20 segments\" }\n"),
            1.0,
        ),
        ("pairs", &pairs, 4.0),
    ];
    for (kind, text, tables) in kinds {
        let [few, many] = [500, 4000].map(|count| {
            let text = text(count);
            let (scenario, bytes, calls) = counted(|| load(&text));
            drop(scenario);
            (bytes, calls)
        });
        let tables = tables * 3500.0;
        let (bytes, calls) = ((many.0 - few.0) / tables, (many.1 - few.1) / tables);
        println!("{kind}: {bytes} B and {calls} allocations a table");
        assert!(bytes < 10_000.0, "{kind}: {bytes} B a table");
        assert!(calls < 200.0, "{kind}: {calls} allocations a table");
        // What a table takes is the same in a file eight times as long.
        assert!(many.0 < 10.0 * few.0 && many.1 < 8.5 * few.1, "{kind}: {few:?}, {many:?}");
    }
}

#[test]
fn more_tables_than_a_scenario_can_have_are_refused_before_anything_is_made_of_them() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let text = flows(50_000, "");
    let (refused, bytes, _) = counted(|| Scenario::from_text(&text, "limits.toml", &[]));
    let message = refused.expect_err("too many").to_string();
    assert_eq!(
        message,
        "limits.toml:11: flows: 50000 tables; expected at most 10000 (a table with a count stands for many)"
    );
    assert!(bytes < 10_000.0, "{bytes}");
    let mut text = format!("{RUN}[nodes]\n");
    for node in 0..20_000 {
        let _ = writeln!(text, "n{node} = {{}}");
    }
    let refused = Scenario::from_text(&text, "limits.toml", &[]);
    assert!(refused.expect_err("too many").to_string().starts_with("limits.toml:3: nodes: 20000 tables; "));
}

#[test]
fn a_cell_in_which_all_hear_each_other_takes_as_much_more_as_it_has_more_stations() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let everyone =
        "[flows.f]\nfrom = \"sta\"\nto = \"ap\"\napp = { kind = \"file\", file.size = \"1 packet\" }\n";
    for more in [ONE_STATION, everyone] {
        let [few, many] = [500, 4000].map(|stations| {
            let (scenario, loading, _) = counted(|| load(&cell(stations, more)));
            let mut config = scenario.config(0);
            config.run.max_events = Some(20_000);
            let request = Request::new(&config, 1, 0);
            let (_, running, _) = counted(|| run(&request).expect("it runs"));
            (loading, running)
        });
        // Lists that double when they are full may be half empty; what grows with the pairs would be 64 times as much.
        assert!(many.0 < 16.0 * few.0 && many.1 < 16.0 * few.1, "{few:?} {many:?}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a list of scenarios")]
fn no_run_takes_more_memory_or_events_than_was_estimated() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let app = |app: &str| {
        format!("{RUN}[nodes]\na = {{}}\nb = {{}}\n{WIRE}[flows.f]\nfrom = \"a\"\nto = \"b\"\n{app}")
    };
    let writes = |tcp: &str, rate: &str| {
        app(&format!("app = {{ kind = \"cbr\", cbr = {{ rate = \"{rate}\", packet = \"100 B\" }} }}\n{tcp}"))
    };
    // Thirty flows over a path that holds two thousand segments.
    let fast = |more: &dyn Fn(usize) -> String| {
        let mut text = format!("{RUN}[nodes]\na = {{}}\nb = {{}}\n{WIRE}")
            .replace("10 Mbit/s", "1 Gbit/s")
            .replace("\"5 ms\"", "\"25 ms\"")
            .replace("2 s", "30 s");
        for flow in 0..30 {
            let _ = write!(text, "[flows.f{flow}]\nfrom = \"a\"\nto = \"b\"\n{}", more(flow));
        }
        text
    };
    let small = "app = { kind = \"cbr\", cbr = { rate = \"30 kbit/s\", packet = \"1 B\" } }\n\
                 tcp = { nagle = false, window = \"4000 segments\" }\n";
    let few = "loss = { model = \"list\", list = { drop = [40, 50, 90, 91, 300] } }";
    let placed = "[flows.f]\nfrom = \"sta\"\nto = \"ap\"\n";
    let disc = cell(150, placed).replace("ap = {}", "ap = { position = [\"0 m\", \"0 m\"] }").replace(
        "count = 150",
        "count = 150, around = \"ap\", place = { kind = \"disc\", disc.radius = \"200 m\" }",
    );
    let scenarios = [
        ("flows", flows(1000, "")),
        ("paused", flows(20, "sink = { buffer = \"64 kB\", pause-at = \"500 ms\", pause = \"1 s\" }\n")),
        ("slow", flows(20, "sink = { buffer = \"64 kB\", read-rate = \"100 kbit/s\" }\n")),
        ("losses", flows(20, "").replace("kind = \"wired\"", "kind = \"lossy\"\nloss.rate = \"60 %\"")),
        ("bbr", flows(5, "tcp = { variant = \"bbr\" }\n")),
        ("pairs", pairs(500)),
        ("slow writes", writes("", "8 kbit/s")),
        ("writes", writes("tcp = { nagle = false }", "400 kbit/s")),
        ("fast writes", writes("tcp = { ack-every = 2, ack-delay = \"100 ms\" }", "20 Mbit/s")),
        ("one station", cell(2000, ONE_STATION)),
        ("stations", cell(100, "[flows.f]\nfrom = \"sta\"\nto = \"ap\"\n")),
        ("disc", disc),
        ("back", app("app = { kind = \"bulk\", reverse = { kind = \"bulk\" } }\n")),
        ("file", app("app = { kind = \"file\", file.size = \"3 MB\" }\n")),
        ("fast flows", flows(1500, "").replace("10 Mbit/s", "1 Gbit/s").replace("5 ms", "10 ms")),
        ("files", fast(&|_| "app = { kind = \"file\", file.size = \"2 MB\" }\n".into())),
        ("in turn", fast(&|flow| format!("app = {{ start = \"{flow} s\", stop = \"{} s\" }}\n", flow + 1))),
        ("small room", fast(&|_| format!("sink = {{ buffer = \"10 kB\" }}\n{small}"))),
        (
            "all lost",
            fast(&|_| small.into()).replace("kind = \"wired\"", "kind = \"lossy\"\nloss.rate = \"100 %\""),
        ),
        (
            "few lost",
            fast(&|_| small.into()).replace("kind = \"wired\"", &format!("kind = \"lossy\"\n{few}")),
        ),
        (
            "slow and deep",
            fast(&|_| {
                "app = { kind = \"file\", file.size = \"100 kB\" }\ntcp = { window = \"70000 segments\" }\n"
                    .into()
            })
            .replace("kind = \"wired\"", &format!("kind = \"lossy\"\nqueue = \"unlimited\"\n{few}"))
            .replace("1 Gbit/s", "100 kbit/s"),
        ),
    ];
    for (name, text) in scenarios {
        let (estimate, outcome, bytes) = simulate(&load(&text));
        let events = outcome.events as f64;
        println!(
            "{name}: {events} of {:.0} events, {:.2} of {:.2} MB",
            estimate.events,
            bytes / 1e6,
            estimate.memory_bytes / 1e6
        );
        assert!(events <= estimate.events, "{name}: {events} events, {estimate:?}");
        assert!(bytes <= estimate.memory_bytes, "{name}: {bytes} B, {estimate:?}");
    }
}

#[test]
fn the_events_of_timers_of_a_microsecond_and_of_paces_are_counted() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let of = |flow: &str, delay: &str| {
        format!("{RUN}[nodes]\na = {{}}\nb = {{}}\n{WIRE}[flows.f]\nfrom = \"a\"\nto = \"b\"\n{flow}")
            .replace("5 ms", delay)
            .replace("2 s", "200 ms")
    };
    let at_once =
        "tcp = { tick = \"0 s\", min-rto = \"1 us\", max-rto = \"1 us\", initial-rto = \"1 us\" }\n";
    let below_a_tick = "tcp = { min-rto = \"1 us\", max-rto = \"1 us\" }\n";
    let repeats = "app = { kind = \"file\", file.size = \"1 B\" }\n[agents.g]\nkind = \"snoop\"\n\
                   snoop.min-timeout = \"1 us\"\nlink = \"ab\"\nnode = \"a\"\n";
    for text in [
        of(at_once, "5 ms"),
        of(at_once, "5 s"),
        of(below_a_tick, "5 s"),
        of("tcp = { initial-rto = \"1 us\" }\n", "5 s"),
        of(repeats, "40 ms"),
        of("tcp = { pacing = \"on\" }\n", "5 ms"),
        of("tcp = { packet = \"1 B\" }\napp = { kind = \"cbr\", cbr.rate = \"1 kbit/s\" }\n", "0 s"),
    ] {
        let (estimate, outcome, _) = simulate(&load(&text));
        assert!(outcome.events as f64 <= estimate.events, "{} events, {estimate:?}: {text}", outcome.events);
    }
}

#[test]
fn the_events_of_sources_whose_bursts_are_far_shorter_than_a_packet_are_counted() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for law in ["law = \"pareto\", shape = 2.5", "law = \"exponential\"", "law = \"fixed\""] {
        for (on, off) in [("200 ns", "200 ns"), ("195300 ns", "0 s"), ("195300 ns", "1 ms")] {
            let app = format!("rate = \"10 kbit/s\", on = \"{on}\", off = \"{off}\", {law}");
            let flow = format!(
                "[flows.f]\nfrom = \"a\"\nto = \"b\"\nudp = {{}}\napp = {{ kind = \"on-off\", on-off = {{ {app} }} }}\n"
            );
            let text = format!("{RUN}[nodes]\na = {{}}\nb = {{}}\n{WIRE}{flow}");
            let (estimate, outcome, _) = simulate(&load(&text));
            assert!(
                outcome.events as f64 <= estimate.events,
                "{} events, {estimate:?}: {text}",
                outcome.events
            );
        }
    }
}

#[test]
fn the_events_of_users_with_long_pages_or_many_timeouts_are_counted() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let web = |link: &str, more: &str| {
        let flow = format!("[flows.f]\nfrom = \"a\"\nto = \"b\"\napp = {{ kind = \"web\"{more}\n");
        format!("{RUN}[nodes]\na = {{}}\nb = {{}}\n[links.ab]\nnodes = [\"a\", \"b\"]\n{link}{flow}")
    };
    let lossy = "kind = \"lossy\"\nrate = \"1 Mbit/s\"\ndelay = \"0 s\"\nqueue = \"1 packets\"\nloss.rate = \"100 %\"\n";
    let fast = "kind = \"wired\"\nrate = \"1 Gbit/s\"\ndelay = \"1 us\"\n";
    let at_once = " }\ntcp = { min-rto = \"1 us\", max-rto = \"1 ms\" }";
    for (text, runs) in [(web(lossy, at_once), 1), (web(fast, ", pauses = \"fixed\" }"), 300)] {
        let config = load(&text).config(0);
        let most =
            (0..runs).map(|number| run(&Request::new(&config, 1, number)).expect("it runs").events).max();
        let estimate = estimate(&config);
        assert!(most.is_some_and(|most| most as f64 <= estimate.events), "{most:?}, {estimate:?}: {text}");
    }
}

#[test]
fn what_needs_far_less_than_it_is_allowed_is_not_refused() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let slow = flows(10_000, "");
    for text in [slow.replace("10 Mbit/s", "1 Gbit/s").replace("5 ms", "10 ms"), slow] {
        let estimate = estimate(&load(&text).config(0));
        assert!(estimate.memory_bytes < 2e9, "{estimate:?}");
    }
    let deep = flows(50, "").replace("kind = \"wired\"", "kind = \"wired\"\nqueue = \"unlimited\"");
    let web = flows(200, "").replace("kind = \"bulk\"", "kind = \"web\"");
    for (text, most) in [(deep, 100e6), (web, 100e6)] {
        let estimate = estimate(&load(&text).config(0));
        assert!(estimate.memory_bytes < most, "{estimate:?}");
    }
}

#[test]
fn a_trace_ten_times_as_long_takes_no_more_memory() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let text = flows(1, "");
    let rows = |seconds: &str| {
        let set = [("run.duration".to_string(), seconds.to_string())];
        let config = Scenario::from_text(&text, "limits.toml", &set).expect("a valid scenario").config(0);
        let request = Request { trace: &["tcp".into(), "queue".into()], ..Request::new(&config, 1, 0) };
        let (outcome, bytes, _) = counted(|| run(&request).expect("it runs"));
        (outcome.traces.iter().map(lasthop_sim::probe::trace::Trace::rows).sum::<usize>(), bytes)
    };
    let ((few, short), (many, long)) = (rows("100 s"), rows("1000 s"));
    println!("{few} rows in {short} B, {many} in {long} B");
    assert!(few > 100_000 && many > 9 * few, "{few} and {many} rows");
    assert!(long < 1.1 * short, "{short} B, then {long} B");
}
