//! Frames of radios across the link of a scenario, as a kernel hands them over.

use super::super::{Network, NotLive, Recorded};
use super::hwsim::tests::{counted_of, reception_of, status_of, transmission};
use super::*;
use crate::scenario::Scenario;

const FAMILY: u16 = 28;
const RATES: [Tried; STAGES] = [(7, 2), (0, 3), (-1, 0), (-1, 0)];
const TOML: &str = r#"
[run]
duration = "1 s"
[nodes]
a = { stack = "linux" }
b = { stack = "linux" }
c = { stack = "linux" }
d = {}
e = {}
[links.air]
kind = "wifi"
standard = "802.11a"
nodes = ["a", "b", "c", "d", "e"]
queue = "2 packets"
[flows.beside]
from = "d"
to = "e"
app = { kind = "cbr", cbr.rate = "1 Mbit/s" }
"#;

fn bound(nodes: &[&str], sets: &[(&str, &str)]) -> Result<Network, NotLive> {
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    let scenario = Scenario::from_text(TOML, "test.toml", &sets).expect("a valid scenario");
    let network = Network::new(&scenario.config(0), nodes, Time(1 << 40), None, (1, 0), Recorded::default());
    network.map(|mut network| {
        network.join_radios(FAMILY);
        network
    })
}

fn network() -> Network {
    bound(&["a", "b", "c"], &[]).expect("three nodes with radios")
}

/// A frame of data from a node to an address, with this cookie.
fn frame(to: [u8; 6], from: u32, length: usize) -> Vec<u8> {
    let mut bytes = vec![0x08, 0, 0, 0];
    bytes.extend(to);
    bytes.extend(address(NodeId(from)));
    bytes.resize(length, 5);
    bytes
}

/// A radio sends this frame, with this cookie.
fn send(network: &mut Network, frame: &[u8], flags: u32, cookie: u64) {
    let radio = frame[10..16].try_into().expect("an address");
    let message = transmission(frame, (radio, CHANNEL_36), RATES, (0, flags), cookie);
    assert!(network.transmit(&message, Time(0)));
}

/// What the kernel gets up to a time in microseconds: the receivers of frames, and the status of each.
#[derive(Debug, Default, PartialEq)]
struct Got {
    receptions: Vec<(u64, u32, Vec<u8>)>,
    statuses: Vec<(u64, u64, bool, Vec<u8>)>,
    /// What the status of a frame counts for, by its cookie.
    counted: Vec<(u64, [u8; 2])>,
}

fn got(network: &mut Network, until_us: u64) -> Got {
    network.advance(Time(until_us * 1_000));
    let mut got = Got::default();
    while let Some((when, bytes)) = network.for_radios() {
        let when = when.0 / 1_000;
        if let Some((cookie, is_acknowledged, table)) = status_of(bytes) {
            got.counted.extend(counted_of(bytes).map(|counted| (cookie, counted)));
            got.statuses.push((when, cookie, is_acknowledged, table));
        } else if let Some((to, frame)) = reception_of(bytes) {
            got.receptions.push((when, node(to).expect("a node").0, frame));
        }
    }
    got
}

const ONCE: [u8; 8] = [7, 1, 0xff, 0, 0xff, 0, 0xff, 0];
const IN_VAIN: [u8; 8] = [7, 2, 0, 3, 0xff, 0, 0xff, 0];

#[test]
fn a_frame_reaches_its_receiver_when_it_ends_and_its_sender_learns_it_with_the_acknowledgement() {
    let mut network = network();
    let data = frame(address(NodeId(1)), 0, 1_036);
    send(&mut network, &data, 1, 5);
    // 1040 bytes at 54 Mbit/s: 20 and 39 symbols of 4 µs. An ACK at 24 Mbit/s: 28 µs, after SIFS of 16.
    let statuses = vec![(176 + 16 + 28, 5, true, ONCE.to_vec())];
    let expected = Got { receptions: vec![(176, 1, data)], statuses, counted: vec![] };
    assert_eq!(got(&mut network, 1_000), expected);
    let counted: Vec<_> = network.counted().iter().map(|node| (node.packets, node.arrived)).collect();
    assert_eq!(counted, [(1, 0), (0, 1), (0, 0)]);
}

#[test]
fn a_frame_to_a_group_reaches_all_radios_once_and_has_no_acknowledgement() {
    let mut network = network();
    let data = frame([0xff; 6], 2, 100);
    send(&mut network, &data, 2, 6);
    let Got { receptions, statuses, .. } = got(&mut network, 1_000);
    assert_eq!(receptions.iter().map(|(_, node, _)| *node).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(statuses[0].1..=statuses[0].1, 6..=6);
    assert_eq!((statuses[0].2, &statuses[0].3[..]), (false, &ONCE[..]));
    assert_eq!(statuses[0].0, receptions[0].0, "it awaits nothing");
}

#[test]
fn a_frame_to_nobody_is_tried_at_each_rate_of_its_table() {
    let mut network = network();
    send(&mut network, &frame([0x02, 9, 9, 9, 9, 9], 0, 100), 1, 7);
    let Got { receptions, statuses, .. } = got(&mut network, 20_000);
    assert_eq!(receptions, []);
    assert_eq!((statuses[0].1, statuses[0].2, &statuses[0].3[..]), (7, false, &IN_VAIN[..]));
}

#[test]
fn a_frame_that_needs_no_acknowledgement_reaches_only_its_receiver() {
    let mut network = network();
    send(&mut network, &frame(address(NodeId(2)), 0, 100), 2, 8);
    let Got { receptions, statuses, .. } = got(&mut network, 1_000);
    assert_eq!(receptions.iter().map(|(_, node, _)| *node).collect::<Vec<_>>(), [2]);
    assert_eq!((statuses[0].1, statuses[0].2), (8, false));
}

#[test]
fn what_a_full_queue_refuses_is_answered_as_not_sent() {
    let mut network = network();
    for cookie in 0..4 {
        send(&mut network, &frame(address(NodeId(1)), 0, 500), 1, cookie);
    }
    let Got { statuses, .. } = got(&mut network, 3_000);
    assert_eq!(statuses[0], (0, 3, false, [0xff, 0].repeat(4)));
    let rest: Vec<_> = statuses[1..].iter().map(|(_, cookie, well, _)| (*cookie, *well)).collect();
    assert_eq!(rest, [(0, true), (1, true), (2, true)]);
}

#[test]
fn what_is_for_another_channel_is_sent_to_nobody() {
    let mut network = network();
    let to_all = frame([0xff; 6], 0, 100);
    for cookie in [9, 10] {
        let message = transmission(&to_all, (address(NodeId(0)), 2412), RATES, (0, 2), cookie);
        assert!(network.transmit(&message, Time(0)));
    }
    let Got { receptions, statuses, .. } = got(&mut network, 1_000);
    let cookies: Vec<_> = statuses.iter().map(|status| status.1).collect();
    assert_eq!((receptions, cookies), (vec![], vec![9, 10]));
}

#[test]
fn frames_of_radios_contend_with_those_of_simulated_stations() {
    let metric = |network: Network, scope: &str| {
        let metrics = network.finish().expect("a run without traces").metrics;
        let named = metrics.into_iter().find(|(name, _)| name == scope);
        named.and_then(|(_, value)| value).expect("a metric")
    };
    let mut network = bound(&["a", "b"], &[("flows.beside.app.cbr.rate", "20 Mbit/s")]).expect("two nodes");
    let mut acknowledged = 0;
    for cookie in 0..200 {
        let message = transmission(
            &frame(address(NodeId(1)), 0, 1_500),
            (address(NodeId(0)), CHANNEL_36),
            RATES,
            (0, 1),
            cookie,
        );
        let now = Time(cookie * 1_000_000);
        network.advance(now);
        assert!(network.transmit(&message, now));
        acknowledged += got(&mut network, cookie * 1_000 + 999).statuses.iter().filter(|it| it.2).count();
    }
    assert!(acknowledged > 190, "{acknowledged}");
    let collisions = metric(network, "links.air.frames_collided");
    assert!(collisions > 1.0, "{collisions}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused =
        |nodes: &[&str], sets: &[(&str, &str)]| bound(nodes, sets).expect_err("refused").to_string();
    assert_eq!(refused(&["a"], &[]), "nodes.a.stack: \"linux\" on one bound node; expected two or more");
    assert!(
        refused(&["a", "d", "b"], &[]).starts_with("nodes.a.stack: \"linux\", and d is bound without it")
    );
    let further = ("nodes.c.wifi.access-point", "true");
    assert!(refused(&["a", "c"], &[further]).starts_with("nodes.c.wifi.access-point: on a link without one"));
    let n = ("links.air.standard", "802.11n");
    for (key, set) in [
        ("standard", vec![("links.air.standard", "802.11ac")]),
        ("standard", vec![("links.air.standard", "802.11ax")]),
        ("standard", vec![("links.air.standard", "802.11be")]),
        ("width", vec![n, ("links.air.width", "40 MHz")]),
        ("guard-interval", vec![n, ("links.air.guard-interval", "0.4 us")]),
        ("streams", vec![n, ("links.air.streams", "3")]),
        ("rate-control.kind", vec![n, ("links.air.rate-control.kind", "ideal"), ("links.air.radio", "ns3")]),
    ] {
        let text = refused(&["a", "b"], &set);
        assert!(text.starts_with(&format!("links.air.{key}: ")), "{key}: {text}");
    }
    let ap = |node| [("links.air.access-point", node), ("links.air.security", "wpa2")];
    assert!(refused(&["a", "b"], &ap("d")).starts_with("nodes.d.stack: the access point of nodes"));
    assert!(refused(&["a", "b"], &ap("c")).starts_with("nodes.c.stack: the access point of nodes"));
    assert!(refused(&["a", "b"], &ap("none")).starts_with("links.air.security: \"wpa2\""));
    for (key, value) in [
        ("links.air.aqm.law", "codel"),
        ("links.air.coordination", "pcf"),
        ("links.air.queue", "191 packets"),
    ] {
        let sets = [("links.air.access-point", "a"), (key, value)];
        assert!(refused(&["a", "b"], &sets).starts_with(&format!("{key}: ")), "{key}");
    }
}

#[test]
fn the_rates_of_radios_are_those_up_to_the_links_or_the_nodes_own() {
    let needed =
        |sets: &[(&str, &str)]| bound(&["a", "b"], sets).expect("two nodes").radios_needed().expect("radios");
    let of_a = vec![12, 18, 24, 36, 48, 72, 96, 108];
    let rates = vec![of_a.clone(), of_a];
    assert_eq!(
        needed(&[]),
        Needed {
            frequency: 5180,
            basic: vec![12, 24, 48],
            rates,
            access_points: vec![],
            is_secret: false,
            mcs: vec![]
        }
    );
    let slower = needed(&[("links.air.rate", "12 Mbit/s"), ("nodes.b.wifi.rate", "9 Mbit/s")]);
    assert_eq!((slower.rates, slower.basic), (vec![vec![12, 18, 24], vec![18]], vec![12, 18, 24, 48]));
    let of_b = needed(&[("links.air.standard", "802.11b")]);
    assert_eq!((of_b.frequency, &of_b.rates[0]), (2412, &vec![2, 4, 11, 22]));
    let of_g = needed(&[("links.air.standard", "802.11g")]);
    assert_eq!((of_g.frequency, of_g.rates[0].len()), (2412, 12));
}

#[test]
fn the_access_points_are_that_of_the_link_and_further_nodes() {
    let sets = [("links.air.access-point", "b"), ("nodes.c.wifi.access-point", "true")];
    let needed = bound(&["a", "b", "c"], &sets).expect("three nodes").radios_needed().expect("radios");
    assert_eq!(needed.access_points, [1, 2]);
}

#[test]
fn the_mode_of_802_11n_is_that_of_the_node_or_of_the_link() {
    let needed = |sets: &[(&str, &str)]| {
        let all: Vec<_> = [("links.air.standard", "802.11n"), ("links.air.queue", "190 packets")]
            .iter()
            .chain(sets)
            .copied()
            .collect();
        bound(&["a", "b"], &all).expect("two nodes").radios_needed().expect("radios")
    };
    let plain = needed(&[("nodes.b.wifi.mcs", "3"), ("nodes.b.wifi.streams", "2")]);
    assert_eq!((plain.frequency, plain.basic, plain.rates), (5180, vec![12, 24, 48], vec![vec![12]; 2]));
    assert_eq!(plain.mcs, [vec![7], vec![8 + 3]]);
    let chosen = needed(&[("nodes.b.wifi.mcs", "2"), ("nodes.b.wifi.streams", "2"), MINSTREL]);
    assert_eq!(chosen.mcs, [vec![0, 1, 2, 3, 4, 5, 6, 7], vec![0, 1, 2, 8, 9, 10]]);
}

/// Linux selects the rates.
const MINSTREL: (&str, &str) = ("links.air.rate-control.kind", "minstrel-ht");

/// A frame of data with QoS control of TID 0, with a sequence number.
fn numbered(to: [u8; 6], from: u32, number: u16) -> Vec<u8> {
    let mut bytes = frame(to, from, 1_538);
    (bytes[0], bytes[24]) = (0x88, 0);
    bytes[22..24].copy_from_slice(&(number << 4).to_le_bytes());
    bytes
}

/// An action about an agreement of TID 0.
fn action(from: u32, to: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = frame(address(NodeId(to)), from, 24);
    bytes[0] = 0xd0;
    [&bytes[..], body].concat()
}

/// The index of MCS 7, twice, and of MCS 0.
const BY_MCS: [Tried; STAGES] = [(7, 2), (0, 2), (-1, 0), (-1, 0)];
const WITH_MCS: ([Tried; STAGES], u16) = (BY_MCS, 1 << 3);

/// A radio sends this frame at these rates, of this kind.
fn offer(network: &mut Network, frame: &[u8], (rates, kind): ([Tried; STAGES], u16), cookie: u64) {
    let radio = frame[10..16].try_into().expect("an address");
    let message = transmission(frame, (radio, CHANNEL_36), rates, (kind, 1), cookie);
    assert!(network.transmit(&message, Time(0)));
}

/// A network of 802.11n with an agreement from the first node to the second one.
fn agreed(sets: &[(&str, &str)]) -> Network {
    let sets = [&[("links.air.standard", "802.11n")], sets].concat();
    let mut network = bound(&["a", "b"], &sets).expect("two nodes");
    offer(&mut network, &action(0, 1, &[3, 0, 1, 2, 16, 0, 0, 0x50, 0]), (RATES, 0), 1);
    assert_eq!(got(&mut network, 3_000).receptions.len(), 1);
    offer(&mut network, &action(1, 0, &[3, 1, 1, 0, 0, 2, 16, 0, 0]), (RATES, 0), 2);
    assert_eq!(got(&mut network, 7_000).receptions.len(), 1);
    network
}

#[test]
fn frames_that_an_agreement_covers_are_aggregated_and_arrive_with_numbers_without_gaps() {
    let mut network = agreed(&[("links.air.queue", "6 packets")]);
    // Of ten frames the queue refuses some: the numbers of the others have no gap when they arrive.
    let to = address(NodeId(1));
    for number in 5..15 {
        offer(&mut network, &numbered(to, 0, number), WITH_MCS, u64::from(number));
    }
    let Got { receptions, statuses, counted } = got(&mut network, 20_000);
    assert_eq!(counted, [], "Linux selects no rates");
    let numbers: Vec<u16> =
        receptions.iter().map(|(.., frame)| u16::from_le_bytes([frame[22], frame[23]]) >> 4).collect();
    assert_eq!(numbers, (5..5 + 7).collect::<Vec<u16>>());
    let refused: Vec<u64> = statuses.iter().filter(|it| !it.2).map(|it| it.1).collect();
    assert_eq!(refused, [12, 13, 14]);
    // The first goes alone, and six end together with their BlockAck.
    let ends: Vec<u64> = statuses.iter().filter(|it| it.2).map(|it| it.0).collect();
    assert!(ends[0] < ends[1] && ends[1..].iter().all(|end| *end == ends[1]), "{ends:?}");
    assert!(statuses.iter().filter(|it| it.2).all(|it| it.3 == [7, 1, 0xff, 0, 0xff, 0, 0xff, 0]));
    let metrics = network.finish().expect("a run without traces").metrics;
    let counted = |name: &str| metrics.iter().find(|(of, _)| of == name).and_then(|(_, value)| *value);
    assert_eq!(counted("links.air.aggregates"), Some(1.0));
    assert_eq!(counted("links.air.aggregated_mpdus"), Some(6.0));
}

#[test]
fn where_linux_selects_rates_one_status_counts_for_all_frames_of_an_aggregate_with_the_same_attempts() {
    let lossy = [("links.air.queue", "190 packets"), ("links.air.loss.rate", "30 %"), MINSTREL];
    let mut network = agreed(&lossy);
    let to = address(NodeId(1));
    for number in 5..65 {
        offer(&mut network, &numbered(to, 0, number), WITH_MCS, u64::from(number));
    }
    let Got { statuses, counted, .. } = got(&mut network, 200_000);
    assert_eq!(statuses.len(), 60);
    let of_all: u32 = counted.iter().map(|(_, [frames, _])| u32::from(*frames)).sum();
    assert_eq!(of_all, 60, "each counts once");
    assert!(counted.len() < 30, "{counted:?}");
    // What one status counts for is over at once, after the same attempts.
    for (cookie, [frames, acknowledged]) in counted {
        let own = statuses.iter().find(|it| it.1 == cookie).expect("its status");
        let alike = statuses.iter().filter(|it| (it.0, &it.3) == (own.0, &own.3));
        let acks = alike.clone().filter(|it| it.2).count();
        assert_eq!((usize::from(frames), usize::from(acknowledged)), (alike.count(), acks));
    }
}

#[test]
fn frames_of_all_categories_are_fewer_than_those_that_the_radios_of_linux_forget() {
    let mut network = agreed(&[("links.air.queue", "190 packets")]);
    let to = address(NodeId(1));
    let each = [0, 6].into_iter().flat_map(|tid| (0..150).map(move |number| (tid, number)));
    for (cookie, (tid, number)) in each.enumerate() {
        let mut frame = numbered(to, 0, number);
        frame[24] = tid;
        offer(&mut network, &frame, WITH_MCS, cookie as u64);
    }
    let Got { statuses, .. } = got(&mut network, 7_001);
    let refused = statuses.iter().filter(|it| it.3[0] == 0xff).count();
    assert_eq!(refused, 300 - 196, "a frame is not over when it is sent first");
}

#[test]
fn a_frame_outside_of_agreements_that_the_medium_loses_for_good_is_not_sent_again() {
    for standard in ["802.11a", "802.11n"] {
        let sets = [
            ("links.air.standard", standard),
            ("links.air.loss.rate", "100 %"),
            ("links.air.loss.repaired-by-arq", "false"),
        ];
        let mut network = bound(&["a", "b"], &sets).expect("two nodes");
        // After the first packet of the others.
        got(&mut network, 3_000);
        offer(&mut network, &frame(address(NodeId(1)), 0, 500), (RATES, 0), 3);
        let Got { receptions, statuses, .. } = got(&mut network, 20_000);
        assert_eq!(receptions, []);
        let expected = [(3, false, &ONCE[..])];
        assert!(statuses.iter().map(|it| (it.1, it.2, &it.3[..])).eq(expected), "{standard}: {statuses:?}");
    }
}
