//! Stations with less power than their link.

use lasthop_stack::packet::NodeId;
use lasthop_stack::units::{Metres, Time};

use super::super::config::{RadioConfig, Redraw};
use super::super::draws::StreamBase;
use super::super::{Radio, Site};
use super::fading::{faded, shadowing};
use super::ns2;

/// The ratios of signal to noise between two stations, of which the second has a quarter of the power of the link.
fn ratios(config: &RadioConfig, places: [Option<f64>; 2]) -> [f64; 2] {
    let site = |(number, x): (usize, Option<f64>)| Site {
        node: NodeId(number as u32),
        name: format!("s{number}"),
        position: x.map(|x| (Metres(x), Metres(0.0))),
        motion: None,
        strength: if number == 0 { 1.0 } else { 0.25 },
    };
    let sites: Vec<Site> = places.into_iter().enumerate().map(site).collect();
    let mut radio = Radio::new(config, &sites, StreamBase { seed: 1, replication: 0, link: "wifi".into() });
    [(0, 1), (1, 0)].map(|(from, at)| radio.signal_to_noise(from, NodeId(at), Time(0)))
}

#[test]
fn a_station_with_a_quarter_of_the_power_is_heard_with_a_quarter_in_each_kind_of_medium() {
    let varies = faded(None, Some(shadowing(8.0, Redraw::Never)));
    for (config, places) in
        [(ns2(), [Some(0.0), Some(100.0)]), (ns2(), [None; 2]), (varies, [Some(0.0), Some(9.0)])]
    {
        let [strong, weak] = ratios(&config, places);
        assert!(strong > 0.0);
        assert!((weak / strong - 0.25).abs() < 1e-12, "{weak} of {strong}");
    }
}
