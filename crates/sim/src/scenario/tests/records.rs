//! Links with delivery opportunities from a file: where the file is looked for, what it must contain, and what follows
//! from it.

use super::{BASE, changed, line_of, resolved, shipped_trace};
use crate::model::{LinkKind, PointToPoint};
use crate::scenario::{Overrides, Scenario, ScenarioError};
use lasthop_stack::link::recorded::{Opportunities, Recorded};
use lasthop_stack::units::{Rate, Span};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// A folder with a scenario and these files, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Folder {
        let path = std::env::temp_dir().join(format!("lasthop-records-{}-{name}", std::process::id()));
        fs::create_dir_all(path.join("below")).unwrap();
        for (file, text) in files {
            fs::write(path.join(file), text).unwrap();
        }
        Folder(path)
    }

    fn read(&self, text: &str, overrides: &[(&str, &str)]) -> Result<Scenario, ScenarioError> {
        let file = self.0.join("x.toml");
        fs::write(&file, text).unwrap();
        let pairs: Vec<_> =
            overrides.iter().map(|(key, value)| ((*key).to_string(), (*value).to_string())).collect();
        Scenario::from_file(&file, Overrides::new(&pairs))
    }

    /// The message for a text, with the folder left out.
    fn message(&self, text: &str, overrides: &[(&str, &str)]) -> String {
        let message = self.read(text, overrides).unwrap_err().to_string();
        message.replace(&format!("{}/", self.0.display()), "")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// [`BASE`] with a recorded link instead of the lossy one.
fn with_trace(keys: &str) -> String {
    let text = changed("kind  = \"lossy\"", &format!("kind  = \"trace\"\n{keys}"));
    text.replace("rate  = \"10 Mbit/s\"\n", "").replace("loss  = { rate = \"1 %\" }\n", "")
}

fn ends(scenario: &Scenario, point: usize) -> PointToPoint {
    match &scenario.config(point).links[1].kind {
        LinkKind::PointToPoint(ends) => ends.clone(),
        LinkKind::Wifi(_) | LinkKind::Frn(_) => panic!("a link between two nodes"),
    }
}

fn opportunities(recorded: &Recorded) -> &Opportunities {
    match recorded {
        Recorded::Opportunities(found) => found,
        Recorded::Rates(_) | Recorded::Loads(_) => panic!("opportunities"),
    }
}

#[test]
fn each_direction_has_its_file_and_the_mean_rate_of_its_opportunities() {
    let folder = Folder::new("both", &[("down", "5\n10\n"), ("below/up", "10\n")]);
    let text = with_trace("trace = { file = \"down\" }\nreverse.trace.file = \"below/up\"");
    let scenario = folder.read(&text, &[]).unwrap();
    let found = ends(&scenario, 0);
    let recorded = [0, 1].map(|way| opportunities(found.sends.recorded(way).expect("a recorded link")));
    assert_eq!(recorded.map(|way| way.schedule.times_ms().to_vec()), [vec![5, 10], vec![10]]);
    assert_eq!(recorded.map(|way| (way.opportunity, way.header, way.is_once)), [(1504, 4, false); 2]);
    assert_eq!(found.directions.each_ref().map(|way| way.rate), [Rate(2_406_400), Rate(1_203_200)]);
    assert_eq!(scenario.files(), ["below/up", "down"]);
}

#[test]
fn a_direction_without_a_file_has_that_of_the_other_and_all_points_share_what_was_read() {
    let folder = Folder::new("shared", &[("down", "5\n10\n")]);
    let text = format!(
        "{}[sweep]\n\"links.b-c.delay\" = [\"1 ms\", \"2 ms\"]\n",
        with_trace("trace.file = \"down\"")
    );
    let scenario = folder.read(&text, &[]).unwrap();
    let [one, other] = [0, 1].map(|point| ends(&scenario, point));
    let schedule = |(ends, way): (&PointToPoint, usize)| {
        opportunities(ends.sends.recorded(way).expect("a recorded link")).schedule.clone()
    };
    let [first, back, later] = [(&one, 0), (&one, 1), (&other, 0)].map(schedule);
    assert!(Arc::ptr_eq(&first, &back) && Arc::ptr_eq(&first, &later));
    let found = resolved(&scenario, 0, "links.b-c.reverse.trace.file");
    assert_eq!(found, Some(("down".to_string(), "links.b-c.trace.file".to_string())));
}

#[test]
fn the_key_of_a_point_is_that_of_the_content_of_the_file() {
    let folder = Folder::new("key", &[("one", "5\n10\n"), ("same", "5\n10"), ("other", "5\n11\n")]);
    let key =
        |file: &str| folder.read(&with_trace(&format!("trace.file = \"{file}\"")), &[]).unwrap().point_key(0);
    assert_eq!(key("one"), key("same"));
    assert_ne!(key("one"), key("other"));
}

#[test]
fn a_file_that_cannot_be_used_is_reported_once_with_the_key_that_names_it() {
    let folder = Folder::new("faults", &[("down", "5\n10\n"), ("bad", "5\nx\n"), ("empty", "")]);
    let text = with_trace("trace.file = \"down\"");
    let with = |file: &str| text.replace("\"down\"", &format!("\"{file}\""));
    let line = line_of(&text, "trace.file");
    let place = format!("x.toml:{line}: links.b-c.trace.file");
    let expected = "expected a file of delivery opportunities, of rates, of delays or of trains";
    for (file, fault) in [
        ("none", format!("none: no such file; {expected}")),
        ("bad", "bad:2: \"x\"; expected whole milliseconds from 0 to 1000000000".to_string()),
        ("empty", "empty:1: no line; expected a time in milliseconds on each line".to_string()),
        (
            "../down",
            "\"../down\"; expected a file in the folder of the scenario or below it, or an absolute path"
                .to_string(),
        ),
    ] {
        assert_eq!(folder.message(&with(file), &[]), format!("{place}: {fault}"));
    }
    let message = folder.message(&text, &[("links.b-c.reverse.trace.file", "bad")]);
    assert!(message.starts_with("set links.b-c.reverse.trace.file=bad: bad:2: \"x\""), "{message}");
    let missing = folder.message(&text.replace("trace.file = \"down\"\n", ""), &[]);
    assert!(missing.contains("links.b-c.trace.file: missing"), "{missing}");
}

#[test]
fn a_file_may_have_an_absolute_path_and_a_rate_of_its_own_is_refused() {
    let folder = Folder::new("absolute", &[]);
    let text = with_trace(&format!("trace.file = {:?}", shipped_trace()));
    let scenario = folder.read(&text, &[]).unwrap();
    assert_eq!(scenario.files(), [shipped_trace()]);
    let endless = folder.message(&with_trace("trace.file = \"/dev/zero\""), &[]);
    assert!(endless.contains("/dev/zero: not a regular file of at most 256 MiB"), "{endless}");
    assert!(ends(&scenario, 0).sends.recorded(0).is_some_and(|way| opportunities(way).schedule.len() > 1000));
    let message = folder.message(&text.replace("trace.file", "rate = \"1 Mbit/s\"\ntrace.file"), &[]);
    assert!(message.contains("links.b-c.rate: no point uses it; expected"), "{message}");
    assert!(BASE.contains("links.b-c"));
}

#[test]
fn delays_of_a_file_are_read_by_their_keys_and_a_point_is_that_of_their_content() {
    let folder =
        Folder::new("delays", &[("down", "5\n10\n"), ("slow", "20.5\n30\n"), ("same", "20.50\n30\n")]);
    let text = with_trace("trace = { file = \"down\", delay = { file = \"slow\", step = \"1 s\" } }");
    let scenario = folder.read(&text, &[]).expect("delays");
    let [first, second] = ends(&scenario, 0).directions.map(|direction| direction.delays.expect("delays"));
    assert_eq!((first.step, first.is_linear, first.keeps_order), (Span::from_secs(1), false, false));
    assert_eq!(second.delays, first.delays);
    assert_eq!(first.longest(), Span::from_millis(30));
    let same = folder.read(&text.replace("slow", "same"), &[]).expect("delays");
    assert_eq!(same.point_key(0), scenario.point_key(0));
}

#[test]
fn a_key_of_the_reverse_direction_has_its_default_where_that_of_the_forward_one_has_no_meaning() {
    let folder = Folder::new("reverse-delays", &[("down", "5\n10\n"), ("slow", "20\n30\n")]);
    let text = with_trace("trace.file = \"down\"\nreverse.trace.delay.file = \"slow\"");
    let scenario = folder.read(&text, &[("links.a-b.reverse.jitter.spread", "1 ms")]).expect("delays");
    let [forward, reverse] = ends(&scenario, 0).directions.map(|direction| direction.delays);
    assert!(forward.is_none());
    let reverse = reverse.expect("delays");
    assert_eq!((reverse.step, reverse.is_linear, reverse.keeps_order), (Span::from_millis(10), false, false));
    for (key, value) in
        [("b-c.reverse.trace.delay.step", "10 ms"), ("a-b.reverse.jitter.distribution", "uniform")]
    {
        let found = resolved(&scenario, 0, &format!("links.{key}"));
        assert_eq!(found, Some((value.into(), "default".into())), "{key}");
    }
}

#[test]
fn a_file_that_is_not_one_of_delays_is_reported_with_its_line_and_key() {
    let folder = Folder::new("no-delays", &[("down", "5\n10\n"), ("bad", "20\nx\n")]);
    let text = with_trace("trace = { file = \"down\", delay.file = \"bad\" }");
    let message = folder.message(&text, &[]);
    let line = line_of(&text, "trace = {");
    let place = format!("x.toml:{line}: links.b-c.trace.delay.file: ");
    assert!(message.starts_with(&place), "{message}");
    assert!(
        message.ends_with("bad:2: \"x\"; expected a delay in milliseconds from 0 to 1000000"),
        "{message}"
    );
    let alone = folder.message(&with_trace("trace = { file = \"down\", delay.step = \"1 s\" }"), &[]);
    assert!(alone.contains("trace.delay.step: no point uses it"), "{alone}");
}
