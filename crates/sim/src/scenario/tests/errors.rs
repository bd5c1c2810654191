//! Bad input, one test each: the whole message is the expectation.

use super::{BASE, changed, extended, keys_of_a_link, line_of, read, with};
use crate::scenario::{Overrides, Scenario};
use lasthop_stack::registry::VARIANTS;
use std::fs;
use std::path::{Path, PathBuf};

/// The message for a text.
fn message(text: &str) -> String {
    match read(text) {
        Ok(_) => "no error".to_string(),
        Err(error) => error.to_string(),
    }
}

/// Checks that a text is refused with this message on the line of `piece`.
fn refused(text: &str, piece: &str, expected: &str) {
    assert_eq!(message(text), format!("x.toml:{}: {expected}", line_of(text, piece)));
}

/// Checks what is said of [`BASE`] with `from` replaced by `to`, on the line of `to`.
fn refused_change(from: &str, to: &str, expected: &str) {
    refused(&changed(from, to), to, expected);
}

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
        r#"links.a-b.delay: a list; expected a time such as "40 ms""#,
    );
}

#[test]
fn a_misspelt_variant_is_answered_with_the_nearest_and_no_more_than_eight() {
    let all = VARIANTS.len();
    for (word, told) in [
        (
            "newrneo",
            format!(
                "did you mean \"newreno\"? (known: newreno, tahoe, reno, sack, fack, vegas, veno, westwood, … ({all} in total))"
            ),
        ),
        (
            "unlike",
            format!(
                "expected one of tahoe, reno, newreno, sack, fack, vegas, veno, westwood, … ({all} in total)"
            ),
        ),
    ] {
        refused_change(
            r#""newreno""#,
            &format!("{word:?}"),
            &format!("flows.main.tcp.variant: unknown variant {word:?}; {told}"),
        );
    }
}

#[test]
fn an_unknown_key_is_answered_with_the_nearest() {
    refused_change(
        "delay =",
        "dealy =",
        &format!(
            "links.a-b.dealy: unknown key; did you mean \"delay\"? (known: {})",
            keys_of_a_link("dealy")
        ),
    );
    refused(
        &extended("[rum]\nseed = 1\n"),
        "[rum]",
        "rum: unknown key; did you mean \"run\"? (known: run, paper, title, summary, nodes, links, flows, agents, … (10 in total))",
    );
}

#[test]
fn an_unknown_table_is_told_once_however_many_keys_it_has() {
    refused(
        &extended("[flows.main.tpc]\nwindow = \"20 segments\"\npacket = \"1000 B\"\n"),
        "[flows.main.tpc]",
        "flows.main.tpc: unknown key; did you mean \"tcp\"? (known: tcp, from, to, count, seed, app, sink, udp)",
    );
}

#[test]
fn a_misspelt_section_is_told_alone_though_its_names_are_missed() {
    let text = extended("[sweep]\n\"links.b-c.loss.rate\" = [\"1 %\"]\n").replace("[links.", "[link.");
    refused(
        &text,
        "[link.a-b]",
        "link: unknown key; did you mean \"links\"? (known: links, paper, title, summary, run, nodes, flows, agents, … (10 in total))",
    );
    refused(
        &BASE.replace("[nodes]", "[node]"),
        "[node]",
        "node: unknown key; did you mean \"nodes\"? (known: nodes, paper, title, summary, run, links, flows, agents, … (10 in total))",
    );
}

#[test]
fn a_missing_key_is_told_at_its_table() {
    refused(
        &changed("rate  = \"5 Mbit/s\"\n", ""),
        "[links.a-b]",
        r#"links.a-b.rate: missing; expected a rate such as "5 Mbit/s""#,
    );
    refused(
        &changed("duration = \"10 s\"", "seed = 2"),
        "[run]",
        r#"run.duration: missing; expected a time such as "10 s""#,
    );
    refused(
        &changed(r#"{ rate = "1 %" }"#, r#"{ model = "bit" }"#),
        "loss  =",
        "links.b-c.loss.bit.ber: missing; expected a number such as 1e-6",
    );
}

#[test]
fn sections_that_must_be_there_are_asked_for() {
    assert_eq!(
        message("[run]\nduration = \"1 s\"\n"),
        "x.toml:1: nodes: missing; expected at least one such as a = {}\nx.toml:1: links: missing; expected at least one such as [links.a-b]\nx.toml:1: flows: missing; expected at least one such as [flows.main]"
    );
}

#[test]
fn an_unknown_node_of_a_link_or_flow_is_answered_with_the_nearest() {
    let text = changed("b = {}\n", "router = {}\n").replace("\"b\"", "\"router\"");
    assert!(read(&text).is_ok());
    let text = text.replace("[\"a\", \"router\"]", "[\"a\", \"ruoter\"]");
    refused(
        &text,
        "ruoter",
        "links.a-b.nodes: unknown node \"ruoter\"; did you mean \"router\"? (known: router, a, c)",
    );
    refused_change(
        r#"to   = "c""#,
        r#"to   = "sink""#,
        "flows.main.to: unknown node \"sink\"; expected one of a, b, c",
    );
}

#[test]
fn a_link_of_a_node_to_itself_is_refused() {
    refused_change(
        r#"["a", "b"]"#,
        r#"["a", "a"]"#,
        "links.a-b.nodes: \"a\" twice; expected different nodes",
    );
    refused_change(
        r#"["a", "b"]"#,
        r#"["a"]"#,
        "links.a-b.nodes: 1 names; expected the names of two or more nodes such as [\"a\", \"b\"]",
    );
}

#[test]
fn a_flow_to_its_own_sender_is_refused() {
    refused_change(
        r#"to   = "c""#,
        r#"to   = "a""#,
        "flows.main.to: \"a\" is also the sender; expected another node",
    );
}

#[test]
fn a_flow_between_nodes_that_no_link_joins_is_refused() {
    let text = changed("c = {}", "c = {}\nd = {}").replace(r#"["b", "c"]"#, r#"["d", "c"]"#);
    refused(&text, "to   =", "flows.main.to: no path from \"a\" to \"c\"; expected links that connect them");
}

#[test]
fn a_node_defined_twice_is_refused() {
    refused(&changed("b = {}", "a = {} # again"), "a = {} # again", "duplicate key; expected valid TOML");
}

#[test]
fn a_name_with_a_blank_or_a_dot_is_refused() {
    let text = changed("b = {}", "\"b 2\" = {}").replace("\"b\"", "\"a\"");
    assert!(
        message(&text).starts_with(&format!(
            "x.toml:{}: nodes: \"b 2\" is not a name; expected letters, digits, - and _",
            line_of(&text, "b 2")
        )),
        "{}",
        message(&text)
    );
}

#[test]
fn a_fault_is_one_line_whatever_signs_a_name_has() {
    let text = changed("b = {}", "\"b\\n\\u2028\\u001b\" = { positon = 1 }").replace("\"b\"", "\"a\"");
    let message = message(&text);
    assert!(message.lines().all(|line| line.starts_with("x.toml:")), "{message}");
    assert!(!message.contains(['\u{2028}', '\u{1b}']) && message.contains("b\\n"), "{message}");
}

#[test]
fn parameters_of_a_variant_that_no_point_uses_are_refused() {
    refused(
        &extended("[flows.main.tcp.reno]\nfast-retransmit = \"every-hole\"\n"),
        "fast-retransmit",
        "flows.main.tcp.reno.fast-retransmit: no point uses it; expected flows.main.tcp.recovery = \"reno\"",
    );
    let swept = "[flows.main.tcp.reno]\nfast-retransmit = \"every-hole\"\n\
                 [sweep]\n\"flows.main.tcp.variant\" = [\"newreno\", \"reno\"]\n";
    assert!(read(&extended(swept)).is_ok());
}

#[test]
fn loss_on_a_wired_link_is_refused() {
    let text = changed(r#"kind  = "lossy""#, r#"kind  = "wired" "#);
    refused(
        &text,
        "loss  =",
        "links.b-c.loss.rate: no point uses it; expected links.b-c.kind = \"lossy\" or \"wifi\" or \"wimax\"",
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
fn a_name_that_is_none_is_told_once_wherever_it_is_used() {
    for (section, name) in [("nodes", "b"), ("links", "b-c"), ("flows", "main")] {
        let wrong = format!("\"{name} x\"");
        let text = BASE
            .replace(&format!("\n{name} = {{}}"), &format!("\n{wrong} = {{}}"))
            .replace(&format!("\"{name}\""), &wrong)
            .replace(&format!("[{section}.{name}]"), &format!("[{section}.{wrong}]"));
        let message = read(&text).unwrap_err().to_string();
        assert_eq!(message.lines().count(), 1, "{message}");
        let expected = format!("{section}: {wrong} is not a name; expected letters, digits, - and _");
        assert!(message.ends_with(&expected), "{message}");
    }
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

#[test]
fn tcp_and_udp_for_one_flow_and_bulk_over_udp_are_refused() {
    refused(
        &extended("[flows.main.udp]\n"),
        "[flows.main.udp]",
        "flows.main: both tcp and udp; expected one of them",
    );
    let text = changed("[flows.main.tcp]\nprofile = \"ns2-2004\"\nvariant = \"newreno\"\n", "udp = {}\n");
    refused(
        &text,
        "udp",
        "flows.main.udp: bulk over udp; expected tcp, or a source of kind file, cbr, poisson, on-off or ping",
    );
}

#[test]
fn a_table_where_a_value_belongs_and_a_value_where_a_table_belongs_are_told() {
    refused_change(
        r#"loss  = { rate = "1 %" }"#,
        r#"loss  = "1 %""#,
        "links.b-c.loss: \"1 %\"; expected a table with some of its keys (model, direction, rate, bit, gilbert-elliott, list, at, above-mac, … (10 in total))",
    );
    refused_change(
        r#"delay = "40 ms""#,
        r#"delay = { mean = "40 ms" }"#,
        "links.a-b.delay: a table; expected a time such as \"40 ms\"",
    );
    refused_change(
        "c = {}",
        "c = 1",
        "nodes.c: 1; expected a table with some of its keys (position, count, around, place, move)",
    );
}

#[test]
fn a_truncated_file_is_told_with_its_last_line() {
    let text = &BASE[..BASE.find("\"newreno\"").unwrap() + 5];
    let message = message(text);
    assert!(message.starts_with(&format!("x.toml:{}: ", text.lines().count())), "{message}");
    assert!(message.contains("; expected "), "{message}");
    assert!(!message.contains('\n'), "{message}");
}

#[test]
fn an_empty_file_is_told_to_be_empty() {
    assert_eq!(
        message("  \n\n"),
        "x.toml:1: the file is empty; expected a scenario with [run], [nodes], [links] and [flows]"
    );
}

#[test]
fn all_faults_are_told_at_once_in_the_order_of_the_file() {
    let text = changed("5 Mbit/s", "5").replace("40 ms", "40").replace("1 %", "1");
    assert_eq!(
        message(&text),
        "x.toml:14: links.a-b.rate: \"5\" has no unit; expected a rate such as \"5 Mbit/s\"\n\
         x.toml:15: links.a-b.delay: \"40\" has no unit; expected a time such as \"40 ms\"\n\
         x.toml:21: links.b-c.loss.rate: \"1\" has no unit; expected a percentage such as \"1 %\""
    );
}

#[test]
fn at_most_ten_faults_are_listed() {
    let wrong: Vec<String> = (0..25).map(|index| format!("[links.a-b.wrong{index}]")).collect();
    let message = message(&extended(&wrong.join("\n")));
    assert_eq!(message.lines().count(), 11);
    assert!(message.ends_with("x.toml: 15 more errors like these"), "{message}");
}

#[test]
fn an_override_that_is_wrong_is_told_by_itself() {
    let told = |key: &str, value: &str| {
        with(BASE, &[(key, value)]).map_or_else(|e| e.to_string(), |_| String::new())
    };
    assert_eq!(
        told("links.b-c.loss.rate", "12"),
        r#"set links.b-c.loss.rate=12: 12 has no unit; expected a percentage such as "12 %""#
    );
    assert_eq!(
        told("links.b-c.losss.rate", "1 %"),
        format!(
            "set links.b-c.losss.rate=1 %: links.b-c.losss: unknown key; did you mean \"loss\"? (known: {})",
            keys_of_a_link("losss")
        )
    );
    assert_eq!(
        told("flows.mian.tcp.variant", "reno"),
        "set flows.mian.tcp.variant=reno: flows.mian: unknown flow \"mian\"; did you mean \"main\"? (known: main)"
    );
    let no_table = told("flows.main.tcp", "reno");
    let start = "set flows.main.tcp=reno: \"reno\"; expected a table with some of its keys (profile, variant, recovery, ";
    assert!(no_table.starts_with(start) && no_table.ends_with(')'), "{no_table}");
    assert_eq!(
        told("run.warmup", "1 h"),
        "set run.warmup=1 h: 3600 s of 10 s; expected less than run.duration"
    );
}

/// A folder of its own for a test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("lasthop-scenario-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn message(&self, name: &str) -> String {
        Scenario::from_file(&self.0.join(name), Overrides::new(&[])).unwrap_err().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_missing_file_is_answered_with_the_nearest_name_in_its_folder() {
    let folder = Folder::new("missing");
    fs::write(folder.0.join("baseline.toml"), BASE).unwrap();
    let near = folder.0.join("baseline.toml");
    let message = folder.message("baselines.toml");
    assert!(message.ends_with(&format!("no such file; did you mean \"{}\"?", near.display())), "{message}");
    assert!(folder.message("other.toml").ends_with("no such file; expected a scenario file"));
}

#[test]
fn a_directory_and_bytes_that_are_no_text_are_refused() {
    let folder = Folder::new("bytes");
    fs::write(folder.0.join("latin.toml"), b"title = 'a'\nsummary = '\xe9'\n").unwrap();
    let message = folder.message("latin.toml");
    assert!(message.ends_with("latin.toml:2: invalid UTF-8; expected TOML text in UTF-8"), "{message}");
    let error = Scenario::from_file(&folder.0, Overrides::new(&[])).unwrap_err().to_string();
    assert!(error.ends_with("a directory; expected a scenario file"), "{error}");
    assert!(Scenario::from_file(Path::new(""), Overrides::new(&[])).is_err());
}
