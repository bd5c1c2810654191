//! Impossible agents: the whole message is the expectation.

use super::read;
use super::wifi::{CELL, changed, snoop};
use super::wifi_errors::refused;
use lasthop_stack::registry::AgentKind;

#[test]
fn an_agent_for_a_flow_whose_law_needs_the_receivers_stamps_is_refused() {
    let line = "flows = [\"down\"]";
    for (tcp, what) in [
        ("variant = \"jtcp\"", "tcp.congestion \"jtcp\""),
        ("variant = \"ejtcp\"", "tcp.congestion \"ejtcp\""),
        ("judges = [\"ejtcp\"]", "tcp.judges"),
    ] {
        let text = snoop(line).replace("[flows.down]", &format!("[flows.down]\ntcp = {{ {tcp} }}"));
        let expected = format!(
            "agents.snoop.flows: \"down\" has {what}, which needs timestamps of the receiver, and the agent's acknowledgements have none; expected flows of other laws"
        );
        refused(&text, line, &expected);
        // Without an agent nothing is wrong.
        assert!(read(&text.replace("kind = \"lle-tcp\"", "kind = \"none\"")).is_ok(), "{tcp}");
    }
}

#[test]
fn an_agent_for_a_flow_that_is_none_or_has_no_wifi_hop_is_refused() {
    let refused_flows = |flows: &str, expected: &str| {
        let line = format!("flows = {flows}");
        refused(&snoop(&line), &line, &format!("agents.snoop.flows: {expected}"));
    };
    refused_flows("[\"dwon\"]", "unknown flow \"dwon\"; did you mean \"down\"? (known: down, voice)");
    refused_flows("[]", "an empty list; expected the names of flows such as [\"main\"] or \"all\"");
    refused_flows("\"down\"", "\"down\"; expected the names of flows such as [\"main\"] or \"all\"");
    refused_flows("[\"down\", \"down\"]", "\"down\" twice; expected different flows");
    refused_flows("[\"voice\"]", "\"voice\" runs over udp; expected flows over tcp");
    let text = changed("kind = \"lle-tcp\"", "kind = \"lle-tcp\"\nflows = [\"cable\"]")
        + "[flows.cable]\nfrom = \"host\"\nto = \"ap\"\n";
    refused(
        &text,
        "flows = [\"cable\"]",
        "agents.snoop.flows: \"cable\" does not end with a wifi link in either direction; expected flows that do",
    );
    let text = changed("to = \"one\"", "to = \"ap\"");
    refused(
        &text,
        "[agents.snoop]",
        "agents.snoop.flows: no flow over tcp ends with a wifi link; expected at least one",
    );
}

#[test]
fn a_second_agent_of_a_kind_is_refused_where_the_first_one_sits() {
    let second = |kind: &str| format!("{CELL}[agents.other]\nkind = \"{kind}\"\nflows = [\"down\"]\n");
    refused(
        &second("lle-tcp"),
        "kind = \"lle-tcp\"\nflows",
        "agents.other.kind: agents.snoop is a lle-tcp agent at the same interface for the same flow; expected other flows \
         or another place",
    );
    for kind in ["none", "proxy-tcp"] {
        assert!(read(&second(kind)).is_ok(), "{kind}");
    }
}

#[test]
fn an_agent_whose_riders_nobody_takes_out_is_refused() {
    // The agent at "one" compresses the acknowledgements of "down", and the one at the access point restores them.
    let at = |node: &str| changed("kind = \"lle-tcp\"", &format!("kind = \"hack\"\nnode = \"{node}\""));
    assert!(read(&changed("kind = \"lle-tcp\"", "kind = \"hack\"")).is_ok());
    let alone = at("ap");
    refused(
        &alone,
        "node = \"ap\"",
        "agents.snoop.node: no hack agent is at the other end of the hop of flows.down, so that what rides in the \
         acknowledgements of the link is lost; expected one there too",
    );
    assert!(read(&(alone + "[agents.other]\nkind = \"hack\"\nnode = \"one\"\n")).is_ok());
}

#[test]
fn an_agent_at_the_receiving_end_alone_is_refused() {
    // The access point sends the data of "down" to node "one"; the agent there acknowledges it, and the one at "one"
    // discards the receiver's acknowledgements.
    let at = |node: &str| {
        changed("kind = \"lle-tcp\"", &format!("kind = \"lle-tcp\"\nnode = \"{node}\"\nflows = [\"down\"]"))
    };
    assert!(read(&at("ap")).is_ok());
    let alone = at("one");
    refused(
        &alone,
        "node = \"one\"\nflows",
        "agents.snoop.node: only receives the data of its flows there, and no lle-tcp agent is at the sending end of the \
         hop, which would acknowledge it; expected one there too",
    );
    let both = alone.clone() + "[agents.other]\nkind = \"lle-tcp\"\nnode = \"ap\"\nflows = [\"down\"]\n";
    assert!(read(&both).is_ok());
    // On a flow of one hop its acknowledgements leave there, but they are not data.
    let one_hop = alone.replace("from = \"host\"\nto = \"one\"", "from = \"ap\"\nto = \"one\"");
    let message = read(&one_hop).map(|_| ()).unwrap_err().to_string();
    assert!(message.contains("agents.snoop.node: only receives the data of its flows there"), "{message}");
    let answered =
        one_hop.replace("to = \"one\"\n", "to = \"one\"\napp = { reverse = { kind = \"bulk\" } }\n");
    assert!(read(&answered).is_ok());
}

#[test]
fn an_agent_that_has_no_place_where_it_is_asked_to_sit_is_refused() {
    let placed = |lines: &str| changed("kind = \"lle-tcp\"", &format!("kind = \"lle-tcp\"\n{lines}"));
    for (lines, expected) in [
        ("node = \"app\"", "node: unknown node \"app\"; did you mean \"ap\"?"),
        ("link = \"cel\"", "link: unknown link \"cel\"; did you mean \"cell\"?"),
        ("link = \"wire\"", "link: links.wire does not report delivered packets, which lle-tcp needs"),
        (
            "node = \"host\"",
            "node: no flow over tcp ends with a wifi link of nodes.host; expected at least one",
        ),
        (
            "node = \"two\"",
            "node: no flow over tcp ends with a wifi link of nodes.two; expected at least one",
        ),
        (
            "node = \"host\"\nlink = \"cell\"",
            "node: nodes.host is not an end of links.cell; expected one of its nodes (ap, one, two)",
        ),
        (
            "node = \"host\"\nlink = \"cell\"\nflows = [\"down\"]",
            "node: nodes.host is not an end of links.cell; expected one of its nodes (ap, one, two)",
        ),
    ] {
        let error = read(&placed(lines)).map(|_| ()).expect_err(lines).to_string();
        assert!(error.contains(&format!("agents.snoop.{expected}")), "{lines}: {error}");
    }
    for lines in ["node = \"ap\"", "link = \"cell\"", "node = \"ap\"\nlink = \"cell\""] {
        assert!(read(&placed(lines)).is_ok(), "{lines}");
    }
}

/// The registered kinds of agents as a message lists them: `first`, then the others in their order.
fn agents(first: &str) -> String {
    let kinds = AgentKind::named_in_scenarios();
    let others = kinds.iter().map(|kind| kind.entry().name).filter(|name| *name != first);
    let listed: Vec<&str> = [first].into_iter().chain(others).take(8).collect();
    format!("{}, … ({} in total)", listed.join(", "), kinds.len())
}

#[test]
fn parameters_of_an_agent_that_cannot_work_are_refused() {
    for (line, expected) in [
        ("repair = \"40 ms\"", "repair: 0.04 s is not above hold, 0.04 s; expected more"),
        (
            "ack-every = 2",
            "ack-every: no point uses it; expected agents.snoop.lle-tcp.acknowledge = \"delayed\"",
        ),
        ("mode = \"save\"", "mode: unknown mode \"save\"; did you mean \"safe\"? (known: safe, paper)"),
        (
            "on-undelivered = \"wait\"",
            "on-undelivered: unknown choice \"wait\"; expected one of nothing, resubmit-once, three-duplicates",
        ),
        ("max-flows = 0", "max-flows: 0 is too small; expected at least 1"),
    ] {
        refused(&snoop(line), line, &format!("agents.snoop.lle-tcp.{expected}"));
    }
    let text = snoop("mode = \"paper\"\nhold = \"10 ms\"");
    refused(
        &text,
        "hold",
        "agents.snoop.lle-tcp.hold: no point uses it; expected agents.snoop.lle-tcp.mode = \"safe\"",
    );
    let text = snoop("hold = \"10 ms\"").replace("lle-tcp.hold", "hold");
    refused(
        &text,
        "hold",
        "agents.snoop.hold: is a key of one kind of agent; expected agents.snoop.lle-tcp.hold where the kind is \"lle-tcp\" or agents.snoop.arq-proxy.hold where the kind is \"arq-proxy\" or agents.snoop.hack.hold where the kind is \"hack\"",
    );
    let text = changed("kind = \"lle-tcp\"", "kind = \"none\"\nlle-tcp.mode = \"paper\"");
    refused(
        &text,
        "mode",
        "agents.snoop.lle-tcp.mode: no point uses it; expected agents.snoop.kind = \"lle-tcp\"",
    );
    refused(
        &changed("kind = \"lle-tcp\"", "kind = \"lle\""),
        "kind = \"lle\"",
        &format!(
            "agents.snoop.kind: unknown kind of agent \"lle\"; did you mean \"lle-tcp\"? (known: {})",
            agents("lle-tcp")
        ),
    );
    refused(
        &changed("kind = \"lle-tcp\"", "lle-tcp.mode = \"safe\""),
        "[agents.snoop]",
        &format!("agents.snoop.kind: missing; expected a kind of agent ({})", agents("none")),
    );
}
