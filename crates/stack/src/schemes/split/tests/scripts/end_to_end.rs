//! Scripts of a station that acknowledges what the mobile has: acknowledgements keep their end-to-end meaning.

use super::*;

#[test]
fn with_an_end_to_end_meaning_data_is_acknowledged_when_the_mobile_has_it_less_a_byte() {
    let mut script = Script::opened(end_to_end());
    script.host_sends(data(0)).host_sends(data(1));
    assert_eq!(script.data_down(), [(0, 1000), (1000, 1000)]);
    assert_eq!(script.acks_up(), []);
    script.wait(50);
    assert_eq!(script.acks_up(), [], "no timer of a delayed acknowledgement either");
    script.mobile_sends(ack(1_000));
    assert_eq!(script.acks_up(), [(999, 9_001)]);
    script.mobile_sends(ack(2_000));
    assert_eq!(script.acks_up(), [(1_999, 8_001)]);
    script.wait(99);
    assert_eq!(script.acks_up(), []);
    script.wait(1);
    assert_eq!(script.acks_up(), [(2_000, 8_000)], "the last byte, alone");
    assert_eq!(script.agent.activity().unconfirmed, Some(0));
}

#[test]
fn a_disconnection_stops_the_host_by_the_last_byte_and_a_greeting_starts_it() {
    let mut script = Script::opened(end_to_end());
    for number in 0..4 {
        script.host_sends(data(number));
    }
    script.mobile_sends(ack(1_000)).wait(20);
    script.mobile_sends(ack(2_000));
    script.clear();
    script.link(LinkEvent::Down);
    assert_eq!(script.acks_up(), [(2_000, 0)]);
    script.wait(8_000);
    assert_eq!((script.up(), script.down()), (vec![], vec![]), "no timer runs while it is away");
    // A probe from the host is answered, and does not open the window.
    script.host_sends(Segment { len: 1, ..data(2) });
    assert_eq!(script.acks_up(), [(2_000, 0)]);
    script.link(LinkEvent::Up);
    assert_eq!((script.up(), script.down()), (vec![], vec![]), "the mobile greets first");
    script.wait(5).mobile_sends(ack(3_000));
    assert_eq!(script.acks_up()[0], (2_999, 9_001), "the full window");
    assert_eq!(script.data_down(), [(3000, 1000)], "from its highest number, at once");
    assert_eq!(script.agent.counters().freezes, 1);
}

#[test]
fn without_a_greeting_the_station_resends_after_a_timeout() {
    let mut script = Script::opened(end_to_end());
    script.host_sends(data(0));
    script.down();
    script.link(LinkEvent::Down).wait(3_000).link(LinkEvent::Up);
    script.down();
    script.wait(1_000);
    assert_eq!(script.data_down()[0], (0, 1000));
    assert_eq!(script.acks_up().last(), Some(&(0, 9_000)));
}

#[test]
fn silence_stops_the_host_and_not_the_hop() {
    let mut script = Script::opened(end_to_end());
    script.host_sends(data(0)).host_sends(data(1)).mobile_sends(ack(1_000));
    script.up();
    script.wait(999);
    let before = script.data_down().len();
    assert!(script.acks_up().iter().all(|(_, window)| *window > 0));
    script.wait(1);
    assert_eq!(script.acks_up(), [(1_000, 0)]);
    script.wait(4_000);
    assert!(before > 2 && !script.data_down().is_empty(), "it goes on with its timer");
    script.mobile_sends(ack(2_000));
    assert_eq!(script.acks_up()[0].0, 1_999);
    assert_eq!(script.agent.counters().freezes, 1);
    script.wait(5_000);
    assert_eq!(script.agent.counters().freezes, 1, "nothing waits for the mobile");
}

#[test]
fn duplicates_wait_until_all_below_the_hole_is_acknowledged() {
    let mut script = Script::opened(end_to_end());
    script.host_sends(data(0));
    for number in [2, 3, 4] {
        script.host_sends(data(number));
    }
    assert_eq!(script.acks_up(), []);
    script.mobile_sends(ack(1_000));
    let acks: Vec<u32> = script.acks_up().into_iter().map(|ack| ack.0).collect();
    assert_eq!(acks, [1_000, 1_000, 1_000, 1_000], "the whole, and three that were owed");
    script.host_sends(data(5));
    assert_eq!(script.acks_up().len(), 1, "further ones are of the right number");
    script.host_sends(data(1));
    assert_eq!(script.acks_up(), []);
    script.mobile_sends(ack(6_000));
    assert_eq!(script.acks_up(), [(5_999, 8_001)]);
}

#[test]
fn what_was_acknowledged_is_acknowledged_again_when_it_comes_again() {
    let mut script = Script::opened(end_to_end());
    script.host_sends(data(0)).mobile_sends(ack(1_000)).wait(200);
    script.up();
    script.host_sends(data(0));
    assert_eq!(script.acks_up(), [(1_000, 8_000)]);
    script.host_sends(data(1)).host_sends(data(1));
    assert_eq!(script.acks_up(), [], "what the mobile lacks is answered by the mobile");
}

#[test]
fn the_last_byte_of_a_stream_is_not_kept_back() {
    let mut script = Script::opened(end_to_end());
    script.host_sends(Segment { flags: ACK.with(Flags::FIN), ..data(0) });
    script.mobile_sends(ack(1_001));
    assert_eq!(script.acks_up()[0].0, 1_001);
}

#[test]
fn the_timestamp_that_comes_back_is_that_of_the_segment_acknowledged() {
    let stamped = |segment: Segment, value| {
        let timestamps = Some(Timestamps { value, echo: 0 });
        Segment { options: Options { timestamps, ..segment.options }, ..segment }
    };
    let mut script = Script::new(end_to_end());
    script.host_sends(stamped(syn(), 5)).mobile_sends(stamped(syn_ack(), 3));
    script.host_sends(stamped(Segment { len: 0, ..data(0) }, 6));
    for (number, value) in [(0, 10), (1, 20), (2, 30)] {
        script.host_sends(stamped(data(number), value));
    }
    script.out.up.clear();
    for (offset, echo) in [(1_000, 10), (3_000, 30)] {
        script.mobile_sends(stamped(ack(offset), 9));
        let echoed: Vec<u32> =
            script.out.up.drain(..).filter_map(|it| Some(segment(&it).options.timestamps?.echo)).collect();
        assert_eq!(echoed, [echo]);
    }
}

#[test]
fn a_mobile_that_sends_is_acknowledged_when_the_host_has_it() {
    let mut script = Script::opened(end_to_end());
    let sent = Segment { seq: M.plus(1), ack: H.plus(1), len: 1000, ..ack(0) };
    script.mobile_sends(sent);
    assert_eq!(script.out.up.len(), 1);
    assert_eq!(script.down(), []);
    script.host_sends(Segment { ack: M.plus(1_001), len: 0, ..data(0) });
    assert_eq!(script.out.down.iter().map(|it| segment(it).ack).collect::<Vec<_>>(), [M.plus(1_001)]);
}

#[test]
fn a_hand_off_stops_the_host_at_one_station_and_starts_it_at_the_other() {
    let mut script = Script::opened(end_to_end());
    for number in 0..3 {
        script.host_sends(data(number));
    }
    script.mobile_sends(ack(1_000));
    script.up();
    let exported = script.agent.export(MOBILE, script.now, &mut script.out).expect("a flow");
    assert_eq!(script.acks_up(), [(1_000, 0)]);
    let mut other = Script::new(end_to_end());
    other.now = script.now.after(ms(300));
    other.agent.import(exported, other.now, &mut other.out);
    assert_eq!(other.acks_up()[0], (1_000, 10_000));
    assert_eq!(other.data_down(), [(1000, 1000), (2000, 1000)]);
}
