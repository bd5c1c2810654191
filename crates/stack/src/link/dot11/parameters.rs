//! The parameters of the MAC, by their names in scenarios, with the source of each default.

use super::edca::EdcaAccess;
use super::{EdcaConfig, Family, Guard, MacConfig, PcfConfig, PhyRate, Preset, ResponseTimeout};
use crate::hooks::parameter::{Described, LONGEST, parameters, words};
use crate::units::{Rate, Span};

impl Default for MacConfig {
    fn default() -> MacConfig {
        Preset::Dot11b.config()
    }
}

words! {
    /// What the timeout for a response is for: the names of [`ResponseTimeout`].
    pub enum Timeout {
        /// Its beginning.
        ReceptionStart = "reception-start",
        /// All of it.
        WholeResponse = "whole-response",
    }
}

impl ResponseTimeout {
    const fn margin(self) -> Span {
        match self {
            ResponseTimeout::ReceptionStart(margin) | ResponseTimeout::WholeResponse(margin) => margin,
        }
    }

    const fn of(rule: Timeout, margin: Span) -> ResponseTimeout {
        match rule {
            Timeout::ReceptionStart => ResponseTimeout::ReceptionStart(margin),
            Timeout::WholeResponse => ResponseTimeout::WholeResponse(margin),
        }
    }

    const fn rule(self) -> Timeout {
        match self {
            ResponseTimeout::ReceptionStart(_) => Timeout::ReceptionStart,
            ResponseTimeout::WholeResponse(_) => Timeout::WholeResponse,
        }
    }
}

const RTS_THRESHOLD: &str = "IEEE 802.11-2012 (annex C): dot11RTSThreshold";
const FRAGMENTS: &str = "IEEE 802.11-2012 (annex C): dot11FragmentationThreshold";
const SHORT_RETRY: &str = "IEEE 802.11-2012 (annex C): dot11ShortRetryLimit";
const LONG_RETRY: &str = "IEEE 802.11-2012 (annex C): dot11LongRetryLimit";
const DSSS: &str = "IEEE 802.11-2012 (tables 16-2, 17-5)";
const OFDM: &str = "IEEE 802.11-2012 (table 18-17)";
const FRAMES: &str = "IEEE 802.11-2012 (8.2, 8.3)";
const ACCESS: &str = "IEEE 802.11-2012 (9.3)";

impl Described for MacConfig {
    parameters! {
        /// longest data frame without RTS and CTS; 0 B means always with RTS
        "rts-threshold": Size or "never" = rts_threshold, at_most("65535 B"), standard(RTS_THRESHOLD);
        /// what goes before frames longer than rts-threshold: RTS and CTS, or a CTS of the sender, which nobody answers
        "protection": Words("choice") = protection, source("IEEE 802.11-2012 (9.3.2.11), 802.11-2020 (10.3.2.8)");
        /// rate of an RTS, and of a CTS of protection; a rate of 802.11b on 802.11g protects the frames that its stations
        /// cannot decode, and no others
        "protection-rate": Rate or "basic" = (
            |mac| mac.protection_rate.map(PhyRate::rate),
            |mac, rate: Option<Rate>| mac.protection_rate = rate.and_then(PhyRate::from_rate),
        ), source("IEEE 802.11-2012 (9.23.2)");
        /// longest data frame including its header
        "fragment-threshold": Size or "never" = fragment_threshold, at_least("256 B"), at_most("65535 B"),
            standard(FRAGMENTS);
        /// maximum attempts for an RTS, or for data up to the RTS threshold
        "short-retry": Count or "none" = short_retry, at_least("1"), at_most("255"), standard(SHORT_RETRY);
        /// maximum attempts for data above the RTS threshold
        "long-retry": Count or "none" = long_retry, at_least("1"), at_most("255"), standard(LONG_RETRY);
        /// backoff slot time
        "slot": Time("us") = slot, above("0 s"), at_most("1 s"), standards(DSSS, OFDM);
        /// SIFS, the time before a response; DIFS is two slots longer
        "sifs": Time("us") = sifs, above("0 s"), at_most("1 s"), standards(DSSS, OFDM);
        /// minimum contention window, in slots
        "cw-min": Count = cw_min, at_least("1"), at_most("32767"), standards(DSSS, OFDM);
        /// maximum contention window, in slots
        "cw-max": Count = cw_max, at_least("1"), at_most("32767"), standards(DSSS, OFDM);

        /// duration of PHY preamble and header
        "phy.preamble": Time("us") = (
            |mac| mac.phy.preamble,
            // That of the rates of DSSS in 802.11g has a key of its own.
            |mac, preamble| (mac.phy.preamble, mac.phy.dsss_preamble) = (preamble, preamble),
        ), at_most("1 s"), standards("IEEE 802.11-2012 (17.2.2)", "IEEE 802.11-2012 (18.3.2)");
        /// duration of PHY preamble and header of a frame at 1 Mbit/s
        "phy.preamble-at-1-mbps": Time("us") = phy.preamble_at_1_mbps, at_most("1 s"),
            standard("IEEE 802.11-2012 (17.2.2.2)");
        /// duration of PHY preamble and header of a frame at 2, 5.5 or 11 Mbit/s in 802.11g; 96 us is the short one
        "phy.dsss-preamble": Time("us") = phy.dsss_preamble, only(&[("standard", &["802.11g"])]), at_most("1 s"),
            standard("IEEE 802.11-2012 (17.2.2)");
        /// granularity to which the airtime of a DSSS frame is rounded up
        "phy.round-to": Time("us") = phy.round_to, above("0 s"), at_most("1 ms"),
            standard("IEEE 802.11-2012 (17.3.4)");
        /// constant added to the airtime of each frame
        "phy.propagation-delay": Time("us") = phy.propagation, at_most("1 ms"),
            standard("the airtime alone");
        /// silence after an OFDM frame, counted with it
        "phy.signal-extension": Time("us") = phy.signal_extension, at_most("1 ms"),
            standard("IEEE 802.11-2012 (19.3.2.4): 802.11g");

        /// size of the header of a data frame
        "frames.header": Size = header, at_most("100 B"), standard(FRAMES);
        /// size of the frame check sequence of a data frame
        "frames.fcs": Size = fcs, at_most("100 B"), standard(FRAMES);
        /// size of the LLC and SNAP headers of an IP packet
        "frames.llc": Size = llc, at_most("100 B"), standard(FRAMES);
        /// size of an RTS including its check sequence
        "frames.rts": Size = rts, at_most("100 B"), standard(FRAMES);
        /// size of a CTS including its check sequence
        "frames.cts": Size = cts, at_most("100 B"), standard(FRAMES);
        /// size of an ACK including its check sequence
        "frames.ack": Size = ack, at_most("100 B"), standard(FRAMES);

        /// whether a backoff is drawn from 0 to CW or from 0 to CW - 1
        "access.draw": Words("choice") = access.draw, standard(ACCESS);
        /// whether a response must begin or end before the timeout
        "access.timeout": Words("choice") = (
            |mac| mac.access.timeout.rule(),
            |mac, rule: Timeout| mac.access.timeout = ResponseTimeout::of(rule, mac.access.timeout.margin()),
        ), standard(ACCESS);
        /// timeout for a response beyond SIFS and slot, or beyond its end
        "access.timeout-margin": Time("us") = (
            |mac| mac.access.timeout.margin(),
            |mac, margin| mac.access.timeout = ResponseTimeout::of(mac.access.timeout.rule(), margin),
        ), at_most("1 s"), standards("IEEE 802.11-2012 (9.3.2.8)", OFDM);
        /// whether EIFS replaces DIFS after an errored frame
        "access.eifs": Flag = access.eifs, standard(ACCESS);
        /// whether a backoff follows each exchange, even with an empty queue
        "access.post-backoff": Flag = access.post_backoff, standard(ACCESS);
        /// whether a frame that finds the medium idle for DIFS is sent without backoff
        "access.immediate": Flag = access.immediate, standard(ACCESS);
        /// whether the reservation of an RTS is cancelled if no frame follows
        "access.nav-reset": Flag = access.nav_reset, standard(ACCESS);
        /// whether a CTS, and the data frame after a CTS, are sent regardless of carrier sense
        "access.blind-exchange": Flag = access.blind_exchange, standard(ACCESS);
        /// whether a station that has sent a CTS receives only the data frame and sends nothing until that frame should have ended
        "access.deaf-after-cts": Flag = access.deaf_after_cts, standard(ACCESS);
        /// a frame in error or missed reserves the medium for EIFS (DIFS without access.eifs), and DIFS follows; otherwise
        /// EIFS replaces DIFS
        "access.errors-reserve": Flag = access.errors_reserve, standard(ACCESS);
        /// after a missing response a backoff counts from DIFS after the timeout, even in a medium idle for DIFS before
        "access.difs-after-failure": Flag = access.difs_after_failure, standard(ACCESS);
    }
}

impl Default for EdcaConfig {
    fn default() -> EdcaConfig {
        EdcaConfig::of(Family::He)
    }
}

words! {
    /// The parameters of an access point: the names of [`EdcaConfig::own_set`].
    pub enum ParameterSet {
        /// Those of the stations.
        Same = "same",
        /// A set of its own.
        Own = "own",
    }
}

const MODES: &str =
    "fastest mode of one stream; IEEE 802.11-2020 (19.5, 21.5), 802.11ax-2021 (27.5), 802.11be-2024 (36.5)";
const LIMITS: &str =
    "IEEE 802.11-2020 (9.4.2.55, 9.4.2.157), 802.11ax-2021 (9.4.2.248), 802.11be-2024 (9.4.2.323)";
const SETS: &str = "IEEE 802.11-2012 (table 8-105), WMM";

impl Described for EdcaConfig {
    parameters! {
        /// modulation and coding of each stream, from 0; of 802.11n without the stream's multiple of 8
        "mcs": Count = (
            |edca| edca.mode.mcs,
            // The check reports one that the standard lacks.
            |edca, mcs: u8| edca.mode.mcs = mcs.min(edca.mode.family.highest_mcs()),
        ), at_least("0"), at_most("13"), standard(MODES);
        /// width of the channel: 20, 40, 80 or 160 MHz, of 802.11be also 320 MHz
        "width": Frequency = (
            |edca| f64::from(edca.mode.width) * 1e6,
            |edca, hz: f64| edca.mode.width = (hz / 1e6) as u16,
        ), at_least("20 MHz"), at_most("320 MHz"), standard(MODES);
        /// guard interval: 0.4 or 0.8 us; of 802.11ax and be 0.8, 1.6 or 3.2 us
        "guard-interval": Time("us") = (
            |edca| edca.mode.guard.length(),
            |edca, length: Span| if let Some(guard) = Guard::ALL.into_iter().find(|it| it.length() == length) {
                edca.mode.guard = guard;
            },
        ), at_least("0.4 us"), at_most("3.2 us"), standard(MODES);
        /// spatial streams
        "streams": Count = mode.streams, at_least("1"), at_most("4"), standard(MODES);
        /// how stations choose the mode of data, up to that of the link and of the two stations: always that one, the
        /// fastest that the ratio of signal to noise bears, or by what was acknowledged
        "rate-control.kind": Words("rate control") = rate_control,
            standard("ns-3: ConstantRateWifiManager, IdealWifiManager; Linux: rc80211_minstrel_ht.c");
        /// maximum number of MPDUs in an A-MPDU; 1 means no aggregation
        "aggregate.count": Count = aggregate.count, at_least("1"), at_most("1024"), standard(LIMITS);
        /// maximum size of an A-MPDU
        "aggregate.bytes": Size = aggregate.bytes, above("0 B"), at_most("15523200 B"), standard(LIMITS);
        /// maximum duration of a PPDU with several MPDUs
        "aggregate.time": Time("us") = aggregate.time, above("0 s"), at_most("5484 us"),
            standard("IEEE 802.11-2020 (19.4.4, 21.4.4): aPPDUMaxTime");
        /// block-ack window, 64 or 256 MPDUs, of 802.11be also 512 or 1024, which sets the size of a BlockAck
        "block-ack.window": Count = window, at_least("64"), at_most("1024"),
            standard("IEEE 802.11-2020 (10.25), 802.11ax-2021 and 802.11be-2024 (9.3.1.8)");
        /// minimum time between the beginnings of two MPDUs of an A-MPDU
        "block-ack.spacing": Time("us") = spacing, at_most("16 us"), standard(LIMITS);
        /// what follows an A-MPDU without BlockAck: a BlockAckReq, whose success resets the window, or the MPDUs again
        "block-ack.after-loss": Words("choice") = after_loss,
            standard("ns-3: UseExplicitBarAfterMissedBlockAck");
        /// maximum time for which a receiver holds a packet for an earlier one; 0 s: packets are passed up as they come
        "block-ack.reorder-timeout": Time("us") = reorder_timeout, at_least("0 s"), at_most(LONGEST),
            standard("Linux mac80211: HT_RX_REORDER_BUF_TIMEOUT");
        /// maximum time of a packet in the MAC, from its arrival in the queue; after it the packet is given up when the turn
        /// of its receiver comes
        "edca.lifetime": Time("ms") or "none" = lifetime, above("0 s"), at_most(LONGEST),
            source("IEEE 802.11-2020 (annex C): dot11EDCATableMSDULifetime, which is 500 TU there; ns-3: WifiMacQueue::MaxDelay, 500 ms");
        /// parameters of the access point: those of the stations, or its own: best effort with cw-max 63, video and voice with aifsn 1
        "edca.access-point": Words("set of parameters") = (
            |edca| if edca.own_set { ParameterSet::Own } else { ParameterSet::Same },
            |edca, set: ParameterSet| edca.own_set = set == ParameterSet::Own,
        ), standard("WMM; Linux hostapd: tx_queue parameters");
    }
}

impl Default for EdcaAccess {
    fn default() -> EdcaAccess {
        EdcaConfig::default().access[0]
    }
}

/// The parameters of one access category.
impl Described for EdcaAccess {
    parameters! {
        /// slots between SIFS and the first slot of a backoff of this access category
        "aifsn": Count = aifsn, at_least("1"), at_most("15"), standard(SETS);
        /// contention window of this access category, in slots: minimum (cw-min) or maximum (cw-max)
        "cw-min": Count = cw_min, at_least("1"), at_most("32767"), standard(SETS);
        /// contention window of this access category, in slots: minimum (cw-min) or maximum (cw-max)
        "cw-max": Count = cw_max, at_least("1"), at_most("32767"), standard(SETS);
        /// how long a station may send in this access category once it has access; 0 s means one exchange
        "txop": Time("us") = txop, at_most("8160 us"), standard(SETS);
    }
}

impl Described for PcfConfig {
    parameters! {
        /// interval between contention-free periods
        "interval": Time("ms") = interval, above("0 s"), at_most("60 s"), source("hostapd: beacon_int, 100 TU");
        /// maximum contention-free period, counted from its scheduled start
        "max-duration": Time("ms") = duration, above("0 s"), at_most("60 s"), source("half of the interval");
        /// largest IP packet with which a polled station may answer; the schedule reserves time for one
        "largest-packet": Size = largest_packet, at_least("1 B"), at_most("65535 B"),
            source("RFC 894: the MTU of Ethernet");
        /// size of a beacon including header and check sequence
        "beacon": Size = beacon, at_least("1 B"), at_most("2346 B"),
            source("IEEE 802.11-2012 (8.3.3.2): SSID of 7 B, rates, channel, CF parameters, TIM");
        /// size of a CF-End including its check sequence
        "cf-end": Size = end, at_least("1 B"), at_most("100 B"), source("IEEE 802.11-2012 (8.3.1.6)");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::parameter::Setting;
    use crate::hooks::parameter::testing::each_has_a_field_of_its_own;

    #[test]
    fn each_parameter_has_a_field_of_its_own() {
        each_has_a_field_of_its_own::<MacConfig>(&["phy.preamble"]);
        // A mode has fewer values than its type.
        each_has_a_field_of_its_own::<EdcaConfig>(&["mcs", "guard-interval"]);
        each_has_a_field_of_its_own::<EdcaAccess>(&[]);
        each_has_a_field_of_its_own::<PcfConfig>(&[]);
    }

    #[test]
    fn a_preamble_is_that_of_dsss_too_and_a_mode_stays_within_its_standard() {
        let mut mac = MacConfig::default();
        mac.set("phy.preamble", Setting::Time(Span(7)));
        assert_eq!((mac.phy.preamble, mac.phy.dsss_preamble), (Span(7), Span(7)));
        let mut edca = EdcaConfig::default();
        edca.set("mcs", Setting::Count(13));
        edca.set("guard-interval", Setting::Time(Span(1_600)));
        assert_eq!((edca.mode.mcs, edca.mode.guard.length()), (11, Span(1_600)));
        edca.set("guard-interval", Setting::Time(Span(400)));
        assert_eq!(edca.mode.guard.length(), Span(400));
    }
}
