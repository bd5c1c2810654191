//! Axes that overrides add to a sweep, or that replace others.

use super::{extended, read, resolved, with};
use crate::scenario::{Axis, Overrides, Scenario, ScenarioError};

const RATE: &str = "links.a-b.rate";
const LOSS: &str = "links.b-c.loss.rate";
const VARIANT: &str = "flows.main.tcp.variant";

fn grid() -> String {
    extended(&format!("[sweep]\n\"{LOSS}\" = [\"0 %\", \"1 %\"]\n\"{VARIANT}\" = [\"tahoe\", \"sack\"]\n"))
}

fn axis(keys: &[&str], rows: &[&[&str]]) -> Axis {
    let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
    Axis { keys: owned(keys), rows: rows.iter().map(|row| owned(row)).collect() }
}

fn axes(text: &str, overrides: &[(&str, &str)]) -> Vec<Axis> {
    with(text, overrides).unwrap().axes()
}

fn refused(overrides: &[(&str, &str)]) -> String {
    with(&grid(), overrides).unwrap_err().to_string()
}

fn of_command(overrides: &[(&str, &str)]) -> Result<Scenario, ScenarioError> {
    let pairs: Vec<_> =
        overrides.iter().map(|(key, value)| ((*key).to_string(), (*value).to_string())).collect();
    Scenario::under(&grid(), "x.toml", Overrides { pairs: &pairs, argument: "--set" })
}

#[test]
fn an_axis_of_an_override_takes_the_place_of_the_same_key_and_leaves_the_others() {
    let loss = axis(&[LOSS], &[&["0 %"], &["1 %"]]);
    let variant = axis(&[VARIANT], &[&["reno"], &["vegas"]]);
    let given = ("sweep.flows.main.tcp.variant", "[\"reno\", \"vegas\"]");
    assert_eq!(axes(&grid(), &[given]), [loss.clone(), variant.clone()]);
    let range = ("sweep.links.a-b.rate", "1 Mbit/s .. 2 Mbit/s step 1 Mbit/s");
    let rate = axis(&[RATE], &[&["1 Mbit/s"], &["2 Mbit/s"]]);
    assert_eq!(axes(&grid(), &[given, range]), [loss, variant, rate.clone()]);
    assert_eq!(axes(super::BASE, &[range]), [rate]);
}

#[test]
fn values_in_a_list_need_no_quotes() {
    let variant = axis(&[VARIANT], &[&["reno"], &["vegas"]]);
    let rate = axis(&[RATE], &[&["1 Mbit/s"], &["2 Mbit/s"]]);
    let given =
        [("sweep.flows.main.tcp.variant", "[reno, vegas]"), ("sweep.links.a-b.rate", "[1 Mbit/s,2 Mbit/s]")];
    assert_eq!(axes(super::BASE, &given), [variant, rate]);
}

#[test]
fn keys_of_an_override_advance_together_and_several_zips_may_stand() {
    let one = axis(&[RATE, "links.a-b.delay"], &[&["1 Mbit/s", "1 ms"], &["2 Mbit/s", "2 ms"]]);
    let two = axis(&[LOSS, VARIANT], &[&["0 %", "reno"], &["1 %", "vegas"]]);
    let zips = [
        (
            "sweep.zip",
            "{ links.a-b.rate = [\"1 Mbit/s\", \"2 Mbit/s\"], \"links.a-b.delay\" = \"1 ms .. 2 ms step 1 ms\" }",
        ),
        (
            "sweep.zip",
            "{ links.b-c.loss.rate = [\"0 %\", \"1 %\"], flows.main.tcp.variant = [\"reno\", \"vegas\"] }",
        ),
    ];
    assert_eq!(axes(&grid(), &zips), [one.clone(), two.clone()]);
    let list = ("sweep.list", "[{ flows.main.tcp.variant = \"reno\", links.b-c.loss.rate = \"0 %\" }]");
    let listed = axis(&[VARIANT, LOSS], &[&["reno", "0 %"]]);
    assert_eq!(axes(&grid(), &[zips[0], list]), [one.clone(), listed]);
    let whole = format!("{{ zip = {} }}", zips[1].1);
    assert_eq!(axes(&grid(), &[zips[0], ("sweep", &whole)]), [one, two]);
}

#[test]
fn the_later_of_a_value_and_an_axis_wins() {
    let swept = ("sweep.flows.main.tcp.variant", "[\"reno\", \"vegas\"]");
    let fixed = [("flows.main.tcp.variant", "sack"), ("flows.main.tcp", "{ variant = \"sack\" }")];
    for fixed in fixed {
        let loss = axis(&[LOSS], &[&["0 %"], &["1 %"]]);
        let scenario = with(&grid(), &[swept, fixed]).unwrap();
        assert_eq!(scenario.axes(), std::slice::from_ref(&loss));
        assert_eq!(resolved(&scenario, 0, VARIANT), Some(("sack".to_string(), "set".to_string())));
        let scenario = with(&grid(), &[fixed, swept]).unwrap();
        assert_eq!(scenario.axes(), [loss, axis(&[VARIANT], &[&["reno"], &["vegas"]])]);
        assert_eq!(resolved(&scenario, 1, VARIANT), Some(("vegas".to_string(), "sweep".to_string())));
    }
    let again = [swept, ("sweep.flows.main.tcp.variant", "[\"bbr\"]")];
    assert_eq!(axes(&grid(), &again)[1], axis(&[VARIANT], &[&["bbr"]]));
}

#[test]
fn an_axis_over_one_of_the_keys_that_advance_together_leaves_the_others() {
    let text = extended(&format!(
        "[sweep.zip]\n\"{RATE}\" = [\"1 Mbit/s\", \"1 Mbit/s\", \"2 Mbit/s\"]\n\
         \"{VARIANT}\" = [\"tahoe\", \"sack\", \"sack\"]\n"
    ));
    let found = axes(&text, &[("sweep.flows.main.tcp.variant", "[\"reno\"]")]);
    assert_eq!(found, [axis(&[RATE], &[&["1 Mbit/s"], &["2 Mbit/s"]]), axis(&[VARIANT], &[&["reno"]])]);
}

#[test]
fn faults_of_an_axis_name_the_argument_and_the_key() {
    let cases = [
        (
            "sweep.links.b-c.loss.rate",
            "[\"5 MB\"]",
            "vary: links.b-c.loss.rate: \"5 MB\" is a size; expected ",
        ),
        ("sweep.links.b-c.los.rate", "[\"1 %\"]", "vary: links.b-c.los: unknown key; did you mean \"loss\"?"),
        ("sweep.title", "[\"x\"]", "vary: title: cannot be swept"),
        ("sweep.links.b-c.loss.rate", "[\"1 %\", \"1 %\"]", "vary: links.b-c.loss.rate: \"1 %\" twice"),
        ("sweep.zip", "[1]", "vary: zip: a list; expected a table of keys with lists, such as {"),
        ("sweep.zip.links.b-c.loss.rate", "[1]", "vary: zip: a list; expected a table of keys with lists"),
        ("sweep.zip", "{}", "vary: zip: no keys; expected keys that advance together"),
        ("sweep.list", "3", "vary: list: 3; expected a list of points, such as [{"),
        ("sweep", "3", "set sweep=3: 3; expected a table of keys with lists of values"),
        (
            "sweep.links.b-c.delay",
            "1 us .. 1000000 us step 1 us",
            "vary: links.b-c.delay: 4000000 points or more; ",
        ),
        (
            "sweep.flows.main.tcp.vegas.alpha",
            "[1, 2]",
            "vary: flows.main.tcp.vegas.alpha: no point uses it; ",
        ),
    ];
    for (key, value, expected) in cases {
        let message = refused(&[(key, value)]);
        assert!(message.starts_with(expected), "{message}");
    }
    let message = of_command(&[("sweep.links.b-c.loss.rate", "[\"5 MB\"]")]).unwrap_err().to_string();
    assert!(
        message.starts_with("--set sweep.links.b-c.loss.rate=[\"5 MB\"]: \"5 MB\" is a size; "),
        "{message}"
    );
    let of_file = read(&extended("[sweep]\nzip = 5\n")).unwrap_err().to_string();
    assert!(of_file.contains(": sweep.zip: 5; expected a table of keys with lists"), "{of_file}");
}

#[test]
fn what_an_axis_leaves_without_a_meaning_is_refused_unless_the_file_gives_it() {
    let text = extended(&format!(
        "[flows.main.tcp.vegas]\nalpha = 2\n[sweep]\n\"{VARIANT}\" = [\"reno\", \"vegas\"]\n"
    ));
    let reno = ("sweep.flows.main.tcp.variant", "[reno]");
    assert_eq!(axes(&text, &[reno]), [axis(&[VARIANT], &[&["reno"]])]);
    let message = with(&text, &[("flows.main.tcp.vegas.alpha", "3"), reno]).unwrap_err().to_string();
    assert!(message.starts_with("set flows.main.tcp.vegas.alpha=3: no point uses it; "), "{message}");
}

#[test]
fn a_figure_of_the_file_stays_as_it_is_under_another_sweep() {
    let text = format!(
        "{}[[figure]]\nid = \"one\"\nx = \"{LOSS}\"\ny = \"flows.main.goodput_bps\"\nlines = \"{VARIANT}\"\n\
         names = {{ tahoe = \"old\" }}\n",
        grid()
    );
    let figures = read(&text).unwrap().figures().to_vec();
    let other =
        with(&text, &[("sweep.flows.main.tcp.variant", "[reno]"), ("sweep.links.a-b.delay", "[1 ms]")]);
    assert_eq!(other.unwrap().figures(), figures);
}
