//! The network with packets that no kernel sent, and the relay between sockets.

mod copies;
mod outlet;
mod traced;
mod version_6;

use std::os::fd::AsFd;
use std::os::unix::net::UnixDatagram;

use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::link::recorded;
use lasthop_stack::link::transmitter::Transmitter;
use lasthop_stack::link::wired::Wired;
use lasthop_stack::packet::{Body, Ecn, Flags, NodeId, Packet, Segment, Timestamps};
use lasthop_stack::units::{Bytes, Rate, SeqNo, Span, Time};
use lasthop_stack::wire;

use super::*;
use crate::model::{Config, LinkKind, Sends};
use crate::scenario::Scenario;

const MS: u64 = 1_000_000;
/// A data packet of 1000 bytes takes 1 ms on the first link.
const TOML: &str = r#"
[run]
duration = "1 s"
[nodes]
a = {}
m = {}
b = {}
[links.first]
kind = "wired"
nodes = ["a", "m"]
rate = "8 Mbit/s"
delay = "5 ms"
queue = "3 packets"
[links.second]
kind = "lossy"
nodes = ["b", "m"]
rate = "80 Mbit/s"
delay = "2 ms"
reverse = { rate = "16 Mbit/s", delay = "10 ms", queue = "2 packets" }
loss = { model = "list", direction = "reverse", list = { drop = [2, 3], of = "data" } }
[flows.main]
from = "a"
to = "b"
"#;

const FIRST_PORT: u16 = 5001;

fn config(toml: &str, sets: &[(&str, &str)]) -> Config {
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    Config::clone(&Scenario::from_text(toml, "test.toml", &sets).expect("a valid scenario").config(0))
}

fn bound(config: &Config, nodes: &[&str]) -> Result<Network, NotLive> {
    Network::new(config, nodes, Time(10_000 * MS), Some(FIRST_PORT), (1, 0), Recorded::default())
}

fn path(sets: &[(&str, &str)]) -> Network {
    bound(&config(TOML, sets), &["a", "b"]).expect("two nodes")
}

/// Packets that one end sends, each at its time, and when and as what each reaches the other end, all others.
fn sent(path: &mut Network, end: usize, packets: &[(u64, Vec<u8>)]) -> Vec<(u64, Vec<u8>)> {
    let mut came = Vec::new();
    let mut deliver = |path: &mut Network, until: Time| {
        path.advance(until);
        while let Some((to, at, bytes)) = path.arrival() {
            assert_eq!(to, 1 - end);
            came.push((at.0, bytes.to_vec()));
        }
    };
    for (at, bytes) in packets {
        deliver(path, Time(*at));
        path.take(end, bytes, Time(*at));
    }
    deliver(path, Time(packets.last().map_or(0, |(at, _)| *at) + 1000 * MS));
    came
}

/// When packets of this many bytes that one end sends at these times arrive.
fn times(path: &mut Network, end: usize, packets: &[(u64, u32)]) -> Vec<u64> {
    let packets: Vec<_> =
        packets.iter().map(|(at, bytes)| (*at, segment_with(end, *bytes, Ecn::NotEct))).collect();
    sent(path, end, &packets).into_iter().map(|(at, _)| at).collect()
}

/// A metric of the network in all that happened.
fn metric(path: Network, name: &str) -> f64 {
    let metrics = path.finish().expect("a run without traces").metrics;
    metrics.into_iter().find(|(known, _)| known == name).and_then(|(_, value)| value).expect("a metric")
}

/// The bytes of a segment that is this long with its headers.
fn segment(bytes: u32) -> Vec<u8> {
    segment_with(0, bytes, Ecn::NotEct)
}

/// The same from one of the two ends.
fn segment_with(end: usize, bytes: u32, ecn: Ecn) -> Vec<u8> {
    let (nodes, ports) = ([NodeId(0), NodeId(2)], [4000, FIRST_PORT]);
    let mut segment = Segment {
        src_port: ports[end],
        dst_port: ports[1 - end],
        seq: SeqNo(7),
        flags: Flags::ACK,
        ..Segment::default()
    };
    segment.options.timestamps = Some(Timestamps::default());
    segment.len = bytes - 52;
    let packet = Packet { ecn, ..Packet::new(nodes[end], nodes[1 - end], Body::Tcp(segment)) };
    assert_eq!(packet.size(), Bytes(u64::from(bytes)));
    let mut into = vec![0; bytes as usize];
    let len = wire::write(&packet, 1, &mut into).expect("a packet that has bytes");
    assert_eq!(len, bytes as usize);
    into
}

#[test]
fn a_packet_arrives_after_the_times_and_the_delays_of_all_links() {
    let mut path = path(&[]);
    // 1 ms and 5 ms, 0.5 ms and 10 ms.
    assert_eq!(times(&mut path, 0, &[(0, 1000)]), [16_500_000]);
    // Back over the same links: 0.1 ms and 2 ms, 1 ms and 5 ms.
    assert_eq!(times(&mut path, 1, &[(2000 * MS, 1000)]), [2_008_100_000]);
}

#[test]
fn packets_leave_at_the_rate_of_the_slowest_link_however_they_come() {
    let mut path = path(&[("links.second.loss.model", "none")]);
    let at: Vec<(u64, u32)> = (0..3).map(|n| (n * 1000, 1000)).collect();
    assert_eq!(times(&mut path, 0, &at), [16_500_000, 17_500_000, 18_500_000]);
}

#[test]
fn a_full_queue_drops_a_packet_and_holds_the_one_that_is_being_sent() {
    let mut path = path(&[("links.second.loss.model", "none")]);
    let at: Vec<(u64, u32)> = [0, 0, 0, 0, MS].map(|at| (at, 1000)).to_vec();
    assert_eq!(times(&mut path, 0, &at), [16_500_000, 17_500_000, 18_500_000, 19_500_000]);
    let sent = Counted { packets: 5, data: 5, ..Counted::default() };
    assert_eq!(path.counted(), [sent, Counted { arrived: 4, ..Counted::default() }]);
    assert_eq!(metric(path, "links.first.drops_queue"), 1.0);
}

#[test]
fn a_list_loses_the_data_packets_that_it_names_and_no_others() {
    let mut path = path(&[]);
    let at: Vec<(u64, u32)> = [52, 1000, 52, 1000, 1000, 1000]
        .into_iter()
        .zip(0..)
        .map(|(bytes, n)| (n * 10 * MS, bytes))
        .collect();
    let found: Vec<u64> = times(&mut path, 0, &at).into_iter().map(|at| at / (10 * MS)).collect();
    assert_eq!(found, [1, 2, 3, 6], "sent 0, 10, 20 and 50 ms after the start; 15 to 17 ms on the way");
    assert_eq!(metric(path, "links.second.reverse.drops_loss"), 2.0);
}

#[test]
fn random_losses_are_those_of_the_simulation() {
    let sets = [
        ("links.second.loss.model", "packet"),
        ("links.second.loss.rate", "10 %"),
        ("links.second.loss.direction", "reverse"),
    ];
    let mut path = path(&sets);
    let at: Vec<(u64, u32)> = (0..200).map(|n| (n * 10 * MS, 1000)).collect();
    let there = times(&mut path, 0, &at);
    let later: Vec<(u64, u32)> = at.iter().map(|(at, bytes)| (at + 4000 * MS, *bytes)).collect();
    let back = times(&mut path, 1, &later);
    let mut stream = crate::engine::streams::Stream::named(1, 0, "links.second.reverse.loss");
    let kept = at.iter().filter(|_| !stream.chance(0.1)).map(|(at, _)| at + 16_500_000);
    assert_eq!(there, kept.collect::<Vec<u64>>());
    assert_eq!(back.len(), 200);
}

#[test]
fn what_is_not_an_ipv4_packet_takes_no_room_and_no_draw() {
    let mut path = path(&[]);
    let mut version_6 = segment(1000);
    version_6[0] = 0x60;
    let mut short = segment(1000);
    short.truncate(900);
    let elsewhere = {
        let mut bytes = segment(1000);
        bytes[19] = 77;
        bytes
    };
    let next = path.next_at();
    for bytes in [&[][..], &[0x45; 12], &version_6, &short, &elsewhere] {
        path.take(0, bytes, Time(0));
        assert_eq!(path.next_at(), next, "{:?}", &bytes[..bytes.len().min(40)]);
    }
    assert_eq!(path.counted()[0], Counted { ignored: 5, ..Counted::default() });
}

#[test]
fn what_cannot_run_live_is_named() {
    let error = |config: &Config, nodes: &[&str]| bound(config, nodes).map(|_| ()).unwrap_err().to_string();
    let plain = config(TOML, &[]);
    assert_eq!(error(&plain, &["a", "c"]), "nodes.c: unknown node; expected one of the scenario");
    assert_eq!(error(&plain, &["a", "b", "a"]), "nodes.a: bound twice; expected each node once");
    let split = TOML.to_string() + "[agents.half]\nkind = \"i-tcp\"\nnode = \"m\"\nlink = \"first\"\n";
    let text = "agents.half.kind: terminates connections, and its copies have no content; expected another agent, or none";
    assert_eq!(error(&config(&split, &[]), &["a", "b"]), text);
}

#[test]
fn bytes_arrive_as_they_were_sent_however_many_packets_are_lost_and_on_their_way() {
    let sets = [("links.second.loss.list.drop", "[3, 50, 99]"), ("links.first.queue", "unlimited")];
    let mut path = path(&[&sets[..], &[("links.second.reverse.queue", "unlimited")]].concat());
    let numbered = |number: u64| {
        let mut bytes = segment(200);
        bytes[100..108].copy_from_slice(&number.to_be_bytes());
        bytes
    };
    let packets: Vec<(u64, Vec<u8>)> = (0..1000).map(|n| (n * MS / 10, numbered(n))).collect();
    let came: Vec<Vec<u8>> = sent(&mut path, 0, &packets).into_iter().map(|(_, bytes)| bytes).collect();
    let expected = (0..1000).filter(|n| ![2, 49, 98].contains(n)).map(numbered);
    assert_eq!(came, expected.collect::<Vec<_>>());
}

#[test]
fn packets_leave_a_recorded_link_in_its_opportunities_as_in_the_simulation() {
    let schedule = recorded::Opportunities {
        schedule: std::sync::Arc::new(recorded::Schedule::read("3\n7\n7\n10\n").expect("times")),
        opportunity: 1504,
        header: 4,
        is_once: false,
    };
    let mut config = config(TOML, &[]);
    for (place, link) in config.links.iter_mut().enumerate() {
        let LinkKind::PointToPoint(ends) = &mut link.kind else { panic!("a wire") };
        if place == 0 {
            let record = recorded::Recorded::Opportunities(schedule.clone());
            ends.sends = Sends::Recorded(Box::new([record.clone(), record]));
        }
        ends.directions[1].loss = crate::medium::loss::LossConfig::None;
    }
    let mut path = bound(&config, &["a", "b"]).expect("two nodes");
    // The queue holds three packets: one that is longer than what is left waits, and continues in the next opportunity.
    let at = [(0, 1000), (0, 1000), (0, 1000), (0, 1000), (4 * MS, 1500)];
    let found = times(&mut path, 0, &at);
    let mut line = recorded::opportunities::Line::new(schedule, QueueLimit::Packets(3), false);
    let mut second = Wired::new(Rate(16_000_000), QueueLimit::Unlimited);
    let expected = at.into_iter().filter_map(|(at, bytes)| {
        let left = line.offer(Bytes(bytes.into()), Time(at))? + Span(5 * MS);
        second.offer(Bytes(bytes.into()), left).map(|left| left.0 + 10 * MS)
    });
    assert_eq!(found, expected.collect::<Vec<u64>>());
    // 3 and 5 ms, half a millisecond and 10 ms.
    assert_eq!((found.len(), found[0]), (4, 18_500_000));
    assert_eq!(metric(path, "links.first.drops_queue"), 1.0);
}

#[test]
fn a_managed_queue_decides_when_a_packet_leaves_and_marks_its_bytes() {
    let sets = [
        ("links.first.aqm.law", "codel"),
        ("links.first.aqm.codel.ce-threshold", "1500 us"),
        ("links.first.queue", "100 packets"),
        ("links.second.loss.model", "none"),
        ("links.second.reverse.queue", "unlimited"),
    ];
    let mut path = path(&sets);
    let bytes = [(0, Ecn::Ect0), (0, Ecn::Ect0), (0, Ecn::Ect0), (0, Ecn::Ect1), (0, Ecn::NotEct)];
    let packets: Vec<_> = bytes.map(|(at, ecn)| (at, segment_with(0, 1000, ecn))).to_vec();
    let came = sent(&mut path, 0, &packets);
    let at: Vec<u64> = came.iter().map(|(at, _)| *at).collect();
    assert_eq!(at, [16_500_000, 17_500_000, 18_500_000, 19_500_000, 20_500_000]);
    // The third and those behind it have waited 2 ms and longer.
    let fields: Vec<u8> = came.iter().map(|(_, bytes)| bytes[1] & 0b11).collect();
    assert_eq!(fields, [0b10, 0b10, 0b11, 0b11, 0b00]);
    for (_, bytes) in &came {
        let (packet, _) = wire::parse(bytes, Time(0)).expect("right checksums");
        assert_eq!(packet.size(), Bytes(1000));
    }
    assert_eq!(metric(path, "links.first.marks"), 2.0);
}

#[test]
fn counts_are_those_of_the_measured_time() {
    let mut path =
        path(&[("links.second.loss.model", "none"), ("run.warmup", "100 ms"), ("run.duration", "2 s")]);
    let at: Vec<(u64, u32)> = [0, 0, 0, 0, 0, 200, 200, 200, 200].map(|at| (at * MS, 1000)).to_vec();
    assert_eq!(times(&mut path, 0, &at).len(), 6);
    assert_eq!(metric(path, "links.first.drops_queue"), 1.0);
}

#[test]
fn an_application_writes_what_it_writes_in_the_simulation_and_stops() {
    let writes = |sets: &[(&str, &str)]| -> Vec<(u64, Write)> {
        let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        let toml = TOML.to_string() + "app = { start = \"7 ms\" }\ntcp = {}\n";
        let config = Scenario::from_text(&toml, "test.toml", &sets).expect("a valid scenario").config(0);
        let writes = Writes::of(&config.flows[0], (1, 0)).expect("not a user");
        writes.take(5).map(|(at, write)| (at.0, write)).collect()
    };
    assert_eq!(writes(&[]), [(7 * MS, Write::ForEver)]);
    let file = [("flows.main.app.kind", "file"), ("flows.main.app.file.size", "9 kB")];
    assert_eq!(writes(&file), [(7 * MS, Write::AndClose(9000))]);
    let cbr = [
        ("flows.main.app.kind", "cbr"),
        ("flows.main.app.cbr.rate", "8 Mbit/s"),
        ("flows.main.app.stop", "9 ms"),
    ];
    assert_eq!(writes(&cbr), [7, 8].map(|at| (at * MS, Write::Packet(1000))));
    let bursts = [
        ("flows.main.app.kind", "on-off"),
        ("flows.main.app.on-off.rate", "8 Mbit/s"),
        ("flows.main.app.on-off.on", "2 ms"),
        ("flows.main.app.on-off.off", "1 s"),
        ("flows.main.app.on-off.law", "fixed"),
    ];
    let found: Vec<u64> = writes(&bursts).into_iter().map(|(at, _)| at / MS).collect();
    assert_eq!(found, [7, 8, 1009, 1010, 2011]);
}

#[test]
fn percentiles_of_lateness_are_exact_to_a_few_percent() {
    let mut late = Lateness::default();
    assert_eq!(late.quantile(0.99), None);
    for micros in 1..=1000 {
        late.add(Span(micros * 1000));
    }
    for (share, micros) in [(0.5, 500.0), (0.99, 990.0), (1.0, 1000.0)] {
        let found = late.quantile(share).expect("packets").0 as f64 / 1000.0;
        assert!((found / micros - 1.0).abs() < 0.04, "{share}: {found}");
    }
    assert_eq!((late.count(), late.most()), (1000, Span(MS)));
    late.add(Span(u64::MAX));
    assert_eq!(late.quantile(1.0), Some(Span(late.most().0.min(1 << 37))));
}

/// Two interfaces as pairs of sockets: what a test writes to one comes out of the other.
fn run(path: &mut Network, sent: &[Vec<u8>], length: Span) -> (Ended, Vec<usize>) {
    let pair = || {
        let (ours, theirs) = UnixDatagram::pair().expect("two sockets");
        ours.set_nonblocking(true).expect("a socket");
        theirs.set_nonblocking(true).expect("a socket");
        (ours, theirs)
    };
    let ((a, outside_a), (b, outside_b), (stop, _held)) = (pair(), pair(), pair());
    for packet in sent {
        outside_a.send(packet).expect("room for a packet");
    }
    let ended = relay(
        path,
        &[a.as_fd(), b.as_fd()],
        stop.as_fd(),
        Clock::start(Span::ZERO),
        Time(length.0),
        Span(35_000),
        Calls::default(),
    )
    .expect("sockets that work");
    let mut came = Vec::new();
    let mut bytes = [0; 2000];
    while let Ok(len) = outside_b.recv(&mut bytes) {
        came.push(len);
    }
    (ended, came)
}

#[test]
fn the_relay_delivers_each_packet_whole_and_never_early() {
    let new = || path(&[("links.second.loss.model", "none"), ("links.first.queue", "unlimited")]);
    let sent = [segment(1000), segment(52), segment(700)];
    // A busy machine may not run this thread for a tenth of a second.
    let (ended, came) = run(&mut new(), &sent, Span(1000 * MS));
    assert_eq!(came, [1000, 52, 700]);
    assert_eq!((ended.at, ended.lateness.count(), ended.refused), (Time(1000 * MS), 3, 0));
    // What is due after the end is not delivered: the first needs 16.5 ms.
    let (ended, came) = run(&mut new(), &sent, Span(10 * MS));
    assert_eq!((ended.lateness.count(), came.len()), (0, 0));
}

#[test]
fn the_relay_stops_when_the_other_end_of_stop_is_closed_or_written() {
    let (stop, held) = UnixDatagram::pair().expect("two sockets");
    let (a, b) = UnixDatagram::pair().expect("two sockets");
    a.set_nonblocking(true).expect("a socket");
    b.set_nonblocking(true).expect("a socket");
    held.send(&[1]).expect("room for a byte");
    let mut path = path(&[]);
    let until = Time(600_000 * MS);
    let mut samples = 0;
    let watch = Watch { every: Span(1), take: &mut |_, _| samples += 1 };
    let ended = relay(
        &mut path,
        &[a.as_fd(), b.as_fd()],
        stop.as_fd(),
        Clock::start(Span::ZERO),
        until,
        Span(35_000),
        Calls { watch: Some(watch), opens: None },
    );
    assert!(ended.expect("sockets").at < Time(60_000 * MS));
    assert!(samples > 0, "it is watched until then");
}

#[test]
fn an_interface_is_read_only_if_it_may_have_packets() {
    let (_reader, write_only) = std::io::pipe().expect("a pipe");
    let (stop, _held) = UnixDatagram::pair().expect("two sockets");
    let clock = Clock::start(Span::ZERO);
    let ends = [write_only.as_fd(), write_only.as_fd()];
    let ended = relay(&mut path(&[]), &ends, stop.as_fd(), clock, Time(MS), Span::ZERO, Calls::default());
    assert_eq!(ended.expect("no read").at, Time(MS));
}

#[test]
fn each_sample_is_that_of_the_time_since_the_last_one() {
    let mut path =
        path(&[("links.second.loss.model", "none"), ("run.warmup", "20 ms"), ("run.duration", "2 s")]);
    let mut sample = |until: u64| {
        path.advance(Time(until * MS));
        while path.arrival().is_some() {}
        let metrics = path.sample();
        path.take(0, &segment(1000), Time(until * MS));
        let of = |name: &str| metrics.iter().find(|(known, _)| known == name).and_then(|(_, value)| *value);
        [of("flows.main.throughput_bps"), of("flows.main.delay_mean_s"), of("links.first.queue_mean_packets")]
    };
    // It takes 16.5 ms, of which 1 ms in the first queue. The measurement begins at 20 ms.
    let found = [0, 10, 40, 60, 80, 100].map(&mut sample);
    for one in &found[3..] {
        assert_eq!(one, &[Some(8.0 * 1000.0 / 0.02), Some(0.0165), Some(0.05)]);
    }
}
