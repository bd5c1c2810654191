//! One script per rule.

use super::super::held::script::{MOBILE, SERVER, STATION, Script, ack, at, data, packet};
use super::*;
use crate::packet::SackBlocks;

const NOTHING: [&str; 0] = [];

fn ms(ms: u64) -> Span {
    Span::from_millis(ms)
}

fn with(config: &Config) -> Script<Snoop> {
    let criterion = Criterion::one_hop(STATION, [MOBILE]);
    Script::new(Snoop::new(Config { criterion, ..config.clone() }))
}

/// Segments 0 to 9, the first acknowledged after 20 ms.
fn begun(config: &Config) -> Script<Snoop> {
    let mut script = with(config);
    script.send(0..10);
    script.wait(ms(20));
    assert_eq!(script.ack(1), ["up ack 1"]);
    script
}

#[test]
fn the_second_duplicate_sends_the_segment_again_and_those_that_must_follow_are_suppressed() {
    let mut script = begun(&Config::default());
    assert_eq!(script.ack(1), ["up ack 1"]);
    assert_eq!(script.ack(1), ["ahead 1"]);
    // Eight segments are cached behind it, two of which have already caused a duplicate.
    for _ in 0..6 {
        assert_eq!(script.ack(1), NOTHING);
    }
    assert_eq!(script.ack(10), ["up ack 10"]);
    let Counters { suppressed, repaired, passed, timeouts, .. } = script.agent.counters();
    assert_eq!((suppressed, repaired, passed, timeouts), (7, 1, 3, 0));
}

#[test]
fn a_duplicate_beyond_those_expected_shows_a_lost_copy_once_and_passes_then() {
    let mut script = begun(&Config::default());
    script.ack(1);
    assert_eq!(script.ack(1), ["ahead 1"]);
    (0..6).for_each(|_| assert_eq!(script.ack(1), NOTHING));
    // The segments sent after the copy arrive; the copy does not.
    script.send(10..14);
    assert_eq!(script.ack(1), ["ahead 1"]);
    (0..3).for_each(|_| assert_eq!(script.ack(1), NOTHING));
    script.send(14..16);
    assert_eq!(script.ack(1), ["up ack 1"]);
    assert_eq!(script.ack(1), ["up ack 1"]);
}

#[test]
fn the_threshold_is_how_many_pass_and_each_advance_counts_anew() {
    let mut script = begun(&Config { threshold: 0, ..Config::default() });
    assert_eq!(script.ack(1), ["ahead 1"]);
    assert_eq!(script.ack(4), ["up ack 4"]);
    assert_eq!(script.ack(4), ["ahead 4"]);
    let mut script = begun(&Config { threshold: 2, ..Config::default() });
    assert_eq!([script.ack(1), script.ack(1), script.ack(1)].concat(), ["up ack 1", "up ack 1", "ahead 1"]);
    assert_eq!([script.ack(4), script.ack(4), script.ack(4)].concat(), ["up ack 4"; 3]);
}

#[test]
fn a_copy_may_go_to_the_end_of_the_queue() {
    let mut script = begun(&Config { ahead: false, ..Config::default() });
    script.ack(1);
    assert_eq!(script.ack(1), ["down 1"]);
}

#[test]
fn what_is_not_kept_or_was_sent_again_by_its_sender_is_left_to_the_sender() {
    // Segment 2 never reached the station.
    let mut script = with(&Config::default());
    script.send([0, 1, 3, 4, 5, 6]);
    script.ack(2);
    (0..4).for_each(|_| assert_eq!(script.ack(2), ["up ack 2"]));
    // It arrives now: its sender has retransmitted it, so its duplicates pass.
    script.send([2]);
    (0..4).for_each(|_| assert_eq!(script.ack(2), ["up ack 2"]));
    // So do the duplicates for a cached segment that its sender retransmits.
    let mut script = begun(&Config::default());
    script.send([1]);
    (0..4).for_each(|_| assert_eq!(script.ack(1), ["up ack 1"]));
    assert_eq!(script.agent.counters().repaired, 0);
}

#[test]
fn what_finds_no_room_or_is_refused_by_the_queue_is_not_kept() {
    let mut script = with(&Config { cache: 3, ..Config::default() });
    script.send(0..5);
    assert_eq!(script.agent.counters().not_kept, 2);
    assert_eq!([script.ack(3), script.ack(3), script.ack(3)].concat(), ["up ack 3"; 3]);
    let mut script = with(&Config::default());
    script.send(0..5);
    script.refuse(&data(1));
    script.ack(1);
    (0..3).for_each(|_| assert_eq!(script.ack(1), ["up ack 1"]));
    assert_eq!(script.agent.counters().not_kept, 1);
    // If the queue refuses a local retransmission, the segment stays in the cache.
    let mut script = begun(&Config::default());
    script.ack(1);
    script.ack(1);
    script.refuse(&data(1));
    assert_eq!(script.agent.counters().not_kept, 0);
    assert_eq!(script.wait(Span::from_secs(1)), ["ahead 1"]);
}

#[test]
fn the_timer_repeats_the_oldest_at_most_ten_times_and_does_not_slow_down() {
    let mut script = with(&Config::default());
    script.send(0..3);
    // Without a round trip sample: 0.1 s plus four times 0.25 s.
    assert_eq!(script.wait(ms(1_099)), NOTHING);
    assert_eq!(script.wait(ms(1)), ["ahead 0"]);
    assert_eq!(script.wait(ms(2_199)), ["ahead 0"]);
    assert_eq!(script.wait(Span::from_secs(60)).len(), 8);
    assert_eq!(script.agent.counters().timeouts, 10);
    // Its sender retransmits it: ten more.
    script.send([0]);
    assert_eq!(script.wait(Span::from_secs(60)).len(), 10);
}

#[test]
fn the_timeout_follows_the_round_trips_of_what_was_sent_once_down_to_its_floor() {
    let mut script = with(&Config::default());
    for number in 0..60 {
        script.send([number]);
        script.wait(ms(20));
        script.ack(number + 1);
    }
    script.send([60, 61]);
    assert_eq!(script.wait(ms(99)), NOTHING);
    assert_eq!(script.wait(ms(1)), ["ahead 60"]);
    // The acknowledgement of a retransmitted segment gives no sample.
    script.wait(ms(50));
    script.ack(61);
    assert_eq!(script.wait(ms(99)), NOTHING);
    assert_eq!(script.wait(ms(1)), ["ahead 61"]);
}

#[test]
fn without_karns_rule_all_is_timed_and_an_advance_starts_the_timer_with_the_estimate_from_before_it() {
    let ns2 = Config { gain: 0.875, karn: false, ..Config::default() };
    for (config, after_advance, after_repair) in [
        // 30 ms and four times (7 * 250 + 10) / 8 = 220 ms, at once and as long as what was repaired does not count.
        (Config { karn: true, ..ns2.clone() }, ms(910), ms(910)),
        // The estimate before the first sample; then 196.25 ms and four times (7 * 220 + 23.75) / 8 = 195.47 ms.
        (ns2, ms(1_100), Span::from_micros(978_125)),
    ] {
        let just_before = |span: Span| Span(span.0 - 1_000);
        let mut script = begun(&config);
        assert_eq!(script.wait(just_before(after_advance)), NOTHING);
        assert_eq!(script.wait(Span(1_000)), ["ahead 1"]);
        let mut script = begun(&config);
        script.ack(1);
        assert_eq!(script.ack(1), ["ahead 1"]);
        script.wait(ms(200));
        // Segment 9 was sent 220 ms ago, and waited for the copy.
        script.ack(10);
        script.send([10]);
        assert_eq!(script.wait(just_before(after_repair)), NOTHING);
        assert_eq!(script.wait(Span(1_000)), ["ahead 10"]);
    }
}

#[test]
fn duplicates_after_a_copy_of_the_timer_are_those_expected() {
    let mut script = begun(&Config::default());
    // 90 ms plus four times 227.5 ms.
    assert_eq!(script.wait(ms(1_000)), ["ahead 1"]);
    (0..8).for_each(|_| assert_eq!(script.ack(1), NOTHING));
    assert_eq!(script.ack(1), ["ahead 1"]);
}

#[test]
fn a_window_update_a_duplicate_sack_and_old_acknowledgements_pass() {
    let mut script = begun(&Config { threshold: 0, ..Config::default() });
    let wider = Segment { window: 600, ..ack(1) };
    assert_eq!(script.up(&packet(MOBILE, SERVER, wider)), ["up ack 1"]);
    let mut sack = SackBlocks::default();
    sack.push(at(0), at(1));
    let twice =
        Segment { window: 600, options: crate::packet::Options { sack, ..Default::default() }, ..ack(1) };
    assert_eq!(script.up(&packet(MOBILE, SERVER, twice)), ["up ack 1"]);
    assert_eq!(script.ack(0), ["up ack 0"]);
    assert_eq!(script.up(&packet(MOBILE, SERVER, Segment { window: 600, ..ack(1) })), ["ahead 1"]);
}

#[test]
fn a_flow_ends_with_its_fin_a_reset_and_a_new_syn() {
    let flows = |script: &Script<Snoop>| script.agent.to_mobiles.find(&FlowKey::of(&data(0))).is_some();
    let with_flag = |flag| {
        let Body::Tcp(segment) = data(10).body else { panic!("a segment") };
        packet(SERVER, MOBILE, Segment { flags: segment.flags.with(flag), ..segment })
    };
    let mut script = begun(&Config::default());
    script.down(&with_flag(Flags::FIN));
    script.up(&packet(MOBILE, SERVER, Segment { ack: at(11).plus(1), ..ack(1) }));
    assert!(!flows(&script));
    for flag in [Flags::RST, Flags::SYN] {
        let mut script = begun(&Config::default());
        script.down(&with_flag(flag));
        assert!(!flows(&script));
    }
}

/// A segment from the mobile.
fn from_mobile(number: u32) -> Packet {
    let segment = Segment { seq: at(number), len: 1000, ..ack(1) };
    packet(MOBILE, SERVER, segment)
}

fn to_mobile(number: u32) -> Packet {
    packet(SERVER, MOBILE, ack(number))
}

#[test]
fn a_duplicate_for_what_the_wireless_link_lost_is_marked_and_one_for_a_later_loss_is_not() {
    let mut script = with(&Config::default());
    for number in [0, 2, 3, 4, 5] {
        assert_eq!(script.up(&from_mobile(number)), [format!("up {number}")]);
    }
    assert_eq!(script.down(&to_mobile(1)), ["down ack 1"]);
    assert_eq!(script.down(&to_mobile(1)), ["down ack 1 marked"]);
    assert_eq!(script.down(&to_mobile(1)), ["down ack 1 marked"]);
    // The retransmission fills the hole.
    script.up(&from_mobile(1));
    assert_eq!(script.down(&to_mobile(1)), ["down ack 1"]);
    assert_eq!(script.down(&to_mobile(4)), ["down ack 4"]);
    // Segment 4 was lost beyond the station.
    assert_eq!(script.down(&to_mobile(4)), ["down ack 4"]);
    assert_eq!(script.agent.counters().marked, 2);
}

#[test]
fn nothing_is_marked_without_something_behind_the_hole_or_without_the_rule() {
    let mut script = with(&Config::default());
    for number in [0, 1] {
        script.up(&from_mobile(number));
    }
    script.down(&to_mobile(2));
    assert_eq!(script.down(&to_mobile(2)), ["down ack 2"]);
    let mut script = with(&Config { eln: false, ..Config::default() });
    for number in [0, 2, 3] {
        script.up(&from_mobile(number));
    }
    script.down(&to_mobile(1));
    assert_eq!(script.down(&to_mobile(1)), ["down ack 1"]);
}

#[test]
fn a_second_hole_is_marked_when_the_acknowledgement_has_come_to_it() {
    let mut script = with(&Config::default());
    for number in [0, 2, 4, 5] {
        script.up(&from_mobile(number));
    }
    script.down(&to_mobile(1));
    assert_eq!(script.down(&to_mobile(1)), ["down ack 1 marked"]);
    script.up(&from_mobile(1));
    assert_eq!(script.down(&to_mobile(3)), ["down ack 3"]);
    assert_eq!(script.down(&to_mobile(3)), ["down ack 3 marked"]);
}

#[test]
fn at_a_hand_off_the_copies_and_holes_move_and_the_oldest_goes_at_once() {
    let mut script = begun(&Config::default());
    for number in [0, 2, 3] {
        script.up(&from_mobile(number));
    }
    script.down(&to_mobile(1));
    let exported = script.agent.export(MOBILE, script.now, &mut script.heard).expect("state");
    assert!(exported.bytes > 9 * 1_000, "the segments are part of it");
    assert!(script.agent.export(MOBILE, script.now, &mut script.heard).is_none());
    assert_eq!(script.wait(Span::from_secs(30)), NOTHING);
    let mut other = with(&Config::default());
    other.agent.import(exported, other.now, &mut other.heard);
    assert_eq!(other.said(), ["ahead 1"]);
    assert_eq!(other.down(&to_mobile(1)), ["down ack 1 marked"]);
    assert_eq!(other.ack(3), ["up ack 3"]);
    assert_eq!([other.ack(3), other.ack(3)].concat(), ["up ack 3", "ahead 3"]);
    // What the first station sent gives no round trip: the timeout is that after its own sample of 20 ms.
    assert_eq!([other.ack(6), other.ack(8)].concat(), ["up ack 6", "up ack 8"]);
    assert_eq!(other.wait(ms(999)), NOTHING);
    assert_eq!(other.wait(ms(1)), ["ahead 8"]);
}

#[test]
fn state_is_counted_with_the_packets_and_given_back() {
    let mut script = with(&Config::default());
    script.send(0..10);
    let most = script.agent.activity().state_bytes_max;
    // Of each segment the packet, when it was sent, how often, and whether its sender repeated it.
    let segments = 10 * (1_040 + 8 + 4 + 1);
    // Of the flow: two times, the mean and the deviation, and the duplicates seen and expected. Of its queue: the room,
    // the number, window and FIN of the mobile, whether it was heard, its latest echo, and the size.
    let flow = 8 + 8 + (8 + 8) + (4 + 5) + (8 + 5 + 2 + 5 + 1 + 5 + 8);
    assert_eq!(most, segments + flow);
    script.ack(10);
    script.send(10..15);
    assert_eq!(script.agent.activity().state_bytes_max, most);
}

#[test]
fn idle_flows_are_forgotten_and_the_table_is_bounded() {
    let mut script =
        with(&Config { max_flows: 1, idle: Span::from_secs(5), repeats: 1, ..Config::default() });
    script.send([0]);
    let mut other = data(0);
    let Body::Tcp(segment) = &mut other.body else { panic!("a segment") };
    segment.dst_port = 5_000;
    script.down(&other);
    assert_eq!(script.agent.to_mobiles.refused(), 1);
    script.wait(Span::from_secs(6));
    script.down(&other);
    assert_eq!(script.agent.to_mobiles.refused(), 1);
    assert!(script.agent.to_mobiles.find(&FlowKey::of(&other)).is_some());
}

#[test]
fn a_station_that_restarts_passes_what_it_had_cached_to_the_sender() {
    let mut script = begun(&Config::default());
    script.up(&from_mobile(0));
    script.up(&from_mobile(2));
    script.agent.restart(script.now, &mut script.heard);
    assert_eq!(script.wait(Span::from_secs(30)), NOTHING, "there is nothing to send again");
    (0..4).for_each(|_| assert_eq!(script.ack(1), ["up ack 1"]));
    assert_eq!(script.down(&to_mobile(1)), ["down ack 1"], "no hole is known");
    script.send([1]);
    assert_eq!([script.ack(10), script.ack(10)].concat(), ["up ack 10", "up ack 10"]);
}
