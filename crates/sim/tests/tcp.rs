//! TCP end to end: what must hold whatever the path does.

use crate::common::{chain, direction, ejtcp_fig9, metric, ns2_tcp, run, run_once, wire};
use lasthop_sim::medium::loss::{LossConfig, PacketClass};
use lasthop_sim::model::{Config, FlowConfig, SinkConfig, TransportConfig};
use lasthop_sim::probe::trace::Column;
use lasthop_sim::traffic::{AppConfig, AppKind};
use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::registry::Parts;
use lasthop_stack::registry::tcp::{self, Profile};
use lasthop_stack::registry::{CongestionKind, RecoveryKind, VARIANTS};
use lasthop_stack::units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;

fn file(config: &mut Config, size: u64) {
    config.flows[0].app.kind = AppKind::File { size: Bytes(size) };
}

/// The value of a metric, which may have none.
fn value(outcome: &lasthop_sim::Outcome, name: &str) -> Option<f64> {
    let named = outcome.metrics.iter().find(|(key, _)| key == name);
    named.unwrap_or_else(|| panic!("{name} is a metric")).1
}

/// The bytes delivered over the whole run.
fn delivered(outcome: &lasthop_sim::Outcome) -> f64 {
    metric(outcome, "flows.main.goodput_bps") * outcome.simulated.as_secs() / 8.0
}

#[test]
fn sequence_numbers_wrap_in_a_transfer_of_six_gigabytes() {
    let size = 6_000_000_000;
    let tcp = tcp::Config { packet: 9000, window: 1000, ..Profile::Modern.config() };
    let mut config = chain(&[(10_000_000_000, Span::from_micros(100))], tcp, Span::from_secs(100));
    wire(&mut config, 0, 0).queue = QueueLimit::Unlimited;
    wire(&mut config, 0, 0).loss = LossConfig::Packet { rate: 1e-4 };
    file(&mut config, size);
    let outcome = run_once(&config);
    assert!((delivered(&outcome) - size as f64).abs() < 1.0);
    assert!(metric(&outcome, "flows.main.completion_s") < 100.0);
}

#[test]
fn a_slow_reader_gets_every_byte_at_its_own_pace() {
    let tcp = tcp::Config { receive_buffer: Some(32_000), ..Profile::Modern.config() };
    let mut config = chain(&[(10_000_000, Span::from_millis(10))], tcp, Span::from_secs(60));
    config.flows[0].sink.read_rate = Some(Rate(800_000));
    file(&mut config, 400_000);
    let outcome = run_once(&config);
    // 400 kB at 100 kB/s take 4 s, less what fits into the buffer at the end.
    let completion = metric(&outcome, "flows.main.completion_s");
    assert!((3.6..4.1).contains(&completion), "{completion}");
    assert_eq!(metric(&outcome, "flows.main.timeouts"), 0.0);
}

#[test]
fn a_closed_window_is_probed_until_the_reader_comes_back() {
    for loss in [0.0, 0.3] {
        let tcp = tcp::Config { receive_buffer: Some(32_000), ..Profile::Modern.config() };
        let mut config = chain(&[(10_000_000, Span::from_millis(10))], tcp, Span::from_secs(300));
        config.flows[0].sink =
            SinkConfig { read_rate: None, pause_at: Some(Time::ZERO), pause: Span::from_secs(20) };
        wire(&mut config, 0, 1).loss = LossConfig::Packet { rate: loss };
        file(&mut config, 400_000);
        let outcome = run_once(&config);
        let completion = metric(&outcome, "flows.main.completion_s");
        assert!((20.0..60.0).contains(&completion), "loss {loss}: {completion}");
        // A probe that the closed window refused goes again at once; it is not a loss, which would halve the window.
        assert!(loss > 0.0 || metric(&outcome, "flows.main.fast_retransmits") == 0.0);
        assert!((delivered(&outcome) - 400_000.0).abs() < 1e-3);
    }
}

#[test]
fn a_window_update_that_is_lost_does_not_deadlock() {
    let tcp = tcp::Config { receive_buffer: Some(8_000), ..Profile::Modern.config() };
    let mut config = chain(&[(10_000_000, Span::from_millis(10))], tcp, Span::from_secs(120));
    config.flows[0].sink =
        SinkConfig { read_rate: None, pause_at: Some(Time::ZERO), pause: Span::from_millis(500) };
    // The acknowledgements around the reopening are lost.
    let drop = (5..12).collect();
    wire(&mut config, 0, 1).loss = LossConfig::List { drop, of: PacketClass::Ack };
    file(&mut config, 60_000);
    let outcome = run_once(&config);
    assert!((delivered(&outcome) - 60_000.0).abs() < 1e-3);
}

#[test]
fn the_close_survives_the_loss_of_each_of_its_packets() {
    for lost in 1..=12 {
        for direction in 0..2 {
            let tcp = Profile::Ns2Of2004.config();
            let mut config = chain(&[(1_000_000, Span::from_millis(10))], tcp, Span::from_secs(60));
            wire(&mut config, 0, direction).loss =
                LossConfig::List { drop: vec![lost], of: PacketClass::All };
            file(&mut config, 4_500);
            let outcome = run_once(&config);
            assert!((delivered(&outcome) - 4_500.0).abs() < 1e-3, "packet {lost} of direction {direction}");
            assert!(metric(&outcome, "flows.main.completion_s") < 20.0);
        }
    }
}

#[test]
fn karns_back_off_doubles_the_timeout_until_the_path_is_back() {
    let tcp = tcp::Config { window: 1, min_rto: Span::from_secs(1), ..Profile::Ns2Of2004.config() };
    let mut config = chain(&[(1_000_000, Span::from_millis(10))], tcp, Span::from_secs(40));
    wire(&mut config, 0, 0).loss = LossConfig::List { drop: (2..=5).collect(), of: PacketClass::Data };
    file(&mut config, 2_000);
    let outcome = run_once(&config);
    // The second segment is lost four times: 1 + 2 + 4 + 8 s of waiting.
    let completion = metric(&outcome, "flows.main.completion_s");
    assert!((15.0..15.2).contains(&completion), "{completion}");
    assert_eq!(metric(&outcome, "flows.main.timeouts"), 4.0);
    assert_eq!(metric(&outcome, "flows.main.loss_indications"), 1.0);
}

#[test]
fn a_delayed_acknowledgement_halves_the_acknowledgements() {
    let segments = |ack_every| {
        let tcp = tcp::Config { ack_every, window: 20, ..Profile::Modern.config() };
        let config = chain(&[(10_000_000, Span::from_millis(10))], tcp, Span::from_secs(20));
        let outcome = run_once(&config);
        let reverse = metric(&outcome, "links.l0.reverse.utilisation");
        reverse / metric(&outcome, "links.l0.utilisation")
    };
    let ratio = segments(2) / segments(1);
    assert!((ratio - 0.5).abs() < 0.02, "{ratio}");
}

#[test]
fn a_byte_queue_and_a_packet_queue_of_the_same_room_drop_alike() {
    let goodput = |queue| {
        let mut config = ejtcp_fig9(ns2_tcp(), 0.0, Span::from_secs(60));
        wire(&mut config, 1, 0).queue = queue;
        metric(&run_once(&config), "flows.main.goodput_bps")
    };
    assert_eq!(goodput(QueueLimit::Packets(50)), goodput(QueueLimit::Bytes(Bytes(50 * 1040))));
}

#[test]
fn every_datagram_is_delivered_or_lost_with_a_cause() {
    let mut config = chain(&[(1_000_000, Span::from_millis(10))], ns2_tcp(), Span::from_secs(30));
    *wire(&mut config, 0, 0) = direction(1_000_000, Span::from_millis(10));
    wire(&mut config, 0, 0).loss = LossConfig::Packet { rate: 0.2 };
    config.flows[0].transport = TransportConfig::Udp { extra_header: 0 };
    config.flows[0].app = AppConfig {
        start: Time::ZERO,
        spread: Span::ZERO,
        stop: Some(Time(20_000_000_000)),
        kind: AppKind::Poisson { rate: Rate(1_500_000), packet: 500 },
    };
    let outcome = run_once(&config);
    let count = |name: &str| metric(&outcome, name);
    let lost = count("links.l0.drops_queue") + count("links.l0.drops_loss");
    assert!(count("links.l0.drops_queue") > 0.0 && count("links.l0.drops_loss") > 0.0);
    assert_eq!(count("flows.main.packets_sent"), count("flows.main.packets_received") + lost);
}

#[test]
fn a_file_over_udp_leaves_at_its_rate_or_at_once() {
    let run = |rate: Option<Rate>| {
        let mut config = chain(&[(1_000_000, Span::from_millis(10))], ns2_tcp(), Span::from_secs(30));
        config.flows[0].transport = TransportConfig::Udp { extra_header: 7 };
        config.flows[0].app.kind = AppKind::Datagrams { size: Bytes(200_300), packet: 1000, rate };
        run_once(&config)
    };
    let paced = run(Some(Rate(100_000)));
    let count = |name: &str| metric(&paced, &format!("flows.main.{name}"));
    assert_eq!((count("packets_sent"), count("packets_received")), (201.0, 201.0));
    assert!((delivered(&paced) - 200_300.0).abs() < 1e-3);
    // 200 distances of 80 ms.
    let wire = (200.0 * 1035.0 + 335.0) * 8.0;
    assert!((count("throughput_bps") * 30.0 - wire).abs() < 1e-3);
    let at_once = run(None);
    let count = |name: &str| metric(&at_once, name);
    assert_eq!(count("flows.main.packets_sent"), 201.0);
    assert_eq!((count("flows.main.packets_received"), count("links.l0.drops_queue")), (100.0, 101.0));
}

#[test]
fn each_flow_with_a_spread_starts_at_a_moment_of_its_own() {
    let mut config = chain(&[(10_000_000, Span::from_millis(10))], ns2_tcp(), Span::from_secs(20));
    file(&mut config, 100_000);
    let alone = metric(&run_once(&config), "flows.main.completion_s");
    (config.flows[0].app.start, config.flows[0].app.spread) = (Time(1_000_000_000), Span::from_secs(9));
    let main = config.flows[0].clone();
    config.flows.extend((1..20).map(|number| FlowConfig { name: format!("f{number}"), ..main.clone() }));
    let request = lasthop_sim::Request { trace: &["tcp".into()], ..lasthop_sim::Request::new(&config, 1, 0) };
    let outcome = run(&request).expect("the run succeeds");
    let columns = &outcome.traces[0].columns;
    let (Column::Float(times), Column::Word { codes, .. }) = (&columns[0].1, &columns[1].1) else {
        panic!("numbers and words in {columns:?}")
    };
    let mut starts: Vec<f64> = (0..20)
        .filter_map(|flow| codes.iter().position(|code| *code == 2 * flow))
        .map(|row| times[row])
        .collect();
    starts.sort_by(f64::total_cmp);
    assert!(starts.len() == 20 && starts[0] > 1.0 && starts[19] < 10.1, "{starts:?}");
    assert!(
        starts[0] < 3.0 && starts[19] > 8.0 && starts.windows(2).all(|pair| pair[0] < pair[1]),
        "{starts:?}"
    );
    // The time of a file counts from its own start.
    let completion = metric(&outcome, "flows.main.completion_s");
    assert!(completion < 3.0 * alone, "{completion} against {alone}");
}

#[test]
fn flows_between_the_same_nodes_and_against_each_other_share_the_path() {
    let mut config = chain(&[(10_000_000, Span::from_millis(10))], ns2_tcp(), Span::from_secs(100));
    let main = config.flows[0].clone();
    config.flows.push(FlowConfig { name: "second".into(), ..main.clone() });
    config.flows.push(FlowConfig { name: "back".into(), from: 1, to: 0, ..main });
    let outcome = run_once(&config);
    for flow in ["main", "second", "back"] {
        assert!(metric(&outcome, &format!("flows.{flow}.goodput_bps")) > 2e6, "{flow}");
    }
    assert!(metric(&outcome, "links.l0.utilisation") > 0.9);
    assert!(metric(&outcome, "jain_index") > 0.7);
    let sum: f64 = ["main", "second", "back"]
        .iter()
        .map(|flow| metric(&outcome, &format!("flows.{flow}.goodput_bps")))
        .sum();
    assert!((metric(&outcome, "goodput_bps") / sum - 1.0).abs() < 1e-12);
}

#[test]
fn the_bins_hold_every_byte_delivered_and_change_nothing_else() {
    let mut config = ejtcp_fig9(ns2_tcp(), 0.01, Span::from_secs(10));
    let mut datagrams = config.flows[0].clone();
    datagrams.name = "datagrams".into();
    datagrams.transport = TransportConfig::Udp { extra_header: 0 };
    datagrams.app.kind = AppKind::Poisson { rate: Rate(500_000), packet: 500 };
    config.flows.push(datagrams);
    let plain = run_once(&config);
    assert!(plain.series.is_empty());
    for width in [Span::from_millis(300), Span::from_millis(500), Span::from_secs(60)] {
        config.run.bin = Some(width);
        let outcome = run_once(&config);
        assert_eq!(outcome.metrics, plain.metrics);
        let duration = config.run.duration;
        for (series, flow) in outcome.series.iter().zip(["main", "datagrams"]) {
            assert_eq!(series.name, format!("flows.{flow}.goodput_bps"));
            assert_eq!(series.values.len() as u64, duration.0.div_ceil(width.0));
            let begin = |bin: usize| Span((width.0 * bin as u64).min(duration.0)).as_secs();
            let bits: f64 = series
                .values
                .iter()
                .enumerate()
                .map(|(bin, rate)| rate * (begin(bin + 1) - begin(bin)))
                .sum();
            assert!((bits / (metric(&outcome, &series.name) * 10.0) - 1.0).abs() < 1e-9, "{bits}");
        }
    }
}

#[test]
fn the_two_directions_of_a_link_lose_by_streams_of_their_own() {
    let mut config = chain(&[(10_000_000, Span::from_millis(10))], ns2_tcp(), Span::from_secs(20));
    for direction in 0..2 {
        wire(&mut config, 0, direction).loss = LossConfig::Packet { rate: 0.5 };
    }
    config.flows[0].transport = TransportConfig::Udp { extra_header: 0 };
    config.flows[0].app.kind = AppKind::Cbr { rate: Rate(1_000_000), packet: 500 };
    let there = config.flows[0].clone();
    config.flows.push(FlowConfig { name: "back".into(), from: there.to, to: there.from, ..there });
    let outcome = run_once(&config);
    let [forward, reverse] =
        ["links.l0.drops_loss", "links.l0.reverse.drops_loss"].map(|name| metric(&outcome, name));
    // The same 5000 draws would lose the same number.
    assert!(forward > 2300.0 && reverse > 2300.0 && forward != reverse, "{forward} {reverse}");
}

#[test]
fn tracing_changes_nothing() {
    let config = ejtcp_fig9(ns2_tcp(), 0.02, Span::from_secs(50));
    let plain = run_once(&config);
    let names: Vec<String> =
        lasthop_sim::probe::trace::CHANNELS.iter().map(|channel| channel.0.into()).collect();
    let request = lasthop_sim::Request { trace: &names, ..lasthop_sim::Request::new(&config, 1, 0) };
    let traced = run(&request).expect("the run succeeds");
    assert_eq!((&plain.metrics, plain.events), (&traced.metrics, traced.events));
    assert_eq!(traced.traces.len(), names.len());
}

#[test]
fn the_round_trips_traced_of_a_flow_are_those_of_its_sender() {
    let mut config = ejtcp_fig9(ns2_tcp(), 0.02, Span::from_secs(50));
    file(&mut config, 100_000);
    let request = lasthop_sim::Request { trace: &["rtt".into()], ..lasthop_sim::Request::new(&config, 1, 0) };
    let outcome = run(&request).expect("the run succeeds");
    let columns = &outcome.traces[0].columns;
    let (Column::Word { codes, words }, Column::Float(rtts)) = (&columns[1].1, &columns[2].1) else {
        panic!("words and numbers in {columns:?}")
    };
    assert_eq!(words, &["main", "main.reverse"]);
    let Column::Word { codes: kinds, words: kind_names } = &columns[5].1 else {
        panic!("words in {columns:?}")
    };
    assert_eq!(kind_names, &["data", "handshake"]);
    let of = |code: u32, kind: u32| -> Vec<f64> {
        let rows = codes.iter().zip(kinds).zip(rtts);
        rows.filter(|((end, of), _)| (**end, **of) == (code, kind)).map(|(_, rtt)| *rtt).collect()
    };
    let mean = of(0, 0).iter().sum::<f64>() / of(0, 0).len() as f64;
    assert!((mean / metric(&outcome, "flows.main.rtt_mean_s") - 1.0).abs() < 1e-9, "{mean}");
    assert!(!of(1, 0).is_empty(), "the receiver measures its own FIN");
    // 40 B of SYN, 44 B with the size of a segment and 48 B with the window scale, cross three links each way.
    let crossing = |bytes: f64| bytes * 8.0 * (1.0 / 100e6 + 1.0 / 5e6 + 1.0 / 10e6) + 0.04501;
    let [there, back] = [0, 1].map(|end| of(end, 1));
    assert_eq!((there.len(), back.len(), rtts[0]), (1, 1, back[0].min(there[0])));
    assert!((there[0] - 2.0 * crossing(48.0)).abs() < 1e-6, "{there:?} {}", 2.0 * crossing(48.0));
}

#[test]
fn a_file_that_was_cut_off_has_no_time() {
    let run = |stop: Option<Time>| {
        let mut config = chain(&[(1_000_000, Span::from_millis(10))], ns2_tcp(), Span::from_secs(60));
        file(&mut config, 3_000_000);
        config.flows[0].app.start = Time(1_000_000_000);
        config.flows[0].app.stop = stop;
        run_once(&config)
    };
    for stop in [0, 1_000_000_000, 2_000_000_000] {
        let outcome = run(Some(Time(stop)));
        assert!(delivered(&outcome) < 3e6);
        for name in ["flows.main.completion_s", "flows.main.acknowledged_s"] {
            assert_eq!(value(&outcome, name), None, "{name} with a stop at {stop} ns");
        }
    }
    for stop in [None, Some(Time(50_000_000_000))] {
        let outcome = run(stop);
        let [completion, acknowledged] =
            ["completion_s", "acknowledged_s"].map(|name| metric(&outcome, &format!("flows.main.{name}")));
        // The acknowledgement of 40 B comes back over the wire.
        let back = 40.0 * 8.0 / 1e6 + 0.01;
        assert!((acknowledged - completion - back).abs() < 1e-9, "{completion} {acknowledged}");
    }
}

#[test]
fn a_syn_sent_again_counts_as_a_retransmission_and_not_as_data() {
    let mut config = chain(&[(1_000_000, Span::from_millis(10))], ns2_tcp(), Span::from_secs(60));
    wire(&mut config, 0, 0).loss = LossConfig::List { drop: vec![1], of: PacketClass::All };
    file(&mut config, 10_000);
    let outcome = run_once(&config);
    assert!(metric(&outcome, "flows.main.completion_s") > 3.0, "the SYN waits for the timer");
    assert_eq!(metric(&outcome, "flows.main.retransmits"), 1.0);
    assert_eq!(metric(&outcome, "flows.main.retransmitted_share"), 0.0);
    assert_eq!(metric(&outcome, "flows.main.segments_sent"), 10.0);
}

#[test]
fn a_fin_without_data_is_no_data_segment() {
    // Of bulk data that stops everything has been sent when the FIN follows: the second packet without data, after the SYN,
    // which is lost twice.
    let outcome = |lost: &[u64]| {
        let tcp = tcp::Config { window: 10, ..ns2_tcp() };
        let mut config = chain(&[(1_000_000, Span::from_millis(10))], tcp, Span::from_secs(60));
        config.flows[0].app.stop = Some(Time(1_000_000_000));
        wire(&mut config, 0, 0).loss = LossConfig::List { drop: lost.to_vec(), of: PacketClass::Ack };
        run_once(&config)
    };
    let whole = outcome(&[]);
    let segments = delivered(&whole) / f64::from(ns2_tcp().packet);
    assert!(segments > 100.0 && segments.fract() == 0.0, "{segments}");
    assert_eq!(metric(&whole, "flows.main.segments_sent"), segments);
    let repeated = outcome(&[2, 3]);
    for (name, expected) in [
        ("segments_sent", segments),
        ("retransmits", 2.0),
        ("retransmitted_share", 0.0),
        ("timeouts", 2.0),
        ("loss_indications", 1.0),
    ] {
        assert_eq!(metric(&repeated, &format!("flows.main.{name}")), expected, "{name}");
    }
}

#[test]
fn a_timeout_of_a_syn_is_no_timeout_of_data() {
    let mut config = chain(&[(1_000_000, Span::from_millis(10))], ns2_tcp(), Span::from_secs(60));
    wire(&mut config, 0, 0).loss = LossConfig::List { drop: vec![1, 2], of: PacketClass::All };
    file(&mut config, 10_000);
    let outcome = run_once(&config);
    let found = ["retransmits", "timeouts", "loss_indications"];
    assert_eq!(found.map(|name| metric(&outcome, &format!("flows.main.{name}"))), [2.0, 0.0, 0.0]);
}

#[test]
fn bbr_fills_a_path_whose_queue_it_leaves_nearly_empty() {
    let law = |congestion: CongestionKind| tcp::Config {
        parts: Parts::new(RecoveryKind::Sack, congestion.config()),
        ..Profile::Modern.config()
    };
    let run = |congestion| {
        let mut config = chain(
            &[(1_000_000_000, Span::from_millis(5)), (20_000_000, Span::from_millis(15))],
            law(congestion),
            Span::from_secs(60),
        );
        config.run.warmup = Span::from_secs(5);
        run_once(&config)
    };
    let [bbr, reno] = [CongestionKind::Bbr, CongestionKind::Reno].map(run);
    // 1448 of 1500 bytes are payload.
    let most = 20e6 * 1448.0 / 1500.0;
    let goodput = metric(&bbr, "flows.main.goodput_bps");
    assert!((goodput / most - 1.0).abs() < 0.05, "{goodput}");
    let rtt = metric(&bbr, "flows.main.rtt_mean_s");
    assert!((rtt / 0.04 - 1.0).abs() < 0.1, "{rtt}");
    let queued = |outcome| metric(outcome, "links.l1.queue_mean_packets");
    assert!(queued(&bbr) < 5.0 && queued(&reno) > 20.0, "{} and {}", queued(&bbr), queued(&reno));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Random losses both ways, a small buffer and a slow reader: the stream arrives whole under every variant.
    #[test]
    fn a_file_arrives_whole_whatever_is_lost(
        variant in 0usize..VARIANTS.len(),
        modern in any::<bool>(),
        size in 1u64..200_000,
        forward in 0.0f64..0.25,
        reverse in 0.0f64..0.25,
        buffer in prop::option::of(3_000u64..40_000),
        slow in prop::option::of(100_000u64..2_000_000),
        seed in 0u64..1000,
    ) {
        let variant = &VARIANTS[variant];
        let profile = if modern { Profile::Modern } else { Profile::Ns2Of2004 };
        let needs_sack = matches!(variant.recovery, RecoveryKind::Sack | RecoveryKind::Fack);
        let base = profile.config();
        let tcp = tcp::Config {
            parts: Parts::new(variant.recovery, variant.congestion.config()),
            sack: base.sack || needs_sack,
            receive_buffer: buffer,
            ..base
        };
        let mut config = chain(&[(2_000_000, Span::from_millis(20))], tcp, Span::from_secs(100_000));
        wire(&mut config, 0, 0).loss = LossConfig::Packet { rate: forward };
        wire(&mut config, 0, 1).loss = LossConfig::Packet { rate: reverse };
        config.flows[0].sink.read_rate = slow.map(Rate);
        file(&mut config, size);
        let request = lasthop_sim::Request { max_events: Some(5_000_000), ..lasthop_sim::Request::new(&config, seed, 0) };
        let outcome = run(&request).expect("the run succeeds");
        prop_assert_eq!(outcome.stopped, None);
        prop_assert!((delivered(&outcome) - size as f64).abs() < 1e-3, "{} of {size}", delivered(&outcome));
        let completed = outcome.metrics.iter().any(|(name, value)| name.ends_with("completion_s") && value.is_some());
        prop_assert!(completed);
    }
}
