//! Impossible 802.11 links: the whole message is the expectation.

use super::wifi::{FIG05, cell, changed};
use super::{line_of, read};

pub(super) fn refused(text: &str, piece: &str, expected: &str) {
    let message = read(text).map_or_else(|error| error.to_string(), |_| "no error".to_string());
    assert_eq!(message, format!("x.toml:{}: {expected}", line_of(text, piece)));
}

/// Checks the message for [`super::wifi::CELL`] with another line on its 802.11 link.
pub(super) fn refused_line(line: &str, expected: &str) {
    refused(&cell(line), line, expected);
}

#[test]
fn keys_of_a_cable_on_a_wifi_link_are_refused() {
    refused_line(
        "delay = \"1 ms\"",
        "links.cell.delay: no point uses it; expected links.cell.kind = \"wired\" or \"lossy\" or \"wimax\" or \"trace\"",
    );
    refused_line(
        "reverse = { rate = \"1 Mbit/s\" }",
        "links.cell.reverse.rate: no point uses it; expected links.cell.kind = \"wired\" or \"lossy\"",
    );
    refused_line(
        "loss = { direction = \"both\" }",
        "links.cell.loss.direction: no point uses it; expected links.cell.kind = \"lossy\" or \"wimax\" or \"trace\"",
    );
    refused_line(
        "queue = \"unlimited\"",
        "links.cell.queue: \"unlimited\" on a wifi link; expected a number of packets such as \"50 packets\", or of bytes such as \"32 kB\"",
    );
}

#[test]
fn keys_of_a_wifi_link_on_a_cable_are_refused() {
    let wire = |line: &str, expected: &str| {
        refused(&changed("rate = \"10 Mbit/s\"", &format!("rate = \"10 Mbit/s\"\n{line}")), line, expected);
    };
    wire(
        "standard = \"802.11b\"",
        "links.wire.standard: no point uses it; expected links.wire.kind = \"wifi\"",
    );
    wire(
        "rts-threshold = \"0 B\"",
        "links.wire.rts-threshold: no point uses it; expected links.wire.kind = \"wifi\"",
    );
    wire(
        "propagation = { exponent = 3 }",
        "links.wire.propagation.exponent: no point uses it; expected links.wire.kind = \"wifi\"",
    );
    refused(
        &changed("rate = \"10 Mbit/s\"\n", ""),
        "[links.wire]",
        "links.wire.rate: missing; expected a rate such as \"5 Mbit/s\"",
    );
    refused(
        &changed("[\"host\", \"ap\"]", "[\"host\", \"ap\", \"two\"]"),
        "[\"host\", \"ap\", \"two\"]",
        "links.wire.nodes: 3 names; expected the names of two nodes such as [\"host\", \"ap\"]",
    );
}

#[test]
fn a_medium_with_one_station_or_a_station_twice_is_refused() {
    refused(
        &changed("[\"ap\", \"one\", \"two\"]", "[\"ap\"]"),
        "nodes = [\"ap\"]",
        "links.cell.nodes: 1 names; expected the names of two or more nodes such as [\"a\", \"b\"]",
    );
    refused(
        &changed("[\"ap\", \"one\", \"two\"]", "[\"ap\", \"one\", \"ap\"]"),
        "[\"ap\", \"one\", \"ap\"]",
        "links.cell.nodes: \"ap\" twice; expected different nodes",
    );
}

#[test]
fn a_rate_that_the_standard_has_not_is_refused() {
    refused_line(
        "rate = \"6 Mbit/s\"",
        "links.cell.rate: \"6 Mbit/s\" is not a rate of 802.11b; expected one of 1, 2, 5.5, 11 Mbit/s",
    );
    refused_line(
        "rate = \"3 Mbit/s\"",
        "links.cell.rate: \"3 Mbit/s\" is not a rate of 802.11b; expected one of 1, 2, 5.5, 11 Mbit/s",
    );
    let text = cell("standard = \"802.11a\"\nbasic-rates = [\"6 Mbit/s\", \"11 Mbit/s\"]");
    refused(
        &text,
        "basic-rates",
        "links.cell.basic-rates: \"11 Mbit/s\" is not a rate of 802.11a; expected one of 6, 9, 12, 18, 24, 36, 48, 54 Mbit/s",
    );
    let text = cell("standard = \"802.11\"\nrate = \"11 Mbit/s\"");
    refused(
        &text,
        "rate = \"11 Mbit/s\"",
        "links.cell.rate: \"11 Mbit/s\" is not a rate of 802.11; expected one of 1, 2 Mbit/s",
    );
}

#[test]
fn basic_rates_that_are_none_are_refused() {
    for (list, problem) in [
        ("[]", "an empty list; expected rates such as [\"1 Mbit/s\", \"2 Mbit/s\"]"),
        ("[1]", "1 has no unit; expected a rate such as \"1 Mbit/s\""),
        ("[true]", "true; expected a rate such as \"1 Mbit/s\""),
        ("[\"1 Mbit/s\", \"1000 kbit/s\"]", "\"1 Mbit/s\" twice; expected different rates"),
        ("\"1 Mbit/s\"", "\"1 Mbit/s\"; expected rates such as [\"1 Mbit/s\", \"2 Mbit/s\"]"),
    ] {
        refused_line(&format!("basic-rates = {list}"), &format!("links.cell.basic-rates: {problem}"));
    }
}

#[test]
fn stations_that_lose_frames_or_whose_frames_are_counted_are_those_of_the_link() {
    for (line, expected) in [
        (
            "loss = { rate = \"1 %\", at = [\"app\"] }",
            "loss.at: unknown node \"app\"; did you mean \"ap\"? (known: ap, host, one, two)",
        ),
        (
            "loss = { rate = \"1 %\", at = [\"one\", \"host\"] }",
            "loss.at: unknown station of the link \"host\"; expected one of ap, one, two",
        ),
        (
            "loss = { rate = \"1 %\", at = [\"one\", \"one\"] }",
            "loss.at: \"one\" twice; expected different nodes",
        ),
        (
            "loss = { rate = \"1 %\", at = \"one\" }",
            "loss.at: \"one\"; expected the names of stations such as [\"ap\"] or \"all\"",
        ),
        (
            "loss = { rate = \"1 %\", at = [] }",
            "loss.at: 0 names; expected the names of stations such as [\"ap\"] or \"all\"",
        ),
        (
            "loss = { model = \"snr\", at = [\"ap\"] }",
            "loss.at: no point uses it; expected links.cell.loss.model = \"packet\" or \"bit\" or \"gilbert-elliott\" and links.cell.kind = \"wifi\"",
        ),
        (
            "loss = { model = \"list\", list = { from = \"twoo\", drop = [1] } }",
            "loss.list.from: unknown node \"twoo\"; did you mean \"two\"? (known: two, host, ap, one)",
        ),
        (
            "loss = { model = \"list\", list = { from = \"host\", drop = [1] } }",
            "loss.list.from: unknown station of the link \"host\"; expected one of ap, one, two",
        ),
        (
            "loss = { model = \"list\", list = { from = \"ap\", drop = [1] }, above-mac = true }",
            "loss.model: \"list\" with loss.above-mac, where attempts are not counted; expected another model",
        ),
        (
            "loss = { model = \"list\", list = { from = \"ap\", drop = [1] }, of = \"all\" }",
            "loss.of: no point uses it; expected links.cell.loss.model = \"none\" or \"packet\" or \"bit\" or \"gilbert-elliott\" or \"snr\" and links.cell.kind = \"wifi\"",
        ),
    ] {
        refused_line(line, &format!("links.cell.{expected}"));
    }
}

#[test]
fn constants_that_cannot_work_are_refused() {
    for (line, expected) in [
        (
            "standard = \"802.11bn\"",
            "standard: unknown standard \"802.11bn\"; \"802.11bn\" is not modelled: 802.11 goes up to 802.11be, \
             without A-MSDU, beamforming and MU-MIMO (known: 802.11b, 802.11n, 802.11be, 802.11, 802.11a, 802.11g, 802.11ac, 802.11ax, … (10 in total))",
        ),
        (
            "flavour = \"ns3\"",
            "flavour: unknown flavour \"ns3\"; did you mean \"ns2\"? (known: ns2, standard, model)",
        ),
        ("cw-min = 2047", "cw-min: 2047 is above cw-max, 1023; expected less"),
        ("cw-min = 0", "cw-min: 0 is too small; expected at least 1"),
        ("short-retry = 0", "short-retry: 0 is too small; expected at least 1"),
        (
            "fragment-threshold = \"100 B\"",
            "fragment-threshold: \"100 B\" is too small; expected at least 256 B",
        ),
        (
            "rts-threshold = \"always\"",
            "rts-threshold: \"always\"; expected a size such as \"1000 B\" or \"never\"",
        ),
        ("slot = \"0 us\"", "slot: \"0 us\" is too small; expected more than 0"),
        ("slot = 20", "slot: 20 has no unit; expected a time such as \"20 us\""),
        (
            "access-point = \"host\"",
            "access-point: \"host\" is not a station of this link; expected \"none\" or one of ap, one, two",
        ),
        (
            "access-point = \"app\"",
            "access-point: unknown node \"app\"; did you mean \"ap\"? (known: ap, host, one, two)",
        ),
        (
            "observer = \"host\"",
            "observer: \"host\" is not a station of this link; expected \"auto\" or one of ap, one, two",
        ),
        ("reception = { capture = 0.5 }", "reception.capture: 0.5 is too small; expected at least 1"),
        (
            "reception = { least-sinr = 2 }",
            "reception.least-sinr: no point uses it; expected links.cell.reception.model = \"sinr\"",
        ),
        (
            "reception = { receive-threshold = \"0 W\" }",
            "reception.receive-threshold: \"0 W\" is too small; expected more than 0",
        ),
        (
            "reception = { receive-threshold = \"-900 dBm\" }",
            "reception.receive-threshold: \"-900 dBm\" is out of range; expected a power such as \"280 mW\" or a level such as \"-82 dBm\"",
        ),
        (
            "reception = { receive-threshold = -82 }",
            "reception.receive-threshold: -82 has no unit; expected a power such as \"280 mW\" or a level such as \"-82 dBm\"",
        ),
        (
            "reception = { noise-figure = \"-1 dB\" }",
            "reception.noise-figure: \"-1 dB\" is too small; expected at least 0",
        ),
        (
            "propagation = { exponent = 3 }",
            "propagation.exponent: no point uses it; expected links.cell.propagation.model = \"log-distance\"",
        ),
        (
            "propagation = { model = \"two-way\" }",
            "propagation.model: unknown model of propagation \"two-way\"; did you mean \"two-ray\"? (known: two-ray, free-space, log-distance, flat)",
        ),
    ] {
        refused_line(line, &format!("links.cell.{expected}"));
    }
}

#[test]
fn losses_that_make_no_sense_are_refused() {
    for (loss, expected) in [
        ("model = \"list\", list = { drop = [1] }", "list.from: missing; expected the name of a node"),
        (
            "above-mac = true, repaired-by-arq = true",
            "repaired-by-arq: true with loss.above-mac, where losses occur after the ARQ; expected false",
        ),
        (
            "repaired-by-arq = false, of = \"all\"",
            "of: \"all\" with loss.repaired-by-arq = false, which loses packets; expected \"packets\" or \"data\"",
        ),
        (
            "model = \"snr\", above-mac = true",
            "model: \"snr\" with loss.above-mac, which does not depend on the signal; expected another model",
        ),
        (
            "model = \"bit\", rate = \"1 %\", bit = { ber = 0.1 }",
            "rate: no point uses it; expected links.cell.loss.model = \"packet\"",
        ),
        (
            "model = \"gilbert-elliott\", gilbert-elliott = { mean-good = \"1 s\", mean-bad = \"1 s\", good-to-bad = \"1 %\" }",
            "gilbert-elliott.good-to-bad: no point uses it; expected links.cell.loss.model = \"gilbert-elliott\" and links.cell.kind = \"lossy\" or \"wimax\" or \"trace\"",
        ),
        (
            "model = \"gilbert-elliott\", gilbert-elliott = { mean-good = \"1 s\" }",
            "gilbert-elliott.mean-bad: missing; expected a time such as \"40 ms\"",
        ),
    ] {
        refused_line(&format!("loss = {{ {loss} }}"), &format!("links.cell.loss.{expected}"));
    }
    let lossy = changed("kind = \"wired\"", "kind = \"lossy\"\nloss = { model = \"snr\" }");
    refused(
        &lossy,
        "loss =",
        "links.wire.loss.model: \"snr\"; expected one of none, packet, bit, gilbert-elliott, list on a lossy link",
    );
}

#[test]
fn a_position_for_some_stations_only_is_refused() {
    let text = changed("one = {}", "one = { position = [\"0 m\", \"0 m\"] }");
    refused(
        &text,
        "ap = {}",
        "nodes.ap.position: missing; expected one for each station of cell, because \"one\" has one\nx.toml:8: nodes.two.position: missing; expected one for each station of cell, because \"one\" has one",
    );
}

#[test]
fn a_model_by_distance_for_stations_without_positions_is_refused() {
    refused_line(
        "propagation = { model = \"free-space\" }",
        "links.cell.propagation.model: \"free-space\", but the stations of cell have no position; expected \"flat\", or a position for each",
    );
    refused_line(
        "propagation = { transmit-power = \"20 dBm\" }",
        "links.cell.propagation.transmit-power: no point uses it; expected links.cell.propagation.model = \"two-ray\" or \"free-space\" or \"log-distance\"",
    );
    assert!(read(&cell("propagation = { model = \"flat\" }")).is_ok());
}

#[test]
fn a_station_on_a_flat_and_on_another_medium_is_refused() {
    let text = FIG05.replace("[flows.ftp]", "[links.other]\nkind = \"wifi\"\nnodes = [\"n0\", \"n1\"]\npropagation = { model = \"flat\" }\n\n[flows.ftp]");
    refused(
        &text,
        "propagation",
        "links.other.propagation.model: \"flat\", but another link of \"n0\" needs its position; expected the same model for both",
    );
}

#[test]
fn a_flow_between_stations_out_of_reach_is_refused() {
    let text = FIG05.replace("100 m", "300 m");
    refused(
        &text,
        "to   =",
        "flows.ftp.to: no path from \"n0\" to \"n1\"; expected links that connect them, with stations in range",
    );
    let text = FIG05.replace("100 m", "250 m");
    assert!(read(&text).is_ok());
}
