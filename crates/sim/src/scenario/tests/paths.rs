//! Drawn round trips in scenarios.

use super::groups::WIRED;
use super::{line_of, read};
use crate::medium::path::RttLaw;
use crate::run;
use lasthop_stack::units::Span;

/// [`WIRED`] with a law for the links of its hosts.
fn with(law: &str) -> String {
    WIRED.replace("[links.up]", &format!("rtt   = {law}\n\n[links.up]"))
}

const UNIFORM: &str = "{ law = \"uniform\", uniform = { min = \"5 ms\", max = \"100 ms\" } }";

/// What is drawn for each link in a replication.
fn drawn(text: &str, replication: u64) -> Vec<(String, f64)> {
    let config = read(text).unwrap().config(0);
    let request = run::Request { max_events: Some(0), ..run::Request::new(&config, 1, replication) };
    let metrics = run::run(&request).unwrap().metrics;
    let drawn = metrics.into_iter().filter(|(name, _)| name.ends_with("rtt_drawn_s"));
    drawn.map(|(name, value)| (name, value.unwrap())).collect()
}

#[test]
fn each_law_is_read_with_its_parameters() {
    let law = |text: &str| {
        let config = read(&with(text)).unwrap().config(0);
        let laws: Vec<_> = config.point_to_point().map(|(_, ends)| ends.rtt).collect();
        assert!(laws[..6].iter().all(|law| *law == laws[0]) && laws[6..] == [None; 3], "{laws:?}");
        laws[0].unwrap()
    };
    let ms = Span::from_millis;
    assert_eq!(law(UNIFORM), RttLaw::Uniform { least: ms(5), most: ms(100) });
    let normal = "{ law = \"normal\", normal = { mean = \"50 ms\", deviation = \"20 ms\", min = \"5 ms\" } }";
    assert_eq!(law(normal), RttLaw::Normal { mean: ms(50), deviation: ms(20), least: ms(5) });
    let exponential = "{ law = \"exponential\", exponential = { mean = \"50 ms\" } }";
    assert_eq!(law(exponential), RttLaw::Exponential { mean: ms(50), least: ms(0) });
}

#[test]
fn each_link_of_a_group_draws_its_own_round_trip_in_each_replication_and_no_other_moves_it() {
    let text = with(UNIFORM);
    let first = drawn(&text, 0);
    assert_eq!(first.len(), 6);
    assert_eq!(first[5].0, "links.access6.rtt_drawn_s");
    assert!(first.iter().all(|(_, rtt)| (0.005..=0.1).contains(rtt)), "{first:?}");
    let differ = |one: &[(String, f64)], other: &[(String, f64)]| {
        one.iter().zip(other).filter(|(one, other)| one.1.to_bits() != other.1.to_bits()).count()
    };
    assert_eq!(differ(&first, &drawn(&text, 1)), 6);
    assert!((1..6).all(|link| first[link].1.to_bits() != first[0].1.to_bits()), "{first:?}");
    let larger = text.replace("count = 6", "count = 9");
    assert_eq!(differ(&first, &drawn(&larger, 0)), 0);
    assert_eq!(drawn(WIRED, 0), []);
}

#[test]
fn bounds_the_wrong_way_round_and_a_law_without_its_parameters_are_told() {
    let refused = |law: &str, expected: &str| {
        let text = with(law);
        let told = read(&text).map_or_else(|error| error.to_string(), |_| "no error".to_string());
        assert_eq!(told, format!("x.toml:{}: links.access.rtt.{expected}", line_of(&text, "rtt ")));
    };
    refused(
        "{ law = \"uniform\", uniform = { min = \"200 ms\", max = \"100 ms\" } }",
        "uniform.min: 0.2 s is above rtt.uniform.max, 0.1 s; expected less",
    );
    refused(
        "{ law = \"normal\", normal = { mean = \"50 ms\", deviation = \"20 ms\", min = \"51 ms\" } }",
        "normal.min: 0.051 s is above rtt.normal.mean, 0.05 s; expected no more",
    );
    refused(
        "{ law = \"exponential\", exponential = { mean = \"50\" } }",
        "exponential.mean: \"50\" has no unit; expected a time such as \"50 ms\"",
    );
    let text = with("{ law = \"exponential\" }");
    let told = read(&text).unwrap_err().to_string();
    assert!(told.contains("links.access.rtt.exponential.mean: missing; expected a time"), "{told}");
    let text = with("{ law = \"pareto\" }");
    let told = read(&text).unwrap_err().to_string();
    assert!(
        told.contains("rtt.law: unknown law \"pareto\"") && told.contains("uniform, normal, exponential"),
        "{told}"
    );
}
