//! Losses by chance: on the air and repaired, for good, and above the MAC.

use super::*;

/// Sends packets as a MAC with this many attempts would. Returns for each whether it arrived, and the attempts.
fn deliver(bench: &mut Bench, packets: u64, attempts: u64) -> (Vec<bool>, u64) {
    let mut sent = 0;
    let mut arrived = Vec::new();
    for _ in 0..packets {
        let frame = bench.data(0, 1, 1000);
        let mut ok = false;
        for attempt in 0..attempts {
            sent += 1;
            match bench.alone(Frame { retry: attempt > 0, ..frame }, sent * 5000) {
                Fate::Received => ok = true,
                Fate::Errored => {}
                fate => {
                    assert_eq!(fate, Fate::LostForGood);
                    break;
                }
            }
            if ok {
                break;
            }
        }
        arrived.push(ok);
    }
    (arrived, sent)
}

#[test]
fn an_error_on_the_air_is_drawn_for_each_attempt_and_repaired_by_the_next() {
    let law = ErrorLaw::Packet { rate: 0.2 };
    let mut bench = Bench::new(&lossy(law, LossMeaning::OnAir, LossOf::All), &[None; 2]);
    let (arrived, sent) = deliver(&mut bench, 20_000, 7);
    assert!(arrived.iter().filter(|ok| !**ok).count() <= 2);
    assert!((sent as f64 / 20_000.0 - 1.25).abs() < 0.01, "{sent}");
}

#[test]
fn a_loss_for_good_is_drawn_once_a_packet_and_spares_control_frames() {
    let law = ErrorLaw::Packet { rate: 0.2 };
    let mut bench = Bench::new(&lossy(law, LossMeaning::ForGood, LossOf::All), &[None; 2]);
    let (arrived, sent) = deliver(&mut bench, 20_000, 7);
    let lost = arrived.iter().filter(|ok| !**ok).count();
    assert_eq!(sent, 20_000);
    assert!((lost as f64 / 20_000.0 - 0.2).abs() < 0.01, "{lost}");
    for at in 0..1000 {
        let ack = Frame::new(FrameKind::Ack, NodeId(1), NodeId(0), 14, PhyRate::Dsss1);
        assert_eq!(bench.alone(ack, 1_000_000_000 + at * 5000), Fate::Received);
    }
}

#[test]
fn a_packet_lost_for_good_stays_lost_after_a_collision_and_one_that_passes_stays_so() {
    let law = ErrorLaw::Packet { rate: 0.5 };
    let config = lossy(law, LossMeaning::ForGood, LossOf::Packets);
    let (mut calm, mut rough) = (Bench::new(&config, &[None; 3]), Bench::new(&config, &[None; 3]));
    for packet in 0..200 {
        let at = packet * 10_000;
        let frame = calm.data(0, 1, 1000);
        let fate = calm.alone(frame, at);
        rough.send(frame, at, 1000);
        rough.start(2, 1, at, 1000);
        assert_eq!((rough.end(0, at + 1000).0, rough.end(2, at + 1000).0), (Fate::Collided, Fate::Collided));
        assert_eq!(rough.alone(Frame { retry: true, ..frame }, at + 2000), fate);
        // Its MAC ACK was lost, so that it is sent once more.
        assert_eq!(rough.alone(Frame { retry: true, ..frame }, at + 4000), fate);
    }
}

#[test]
fn others_hear_a_frame_whose_packet_is_lost_for_good() {
    let law = ErrorLaw::Packet { rate: 1.0 };
    let mut bench = Bench::new(&lossy(law, LossMeaning::ForGood, LossOf::Packets), &[None; 3]);
    bench.start(0, 1, 0, 1000);
    let (fate, heard) = bench.end(0, 1000);
    assert_eq!(fate, Fate::LostForGood);
    assert_eq!(heard, [Heard::Error(1), Heard::Idle(1), Heard::Received(2), Heard::Idle(2)]);
}

#[test]
fn a_loss_above_the_mac_leaves_the_air_alone_and_can_spare_acknowledgements() {
    let law = ErrorLaw::Packet { rate: 1.0 };
    let mut bench = Bench::new(&lossy(law, LossMeaning::AboveMac, LossOf::Data), &[None; 2]);
    let frame = bench.data(0, 1, 1000);
    assert_eq!(bench.alone(frame, 0), Fate::Received);
    let mut lost = |class| bench.radio.loses_above(NodeId(0), 1, class, 1000, Time(0));
    assert!(lost(PayloadClass::Data));
    assert!(lost(PayloadClass::Other));
    assert!(!lost(PayloadClass::TcpAck));
}

#[test]
fn errors_can_spare_all_but_data() {
    let law = ErrorLaw::Packet { rate: 1.0 };
    let frames = |bench: &mut Bench| {
        let data = bench.data(0, 1, 1000);
        let rts = Frame::new(FrameKind::Rts, NodeId(1), NodeId(0), 20, PhyRate::Dsss1);
        [data, Frame { class: PayloadClass::TcpAck, ..data }, rts]
    };
    let (lost, ok) = (Fate::Errored, Fate::Received);
    for (of, expected) in [
        (LossOf::All, [lost, lost, lost]),
        (LossOf::Packets, [lost, lost, ok]),
        (LossOf::Data, [lost, ok, ok]),
    ] {
        let mut bench = Bench::new(&lossy(law.clone(), LossMeaning::OnAir, of), &[None; 2]);
        let frames = frames(&mut bench);
        for (number, (frame, fate)) in frames.into_iter().zip(expected).enumerate() {
            assert_eq!(bench.alone(frame, number as u64 * 5000), fate);
        }
    }
}

#[test]
fn data_meets_the_same_losses_whether_acknowledgements_cross_it_or_not() {
    for meaning in [LossMeaning::OnAir, LossMeaning::ForGood] {
        let config = lossy(ErrorLaw::Packet { rate: 0.3 }, meaning, LossOf::All);
        let (mut plain, mut snoop) = (Bench::new(&config, &[None; 2]), Bench::new(&config, &[None; 2]));
        for packet in 0..500 {
            let at = packet * 20_000;
            let data = snoop.data(0, 1, 1000);
            let ack =
                Frame { transmitter: NodeId(1), receiver: NodeId(0), class: PayloadClass::TcpAck, ..data };
            let fate = snoop.alone(data, at);
            assert_eq!(plain.alone(data, at), fate);
            plain.alone(ack, at + 5000);
            if fate != Fate::Received {
                // The plain sender finds its retry spoilt by a collision and needs one more.
                plain.alone(Frame { retry: true, ..data }, at + 8000);
            }
        }
    }
}

#[test]
fn the_states_of_a_gilbert_elliott_pair_last_while_nothing_is_sent() {
    let law = ErrorLaw::GilbertElliott {
        loss_good: 0.0,
        loss_bad: 1.0,
        mean_good: Span::from_millis(300),
        mean_bad: Span::from_millis(100),
    };
    let config = lossy(law, LossMeaning::OnAir, LossOf::All);
    let (mut often, mut seldom) = (Bench::new(&config, &[None; 3]), Bench::new(&config, &[None; 3]));
    let mut lost = 0;
    for step in 0..20_000 {
        let frame = often.data(0, 1, 1000);
        let fate = often.alone(frame, step * 10_000);
        lost += u32::from(fate == Fate::Errored);
        if step % 13 == 0 {
            let back = Frame { transmitter: NodeId(1), receiver: NodeId(0), ..frame };
            assert_eq!(seldom.alone(back, step * 10_000), fate);
        }
    }
    assert!((f64::from(lost) / 20_000.0 - 0.25).abs() < 0.04, "{lost}");
}
