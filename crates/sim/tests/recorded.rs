//! A link with recorded delivery opportunities end to end: what goes at each of them, with and without a managed queue
//! in front, and what is measured.

use crate::common::{chain, metric, ns2_tcp, run_once, source};
use lasthop_sim::Outcome;
use lasthop_sim::medium::outages::OutageLaw;
use lasthop_sim::model::{Config, LinkKind, OutagesConfig, Sends, TransportConfig};
use lasthop_sim::traffic::AppKind;
use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::link::recorded::{Opportunities, Recorded, Schedule};
use lasthop_stack::registry::{AqmKind, CongestionKind, Parts, RecoveryKind, tcp};
use lasthop_stack::units::{Rate, Span};
use std::sync::Arc;

/// A fast wire, then a recorded link with these times; its way back has an opportunity each millisecond.
fn path(times: &str, duration: Span) -> Config {
    let tcp = tcp::Config {
        parts: Parts::new(RecoveryKind::Sack, CongestionKind::Reno.config()),
        sack: true,
        window: 1_000,
        ..ns2_tcp()
    };
    let mut config = chain(&[(1_000_000_000, Span::ZERO), (1, Span::from_millis(5))], tcp, duration);
    let LinkKind::PointToPoint(link) = &mut config.links[1].kind else { panic!("a wire") };
    let of = |schedule| {
        let schedule = Arc::new(schedule);
        Recorded::Opportunities(Opportunities { schedule, opportunity: 1504, header: 4, is_once: false })
    };
    let there = of(Schedule::read(&times.replace(' ', "\n")).expect("times"));
    link.directions[0].rate = there.mean_rate();
    link.sends = Sends::Recorded(Box::new([there, of(Schedule::each_millisecond())]));
    config
}

/// The same under a constant rate of datagrams of this many bytes with their headers.
fn flooded(times: &str, rate_bps: u64, size: u32) -> Config {
    let mut config = path(times, Span::from_secs(10));
    config.flows[0].transport = TransportConfig::Udp { extra_header: 0 };
    config.flows[0].app = source(AppKind::Cbr { rate: Rate(rate_bps), packet: size - 28 });
    config
}

fn goodput(outcome: &Outcome) -> f64 {
    metric(outcome, "flows.main.goodput_bps")
}

#[test]
fn the_opportunities_bound_the_goodput_and_are_used_to_the_last_byte() {
    // 100 opportunities a second of 1504 bytes, for packets of 1500 and of 748 bytes: two of these fill one.
    for (size, each) in [(1500, 1.0), (748, 2.0)] {
        let outcome = run_once(&flooded("10", 10_000_000, size));
        let expected = 100.0 * each * f64::from(size - 28) * 8.0;
        // The last packets are on the way at the end.
        assert!((goodput(&outcome) / expected - 1.0).abs() < 0.002, "{} of {expected}", goodput(&outcome));
        // The opportunity at the end of the run is not in it.
        assert!((metric(&outcome, "links.l1.capacity_bps") - 999.0 * 1_203.2).abs() < 1e-6);
        assert!((metric(&outcome, "links.l1.utilisation") - 1.0).abs() < 1e-9);
    }
}

#[test]
fn what_no_packet_waits_for_is_lost() {
    // A datagram of 1000 bytes each 100 ms, and an opportunity each 10 ms: 1004 of 15040 bytes are used.
    let outcome = run_once(&flooded("10", 972 * 80, 1000));
    assert!((metric(&outcome, "links.l1.utilisation") - 1004.0 / 15_040.0).abs() < 1e-3);
    assert_eq!(metric(&outcome, "links.l1.drops_queue"), 0.0);
}

#[test]
fn a_queue_in_front_takes_packets_at_the_opportunities_and_fills_them_as_the_link_itself_does() {
    // The queue of FQ-CoDel under its target behaves as one without a law.
    let light = |aqm: Option<AqmKind>| {
        let mut config = flooded("1 2 2 3 7 9", 3_000_000, 700);
        config.links[1].aqm = aqm.map(AqmKind::config);
        run_once(&config)
    };
    let plain = light(None);
    for kind in AqmKind::ALL.iter().copied().filter(|kind| !kind.is_for_stations()) {
        let managed = light(Some(kind));
        for name in ["flows.main.delay_mean_s", "flows.main.delay_max_s", "links.l1.utilisation"] {
            assert_eq!(metric(&managed, name), metric(&plain, name), "{} {name}", kind.entry().name);
        }
    }
}

#[test]
fn a_record_that_is_played_once_delivers_nothing_after_its_end_and_ends_the_run_with_its_time() {
    for (aqm, has_outages) in [(None, false), (None, true), (Some(AqmKind::DropHead), true)] {
        let mut config = flooded("10 20 30 1000", 10_000_000, 1500);
        config.links[1].aqm = aqm.map(AqmKind::config);
        config.links[1].outages = has_outages.then(|| OutagesConfig {
            law: OutageLaw::Random { mean_up: Span::from_millis(5000), mean_down: Span(1) },
            node: None,
            is_kept: false,
            warning: None,
        });
        let LinkKind::PointToPoint(link) = &mut config.links[1].kind else { panic!("a link") };
        let Sends::Recorded(both) = &mut link.sends else { panic!("a recorded link") };
        let Recorded::Opportunities(there) = &mut both[0] else { panic!("a record") };
        there.is_once = true;
        let outcome = run_once(&config);
        assert_eq!(metric(&outcome, "flows.main.packets_received"), 4.0, "{aqm:?} {has_outages}");
        assert_eq!(metric(&outcome, "links.l1.capacity_bps"), 4.0 * 1504.0 * 8.0 / 10.0);
        assert!(metric(&outcome, "links.l1.drops_queue") > 5000.0);
        let account = &outcome.accounts[0].1;
        assert!((99..=102).contains(&account.on_the_way.packets), "{account:?}");
    }
}

#[test]
fn every_law_of_the_queue_keeps_the_accounts_of_a_full_link() {
    let standing = |kind: Option<AqmKind>| {
        let mut config = path("1 1 2 4 4 9 20 21 22", Span::from_secs(20));
        config.links[1].aqm = kind.map(AqmKind::config);
        let LinkKind::PointToPoint(link) = &mut config.links[1].kind else { panic!("a link") };
        link.directions[0].queue = QueueLimit::Packets(300);
        run_once(&config)
    };
    let full = standing(None);
    assert!(metric(&full, "links.l1.queue_mean_packets") > 100.0);
    for kind in [AqmKind::Codel, AqmKind::FqCodel, AqmKind::Pie, AqmKind::DualPi2] {
        let (name, managed) = (kind.entry().name, standing(Some(kind)));
        assert!(metric(&managed, "links.l1.queue_mean_packets") < 60.0, "{name}");
        assert!(goodput(&managed) > 0.8 * goodput(&full), "{name}: {}", goodput(&managed));
        assert!(metric(&managed, "links.l1.aqm_delay_mean_s") < 0.08, "{name}");
    }
}

#[test]
fn a_packet_that_comes_with_an_opportunity_waits_for_the_next_one_behind_a_managed_queue_too() {
    // Packets arrive at whole milliseconds: 972 bytes of payload each 10 ms.
    for aqm in [None, Some(AqmKind::Codel), Some(AqmKind::Red)] {
        let mut config = flooded("5 10", 972 * 800, 1000);
        let LinkKind::PointToPoint(wire) = &mut config.links[0].kind else { panic!("a wire") };
        // 1000 bytes take 1 ms, and 4 ms more bring them there at 5, 15, 25 ms.
        (wire.directions[0].rate, wire.directions[0].delay) = (Rate(8_000_000), Span::from_millis(4));
        config.links[1].aqm = aqm.map(AqmKind::config);
        let outcome = run_once(&config);
        for name in ["delay_mean_s", "delay_max_s"] {
            let found = metric(&outcome, &format!("flows.main.{name}"));
            assert!((found - 0.015).abs() < 1e-9, "{aqm:?}: {name} {found}");
        }
    }
}

/// The losses that the timer of RACK declares within a recovery show that a probe was too high. The long-term bound,
/// and with it the queue, follow a link that falls to a tenth. Where they come with the next acknowledgement, a third
/// of all is lost.
#[test]
fn bbr3_bounds_its_window_by_what_is_lost_within_a_recovery() {
    let each = |from: u64, to: u64, times: usize| (from..=to).map(move |at| format!("{at} ").repeat(times));
    let times: String = each(1, 10_000, 10).chain(each(10_001, 60_000, 1)).collect();
    let mut config = path(times.trim_end(), Span::from_secs(60));
    config.run.warmup = Span::from_secs(20);
    let parts = Parts::new(RecoveryKind::Sack, CongestionKind::Bbr3.config());
    config.flows[0].transport = TransportConfig::Tcp(tcp::Profile::Modern.with(parts));
    let LinkKind::PointToPoint(link) = &mut config.links[1].kind else { panic!("a wire") };
    for direction in &mut link.directions {
        (direction.delay, direction.queue) = (Span::from_millis(20), QueueLimit::Packets(300));
    }
    let outcome = run_once(&config);
    let lost = metric(&outcome, "links.l1.drops_queue");
    assert!(goodput(&outcome) > 11e6 && lost < 500.0, "{} with {lost} lost", goodput(&outcome));
}
