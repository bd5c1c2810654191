//! The ARQ of an access point, and buffers in bytes.

use super::wifi::{cell, cell_config};
use super::*;
use lasthop_stack::link::dot11::{Buffer, BufferScope, BufferUnit, Reassembly};
use lasthop_stack::registry::{ArqConfig, Learner};
use lasthop_stack::schemes::dynamic_arq::{
    self, Check, Clock, Deadline, Hopeless, Limit, Options, Order, Priority, Queues, TimingSource, estimate,
};
use lasthop_stack::units::Span;

const AP: &str = "access-point = \"ap\"\n";

fn arq(lines: &str) -> Option<ArqConfig> {
    cell_config(&format!("{AP}{lines}")).arq
}

#[test]
fn without_a_word_the_arq_is_fixed_and_has_no_metrics_of_its_own() {
    assert_eq!(arq(""), None);
    assert_eq!(arq("arq = { kind = \"fixed\" }"), Some(ArqConfig::Fixed(())));
    let metrics = |lines: &str| {
        let scenario = read(&cell(&format!("{AP}{lines}"))).unwrap_or_else(|error| panic!("{error}"));
        let names = crate::metrics::names(&scenario.config(0));
        names.iter().filter(|name| name.contains(".arq.")).count()
    };
    let kinds = ["", "arq = { kind = \"fixed\" }", "arq = { kind = \"dynamic\" }"];
    assert_eq!(kinds.map(metrics), [0, 6, 10]);
}

#[test]
fn each_reading_of_the_algorithm_has_a_key() {
    let plain = dynamic_arq::Config::default();
    assert_eq!(plain.timing, TimingSource::Oracle);
    assert_eq!(arq("arq = { kind = \"dynamic\" }"), Some(ArqConfig::Dynamic(plain)));
    let text = "arq = { kind = \"dynamic\", order = \"new-first\", time = \"rto\", urgent = \"all\", \
                hopeless = \"drop\", restart = false, timing = \"estimate\", assumed-min-rto = \"1 s\", \
                priority = \"pass\", limit = \"none\", reorder-timeout = \"100 ms\" }";
    let other = Options {
        queues: Queues::Three,
        priority: Priority::Pass,
        limit: Limit::Never,
        clock: Clock::Rto,
        check: Check::All,
        hopeless: Hopeless::Drop,
        deadline: Deadline::OfPacket,
        order: Order::NewFirst,
    };
    let Some(ArqConfig::Dynamic(found)) = arq(text) else { panic!("a scheme") };
    assert_eq!((found.options, found.timing), (other, TimingSource::Estimate));
    assert_eq!((plain.reorder, found.reorder), (None, Some(Span::from_millis(100))));
    let estimate::Config { rto, restart, .. } = found.estimate();
    assert_eq!((rto.min, restart), (Span::from_secs(1), false));
}

#[test]
fn a_control_has_neither_an_oracle_nor_the_keys_of_timers() {
    for (control, queues, clock) in [
        ("time = \"none\"", Queues::Three, Clock::None),
        ("queues = \"one\"", Queues::One, Clock::Left),
        ("queues = \"flows\"", Queues::Flows, Clock::Left),
    ] {
        let Some(config) = arq(&format!("arq = {{ kind = \"dynamic\", {control} }}")) else {
            panic!("a scheme")
        };
        assert!(config.exception().is_none(), "{control}");
        assert!(matches!(config.learner(), Some(Learner::Nothing)), "{control}");
        let ArqConfig::Dynamic(found) = config else { panic!("a scheme") };
        assert_eq!((found.options.queues, found.options.clock), (queues, clock));
        let lines = format!("{AP}arq = {{ kind = \"dynamic\", {control}, urgent = \"all\" }}");
        let error = read(&cell(&lines)).expect_err("no timers").to_string();
        assert!(error.contains("links.cell.arq.urgent: "), "{error}");
    }
}

#[test]
fn fragments_are_joined_in_any_order_where_a_scheme_orders_them() {
    let reassembly = |kind: &str| cell_config(&format!("{AP}arq = {{ kind = \"{kind}\" }}")).mac.reassembly;
    assert_eq!(["fixed", "dynamic"].map(reassembly), [Reassembly::InOrder, Reassembly::AnyOrder]);
}

#[test]
fn a_queue_may_be_in_bytes_for_all_or_for_each_receiver() {
    let buffer = |lines: &str| cell_config(lines).mac.buffer;
    assert_eq!(buffer("queue = \"20 packets\""), None);
    let shared = Buffer { bytes: 32_000, scope: BufferScope::Shared, unit: BufferUnit::Packets };
    assert_eq!(buffer("queue = \"32 kB\""), Some(shared));
    let lines = "queue = \"32 kB\"\nbuffer = { shared-by = \"receiver\", counts = \"frames\" }";
    let other = Buffer { scope: BufferScope::PerReceiver, unit: BufferUnit::Frames, ..shared };
    assert_eq!(buffer(lines), Some(other));
}

#[test]
fn what_dynamic_arq_cannot_do_is_told() {
    for (lines, expected) in [
        (
            "arq = { kind = \"dynamic\" }",
            "arq.kind: \"dynamic\" without an access point; expected links.cell.access-point to name one",
        ),
        (
            "arq = { kind = \"fixed\" }",
            "arq.kind: \"fixed\" without an access point; expected links.cell.access-point to name one",
        ),
        (
            "access-point = \"ap\"\ncoordination = \"pcf\"\narq = { kind = \"dynamic\" }",
            "arq.kind: \"dynamic\" with coordination \"pcf\"; expected \"dcf\"",
        ),
        (
            "access-point = \"ap\"\ncoordination = \"pcf\"\nlifetime = \"500 ms\"",
            "links.cell.lifetime: no point uses it; expected links.cell.coordination = \"dcf\"",
        ),
        (
            "queue = \"20 packets\"\nbuffer = { counts = \"frames\" }",
            "buffer.counts: \"frames\" with a queue in packets; expected \"packets\", or a queue in bytes such as \"32 kB\"",
        ),
    ] {
        let error = read(&cell(lines)).expect_err(lines).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn the_oracle_is_remarked() {
    let warnings = |timing: &str| {
        let text = cell(&format!("{AP}arq = {{ kind = \"dynamic\", timing = \"{timing}\" }}"));
        read(&text).unwrap_or_else(|error| panic!("{error}")).warnings().join("\n")
    };
    assert!(warnings("oracle").contains("arq.timing: the timers of TCP senders as known to the simulator"));
    assert!(!warnings("estimate").contains("arq.timing"));
}
