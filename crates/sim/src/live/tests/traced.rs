//! Traces and captures of the packets of programs.

use super::*;

/// A segment of a connection, which its first port names, with 100 bytes at this offset, or a SYN.
fn stream(connection: u16, offset: Option<u32>) -> Vec<u8> {
    let segment = Segment {
        src_port: connection,
        dst_port: FIRST_PORT,
        seq: SeqNo(u32::from(connection) * 100_000).plus(offset.map_or(0, |offset| offset + 1)),
        flags: if offset.is_some() { Flags::ACK } else { Flags::SYN },
        len: if offset.is_some() { 100 } else { 0 },
        ..Segment::default()
    };
    let packet = Packet::new(NodeId(0), NodeId(2), Body::Tcp(segment));
    let payload: Vec<u8> = (0..segment.len).map(|at| (at + offset.unwrap_or(0)) as u8).collect();
    let headers = wire::Headers::over(&packet, connection, &payload).expect("headers");
    [headers.as_bytes(), &payload].concat()
}

#[test]
fn a_trace_and_captures_show_the_packets_of_programs_with_their_bytes() {
    let folder = std::env::temp_dir().join(format!("lasthop-live-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("first.pcap");
    let recorded = Recorded { trace: vec!["events".into()], pcap: vec![(0, file.clone())] };
    let config = config(TOML, &[("links.second.loss.list.drop", "[3]"), ("links.first.queue", "unlimited")]);
    let network = Network::new(&config, &["a", "b"], Time(10_000 * MS), Some(FIRST_PORT), (1, 0), recorded);
    let mut network = network.expect("two nodes");
    // Two connections at once; the third segment with data is lost and sent again.
    let all =
        [(1, None), (2, None), (1, Some(0)), (2, Some(0)), (1, Some(100)), (2, Some(100)), (1, Some(100))];
    let packets: Vec<_> = (0..).zip(all).map(|(n, (port, offset))| (n * MS, stream(port, offset))).collect();
    let came = sent(&mut network, 0, &packets);
    let arrived: Vec<_> = [0, 1, 2, 3, 5, 6].map(|n| packets[n].1.clone()).to_vec();
    assert_eq!(came.into_iter().map(|(_, bytes)| bytes).collect::<Vec<_>>(), arrived);
    let outcome = network.finish().expect("traces and captures");
    let rows = &outcome.traces[0];
    let (layers, events, whys) = (rows.words("layer"), rows.words("event"), rows.words("why"));
    let (offsets, numbers) = (rows.ints("seq"), rows.ints("packet"));
    let of = |layer, event| -> Vec<usize> {
        (0..layers.len()).filter(|row| (layers[*row], events[*row]) == (layer, event)).collect()
    };
    let sendings: Vec<_> = of("tcp", "send").iter().map(|&row| (offsets[row], whys[row])).collect();
    let new = |offset: i64| (offset, "new");
    assert_eq!(sendings, [new(-1), new(-1), new(0), new(0), new(100), new(100), (100, "again")]);
    let received: Vec<_> = of("tcp", "receive").iter().map(|&row| numbers[row]).collect();
    assert_eq!(received, [1, 2, 3, 4, 6, 7], "a packet keeps its number");
    let lost: Vec<_> = of("link", "lost").iter().map(|&row| (numbers[row], whys[row])).collect();
    assert_eq!(lost, [(5, "error")]);
    let capture = std::fs::read(&file).expect("a capture");
    let expected: Vec<u8> = packets.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
    let (mut found, mut rest) = (Vec::new(), &capture[24..]);
    while let Some((header, behind)) = rest.split_first_chunk::<16>() {
        let length = u32::from_le_bytes(*header.last_chunk().expect("four bytes")) as usize;
        found.extend_from_slice(&behind[..length]);
        rest = &behind[length..];
    }
    assert_eq!(found, expected);
    std::fs::remove_dir_all(&folder).expect("no file is open");
}
