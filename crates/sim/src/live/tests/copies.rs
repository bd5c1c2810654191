//! What agents and links copy has its bytes.

use super::*;

/// A cell whose agents acknowledge what the link delivers, and keep copies of it.
const CELL: &str = r#"
[run]
duration = "1 s"
[nodes]
a = {}
b = {}
[links.air]
kind = "wifi"
nodes = ["a", "b"]
standard = "802.11a"
[flows.main]
from = "a"
to = "b"
tcp = {}
[agents.lle]
kind = "lle-tcp"
"#;

/// A segment of one of the two ends of the cell with this payload.
fn with_payload(end: usize, (seq, ack): (u32, u32), flags: Flags, payload: &[u8]) -> Vec<u8> {
    let (nodes, ports) = ([NodeId(0), NodeId(1)], [4000, FIRST_PORT]);
    let segment = Segment {
        src_port: ports[end],
        dst_port: ports[1 - end],
        seq: SeqNo(seq),
        ack: SeqNo(ack),
        flags,
        window: 60_000,
        len: payload.len() as u32,
        ..Segment::default()
    };
    let packet = Packet::new(nodes[end], nodes[1 - end], Body::Tcp(segment));
    let headers = wire::Headers::over(&packet, 1, payload).expect("a packet that has bytes");
    [headers.as_bytes(), payload].concat()
}

#[test]
fn a_copy_that_an_agent_cuts_from_what_it_keeps_has_the_bytes_of_its_part() {
    let mut cell = bound(&config(CELL, &[]), &["a", "b"]).expect("two nodes");
    let mut at = 0;
    let mut step = |end: usize, packet: Option<Vec<u8>>, wait: u64| {
        let mut came = Vec::new();
        if let Some(packet) = packet {
            cell.take(end, &packet, Time(at));
        }
        at += wait;
        cell.advance(Time(at));
        while let Some((to, _, bytes)) = cell.arrival() {
            let (packet, payload) = wire::parse(bytes, Time(at)).expect("right checksums");
            if let (1, Body::Tcp(segment)) = (to, packet.body)
                && segment.len > 0
            {
                came.push((segment.seq.0, payload.to_vec()));
            }
        }
        came
    };
    let (syn, ack) = (Flags::SYN, Flags::ACK);
    let payload: Vec<u8> = (0..1000).map(|place| (place % 251) as u8).collect();
    step(0, Some(with_payload(0, (99, 0), syn, &[])), 5 * MS);
    step(1, Some(with_payload(1, (499, 100), syn.with(ack), &[])), 5 * MS);
    step(0, Some(with_payload(0, (100, 500), ack, &[])), 5 * MS);
    let data = with_payload(0, (100, 500), ack, &payload);
    assert_eq!(step(0, Some(data), 5 * MS), [(100, payload.clone())]);
    // Its receiver is silent: the agent sends it again. More packets than there are places pass in the meantime.
    for number in 0..300 {
        step(1, Some(with_payload(1, (500 + number, 100), ack, &[1])), MS / 2);
    }
    let came = step(0, None, 500 * MS);
    assert!(!came.is_empty() && came.iter().all(|one| *one == (100, payload.clone())), "{came:?}");
    step(1, Some(with_payload(1, (800, 500), ack, &[])), 5 * MS);
    let came = step(0, None, 900 * MS);
    assert!(!came.is_empty() && came.iter().all(|one| *one == (500, payload[400..].to_vec())), "{came:?}");
}

#[test]
fn a_packet_that_a_slotted_network_delivers_twice_has_its_bytes_both_times() {
    let toml = r#"
[run]
duration = "1 s"
[nodes]
a = { position = ["0 m", "0 m"] }
b = { position = ["200 m", "0 m"] }
[links.frn]
kind = "frn"
nodes = ["a", "b"]
frn = { slot-length = "1 ms", error-rate = "30 %" }
[flows.main]
from = "a"
to = "b"
"#;
    let mut network = bound(&config(toml, &[]), &["a", "b"]).expect("two nodes");
    let packets: Vec<(u64, Vec<u8>)> = (0..2000)
        .map(|number| (number * MS, with_payload(0, (number as u32, 0), Flags::ACK, &[number as u8; 10])))
        .collect();
    let came = sent(&mut network, 0, &packets);
    let mut different: Vec<&[u8]> = came.iter().map(|(_, bytes)| &bytes[..]).collect();
    different.sort_unstable();
    different.dedup();
    assert!(came.len() > different.len() + 50, "{} of {}", different.len(), came.len());
    assert_eq!(network.counted()[1].without_content, 0);
}
