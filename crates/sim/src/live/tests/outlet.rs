//! A bound node at which packets to addresses of no node leave the network.

use super::*;

const OUTER: NodeId = wire::node([93, 184, 216, 34]);
/// The end of the Internet, behind those of the two nodes.
const INTERNET: usize = 2;
const PORTS: [u16; 2] = [40_000, 443];

/// A segment between these nodes, whose bytes may be as long as another's.
fn between([from, to]: [NodeId; 2], [source, destination]: [u16; 2], number: u32) -> Vec<u8> {
    let segment = Segment {
        src_port: source,
        dst_port: destination,
        seq: SeqNo(number),
        flags: Flags::ACK,
        len: 948,
        options: lasthop_stack::packet::Options {
            timestamps: Some(Timestamps::default()),
            ..Default::default()
        },
        ..Segment::default()
    };
    let mut into = vec![0; 1000];
    wire::write(&Packet::new(from, to, Body::Tcp(segment)), 1, &mut into).expect("a packet that has bytes");
    into
}

/// An echo request to an address of no node.
fn ping(from: NodeId) -> Vec<u8> {
    let mut bytes = between([from, OUTER], PORTS, 0);
    bytes[9] = 1;
    bytes
}

/// All packets that have arrived: where, when, and their bytes.
fn all(path: &mut Network) -> Vec<(usize, u64, Vec<u8>)> {
    std::iter::from_fn(|| path.arrival().map(|(end, at, bytes)| (end, at.0, bytes.to_vec()))).collect()
}

fn without_losses() -> Network {
    path(&[("links.second.loss.model", "none")])
}

#[test]
fn packets_to_other_addresses_leave_at_the_outlet_and_their_answers_come_back_over_the_links() {
    let mut path = without_losses();
    path.join(1);
    let out =
        [between([NodeId(0), OUTER], PORTS, 7), ping(NodeId(0)), between([NodeId(0), NodeId(2)], PORTS, 8)];
    for bytes in &out {
        path.take(0, bytes, Time(0));
    }
    path.advance(Time(1000 * MS));
    let expected = [(INTERNET, 16_500_000), (INTERNET, 17_500_000), (1, 18_500_000)].into_iter().zip(out);
    assert_eq!(all(&mut path), expected.map(|((end, at), bytes)| (end, at, bytes)).collect::<Vec<_>>());
    let back = between([OUTER, NodeId(0)], [443, 40_000], 9);
    path.take(INTERNET, &back, Time(1000 * MS));
    path.advance(Time(2000 * MS));
    assert_eq!(all(&mut path), [(0, 1_008_100_000, back)]);
    let [first, second] = path.counted() else { panic!("two nodes") };
    assert_eq!((first.packets, first.opaque, first.arrived), (3, 1, 1));
    assert_eq!((second.packets, second.arrived, second.ignored), (1, 3, 0));
}

#[test]
fn the_outlet_itself_is_beside_the_internet() {
    // No flow joins a single bound node to another.
    let mut path = bound(&config(TOML, &[]), &["b"]).expect("a node");
    path.join(0);
    let (out, back) = (between([NodeId(2), OUTER], PORTS, 7), between([OUTER, NodeId(2)], [443, 40_000], 9));
    path.take(0, &out, Time(5 * MS));
    path.take(1, &back, Time(6 * MS));
    assert_eq!(path.next_at(), Some(Time(5 * MS)));
    assert_eq!(all(&mut path), [(1, 5 * MS, out), (0, 6 * MS, back)]);
    assert_eq!(path.counted(), [Counted::default()]);
}

#[test]
fn other_addresses_are_ignored_without_an_outlet_and_elsewhere() {
    let mut path = without_losses();
    path.take(0, &between([NodeId(0), OUTER], PORTS, 7), Time(0));
    path.join(1);
    path.take(0, &between([OUTER, NodeId(2)], PORTS, 7), Time(0));
    // A group.
    path.take(0, &between([NodeId(0), wire::node([224, 0, 0, 251])], PORTS, 7), Time(0));
    path.take(INTERNET, &between([OUTER, NodeId(OUTER.0 + 1)], PORTS, 7), Time(0));
    let ignored: Vec<u64> = path.counted().iter().map(|counted| counted.ignored).collect();
    assert_eq!((ignored, all(&mut path)), (vec![3, 1], vec![]));
}
