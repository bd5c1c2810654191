//! Losses at chosen stations, and of chosen frames.

use lasthop_stack::link::dot11::{Frame, FrameKind, PayloadClass, PhyRate};
use lasthop_stack::packet::NodeId;
use lasthop_stack::units::Time;

use super::super::config::{ErrorLaw, LossMeaning, LossOf};
use super::super::{Fate, Heard};
use super::{Bench, lossy};
use crate::medium::loss::PacketClass;

#[test]
fn errors_can_be_at_some_stations_alone() {
    let law = ErrorLaw::Packet { rate: 1.0 };
    for (meaning, lost) in [(LossMeaning::OnAir, Fate::Errored), (LossMeaning::ForGood, Fate::LostForGood)] {
        let mut config = lossy(law.clone(), meaning, LossOf::All);
        config.errors.at = Some(vec![1]);
        let mut bench = Bench::new(&config, &[None; 3]);
        for (from, to, fate) in [(0, 1, lost), (1, 0, Fate::Received), (0, 2, Fate::Received), (2, 1, lost)] {
            let frame = bench.data(from, to, 1000);
            assert_eq!(bench.alone(frame, 5000 * (4 * from + to) as u64), fate, "{from} to {to}");
        }
    }
    let mut config = lossy(law, LossMeaning::AboveMac, LossOf::Packets);
    config.errors.at = Some(vec![1]);
    let mut bench = Bench::new(&config, &[None; 2]);
    let mut lost = |from, at| bench.radio.loses_above(NodeId(from), at, PayloadClass::Data, 1000, Time(0));
    assert!(lost(0, 1) && !lost(1, 0));
}

#[test]
fn who_overhears_a_frame_is_spared_where_errors_are_elsewhere() {
    let mut config = lossy(ErrorLaw::Packet { rate: 1.0 }, LossMeaning::OnAir, LossOf::All);
    config.errors.at = Some(vec![1]);
    let mut bench = Bench::new(&config, &[None; 3]);
    bench.start(0, 1, 0, 1000);
    let (_, heard) = bench.end(0, 1000);
    assert_eq!(heard, [Heard::Error(1), Heard::Idle(1), Heard::Received(2), Heard::Idle(2)]);
}

#[test]
fn a_list_counts_the_attempts_of_one_station_and_loses_exactly_those_it_names() {
    for (meaning, lost) in [(LossMeaning::OnAir, Fate::Errored), (LossMeaning::ForGood, Fate::LostForGood)] {
        for (of, expected) in
            [(PacketClass::All, [0, 2, 3]), (PacketClass::Data, [2, 4, 5]), (PacketClass::Ack, [0, 6, 9])]
        {
            let law = ErrorLaw::List { from: 1, of, drop: vec![2, 4, 5] };
            let mut bench = Bench::new(&lossy(law, meaning, LossOf::All), &[None; 3]);
            let mut found = Vec::new();
            for sent in 0..12_usize {
                let at = 20_000 * sent as u64;
                let rts = Frame::new(FrameKind::Rts, NodeId(0), NodeId(1), 20, PhyRate::Dsss1);
                assert_eq!(bench.alone(rts, at), Fate::Received);
                let other = bench.data(0, 1, 1000);
                assert_eq!(bench.alone(other, at + 5000), Fate::Received);
                // Every third frame is an acknowledgement, every fourth is sent again.
                let class = if sent % 3 == 0 { PayloadClass::TcpAck } else { PayloadClass::Data };
                let frame = Frame { class, ..bench.data(1, 2 * (sent % 2), 1000) };
                let again = (sent % 4 == 0).then_some(Frame { retry: true, ..frame });
                for (attempt, frame) in [Some(frame), again].into_iter().flatten().enumerate() {
                    let fate = bench.alone(frame, at + 10_000 + 5000 * attempt as u64);
                    assert!([Fate::Received, lost].contains(&fate));
                    found.extend((fate == lost).then_some(sent));
                }
            }
            assert_eq!(found, expected, "{of:?}");
        }
    }
}
