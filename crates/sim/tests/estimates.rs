//! Senders' timers as an access point estimates them from traffic, against the senders' own.

use std::path::{Path, PathBuf};

use crate::common::{chain, run, wire};
use lasthop_sim::Request;
use lasthop_sim::medium::loss::LossConfig;
use lasthop_sim::model::Config;
use lasthop_sim::probe::trace::{Column, TraceTable};
use lasthop_sim::traffic::AppKind;
use lasthop_stack::packet::{Body, Flags, NodeId, Options, Packet, Segment, Timestamps};
use lasthop_stack::registry::tcp::{self, Profile};
use lasthop_stack::schemes::dynamic_arq::{Estimator, estimate};
use lasthop_stack::transport::tcp::rtt::RtoLimits;
use lasthop_stack::transport::tcp::{LossDetection, RtoFloor};
use lasthop_stack::units::{Rate, SeqNo, Span, Time};

/// A server, an access point and a client: wire and air.
fn path(tcp: tcp::Config, wired: Span) -> Config {
    let mut config =
        chain(&[(1_000_000_000, wired), (2_000_000, Span::from_millis(1))], tcp, Span::from_secs(60));
    config.flows[0].app.start = Time(1_000_000);
    config
}

/// The timer that the estimates are of is RFC 6298's, and nothing fires before it.
fn modern() -> tcp::Config {
    let (quick_acks, tail_loss_probe, rto_floor) = (0, false, RtoFloor::Timeout);
    let loss_detection = LossDetection::Duplicates;
    let config = tcp::Config { window: 20, quick_acks, tail_loss_probe, ..Profile::Modern.config() };
    tcp::Config { rto_floor, loss_detection, ..config }
}

fn plain() -> tcp::Config {
    tcp::Config { tick: Span::ZERO, ..Profile::Ns2Of2004.config() }
}

/// How far the access point is from the truth, over all acknowledgements that measure a round trip.
#[derive(Debug, Default)]
struct Errors {
    samples: usize,
    /// Mean relative error of the smoothed round trip, the same in seconds, and that of the timeout.
    rtt: f64,
    rtt_s: f64,
    rto: f64,
    /// By how many seconds the times are wrong at which the timer fires.
    fires: Vec<f64>,
}

impl Errors {
    fn fires_mean(&self) -> f64 {
        self.fires.iter().sum::<f64>() / self.fires.len() as f64
    }
}

fn no_floor() -> tcp::Config {
    tcp::Config { min_rto: Span::ZERO, ..plain() }
}

/// Watches a run at the node between its two links.
fn watch(config: &Config, name: &str) -> Errors {
    watch_replication(config, name, 0)
}

/// Watches one of the runs of a config at the node between its two links.
fn watch_replication(config: &Config, name: &str, replication: u64) -> Errors {
    let file = scratch(name);
    let request = Request {
        trace: &["rtt".into()],
        pcap: &[(0, file.clone())],
        ..Request::new(config, 1, replication)
    };
    let outcome = run(&request).expect("the run succeeds");
    let truth = Truth::of(&outcome.traces[0]);
    let lasthop_sim::model::LinkKind::PointToPoint(wire) = &config.links[0].kind else { panic!("a wire") };
    let [towards, back] = [wire.directions[0].delay, wire.directions[1].delay];
    let lasthop_sim::model::TransportConfig::Tcp(tcp) = &config.flows[0].transport else {
        panic!("a flow over TCP")
    };
    let rto = RtoLimits { initial: tcp.initial_rto, min: tcp.min_rto, max: tcp.max_rto, tick: tcp.tick };
    let mut estimator = Estimator::new(estimate::Config { rto, ..estimate::Config::default() });
    let mut packets: Vec<(Time, Packet)> = read(&file);
    for (at, packet) in &mut packets {
        if packet.src == NodeId(0) {
            *at = at.after(towards);
        }
    }
    packets.sort_by_key(|(at, _)| *at);
    let mut errors = Errors::default();
    for (at, packet) in packets {
        if packet.src == NodeId(0) {
            estimator.on_down(&packet, at);
        } else if let Some(flow) = estimator.on_up(&packet, at)
            && let Some([time, srtt, rto]) = truth.at(at.after(back))
        {
            let timing = estimator.timing(flow);
            errors.samples += 1;
            errors.rtt += (timing.rtt.as_secs() - srtt).abs() / srtt;
            errors.rtt_s += (timing.rtt.as_secs() - srtt).abs();
            errors.rto += (timing.rto.as_secs() - rto).abs() / rto;
            if timing.fires_at != Time::NEVER {
                errors.fires.push((timing.fires_at.as_secs() - (time + rto)).abs());
            }
        }
    }
    errors.rtt /= errors.samples as f64;
    errors.rtt_s /= errors.samples as f64;
    errors.rto /= errors.samples as f64;
    errors
}

/// The sender's samples of data: when, the smoothed round trip and the timeout after each.
struct Truth(Vec<[f64; 3]>);

impl Truth {
    fn of(table: &TraceTable) -> Truth {
        let column = |name: &str| match table.columns.iter().find(|(column, _)| *column == name) {
            Some((_, Column::Float(values))) => values.clone(),
            _ => panic!("a column of numbers"),
        };
        let [times, srtts, rtos] = ["time_s", "srtt_s", "rto_s"].map(column);
        let coded = |name: &str| match table.columns.iter().find(|(column, _)| *column == name) {
            Some((_, Column::Word { codes, .. })) => codes.clone(),
            _ => panic!("a column of words"),
        };
        let [flows, of] = ["flow", "of"].map(coded);
        let rows = (0..times.len()).filter(|&row| (flows[row], of[row]) == (0, 0));
        Truth(rows.map(|row| [times[row], srtts[row], rtos[row]]).collect())
    }

    /// The sample that the acknowledgement gave which came to the sender at about this time.
    fn at(&self, time: Time) -> Option<[f64; 3]> {
        let time = time.as_secs();
        self.0.iter().find(|row| (row[0] - time).abs() < 20e-6).copied()
    }
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("estimates-{name}.pcap"))
}

/// The packets of a capture of a point-to-point link, with the times at which they left.
fn read(file: &Path) -> Vec<(Time, Packet)> {
    let bytes = std::fs::read(file).expect("the capture is there");
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let (mut packets, mut at) = (Vec::new(), 24);
    while at < bytes.len() {
        let time = Time(u64::from(word(at)) * 1_000_000_000 + u64::from(word(at + 4)));
        let length = word(at + 8) as usize;
        packets.push((time, decode(&bytes[at + 16..at + 16 + length])));
        at += 16 + length;
    }
    packets
}

fn decode(ip: &[u8]) -> Packet {
    let (tcp, total) = (&ip[4 * usize::from(ip[0] & 15)..], ip.len());
    let half = |bytes: &[u8], at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    let word = |bytes: &[u8], at: usize| u32::from(half(bytes, at)) << 16 | u32::from(half(bytes, at + 2));
    let header = 4 * usize::from(tcp[12] >> 4);
    let mut options = Options::default();
    let mut rest = &tcp[20..header];
    while let [kind, after @ ..] = rest {
        let length = if *kind <= 1 { 1 } else { usize::from(after[0]) };
        if *kind == 8 {
            options.timestamps = Some(Timestamps { value: word(rest, 2), echo: word(rest, 6) });
        }
        if *kind == 5 {
            for block in 0..(length - 2) / 8 {
                options.sack.push(SeqNo(word(rest, 2 + 8 * block)), SeqNo(word(rest, 6 + 8 * block)));
            }
        }
        rest = &rest[length..];
    }
    let segment = Segment {
        src_port: half(tcp, 0),
        dst_port: half(tcp, 2),
        seq: SeqNo(word(tcp, 4)),
        ack: SeqNo(word(tcp, 8)),
        flags: Flags(u16::from_be_bytes([tcp[12] & 0x0F, tcp[13]])),
        window: half(tcp, 14),
        len: (total - 4 * usize::from(ip[0] & 15) - header) as u32,
        options,
    };
    let node = |at: usize| NodeId(u32::from(ip[at + 3]) - 1);
    Packet::new(node(12), node(16), Body::Tcp(segment))
}

const WIRES: [Span; 3] = [Span::from_millis(5), Span::from_millis(25), Span::from_millis(50)];

#[test]
fn on_a_clean_path_round_trips_are_within_half_a_percent_and_timers_within_a_millisecond() {
    let senders = [
        ("modern", modern()),
        ("plain", plain()),
        ("no floor", no_floor()),
        ("delayed", tcp::Config { ack_every: 2, ..no_floor() }),
    ];
    for (name, tcp) in senders {
        for wired in WIRES {
            let errors = watch(&path(tcp.clone(), wired), name);
            assert!(errors.samples > 500, "{name} {wired:?} {}", errors.samples);
            assert!(errors.rtt < 0.005, "{name} {wired:?} {}", errors.rtt);
            assert!(errors.rto < 0.01, "{name} {wired:?} {}", errors.rto);
            assert!(errors.fires_mean() < 0.001, "{name} {wired:?} {}", errors.fires_mean());
        }
    }
}

#[test]
fn losses_harm_what_is_learnt_of_a_sender_without_timestamps() {
    for wired in WIRES {
        let lossy = |tcp, replication| {
            let mut config = path(tcp, wired);
            wire(&mut config, 1, 0).loss = LossConfig::Packet { rate: 0.05 };
            watch_replication(&config, "losses", replication)
        };
        let stamped = lossy(modern(), 0);
        assert!(stamped.samples > 200, "{}", stamped.samples);
        // Half a tick of the clock that stamps: the agent and the sender round different samples.
        assert!(stamped.rtt_s < 0.5e-3 && stamped.rto < 0.005, "{} {}", stamped.rtt_s, stamped.rto);
        // One outlier that is believed spoils a run, so that single runs lie far apart: the median is compared.
        let plain: Vec<Errors> = (0..11).map(|replication| lossy(no_floor(), replication)).collect();
        let rtt = median(plain.iter().map(|errors| errors.rtt));
        let rto = median(plain.iter().map(|errors| errors.rto));
        let far = wired == WIRES[2];
        assert!(rtt > 0.02 && rto > 0.04, "{rtt} {rto}");
        assert!(rtt < if far { 0.2 } else { 0.1 } && rto < if far { 0.25 } else { 0.15 }, "{rtt} {rto}");
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[test]
fn a_path_that_is_slower_one_way_shifts_the_timer_by_half_of_the_difference() {
    let mut config = path(modern(), Span::ZERO);
    wire(&mut config, 0, 0).delay = Span::from_millis(50);
    wire(&mut config, 0, 1).delay = Span::from_millis(10);
    let errors = watch(&config, "skew");
    assert!(errors.rtt < 0.005, "{}", errors.rtt);
    assert!((errors.fires_mean() - 0.020).abs() < 0.001, "{}", errors.fires_mean());
}

#[test]
fn an_application_that_has_nothing_to_send_is_not_taken_for_a_long_wire() {
    for tcp in [modern(), no_floor()] {
        let mut config = path(tcp, Span::from_millis(25));
        config.flows[0].app.kind = AppKind::Cbr { rate: Rate(80_000), packet: 1000 };
        let errors = watch(&config, "application");
        assert!(errors.samples > 200 && errors.rtt < 0.02, "{} {}", errors.samples, errors.rtt);
    }
}
