//! Names of nodes, links and flows, and the network that they make.

use super::super::{BASE, changed, line_of, read};
use super::{message, refused, refused_change};

#[test]
fn an_unknown_node_of_a_link_or_flow_is_answered_with_the_nearest() {
    let text = changed("b = {}\n", "router = {}\n").replace("\"b\"", "\"router\"");
    assert!(read(&text).is_ok());
    let text = text.replace("[\"a\", \"router\"]", "[\"a\", \"ruoter\"]");
    refused(
        &text,
        "ruoter",
        "links.a-b.nodes: unknown node \"ruoter\"; did you mean \"router\"? (known: router, a, c)",
    );
    refused_change(
        r#"to   = "c""#,
        r#"to   = "sink""#,
        "flows.main.to: unknown node \"sink\"; expected one of a, b, c",
    );
}

#[test]
fn a_link_of_a_node_to_itself_is_refused() {
    refused_change(
        r#"["a", "b"]"#,
        r#"["a", "a"]"#,
        "links.a-b.nodes: \"a\" twice; expected different nodes",
    );
    refused_change(
        r#"["a", "b"]"#,
        r#"["a"]"#,
        "links.a-b.nodes: 1 names; expected the names of two or more nodes such as [\"a\", \"b\"]",
    );
}

#[test]
fn a_flow_to_its_own_sender_is_refused() {
    refused_change(
        r#"to   = "c""#,
        r#"to   = "a""#,
        "flows.main.to: \"a\" is also the sender; expected another node",
    );
}

#[test]
fn a_flow_between_nodes_that_no_link_joins_is_refused() {
    let text = changed("c = {}", "c = {}\nd = {}").replace(r#"["b", "c"]"#, r#"["d", "c"]"#);
    refused(&text, "to   =", "flows.main.to: no path from \"a\" to \"c\"; expected links that connect them");
}

#[test]
fn a_node_defined_twice_is_refused() {
    refused(&changed("b = {}", "a = {} # again"), "a = {} # again", "duplicate key; expected valid TOML");
}

#[test]
fn a_name_with_a_blank_or_a_dot_is_refused() {
    let text = changed("b = {}", "\"b 2\" = {}").replace("\"b\"", "\"a\"");
    assert!(
        message(&text).starts_with(&format!(
            "x.toml:{}: nodes: \"b 2\" is not a name; expected letters, digits, - and _",
            line_of(&text, "b 2")
        )),
        "{}",
        message(&text)
    );
}

#[test]
fn a_fault_is_one_line_whatever_signs_a_name_has() {
    let text = changed("b = {}", "\"b\\n\\u2028\\u001b\" = { positon = 1 }").replace("\"b\"", "\"a\"");
    let message = message(&text);
    assert!(message.lines().all(|line| line.starts_with("x.toml:")), "{message}");
    assert!(!message.contains(['\u{2028}', '\u{1b}']) && message.contains("b\\n"), "{message}");
}

#[test]
fn a_name_that_is_none_is_told_once_wherever_it_is_used() {
    for (section, name) in [("nodes", "b"), ("links", "b-c"), ("flows", "main")] {
        let wrong = format!("\"{name} x\"");
        let text = BASE
            .replace(&format!("\n{name} = {{}}"), &format!("\n{wrong} = {{}}"))
            .replace(&format!("\"{name}\""), &wrong)
            .replace(&format!("[{section}.{name}]"), &format!("[{section}.{wrong}]"));
        let message = read(&text).unwrap_err().to_string();
        assert_eq!(message.lines().count(), 1, "{message}");
        let expected = format!("{section}: {wrong} is not a name; expected letters, digits, - and _");
        assert!(message.ends_with(&expected), "{message}");
    }
}
