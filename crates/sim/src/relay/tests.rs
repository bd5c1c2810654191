//! The path with packets that no kernel sent, and the relay between sockets.

use std::os::fd::AsFd;
use std::os::unix::net::UnixDatagram;

use lasthop_stack::packet::{Body, Flags, NodeId, Packet, Segment, Timestamps};
use lasthop_stack::units::{Bytes, SeqNo, Span, Time};
use lasthop_stack::wire;

use super::*;
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

fn steps() -> Vec<Step> {
    let step = |link: &str, is_reversed| Step { link: link.to_string(), is_reversed };
    vec![step("first", false), step("second", true)]
}

fn path(sets: &[(&str, &str)]) -> Path {
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    let scenario = Scenario::from_text(TOML, "test.toml", &sets).expect("a valid scenario");
    Path::new(&scenario.config(0), &steps(), (1, 0)).expect("a chain of wires")
}

/// The bytes of a segment that is this long with its headers.
fn segment(bytes: u32) -> Vec<u8> {
    let mut segment =
        Segment { src_port: 4000, dst_port: 5000, seq: SeqNo(7), flags: Flags::ACK, ..Segment::default() };
    segment.options.timestamps = Some(Timestamps::default());
    segment.len = bytes - 52;
    let packet = Packet::new(NodeId(1), NodeId(2), Body::Tcp(segment));
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
    let fate = path.ways[0].take(&segment(1000), Time(0));
    assert_eq!(fate, Fate::Arrives(Time(16_500_000)));
    // Back over the same links: 0.1 ms and 2 ms, 1 ms and 5 ms.
    let fate = path.ways[1].take(&segment(1000), Time(100 * MS));
    assert_eq!(fate, Fate::Arrives(Time(108_100_000)));
}

#[test]
fn packets_leave_at_the_rate_of_the_slowest_link_however_they_come() {
    let mut way = path(&[("links.second.loss.model", "none")]).ways[0].clone();
    let arrivals: Vec<Fate> = (0..3).map(|n| way.take(&segment(1000), Time(n * 1000))).collect();
    let expected = [16_500_000, 17_500_000, 18_500_000].map(|at| Fate::Arrives(Time(at)));
    assert_eq!(arrivals, expected);
}

#[test]
fn a_full_queue_drops_a_packet_and_holds_the_one_that_is_being_sent() {
    let mut way = path(&[("links.second.loss.model", "none")]).ways[0].clone();
    let fates: Vec<bool> = (0..4).map(|_| way.take(&segment(1000), Time(0)) == Fate::Dropped).collect();
    assert_eq!(fates, [false, false, false, true]);
    assert_eq!(way.take(&segment(1000), Time(MS)), Fate::Arrives(Time(19_500_000)));
    let counts: Vec<(String, u64)> =
        way.counts().map(|(link, counts)| (link.to_string(), counts.drops_queue)).collect();
    assert_eq!(counts, [("first".to_string(), 1), ("second".to_string(), 0)]);
    assert_eq!((way.packets, way.data), (5, 5));
}

#[test]
fn a_list_loses_the_data_packets_that_it_names_and_no_others() {
    let mut way = path(&[]).ways[0].clone();
    let mut lost = Vec::new();
    for (place, bytes) in [52, 1000, 52, 1000, 1000, 1000].into_iter().enumerate() {
        let fate = way.take(&segment(bytes), Time(place as u64 * 10 * MS));
        if fate == Fate::Lost {
            lost.push(place);
        }
    }
    assert_eq!(lost, [3, 4]);
    assert_eq!(way.counts().map(|(_, counts)| counts.drops_loss).sum::<u64>(), 2);
}

#[test]
fn random_losses_are_those_of_the_simulation() {
    let sets = [
        ("links.second.loss.model", "packet"),
        ("links.second.loss.rate", "10 %"),
        ("links.second.loss.direction", "reverse"),
    ];
    let mut path = path(&sets);
    let lost = |way: &mut Way| -> Vec<bool> {
        (0..200).map(|n| way.take(&segment(1000), Time(n * 10 * MS)) == Fate::Lost).collect()
    };
    let mut stream = crate::engine::streams::Stream::named(1, 0, "links.second.reverse.loss");
    let expected: Vec<bool> = (0..200).map(|_| stream.chance(0.1)).collect();
    assert_eq!(lost(&mut path.ways[0]), expected);
    assert!(lost(&mut path.ways[1]).iter().all(|is_lost| !is_lost));
}

#[test]
fn what_is_not_an_ipv4_packet_takes_no_room_and_no_draw() {
    let mut way = path(&[]).ways[0].clone();
    let mut version_6 = segment(1000);
    version_6[0] = 0x60;
    let mut short = segment(1000);
    short.truncate(900);
    let mut no_room_for_tcp = segment(100);
    no_room_for_tcp[32] = 0xf0;
    no_room_for_tcp[2..4].copy_from_slice(&44u16.to_be_bytes());
    for bytes in [&[][..], &[0x45; 12], &version_6, &short, &no_room_for_tcp] {
        assert_eq!(way.take(bytes, Time(0)), Fate::Ignored, "{:?}", &bytes[..bytes.len().min(40)]);
    }
    assert_eq!((way.packets, way.ignored), (0, 5));
}

#[test]
fn a_path_needs_wires_that_exist() {
    let scenario = Scenario::from_text(TOML, "test.toml", &[]).expect("a valid scenario");
    let mut wrong = steps();
    wrong[1].link = "third".to_string();
    let found = Path::new(&scenario.config(0), &wrong, (1, 0)).map(|_| ()).unwrap_err();
    assert_eq!(found.to_string(), "links.third: unknown link; expected one of the scenario");
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
fn run(path: &mut Path, sent: &[Vec<u8>], length: Span) -> (Ended, Vec<usize>) {
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
    let ended = relay(path, [a.as_fd(), b.as_fd()], stop.as_fd(), length).expect("sockets that work");
    let mut came = Vec::new();
    let mut bytes = [0; 2000];
    while let Ok(len) = outside_b.recv(&mut bytes) {
        came.push(len);
    }
    (ended, came)
}

#[test]
fn the_relay_delivers_each_packet_whole_and_never_early() {
    let mut path = path(&[("links.second.loss.model", "none"), ("links.first.queue", "unlimited")]);
    let sent = [segment(1000), segment(52), segment(700)];
    // A busy machine may not run this thread for a tenth of a second.
    let (ended, came) = run(&mut path, &sent, Span(1000 * MS));
    assert_eq!(came, [1000, 52, 700]);
    assert_eq!((ended.length, ended.lateness.count(), ended.refused), (Span(1000 * MS), 3, 0));
    // What is due after the end is not delivered: the first needs 16.5 ms.
    let (ended, came) = run(&mut path, &sent, Span(10 * MS));
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
    let ended = relay(&mut path, [a.as_fd(), b.as_fd()], stop.as_fd(), Span(600_000 * MS)).expect("sockets");
    assert!(ended.length < Span(60_000 * MS));
}

#[test]
fn what_a_wire_reorders_and_duplicates_reaches_the_next_link_in_the_order_of_arrival() {
    // The first link sends each second packet ahead and duplicates all; the second has room for all of them.
    let mut path = path(&[
        ("links.first.reorder.rate", "100 %"),
        ("links.first.reorder.gap", "2"),
        ("links.first.duplicate.rate", "100 %"),
        ("links.first.queue", "unlimited"),
        ("links.second.loss.model", "none"),
        ("links.second.reverse.queue", "unlimited"),
    ]);
    let sent = [segment(1000), segment(700), segment(500)];
    let (ended, came) = run(&mut path, &sent, Span(1000 * MS));
    assert_eq!(came, [700, 1000, 1000, 700, 500, 500]);
    assert_eq!((ended.lateness.count(), ended.refused), (6, 0));
    let [first, second] = path.ways[0].counts().map(|(_, counts)| counts).collect::<Vec<_>>()[..] else {
        panic!("two links");
    };
    assert_eq!((first.duplicated, first.reordered, second.duplicated), (3, 1, 0));
}

#[test]
fn a_policer_on_the_path_drops_what_exceeds_its_rate() {
    let mut path = path(&[
        ("links.first.policer.rate", "8 Mbit/s"),
        ("links.first.policer.burst", "2000 B"),
        ("links.second.loss.model", "none"),
    ]);
    let way = &mut path.ways[0];
    let fates = [0, 0, 0, MS].map(|at| way.take(&segment(1000), Time(at)));
    assert!(matches!(fates[..2], [Fate::Arrives(_), Fate::Arrives(_)]));
    assert_eq!(fates[2], Fate::Policed);
    assert!(matches!(fates[3], Fate::Arrives(_)));
    assert_eq!(way.counts().map(|(_, counts)| counts.drops_policer).sum::<u64>(), 1);
}
