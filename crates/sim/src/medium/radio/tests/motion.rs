//! Moving stations: their powers, their hearers, and fading by the distance they move.

use super::super::config::{Fading, Redraw, Shadowing};
use super::super::propagation::{range_m, received_power_w};
use super::fading::power;
use super::*;
use crate::medium::motion::{Area, Trajectory};

const SECOND: u64 = 1_000_000;

fn circle(radius_m: f64, turn: f64) -> Motion {
    Motion::Circle { centre: (0.0, 0.0), radius_m, speed_mps: 1.5, turn: Some(turn) }
}

fn walk(radius_m: f64, pause: Span) -> Motion {
    let area = Area::Disc(radius_m);
    Motion::Waypoint { centre: (0.0, 0.0), area, slowest_mps: 0.5, fastest_mps: 2.0, pause }
}

/// An access point in the middle, number 0, and stations that move around it.
fn bench(config: &RadioConfig, motions: &[Motion]) -> Bench {
    let standing = Site {
        node: NodeId(0),
        name: "ap".into(),
        position: Some((Metres(0.0), Metres(0.0))),
        motion: None,
        strength: 1.0,
    };
    let site = |(number, motion): (usize, &Motion)| Site {
        node: NodeId(number as u32 + 1),
        name: format!("m{number}"),
        motion: Some(motion.clone()),
        ..standing.clone()
    };
    let mut sites = vec![standing.clone()];
    sites.extend(motions.iter().enumerate().map(site));
    let base = StreamBase { seed: 1, replication: 0, link: "wifi".into() };
    let radio = Radio::new(config, &sites, base);
    Bench { radio, sequence: 0, on_air: vec![None; sites.len()] }
}

#[test]
fn who_circles_around_an_access_point_keeps_its_signal_and_not_that_of_others() {
    let mut bench = bench(&ns2(), &[circle(55.0, 0.0), circle(20.0, 0.5)]);
    let expected = received_power_w(&ns2(), 55.0);
    let (mut least, mut most) = (f64::INFINITY, 0.0f64);
    for second in 0..400 {
        let here = power(&mut bench, 0, 1, second * SECOND);
        assert!((here / expected - 1.0).abs() < 1e-9, "{second}: {here}");
        let back = power(&mut bench, 1, 0, second * SECOND + 5);
        assert!((here / back - 1.0).abs() < 1e-12, "{second}: {here} {back}");
        let other = power(&mut bench, 2, 1, second * SECOND + 10);
        (least, most) = (least.min(other), most.max(other));
    }
    // They come as near as 35 m and as far as 75 m, since the inner circle is done sooner.
    let bounds = [75.0, 35.0].map(|metres| received_power_w(&ns2(), metres));
    assert!((least / bounds[0] - 1.0).abs() < 0.01 && (most / bounds[1] - 1.0).abs() < 0.01);
}

#[test]
fn the_power_of_a_walker_is_that_of_where_it_was_within_the_last_centimetre() {
    let motion = walk(100.0, Span::from_secs(2));
    let mut bench = bench(&ns2(), std::slice::from_ref(&motion));
    let mut walker = Trajectory::new(&motion, 1, 0, "m0");
    for step in 0..5_000 {
        let at = step * 37_000;
        let (x, y) = walker.at(Time(at * 1_000));
        let metres = libm::hypot(x, y);
        let found = power(&mut bench, 1, 0, at);
        let [far, near] = [metres + 0.011, (metres - 0.011).max(0.0)].map(|at| received_power_w(&ns2(), at));
        assert!((far..=near).contains(&found), "{at}: {metres} {found}");
    }
}

#[test]
fn nobody_in_reach_is_missed_however_far_all_have_walked() {
    // A reach of 24 m among 60 stations on a disc of 150 m.
    let config = ns2();
    let floor_w = received_power_w(&config, 24.0);
    let config = RadioConfig {
        receive_threshold_w: floor_w,
        carrier_sense_threshold_w: floor_w,
        interference_threshold_w: floor_w,
        ..config
    };
    assert!((range_m(&config, floor_w) - 24.0).abs() < 1e-6);
    let motions = vec![walk(150.0, Span::from_secs(1)); 60];
    let mut bench = bench(&config, &motions);
    let mut ways: Vec<Trajectory> = motions
        .iter()
        .enumerate()
        .map(|(node, motion)| Trajectory::new(motion, 1, 0, &format!("m{node}")))
        .collect();
    let mut most = 0;
    for step in 0..4_000 {
        let (from, at) = ((step % 60) as usize, step * 170_000);
        let mut heard = [false; 61];
        for what in bench.start(from + 1, 0, at, 1) {
            let Heard::Busy(at) = what else { panic!("{what:?}") };
            heard[at] = true;
        }
        bench.end(from + 1, at + 1);
        let points: Vec<_> = ways.iter_mut().map(|way| way.at(Time(at * 1_000))).collect();
        for (other, point) in points.iter().enumerate().filter(|(other, _)| *other != from) {
            let metres = libm::hypot(point.0 - points[from].0, point.1 - points[from].1);
            if (metres - 24.0).abs() > 0.03 {
                assert_eq!(heard[other + 1], metres < 24.0, "{step}: {other} at {metres}");
            }
        }
        most = most.max(heard.iter().filter(|heard| **heard).count());
    }
    assert!(most > 3, "{most}");
}

/// Fading and shadowing that the way of a station changes.
fn by_way(config: RadioConfig) -> RadioConfig {
    RadioConfig {
        shadowing: Some(Shadowing { deviation_db: 6.0, redraw: Redraw::Moved(10.0) }),
        fading: Some(Fading { factor: 0.0, redraw: Redraw::Moved(0.5) }),
        ..config
    }
}

#[test]
fn fading_by_the_way_changes_as_often_as_a_station_comes_so_far() {
    let config = RadioConfig { shadowing: None, ..by_way(ns2()) };
    let mut bench = bench(&config, &[circle(55.0, 0.0)]);
    let mut changes = Vec::new();
    let mut last = 0.0;
    for milli in 0..20_000 {
        let now = power(&mut bench, 0, 1, milli * 1_000);
        // Where the station is changes the last digits too.
        if (now / last - 1.0).abs() > 1e-6 {
            changes.push(milli);
            last = now;
        }
    }
    // 30 m at 0.5 m each, and a third of a second between.
    assert!((60..=62).contains(&changes.len()), "{}", changes.len());
    assert!(changes[1..].windows(2).all(|pair| (333..=334).contains(&(pair[1] - pair[0]))), "{changes:?}");
}

#[test]
fn nothing_changes_while_a_station_pauses() {
    // Almost all the time it stands still.
    let mut bench = bench(&by_way(ns2()), &[walk(1.0, Span::from_secs(100_000))]);
    let first = power(&mut bench, 0, 1, 0);
    assert!(first > 0.0);
    for second in 1..1000 {
        assert_eq!(power(&mut bench, 0, 1, second * SECOND), first);
    }
}

#[test]
fn schemes_meet_the_same_channel_on_the_way() {
    let motions = [walk(60.0, Span::from_secs(1)), circle(30.0, 0.3)];
    let (mut busy, mut quiet) = (bench(&by_way(ns2()), &motions), bench(&by_way(ns2()), &motions));
    for step in 0..20_000 {
        let at = step * 3_700;
        let seen = power(&mut busy, 0, 1, at);
        power(&mut busy, 2, 1, at + 10);
        if step % 53 == 0 {
            assert_eq!(seen, power(&mut quiet, 1, 0, at));
        }
    }
}
