//! An 802.16 link end to end.

use crate::common::{chain, metric, run, run_once};
use lasthop_sim::Request;
use lasthop_sim::medium::modulation::ModulationLaw;
use lasthop_sim::model::{AirConfig, Config, LinkKind, Sends, TransportConfig};
use lasthop_sim::probe::trace::Column;
use lasthop_sim::traffic::AppKind;
use lasthop_stack::link::dot16::{FRAGMENT_OVERHEAD, Frame, Rates};
use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::packet::Modulation;
use lasthop_stack::registry::tcp::{self, Profile};
use lasthop_stack::registry::{LawConfig, Parts, RecoveryKind};
use lasthop_stack::schemes::ejtcp::EjtcpConfig;
use lasthop_stack::schemes::ejtcp::ModulationRule;
use lasthop_stack::transport::tcp::Counting;
use lasthop_stack::units::{Rate, Span, Time};

const FRAME: Frame = Frame {
    length: Span::from_millis(1),
    down: Span::from_micros(600),
    maps: Span::from_micros(20),
    requests: Span::from_micros(20),
};

/// A fast wire, then the air.
fn path(law: ModulationLaw, start: Modulation) -> Config {
    let tcp = Profile::Modern.config();
    let links = [(1_000_000_000, Span::from_millis(2)), (96_000_000, Span::ZERO)];
    let mut config = chain(&links, tcp, Span::from_secs(10));
    let LinkKind::PointToPoint(link) = &mut config.links[1].kind else { panic!("a wire") };
    let rates = Rates::SINGLE_CARRIER_20_MHZ;
    link.sends = Sends::Air(Box::new(AirConfig { frame: FRAME, rates, start, law }));
    config
}

/// The same path under a constant rate that is more than the air can carry.
fn flooded(law: ModulationLaw, start: Modulation) -> Config {
    let mut config = path(law, start);
    config.flows[0].transport = TransportConfig::Udp { extra_header: 0 };
    config.flows[0].app.kind = AppKind::Cbr { rate: Rate(90_000_000), packet: 972 };
    config
}

#[test]
fn goodput_is_the_share_of_the_downlink_at_each_modulation() {
    for (start, rate) in [(Modulation::Qpsk, 32e6), (Modulation::Qam16, 64e6), (Modulation::Qam64, 96e6)] {
        let goodput = metric(&run_once(&flooded(ModulationLaw::Fixed, start)), "flows.main.goodput_bps");
        // 580 us of each millisecond; 972 of 1000 bytes are payload, and each frame cuts one packet in two.
        let bytes = rate * 580e-6 / 8.0;
        let overhead = f64::from(FRAGMENT_OVERHEAD);
        let packets = (bytes - overhead) / (1000.0 + overhead);
        let expected = packets * 972.0 * 8.0 * 1000.0;
        assert!((goodput / expected - 1.0).abs() < 0.01, "{goodput} of {expected}");
    }
}

#[test]
fn the_utilisation_is_of_what_was_sent_and_a_deep_queue_adds_nothing() {
    let mut config = flooded(ModulationLaw::Fixed, Modulation::Qpsk);
    let LinkKind::PointToPoint(link) = &mut config.links[1].kind else { panic!("the air") };
    link.directions[0].queue = QueueLimit::Unlimited;
    // Far more is enqueued than can be sent; 580 us of each millisecond can.
    let utilisation = metric(&run_once(&config), "links.l1.utilisation");
    assert!((0.575..=0.58).contains(&utilisation), "{utilisation}");
}

#[test]
fn a_change_of_modulation_changes_the_rate_from_its_frame_on() {
    let script = ModulationLaw::Script(vec![(Time(5_000_000_000), Modulation::Qpsk)]);
    let halves = metric(&run_once(&flooded(script, Modulation::Qam64)), "flows.main.goodput_bps");
    let [fast, slow] = [Modulation::Qam64, Modulation::Qpsk]
        .map(|start| metric(&run_once(&flooded(ModulationLaw::Fixed, start)), "flows.main.goodput_bps"));
    assert!((halves / f64::midpoint(fast, slow) - 1.0).abs() < 0.01, "{halves} of {fast} and {slow}");
}

#[test]
fn tcp_fills_the_downlink_and_its_acknowledgements_wait_for_grants() {
    let outcome = run_once(&path(ModulationLaw::Fixed, Modulation::Qam16));
    let goodput = metric(&outcome, "flows.main.goodput_bps");
    assert!(goodput > 25e6, "{goodput}");
    let rtt = metric(&outcome, "flows.main.rtt_mean_s");
    // Two wires of 2 ms, a frame to be announced in, one to two to be granted.
    assert!(rtt > 0.005, "{rtt}");
}

#[test]
fn the_window_of_ejtcp_follows_the_modulation_one_round_trip_after_it_changed() {
    for (modulation, least) in [(ModulationRule::Scale, 10.0), (ModulationRule::Off, 30.0)] {
        let script = ModulationLaw::Script(vec![(Time(5_000_000_000), Modulation::Qpsk)]);
        let mut config = path(script, Modulation::Qam64);
        let law = EjtcpConfig { modulation, ..EjtcpConfig::default() };
        let tcp = tcp::Config {
            parts: Parts::new(RecoveryKind::Reno, LawConfig::Ejtcp(law)),
            window: 30,
            sack: false,
            counting: Counting::Acks,
            whole_window: false,
            ..Profile::Modern.config()
        };
        config.flows[0].transport = TransportConfig::Tcp(tcp);
        let trace = ["cwnd".to_string()];
        let (seed, replication) = (1, 0);
        let (cancel, max_events, max_wall) = (None, None, None);
        let request = Request {
            trace: &trace,
            cancel,
            max_events,
            max_wall,
            ..Request::new(&config, seed, replication)
        };
        let outcome = run(&request).expect("the run succeeds");
        let [(_, Column::Float(times)), _, (_, Column::Float(windows)), _] = &outcome.traces[0].columns[..]
        else {
            panic!("a table of four columns");
        };
        // The limit of 30 segments is reached before; a third of it is left, and grows with the acknowledgement itself.
        let around = |from: f64, to: f64| {
            let rows = times.iter().zip(windows).filter(move |(time, _)| (from..to).contains(*time));
            rows.map(|(_, window)| *window).fold(f64::INFINITY, f64::min)
        };
        assert_eq!(around(4.5, 5.0).min(30.0), 30.0);
        let left = around(5.0, 5.05).min(30.0);
        assert!((least..least + 0.2).contains(&left), "{modulation:?}: {left}");
    }
}
