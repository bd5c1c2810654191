//! Values of the wrong kind, without unit, out of range, or in conflict with another.

use super::super::{changed, extended};
use super::{refused, refused_change};

#[test]
fn a_number_without_a_unit_is_told_with_the_unit_it_might_have() {
    refused_change(
        r#"rate = "1 %""#,
        r#"rate = "12""#,
        r#"links.b-c.loss.rate: "12" has no unit; expected a percentage such as "12 %""#,
    );
    refused_change(
        r#"duration = "10 s""#,
        "duration = 250",
        r#"run.duration: 250 has no unit; expected a time such as "250 s""#,
    );
}

#[test]
fn a_size_where_a_rate_belongs_is_told_to_be_a_size() {
    refused_change(
        r#""5 Mbit/s""#,
        r#""5 MB""#,
        r#"links.a-b.rate: "5 MB" is a size; expected a rate such as "5 Mbit/s""#,
    );
}

#[test]
fn an_unknown_unit_is_answered_with_the_known_ones() {
    refused_change(
        r#""5 Mbit/s""#,
        r#""5 Mbps""#,
        "links.a-b.rate: \"5 Mbps\" has an unknown unit; did you mean \"5 Mbit/s\"? (units: bit/s, kbit/s, Mbit/s, Gbit/s)",
    );
    refused_change(
        r#""5 Mbit/s""#,
        r#""5 MB/s""#,
        "links.a-b.rate: \"5 MB/s\" counts bytes per second; expected a rate such as \"5 Mbit/s\" (units: bit/s, kbit/s, Mbit/s, Gbit/s)",
    );
}

#[test]
fn text_that_is_no_quantity_is_answered_with_an_example() {
    refused_change(r#""40 ms""#, r#""long""#, r#"links.a-b.delay: "long"; expected a time such as "40 ms""#);
    refused_change(
        r#""40 ms""#,
        "true",
        r#"links.a-b.delay: true is a boolean; expected a time such as "40 ms""#,
    );
    refused_change(
        r#""40 ms""#,
        r#"["40 ms"]"#,
        r#"links.a-b.delay: a list, and "a-b" is not a group; expected a time such as "40 ms""#,
    );
}

#[test]
fn values_out_of_all_reason_are_refused() {
    let loss = r#"{ rate = "1 %" }"#;
    for (from, to, expected) in [
        (
            loss,
            r#"{ rate = "120 %" }"#,
            r#"links.b-c.loss.rate: "120 %" is too large; expected at most 100 %"#,
        ),
        (
            loss,
            r#"{ rate = "-1 %" }"#,
            r#"links.b-c.loss.rate: "-1 %" is negative; expected a percentage such as "1 %""#,
        ),
        (
            r#""5 Mbit/s""#,
            r#""0 Mbit/s""#,
            r#"links.a-b.rate: "0 Mbit/s" is too small; expected more than 0"#,
        ),
        (
            r#""5 Mbit/s""#,
            r#""5e9 Gbit/s""#,
            r#"links.a-b.rate: "5e9 Gbit/s" is too large; expected at most 1000 Gbit/s"#,
        ),
        (
            r#""5 Mbit/s""#,
            r#""5e99 Gbit/s""#,
            r#"links.a-b.rate: "5e99 Gbit/s" is out of range; expected a rate such as "5 Mbit/s""#,
        ),
        (
            r#""40 ms""#,
            r#""-40 ms""#,
            r#"links.a-b.delay: "-40 ms" is negative; expected a time such as "40 ms""#,
        ),
        (
            r#""40 ms""#,
            r#""0.5 ns""#,
            r#"links.a-b.delay: "0.5 ns" is too precise; expected an integer number of nanoseconds"#,
        ),
        (r#""10 s""#, r#""0 s""#, r#"run.duration: "0 s" is too small; expected more than 0"#),
    ] {
        refused_change(from, to, expected);
    }
    let queue = changed("delay = \"40 ms\"", "queue = \"0 packets\"");
    refused(&queue, "queue", r#"links.a-b.queue: "0 packets" is too small; expected more than 0"#);
}

#[test]
fn a_warmup_as_long_as_the_run_is_refused() {
    let text = changed("duration = \"10 s\"", "duration = \"10 s\"\nwarmup = \"10 s\"");
    refused(&text, "warmup", "run.warmup: 10 s of 10 s; expected less than run.duration");
}

#[test]
fn tcp_parameters_that_cannot_work_are_refused() {
    for (more, expected) in [
        ("packet = \"65496 B\"", "flows.main.tcp.packet: \"65496 B\" is too large; expected at most 65495 B"),
        (
            "packet = \"65490 B\"\ntimestamps = true",
            "flows.main.tcp.packet: 65490 B and headers do not fit into an IP packet; expected at most 65483 B",
        ),
        (
            "window = \"0 segments\"",
            "flows.main.tcp.window: \"0 segments\" is too small; expected at least 1 segment",
        ),
        (
            "window = \"20 packets\"",
            "flows.main.tcp.window: \"20 packets\" is a number of packets; expected a number of segments such as \"20 segments\"",
        ),
        (
            "window = \"20000 segments\"\npacket = \"60000 B\"",
            "flows.main.tcp.window: 20000 segments exceed 1 GiB, the maximum window of TCP; expected at most 17895 segments",
        ),
        (
            "min-rto = \"2 s\"\nmax-rto = \"1 s\"",
            "flows.main.tcp.min-rto: 2 s is above tcp.max-rto, 1 s; expected less",
        ),
        ("ack-every = 0", "flows.main.tcp.ack-every: 0 is too small; expected at least 1"),
        ("window-scale = 15", "flows.main.tcp.window-scale: 15 is too large; expected at most 14"),
        (
            "vegas = { alpha = 4 }\ncongestion = \"vegas\"",
            "flows.main.tcp.vegas.alpha: 4 is above beta, 3; expected no more",
        ),
        ("timestamps = \"yes\"", "flows.main.tcp.timestamps: \"yes\"; expected true or false"),
    ] {
        refused(&extended(more), more.lines().next().unwrap_or(more), expected);
    }
}

#[test]
fn a_recovery_on_sack_blocks_with_sack_switched_off_is_refused() {
    refused(
        &changed(r#"variant = "newreno""#, "variant = \"fack\"\nsack = false"),
        "sack = false",
        "flows.main.tcp.sack: false with recovery \"fack\", which works on SACK blocks; expected true",
    );
}

#[test]
fn a_receive_buffer_below_one_segment_is_refused() {
    refused(
        &changed("to   = \"c\"", "to   = \"c\"\nsink = { buffer = \"500 B\" }"),
        "sink",
        "flows.main.sink.buffer: 500 B cannot hold a full segment; expected at least tcp.packet, 1000 B",
    );
}

#[test]
fn a_drop_list_that_is_descending_or_counts_from_zero_is_refused() {
    for (list, problem) in [
        ("[0, 3]", "0 in the list; expected integers from 1"),
        ("[3, 2]", "2 after 3; expected an ascending list"),
        ("[3, 3]", "3 after 3; expected an ascending list"),
        ("[-1]", "-1 in the list; expected integers from 1"),
        ("[1.5]", "1.5 in the list; expected integers from 1"),
        ("[\"3\"]", "\"3\" in the list; expected ascending integers from 1 such as [12, 40, 41]"),
    ] {
        let loss = format!(r#"{{ model = "list", list = {{ drop = {list} }} }}"#);
        refused_change(r#"{ rate = "1 %" }"#, &loss, &format!("links.b-c.loss.list.drop: {problem}"));
    }
}
