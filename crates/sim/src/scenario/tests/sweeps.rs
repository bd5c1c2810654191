//! Sweeps: their points, and the errors for sweeps without any.

use super::{BASE, changed, extended, line_of, read, resolved, with};
use crate::scenario::Scenario;

const GRID: &str = r#"
[sweep]
"flows.main.tcp.variant" = ["tahoe", "sack"]
"links.b-c.loss.rate"    = "0 % .. 2 % step 1 %"
"#;

fn points(scenario: &Scenario) -> Vec<String> {
    let line =
        |point| scenario.point(point).into_iter().map(|(_, value)| value).collect::<Vec<_>>().join(" | ");
    (0..scenario.points()).map(line).collect()
}

fn refused(sweep: &str, piece: &str, expected: &str) {
    let text = extended(sweep);
    let message = read(&text).map_or_else(|error| error.to_string(), |_| "no error".to_string());
    assert_eq!(message, format!("x.toml:{}: {expected}", line_of(&text, piece)));
}

#[test]
fn a_scenario_without_a_sweep_has_one_point() {
    let scenario = read(BASE).unwrap();
    assert_eq!((scenario.points(), scenario.point(0), scenario.axes()), (1, vec![], vec![]));
}

#[test]
fn the_first_key_of_a_grid_is_the_slowest() {
    let scenario = read(&extended(GRID)).unwrap();
    assert_eq!(
        points(&scenario),
        ["tahoe | 0 %", "tahoe | 1 %", "tahoe | 2 %", "sack | 0 %", "sack | 1 %", "sack | 2 %"]
    );
    assert_eq!(scenario.axes()[1].keys, ["links.b-c.loss.rate"]);
    assert_eq!(scenario.axes()[1].rows, [["0 %"], ["1 %"], ["2 %"]]);
    assert_eq!(resolved(&scenario, 4, "links.b-c.loss.rate"), Some(("1 %".into(), "sweep".into())));
    assert_eq!(resolved(&scenario, 4, "flows.main.tcp.sack").unwrap().0, "true");
    assert_eq!(resolved(&scenario, 0, "flows.main.tcp.sack").unwrap().0, "false");
}

#[test]
fn bare_dotted_keys_sweep_as_quoted_ones_do() {
    let bare = read(&extended("[sweep]\nflows.main.tcp.variant = [\"tahoe\", \"sack\"]\n")).unwrap();
    assert_eq!(points(&bare), ["tahoe", "sack"]);
}

#[test]
fn zipped_keys_advance_together_and_multiply_with_the_grid() {
    let scenario = read(&extended(
        "[sweep]\n\"flows.main.tcp.variant\" = [\"reno\", \"sack\"]\n\
         [sweep.zip]\n\"links.a-b.rate\" = [\"1 Mbit/s\", \"2 Mbit/s\"]\n\"links.a-b.queue\" = \"10 packets .. 20 packets step 10 packets\"\n",
    ))
    .unwrap();
    assert_eq!(
        points(&scenario),
        [
            "reno | 1 Mbit/s | 10 packets",
            "reno | 2 Mbit/s | 20 packets",
            "sack | 1 Mbit/s | 10 packets",
            "sack | 2 Mbit/s | 20 packets"
        ]
    );
}

#[test]
fn listed_points_are_one_axis() {
    let scenario = read(&extended(
        "[[sweep.list]]\n\"links.a-b.rate\" = \"1 Mbit/s\"\nlinks.a-b.delay = \"1 ms\"\n\
         [[sweep.list]]\n\"links.a-b.delay\" = \"2 ms\"\n\"links.a-b.rate\" = \"9 Mbit/s\"\n",
    ))
    .unwrap();
    assert_eq!(points(&scenario), ["1 Mbit/s | 1 ms", "9 Mbit/s | 2 ms"]);
    assert_eq!(scenario.axes().len(), 1);
}

#[test]
fn lists_of_packets_to_drop_can_be_swept() {
    let text = changed(r#"{ rate = "1 %" }"#, r#"{ model = "list" }"#);
    let scenario = read(&format!("{text}[sweep]\n\"links.b-c.loss.list.drop\" = [[1], [1, 5]]\n")).unwrap();
    assert_eq!(points(&scenario), ["[1]", "[1, 5]"]);
}

#[test]
fn an_override_of_a_swept_key_removes_its_axis() {
    let scenario = with(&extended(GRID), &[("flows.main.tcp.variant", "reno")]).unwrap();
    assert_eq!(points(&scenario), ["0 %", "1 %", "2 %"]);
    assert_eq!(resolved(&scenario, 0, "flows.main.tcp.variant"), Some(("reno".into(), "set".into())));
    let scenario = scenario.with_overrides(&[("links.b-c.loss.rate".into(), "1 %".into())]).unwrap();
    assert_eq!(scenario.points(), 1);
    assert_eq!(scenario.point(0), []);
}

#[test]
fn every_point_can_be_set_by_hand_from_its_own_values() {
    let text = changed(r#"{ rate = "1 %" }"#, r#"{ model = "list" }"#);
    let text = format!(
        "{text}[sweep]\n\"links.b-c.loss.list.drop\" = [[1], [1, 5]]\n\"links.a-b.queue\" = [\"unlimited\", \"9 kB\"]\n\
         \"links.a-b.nodes\" = [[\"a\", \"b\"], [\"b\", \"a\"]]\n\"flows.main.tcp.timestamps\" = [true, false]\n\
         \"flows.main.tcp.window-scale\" = [\"auto\", 3]\n"
    );
    let swept = read(&text).unwrap();
    assert_eq!(swept.points(), 32);
    for point in 0..swept.points() {
        let set = swept.with_overrides(&swept.point(point)).unwrap();
        assert_eq!((set.points(), set.point_key(0)), (1, swept.point_key(point)));
    }
}

#[test]
fn an_override_of_one_zipped_key_leaves_the_others() {
    let text = extended(
        "[sweep.zip]\n\"links.a-b.rate\" = [\"1 Mbit/s\", \"1 Mbit/s\", \"2 Mbit/s\"]\n\
         \"links.a-b.delay\" = [\"1 ms\", \"2 ms\", \"3 ms\"]\n",
    );
    assert_eq!(read(&text).unwrap().points(), 3);
    let fixed = with(&text, &[("links.a-b.delay", "9 ms")]).unwrap();
    assert_eq!(points(&fixed), ["1 Mbit/s", "2 Mbit/s"]);
}

#[test]
fn fixing_a_variant_by_override_does_not_make_the_parameters_of_another_an_error() {
    let text = extended(
        "[flows.main.tcp.reno]\nfast-retransmit = \"every-hole\"\n\
         [sweep]\n\"flows.main.tcp.variant\" = [\"newreno\", \"reno\"]\n",
    );
    assert!(with(&text, &[("flows.main.tcp.variant", "newreno")]).is_ok());
    let error = with(BASE, &[("flows.main.tcp.reno.fast-retransmit", "every-hole")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "set flows.main.tcp.reno.fast-retransmit=every-hole: no point uses it; \
         expected flows.main.tcp.recovery = \"reno\""
    );
}

#[test]
fn a_sweep_of_an_unknown_key_is_refused() {
    refused(
        "[sweep]\n\"links.b-c.lossrate\" = [\"1 %\"]\n",
        "\"links.b-c.lossrate\"",
        "sweep.links.b-c.lossrate: unknown key; did you mean \"links.b-c.loss.rate\"?",
    );
    refused(
        "[sweep]\n\"links.bc.loss.rate\" = [\"1 %\"]\n",
        "\"links.bc",
        "sweep.links.bc: unknown link \"bc\"; did you mean \"b-c\"? (known: b-c, a-b)",
    );
    refused(
        "[sweep]\n\"run.seed\" = [1, 2]\n",
        "\"run.seed\"",
        "sweep.run.seed: does not affect results; expected a key that does",
    );
}

#[test]
fn an_empty_sweep_a_single_value_and_a_value_twice_are_refused() {
    refused(
        "[sweep]\n\"links.a-b.rate\" = []\n",
        "\"links.a-b.rate\"",
        "sweep.links.a-b.rate: an empty list; expected at least one value",
    );
    refused(
        "[sweep]\n\"links.a-b.rate\" = \"1 Mbit/s\"\n",
        "\"links.a-b.rate\"",
        "sweep.links.a-b.rate: \"1 Mbit/s\"; expected a list of values or a range such as \"1 Mbit/s .. 5 Mbit/s step 1 Mbit/s\"",
    );
    refused(
        "[sweep]\n\"links.a-b.rate\" = [\"1 Mbit/s\",\n\"1000 kbit/s\"]\n",
        "\"1000 kbit/s\"",
        "sweep.links.a-b.rate: \"1 Mbit/s\" twice; expected different values",
    );
    refused(
        "[sweep]\n\"links.a-b.rate\" = [\"1 Mbit/s\",\n\"2 MB\"]\n",
        "\"2 MB\"",
        "sweep.links.a-b.rate: \"2 MB\" is a size; expected a rate such as \"2 Mbit/s\"",
    );
}

#[test]
fn zipped_lists_of_unequal_length_and_keys_swept_twice_are_refused() {
    refused(
        "[sweep.zip]\n\"links.a-b.rate\" = [\"1 Mbit/s\", \"2 Mbit/s\"]\n\"links.a-b.delay\" = [\"1 ms\"]\n",
        "\"links.a-b.delay\"",
        "sweep.zip.links.a-b.delay: 1 values; expected 2 as in links.a-b.rate",
    );
    let text = extended(
        "[sweep]\n\"links.a-b.rate\" = [\"1 Mbit/s\"]\n[sweep.zip]\n\"links.a-b.rate\" = [\"2 Mbit/s\"]\n",
    );
    let message = read(&text).unwrap_err().to_string();
    assert_eq!(
        message,
        format!("x.toml:{}: sweep.links.a-b.rate: swept twice; expected once", line_of(&text, "[sweep.zip]"))
    );
}

#[test]
fn listed_points_with_different_keys_are_refused() {
    refused(
        "[[sweep.list]]\n\"links.a-b.rate\" = \"1 Mbit/s\"\n[[sweep.list]]\n\"links.a-b.delay\" = \"1 ms\"\n",
        "\"links.a-b.delay\"",
        "sweep.list.links.a-b.delay: a key that the first point does not have; expected the same keys in each",
    );
}

#[test]
fn more_than_a_million_points_are_refused() {
    refused(
        "[sweep]\n\"links.a-b.delay\" = \"1 us .. 1001 us step 1 us\"\n\"links.b-c.delay\" = \"1 us .. 1000 us step 1 us\"\n",
        "\"links.b-c.delay\"",
        "sweep: 1001000 points or more; expected at most 1000000",
    );
}

#[test]
fn a_fault_at_one_point_only_is_told_where_that_point_is_made() {
    refused(
        "[sweep]\n\"flows.main.tcp.min-rto\" = [\"1 s\",\n\"61 s\"]\n",
        "\"61 s\"",
        "flows.main.tcp.min-rto: 61 s is above tcp.max-rto, 60 s; expected less",
    );
}

#[test]
fn a_figure_of_what_is_not_swept_or_not_measured_is_refused() {
    let figure = |lines: &str| format!("{GRID}[[figure]]\nid = \"one\"\n{lines}");
    let (x, y) = ("x = \"links.b-c.loss.rate\"\n", "y = \"flows.main.goodput_bps\"\n");
    assert!(read(&extended(&figure(&format!("{x}{y}lines = \"flows.main.tcp.variant\"\n")))).is_ok());
    refused(
        &figure(&format!("x = \"links.b-c.loss.rat\"\n{y}")),
        "x = ",
        "figure.x: unknown swept key \"links.b-c.loss.rat\"; did you mean \"links.b-c.loss.rate\"? \
         (known: links.b-c.loss.rate, flows.main.tcp.variant)",
    );
    let text = extended(&figure(&format!("{x}y = \"flows.main.godput_bps\"\n")));
    let message = read(&text).unwrap_err().to_string();
    let expected = "figure.y: unknown metric \"flows.main.godput_bps\"; did you mean \"flows.main.goodput_bps\"? (known: ";
    assert!(message.contains(expected), "{message}");
    let listed = message.rsplit("(known: ").next().map(|list| list.split(", ").count());
    assert_eq!(listed, Some(9), "eight names and how many there are: {message}");
    assert!(message.ends_with(" in total))"), "{message}");
    refused(&figure(x), "[[figure]]", "figure.y: missing; expected a metric in quotes or a list of metrics");
    refused(
        &figure(&format!("{x}{y}where = {{ \"flows.main.tcp.variant\" = \"reno\" }}\n")),
        "where",
        "figure.where.flows.main.tcp.variant: \"reno\" is not swept; expected one of tahoe, sack",
    );
    refused(
        &figure(&format!("{x}{y}y-scale = \"lgo\"\n")),
        "y-scale",
        "figure.y-scale: unknown scale \"lgo\"; did you mean \"log\"? (known: log, linear)",
    );
    refused(
        &figure(&format!("{x}{y}colour = \"red\"\n")),
        "colour",
        "figure.colour: unknown key; expected one of id, kind, x, y, against, rows, columns, among, … (23 in total)",
    );
}

#[test]
fn two_figures_of_one_id_are_refused() {
    let one = "x = \"links.b-c.loss.rate\"\ny = \"flows.main.goodput_bps\"\n";
    let text =
        extended(&format!("{GRID}[[figure]]\nid = \"one\"\n{one}[[figure]] # again\nid = \"one\"\n{one}"));
    let line = line_of(&text, "[[figure]] # again");
    let message = read(&text).unwrap_err().to_string();
    assert_eq!(
        message,
        format!("x.toml:{line}: figure.id: \"one\" twice; expected a different id for each figure")
    );
}

#[test]
fn a_figure_that_leaves_an_axis_open_is_remarked() {
    let one = "x = \"links.b-c.loss.rate\"\ny = \"flows.main.goodput_bps\"\n";
    let text = extended(&format!("{GRID}[[figure]]\nid = \"one\"\n{one}"));
    let warnings = read(&text).unwrap().warnings().to_vec();
    let line = line_of(&text, "[[figure]]");
    assert_eq!(
        warnings,
        [format!(
            "x.toml:{line}: figure: does not fix flows.main.tcp.variant; expected it in x, lines or where"
        )]
    );
}

#[test]
fn the_conditions_of_a_figure_come_back_in_canonical_text() {
    let text = extended(&format!(
        "{GRID}[[figure]]\nid = \"one\"\nx = \"flows.main.tcp.variant\"\ny = \"flows.main.goodput_bps\"\n\
         where = {{ \"links.b-c.loss.rate\" = \"1.0%\" }}\n"
    ));
    let figures = read(&text).unwrap().figures().to_vec();
    assert_eq!(figures[0]["where"]["links.b-c.loss.rate"], "1 %");
    assert_eq!(figures[0].get("lines"), None);
    // A figure of the file stays as it is when an override fixes what it draws.
    let fixed = with(&text, &[("flows.main.tcp.variant", "reno"), ("links.b-c.loss.rate", "9 %")]).unwrap();
    assert_eq!(fixed.figures(), figures);
}
