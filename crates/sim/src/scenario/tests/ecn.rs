//! ECN of flows and management of queues.

use super::{changed, extended, read, resolved, with};
use lasthop_stack::registry::AqmConfig;
use lasthop_stack::schemes::congestion_warning;
use lasthop_stack::transport::tcp::EcnMode;

fn tcp(scenario: &super::Scenario) -> EcnMode {
    match &scenario.config(0).flows[0].transport {
        crate::model::TransportConfig::Tcp(tcp) => tcp.ecn,
        crate::model::TransportConfig::Udp { .. } | crate::model::TransportConfig::Quic(_) => {
            panic!("the flow runs over tcp")
        }
    }
}

#[test]
fn ecn_is_off_in_both_profiles_and_on_for_tcp_jersey() {
    for profile in ["ns2-2004", "modern"] {
        for (variant, mode) in [
            ("newreno", EcnMode::Off),
            ("cubic", EcnMode::Off),
            ("jersey", EcnMode::Classic),
            ("dctcp", EcnMode::Accurate),
            ("prague", EcnMode::Accurate),
        ] {
            let overrides = [("flows.main.tcp.profile", profile), ("flows.main.tcp.variant", variant)];
            let scenario = with(super::BASE, &overrides).expect("a scenario");
            assert_eq!(tcp(&scenario), mode, "{profile} {variant}");
        }
    }
    let scenario = with(super::BASE, &[("flows.main.tcp.ecn", "classic")]).expect("a scenario");
    assert_eq!(tcp(&scenario), EcnMode::Classic);
    let jersey = with(super::BASE, &[("flows.main.tcp.variant", "jersey")]).expect("a scenario");
    let (value, from) = resolved(&jersey, 0, "flows.main.tcp.ecn").expect("a value");
    assert_eq!((value.as_str(), from.as_str()), ("classic", "congestion jersey"));
    for (law, pacing) in [("dctcp", "auto"), ("prague", "on")] {
        let counting = with(super::BASE, &[("flows.main.tcp.variant", law)]).expect("a scenario");
        let found = ["ecn", "pacing"].map(|key| resolved(&counting, 0, &format!("flows.main.tcp.{key}")));
        assert_eq!(found.map(|value| value.expect("a value").0), ["accurate", pacing]);
    }
}

#[test]
fn a_queue_is_managed_as_its_table_says() {
    let text = changed(
        "delay = \"40 ms\"",
        "delay = \"40 ms\"\naqm = { law = \"warning\", warning = { threshold = 12.5, weight = 0.1 } }",
    );
    let scenario = with(&text, &[("flows.main.tcp.ecn", "classic")]).expect("a scenario");
    let config = scenario.config(0);
    let expected = congestion_warning::Config { threshold: 12.5, weight: 0.1 };
    assert_eq!(config.links[0].aqm, Some(AqmConfig::Warning(expected)));
    assert_eq!(config.links[1].aqm, None);
    assert!(scenario.warnings().is_empty());
    let names: Vec<&String> = scenario.metrics().iter().filter(|name| name.contains("marks")).collect();
    assert_eq!(names, ["flows.main.marks_answered", "links.a-b.marks", "links.a-b.reverse.marks"]);
}

#[test]
fn a_queue_of_a_slotted_network_cannot_be_managed() {
    let text = "[run]\nduration = \"1 s\"\n[nodes]\na = { position = [\"0 m\", \"0 m\"] }\nb = { position = [\"1 m\", \"0 m\"] }\n\
                [links.air]\nkind = \"frn\"\nnodes = [\"a\", \"b\"]\naqm.law = \"warning\"\n\
                [flows.main]\nfrom = \"a\"\nto = \"b\"\n";
    let message = read(text).expect_err("no such queue").to_string();
    assert!(message.contains("links.air.aqm.law"), "{message}");
}

#[test]
fn what_marks_nothing_is_remarked() {
    let aqm = |more: &str| {
        let text = format!("delay = \"40 ms\"\nqueue = \"20 packets\"\naqm = {{ law = \"warning\"{more} }}");
        changed("delay = \"40 ms\"", &text)
    };
    let remarks = |text: &str, ecn: &str| {
        with(text, &[("flows.main.tcp.ecn", ecn)]).expect("a scenario").warnings().join("\n")
    };
    let nobody = remarks(&aqm(""), "off");
    assert!(nobody.contains("links.a-b.aqm.law: \"warning\" where no flow uses ECN"), "{nobody}");
    let swept = format!("{}[sweep]\n\"flows.main.tcp.ecn\" = [\"classic\", \"off\"]\n", aqm(""));
    assert!(
        read(&swept).expect("a scenario").warnings().is_empty(),
        "a point without ECN beside one with it"
    );
    assert_eq!(remarks(&aqm(""), "classic"), "");
    assert_eq!(remarks(&aqm(", warning.threshold = 19"), "classic"), "");
    let high = remarks(&aqm(", warning.threshold = 20"), "classic");
    assert!(high.contains("links.a-b.aqm.warning.threshold: 20 in a queue of 20 packets"), "{high}");
}

#[test]
fn tcp_jersey_without_warnings_is_remarked() {
    let jersey = changed("newreno", "jersey");
    let remarks = |text: &str| read(text).expect("a scenario").warnings().join("\n");
    let plain = remarks(&jersey);
    assert!(plain.contains("flows.main.tcp: TCP-Jersey where no queue marks packets"), "{plain}");
    let off = remarks(&jersey.replace("\"jersey\"", "\"jersey\"\necn = \"off\""));
    assert!(off.contains("flows.main.tcp.ecn: \"off\" with tcp.congestion \"jersey\""), "{off}");
    let warned =
        extended("").replace("newreno", "jersey").replace("5 Mbit/s\"", "5 Mbit/s\"\naqm.law = \"warning\"");
    assert_eq!(remarks(&warned), "");
}
