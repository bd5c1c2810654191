//! Packets of version 6.

use super::*;

/// A packet of version 6 with a payload of this many bytes, from one of these nodes to the other.
fn version_6(from: NodeId, to: NodeId, payload: u8, ecn: Ecn) -> Vec<u8> {
    let address = |node| [&b"\xfdlasth\0\0\0\0\0\0"[..], &wire::address(node)].concat();
    let head = [0x60, (ecn as u8) << 4, 0, 0, 0, payload, 17, 64];
    [&head[..], &address(from), &address(to), &vec![7; usize::from(payload)]].concat()
}

#[test]
fn a_packet_of_version_6_passes_as_a_datagram_of_its_length_and_is_marked() {
    let sets = [
        ("links.second.loss.model", "none"),
        ("links.first.aqm.law", "codel"),
        ("links.first.aqm.codel.ce-threshold", "100 us"),
        ("links.first.queue", "100 packets"),
        ("links.second.reverse.queue", "unlimited"),
    ];
    let mut path = path(&sets);
    let of = |ecn| version_6(NodeId(0), NodeId(2), 160, ecn);
    let packets = [(0, of(Ecn::Ect0)), (0, of(Ecn::Ect0)), (0, of(Ecn::NotEct))];
    let came = sent(&mut path, 0, &packets);
    // 200 bytes take 200 us on the first link, and 100 us on the second.
    assert_eq!(came.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [15_300_000, 15_500_000, 15_700_000]);
    assert_eq!(
        came.into_iter().map(|(_, bytes)| bytes).collect::<Vec<_>>(),
        [of(Ecn::Ect0), of(Ecn::Ce), of(Ecn::NotEct)]
    );
    let opaque = path.counted()[0];
    assert_eq!((opaque.packets, opaque.opaque, opaque.rewritten), (3, 3, 0));
    path.take(0, &version_6(NodeId(0), NodeId(77), 160, Ecn::NotEct), Time(5_000 * MS));
    path.take(0, &[0x60; 30], Time(5_000 * MS));
    let mut to_all = version_6(NodeId(0), NodeId(2), 160, Ecn::NotEct);
    to_all[24] = 0xff;
    path.take(0, &to_all, Time(5_000 * MS));
    assert_eq!((path.counted()[0].ignored, path.counted()[0].packets), (2, 3));
}
