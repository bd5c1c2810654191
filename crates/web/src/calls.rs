//! The calls of a page. Each is a JSON object whose `do` is the name of the call; an answer without result has an `error`.

use crate::shown;
use lasthop_sim::model::NodeConfig;
use lasthop_sim::scenario::{self, Config, Scenario, ScenarioError};
use lasthop_sim::{Request, run};
use serde_json::{Value, json};
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::path::PathBuf;

/// The scenario that is open in a module.
#[derive(Debug, Default)]
pub struct Session {
    scenario: Option<Scenario>,
    /// What a run of a point is built from; several runs of one point follow each other.
    last: Option<(usize, Config)>,
}

impl Session {
    /// The JSON answer to a JSON call.
    pub fn call(&mut self, text: &str) -> String {
        let answer =
            serde_json::from_str(text).map_err(|error| failed(&error)).and_then(|call| self.answer(&call));
        answer.unwrap_or_else(|error| error).to_string()
    }

    fn answer(&mut self, call: &Value) -> Result<Value, Value> {
        let text = |name: &str| call[name].as_str().unwrap_or_default();
        match text("do") {
            "open" => self.open(call),
            "run" => self.run(call),
            "resolved" => self.resolved(call),
            "positions" => self.positions(call),
            "explain" => scenario::explain(text("key")).map(json_of).map_err(|error| refused(&error)),
            "keys" => Ok(json_of(scenario::keys())),
            "schema" => Ok(json_of(scenario::schema())),
            "registry" => Ok(json_of(lasthop_sim::catalogue::registry())),
            "metric" => Ok(json_of(lasthop_sim::catalogue::metric(text("name")))),
            "quantile" => quantile(call),
            other => Err(failed(&format!("{other}: unknown call; expected open, run or another"))),
        }
    }

    /// Reads `text` under the overrides `set`, and describes it.
    fn open(&mut self, call: &Value) -> Result<Value, Value> {
        (self.scenario, self.last) = (None, None);
        let name = call["name"].as_str().unwrap_or("scenario.toml");
        let text = call["text"].as_str().unwrap_or_default();
        let found = Scenario::from_text(text, name, &pairs(&call["set"])).map_err(|error| refused(&error))?;
        let shown = shown::scenario(&found);
        self.scenario = Some(found);
        Ok(shown)
    }

    /// Runs `point` with `seed` and `replication`. The files that `pcap` names by link can be taken afterwards; with
    /// `transfers` the answer has those of users.
    fn run(&mut self, call: &Value) -> Result<Value, Value> {
        let scenario = self.scenario.as_ref().ok_or_else(nothing_open)?;
        let point = point(scenario, call)?;
        if self.last.as_ref().is_none_or(|(last, _)| *last != point) {
            self.last = Some((point, scenario.config(point)));
        }
        let Some((_, config)) = &self.last else { return Err(nothing_open()) };
        let trace: Vec<String> = strings(&call["trace"]);
        let links = config.links.iter().enumerate();
        let pcap: Vec<(usize, PathBuf)> = links
            .filter_map(|(number, link)| Some((number, PathBuf::from(call["pcap"][&link.name].as_str()?))))
            .collect();
        let seed = call["seed"].as_u64().unwrap_or_else(|| scenario.seed());
        let replication = call["replication"].as_u64().unwrap_or(0);
        let request = Request {
            trace: &trace,
            pcap: &pcap,
            max_events: call["max_events"].as_u64(),
            ..Request::new(config, seed, replication)
        };
        let outcome = run(&request).map_err(|error| failed(&error))?;
        let mut found = shown::outcome(&outcome).map_err(|error| failed(&error))?;
        if call["transfers"] == true {
            found["transfers"] = shown::transfers(&outcome, config);
        }
        Ok(found)
    }

    /// Every key of `point` with its value and the origin of that value.
    fn resolved(&mut self, call: &Value) -> Result<Value, Value> {
        let scenario = self.scenario.as_ref().ok_or_else(nothing_open)?;
        Ok(shown::resolved(&scenario.resolved(point(scenario, call)?)))
    }

    /// The nodes of `point` that have positions, in metres; of those that move, at the start.
    fn positions(&self, call: &Value) -> Result<Value, Value> {
        let scenario = self.scenario.as_ref().ok_or_else(nothing_open)?;
        let config = scenario.config(point(scenario, call)?);
        let place = |node: &NodeConfig| node.position.map(|(x, y)| json!([node.name, x.0, y.0]));
        Ok(config.nodes.iter().filter_map(place).collect())
    }
}

/// The quantile `p` of Student's t distribution with `df` degrees of freedom.
fn quantile(call: &Value) -> Result<Value, Value> {
    let number = |name: &str| call[name].as_f64().unwrap_or(f64::NAN);
    let law = StudentsT::new(0.0, 1.0, number("df")).map_err(|error| failed(&error))?;
    let p = number("p");
    if !(0.0..=1.0).contains(&p) {
        return Err(failed(&format!("quantile: p = {p}; expected a number from 0 to 1")));
    }
    Ok(law.inverse_cdf(p).into())
}

fn point(scenario: &Scenario, call: &Value) -> Result<usize, Value> {
    let (point, points) = (call["point"].as_u64().unwrap_or(0) as usize, scenario.points());
    if point < points {
        Ok(point)
    } else {
        Err(failed(&format!("point {point}; expected 0 to {}", points - 1)))
    }
}

fn pairs(value: &Value) -> Vec<(String, String)> {
    let pair = |it: &Value| Some((it[0].as_str()?.to_string(), it[1].as_str()?.to_string()));
    value.as_array().into_iter().flatten().filter_map(pair).collect()
}

fn strings(value: &Value) -> Vec<String> {
    let text = |it: &Value| it.as_str().map(str::to_string);
    value.as_array().into_iter().flatten().filter_map(text).collect()
}

fn json_of(text: String) -> Value {
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

fn failed(error: &impl ToString) -> Value {
    json!({ "error": error.to_string(), "faults": [] })
}

fn nothing_open() -> Value {
    failed(&"no scenario is open; expected one")
}

fn refused(error: &ScenarioError) -> Value {
    let fault = |it: &scenario::Located| json!({ "line": it.line, "key": it.key, "text": it.text });
    json!({ "error": error.to_string(), "faults": error.faults().iter().map(fault).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
[run]
duration = "2 s"

[nodes]
a = {}
b = {}

[links.path]
kind  = "lossy"
nodes = ["a", "b"]
rate  = "2 Mbit/s"
delay = "10 ms"
loss  = { rate = "1 %" }

[flows.main]
from = "a"
to   = "b"
app  = { kind = "bulk" }
tcp  = { variant = "cubic" }

[sweep]
"links.path.loss.rate" = ["0 %", "1 %"]
"#;

    fn answer(session: &mut Session, call: &Value) -> Value {
        serde_json::from_str(&session.call(&call.to_string())).expect("an answer is JSON")
    }

    #[test]
    fn a_call_gives_the_numbers_of_a_run() {
        let mut session = Session::default();
        let opened = answer(&mut session, &json!({ "do": "open", "text": TEXT }));
        assert_eq!(opened["points"][1]["links.path.loss.rate"], "1 %");
        assert_eq!(opened["axes"][0]["numbers"], json!([[0.0], [0.01]]));
        let call = json!({ "do": "run", "point": 1, "seed": 7, "replication": 2, "trace": ["cwnd"] });
        // What is read from JSON may differ in the last bit; what is written may not.
        let text = session.call(&call.to_string());
        let scenario = Scenario::from_text(TEXT, "scenario.toml", &[]).expect("it is valid");
        let outcome = run(&Request::new(&scenario.config(1), 7, 2)).expect("it runs");
        assert!(text.contains(&format!("\"events\":{},", outcome.events)));
        assert!(outcome.metrics.len() > 20);
        for (name, value) in outcome.metrics {
            assert!(text.contains(&format!("\"{name}\":{}", json!(value))), "{name}: {value:?}");
        }
        let found: Value = serde_json::from_str(&text).expect("an answer is JSON");
        let rows = found["traces"]["cwnd"]["time_s"].as_array().expect("a column of the trace").len();
        assert!(rows > 10);
    }

    #[test]
    fn a_fault_has_its_line_and_its_key() {
        let mut session = Session::default();
        let found = answer(&mut session, &json!({ "do": "open", "text": TEXT.replace("10 ms", "10") }));
        let fault = &found["faults"][0];
        assert_eq!((&fault["line"], &fault["key"]), (&json!(13), &json!("links.path.delay")));
        assert!(fault["text"].as_str().is_some_and(|text| text.contains("no unit")), "{fault}");
        assert_eq!(
            answer(&mut session, &json!({ "do": "run" }))["error"],
            "no scenario is open; expected one"
        );
    }

    #[test]
    fn what_is_wrong_with_a_call_is_an_error() {
        let mut session = Session::default();
        answer(&mut session, &json!({ "do": "open", "text": TEXT }));
        for call in [
            json!({ "do": "run", "point": 2 }),
            json!({ "do": "run", "trace": ["nothing"] }),
            json!({ "do": "explain", "key": "nothing" }),
            json!({ "do": "quantile", "p": 2, "df": 3 }),
            json!({ "do": "nothing" }),
        ] {
            assert!(answer(&mut session, &call)["error"].is_string(), "{call}");
        }
        assert!(session.call("not JSON").contains("error"));
    }
}
