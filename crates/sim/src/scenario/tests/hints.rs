//! Words of other programs, and settings that belong to no table: the hints in the messages.

use super::{read, with};

/// The message for one override of the small scenario.
fn told(key: &str, value: &str) -> String {
    match with(super::BASE, &[(key, value)]) {
        Ok(_) => "no error".to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_word_of_another_program_is_answered_with_the_key_it_stands_for() {
    for (given, meant) in [
        ("links.a-b.bandwidth", "rate"),
        ("links.a-b.DataRate", "rate"),
        ("links.a-b.latency", "delay"),
        ("links.a-b.queue-size", "queue"),
        ("links.b-c.loss.per", "rate"),
        ("flows.main.tcp.mss", "packet"),
        ("flows.main.tcp.cc", "variant"),
        ("flows.main.dst", "to"),
        ("run.simTime", "duration"),
        ("run.RngRun", "seed"),
        ("bandwidth", "links.NAME.rate"),
        ("flows.main.plr", "links.NAME.loss.rate"),
        ("links.a-b.mss", "flows.NAME.tcp.packet"),
        ("links.a-b.ecn", "flows.NAME.tcp.ecn"),
        ("links.a-b.codel", "links.a-b.aqm.law"),
    ] {
        let message = told(given, "1");
        assert!(message.contains(&format!("did you mean \"{meant}\"?")), "{message}");
    }
}

#[test]
fn what_is_not_modelled_is_said_to_be_so() {
    let amsdu = told("links.a-b.amsdu", "true");
    assert!(amsdu.contains("\"amsdu\" is not modelled: 802.11 goes up to 802.11be"), "{amsdu}");
    let illinois = told("flows.main.tcp.variant", "illinois");
    assert!(illinois.contains("unknown variant \"illinois\"; \"illinois\" is not modelled"), "{illinois}");
}

#[test]
fn a_unit_of_another_program_is_answered_with_the_same_amount_in_ours() {
    for (key, given, meant) in [
        ("links.a-b.rate", "5Mbps", "did you mean \"5 Mbit/s\"?"),
        ("links.a-b.rate", "100 kbps", "did you mean \"100 kbit/s\"?"),
        ("links.a-b.rate", "10mbit", "did you mean \"10 Mbit/s\"?"),
        ("links.a-b.rate", "10M", "did you mean \"10 Mbit/s\"?"),
        ("links.a-b.rate", "5 MBps", "counts bytes per second"),
        ("links.a-b.delay", "20 msec", "did you mean \"20 ms\"?"),
        ("links.a-b.delay", "20 MS", "did you mean \"20 ms\"?"),
        ("links.a-b.delay", "5 Mbps", "is a rate; expected a time"),
        ("run.duration", "10 seconds", "did you mean \"10 s\"?"),
        ("links.a-b.queue", "100p", "did you mean \"100 packets\"?"),
        ("links.b-c.loss.rate", "1 percent", "did you mean \"1 %\"?"),
        ("flows.main.tcp.packet", "1448 bytes", "did you mean \"1448 B\"?"),
    ] {
        let message = told(key, given);
        assert!(message.contains(meant), "{message}");
    }
}

#[test]
fn a_section_that_is_read_from_the_file_alone_is_not_offered_as_a_key() {
    let message = told("figure.x", "foo");
    assert!(message.contains("figure: can be set only in the file"), "{message}");
    assert!(!message.contains("did you mean"), "{message}");
}

#[test]
fn a_list_of_nothing_is_not_offered() {
    let text = format!("{}[[figure]]\nid = \"f\"\nx = \"a.b\"\ny = \"goodput_bps\"\n", super::BASE);
    let message = read(&text).unwrap_err().to_string();
    assert!(message.contains("unknown swept key \"a.b\"; this scenario has no swept key"), "{message}");
}

#[test]
fn a_decimal_comma_and_a_bare_probability_are_understood() {
    for (key, given, meant) in [
        ("links.a-b.rate", "5,5 Mbit/s", "has a comma; did you mean \"5.5 Mbit/s\"?"),
        ("links.a-b.rate", "5,5", "has a comma; expected a rate such as \"5.5 Mbit/s\""),
        ("links.b-c.loss.rate", "0.02", "0.02 has no unit; expected a percentage such as \"2 %\" for 0.02"),
        ("links.b-c.loss.rate", "2", "2 has no unit; expected a percentage such as \"2 %\""),
    ] {
        let message = told(key, given);
        assert!(message.ends_with(meant), "{message}");
    }
}
