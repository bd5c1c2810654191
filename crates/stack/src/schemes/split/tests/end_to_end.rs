//! A whole connection over a station: disconnections, restarts and hand-offs.

use super::world::World;
use super::*;
use crate::registry::ReactionKind;

const SECOND: u64 = 1_000;

#[test]
fn a_disconnection_leaves_the_window_of_the_host_as_it_was_and_the_hop_resumes_at_once() {
    for reaction in [ReactionKind::MTcp, ReactionKind::None] {
        let mut world = World::opened(end_to_end(), reaction, [100_000_000, 0]);
        world.go_to(ms(2 * SECOND));
        let cwnd = world.host.connection().sender().window().cwnd;
        world.link(LinkEvent::Down);
        world.go_to(ms(12 * SECOND));
        assert!(world.host.connection().sender().is_persisting());
        let (_, before) = world.of_host();
        world.link(LinkEvent::Up);
        // A greeting resumes it; without one the station waits for its own timeout.
        world.go_to(ms(12 * SECOND + if reaction == ReactionKind::MTcp { 12 } else { 250 }));
        assert!(world.of_host().1 > before, "{reaction:?}");
        world.go_to(ms(13 * SECOND));
        assert_eq!(world.host.connection().sender().timeouts(), 0);
        assert!(world.host.connection().sender().window().cwnd >= cwnd);
        assert!(!world.host.connection().sender().is_persisting());
    }
}

#[test]
fn the_round_trip_of_the_host_has_the_hop_in_it_where_acknowledgements_mean_what_they_say() {
    let srtt = |station: Split<Parts>| {
        let mut world = World::opened(station, ReactionKind::None, [100_000_000, 0]);
        world.go_to(ms(5 * SECOND));
        world.host.connection().sender().rtt().srtt().expect("a sample")
    };
    // 15 ms of wire each way, and 4 ms of hop; the timestamps have ticks of 1 ms.
    let (whole, half) = (srtt(end_to_end()), srtt(indirect()));
    assert!(whole >= ms(37) && whole < ms(48), "{whole:?}");
    assert!(half >= ms(29) && half < ms(37), "{half:?}");
}

#[test]
fn a_station_that_dies_in_a_disconnection_loses_as_much_as_it_counts() {
    let mut world = World::opened(indirect(), ReactionKind::None, [100_000_000, 0]);
    world.go_to(ms(2 * SECOND));
    world.link(LinkEvent::Down);
    world.go_to(ms(4 * SECOND));
    let unconfirmed = world.station.activity().unconfirmed.expect("it sees acknowledgements");
    assert!(unconfirmed >= 8_000, "{unconfirmed}");
    world.restart();
    world.link(LinkEvent::Up);
    world.go_to(ms(60 * SECOND));
    let (acknowledged, delivered) = world.of_host();
    // Data on the hop when it went down may have arrived although its acknowledgement did not.
    assert!(acknowledged - delivered <= unconfirmed && acknowledged - delivered > 0);
    assert_eq!(world.station.counters().lost, unconfirmed);
}

#[test]
fn a_station_that_dies_while_nothing_is_on_the_hop_loses_exactly_what_it_counts() {
    let mut world = World::opened(indirect(), ReactionKind::None, [4_000, 0]);
    world.go_to(ms(SECOND));
    assert_eq!(world.of_host(), (4_000, 4_000));
    world.link(LinkEvent::Down);
    world.with_host(|host, now| host.act(|tcp, out| tcp.write(1_000_000, now, out)));
    world.go_to(ms(10 * SECOND));
    let unconfirmed = world.station.activity().unconfirmed.expect("it sees acknowledgements");
    world.restart();
    world.link(LinkEvent::Up);
    world.go_to(ms(100 * SECOND));
    let (acknowledged, delivered) = world.of_host();
    assert_eq!((delivered, acknowledged - delivered), (4_000, unconfirmed));
    assert_eq!((unconfirmed, world.station.counters().lost), (16_000, 16_000), "both buffers");
}

#[test]
fn with_an_end_to_end_meaning_a_station_that_dies_loses_no_acknowledged_byte() {
    let mut world = World::opened(end_to_end(), ReactionKind::None, [100_000_000, 0]);
    world.go_to(ms(2 * SECOND));
    world.restart();
    world.go_to(ms(60 * SECOND));
    let (acknowledged, delivered) = world.of_host();
    assert!(acknowledged <= delivered && acknowledged > 100_000);
    assert_eq!(world.station.counters().lost, 0);
}

#[test]
fn a_hand_off_loses_nothing_and_takes_the_window_to_its_start() {
    for station in [indirect, end_to_end] {
        let mut world = World::opened(station(), ReactionKind::MTcp, [300_000, 50_000]);
        world.close();
        world.go_to(ms(500));
        for _ in 0..3 {
            let now = world.now;
            world.hand_off(station(), ms(700));
            world.go_to(Span(now.0 + ms(1_200).0));
        }
        world.go_to(ms(60 * SECOND));
        assert_eq!(world.of_host(), (300_001, 300_001));
        assert_eq!(world.of_mobile(), (50_001, 50_001));
    }
}
