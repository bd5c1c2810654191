//! The crate that `docs/test-your-transport.md` shows, which finds a planted fault.

#[path = "outside/wifi.rs"]
mod wifi;

use lasthop_testing::Failure;

#[test]
fn a_window_that_is_halved_twice_is_found_and_the_report_repeats_it_with_captures() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("halved-twice");
    let Err(Failure::Missed(report)) = wifi::trial(2).folder(&folder).check() else {
        panic!("a fault that is not found");
    };
    let miss = report.first_miss.as_ref().expect("a replication that missed");
    let text = Failure::Missed(report.clone()).to_string();
    assert!(text.contains(&format!("LASTHOP_REPLICATION={} cargo test", miss.replication)), "{text}");
    assert!(text.contains("-- --exact planted::a_window_that_is_halved_twice"), "{text}");
    let captured = std::fs::read(report.records.join("air.pcap")).expect("a capture of the last hop");
    assert!(captured.len() as u64 > miss.delivered, "with the bytes of the datagrams");
    let [client, server] = ["client", "server"].map(|end| {
        let log = std::fs::read_to_string(report.records.join(format!("{end}.sqlog")));
        log.expect("the qlog of an end")
    });
    assert!(client.contains(r#""vantage_point":{"name":"client","type":"client"}"#), "{client:.500}");
    let count = |log: &str, event: &str| log.matches(&format!(r#""name":"quic:{event}""#)).count();
    assert!(count(&server, "packet_lost") > 0, "what the server has lost");
    assert!(server.contains(r#""congestion_window":"#) && !server.contains("pto_probe"));
    let [sent, received] = [count(&server, "packet_sent"), count(&client, "packet_received")];
    assert!(received > 1000 && sent > received, "{received} of {sent}");
    let again = wifi::trial(2).folder(&folder).check();
    assert!(
        matches!(&again, Err(Failure::Missed(other)) if other.times == report.times),
        "equal run after run"
    );
}
