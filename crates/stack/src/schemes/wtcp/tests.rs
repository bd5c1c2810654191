//! One script per rule.

use super::super::held::script::{LEN, MOBILE, SERVER, STATION, Script, ack, at, data, packet};
use super::*;
use crate::packet::{Options, Timestamps};

const NOTHING: [&str; 0] = [];

fn ms(ms: u64) -> Span {
    Span::from_millis(ms)
}

fn with(config: &Config) -> Script<Wtcp> {
    let criterion = Criterion::one_hop(STATION, [MOBILE]);
    Script::new(Wtcp::new(Config { criterion, ..config.clone() }))
}

/// The first duplicate triggers the retransmission.
fn first() -> Config {
    Config { threshold: 0, ..Config::default() }
}

fn stamped(packet: Packet, value: u32, echo: u32) -> Packet {
    let Body::Tcp(segment) = packet.body else { panic!("a segment") };
    let options = Options { timestamps: Some(Timestamps { value, echo }), ..segment.options };
    Packet { body: Body::Tcp(Segment { options, ..segment }), ..packet }
}

/// The sender's clock, in ticks of 1 ms: a segment reaches the station 5 ms after it left.
fn clock(script: &Script<Wtcp>) -> u32 {
    (script.now.0 / 1_000_000) as u32 + 10_000 - 5
}

/// Segments from the sender; returns what goes to the link.
fn send(script: &mut Script<Wtcp>, numbers: impl IntoIterator<Item = u32>) -> Vec<String> {
    let stamp = clock(script);
    numbers.into_iter().flat_map(|number| script.down(&stamped(data(number), stamp, 0))).collect()
}

/// The mobile acknowledges with this echo.
fn answer(script: &mut Script<Wtcp>, number: u32, echo: u32) -> Vec<String> {
    script.up(&stamped(packet(MOBILE, SERVER, ack(number)), 1, echo))
}

/// Segments 0 to 9, the first acknowledged after 20 ms.
fn begun(config: &Config) -> Script<Wtcp> {
    let mut script = with(config);
    assert_eq!(send(&mut script, 0..10).len(), 10);
    script.wait(ms(20));
    assert_eq!(answer(&mut script, 1, 0), ["up ack 1"]);
    script
}

#[test]
fn a_duplicate_sends_one_segment_again_and_none_goes_up() {
    let mut script = begun(&first());
    assert_eq!(answer(&mut script, 1, 0), ["ahead 1"]);
    // Eight are buffered behind it, one of which has caused a duplicate; new segments pass, since the window is
    // unchanged.
    for _ in 0..4 {
        assert_eq!(answer(&mut script, 1, 0), NOTHING);
    }
    assert_eq!(send(&mut script, [10]), ["down 10"]);
    for _ in 0..3 {
        assert_eq!(answer(&mut script, 1, 0), NOTHING);
    }
    assert_eq!(answer(&mut script, 1, 0), ["ahead 1"]);
    assert_eq!(answer(&mut script, 10, 0), ["up ack 10"]);
    let counters = script.agent.counters();
    assert_eq!((counters.suppressed, counters.repaired, counters.timeouts), (9, 2, 0));
}

#[test]
fn a_copy_that_was_not_needed_makes_no_other() {
    let mut script = begun(&Config::default());
    script.wait(ms(1_000));
    assert_eq!(answer(&mut script, 4, 0).len(), 7, "what is kept goes again, and the acknowledgement up");
    // The mobile already has all of them.
    assert_eq!(answer(&mut script, 10, 0), ["up ack 10"]);
    assert_eq!(send(&mut script, 10..12).len(), 2);
    assert_eq!(answer(&mut script, 10, 0), NOTHING);
    assert_eq!(answer(&mut script, 12, 0), ["up ack 12"]);
    assert_eq!(script.agent.counters().repaired, 1);
}

#[test]
fn the_timer_closes_the_window_does_not_back_off_and_an_advance_opens_it() {
    let mut script = begun(&first());
    let first = script.wait(ms(1_000));
    assert_eq!(first, ["ahead 1"]);
    // New segments wait.
    assert_eq!(send(&mut script, 10..12), NOTHING);
    assert_eq!(script.wait(Span::from_secs(10)), ["ahead 1"; 10]);
    // The mobile has only 1 to 3: all buffered segments are sent.
    let all: Vec<String> = (4..12).map(|number| format!("down {number}")).collect();
    let said = answer(&mut script, 4, 0);
    assert_eq!(said[..8], all[..]);
    assert_eq!(said[8..], ["up ack 4"]);
    assert_eq!(send(&mut script, [12]), ["down 12"]);
}

#[test]
fn what_never_came_is_the_senders_and_goes_at_once_when_it_comes() {
    let mut script = with(&first());
    send(&mut script, [0, 1, 3, 4, 5]);
    answer(&mut script, 2, 0);
    (0..3).for_each(|_| assert_eq!(answer(&mut script, 2, 0), ["up ack 2"]));
    assert_eq!(send(&mut script, [2]), ["down 2"]);
    assert_eq!(answer(&mut script, 6, 0), ["up ack 6"]);
}

#[test]
fn a_sender_that_sends_again_is_answered_once() {
    let mut script = begun(&first());
    assert_eq!(answer(&mut script, 1, 0), ["ahead 1"]);
    assert_eq!(send(&mut script, [1]), ["ahead 1"]);
    assert_eq!(answer(&mut script, 1, 0), ["up ack 1"]);
    assert_eq!(answer(&mut script, 1, 0), NOTHING);
}

#[test]
fn a_closed_window_stops_the_timer_and_its_answers_pass() {
    let mut script = begun(&first());
    let closed = Segment { window: 0, ..ack(1) };
    let closed = stamped(packet(MOBILE, SERVER, closed), 1, 0);
    (0..3).for_each(|_| assert_eq!(script.up(&closed), ["up ack 1"]));
    assert_eq!(script.wait(Span::from_secs(20)), NOTHING);
    assert_eq!(answer(&mut script, 1, 0), ["up ack 1"], "the window opens");
    assert_eq!(script.wait(ms(1_000)), ["ahead 1"]);
}

/// The echo that the forwarded acknowledgement carries.
fn echo(script: &mut Script<Wtcp>, number: u32, echo: u32) -> u32 {
    let answer = stamped(packet(MOBILE, SERVER, ack(number)), 1, echo);
    script.agent.up(&answer, script.now, &mut script.heard);
    let up = *script.heard.packets.last().expect("it goes up");
    script.said();
    let Body::Tcp(segment) = up.body else { panic!("a segment") };
    segment.options.timestamps.expect("stamped").echo
}

/// A flow of two seconds, one segment every 20 ms, so that the rate of the sender's clock is known.
fn known(config: &Config) -> Script<Wtcp> {
    let mut script = with(config);
    for number in 0..100 {
        send(&mut script, [number]);
        script.wait(ms(20));
        answer(&mut script, number + 1, 0);
    }
    script
}

#[test]
fn the_time_at_the_station_is_added_to_the_echo_of_its_segment() {
    let mut script = known(&first());
    let stamp = clock(&script);
    send(&mut script, [100]);
    script.wait(ms(1));
    send(&mut script, 101..104);
    script.wait(ms(29));
    // 100 is lost; its copy leaves 30 ms after it arrived.
    assert_eq!(answer(&mut script, 100, 0), ["ahead 100"]);
    script.wait(ms(10));
    let changed = echo(&mut script, 104, stamp);
    assert_eq!(changed, stamp + 30);
    // The echo of a segment that did not wait is unchanged.
    let stamp = clock(&script);
    send(&mut script, [104]);
    script.wait(ms(10));
    assert_eq!(echo(&mut script, 105, stamp), stamp);
    assert_eq!(script.agent.counters().restamped, 1);
}

#[test]
fn no_echo_changes_without_the_rule_or_in_the_first_second() {
    let mut script = known(&Config { hide_time: false, ..first() });
    let stamp = clock(&script);
    send(&mut script, 100..104);
    script.wait(ms(30));
    answer(&mut script, 100, 0);
    assert_eq!(echo(&mut script, 104, stamp), stamp);
    let mut script = begun(&first());
    script.wait(ms(30));
    answer(&mut script, 1, 0);
    assert_eq!(echo(&mut script, 10, 9_995), 9_995);
}

#[test]
fn data_without_timestamps_goes_on_untouched() {
    let mut script = with(&first());
    script.send(0..4);
    (0..3).for_each(|_| assert_eq!(script.ack(0), ["up ack 0"]));
    assert_eq!(script.agent.activity().state_bytes_max, 0);
}

#[test]
fn what_finds_no_room_is_forwarded_and_not_repeated() {
    let mut script = with(&Config { buffer: 3, ..first() });
    assert_eq!(send(&mut script, 0..5).len(), 5);
    assert_eq!(script.agent.counters().not_kept, 2);
    answer(&mut script, 3, 0);
    (0..3).for_each(|_| assert_eq!(answer(&mut script, 3, 0), ["up ack 3"]));
}

#[test]
fn what_the_queue_refuses_is_the_senders_unless_it_was_a_copy() {
    let mut script = begun(&first());
    script.refuse(&stamped(data(9), 0, 0));
    script.refuse(&stamped(data(1), 0, 0));
    (0..3).for_each(|_| assert_eq!(answer(&mut script, 1, 0), ["up ack 1"]));
    assert_eq!(answer(&mut script, 2, 0), ["up ack 2"]);
    assert_eq!(answer(&mut script, 2, 0), ["ahead 2"]);
    script.refuse(&stamped(data(2), 0, 0));
    assert_eq!(script.wait(Span::from_secs(1)), ["ahead 2"]);
    assert_eq!(script.agent.counters().not_kept, 2);
}

#[test]
fn at_a_hand_off_what_is_kept_moves_and_goes_on_when_the_first_arrived() {
    let mut script = begun(&first());
    let exported = script.agent.export(MOBILE, script.now, &mut script.heard).expect("state");
    assert!(exported.bytes > 9 * u64::from(LEN));
    assert_eq!(script.wait(Span::from_secs(30)), NOTHING);
    let mut other = with(&first());
    other.agent.import(exported, other.now, &mut other.heard);
    assert_eq!(other.said(), ["ahead 1"]);
    let said = answer(&mut other, 2, 0);
    assert_eq!((said.len(), said[0].as_str(), said[8].as_str()), (9, "down 2", "up ack 2"));
}

#[test]
fn a_flow_ends_with_its_fin_a_reset_and_a_new_syn() {
    let is_known = |script: &Script<Wtcp>| script.agent.flows.find(&FlowKey::of(&data(0))).is_some();
    let with_flag = |flag| {
        let Body::Tcp(segment) = data(10).body else { panic!("a segment") };
        packet(SERVER, MOBILE, Segment { flags: segment.flags.with(flag), ..segment })
    };
    let mut script = begun(&first());
    script.down(&stamped(with_flag(Flags::FIN), 0, 0));
    assert!(is_known(&script));
    let last = Segment { ack: at(11).plus(1), ..ack(1) };
    script.up(&stamped(packet(MOBILE, SERVER, last), 1, 0));
    assert!(!is_known(&script));
    for flag in [Flags::RST, Flags::SYN] {
        let mut script = begun(&first());
        script.down(&stamped(with_flag(flag), 0, 0));
        assert!(!is_known(&script));
    }
}

#[test]
fn a_station_that_restarts_leaves_what_it_had_buffered_to_the_sender() {
    let mut script = begun(&first());
    script.agent.restart(script.now, &mut script.heard);
    assert_eq!(script.wait(Span::from_secs(30)), NOTHING, "there is nothing to send again");
    (0..4).for_each(|_| assert_eq!(answer(&mut script, 1, 0), ["up ack 1"]));
    assert_eq!(send(&mut script, [1]), ["down 1"]);
    assert_eq!(answer(&mut script, 10, 0), ["up ack 10"]);
}
