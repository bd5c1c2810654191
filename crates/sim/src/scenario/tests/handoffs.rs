//! Hand-offs after which nothing can arrive.

use super::{line_of, read};

/// A mobile between two stations, of which the one that the host is behind joins the other.
const CHAIN: &str = r#"
[run]
duration = "2 s"
[nodes]
host = {}
one = {}
two = {}
[nodes.mobile.handoff]
law = "script"
script = "1 s"
from = "air"
to = "other"
late = "dropped"
[links.core]
nodes = ["host", "one"]
[links.between]
nodes = ["one", "two"]
[links.air]
nodes = ["one", "mobile"]
[links.other]
nodes = ["two", "mobile"]
[flows.main]
from = "host"
to = "mobile"
"#;

fn told(text: &str) -> String {
    let links = text.replace("nodes = [", "kind = \"wired\"\nrate = \"1 Mbit/s\"\nnodes = [");
    read(&links).map_or_else(|error| panic!("{error}"), |scenario| scenario.warnings().join("\n"))
}

#[test]
fn an_old_station_that_drops_what_leads_over_it_to_the_new_one_is_remarked() {
    let expected = "nodes.mobile.handoff.late: \"one\" drops all packets from host to mobile at the other station, as they lead over it; \"forwarded\" passes them on";
    assert_eq!(told(CHAIN), format!("x.toml:{}: {expected}", line_of(CHAIN, "late")));
    let by_default = CHAIN.replace("late = \"dropped\"\n", "");
    assert_eq!(told(&by_default), format!("x.toml:{}: {expected}", line_of(&by_default, "[nodes.mobile")));
    assert_eq!(told(&CHAIN.replace("dropped", "forwarded")), "");
    let beside = CHAIN.replace("[\"one\", \"two\"]", "[\"host\", \"two\"]");
    assert_eq!(told(&beside), "");
}
