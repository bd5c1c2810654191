//! The parameters of an endpoint, by their names in scenarios below `tcp`, with the source of each default.
//!
//! One without a meaning where its conditions do not hold keeps the value of the profile, which then has no effect.

use super::{Config, Profile};
use crate::hooks::parameter::{Case, Described, LONGEST, Setting, parameters};
use crate::registry::CongestionKind;
use crate::transport::acks::{AckLaw, TackConfig};
use crate::transport::tcp::{AckRule, Counting, Departures, Duplicates, Growth, RetransmitTimer, Undo};

impl Default for Config {
    fn default() -> Config {
        Profile::Modern.config()
    }
}

/// The parameters on which one depends, and the words of each under which it has a meaning.
type Conditions = &'static [(&'static str, &'static [&'static str])];

const RENO: Conditions = &[("recovery", &["reno"])];
const NEWRENO: Conditions = &[("recovery", &["newreno"])];
const NEWRENO_ALONE: Conditions = &[("recovery", &["newreno"]), ("sack", &["false"])];
const SACK: Conditions = &[("recovery", &["sack"])];
const SACK_OR_FACK: Conditions = &[("recovery", &["sack", "fack"])];
const RECOVERING: Conditions = &[("recovery", &["reno", "newreno", "sack", "fack"])];
const SCOREBOARD: Conditions = &[("recovery", &["sack"]), ("sack-pipe", &["scoreboard"])];
const BY_TIME: Conditions =
    &[("recovery", &["sack"]), ("sack-pipe", &["scoreboard"]), ("loss-detection", &["rack"])];
const BY_COUNT: Conditions =
    &[("recovery", &["sack"]), ("sack-pipe", &["scoreboard"]), ("loss-detection", &["rfc6675"])];
/// Where the receiver counts segments, if only until the sender asks for a rate.
const COUNTED: Conditions = &[("acks", &["delayed", "requested"])];
const DELAYED: Conditions = &[("acks", &["delayed"])];
const REQUESTED: Conditions = &[("acks", &["requested"])];
const TACK: Conditions = &[("acks", &["tack"])];

/// Segments for which the sender requests one acknowledgement at most, unless a scenario says otherwise.
const MOST_REQUESTED: u8 = 8;

impl Described for Config {
    parameters! {
        /// payload of a full segment, without headers
        "packet": Size = packet, at_least("1 B"), at_most("65495 B"),
            published("ns-2: packetSize_", "Ethernet MTU minus IPv4, TCP and timestamp headers");
        /// bytes that a routing protocol adds to every packet
        "extra-header": Size = extra_header, at_most("40 B"), published("", "");
        /// maximum number of outstanding segments
        "window": Segments = window, at_least("1 segment"), at_most("1000000 segments"),
            published("ns-2: window_", "Linux: tcp_rmem, about 6 MB");
        /// initial congestion window
        "initial-window": Segments = initial_window, at_least("1 segment"), at_most("1000000 segments"),
            published("RFC 2581 (3.1); ns-2: windowInit_", "RFC 6928 (2)");
        /// initial slow-start threshold; none means tcp.window
        "initial-ssthresh": Segments or "none" = initial_ssthresh, at_least("1 segment"),
            at_most("1000000 segments"), published("RFC 2581 (3.1)", "RFC 5681 (3.1)");
        /// minimum retransmission timeout
        "min-rto": Time("ms") = min_rto, above("0 s"), at_most(LONGEST),
            published("RFC 2988 (2.4); ns-2: minrto_ until October 2004", "Linux: TCP_RTO_MIN"),
            rfc("RFC 6298 (2.4)");
        /// what min-rto bounds: the timeout, or what it has beyond the smoothed round-trip time
        "rto-floor": Words("choice") = rto_floor,
            published("RFC 2988 (2.4)", "Linux: tcp_rto_min in rttvar"), rfc("RFC 6298 (2.4)");
        /// whether the timeout follows from round trips in real numbers, or in whole ticks and from the samples that ns-2
        /// takes
        "rto-arithmetic": Words("choice") = rto_arithmetic, published("ns-2: rtt_update", "RFC 6298 (2)");
        /// maximum retransmission timeout, including backoff
        "max-rto": Time("s") = max_rto, above("0 s"), at_most(LONGEST),
            published("RFC 2988 (2.5)", "Linux: TCP_RTO_MAX");
        /// retransmission timeout before the first round-trip sample
        "initial-rto": Time("s") = initial_rto, above("0 s"), at_most(LONGEST),
            published("RFC 2988 (2.1)", "RFC 6298 (2.1)");
        /// granularity of the clock by which timeouts and timestamps go; 0 s means exact
        "tick": Time("ms") = tick, at_most("10 s"), published("ns-2: tcpTick_", "Linux: a clock of 1000 Hz");

        /// whether segments are spaced: by laws that set a pace themselves (auto), by all laws, or by none
        "pacing": Words("choice") = pacing, follows("congestion", "prague", Setting::Word("on")),
            source("Linux without the queueing discipline fq: of its laws, BBR alone paces; L4S4: TCP Prague does, too");
        /// pace in windows per smoothed round trip below half of ssthresh, of a law that sets none itself
        "pacing-slow-start": Number = pacing_factors.0, above("0"), at_most("100"), source("Linux: tcp_pacing_ss_ratio");
        /// pace in windows per smoothed round trip from there on, of a law that sets none itself
        "pacing-avoidance": Number = pacing_factors.1, above("0"), at_most("100"), source("Linux: tcp_pacing_ca_ratio");
        /// number of segments at the start of a connection that leave without pacing
        "unpaced-start": Count = unpaced_start, at_least("0"), at_most("1000000"),
            published("none is described", "Linux: tcp_update_skb_after_send"), rfc("none is described");
        /// maximum time of the pace that may wait of a connection in the first link of its host, at least two packets;
        /// none sets no bound
        "small-queue": Time("ms") or "none" = small_queue, above("0 s"), at_most("10 s"),
            source("Linux: TCP small queues; sk_pacing_shift is 10 (1 ms), 7 or 8 for Wi-Fi (8 or 4 ms)");

        /// what decides when the receiver acknowledges: its count of segments, the sender's request (TARR), or bytes and
        /// time (TACK)
        "acks": Words("law") = (
            |tcp| match tcp.acks {
                AckLaw::Delayed => AckRule::Delayed,
                AckLaw::Requested(_) => AckRule::Requested,
                AckLaw::Tack(_) => AckRule::Tack,
            },
            |tcp, rule: AckRule| tcp.acks = match rule {
                AckRule::Delayed => AckLaw::Delayed,
                AckRule::Requested => AckLaw::Requested(MOST_REQUESTED),
                AckRule::Tack => AckLaw::Tack(TackConfig::PAPER),
            },
        ), source("RFC 5681 (4.2)");
        /// number of full segments per acknowledgement
        "ack-every": Count = ack_every, only(COUNTED), at_least("1"), at_most("1000"),
            published("ns-2: TCPSink", "RFC 5681 (4.2)");
        /// maximum delay of an acknowledgement
        "ack-delay": Time("ms") = ack_delay, at_most("10 s"), published("ns-2: TCPSink/DelAck", "Linux: TCP_DELACK_MIN");
        /// number of segments at the start of a connection that are acknowledged at once, whatever ack-every is
        "quick-acks": Count = quick_acks, only(COUNTED), at_least("0"), at_most("1000000"),
            published("ns-2: TCPSink/DelAck", "Linux: TCP_MAX_QUICKACKS"), rfc("RFC 5681 (4.2)");
        /// whether quick-acks segments are acknowledged at once again after a gap that is longer than the receiver's
        /// timeout, as in Linux
        "quick-acks-again": Flag = quick_acks_again, only(DELAYED), source("Linux: tcp_event_data_recv");
        /// tick of the kernel's clock by which acknowledgements wait: they leave at the first one after ack-delay; 0 s
        /// means exact
        "ack-tick": Time("ms") = ack_tick, only(DELAYED), at_most("1 s"), source("Linux: CONFIG_HZ");
        /// maximum number of full segments per acknowledgement that the sender asks for; it asks for a quarter of its window
        "requested.most": Segments = (
            |tcp| u32::from(if let AckLaw::Requested(most) = tcp.acks { most } else { MOST_REQUESTED }),
            |tcp, most: u32| tcp.acks = AckLaw::Requested(most as u8),
        ), only(REQUESTED), at_least("1 segment"), at_most("127 segments"), source("draft-ietf-tcpm-ack-rate-request");
        /// number of full segments per acknowledgement where the bandwidth-delay product is small (L)
        "tack.segments": Count = (
            |tcp| tack(tcp).segments,
            |tcp, segments: u32| tcp.acks = AckLaw::Tack(TackConfig { segments, ..tack(tcp) }),
        ), only(TACK), at_least("1"), at_most("1000"), source("Li et al. 2020 (TACK): L");
        /// maximum number of acknowledgements in the least round-trip time (beta)
        "tack.per-round-trip": Count = (
            |tcp| tack(tcp).per_round_trip,
            |tcp, per_round_trip: u32| tcp.acks = AckLaw::Tack(TackConfig { per_round_trip, ..tack(tcp) }),
        ), only(TACK), at_least("1"), at_most("1000"), source("Li et al. 2020 (TACK): beta");

        /// whether the timestamps option is used
        "timestamps": Flag = timestamps, published("ns-2: timestamps_", "RFC 7323 (3)");
        /// whether the SACK option is used
        "sack": Flag = sack, published("ns-2: Agent/TCP", "RFC 2018"),
            unless("recovery", &[Case::new(&["sack", "fack"], Setting::Flag(true), "RFC 2018")]);
        /// whether SACK reports segments that arrive twice (D-SACK)
        "dsack": Flag = dsack, published("not in ns-2", "RFC 2883");
        /// longest time for which acknowledgements of what arrives beyond a hole wait for each other, from the fourth on,
        /// and at most a twentieth of the round trip (Linux: 1 ms); 0 s sends each at once
        "sack-wait": Time("ms") = sack_wait, only(&[("acks", &["delayed"]), ("sack", &["true"])]), at_most("1 s"),
            source("RFC 2018 (4)");
        /// explicit congestion notification: off, as in RFC 3168 with one answer per window of data, or with a count of
        /// marks as in RFC 9768
        "ecn": Words("kind of ECN") = ecn, published("ns-2: ecn_", "RFC 3168 (6.1): optional"), unless("congestion", &[
            Case::new(&["jersey"], Setting::Word("classic"), "TCP-Jersey: congestion warning"),
            Case::new(&["dctcp", "prague"], Setting::Word("accurate"), "RFC 8257 (3.2); RFC 9331 (4.2)"),
        ]);
        /// whether the first two duplicate acknowledgements send new data (limited transmit)
        "limited-transmit": Flag = limited_transmit, published("RFC 3042; ns-2: singledup_", "RFC 3042");
        /// whether an acknowledgement marked with a loss on a wireless link (ELN) makes the sender retransmit without
        /// reducing its window
        "eln": Flag = eln, source("Balakrishnan and Katz 1998");
        /// whether limited transmit retransmits the next segment during a go-back, instead of sending nothing
        "limited-transmit-resends": Flag = limited_transmit_resends, published("ns-2: singledup_", "RFC 3042 (2)");
        /// whether Nagle's algorithm delays small segments while data is outstanding
        "nagle": Flag = nagle, published("not in ns-2", "RFC 9293 (3.7.4)");
        /// whether the congestion window grows only while it limits the sender
        "window-validation": Flag = window_validation, published("ns-2: control_increase_", "RFC 7661 (4)");
        /// whether the window restarts from the initial window after an idle time of one timeout
        "idle-restart": Flag = idle_restart, published("RFC 2581 (4.1)", "RFC 5681 (4.1)");
        /// whether an idle time halves the window for each timeout, down to the initial window, and what the application has
        /// not used of it in a timeout is halved; ssthresh is then at least three quarters of the window
        "window-decay": Flag = window_decay,
            published("not in ns-2", "RFC 2861; Linux: tcp_cwnd_restart, tcp_cwnd_application_limited"),
            rfc("RFC 5681 (4.1)");
        /// whether a timeout within a recovery that detects losses by time leaves ssthresh as it is, and marks are not
        /// answered until all that was outstanding at a timeout is acknowledged, nor keep the window from growing
        "timeout-once": Flag = timeout_once, published("not in ns-2", "Linux: tcp_enter_loss, tcp_fastretrans_alert"),
            rfc("RFC 6675 (5.1); RFC 3168 (6.1.2)");
        /// least window that a mark leaves
        "mark-floor": Segments = mark_floor, only(&[("ecn", &["classic", "accurate"])]), at_least("1 segment"),
            at_most("2 segments"), published("ns-2: slowdown", "Linux: the least ssthresh"), rfc("RFC 3168 (6.1.2)");
        /// window scale offered; auto covers the receive buffer
        "window-scale": Count or "auto" = window_scale, at_least("0"), at_most("14"),
            published("RFC 7323 (2)", "RFC 7323 (2)");
        /// whether Reno starts a fast retransmit for every missing segment, or once per window of outstanding data
        "reno.fast-retransmit": Words("choice") = reno_fast_retransmit, only(RENO),
            published("ns-2: bugFix_", "RFC 5681 (3.2)"),
            unless("congestion", &[Case::new(&["jtcp", "ejtcp"], Setting::Word("every-hole"), "EJTCP (Fig. 7)")]);
        /// whether duplicate acknowledgements inflate the window, or count as deliveries, with proportional rate reduction,
        /// F-RTO and undo by timestamps
        "newreno.duplicates": Words("choice") = (
            |tcp| if tcp.newreno_counts { Duplicates::Count } else { Duplicates::Inflate },
            |tcp, duplicates: Duplicates| {
                tcp.newreno_counts = duplicates == Duplicates::Count;
                if tcp.newreno_counts {
                    (tcp.f_rto, tcp.undo, tcp.prr) = (true, Undo::Timestamps, true);
                }
            },
        ), only(NEWRENO_ALONE), published("ns-2: Agent/TCP/Newreno", "Linux: tcp_add_reno_sack"), rfc("RFC 6582 (3.2)");
        /// whether only the first partial acknowledgement restarts the retransmission timer, or each
        "newreno.retransmit-timer": Words("choice") = (
            |tcp| if tcp.newreno_impatient { RetransmitTimer::Impatient } else { RetransmitTimer::SlowButSteady },
            |tcp, timer: RetransmitTimer| tcp.newreno_impatient = timer == RetransmitTimer::Impatient,
        ), only(NEWRENO), published("RFC 3782 (4)", "RFC 3782 (4)");
        /// maximum number of new segments that one acknowledgement releases during recovery
        "newreno.recovery-burst": Segments or "none" = newreno_recovery_burst, only(NEWRENO), at_least("1 segment"),
            at_most("1000000 segments"), published("ns-2: Agent/TCP/Newreno", "RFC 6582");
        /// window after recovery: at most one segment more than the flight size, ssthresh, or the deflated window
        "newreno.full-ack": Words("choice") = newreno_full_ack, only(NEWRENO),
            published("ns-2: partial_window_deflation_", "RFC 6582 (3.2)");
        /// whether the send buffer has room for two windows, of BBR three, and grows with the window, so that a long
        /// recovery sends nothing new once it is full
        "send-autotuning": Flag = (
            |tcp| tcp.send_windows > 0,
            |tcp, tuned: bool| tcp.send_windows = if tuned { send_windows(tcp) } else { 0 },
        ), source("Linux: tcp_sndbuf_expand");
        /// memory of a segment in the send buffer beyond its payload: an estimate, or, as measured, 832 B in Linux 6.18 on a
        /// PC and 960 B in the Linux 6.12 of `lasthop virtual`
        "send-overhead": Size = send_overhead, only(&[("send-autotuning", &["true"])]), at_most("65536 B"),
            source("Linux: skb->truesize");
        /// whether consecutive segments that were selectively acknowledged take the memory of one in the send buffer
        "send-merging": Flag = send_merging, only(&[("send-autotuning", &["true"])]),
            source("Linux: tcp_shift_skb_data");
        /// whether the receive buffer begins with 64 KiB and grows with what is read in a round trip, up to sink.buffer, and
        /// the window with each segment
        //
        // With selective acknowledgements a recovery is over before the receive window matters. Without them it lasts for as
        // many round trips as there are holes, and only the window bounds what is outstanding.
        "receive-autotuning": Flag = receive_autotuning,
            published("Linux: tcp_rcv_space_adjust", "Linux: tcp_rcv_space_adjust"), unless("newreno.duplicates", &[
                Case::new(&["count"], Setting::Flag(true), "Linux: tcp_rcv_space_adjust"),
            ]);
        /// segments for which a receive buffer that grows has room beyond twice what is read in a round trip: 16 as in Linux
        /// before 6.16, or none, and as much as waits beyond a hole
        "receive-cushion": Segments = receive_cushion, only(&[("receive-autotuning", &["true"])]),
            at_least("0 segments"), at_most("1000 segments"), source("Linux: tcp_rcv_space_adjust");

        /// estimate of the data in flight during recovery: from the scoreboard, or as departures minus acknowledgements
        "sack-pipe": Words("choice") = sack_pipe, only(SACK), published("ns-2: Agent/TCP/Sack1", "RFC 6675 (4)");
        /// whether SACK information is kept or cleared at a retransmission timeout
        "sack-after-timeout": Words("choice") = sack_after_timeout, only(SACK_OR_FACK),
            published("ns-2; RFC 2018 (8)", "RFC 6675 (5.1)");
        /// what indicates a loss: three segments received above it, or that one sent later has arrived and the time for
        /// reordering is over
        "loss-detection": Words("choice") = loss_detection, only(SCOREBOARD),
            published("RFC 6675 (4)", "RFC 8985 (6)");
        /// whether a new segment, or the last one again, probes the tail of a flight after two round trips
        "tail-loss-probe": Flag = tail_loss_probe, only(BY_TIME), published("not in ns-2", "RFC 8985 (7)");
        /// whether a timeout is followed by new data, to see whether it was spurious (forward RTO recovery)
        "f-rto": Flag = f_rto, only(BY_TIME), published("not in ns-2", "RFC 5682 (3)");
        /// what shows that segments sent again had not been lost, so that the window is restored: reports of duplicates,
        /// echoed timestamps
        "undo": Words("choice") = undo, only(BY_TIME), published("not in ns-2", "RFC 3708; RFC 3522; RFC 4015");
        /// whether a recovery sends in proportion to what is delivered (proportional rate reduction)
        "prr": Flag = prr, only(SCOREBOARD), published("not in ns-2", "RFC 9937");
        /// how a lost retransmission is detected: by timeout, or by the arrival of a segment sent later
        "lost-retransmission": Words("choice") = lost_retransmission, only(BY_COUNT);

        /// ssthresh at a timeout: half of the flight size, once per series of timeouts, or half of the window at each
        /// timeout
        "timeout-ssthresh": Words("choice") = timeout_ssthresh, published("ns-2", "RFC 5681 (3.1), equation 4");
        /// whether a loss detected by duplicate acknowledgements halves the flight size or the window
        "loss-ssthresh": Words("choice") = loss_ssthresh, published("ns-2", "RFC 5681 (3.1), equation 4");
        /// whether ssthresh is rounded down to whole segments
        "whole-ssthresh": Flag = whole_ssthresh, published("ns-2: ssthresh_", "RFC 5681 (3.1)");
        /// whether the window is a whole number of segments: it grows by one when all of it is acknowledged, and a loss
        /// rounds it down
        "whole-window": Flag = whole_window, published("ns-2: cwnd_", "Linux: snd_cwnd_cnt"), rfc("RFC 5681 (3.1)");
        /// whether a loss that does not reduce the window keeps the progress towards its next increase, as with laws for Linux,
        /// which own their window
        "credit-after-random-loss": Flag = credit_after_random_loss, only(&[("whole-window", &["true"])]),
            source("Linux: tcp_init_cwnd_reduction");
        /// whether the acknowledgement that ends recovery increases the window
        "growth-at-recovery-end": Flag = growth_at_recovery_end, only(RECOVERING),
            published("ns-2: Agent/TCP/Reno, Newreno, Fack", "Linux: tcp_cong_control"), rfc("RFC 5681 (3.2)"),
            unless("recovery", &[
                Case::new(&["sack"], Setting::Flag(false), "RFC 6675 (5); ns-2: Agent/TCP/Sack1"),
            ]), under("ns2-2004");
        /// whether laws get the round trip of the echoed timestamp when an acknowledgement covers a retransmitted segment
        "echoed-rtt": Flag = echoed_rtt, only(&[("timestamps", &["true"])]), source("Linux: tcp_ack_update_rtt");
        /// what ends slow start before a loss: nothing, round trips that rise and trains of acknowledgements (cubic
        /// only), or HyStart++
        "slow-start": Words("choice") = slow_start, only(&[("congestion", &["cubic", "reno"])]),
            published("RFC 2581 (3.1)", "Linux: tcp_cubic, hystart"), rfc("RFC 9406");
        /// whether CUBIC is Linux's where that departs from RFC 9438: alpha above the old window, look-ahead, least
        /// growth, timeouts
        "cubic.departures": Words("choice") = (
            |tcp| if tcp.cubic_as_linux { Departures::Linux } else { Departures::None },
            |tcp, departures: Departures| tcp.cubic_as_linux = departures == Departures::Linux,
        ), only(&[("congestion", &["cubic"])]), published("RFC 9438", "Linux: tcp_cubic"), rfc("RFC 9438");
        /// whether the window grows with each acknowledgement, or with each segment acknowledged
        "growth": Words("choice") = (
            |tcp| match tcp.counting {
                Counting::Acks => Growth::Acks,
                Counting::Segments(_) => Growth::Segments,
            },
            |tcp, growth: Growth| tcp.counting = match (growth, tcp.counting) {
                (Growth::Acks, _) => Counting::Acks,
                (Growth::Segments, Counting::Acks) => Counting::Segments(None),
                (Growth::Segments, kept @ Counting::Segments(_)) => kept,
            },
        ), published("ns-2: windowOption_", "RFC 3465; Linux: tcp_cong_avoid");
        /// maximum number of segments for which an acknowledgement counts in slow start (L of RFC 3465)
        "growth-limit": Segments or "none" = (
            |tcp| if let Counting::Segments(limit) = tcp.counting { limit } else { None },
            |tcp, limit: Option<u32>| tcp.counting = Counting::Segments(limit),
        ), only(&[("growth", &["segments"])]), at_least("1 segment"), at_most("1000000 segments"),
            published("RFC 3465 (2.3)", "Linux: tcp_slow_start"), rfc("RFC 3465 (2.3)");
    }
}

fn tack(tcp: &Config) -> TackConfig {
    if let AckLaw::Tack(tack) = tcp.acks { tack } else { TackConfig::PAPER }
}

/// Windows for which Linux's send buffer has room under a law (`tcp_sndbuf_expand`, `bbr_sndbuf_expand`).
fn send_windows(tcp: &Config) -> u8 {
    if CongestionKind::DEEP_BUFFERED.contains(&tcp.parts.law.kind()) { 3 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::parameter::Words;
    use crate::hooks::parameter::testing::each_has_a_field_of_its_own;

    #[test]
    fn each_parameter_has_a_field_of_its_own() {
        each_has_a_field_of_its_own::<Config>(&[
            "requested.most",
            "tack.segments",
            "tack.per-round-trip",
            "newreno.duplicates",
            "growth-limit",
        ]);
    }

    fn profiles() -> impl Iterator<Item = Config> {
        Profile::WORDS.iter().map(|(_, profile)| profile.config())
    }

    #[test]
    fn each_value_of_a_profile_is_taken_back_as_it_is_listed() {
        for config in profiles() {
            let mut taken = config.clone();
            for parameter in Config::PARAMETERS.iter().filter(|it| it.spec.only.is_empty()) {
                (parameter.set)(&mut taken, (parameter.get)(&config));
            }
            assert_eq!(taken, config);
        }
    }

    #[test]
    fn a_default_without_a_source_for_each_profile_is_the_same_in_all() {
        for parameter in Config::PARAMETERS.iter().filter(|it| it.spec.published.is_none()) {
            let default = (parameter.get)(&Config::default());
            for config in profiles() {
                assert_eq!((parameter.get)(&config), default, "{}", parameter.spec.name);
            }
        }
    }

    #[test]
    fn a_value_that_refines_another_keeps_the_rest_of_it() {
        let mut config = Config::default();
        for (name, value) in [
            ("acks", Setting::Word("tack")),
            ("tack.segments", Setting::Count(5)),
            ("tack.per-round-trip", Setting::Count(7)),
            ("growth", Setting::Word("segments")),
            ("growth-limit", Setting::Segments(3)),
        ] {
            config.set(name, value);
        }
        assert_eq!(config.acks, AckLaw::Tack(TackConfig { segments: 5, per_round_trip: 7 }));
        assert_eq!(config.counting, Counting::Segments(Some(3)));
    }
}
