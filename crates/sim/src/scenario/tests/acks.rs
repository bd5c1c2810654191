//! Laws of acknowledgement: their keys, and what they cannot be combined with.

use super::wifi::snoop;
use super::wifi_errors::refused;
use super::{extended, read, with};
use lasthop_stack::transport::acks::{AckLaw, TackConfig};

/// The law of the flow with these lines, and how many full segments it counts.
fn law(lines: &str) -> (AckLaw, u32) {
    let scenario = read(&extended(lines)).unwrap_or_else(|error| panic!("{error}"));
    match &scenario.config(0).flows[0].transport {
        crate::model::TransportConfig::Tcp(tcp) => (tcp.acks, tcp.ack_every),
        crate::model::TransportConfig::Udp { .. } | crate::model::TransportConfig::Quic(_) => {
            panic!("the flow runs over tcp")
        }
    }
}

#[test]
fn each_law_comes_out_as_it_was_set() {
    assert_eq!(law("ack-every = 4"), (AckLaw::Delayed, 4));
    assert_eq!(law("acks = \"requested\"\nack-every = 3").0, AckLaw::Requested(8));
    let most = "acks = \"requested\"\nrequested = { most = \"127 segments\" }";
    assert_eq!(law(most).0, AckLaw::Requested(127));
    let sack = "recovery = \"sack\"\nsack-pipe = \"scoreboard\"\nacks = \"tack\"";
    assert_eq!(law(sack).0, AckLaw::Tack(TackConfig::PAPER));
    let other = format!("{sack}\ntack = {{ segments = 3, per-round-trip = 8 }}");
    assert_eq!(law(&other).0, AckLaw::Tack(TackConfig { segments: 3, per_round_trip: 8 }));
}

#[test]
fn a_count_has_no_meaning_under_tack_and_the_error_names_the_law() {
    for line in ["ack-every = 4", "quick-acks = 3"] {
        let text =
            extended(&format!("recovery = \"sack\"\nsack-pipe = \"scoreboard\"\nacks = \"tack\"\n{line}"));
        let key = line.split(' ').next().unwrap_or(line);
        let expected = format!(
            "flows.main.tcp.{key}: no point uses it; expected flows.main.tcp.acks = \"delayed\" or \"requested\""
        );
        refused(&text, line, &expected);
    }
}

#[test]
fn tack_needs_a_recovery_that_reads_sack() {
    for recovery in ["reno", "newreno", "tahoe"] {
        let text = extended(&format!("recovery = \"{recovery}\"\nacks = \"tack\""));
        let expected = format!(
            "flows.main.tcp.acks: \"tack\" reports segments beyond a gap by SACK and not by duplicates, which recovery \"{recovery}\" counts; expected recovery = \"sack\" with sack-pipe = \"scoreboard\", or acks = \"delayed\""
        );
        refused(&text, "acks =", &expected);
    }
}

#[test]
fn a_window_that_counts_acknowledgements_is_remarked() {
    let overrides = [
        ("flows.main.tcp.profile", "modern"),
        ("flows.main.tcp.variant", "sack"),
        ("flows.main.tcp.acks", "tack"),
    ];
    let warnings = |growth| {
        let more = [&overrides[..], &[("flows.main.tcp.growth", growth)]].concat();
        with(super::BASE, &more).expect("a scenario").warnings().len()
    };
    assert_eq!([warnings("segments"), warnings("acks")], [0, 1]);
}

#[test]
fn an_agent_that_does_not_know_the_law_is_refused() {
    let line = "flows = [\"down\"]";
    for (kind, law, why) in [
        ("lle-tcp", "tack", "acknowledges by its own count"),
        ("lle-tcp", "requested", "acknowledges by its own count"),
        ("proxy-tcp", "tack", "follows a stream of acknowledgements and duplicates"),
    ] {
        let tcp = format!("tcp = {{ profile = \"modern\", variant = \"sack\", acks = \"{law}\" }}");
        let text =
            snoop(line).replace("lle-tcp", kind).replace("[flows.down]", &format!("[flows.down]\n{tcp}"));
        let expected = format!(
            "agents.snoop.flows: \"down\" has tcp.acks = \"{law}\", and {kind} {why}; expected flows with \"delayed\""
        );
        refused(&text, line, &expected);
        assert!(read(&text.replace(&format!("kind = \"{kind}\""), "kind = \"none\"")).is_ok(), "{kind}");
    }
    let asked = "[flows.down]\ntcp = { profile = \"modern\", variant = \"sack\", acks = \"requested\" }";
    let text = snoop(line).replace("lle-tcp", "proxy-tcp").replace("[flows.down]", asked);
    assert!(read(&text).is_ok(), "duplicates are as always");
}
