//! The keys of TCP and UDP. The values of the TCP profiles are in `tcp::Profile`; the source of each is here.

use super::super::hosted;
use super::table::{IF_TCP, LONGEST, SEGMENTS, SIZE, TIME_MS, TIME_S};
use super::values::{bytes, departures, duplicates, growth, retransmit_timer, segments, time, variant_name};
use super::words::{Departures, Duplicates, Growth, RetransmitTimer};
use super::{Case, Default, Key, Kind, Only, Part, Profiled, Unless, WESTWOOD_RECOVERY};
use lasthop_stack::hooks::SlowStart;
use lasthop_stack::hooks::parameter::{Words, words};
use lasthop_stack::hooks::scoreboard::SackAfterTimeout;
use lasthop_stack::registry::{CongestionKind, ReactionKind, RecoveryKind, VARIANTS};
use lasthop_stack::transport::tcp::{
    Counting, EcnMode, FastRetransmit, FullAck, Halved, LossDetection, LostRetransmission, Profile,
    RtoArithmetic, RtoFloor, SackPipe, Undo,
};

const IF_UDP: &[Only] = &[Only::Udp];
const IF_RENO: &[Only] = &[Only::Is("flows.*.tcp.recovery", &["reno"])];
const IF_SACK: &[Only] = &[Only::Is("flows.*.tcp.recovery", &["sack"])];
const IF_SACK_SCOREBOARD: &[Only] =
    &[Only::Is("flows.*.tcp.recovery", &["sack"]), Only::Is("flows.*.tcp.sack-pipe", &["scoreboard"])];
const IF_RACK: &[Only] = &[
    Only::Is("flows.*.tcp.recovery", &["sack"]),
    Only::Is("flows.*.tcp.sack-pipe", &["scoreboard"]),
    Only::Is("flows.*.tcp.loss-detection", &["rack"]),
];
const IF_SACK_BY_COUNT: &[Only] = &[
    Only::Is("flows.*.tcp.recovery", &["sack"]),
    Only::Is("flows.*.tcp.sack-pipe", &["scoreboard"]),
    Only::Is("flows.*.tcp.loss-detection", &["rfc6675"]),
];
const IF_SACK_OR_FACK: &[Only] = &[Only::Is("flows.*.tcp.recovery", &["sack", "fack"])];
const IF_DELAYED_WITH_SACK: &[Only] =
    &[Only::Is("flows.*.tcp.acks", &["delayed"]), Only::Is("flows.*.tcp.sack", &["true"])];
const IF_TUNED: &[Only] = &[Only::Is("flows.*.tcp.receive-autotuning", &["true"])];
const IF_RECOVERING: &[Only] = &[Only::Is("flows.*.tcp.recovery", &["reno", "newreno", "sack", "fack"])];
const IF_NEWRENO: &[Only] = &[Only::Is("flows.*.tcp.recovery", &["newreno"])];
const IF_NEWRENO_ALONE: &[Only] =
    &[Only::Is("flows.*.tcp.recovery", &["newreno"]), Only::Is("flows.*.tcp.sack", &["false"])];

/// The keys under `[flows.NAME.tcp]` and `[flows.NAME.udp]`.
pub(super) const TRANSPORT: &[Key] = &[
    // [flows.NAME.tcp]
    Key::new(
        "flows.*.tcp.profile",
        Kind::Word("profile", words::<Profile>),
        "set of TCP defaults: a current host (Linux 6), the RFCs where Linux departs from them, or ns-2 in 2004",
    )
    .default("modern")
    .only(IF_TCP),
    Key::new(
        "flows.*.tcp.variant",
        Kind::Word("variant", || VARIANTS.iter().map(|variant| variant.name).chain(hosted::names()).collect()),
        "preset of recovery and congestion law",
    )
    .profile(variant_name, "RFC 3782", "Linux: tcp_congestion_control")
    .rfc("RFC 9438")
    .only(IF_TCP),
    Key::new(
        WESTWOOD_RECOVERY.1,
        Kind::Word("recovery", || vec!["newreno", "reno", "uninflated"]),
        "recovery of the variant westwood, which tcp.recovery overrides: NewReno's, Reno's, or that of ns-2's module of 2002",
    )
    .default("newreno")
    .source("Mascolo et al. 2001; ns-2 module of Westwood, June 2002")
    .only(&[Only::Is("flows.*.tcp.variant", &[WESTWOOD_RECOVERY.0])]),
    Key::new(
        "flows.*.tcp.recovery",
        Kind::Word("recovery", || RecoveryKind::ALL.iter().map(|kind| kind.entry().name).collect()),
        "loss recovery: which segments are retransmitted, and when recovery ends",
    )
    .part_of_variant(Part::Recovery)
    .only(IF_TCP),
    Key::new(
        "flows.*.tcp.congestion",
        Kind::Word("congestion law", laws),
        "congestion control law",
    )
    .part_of_variant(Part::Congestion)
    .only(IF_TCP),
    Key::new(
        "flows.*.tcp.reaction",
        Kind::Word("reaction", || ReactionKind::ALL.iter().map(|kind| kind.entry().name).collect()),
        "what an end does at events of its own link: outages, hand-offs, warnings; unset means nothing",
    )
    .absent()
    .only(IF_TCP),
    Key::new("flows.*.tcp.packet", SIZE, "payload of a full segment, without headers")
        .profile(|tcp| bytes(tcp.packet.into()), "ns-2: packetSize_", "Ethernet MTU minus IPv4, TCP and timestamp headers")
        .at_least("1 B")
        .at_most("65495 B")
        .only(IF_TCP),
    Key::new("flows.*.tcp.extra-header", SIZE, "bytes that a routing protocol adds to every packet")
        .profile(|tcp| bytes(tcp.extra_header.into()), "", "")
        .at_most("40 B")
        .only(IF_TCP),
    Key::new("flows.*.tcp.window", SEGMENTS, "maximum number of outstanding segments")
        .profile(|tcp| segments(tcp.window), "ns-2: window_", "Linux: tcp_rmem, about 6 MB")
        .at_least("1 segment")
        .at_most("1000000 segments")
        .only(IF_TCP),
    Key::new("flows.*.tcp.initial-window", SEGMENTS, "initial congestion window")
        .profile(|tcp| segments(tcp.initial_window), "RFC 2581 (3.1); ns-2: windowInit_", "RFC 6928 (2)")
        .at_least("1 segment")
        .at_most("1000000 segments")
        .only(IF_TCP),
    Key::new("flows.*.tcp.initial-ssthresh", SEGMENTS, "initial slow-start threshold; none means tcp.window")
        .or(&["none"])
        .profile(|_| "none".to_string(), "RFC 2581 (3.1)", "RFC 5681 (3.1)")
        .at_least("1 segment")
        .at_most("1000000 segments")
        .only(IF_TCP),
    Key::new("flows.*.tcp.min-rto", TIME_MS, "minimum retransmission timeout")
        .profile(|tcp| time(tcp.min_rto), "RFC 2988 (2.4); ns-2: minrto_ until October 2004", "Linux: TCP_RTO_MIN")
        .rfc("RFC 6298 (2.4)")
        .above("0 s")
        .at_most(LONGEST)
        .only(IF_TCP),
    Key::new(
        "flows.*.tcp.rto-floor",
        Kind::Word("choice", words::<RtoFloor>),
        "what min-rto bounds: the timeout, or what it has beyond the smoothed round-trip time",
    )
    .profile(
        |tcp| tcp.rto_floor.word().to_string(),
        "RFC 2988 (2.4)",
        "Linux: tcp_rto_min in rttvar",
    )
    .rfc("RFC 6298 (2.4)")
    .only(IF_TCP),
    Key::new(
        "flows.*.tcp.rto-arithmetic",
        Kind::Word("choice", words::<RtoArithmetic>),
        "whether the timeout follows from round trips in real numbers, or in whole ticks and from the samples that ns-2 takes",
    )
    .profile(
        |tcp| tcp.rto_arithmetic.word().to_string(),
        "ns-2: rtt_update",
        "RFC 6298 (2)",
    )
    .only(IF_TCP),
    Key::new("flows.*.tcp.max-rto", TIME_S, "maximum retransmission timeout, including backoff")
        .profile(|tcp| time(tcp.max_rto), "RFC 2988 (2.5)", "Linux: TCP_RTO_MAX")
        .above("0 s")
        .at_most(LONGEST)
        .only(IF_TCP),
    Key::new("flows.*.tcp.initial-rto", TIME_S, "retransmission timeout before the first round-trip sample")
        .profile(|tcp| time(tcp.initial_rto), "RFC 2988 (2.1)", "RFC 6298 (2.1)")
        .above("0 s")
        .at_most(LONGEST)
        .only(IF_TCP),
    Key::new("flows.*.tcp.tick", TIME_MS, "granularity of the clock by which timeouts and timestamps go; 0 s means exact")
        .profile(|tcp| time(tcp.tick), "ns-2: tcpTick_", "Linux: a clock of 1000 Hz")
        .at_most("10 s")
        .only(IF_TCP),
];

/// The keys of TCP behind those of acknowledgements, and of UDP.
pub(super) const OPTIONS: &[Key] = &[
    Key::new("flows.*.tcp.timestamps", Kind::Bool, "whether the timestamps option is used")
        .profile(|tcp| tcp.timestamps.to_string(), "ns-2: timestamps_", "RFC 7323 (3)")
        .only(IF_TCP),
    Key { default: Default::Unless(SACK), ..Key::new("flows.*.tcp.sack", Kind::Bool, "whether the SACK option is used") }.only(IF_TCP),
    Key::new("flows.*.tcp.dsack", Kind::Bool, "whether SACK reports segments that arrive twice (D-SACK)")
        .profile(|tcp| tcp.dsack.to_string(), "not in ns-2", "RFC 2883")
        .only(IF_TCP),
    Key::new(
        "flows.*.tcp.sack-wait",
        TIME_MS,
        "longest time for which acknowledgements of what arrives beyond a hole wait for each other, from the fourth on, and at most a twentieth of the round trip (Linux: 1 ms); 0 s sends each at once",
    )
    .default("0 s")
    .source("RFC 2018 (4)")
    .at_most("1 s")
    .only(IF_DELAYED_WITH_SACK),
    Key {
        default: Default::Unless(ECN),
        ..Key::new(
            "flows.*.tcp.ecn",
            Kind::Word("kind of ECN", words::<EcnMode>),
            "explicit congestion notification: off, as in RFC 3168 with one answer per window of data, or with a count of marks as in RFC 9768",
        )
    }
    .only(IF_TCP),
    Key::new("flows.*.tcp.limited-transmit", Kind::Bool, "whether the first two duplicate acknowledgements send new data (limited transmit)")
        .profile(|tcp| tcp.limited_transmit.to_string(), "RFC 3042; ns-2: singledup_", "RFC 3042")
        .only(IF_TCP),
    Key::new(
        "flows.*.tcp.eln",
        Kind::Bool,
        "whether an acknowledgement marked with a loss on a wireless link (ELN) makes the sender retransmit without reducing its window",
    )
    .default("false")
    .source("Balakrishnan and Katz 1998")
    .only(IF_TCP),
    Key::new(
        "flows.*.tcp.limited-transmit-resends",
        Kind::Bool,
        "whether limited transmit retransmits the next segment during a go-back, instead of sending nothing",
    )
    .profile(|tcp| tcp.limited_transmit_resends.to_string(), "ns-2: singledup_", "RFC 3042 (2)")
    .only(IF_TCP),
    Key::new("flows.*.tcp.nagle", Kind::Bool, "whether Nagle's algorithm delays small segments while data is outstanding")
        .profile(|tcp| tcp.nagle.to_string(), "not in ns-2", "RFC 9293 (3.7.4)")
        .only(IF_TCP),
    Key::new("flows.*.tcp.window-validation", Kind::Bool, "whether the congestion window grows only while it limits the sender")
        .profile(|tcp| tcp.window_validation.to_string(), "ns-2: control_increase_", "RFC 7661 (4)")
        .only(IF_TCP),
    Key::new("flows.*.tcp.idle-restart", Kind::Bool, "whether the window restarts from the initial window after an idle time of one timeout")
        .profile(|tcp| tcp.idle_restart.to_string(), "RFC 2581 (4.1)", "RFC 5681 (4.1)")
        .only(IF_TCP),
    Key::new(
        "flows.*.tcp.window-decay",
        Kind::Bool,
        "whether an idle time halves the window for each timeout, down to the initial window, and what the application has not used of it in a timeout is halved; ssthresh is then at least three quarters of the window",
    )
    .profile(|tcp| tcp.window_decay.to_string(), "not in ns-2", "RFC 2861; Linux: tcp_cwnd_restart, tcp_cwnd_application_limited")
    .rfc("RFC 5681 (4.1)")
    .only(IF_TCP),
    Key::new(
        "flows.*.tcp.timeout-once",
        Kind::Bool,
        "whether a timeout within a recovery that detects losses by time leaves ssthresh as it is, and marks are not answered until all that was outstanding at a timeout is acknowledged, nor keep the window from growing",
    )
    .profile(|tcp| tcp.timeout_once.to_string(), "not in ns-2", "Linux: tcp_enter_loss, tcp_fastretrans_alert")
    .rfc("RFC 6675 (5.1); RFC 3168 (6.1.2)")
    .only(IF_TCP),
    Key::new("flows.*.tcp.mark-floor", SEGMENTS, "least window that a mark leaves")
        .profile(|tcp| segments(tcp.mark_floor), "ns-2: slowdown", "Linux: the least ssthresh")
        .rfc("RFC 3168 (6.1.2)")
        .at_least("1 segment")
        .at_most("2 segments")
        .only(&[Only::Is("flows.*.tcp.ecn", &["classic", "accurate"])]),
    Key::new("flows.*.tcp.window-scale", Kind::Integer, "window scale offered; auto covers the receive buffer")
        .or(&["auto"])
        .profile(|_| "auto".to_string(), "RFC 7323 (2)", "RFC 7323 (2)")
        .at_least("0")
        .at_most("14")
        .only(IF_TCP),
    Key {
        default: Default::Unless(FAST_RETRANSMIT),
        ..Key::new(
            "flows.*.tcp.reno.fast-retransmit",
            Kind::Word("choice", words::<FastRetransmit>),
            "whether Reno starts a fast retransmit for every missing segment, or once per window of outstanding data",
        )
    }
    .only(IF_RENO),
    Key::new(
        "flows.*.tcp.newreno.duplicates",
        Kind::Word("choice", words::<Duplicates>),
        "whether duplicate acknowledgements inflate the window, or count as deliveries, with proportional rate reduction, F-RTO and undo by timestamps",
    )
    .profile(
        |tcp| duplicates(tcp).word().to_string(),
        "ns-2: Agent/TCP/Newreno",
        "Linux: tcp_add_reno_sack",
    )
    .rfc("RFC 6582 (3.2)")
    .only(IF_NEWRENO_ALONE),
    Key::new(
        "flows.*.tcp.newreno.retransmit-timer",
        Kind::Word("choice", words::<RetransmitTimer>),
        "whether only the first partial acknowledgement restarts the retransmission timer, or each",
    )
    .profile(|tcp| retransmit_timer(tcp).word().to_string(), "RFC 3782 (4)", "RFC 3782 (4)")
    .only(IF_NEWRENO),
    Key::new(
        "flows.*.tcp.newreno.recovery-burst",
        SEGMENTS,
        "maximum number of new segments that one acknowledgement releases during recovery",
    )
    .or(&["none"])
    .profile(
        |tcp| tcp.newreno_recovery_burst.map_or_else(|| "none".to_string(), segments),
        "ns-2: Agent/TCP/Newreno",
        "RFC 6582",
    )
    .at_least("1 segment")
    .at_most("1000000 segments")
    .only(IF_NEWRENO),
    Key::new(
        "flows.*.tcp.newreno.full-ack",
        Kind::Word("choice", words::<FullAck>),
        "window after recovery: at most one segment more than the flight size, ssthresh, or the deflated window",
    )
    .profile(|tcp| tcp.newreno_full_ack.word().to_string(), "ns-2: partial_window_deflation_", "RFC 6582 (3.2)")
    .only(IF_NEWRENO),
    Key::new(
        "flows.*.tcp.send-autotuning",
        Kind::Bool,
        "whether the send buffer has room for two windows, of BBR three, and grows with the window, so that a long recovery sends nothing new once it is full",
    )
    .default("false")
    .source("Linux: tcp_sndbuf_expand")
    .only(IF_TCP),
    Key {
        default: Default::Unless(AUTOTUNING),
        ..Key::new(
            "flows.*.tcp.receive-autotuning",
            Kind::Bool,
            "whether the receive buffer begins with 64 KiB and grows with what is read in a round trip, up to sink.buffer, and the window with each segment",
        )
    }
    .only(IF_TCP),
    Key::new(
        "flows.*.tcp.receive-cushion",
        SEGMENTS,
        "segments for which a receive buffer that grows has room beyond twice what is read in a round trip: 16 as in Linux before 6.16, or none, and as much as waits beyond a hole",
    )
    .default("0 segments")
    .source("Linux: tcp_rcv_space_adjust")
    .at_least("0 segments")
    .at_most("1000 segments")
    .only(IF_TUNED),
    Key::new(
        "flows.*.tcp.sack-pipe",
        Kind::Word("choice", words::<SackPipe>),
        "estimate of the data in flight during recovery: from the scoreboard, or as departures minus acknowledgements",
    )
    .profile(|tcp| tcp.sack_pipe.word().to_string(), "ns-2: Agent/TCP/Sack1", "RFC 6675 (4)")
    .only(IF_SACK),
    Key::new(
        "flows.*.tcp.sack-after-timeout",
        Kind::Word("choice", words::<SackAfterTimeout>),
        "whether SACK information is kept or cleared at a retransmission timeout",
    )
    .profile(|tcp| tcp.sack_after_timeout.word().to_string(), "ns-2; RFC 2018 (8)", "RFC 6675 (5.1)")
    .only(IF_SACK_OR_FACK),
    Key::new(
        "flows.*.tcp.loss-detection",
        Kind::Word("choice", words::<LossDetection>),
        "what indicates a loss: three segments received above it, or that one sent later has arrived and the time for reordering is over",
    )
    .profile(|tcp| tcp.loss_detection.word().to_string(), "RFC 6675 (4)", "RFC 8985 (6)")
    .only(IF_SACK_SCOREBOARD),
    Key::new(
        "flows.*.tcp.tail-loss-probe",
        Kind::Bool,
        "whether a new segment, or the last one again, probes the tail of a flight after two round trips",
    )
    .profile(|tcp| tcp.tail_loss_probe.to_string(), "not in ns-2", "RFC 8985 (7)")
    .only(IF_RACK),
    Key::new(
        "flows.*.tcp.f-rto",
        Kind::Bool,
        "whether a timeout is followed by new data, to see whether it was spurious (forward RTO recovery)",
    )
    .profile(|tcp| tcp.f_rto.to_string(), "not in ns-2", "RFC 5682 (3)")
    .only(IF_RACK),
    Key::new(
        "flows.*.tcp.undo",
        Kind::Word("choice", words::<Undo>),
        "what shows that segments sent again had not been lost, so that the window is restored: reports of duplicates, echoed timestamps",
    )
    .profile(|tcp| tcp.undo.word().to_string(), "not in ns-2", "RFC 3708; RFC 3522; RFC 4015")
    .only(IF_RACK),
    Key::new(
        "flows.*.tcp.prr",
        Kind::Bool,
        "whether a recovery sends in proportion to what is delivered (proportional rate reduction)",
    )
    .profile(|tcp| tcp.prr.to_string(), "not in ns-2", "RFC 9937")
    .only(IF_SACK_SCOREBOARD),
    Key::new(
        "flows.*.tcp.lost-retransmission",
        Kind::Word("choice", words::<LostRetransmission>),
        "how a lost retransmission is detected: by timeout, or by the arrival of a segment sent later",
    )
    .default("timer")
    .only(IF_SACK_BY_COUNT),
    Key::new(
        "flows.*.tcp.timeout-ssthresh",
        Kind::Word("choice", words::<Halved>),
        "ssthresh at a timeout: half of the flight size, once per series of timeouts, or half of the window at each timeout",
    )
    .profile(|tcp| tcp.timeout_ssthresh.word().to_string(), "ns-2", "RFC 5681 (3.1), equation 4")
    .only(IF_TCP),
    Key::new(
        "flows.*.tcp.loss-ssthresh",
        Kind::Word("choice", words::<Halved>),
        "whether a loss detected by duplicate acknowledgements halves the flight size or the window",
    )
    .profile(|tcp| tcp.loss_ssthresh.word().to_string(), "ns-2", "RFC 5681 (3.1), equation 4")
    .only(IF_TCP),
    Key::new("flows.*.tcp.whole-ssthresh", Kind::Bool, "whether ssthresh is rounded down to whole segments")
        .profile(|tcp| tcp.whole_ssthresh.to_string(), "ns-2: ssthresh_", "RFC 5681 (3.1)")
        .only(IF_TCP),
    Key::new(
        "flows.*.tcp.whole-window",
        Kind::Bool,
        "whether the window is a whole number of segments: it grows by one when all of it is acknowledged, and a loss rounds it down",
    )
    .profile(|tcp| tcp.whole_window.to_string(), "ns-2: cwnd_", "Linux: snd_cwnd_cnt")
    .rfc("RFC 5681 (3.1)")
    .only(IF_TCP),
    Key {
        default: Default::Unless(GROWTH),
        ..Key::new(
            "flows.*.tcp.growth-at-recovery-end",
            Kind::Bool,
            "whether the acknowledgement that ends recovery increases the window",
        )
    }
    .only(IF_RECOVERING),
    Key::new(
        "flows.*.tcp.slow-start",
        Kind::Word("choice", words::<SlowStart>),
        "what ends slow start before a loss: nothing, round trips that rise and trains of acknowledgements (cubic only), or HyStart++",
    )
    .profile(|tcp| tcp.slow_start.word().to_string(), "RFC 2581 (3.1)", "Linux: tcp_cubic, hystart")
    .rfc("RFC 9406")
    .only(&[Only::Is("flows.*.tcp.congestion", &["cubic", "reno"])]),
    Key::new(
        "flows.*.tcp.cubic.departures",
        Kind::Word("choice", words::<Departures>),
        "whether CUBIC is Linux's where that departs from RFC 9438: alpha above the old window, look-ahead, least growth, timeouts",
    )
    .profile(
        |tcp| departures(tcp).word().to_string(),
        "RFC 9438",
        "Linux: tcp_cubic",
    )
    .rfc("RFC 9438")
    .only(&[Only::Is("flows.*.tcp.congestion", &["cubic"])]),
    Key::new(
        "flows.*.tcp.growth",
        Kind::Word("choice", words::<Growth>),
        "whether the window grows with each acknowledgement, or with each segment acknowledged",
    )
    .profile(
        |tcp| growth(tcp).word().to_string(),
        "ns-2: windowOption_",
        "RFC 3465; Linux: tcp_cong_avoid",
    )
    .only(IF_TCP),
    Key::new(
        "flows.*.tcp.growth-limit",
        SEGMENTS,
        "maximum number of segments for which an acknowledgement counts in slow start (L of RFC 3465)",
    )
    .or(&["none"])
    .profile(
        |tcp| match tcp.counting {
            Counting::Segments(Some(limit)) => segments(limit),
            _ => "none".to_string(),
        },
        "RFC 3465 (2.3)",
        "Linux: tcp_slow_start",
    )
    .rfc("RFC 3465 (2.3)")
    .at_least("1 segment")
    .at_most("1000000 segments")
    .only(&[Only::Is("flows.*.tcp.growth", &["segments"])]),
    // [flows.NAME.udp]
    Key::new("flows.*.udp.extra-header", SIZE, "bytes that a routing protocol adds to every packet")
        .default("0 B")
        .at_most("40 B")
        .only(IF_UDP),
];

const SACK: Unless = Unless {
    by: Profiled { value: |tcp| tcp.sack.to_string(), ns2: "ns-2: Agent/TCP", modern: "RFC 2018", rfc: None },
    key: "flows.*.tcp.recovery",
    cases: &[Case { values: &["sack", "fack"], then: "true", source: "RFC 2018" }],
    under: None,
};

/// With selective acknowledgements a recovery is over before the receive window matters; without them it lasts for as many round
/// trips as there are holes, and only the window bounds what is outstanding.
const AUTOTUNING: Unless = Unless {
    by: Profiled {
        value: |tcp| tcp.receive_autotuning.to_string(),
        ns2: "Linux: tcp_rcv_space_adjust",
        modern: "Linux: tcp_rcv_space_adjust",
        rfc: None,
    },
    key: "flows.*.tcp.newreno.duplicates",
    cases: &[Case { values: &["count"], then: "true", source: "Linux: tcp_rcv_space_adjust" }],
    under: None,
};

const ECN: Unless = Unless {
    by: Profiled {
        value: |tcp| tcp.ecn.word().to_string(),
        ns2: "ns-2: ecn_",
        modern: "RFC 3168 (6.1): optional",
        rfc: None,
    },
    key: "flows.*.tcp.congestion",
    cases: &[
        Case { values: &["jersey"], then: "classic", source: "TCP-Jersey: congestion warning" },
        Case { values: &["dctcp", "prague"], then: "accurate", source: "RFC 8257 (3.2); RFC 9331 (4.2)" },
    ],
    under: None,
};

const GROWTH: Unless = Unless {
    by: Profiled {
        value: |tcp| tcp.growth_at_recovery_end.to_string(),
        ns2: "ns-2: Agent/TCP/Reno, Newreno, Fack",
        modern: "Linux: tcp_cong_control",
        rfc: Some("RFC 5681 (3.2)"),
    },
    key: "flows.*.tcp.recovery",
    cases: &[Case { values: &["sack"], then: "false", source: "RFC 6675 (5); ns-2: Agent/TCP/Sack1" }],
    under: Some("ns2-2004"),
};

const FAST_RETRANSMIT: Unless = Unless {
    by: Profiled {
        value: |tcp| tcp.reno_fast_retransmit.word().to_string(),
        ns2: "ns-2: bugFix_",
        modern: "RFC 5681 (3.2)",
        rfc: None,
    },
    key: "flows.*.tcp.congestion",
    cases: &[Case { values: &["jtcp", "ejtcp"], then: "every-hole", source: "EJTCP (Fig. 7)" }],
    under: None,
};

/// The laws that a flow can have: those of the registry, then those of the host.
fn laws() -> Vec<&'static str> {
    let registered = CongestionKind::named_in_scenarios().iter().map(|kind| kind.entry().name);
    registered.chain(hosted::names()).collect()
}
