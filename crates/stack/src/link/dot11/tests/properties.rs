//! Properties for every traffic, topology and error: a packet goes up at most once, ends once, and nothing hangs.

use proptest::prelude::*;

use super::super::{FrameKind, MacConfig, Outcome, PcfConfig, Preset, Role};
use super::cell::{Cell, Event, at, dcf};
use crate::packet::NodeId;
use crate::units::Span;

/// A packet: when it comes in microseconds, from, to, bytes.
type Offer = (u64, usize, usize, u32);

const KINDS: [FrameKind; 6] =
    [FrameKind::Rts, FrameKind::Cts, FrameKind::Ack, FrameKind::Data, FrameKind::Null, FrameKind::Beacon];

fn configs() -> impl Strategy<Value = MacConfig> {
    let rts = prop::option::of(prop::sample::select(vec![0, 300, 1_000]));
    let fragments = prop::option::of(300u32..1_200);
    (prop::sample::select(Preset::ALL.to_vec()), rts, fragments).prop_map(
        |(preset, rts_threshold, fragment_threshold)| {
            let config = preset.config();
            let limit = |limit: Option<u32>| Some(limit.unwrap_or(7));
            MacConfig {
                rts_threshold,
                fragment_threshold,
                short_retry: limit(config.short_retry),
                long_retry: limit(config.long_retry),
                ..config
            }
        },
    )
}

fn offers(nodes: usize) -> impl Strategy<Value = Vec<Offer>> {
    prop::collection::vec((0u64..60_000, 0..nodes, 0..nodes, 1u32..1_500), 1..40).prop_map(|mut offers| {
        offers.retain(|(_, from, to, _)| from != to);
        offers.sort_unstable();
        offers
    })
}

/// Offers the packets and runs to the end; returns those that were accepted.
fn play(cell: &mut Cell, offers: &[Offer]) -> Vec<usize> {
    let mut taken = Vec::new();
    for (handle, &(when, from, to, bytes)) in offers.iter().enumerate() {
        cell.run(at(when));
        if cell.enqueue(from, to, handle as u64, bytes) {
            taken.push(handle);
        }
    }
    // The longest life of a packet is far shorter: seven attempts with the largest windows.
    cell.run(at(60_000_000));
    taken
}

/// How often each packet went up, was delivered, was parted with at all.
fn fates(cell: &Cell, handle: u64) -> [usize; 3] {
    let count = |wanted: &dyn Fn(Event) -> bool| {
        cell.sides.iter().flat_map(|side| &side.events).filter(|(_, event)| wanted(*event)).count()
    };
    [
        count(&|event| event == Event::Up(handle)),
        count(&|event| event == Event::Done(handle, Outcome::Delivered)),
        count(&|event| matches!(event, Event::Done(of, _) if of == handle)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_packet_goes_up_at_most_once_and_is_parted_with_once(
        config in configs(),
        offers in offers(5),
        deaf in prop::collection::vec((0usize..5, 0usize..5), 0..6),
        garbled in prop::collection::vec((0usize..5, prop::sample::select(KINDS.to_vec()), 1u32..20), 0..8),
    ) {
        let mut cell = Cell::new(config, 5);
        for (a, b) in deaf {
            cell.separate(a, b);
        }
        cell.garble = garbled;
        for handle in play(&mut cell, &offers) {
            let [up, delivered, parted] = fates(&cell, handle as u64);
            prop_assert_eq!(parted, 1);
            prop_assert!(up <= 1 && delivered <= up, "up {} delivered {}", up, delivered);
        }
        prop_assert!(cell.stations.iter().all(|station| station.backlog() == 0));
    }

    #[test]
    fn polling_keeps_the_same_promises(
        offers in offers(4),
        garbled in prop::collection::vec((0usize..4, prop::sample::select(KINDS.to_vec()), 1u32..20), 0..8),
        duration in 3_000u64..90_000,
        fragment_threshold in prop::option::of(300u32..1_200),
    ) {
        let config = MacConfig { fragment_threshold, ..Preset::Dot11b.config() };
        let mut roles = vec![Role::AccessPoint];
        roles.resize(4, Role::Station { ap: NodeId(0) });
        let mut cell = Cell::with_roles(config, &roles);
        cell.garble = garbled;
        let pcf = PcfConfig { duration: Span::from_micros(duration), ..PcfConfig::default() };
        cell.with(0, |ap, now, side| dcf(ap).coordinate(pcf, (1..4).map(NodeId).collect(), now, side));
        // Stations talk to the access point alone.
        let offers: Vec<Offer> =
            offers.into_iter().map(|(when, from, to, bytes)| (when, from, if from == 0 { to } else { 0 }, bytes)).collect();
        let mut taken = Vec::new();
        for (handle, &(when, from, to, bytes)) in offers.iter().enumerate() {
            cell.run(at(when));
            if cell.enqueue(from, to, handle as u64, bytes) {
                taken.push(handle);
            }
        }
        cell.run(at(1_500_000));
        for handle in taken {
            let [up, delivered, parted] = fates(&cell, handle as u64);
            prop_assert_eq!(parted, 1);
            prop_assert!(up <= 1 && delivered <= up, "up {} delivered {}", up, delivered);
        }
    }
}
