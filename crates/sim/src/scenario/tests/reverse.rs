//! Reverse data on the connection of a flow: the meaning of its keys, and the errors for meaningless ones.

use super::{BASE, changed, extended, line_of, read, resolved};
use crate::model::{FlowConfig, ReverseConfig, TransportConfig};
use crate::traffic::AppKind;
use lasthop_stack::units::{Bytes, Rate, Span, Time};

/// [`BASE`] with these lines in its flow, before its TCP.
fn flow(lines: &str) -> String {
    changed("to   = \"c\"", &format!("to   = \"c\"\n{lines}"))
}

fn typed(lines: &str) -> FlowConfig {
    read(&flow(lines)).expect("a legal scenario").config(0).flows[0].clone()
}

fn reverse(lines: &str) -> ReverseConfig {
    *typed(lines).reverse.expect("data that goes back")
}

/// Checks that these lines in the flow are refused with this message on the line of `piece`.
fn refused(lines: &str, piece: &str, expected: &str) {
    let text = flow(lines);
    let error = read(&text).expect_err("refused").to_string();
    assert_eq!(error, format!("x.toml:{}: {expected}", line_of(&text, piece)));
}

#[test]
fn nothing_goes_back_unless_it_is_said() {
    assert!(typed("").reverse.is_none());
    assert!(typed("app = { reverse = { kind = \"none\" } }").reverse.is_none());
    let scenario = read(BASE).unwrap();
    let listed = scenario.resolved(0).into_iter().filter(|line| line.key.contains(".reverse."));
    assert_eq!(listed.filter(|line| line.key.starts_with("flows.")).count(), 0);
    assert!(!scenario.metrics().iter().any(|name| name.starts_with("flows.main.reverse.")));
}

#[test]
fn a_source_and_a_sink_of_the_way_back_are_typed_and_start_with_the_flow() {
    let bulk =
        reverse("app = { start = \"2 s\", reverse = { kind = \"bulk\" } }\nsink = { buffer = \"64 kB\" }");
    assert_eq!((bulk.app.kind, bulk.app.start, bulk.app.stop), (AppKind::Bulk, Time(2_000_000_000), None));
    assert_eq!((bulk.buffer, bulk.sink.read_rate), (None, None), "the sink of the way there is another");
    let app = "app = { reverse = { kind = \"file\", start = \"1 s\", file = { size = \"3 packets\" } } }";
    let sink =
        "sink.reverse = { buffer = \"9 kB\", read-rate = \"1 Mbit/s\", pause-at = \"2 s\", pause = \"3 s\" }";
    let file = reverse(&format!("{app}\n{sink}"));
    assert_eq!(file.app.kind, AppKind::File { size: Bytes(3000) });
    assert_eq!((file.app.start, file.buffer), (Time(1_000_000_000), Some(9000)));
    let sink = file.sink;
    assert_eq!(
        (sink.read_rate, sink.pause_at, sink.pause),
        (Some(Rate(1_000_000)), Some(Time(2_000_000_000)), Span::from_secs(3))
    );
    let cbr = reverse(
        "app = { reverse = { kind = \"cbr\", stop = \"5 s\", cbr = { rate = \"1 Mbit/s\", packet = \"99 B\" } } }",
    );
    assert_eq!(cbr.app.kind, AppKind::Cbr { rate: Rate(1_000_000), packet: 99 });
    assert_eq!(cbr.app.stop, Some(Time(5_000_000_000)));
}

#[test]
fn what_goes_back_is_measured_and_listed_beside_what_goes_forward() {
    let scenario = read(&flow("app = { reverse = { kind = \"bulk\" } }")).unwrap();
    let start = resolved(&scenario, 0, "flows.main.app.reverse.start");
    assert_eq!(start, Some(("0 s".into(), "flows.main.app.start".into())));
    let metrics = scenario.metrics();
    for name in ["flows.main.reverse.goodput_bps", "flows.main.reverse.completion_s", "jain_index"] {
        assert!(metrics.iter().any(|metric| metric == name), "{name}");
    }
}

#[test]
fn whether_data_goes_back_may_be_swept() {
    let sweep = "[sweep]\n\"flows.main.app.reverse.kind\" = [\"none\", \"bulk\"]\n";
    let scenario = read(&extended(sweep)).unwrap();
    let back: Vec<bool> = (0..2).map(|point| scenario.config(point).flows[0].reverse.is_some()).collect();
    assert_eq!(back, [false, true]);
    assert!(scenario.metrics().contains(&"flows.main.reverse.goodput_bps".to_string()));
}

#[test]
fn only_over_tcp_can_data_go_back() {
    let app = "kind = \"cbr\", cbr = { rate = \"1 Mbit/s\" }";
    let lines = format!("app = {{ {app}, reverse = {{ kind = \"bulk\" }} }}\nudp = {{}}");
    let text = format!("{}to   = \"c\"\n{lines}\n", BASE.split("to   = \"c\"").next().expect("its head"));
    let error = read(&text).expect_err("refused").to_string();
    let line = line_of(&text, "app = {");
    let sources = "\"bulk\" or \"file\" or \"cbr\" or \"poisson\" or \"on-off\"";
    let expected = format!(
        "flows.main.app.reverse.kind: no point uses it; expected a flow over tcp and flows.main.app.kind = {sources}"
    );
    assert_eq!(error, format!("x.toml:{line}: {expected}"));
    assert!(matches!(typed("").transport, TransportConfig::Tcp(_)));
}

#[test]
fn keys_of_the_way_back_need_a_source_there() {
    let expected = "no point uses it; expected flows.main.app.reverse.kind = \"bulk\" or \"file\" or \"cbr\" or \
                    \"poisson\" or \"on-off\"";
    for (lines, key) in [
        ("app.reverse.start = \"1 s\"", "app.reverse.start"),
        ("sink.reverse.buffer = \"9 kB\"", "sink.reverse.buffer"),
    ] {
        refused(lines, lines, &format!("flows.main.{key}: {expected}"));
    }
    refused(
        "app.reverse.file.size = \"1 MB\"",
        "app.reverse",
        "flows.main.app.reverse.file.size: no point uses it; expected flows.main.app.reverse.kind = \"file\"",
    );
}

#[test]
fn values_of_the_way_back_that_do_not_go_together_are_told() {
    refused(
        "app.start = \"2 s\"\napp.reverse.kind = \"bulk\"\napp.reverse.start = \"1 s\"",
        "app.reverse.start",
        "flows.main.app.reverse.start: 1 s is before app.start, 2 s, when the connection opens; expected no earlier time",
    );
    refused(
        "app.reverse = { kind = \"bulk\", start = \"3 s\", stop = \"3 s\" }",
        "app.reverse",
        "flows.main.app.reverse.stop: 3 s is not after app.reverse.start, 3 s; expected a later time",
    );
    refused(
        "app.reverse.kind = \"bulk\"\nsink.reverse.buffer = \"10 B\"",
        "sink.reverse",
        "flows.main.sink.reverse.buffer: 10 B cannot hold a full segment; expected at least tcp.packet, 1000 B",
    );
    refused(
        "app.reverse.kind = \"blk\"",
        "app.reverse",
        "flows.main.app.reverse.kind: unknown kind of source \"blk\"; did you mean \"bulk\"? (known: bulk, none, file, \
         cbr, poisson, on-off)",
    );
    refused(
        "app.reverse.kind = \"file\"",
        "app.reverse.kind",
        "flows.main.app.reverse.file.size: missing; expected a size such as \"4 MB\" or a number of packets such as \
         \"100 packets\"",
    );
}

#[test]
fn a_source_of_the_way_back_that_starts_after_the_end_is_remarked() {
    let late = read(&flow("app.reverse = { kind = \"bulk\", start = \"30 s\" }")).unwrap();
    assert_eq!(late.warnings().len(), 1);
    assert!(
        late.warnings()[0]
            .ends_with("the source starts at 30 s, after the end of the run; expected an earlier time"),
        "{:?}",
        late.warnings()
    );
    let both = read(&flow("app = { start = \"30 s\", reverse = { kind = \"bulk\" } }")).unwrap();
    assert_eq!(both.warnings().len(), 1, "once for both directions");
}

#[test]
fn laws_that_only_watch_a_flow_with_data_both_ways_are_refused() {
    let judged = |law: &str| {
        let text = flow("app = { reverse = { kind = \"bulk\" } }");
        text.replace("variant = \"newreno\"", &format!("variant = \"{law}\"\njudges = [\"jtcp\"]"))
    };
    let text = judged("newreno");
    let error = read(&text).expect_err("refused").to_string();
    let expected = "flows.main.tcp.judges: judges see no timestamps of acknowledgements piggybacked on data, and app.reverse sends data back; expected \"none\", or a controlling law whose timestamps are sent separately";
    assert_eq!(error, format!("x.toml:{}: {expected}", line_of(&text, "judges")));
    assert!(read(&judged("ejtcp")).is_ok());
}
