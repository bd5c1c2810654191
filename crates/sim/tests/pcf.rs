//! Contention-free periods end to end: TCP and the ARQ snoop agent over an access point that polls.

use std::process::Command;

use crate::common::{chain, flows_between, metric, run, run_replication, snoop, wlan};
use lasthop_sim::medium::radio::config::{ErrorConfig, ErrorLaw, LossMeaning, LossOf};
use lasthop_sim::model::{Config, LinkKind, NodeConfig, WifiConfig};
use lasthop_sim::traffic::AppKind;
use lasthop_sim::{Outcome, Request};
use lasthop_stack::link::dot11::{PcfConfig, Preset};
use lasthop_stack::registry::tcp::{self, Profile};
use lasthop_stack::schemes::lle_tcp::Mode;
use lasthop_stack::units::{Bytes, Span, Time};

/// Nearly all of each interval of 100 ms is free of contention.
const LONG: PcfConfig = PcfConfig {
    interval: Span::from_millis(100),
    duration: Span::from_millis(95),
    beacon: 72,
    end: 20,
    largest_packet: 1_500,
};

/// An access point (node 0) and mobiles on 802.11b at 11 Mbit/s, with bulk flows between these nodes.
fn cell(mobiles: usize, flows: &[(usize, usize)], mode: Option<Mode>, pcf: Option<PcfConfig>) -> Config {
    let tcp = tcp::Config { packet: 1000, ..Profile::Ns2Of2004.config() };
    let mut config = chain(&[(1, Span::ZERO)], tcp, Span::from_secs(10));
    config.nodes =
        (0..=mobiles).map(|node| NodeConfig { name: format!("n{node}"), ..NodeConfig::default() }).collect();
    config.links = vec![wlan((0..=mobiles).collect(), Some(0), Preset::Dot11b.config(), pcf)];
    flows_between(&mut config, flows);
    snoop(&mut config, mode);
    config
}

fn wifi(config: &mut Config) -> &mut WifiConfig {
    match &mut config.links[0].kind {
        LinkKind::Wifi(wifi) => wifi,
        LinkKind::PointToPoint(_) | LinkKind::Frn(_) => panic!("the link is a medium"),
    }
}

/// A frame of a capture: its start in microseconds, type and subtype, flags, Duration field, receiver, whole bytes.
struct Captured {
    start_us: f64,
    subtype: u8,
    retry: bool,
    duration: u16,
    receiver: u8,
    bytes: Vec<u8>,
}

const BEACON: u8 = 0x80;
const ACK: u8 = 0xD4;
const CF_END: u8 = 0xE4;
const CF_END_ACK: u8 = 0xF4;
const DATA: u8 = 0x08;
/// Bits of the subtype of a data frame: CF-ACK, CF-Poll, no data.
const RIDES_ACK: u8 = 0x10;
const RIDES_POLL: u8 = 0x20;
const NO_DATA: u8 = 0x40;

impl Captured {
    fn is_data(&self) -> bool {
        self.subtype & 0x0F == DATA
    }

    fn carries_data(&self) -> bool {
        self.is_data() && self.subtype & NO_DATA == 0
    }

    fn is_contention_free(&self) -> bool {
        self.duration == 32_768
    }
}

/// Runs with a capture of the medium: what came out, the file, and its frames.
fn captured(config: &Config, name: &str) -> (Outcome, Vec<u8>, Vec<Captured>) {
    let path = std::env::temp_dir().join(format!("lasthop-pcf-{name}-{}.pcap", std::process::id()));
    let pcap = [(0, path.clone())];
    let request = Request { pcap: &pcap, ..Request::new(config, 1, 0) };
    let outcome = run(&request).expect("the run succeeds");
    let file = std::fs::read(&path).expect("the capture is there");
    std::fs::remove_file(&path).expect("the capture can be removed");
    let number = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes"));
    let (mut frames, mut at) = (Vec::new(), 24);
    while at < file.len() {
        let length = number(at + 8) as usize;
        let record = &file[at + 16..at + 16 + length];
        let bytes = record[usize::from(record[2])..].to_vec();
        frames.push(Captured {
            start_us: f64::from(number(at)) * 1e6 + f64::from(number(at + 4)) / 1e3,
            subtype: bytes[0],
            retry: bytes[1] & 0x08 != 0,
            duration: u16::from_le_bytes([bytes[2], bytes[3]]),
            receiver: bytes[9],
            bytes,
        });
        at += 16 + length;
    }
    (outcome, file, frames)
}

fn count(frames: &[Captured], wanted: impl Fn(&Captured) -> bool) -> usize {
    frames.iter().filter(|frame| wanted(frame)).count()
}

#[test]
fn the_agent_acknowledges_what_a_cf_ack_has_delivered_on_a_polled_station_and_on_the_access_point() {
    for (name, from, to) in [("down", 0, 1), ("up", 1, 0)] {
        for mode in [Mode::Paper, Mode::Safe] {
            let (outcome, _, frames) = captured(&cell(1, &[(from, to)], Some(mode), Some(LONG)), name);
            let generated = metric(&outcome, "agents.snoop.generated");
            let by_ack = count(&frames, |frame| frame.subtype == ACK) as f64;
            assert!(generated > 3_000.0 && by_ack < 0.2 * generated, "{name} {mode:?}: {generated} {by_ack}");
            assert!(metric(&outcome, "agents.snoop.suppressed") > 0.8 * generated, "{name} {mode:?}");
        }
    }
}

#[test]
fn the_agent_gains_under_polling_in_both_directions_for_one_station_and_for_several() {
    for mobiles in [1, 5] {
        let down: Vec<(usize, usize)> = (1..=mobiles).map(|mobile| (0, mobile)).collect();
        let up: Vec<(usize, usize)> = (1..=mobiles).map(|mobile| (mobile, 0)).collect();
        for flows in [down, up] {
            let total = |mode| {
                let outcome = run_replication(&cell(mobiles, &flows, mode, Some(LONG)), 0);
                let goodput = |flow: usize| metric(&outcome, &format!("flows.f{flow}.goodput_bps"));
                (0..mobiles).map(goodput).sum::<f64>()
            };
            let standard = total(None);
            for mode in [Mode::Paper, Mode::Safe] {
                let gain = total(Some(mode)) / standard - 1.0;
                // What a polled acknowledgement of TCP costs is its 48 bytes at 11 Mbit/s, of an exchange of 1.2 ms.
                assert!((0.005..0.12).contains(&gain), "{mobiles} {flows:?} {mode:?}: {gain}");
            }
        }
    }
}

#[test]
fn every_second_of_a_polled_medium_is_in_one_class() {
    let flows: Vec<(usize, usize)> = vec![(0, 1), (2, 0), (3, 1)];
    for errors in [ErrorLaw::None, ErrorLaw::Packet { rate: 0.1 }] {
        let mut config = cell(3, &flows, None, Some(PcfConfig::default()));
        wifi(&mut config).radio.errors =
            ErrorConfig { law: errors.clone(), meaning: LossMeaning::OnAir, of: LossOf::All, at: None };
        let outcome = run_replication(&config, 0);
        let of = |class: &str| metric(&outcome, &format!("links.wlan.airtime_{class}_s"));
        let classes = outcome.metrics.iter().filter(|(name, _)| name.contains(".airtime_"));
        let sum: f64 =
            classes.filter(|(name, _)| !name.contains("concurrent")).filter_map(|(_, value)| *value).sum();
        assert!((sum - outcome.simulated.as_secs()).abs() < 1e-6, "{sum}");
        assert!(of("data_payload") > 2.0 && of("interframe") > 0.1 && of("headers") > 1.0, "{errors:?}");
        assert_eq!(of("errored") > 0.1, errors != ErrorLaw::None);
    }
}

#[test]
fn an_idle_period_costs_its_beacon_a_poll_an_answer_and_its_end() {
    let mut config = cell(1, &[(0, 1)], None, Some(LONG));
    config.flows[0].app.start = Time(20_000_000_000);
    let outcome = run_replication(&config, 0);
    let of = |class: &str| metric(&outcome, &format!("links.wlan.airtime_{class}_s"));
    // Microseconds at 2 and 11 Mbit/s behind a long preamble, in each of 100 intervals; three SIFS lie between,
    // and PIFS before the first.
    let headers = 100.0e-6 * f64::from(480 + 213 + 213 + 272);
    assert!((of("headers") - headers).abs() < 1e-9, "{}", of("headers"));
    assert!((of("interframe") - 101.0 * 30.0e-6).abs() < 1e-9, "{}", of("interframe"));
    assert!((of("idle") - 10.0 + headers + 0.00303).abs() < 1e-9, "{}", of("idle"));
}

#[test]
fn periods_begin_each_interval_keep_their_length_and_poll_every_station_but_the_access_point() {
    let pcf = PcfConfig { duration: Span::from_millis(40), ..LONG };
    let flows: Vec<(usize, usize)> = vec![(0, 1), (2, 0)];
    let (_, _, frames) = captured(&cell(3, &flows, None, Some(pcf)), "periods");
    let mut begun: Option<(f64, f64)> = None;
    let mut periods = 0;
    for frame in &frames {
        match frame.subtype {
            BEACON => {
                let due = 100_000.0 * f64::from(periods);
                assert!(frame.start_us >= due && frame.start_us < due + 5_000.0, "{}", frame.start_us);
                begun = Some((frame.start_us, due + 40_000.0));
                periods += 1;
            }
            CF_END | CF_END_ACK => {
                let (_, ends) = begun.take().expect("a period that ends has begun");
                // 20 bytes at 2 Mbit/s behind a long preamble.
                assert!(frame.start_us + 272.0 <= ends, "{} {ends}", frame.start_us);
            }
            _ => assert_eq!(frame.is_contention_free(), begun.is_some(), "{}", frame.start_us),
        }
    }
    assert_eq!(periods, 100);
    let polls = |node: u8| {
        // Addresses count nodes from 1.
        let polls = |frame: &Captured| frame.is_data() && frame.subtype & RIDES_POLL != 0;
        count(&frames, |frame| polls(frame) && frame.receiver == node + 1)
    };
    assert_eq!(polls(0), 0);
    assert!((1..=3).all(|node| polls(node) > 1_000 && polls(node).abs_diff(polls(1)) <= 200));
}

#[test]
fn a_file_survives_errors_of_polled_frames() {
    for (from, to) in [(0, 1), (1, 0)] {
        let mut config = cell(2, &[(from, to)], Some(Mode::Safe), Some(LONG));
        config.flows[0].app.kind = AppKind::File { size: Bytes(1_000_000) };
        wifi(&mut config).radio.errors = ErrorConfig {
            law: ErrorLaw::Packet { rate: 0.1 },
            meaning: LossMeaning::OnAir,
            of: LossOf::All,
            at: None,
        };
        let (outcome, _, frames) = captured(&config, "errors");
        assert!(metric(&outcome, "flows.f0.completion_s") < 8.0);
        let polled = |frame: &Captured| frame.carries_data() && frame.is_contention_free();
        let repeated = count(&frames, |frame| polled(frame) && frame.retry) as f64;
        let share = repeated / count(&frames, polled) as f64;
        // A polled frame is repeated when it was errored or what acknowledged it was: 1 - 0.9^2.
        assert!((share - 0.19).abs() < 0.05, "{share}");
    }
}

#[test]
fn tshark_decodes_polls_and_what_rides_on_them() {
    let pcf = PcfConfig { interval: Span::from_micros(61_440), duration: Span::from_micros(40_960), ..LONG };
    let mut config = cell(2, &[(0, 1), (1, 0), (0, 2)], Some(Mode::Safe), Some(pcf));
    config.run.duration = Span::from_secs(2);
    let (outcome, file, frames) = captured(&config, "tshark");
    assert_eq!(frames.len() as f64, metric(&outcome, "links.wlan.frames_sent"));
    for riding in [0, RIDES_ACK, RIDES_POLL, RIDES_ACK | RIDES_POLL] {
        for kind in [DATA, DATA | NO_DATA] {
            assert!(count(&frames, |frame| frame.subtype == kind | riding) > 0, "{:#x}", kind | riding);
        }
    }
    let beacon = frames.iter().find(|frame| frame.subtype == BEACON).expect("a period begins with a beacon");
    // 60 time units from one to the next, 40 at most, of which the beacon announces the rest after its own airtime.
    assert_eq!(beacon.bytes[32..34], [60, 0]);
    assert_eq!(beacon.bytes[54..62], [4, 6, 0, 1, 40, 0, 39, 0]);
    let path = std::env::temp_dir().join(format!("lasthop-pcf-decode-{}.pcap", std::process::id()));
    std::fs::write(&path, file).expect("a temporary file can be written");
    let fields =
        ["wlan.fc.type_subtype", "wlan.fcs.status", "_ws.malformed", "_ws.expert.severity", "wlan.seq"];
    let mut command = Command::new("tshark");
    // That TCP's window is full, as it should be, would be one of the warnings.
    command.arg("-r").arg(&path).args(["-o", "wlan.check_checksum:TRUE"]);
    command.args(["-o", "tcp.analyze_sequence_numbers:FALSE", "-T", "fields"]);
    let output = command.args(fields.iter().flat_map(|field| ["-e", field])).output();
    std::fs::remove_file(&path).expect("what was written can be removed");
    // Without tshark the bytes above must suffice.
    let Ok(output) = output else { return };
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines.len(), frames.len(), "{}", String::from_utf8_lossy(&output.stderr));
    for (line, frame) in lines.iter().zip(&frames) {
        let found = u8::from_str_radix(line[0].trim_start_matches("0x"), 16).expect("a number of a subtype");
        let expected = (frame.subtype & 0x0C) << 2 | frame.subtype >> 4;
        assert_eq!((found, line[1], line[2]), (expected, "1", ""), "{line:?}");
        let warning = 0x0060_0000;
        let mut severities = line[3].split(',').filter_map(|severity| severity.parse::<u32>().ok());
        assert!(severities.all(|severity| severity < warning), "{line:?}");
    }
}
