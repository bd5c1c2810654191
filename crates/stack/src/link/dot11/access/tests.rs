//! 802.11 in 1997's DSSS: a slot of 20 µs, SIFS of 10, PIFS of 30, DIFS of 50, EIFS of 364. All times are in µs.

use super::super::Preset;
use super::*;

fn rules() -> Rules {
    Rules::new(Preset::Dot11.config())
}

fn at(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

/// A medium whose carrier was busy from 0 to `idle`, with a reception that ended well or in error.
fn idle_from(idle: u64, well: bool) -> Access {
    let mut access = Access::new();
    access.on_busy(at(0));
    access.received(well);
    access.on_idle(at(idle));
    access
}

/// The first slot of this backoff begins at 150.
fn backing_off(slots: u32) -> Access {
    let mut access = idle_from(100, true);
    access.open(at(100), &rules());
    access.start(slots);
    access
}

/// When a medium opens that is idle since 100.
fn opens(mut access: Access) -> Time {
    access.open(at(100), &rules());
    access.open_at
}

#[test]
fn a_freeze_takes_off_the_whole_slots_that_have_passed() {
    for (busy, left) in [(150, 5), (169, 5), (170, 4), (195, 3), (249, 1)] {
        let mut access = backing_off(5);
        assert_eq!(access.ends(&rules()), Some(at(250)));
        assert!(access.freeze(at(busy), &rules()));
        access.on_busy(at(busy));
        access.on_idle(at(1_000));
        access.open(at(1_000), &rules());
        assert_eq!(access.ends(&rules()), Some(at(1_050 + 20 * left)), "{busy}");
    }
}

#[test]
fn a_freeze_before_the_first_slot_leaves_the_backoff_as_it_is() {
    let mut access = backing_off(5);
    assert!(!access.freeze(at(149), &rules()));
    assert_eq!(access.ends(&rules()), Some(at(250)));
    assert!(!idle_from(100, true).freeze(at(500), &rules()), "without a backoff");
}

#[test]
fn a_backoff_whose_slots_have_all_passed_is_over() {
    for (busy, over) in [(249, false), (250, true), (9_000, true)] {
        let mut access = backing_off(5);
        assert!(access.freeze(at(busy), &rules()));
        assert_eq!(access.is_backing_off(), !over, "{busy}");
    }
}

#[test]
fn whole_slots_are_counted_in_spans_beyond_32_bits_too() {
    let slot = Span::from_micros(20);
    assert_eq!(slots(Span::from_millis(4_000), slot), 200_000);
    assert_eq!(slots(Span::from_millis(5_000), slot), 250_000);
}

#[test]
fn eifs_follows_an_error_and_difs_a_good_frame() {
    assert_eq!(opens(idle_from(100, true)), at(150));
    assert_eq!(opens(idle_from(100, false)), at(464));
    let mut access = idle_from(100, false);
    access.received(true);
    assert_eq!(opens(access), at(150), "a good frame after the error");
}

#[test]
fn an_error_is_forgotten_when_the_carrier_turns_busy_again_or_the_station_sends() {
    let mut access = idle_from(50, false);
    access.on_busy(at(60));
    access.on_idle(at(100));
    assert_eq!(opens(access), at(150));
    let mut access = idle_from(100, false);
    access.start(5);
    access.take();
    assert!(!access.is_backing_off());
    assert_eq!(opens(access), at(150));
}

#[test]
fn a_reservation_is_extended_but_never_shortened() {
    let mut access = idle_from(100, true);
    for until in [500, 400] {
        access.reserve(at(until), None);
        assert!(access.is_reserved(at(499)) && !access.is_reserved(at(500)), "{until}");
    }
    access.reserve(at(600), None);
    assert!(access.is_reserved(at(599)) && !access.is_reserved(at(600)));
}

#[test]
fn after_a_reservation_the_medium_opens_after_difs_or_at_the_end_of_eifs_if_that_is_later() {
    for (well, reserved, open) in [(true, 90, 150), (true, 500, 550), (false, 300, 464), (false, 500, 550)] {
        let mut access = idle_from(100, well);
        access.reserve(at(reserved), None);
        assert_eq!(opens(access), at(open), "{well} {reserved}");
    }
}

#[test]
fn a_reservation_by_an_rts_ends_early_unless_the_carrier_turns_busy_before() {
    let reserved = || {
        let mut access = idle_from(100, true);
        access.reserve(at(1_000), Some(at(400)));
        access
    };
    let silent = reserved();
    assert!(silent.is_reserved(at(399)) && !silent.is_reserved(at(400)));
    assert_eq!(opens(silent), at(450));
    for (busy, until) in [(399, 1_000), (400, 400), (700, 400)] {
        let mut access = reserved();
        access.on_busy(at(busy));
        assert!(access.is_reserved(at(until - 1)) && !access.is_reserved(at(until)), "{busy}");
    }
}

#[test]
fn the_early_end_lies_between_the_end_of_the_previous_reservation_and_its_own() {
    for (previous, silent, until) in [(600, 400, 600), (300, 400, 400), (300, 2_000, 1_000)] {
        let mut access = idle_from(100, true);
        access.reserve(at(previous), None);
        access.reserve(at(1_000), Some(at(silent)));
        assert!(access.is_reserved(at(until - 1)) && !access.is_reserved(at(until)), "{previous} {silent}");
    }
}

#[test]
fn a_reservation_without_an_early_end_replaces_one_with_it() {
    let mut access = idle_from(100, true);
    access.reserve(at(1_000), Some(at(400)));
    access.reserve(at(1_200), None);
    assert!(access.is_reserved(at(1_199)) && !access.is_reserved(at(1_200)));
}

#[test]
fn a_release_ends_a_reservation_and_its_early_end() {
    for silent in [None, Some(at(400))] {
        let mut access = idle_from(100, true);
        access.reserve(at(1_000), silent);
        access.release(at(200));
        assert!(!access.is_reserved(at(200)) && access.is_reserved(at(199)));
        assert_eq!(opens(access.clone()), at(250));
        // A later busy carrier does not bring the early end back.
        access.on_busy(at(500));
        assert!(!access.is_reserved(at(399)));
    }
}

#[test]
fn an_idle_time_counts_from_carrier_and_reservation_whatever_was_in_error() {
    let pifs = rules().pifs;
    let mut access = idle_from(100, false);
    assert_eq!(access.idle_for(pifs), at(130));
    access.reserve(at(90), None);
    assert_eq!(access.idle_for(pifs), at(130));
    access.reserve(at(1_000), Some(at(400)));
    assert_eq!(access.idle_for(pifs), at(430));
    access.release(at(200));
    assert_eq!(access.idle_for(pifs), at(230));
}

#[test]
fn a_backoff_counts_from_when_the_medium_is_open_and_not_before_it_is_started() {
    let ends = |act: fn(&mut Access)| {
        let mut access = backing_off(5);
        act(&mut access);
        access.ends(&rules())
    };
    assert_eq!(ends(|access| access.open(at(120), &rules())), Some(at(250)));
    assert_eq!(ends(|access| access.open(at(400), &rules())), Some(at(500)));
    assert_eq!(ends(|access| access.count_from(at(120))), Some(at(250)));
    assert_eq!(ends(|access| access.count_from(at(200))), Some(at(300)));
    assert_eq!(ends(Access::finish), None);
}
