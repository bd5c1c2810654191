//! Unknown, missing, unused and conflicting keys.

use super::super::{BASE, changed, extended, keys_of_a_link, read, with};
use super::{message, refused, refused_change};
use lasthop_stack::registry::VARIANTS;

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
                "expected one of tahoe, reno, newreno, sack, fack, vegas, veno, westwood, … ({all} in total), or the name of a \
                 law in Python that --law registers"
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
        "rum: unknown key; did you mean \"run\"? (known: run, paper, title, summary, format, nodes, links, flows, … (11 in total))",
    );
}

#[test]
fn an_unknown_table_is_told_once_however_many_keys_it_has() {
    refused(
        &extended("[flows.main.tpc]\nwindow = \"20 segments\"\npacket = \"1000 B\"\n"),
        "[flows.main.tpc]",
        "flows.main.tpc: unknown key; did you mean \"tcp\"? (known: tcp, from, to, count, seed, dscp, encrypted, app, … (11 in total))",
    );
}

#[test]
fn a_misspelt_section_is_told_alone_though_its_names_are_missed() {
    let text = extended("[sweep]\n\"links.b-c.loss.rate\" = [\"1 %\"]\n").replace("[links.", "[link.");
    refused(
        &text,
        "[link.a-b]",
        "link: unknown key; did you mean \"links\"? (known: links, paper, title, summary, format, run, nodes, flows, … (11 in total))",
    );
    refused(
        &BASE.replace("[nodes]", "[node]"),
        "[node]",
        "node: unknown key; did you mean \"nodes\"? (known: nodes, paper, title, summary, format, run, links, flows, … (11 in total))",
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
        "links.b-c.loss.rate: no point uses it; expected links.b-c.kind = \"lossy\" or \"wifi\" or \"wimax\" or \"trace\"",
    );
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
        "nodes.c: 1; expected a table with some of its keys (position, distance, count, around, place, move, stack, wifi, … (10 in total))",
    );
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
    let start = "set flows.main.tcp=reno: \"reno\"; expected a table with some of its keys (profile, variant, westwood, recovery, ";
    assert!(no_table.starts_with(start) && no_table.ends_with(')'), "{no_table}");
    assert_eq!(
        told("run.warmup", "1 h"),
        "set run.warmup=1 h: 3600 s of 10 s; expected less than run.duration"
    );
}
