//! Paths in space and time, and the stationary law of a walk.

use super::*;

const SECOND: u64 = 1_000_000_000;

fn waypoint(area: Area, (slowest_mps, fastest_mps): (f64, f64), pause: Span) -> Motion {
    Motion::Waypoint { centre: (0.0, 0.0), area, slowest_mps, fastest_mps, pause }
}

fn trajectory(motion: &Motion, node: usize) -> Trajectory {
    Trajectory::new(motion, 1, 0, &format!("n{node}"))
}

/// The positions of this many nodes at a time.
fn places(motion: &Motion, nodes: usize, at: Time) -> Vec<Point> {
    (0..nodes).map(|node| trajectory(motion, node).at(at)).collect()
}

#[test]
fn a_circle_is_kept_at_its_speed() {
    let motion = Motion::Circle { centre: (100.0, -20.0), radius_m: 55.0, speed_mps: 1.5, turn: Some(0.25) };
    let mut node = trajectory(&motion, 0);
    let mut last = node.at(Time::ZERO);
    assert!(distance_m(last, (100.0, 35.0)) < 1e-9);
    for second in 1..2000 {
        let here = node.at(Time(second * SECOND));
        assert!((distance_m(here, (100.0, -20.0)) - 55.0).abs() < 1e-9);
        // A chord of an arc of 1.5 m.
        let chord = 110.0 * libm::sin(1.5 / 110.0);
        assert!((distance_m(here, last) - chord).abs() < 1e-9);
        assert!((node.travelled_m(Time(second * SECOND)) - 1.5 * second as f64).abs() < 1e-9);
        last = here;
    }
}

#[test]
fn nodes_that_circle_from_nowhere_begin_evenly_around() {
    let motion = Motion::Circle { centre: (0.0, 0.0), radius_m: 1.0, speed_mps: 1.0, turn: None };
    let right = places(&motion, 2000, Time::ZERO).iter().filter(|place| place.0 > 0.0).count();
    assert!((900..1100).contains(&right), "{right}");
}

#[test]
fn the_mean_distance_of_two_points_is_that_of_many() {
    assert!((Area::Rectangle(1.0, 1.0).mean_distance_m() - 0.521_405).abs() < 1e-6);
    let mut stream = Stream::named(1, 0, "pairs");
    for area in [Area::Disc(3.0), Area::Rectangle(4.0, 4.0), Area::Rectangle(10.0, 1.0)] {
        let pairs = 200_000;
        let sum: f64 =
            (0..pairs).map(|_| distance_m(point_in(area, &mut stream), point_in(area, &mut stream))).sum();
        let found = sum / f64::from(pairs) / area.mean_distance_m();
        assert!((found - 1.0).abs() < 0.006, "{area:?}: {found}");
    }
}

#[test]
fn a_walk_has_straight_legs_pauses_and_speeds_within_their_bounds() {
    let motion = waypoint(Area::Disc(50.0), (1.0, 3.0), Span::from_secs(5));
    let mut node = trajectory(&motion, 7);
    let (mut still, mut last) = (0, node.at(Time::ZERO));
    for tenth in 1..200_000 {
        let now = Time(tenth * SECOND / 10);
        let here = node.at(now);
        let step = distance_m(last, here);
        assert!(step <= 0.3 + 1e-9);
        assert!(libm::hypot(here.0, here.1) <= 50.0 + 1e-9);
        still += u64::from(step == 0.0);
        last = here;
    }
    // A leg lasts 45.27 m × ln 3 / 2 s on average, a pause 5 s.
    let share = still as f64 / 200_000.0;
    let expected = 5.0 / (5.0 + 45.27 * libm::log(3.0) / 2.0);
    assert!((share - expected).abs() < 0.015, "{share} {expected}");
}

#[test]
fn the_way_behind_a_node_grows_by_what_it_walks_and_not_while_it_pauses() {
    let motion = waypoint(Area::Rectangle(30.0, 20.0), (2.0, 2.0), Span::from_secs(1));
    let (mut node, mut again) = (trajectory(&motion, 1), trajectory(&motion, 1));
    let mut walked = 0.0;
    let mut last = node.at(Time::ZERO);
    for milli in 1..60_000 {
        let here = node.at(Time(milli * 1_000_000));
        walked += distance_m(last, here);
        last = here;
    }
    let found = again.travelled_m(Time(60 * SECOND));
    // Corners are cut by the steps.
    assert!((found - walked).abs() < 0.05, "{found} {walked}");
}

#[test]
fn a_node_takes_the_same_way_however_often_it_is_asked() {
    let motion = waypoint(Area::Disc(20.0), (0.5, 4.0), Span::from_millis(700));
    let (mut often, mut seldom) = (trajectory(&motion, 3), trajectory(&motion, 3));
    for tenth in 0..20_000 {
        let here = often.at(Time(tenth * SECOND / 10));
        if tenth % 971 == 0 {
            assert_eq!(seldom.at(Time(tenth * SECOND / 10)), here);
        }
    }
}

/// Shares of the nodes by distance from the middle, in rings of equal area.
fn rings(places: &[Point], radius: f64) -> [f64; 5] {
    let mut shares = [0.0; 5];
    for place in places {
        let squared = (place.0 * place.0 + place.1 * place.1) / (radius * radius);
        shares[((squared * 5.0) as usize).min(4)] += 1.0 / places.len() as f64;
    }
    shares
}

#[test]
fn the_start_has_the_law_of_a_long_walk() {
    for pause in [Span::ZERO, Span::from_secs(20)] {
        let motion = waypoint(Area::Disc(50.0), (0.5, 5.0), pause);
        let start = rings(&places(&motion, 20_000, Time::ZERO), 50.0);
        let later = rings(&places(&motion, 20_000, Time(3600 * SECOND)), 50.0);
        for (one, other) in start.iter().zip(later) {
            assert!((one - other).abs() < 0.016, "{pause:?}: {start:?} {later:?}");
        }
        // It is not that of the way-points, of which each ring has a fifth.
        assert!(start[0] > 0.24 && start[4] < 0.15, "{pause:?}: {start:?}");
    }
}

/// The density of a walker without pauses on a disc of radius 1 (Hyytiä, Lassila and Virtamo 2006).
fn density(out: f64) -> f64 {
    let steps = 400;
    let width = PI / f64::from(steps);
    let cosine = |step: u32| libm::cos((f64::from(step) + 0.5) * width);
    let chord = |cosine: f64| libm::sqrt(1.0 - out * out * cosine * cosine) * width;
    let sum: f64 = (0..steps).map(|step| chord(cosine(step))).sum();
    45.0 * (1.0 - out * out) / (64.0 * PI) * sum
}

#[test]
fn without_pauses_a_disc_is_filled_by_its_known_density() {
    let motion = waypoint(Area::Disc(10.0), (1.0, 1.0), Span::ZERO);
    let found = rings(&places(&motion, 20_000, Time::ZERO), 10.0);
    let mut all = 0.0;
    for (ring, share) in found.iter().enumerate() {
        let steps = 100;
        // In equal steps of the squared radius.
        let middle = |step: i32| (ring as f64 + (f64::from(step) + 0.5) / f64::from(steps)) / 5.0;
        let ring_of = |step| density(libm::sqrt(middle(step))) * PI / 5.0 / f64::from(steps);
        let expected: f64 = (0..steps).map(ring_of).sum();
        let deviation = libm::sqrt(expected * (1.0 - expected) / 20_000.0);
        assert!((share - expected).abs() < 4.0 * deviation, "{ring}: {share} {expected}");
        all += expected;
    }
    assert!((all - 1.0).abs() < 1e-3, "{all}");
}

#[test]
fn the_speed_at_the_start_is_that_of_a_long_walk() {
    let motion = waypoint(Area::Rectangle(100.0, 60.0), (0.1, 10.0), Span::from_secs(3));
    let speed = |at: u64| {
        let mut sum = 0.0;
        for node in 0..10_000 {
            let mut node = trajectory(&motion, node);
            let before = node.travelled_m(Time(at));
            sum += (node.travelled_m(Time(at + SECOND / 10)) - before) * 10.0 / 10_000.0;
        }
        sum
    };
    let (start, later) = (speed(0), speed(7200 * SECOND));
    assert!((start / later - 1.0).abs() < 0.06, "{start} {later}");
}
