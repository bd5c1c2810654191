//! Contention-free periods of 802.11 links.

use super::read;
use super::wifi::{cell, cell_config, changed, wifi};
use super::wifi_errors::{refused, refused_line};
use lasthop_stack::link::dot11::PcfConfig;
use lasthop_stack::units::Span;

#[test]
fn a_link_contends_all_the_time_unless_its_access_point_polls() {
    assert_eq!(cell_config("access-point = \"ap\"").pcf, None);
    let pcf =
        |lines: &str| cell_config(&format!("access-point = \"ap\"\ncoordination = \"pcf\"\n{lines}")).pcf;
    assert_eq!(pcf(""), Some(PcfConfig::default()));
    let all = "pcf = { interval = \"50 ms\", max-duration = \"20 ms\", largest-packet = \"1600 B\", \
               beacon = \"80 B\", cf-end = \"21 B\" }";
    let expected = PcfConfig {
        interval: Span::from_millis(50),
        duration: Span::from_millis(20),
        largest_packet: 1_600,
        beacon: 80,
        end: 21,
    };
    assert_eq!(pcf(all), Some(expected));
}

#[test]
fn coordination_can_be_swept() {
    let text = format!(
        "{}[sweep]\n\"links.cell.coordination\" = [\"dcf\", \"pcf\"]\n",
        cell("access-point = \"ap\"\npcf = { max-duration = \"80 ms\" }")
    );
    let scenario = read(&text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(wifi(&scenario, 0).pcf, None);
    assert_eq!(wifi(&scenario, 1).pcf.map(|pcf| pcf.duration), Some(Span::from_millis(80)));
}

#[test]
fn contention_free_periods_that_cannot_work_are_refused() {
    let refused_pcf = |line: &str, expected: &str| {
        let text = cell(&format!("access-point = \"ap\"\ncoordination = \"pcf\"\n{line}"));
        refused(&text, line, &format!("links.cell.{expected}"));
    };
    // 802.11b at 11 Mbit/s: 1536 B take 192 + 1117.1 us, rounded up to 1310. At 2 Mbit/s a beacon takes 480 us and
    // CF-End 272 us. DIFS 50, 31 slots of 20, SIFS 10, ACK 248 us.
    refused_pcf(
        "pcf = { max-duration = \"3.4 ms\" }",
        "pcf.max-duration: 0.0034 s is too short for a polled exchange (a beacon, a poll and its answer with 1500 B each, CF-End and 3 SIFS); expected at least 0.003402 s",
    );
    refused_pcf(
        "pcf = { max-duration = \"100.2 ms\" }",
        "pcf.max-duration: 0.1002 s of an interval of 0.1024 s leaves less to contention than DIFS, a backoff and an exchange with 1500 B, 0.002238 s; expected at most 0.100162 s",
    );
    refused_pcf(
        "pcf = { interval = \"5 ms\" }",
        "pcf.interval: 0.005 s is too short for a contention-free period of 0.003402 s (a beacon, a poll and its answer with 1500 B each, CF-End and 3 SIFS) and 0.002238 s of contention; expected at least 0.00564 s",
    );
    refused_pcf("pcf = { interval = \"0 s\" }", "pcf.interval: \"0 s\" is too small; expected more than 0");
    refused_pcf(
        "pcf = { interval = 100 }",
        "pcf.interval: 100 has no unit; expected a time such as \"100 ms\"",
    );
    refused_pcf(
        "pcf = { length = \"40 ms\" }",
        "pcf.length: unknown key; expected one of interval, max-duration, largest-packet, beacon, cf-end",
    );
    refused_pcf(
        "pcf = { largest-packet = \"1000 B\" }",
        "pcf.largest-packet: 1000 B, but the packets of flows.down have 1500 B; expected at least 1500 B",
    );
    for length in ["3.402 ms", "100.162 ms"] {
        let lines =
            format!("access-point = \"ap\"\ncoordination = \"pcf\"\npcf = {{ max-duration = \"{length}\" }}");
        assert!(read(&cell(&lines)).is_ok(), "{length}");
    }
}

#[test]
fn contention_free_periods_without_an_access_point_are_refused() {
    refused_line(
        "coordination = \"pcf\"",
        "links.cell.coordination: \"pcf\" on a link without an access point; expected links.cell.access-point",
    );
    refused_line(
        "coordination = \"edca\"",
        "links.cell.coordination: unknown coordination function \"edca\"; expected one of dcf, pcf",
    );
    refused(
        &cell("access-point = \"ap\"\npcf = { interval = \"50 ms\" }"),
        "pcf =",
        "links.cell.pcf.interval: no point uses it; expected links.cell.coordination = \"pcf\"",
    );
    refused(
        &changed("rate = \"10 Mbit/s\"", "rate = \"10 Mbit/s\"\ncoordination = \"pcf\""),
        "coordination",
        "links.wire.coordination: no point uses it; expected links.wire.kind = \"wifi\"",
    );
}
