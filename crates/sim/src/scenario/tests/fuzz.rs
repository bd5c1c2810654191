//! No text, however malformed, makes the reader panic, and a text that it accepts can be built at every point.
//! `tests/python/search/mutations.py` mutates, reads and runs shipped files.

use super::wifi::{CELL, FIG05};
use super::{BASE, extended, groups};
use crate::scenario::{Scenario, explain};
use proptest::prelude::*;

const SWEPT: &str = r#"
[sweep]
"flows.main.tcp.variant" = ["tahoe", "reno", "sack"]
"links.b-c.loss.rate" = "0 % .. 4 % step 2 %"
[sweep.zip]
"links.a-b.rate" = ["1 Mbit/s", "2 Mbit/s"]
"links.a-b.queue" = "10 packets .. 20 packets step 10 packets"
[[sweep.list]]
"links.a-b.delay" = "1 ms"

[[figure]]
id = "one"
x = "links.b-c.loss.rate"
y = "flows.main.goodput_bps"
lines = "flows.main.tcp.variant"
where = { "links.a-b.rate" = "1 Mbit/s" }
"#;

/// Pieces that have a meaning somewhere, inserted where they may have none.
const PIECES: &[&str] = &[
    "\"",
    "[",
    "]",
    "{",
    "}",
    "=",
    ".",
    "..",
    "\n",
    "#",
    ",",
    "0",
    "-",
    "1e400",
    "%",
    " step ",
    " log ",
    "[[",
    "]]",
    "nan",
    "inf",
    "true",
    "1979-05-27",
    "\u{e9}",
    "\u{0}",
    "[sweep.zip]",
    "[sweep]",
    "zip",
    "list",
    "unlimited",
    "none",
    "9999999999999999999999",
    "\"1 ns\"",
    "[links.a-b]",
    "wifi",
    "lossy",
    "lle-tcp",
    "flat",
    "[\"n0\"]",
    "access-point = \"n0\"\n",
    "\"3 Mbit/s\"",
    "nodes",
    "count = 7, ",
    "sta3",
    "around = \"host\"",
    "'''",
    "\"\"\"",
];

/// Legal scenarios that are then broken.
fn texts() -> [String; 5] {
    [&extended(SWEPT), CELL, FIG05, groups::CELL, groups::WIRED].map(str::to_string)
}

fn use_all(text: &str, overrides: &[(String, String)]) {
    let Ok(scenario) = Scenario::from_text(text, "x.toml", overrides) else { return };
    for point in 0..scenario.points().min(20) {
        let _ = (
            scenario.config(point),
            scenario.resolved(point),
            scenario.point_key(point),
            scenario.point(point),
        );
    }
    let _ = (scenario.axes(), scenario.seed(), scenario.replications(), scenario.title());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_mutated_scenario_is_read_or_refused(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..12_usize, any::<prop::sample::Index>()), 1..6),
        which in 0..5_usize,
    ) {
        let mut text: Vec<char> = texts()[which].chars().collect();
        for (at, removed, piece) in edits {
            let start = at.index(text.len());
            let end = (start + removed).min(text.len());
            text.splice(start..end, PIECES[piece.index(PIECES.len())].chars());
            if text.is_empty() {
                text.push(' ');
            }
        }
        let text: String = text.into_iter().collect();
        use_all(&text, &[]);
        use_all(&text, &[("flows.main.tcp.variant".to_string(), "reno".to_string())]);
    }

    #[test]
    fn an_override_is_read_or_refused(key in "[a-z.\\-]{0,30}", value in "\\PC{0,20}", known in 0..6_usize) {
        let keys = ["flows.main.tcp.window", "links.b-c.loss", "run.duration", "links.a-b.nodes", "title", &key];
        use_all(BASE, &[(keys[known].to_string(), value)]);
        let _ = explain(&key);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        use_all(&text, &[]);
    }
}

#[test]
fn a_truncated_scenario_is_read_or_refused_at_every_length() {
    for text in texts() {
        for (end, _) in text.char_indices() {
            use_all(&text[..end], &[]);
        }
    }
}
