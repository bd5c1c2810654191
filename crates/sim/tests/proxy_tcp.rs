//! An agent that hides duplicate acknowledgements at an access point: where it helps, and where it harms.

use crate::common::{metric, run_replication};
use lasthop_sim::Outcome;
use lasthop_sim::scenario::Scenario;

/// A server behind 10 Mbit/s and 20 ms, an access point, and two clients, the first of which the agent serves.
const SCENARIO: &str = r#"
[run]
duration = "60 s"
warmup = "5 s"
[nodes]
server = {}
ap = { position = ["0 m", "0 m"] }
phone = { position = ["20 m", "0 m"] }
laptop = { position = ["0 m", "20 m"] }
[links.wire]
kind = "lossy"
nodes = ["server", "ap"]
rate = "10 Mbit/s"
delay = "20 ms"
loss = { model = "packet", rate = "0 %" }
[links.wlan]
kind = "wifi"
nodes = ["ap", "phone", "laptop"]
access-point = "ap"
standard = "802.11a"
rate = "6 Mbit/s"
[flows.main]
from = "server"
to = "phone"
app = { kind = "bulk" }
tcp = { profile = "ns2-2004", variant = "reno" }
[flows.other]
from = "server"
to = "laptop"
app = { kind = "bulk", start = "200 s" }
tcp = { profile = "ns2-2004", variant = "reno" }
[agents.proxy]
kind = "proxy-tcp"
flows = ["main"]
"#;

/// What happens with these keys set, and what the agent does with duplicates; without a rule there is no agent.
fn outcome(rule: Option<&str>, sets: &[(&str, &str)]) -> Outcome {
    let agent =
        rule.map_or(("agents.proxy.kind", "none"), |rule| ("agents.proxy.proxy-tcp.duplicates", rule));
    let all = sets.iter().copied().chain([agent]);
    let overrides: Vec<(String, String)> = all.map(|(key, value)| (key.into(), value.into())).collect();
    let scenario = Scenario::from_text(SCENARIO, "proxy.toml", &overrides).expect("a valid scenario");
    run_replication(&scenario.config(0), 0)
}

/// The means of a metric without an agent and by each rule.
fn compare(name: &str, sets: &[(&str, &str)]) -> [f64; 4] {
    [None, Some("while-trying"), Some("held"), Some("resend")].map(|rule| metric(&outcome(rule, sets), name))
}

const GOODPUT: &str = "flows.main.goodput_bps";

#[test]
fn above_the_mac_sending_again_helps_and_hiding_alone_harms() {
    for meaning in [("links.wlan.loss.above-mac", "true"), ("links.wlan.loss.repaired-by-arq", "false")] {
        let loss = [("links.wlan.loss.model", "packet"), ("links.wlan.loss.rate", "2 %"), meaning];
        let [none, trying, held, resend] = compare(GOODPUT, &loss);
        assert!(resend > 2.5 * none, "{resend} {none}");
        assert!(held < 0.6 * none, "{held} {none}");
        // A link that keeps the order has parted with a segment before any behind it arrives.
        assert_eq!(trying, none);
        assert_eq!(metric(&outcome(Some("while-trying"), &loss), "agents.proxy.suppressed"), 0.0);
        let resend = outcome(Some("resend"), &loss);
        assert_eq!(metric(&resend, "flows.main.timeouts"), 0.0);
        assert!(metric(&resend, "agents.proxy.repaired") > 100.0);
    }
}

#[test]
fn on_a_link_that_changes_the_order_hiding_while_it_tries_spares_needless_repairs() {
    let link = [
        ("links.wlan.arq.kind", "dynamic"),
        ("links.wlan.fragment-threshold", "320 B"),
        ("links.wlan.short-retry", "4"),
        ("links.wlan.loss.model", "bit"),
        ("links.wlan.loss.bit.ber", "1e-4"),
    ];
    let [none, trying, ..] = compare(GOODPUT, &link);
    assert!(trying > 1.1 * none, "{trying} {none}");
    let [none, trying, ..] = compare("flows.main.repeats_received", &link);
    assert!(trying < none / 3.0, "{trying} {none}");
    let [none, trying, ..] = compare("flows.main.fast_retransmits", &link);
    assert!(trying < 0.8 * none, "{trying} {none}");
}

#[test]
fn where_the_queue_of_the_access_point_is_full_what_is_hidden_is_taken_from_others() {
    let queue = [
        ("links.wlan.queue", "8 packets"),
        ("links.wire.rate", "100 Mbit/s"),
        ("flows.other.app.start", "0 s"),
    ];
    let [none, trying, held, resend] = compare(GOODPUT, &queue);
    let [fair, _, _, starved] = compare("flows.other.goodput_bps", &queue);
    // The sender is not notified of congestion: it takes what the notified flow leaves.
    assert!(resend > 1.4 * none && starved < 0.5 * fair, "{resend} {none} {starved} {fair}");
    let served = outcome(Some("resend"), &queue);
    let [told, heard] =
        ["main", "other"].map(|flow| metric(&served, &format!("flows.{flow}.loss_indications")));
    assert!(told < 0.1 * heard && metric(&served, "links.wlan.drops_queue") > 1000.0, "{told} {heard}");
    // One that hides without a repair waits for the timer at each loss.
    assert!(held < 0.8 * none, "{held} {none}");
    assert_eq!(trying, none);
}

#[test]
fn what_is_lost_before_the_access_point_is_told_as_it_is() {
    let outcomes = [None, Some("while-trying"), Some("held"), Some("resend")]
        .map(|rule| outcome(rule, &[("links.wire.loss.rate", "1 %")]));
    assert!(metric(&outcomes[0], "flows.main.fast_retransmits") > 20.0);
    for other in &outcomes[1..] {
        for name in [GOODPUT, "flows.main.fast_retransmits", "flows.main.timeouts"] {
            assert_eq!(metric(other, name), metric(&outcomes[0], name), "{name}");
        }
    }
}

#[test]
fn a_standard_tcp_with_a_slow_reader_gets_its_file_by_every_rule() {
    let losses = [
        ("links.wlan.loss.model", "packet"),
        ("links.wlan.loss.rate", "5 %"),
        ("links.wlan.loss.above-mac", "true"),
        ("flows.main.tcp.profile", "modern"),
        ("flows.main.sink.buffer", "16 kB"),
        ("flows.main.sink.read-rate", "800 kbit/s"),
        ("flows.main.app.kind", "file"),
        ("flows.main.app.file.size", "500 kB"),
        ("run.duration", "300 s"),
    ];
    for variant in ["sack", "reno"] {
        let sets: Vec<(&str, &str)> =
            losses.iter().copied().chain([("flows.main.tcp.variant", variant)]).collect();
        for rule in ["while-trying", "held", "resend"] {
            let done = metric(&outcome(Some(rule), &sets), "flows.main.completion_s");
            assert!(done < 200.0, "{variant} {rule}: {done}");
        }
    }
}
