//! Agents that hide duplicate acknowledgements: their keys.

use super::wifi::{CELL, snoop};
use super::wifi_errors::refused;
use super::{line_of, read};
use crate::scenario::Scenario;
use lasthop_stack::registry::AgentConfig;
use lasthop_stack::schemes::proxy_tcp::{Config, Duplicates};
use lasthop_stack::units::Span;

/// A cell with such an agent and these additional lines.
fn proxy(lines: &str) -> String {
    snoop(lines).replace("lle-tcp", "proxy-tcp")
}

fn config(lines: &str) -> Config {
    let scenario: Scenario = read(&proxy(lines)).unwrap_or_else(|error| panic!("{error}"));
    let agent = scenario.config(0).agents.remove(0);
    match agent.scheme {
        AgentConfig::ProxyTcp(config) => config,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_agent_that_says_nothing_hides_while_the_link_tries() {
    assert_eq!(config(""), Config::default());
}

#[test]
fn every_key_comes_out_as_it_was_set() {
    for (word, duplicates) in [
        ("while-trying", Duplicates::WhileTrying),
        ("held", Duplicates::Held),
        ("resend", Duplicates::Resend),
    ] {
        let lines = format!("duplicates = \"{word}\"\nsegments = 7\nidle = \"3 s\"\nmax-flows = 5");
        let idle = Span::from_secs(3);
        let expected = Config { duplicates, segments: 7, idle, max_flows: 5, ..Config::default() };
        assert_eq!(config(&lines), expected);
    }
}

#[test]
fn laws_that_need_stamps_may_go_through_it_since_it_makes_no_acknowledgements() {
    let text = proxy("").replace("[flows.down]", "[flows.down]\ntcp = { variant = \"jtcp\" }");
    assert!(read(&text).is_ok());
}

#[test]
fn what_it_does_not_know_is_refused() {
    refused(
        &proxy("duplicates = \"hold\""),
        "duplicates",
        "agents.snoop.proxy-tcp.duplicates: unknown choice \"hold\"; did you mean \"held\"? (known: held, while-trying, resend)",
    );
    refused(
        &proxy("mode = \"paper\""),
        "mode",
        "agents.snoop.proxy-tcp.mode: unknown key; expected one of duplicates, segments, idle, max-flows",
    );
    refused(
        &format!("{CELL}proxy-tcp.duplicates = \"held\"\n"),
        "duplicates",
        "agents.snoop.proxy-tcp.duplicates: no point uses it; expected agents.snoop.kind = \"proxy-tcp\"",
    );
}

#[test]
fn an_agent_that_only_acknowledgements_pass_is_warned_of() {
    let up = |lines: &str| {
        proxy("").replace("from = \"host\"\nto = \"one\"", &format!("from = \"one\"\nto = \"host\"\n{lines}"))
    };
    for kind in ["proxy-tcp", "lle-tcp"] {
        let text = up("").replace("proxy-tcp", kind);
        let warnings = read(&text).unwrap().warnings().to_vec();
        let line = line_of(&text, "[agents.snoop]");
        assert_eq!(
            warnings,
            [format!(
                "x.toml:{line}: agents.snoop.flows: its flows have only acknowledgements where it sits (a wifi link), so \
                 that it does nothing; expected flows with data in this direction"
            )]
        );
    }
    assert!(read(&up("app = { reverse = { kind = \"bulk\" } }")).unwrap().warnings().is_empty());
    assert!(read(&proxy("")).unwrap().warnings().is_empty());
}
