//! No byte is lost or delivered twice, whatever is lost where, and the counts of a station are true at each instant.

use proptest::prelude::*;

use super::world::World;
use super::*;
use crate::registry::ReactionKind;

/// What happens to the hop after the first number of milliseconds: an outage or a hand-off that lasts the second.
#[derive(Clone, Copy, Debug)]
enum Happens {
    Outage(u64, u64),
    HandOff(u64, u64),
}

fn happens() -> impl Strategy<Value = Vec<Happens>> {
    let one = (10_u64..600, 1_u64..2_500, any::<bool>());
    let which = |(after, lasts, is_outage)| {
        if is_outage { Happens::Outage(after, lasts) } else { Happens::HandOff(after, lasts) }
    };
    prop::collection::vec(one.prop_map(which), 0..5)
}

fn losses() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0_usize..250, 0..25)
}

/// The acknowledgements of the station agree with the unconfirmed bytes that it reports.
fn is_honest(world: &World, is_end_to_end: bool) {
    let unconfirmed = world.station.activity().unconfirmed.unwrap_or(0);
    for (acknowledged, delivered) in [world.of_host(), world.of_mobile()] {
        if is_end_to_end {
            assert!(acknowledged <= delivered, "{acknowledged} of {delivered}");
        } else {
            assert!(acknowledged <= delivered + unconfirmed, "{acknowledged} {delivered} {unconfirmed}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]
    #[test]
    fn every_byte_arrives_once_over_a_station(
        is_end_to_end in any::<bool>(),
        reaction in prop::sample::select(ReactionKind::ALL),
        lost in [losses(), losses(), losses(), losses()],
        happens in happens(),
        bytes in [0_u64..200_000, 0_u64..60_000],
    ) {
        let station = || if is_end_to_end { end_to_end() } else { indirect() };
        let mut world = World::opened(station(), reaction, bytes);
        world.lost = lost;
        world.close();
        let check = |world: &World| is_honest(world, is_end_to_end);
        for event in happens {
            match event {
                Happens::Outage(after, lasts) => {
                    world.go_to_with(Span(world.now.0 + ms(after).0), check);
                    world.link(LinkEvent::Down);
                    world.go_to_with(Span(world.now.0 + ms(lasts).0), check);
                    world.link(LinkEvent::Up);
                }
                Happens::HandOff(after, lasts) => {
                    world.go_to_with(Span(world.now.0 + ms(after).0), check);
                    world.hand_off(station(), ms(lasts));
                }
            }
        }
        world.go_to_with(Span::from_secs(4_000), check);
        prop_assert_eq!(world.of_host(), (bytes[0] + 1, bytes[0] + 1));
        prop_assert_eq!(world.of_mobile(), (bytes[1] + 1, bytes[1] + 1));
        prop_assert_eq!(world.station.activity().unconfirmed, Some(0));
        prop_assert_eq!(world.station.levels()[0].value, 0);
    }

    #[test]
    fn a_station_that_dies_loses_no_more_than_it_counts(
        lost in [losses(), losses(), losses(), losses()],
        at in 100_u64..3_000,
        bytes in [1_000_u64..200_000, 1_000_u64..60_000],
    ) {
        let mut world = World::opened(indirect(), ReactionKind::None, bytes);
        world.lost = lost;
        world.go_to_with(ms(at), |world| is_honest(world, false));
        let unconfirmed = world.station.activity().unconfirmed.unwrap_or(0);
        world.restart();
        world.go_to(Span::from_secs(60));
        let gone = [world.of_host(), world.of_mobile()].map(|(acked, has)| acked.saturating_sub(has));
        prop_assert!(gone[0] + gone[1] <= unconfirmed, "{:?} of {}", gone, unconfirmed);
        prop_assert_eq!(world.station.counters().lost, unconfirmed);
    }
}
