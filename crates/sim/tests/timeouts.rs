//! Timers that fire for what was not lost, retransmissions that nobody needed, and how round trips and the service of a
//! link spread: cases made by hand.

use crate::common::{chain, file, metric, run, run_once, source, wire};
use lasthop_sim::medium::loss::{LossConfig, PacketClass};
use lasthop_sim::model::{Config, TransportConfig};
use lasthop_sim::traffic::AppKind;
use lasthop_sim::{Outcome, Request};
use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::registry::tcp::{self, Profile};
use lasthop_stack::units::{Rate, Span, Time};

/// A window that never leaves room for a fast retransmit of one loss, and a floor of 200 ms.
fn small() -> tcp::Config {
    tcp::Config {
        window: 2,
        limited_transmit: false,
        min_rto: Span::from_millis(200),
        tick: Span::ZERO,
        ..Profile::Ns2Of2004.config()
    }
}

/// A file of ten segments over two links, the second of 1 Mbit/s.
fn ten(tcp: tcp::Config) -> Config {
    let links = [(100_000_000, Span::from_millis(5)), (1_000_000, Span::from_millis(5))];
    let mut config = chain(&links, tcp, Span::from_secs(60));
    config.flows[0].app = file(10_000);
    config
}

fn list(drop: &[u64], of: PacketClass) -> LossConfig {
    LossConfig::List { drop: drop.to_vec(), of }
}

/// Timeouts, spurious ones, retransmissions, and segments that brought nothing new.
fn told(outcome: &Outcome) -> [f64; 4] {
    ["timeouts", "timeouts_spurious", "retransmits", "repeats_received"]
        .map(|name| metric(outcome, &format!("flows.main.{name}")))
}

#[test]
fn a_timer_that_fires_for_a_segment_that_was_dropped_is_not_spurious() {
    for link in [0, 1] {
        let mut config = ten(small());
        wire(&mut config, link, 0).loss = list(&[10], PacketClass::Data);
        assert_eq!(told(&run_once(&config)), [1.0, 0.0, 1.0, 0.0], "{link}");
    }
}

#[test]
fn a_timer_that_fires_because_an_acknowledgement_was_dropped_is_not_spurious_but_the_repeat_is_needless() {
    let mut config = ten(tcp::Config { window: 1, ..small() });
    // The SYN-ACK is the first of what carries no data, the acknowledgement of the fifth segment the sixth.
    wire(&mut config, 1, 1).loss = list(&[6], PacketClass::Ack);
    assert_eq!(told(&run_once(&config)), [1.0, 0.0, 1.0, 1.0]);
}

/// Lets datagrams into the queue of the slow link at this time that take it so long.
fn spike(config: &mut Config, at: Time, ms: u64) {
    wire(config, 1, 0).queue = QueueLimit::Unlimited;
    let mut burst = config.flows[0].clone();
    burst.name = "burst".into();
    burst.app = source(AppKind::Cbr { rate: Rate(ms * 1_000_000), packet: 1222 });
    burst.app.start = at;
    burst.app.stop = Some(at.after(Span::from_millis(1)));
    burst.transport = TransportConfig::Udp { extra_header: 0 };
    config.flows.push(burst);
}

#[test]
fn a_timer_that_fires_because_data_waits_in_a_queue_is_spurious() {
    let mut config = ten(small());
    spike(&mut config, Time(45_000_000), 500);
    let [timeouts, spurious, again, needless] = told(&run_once(&config));
    assert!(timeouts >= 1.0, "{timeouts}");
    assert_eq!(spurious, timeouts);
    assert!(again >= timeouts && needless == again, "{again} {needless}");
}

#[test]
fn a_timer_that_fires_because_acknowledgements_wait_in_a_queue_is_spurious() {
    let mut config = ten(small());
    spike(&mut config, Time(45_000_000), 500);
    (config.flows[1].from, config.flows[1].to) = (2, 0);
    wire(&mut config, 1, 1).queue = QueueLimit::Unlimited;
    let [timeouts, spurious, again, needless] = told(&run_once(&config));
    assert!(timeouts >= 1.0, "{timeouts}");
    assert_eq!((spurious, needless), (timeouts, again));
}

#[test]
fn a_timer_that_fires_while_the_receiver_holds_its_acknowledgement_back_is_spurious() {
    let patient = tcp::Config { ack_every: 2, ack_delay: Span::from_millis(400), ..small() };
    let mut config = ten(patient);
    config.flows[0].app = file(2_500);
    config.flows[0].app.kind = AppKind::Cbr { rate: Rate(8_000), packet: 1000 };
    config.run.duration = Span::from_millis(1_500);
    let [timeouts, spurious, ..] = told(&run_once(&config));
    assert!(timeouts > 0.0 && spurious == timeouts, "{timeouts} {spurious}");
}

#[test]
fn what_is_on_its_way_of_other_segments_does_not_make_a_timer_spurious() {
    // Two duplicates come back at most, which start no repair.
    for side in [0, 1] {
        let mut config = ten(tcp::Config { window: 3, ..small() });
        wire(&mut config, 0, 0).loss = list(&[3], PacketClass::Data);
        spike(&mut config, Time(52_000_000), 500);
        if side == 1 {
            (config.flows[1].from, config.flows[1].to) = (2, 0);
            config.flows[1].app.start = Time(62_000_000);
            config.flows[1].app.stop = Some(Time(63_000_000));
            wire(&mut config, 1, 1).queue = QueueLimit::Unlimited;
        }
        let [timeouts, spurious, ..] = told(&run_once(&config));
        assert_eq!((timeouts, spurious), (1.0, 0.0), "{side}");
    }
}

/// All metrics of a run that traces these.
fn traced(config: &Config, trace: &[String]) -> Outcome {
    let (seed, replication, cancel) = (1, 0, None);
    let (max_events, max_wall, pcap) = (None, None, &[][..]);
    let request =
        Request { trace, pcap, cancel, max_events, max_wall, ..Request::new(config, seed, replication) };
    run(&request).expect("the run succeeds")
}

#[test]
fn what_will_be_lost_further_on_is_on_its_way_whether_packets_go_ahead_of_the_clock_or_not() {
    let links = [100_000_000, 1_000_000, 100_000_000].map(|rate| (rate, Span::from_millis(5)));
    let mut config = chain(&links, small(), Span::from_secs(60));
    config.flows[0].app = file(10_000);
    spike(&mut config, Time(55_000_000), 500);
    config.flows[1].to = 2;
    let undisturbed = traced(&config, &[]);
    let last = metric(&undisturbed, "flows.main.timeouts");
    assert_eq!(metric(&undisturbed, "flows.main.timeouts_spurious"), last);
    // These wait behind the burst, and are lost when they come out.
    for lost in 3..=4 {
        wire(&mut config, 2, 0).loss = list(&[lost], PacketClass::Data);
        let ahead = traced(&config, &[]);
        // A tracer of queues keeps every packet to the clock.
        assert_eq!(ahead.metrics, traced(&config, &["queue".into()]).metrics);
        let [timeouts, spurious, ..] = told(&ahead);
        assert!(spurious >= 1.0 && timeouts >= spurious, "{lost}: {timeouts} {spurious}");
    }
}

#[test]
fn losses_at_random_are_not_taken_for_delays() {
    let links = [1, 40, 40, 1].map(|ms| (2_000_000, Span::from_millis(ms)));
    let mut config = chain(&links, tcp::Config { window: 4, ..small() }, Span::from_secs(300));
    for link in 0..4 {
        wire(&mut config, link, 0).loss = LossConfig::Packet { rate: 0.02 };
        wire(&mut config, link, 1).loss = LossConfig::Packet { rate: 0.02 };
    }
    let [timeouts, spurious, ..] = told(&run_once(&config));
    assert!(timeouts > 100.0 && spurious < 0.05 * timeouts, "{timeouts} {spurious}");
}

#[test]
fn the_share_of_segments_sent_again_is_told_of_a_flow_and_of_all() {
    let mut config = ten(small());
    wire(&mut config, 1, 0).loss = list(&[10], PacketClass::Data);
    let mut other = config.flows[0].clone();
    other.name = "other".into();
    other.app = file(30_000);
    other.app.start = Time(5_000_000_000);
    config.flows.push(other);
    for flow in &mut config.flows {
        flow.group = Some("both".into());
    }
    let outcome = run_once(&config);
    assert_eq!(metric(&outcome, "flows.main.retransmitted_share"), 1.0 / 11.0);
    assert_eq!(metric(&outcome, "flows.other.retransmitted_share"), 0.0);
    for all in ["", "flows.both."] {
        assert_eq!(metric(&outcome, &format!("{all}retransmitted_share")), 1.0 / 41.0);
        assert_eq!(metric(&outcome, &format!("{all}timeouts")), 1.0);
        assert_eq!(metric(&outcome, &format!("{all}timeouts_spurious")), 0.0);
    }
}

#[test]
fn round_trips_over_an_empty_path_do_not_spread_and_a_queue_spreads_them() {
    let mut config = ten(tcp::Config { window: 1, ..small() });
    config.flows[0].app = file(500_000);
    let quiet = run_once(&config);
    // 1040 bytes at 100 and 1 Mbit/s, 40 bytes back, 20 ms on the wires.
    let rtt = 0.0832e-3 + 8.32e-3 + 0.32e-3 + 0.0032e-3 + 0.020;
    assert!((metric(&quiet, "flows.main.rtt_mean_s") - rtt).abs() < 1e-6);
    assert!(metric(&quiet, "flows.main.rtt_sd_s") < 1e-6);
    for percentile in ["p50", "p95", "p99"] {
        let told = metric(&quiet, &format!("flows.main.rtt_{percentile}_s"));
        assert!((told / rtt - 1.0).abs() < 1.0 / 32.0, "{percentile} {told}");
    }
    spike(&mut config, Time(3_000_000_000), 150);
    let spread = run_once(&config);
    assert!(metric(&spread, "flows.main.rtt_sd_s") > 0.005);
    let p50 = metric(&spread, "flows.main.rtt_p50_s");
    assert!((p50 / rtt - 1.0).abs() < 1.0 / 32.0, "{p50}");
    assert!(metric(&spread, "flows.main.rtt_max_s") > 0.1);
}

#[test]
fn the_measurement_leaves_the_warm_up_out() {
    let mut config = ten(tcp::Config { window: 1, ..small() });
    config.flows[0].app = file(500_000);
    spike(&mut config, Time(3_000_000_000), 150);
    config.run.warmup = Span::from_secs(8);
    let outcome = run_once(&config);
    assert!(metric(&outcome, "flows.main.rtt_sd_s") < 1e-6);
}
