//! The constants of the MAC, and named sets of them.
//!
//! A preset names every constant and its source; a scenario may set each field separately.

use super::edca::EdcaConfig;
use super::mode::Family;
use super::rates::{PhyRate, PhyTiming, RateSet};
use crate::hooks::parameter::words;
use crate::link::fec::Code;
use crate::units::Span;

/// From what a backoff is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackoffDraw {
    /// 0 to CW, both included (IEEE 802.11-2012, 9.3.3).
    Standard,
    /// 0 to CW - 1, as ns-2 does: its mean is half a slot less.
    BelowWindow,
}

words! { BackoffDraw: Standard = "standard", BelowWindow = "below-window" }

/// How long after its own frame a station waits for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseTimeout {
    /// SIFS, a slot and the time in which the PHY detects a frame (`aPHY-RX-START-Delay`). If the medium is busy then,
    /// the station waits until it is idle (IEEE 802.11-2012, 9.3.2.6, 9.3.2.8).
    ReceptionStart(Span),
    /// SIFS, the whole answer and this much more, as in ns-2.
    WholeResponse(Span),
}

/// The rules of access to the medium, beyond the constants that define it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessRules {
    /// From what a backoff is drawn.
    pub draw: BackoffDraw,
    /// How long a station waits for an answer.
    pub timeout: ResponseTimeout,
    /// Whether a frame received in error is followed by EIFS instead of DIFS (9.3.2.3.7).
    pub eifs: bool,
    /// Whether a backoff follows each exchange, even with nothing left to send (9.3.4.3).
    pub post_backoff: bool,
    /// Whether a frame that finds the medium idle for DIFS and no backoff pending is sent at once (9.3.4.2). Otherwise
    /// it waits DIFS and a backoff, as in ns-2.
    pub immediate: bool,
    /// Whether a reservation by an RTS is forgotten when no frame follows it (9.3.2.4).
    pub nav_reset: bool,
    /// Whether a CTS and the data frame after one follow their SIFS whatever is on the air (9.3.2.6, 9.3.2.7). In ns-2
    /// they need an idle medium: the CTS is dropped, the data frame returns to its RTS with a wider window.
    pub blind_exchange: bool,
    /// Whether a station that has sent a CTS hears nothing but the data frame that it requested, and sends nothing,
    /// until that frame should have ended, as in ns-2. Otherwise it is free once the CTS is sent.
    pub deaf_after_cts: bool,
    /// Whether a frame received in error, and one that the station missed, reserve the medium until EIFS after their
    /// end, as in ns-2. A backoff then continues EIFS and DIFS after that end. Otherwise EIFS takes the place of DIFS
    /// after an error (9.3.2.3.7).
    pub errors_reserve: bool,
    /// Whether a backoff after a missing response counts from DIFS after the timeout, as in ns-2. Otherwise it counts from
    /// the timeout on where the medium was idle for DIFS before (9.3.4.3).
    pub difs_after_failure: bool,
}

/// What goes before a frame longer than the RTS threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// RTS and CTS.
    RtsCts,
    /// A CTS to the station itself: nobody answers, and a collision of it is not noticed.
    CtsToSelf,
}

words! { Protection: RtsCts = "rts-cts", CtsToSelf = "cts-to-self" }

/// In which order a receiver joins fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reassembly {
    /// As they were numbered, of one MSDU of each transmitter at a time (IEEE 802.11-2012, 9.6).
    InOrder,
    /// In any order, of many MSDUs: for a transmitter whose fragments a scheme orders.
    AnyOrder,
}

/// What shares a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferScope {
    /// All packets of the station.
    Shared,
    /// The packets to each receiver, which has a buffer of its own.
    PerReceiver,
}

words! { BufferScope: Shared = "all", PerReceiver = "receiver" }

/// What takes room in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferUnit {
    /// IP packets.
    Packets,
    /// The frames they are sent in: each fragment with its header and check sequence.
    Frames,
}

words! { BufferUnit: Packets = "packets", Frames = "frames" }

/// A buffer in bytes. A packet takes room until the MAC releases it, in service and while its fragments are repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its size.
    pub bytes: u32,
    /// What shares it.
    pub scope: BufferScope,
    /// What takes room in it.
    pub unit: BufferUnit,
}

/// Every constant of a station's MAC and PHY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacConfig {
    /// `aSlotTime`.
    pub slot: Span,
    /// `aSIFSTime`. DIFS is two slots more, PIFS one.
    pub sifs: Span,
    /// `aCWmin`, the first contention window.
    pub cw_min: u32,
    /// `aCWmax`, the largest.
    pub cw_max: u32,
    /// The PHY's overhead of a frame.
    pub phy: PhyTiming,
    /// Rate of data frames.
    pub data_rate: PhyRate,
    /// The basic rate set: rates of RTS, CTS, ACK.
    pub basic_rates: RateSet,
    /// Header of a data frame in bytes.
    pub header: u32,
    /// Frame check sequence in bytes.
    pub fcs: u32,
    /// LLC and SNAP before the IP packet, in bytes.
    pub llc: u32,
    /// RTS in bytes, check sequence included.
    pub rts: u32,
    /// CTS in bytes.
    pub cts: u32,
    /// ACK in bytes.
    pub ack: u32,
    /// `dot11RTSThreshold`: longer data frames (header and check sequence included) are preceded by RTS and CTS, and
    /// count as long frames. `None`: no frame is.
    pub rts_threshold: Option<u32>,
    /// What protects them. Where it goes at a rate of DSSS and data at rates of OFDM, frames at rates of DSSS have none:
    /// all stations understand them (IEEE 802.11-2012, 9.23.2).
    pub protection: Protection,
    /// The rate of an RTS, or of a CTS-to-self. `None`: the basic rate that answers the data rate.
    pub protection_rate: Option<PhyRate>,
    /// `dot11FragmentationThreshold`: the longest data frame, header and check sequence included. `None`: no limit.
    pub fragment_threshold: Option<u32>,
    /// The code for the body of each data frame and its check sequence. The thresholds do not count its redundancy.
    pub fec: Option<Code>,
    /// `dot11ShortRetryLimit`: failed attempts after which a short frame (an RTS, or data up to the RTS threshold) is
    /// discarded, the first attempt included. `None`: no limit.
    pub short_retry: Option<u32>,
    /// `dot11LongRetryLimit`: the same for data above the RTS threshold.
    pub long_retry: Option<u32>,
    /// `dot11MaxTransmitMSDULifetime`: how long after its first transmission an MSDU is tried no more. `None`: no limit.
    pub lifetime: Option<Span>,
    /// Access to the medium.
    pub access: AccessRules,
    /// Packets that the interface queue holds in addition to the one in service.
    pub queue: u32,
    /// A limit in bytes instead.
    pub buffer: Option<Buffer>,
    /// In which order fragments are joined.
    pub reassembly: Reassembly,
    /// EDCA, aggregation and block acknowledgement instead of DCF.
    pub edca: Option<EdcaConfig>,
}

/// A named set of constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// DSSS at 1 and 2 Mbit/s.
    Dot11,
    /// 802.11b with the long preamble.
    Dot11b,
    /// 802.11b with the short preamble.
    Dot11bShort,
    /// 802.11a in a channel of 20 MHz.
    Dot11a,
    /// DSSS as in ns-2.
    Ns2,
    /// 802.11b with the long preamble as in ns-2.
    Ns2b,
    /// The constants of Bianchi's tables and the assumptions of his model.
    Bianchi,
    /// 802.11g (ERP-OFDM).
    Dot11g,
    /// 802.11n (HT).
    Dot11n,
    /// 802.11ac (VHT).
    Dot11ac,
    /// 802.11ax (HE).
    Dot11ax,
    /// 802.11be (EHT).
    Dot11be,
}

/// DSSS and HR/DSSS: `aSlotTime` (IEEE 802.11-2012, tables 16-2 and 17-5).
const DSSS_SLOT: Span = Span::from_micros(20);
/// DSSS and HR/DSSS: `aSIFSTime`.
const DSSS_SIFS: Span = Span::from_micros(10);
/// Long preamble of 144 µs and header of 48 µs, both at 1 Mbit/s (17.2.2.2).
const LONG_PREAMBLE: Span = Span::from_micros(192);
/// Short preamble of 72 µs at 1 Mbit/s and header of 24 µs at 2 Mbit/s (17.2.2.3).
const SHORT_PREAMBLE: Span = Span::from_micros(96);
/// Preamble of 16 µs and SIGNAL of 4 µs (18.3.2).
const OFDM_PREAMBLE: Span = Span::from_micros(20);
/// `aPHY-RX-START-Delay` of OFDM at 20 MHz (table 18-17).
const OFDM_RX_START: Span = Span::from_micros(25);
/// The rates that every ERP station has (IEEE 802.11-2012, 19.1.1).
const ERP_BASIC_RATES: RateSet = RateSet::of(&[
    PhyRate::Dsss1,
    PhyRate::Dsss2,
    PhyRate::Cck5,
    PhyRate::Cck11,
    PhyRate::Ofdm6,
    PhyRate::Ofdm12,
    PhyRate::Ofdm24,
]);
/// Silence after an ERP-OFDM frame, in which its convolutional code can be decoded (IEEE 802.11-2012, 19.3.2.4).
const SIGNAL_EXTENSION: Span = Span::from_micros(6);
/// ns-2 waits twice its longest propagation delay of 2 µs beyond an answer, and beyond a data frame that its CTS has
/// requested (`mac-802_11.cc`).
pub(super) const NS2_TIMEOUT_SLACK: Span = Span::from_micros(4);

/// Access to the medium by the standard, with a PHY that detects a frame within `rx_start`.
const fn standard_access(rx_start: Span) -> AccessRules {
    AccessRules {
        draw: BackoffDraw::Standard,
        timeout: ResponseTimeout::ReceptionStart(rx_start),
        eifs: true,
        post_backoff: true,
        immediate: true,
        nav_reset: true,
        blind_exchange: true,
        deaf_after_cts: false,
        errors_reserve: false,
        difs_after_failure: false,
    }
}

/// The original PHY: 1 and 2 Mbit/s, CW 31 to 1023 (table 16-2), retry limits 7 and 4 (annex C).
const DOT11: MacConfig = MacConfig {
    slot: DSSS_SLOT,
    sifs: DSSS_SIFS,
    cw_min: 31,
    cw_max: 1023,
    phy: PhyTiming {
        preamble: LONG_PREAMBLE,
        preamble_at_1_mbps: LONG_PREAMBLE,
        dsss_preamble: LONG_PREAMBLE,
        round_to: Span::from_micros(1),
        propagation: Span::ZERO,
        signal_extension: Span::ZERO,
    },
    data_rate: PhyRate::Dsss2,
    basic_rates: RateSet::of(&[PhyRate::Dsss1, PhyRate::Dsss2]),
    header: 24,
    fcs: 4,
    llc: 8,
    rts: 20,
    cts: 14,
    ack: 14,
    rts_threshold: None,
    protection: Protection::RtsCts,
    protection_rate: None,
    fragment_threshold: None,
    fec: None,
    short_retry: Some(7),
    long_retry: Some(4),
    lifetime: None,
    access: standard_access(LONG_PREAMBLE),
    queue: 50,
    buffer: None,
    reassembly: Reassembly::InOrder,
    edca: None,
};

impl Preset {
    /// All presets.
    pub const ALL: [Preset; 12] = [
        Preset::Dot11,
        Preset::Dot11b,
        Preset::Dot11bShort,
        Preset::Dot11a,
        Preset::Ns2,
        Preset::Ns2b,
        Preset::Bianchi,
        Preset::Dot11g,
        Preset::Dot11n,
        Preset::Dot11ac,
        Preset::Dot11ax,
        Preset::Dot11be,
    ];

    /// Its name in a scenario.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Preset::Dot11 => "802.11",
            Preset::Dot11b => "802.11b",
            Preset::Dot11bShort => "802.11b-short",
            Preset::Dot11a => "802.11a",
            Preset::Ns2 => "ns2",
            Preset::Ns2b => "ns2-802.11b",
            Preset::Bianchi => "bianchi",
            Preset::Dot11g => "802.11g",
            Preset::Dot11n => "802.11n",
            Preset::Dot11ac => "802.11ac",
            Preset::Dot11ax => "802.11ax",
            Preset::Dot11be => "802.11be",
        }
    }

    /// Its constants.
    #[must_use]
    pub fn config(self) -> MacConfig {
        match self {
            Preset::Dot11 => DOT11,
            Preset::Dot11b => MacConfig { data_rate: PhyRate::Cck11, ..DOT11 },
            Preset::Dot11bShort => MacConfig {
                data_rate: PhyRate::Cck11,
                phy: PhyTiming { preamble: SHORT_PREAMBLE, dsss_preamble: SHORT_PREAMBLE, ..DOT11.phy },
                ..DOT11
            },
            Preset::Dot11a => MacConfig {
                slot: Span::from_micros(9),
                sifs: Span::from_micros(16),
                cw_min: 15,
                phy: PhyTiming { preamble: OFDM_PREAMBLE, dsss_preamble: OFDM_PREAMBLE, ..DOT11.phy },
                data_rate: PhyRate::Ofdm54,
                basic_rates: RateSet::of(&[PhyRate::Ofdm6, PhyRate::Ofdm12, PhyRate::Ofdm24]),
                access: standard_access(OFDM_RX_START),
                ..DOT11
            },
            Preset::Ns2 => MacConfig {
                data_rate: PhyRate::Dsss1,
                basic_rates: RateSet::of(&[PhyRate::Dsss1]),
                ..Preset::Dot11.config().as_ns2()
            },
            Preset::Ns2b => Preset::Dot11b.config().as_ns2(),
            // Table II of Bianchi's paper: bits at 1 Mbit/s with a PHY header of 128 µs and 1 µs of propagation.
            Preset::Bianchi => MacConfig {
                slot: Span::from_micros(50),
                sifs: Span::from_micros(28),
                phy: PhyTiming {
                    preamble: Span::from_micros(128),
                    preamble_at_1_mbps: Span::from_micros(128),
                    dsss_preamble: Span::from_micros(128),
                    propagation: Span::from_micros(1),
                    ..DOT11.phy
                },
                data_rate: PhyRate::Dsss1,
                basic_rates: RateSet::of(&[PhyRate::Dsss1]),
                header: 30,
                llc: 0,
                ..DOT11.under_model_assumptions()
            },
            Preset::Dot11g => {
                let ofdm = Preset::Dot11a.config();
                let phy = PhyTiming {
                    dsss_preamble: LONG_PREAMBLE,
                    signal_extension: SIGNAL_EXTENSION,
                    ..ofdm.phy
                };
                MacConfig { sifs: DSSS_SIFS, phy, basic_rates: ERP_BASIC_RATES, ..ofdm }
            }
            Preset::Dot11n => of_today(Family::Ht),
            Preset::Dot11ac => of_today(Family::Vht),
            Preset::Dot11ax => of_today(Family::He),
            Preset::Dot11be => of_today(Family::Eht),
        }
    }
}

/// A MAC with EDCA at 5 GHz: the control frames of OFDM, a QoS header, attempts and queue of ns-3.
fn of_today(family: Family) -> MacConfig {
    let edca = EdcaConfig::of(family);
    let ofdm = Preset::Dot11a.config();
    MacConfig {
        data_rate: edca.mode.reference(),
        header: 26,
        short_retry: Some(7),
        long_retry: Some(7),
        access: AccessRules {
            timeout: ResponseTimeout::ReceptionStart(OFDM_PREAMBLE),
            difs_after_failure: true,
            ..ofdm.access
        },
        queue: 500,
        edca: Some(edca),
        ..ofdm
    }
}

impl MacConfig {
    /// ns-2's departures from the standard. The header has the fourth address and no LLC, and each frame has an RTS.
    /// The backoff is from 0 to CW - 1 and before every frame. Timeouts last for the whole answer, and airtime is not
    /// rounded. A CTS and the data frame after it need an idle medium, and a station is deaf after a CTS. EIFS and DIFS
    /// follow an error, DIFS a missing response.
    #[must_use]
    pub fn as_ns2(self) -> MacConfig {
        MacConfig {
            phy: PhyTiming { round_to: Span(1), ..self.phy },
            header: 30,
            llc: 0,
            rts_threshold: Some(0),
            access: AccessRules {
                draw: BackoffDraw::BelowWindow,
                timeout: ResponseTimeout::WholeResponse(NS2_TIMEOUT_SLACK),
                immediate: false,
                nav_reset: false,
                blind_exchange: false,
                deaf_after_cts: true,
                errors_reserve: true,
                difs_after_failure: true,
                ..self.access
            },
            ..self
        }
    }

    /// The assumptions of Bianchi's model: no EIFS, no retry limit, and after a collision all stations count down together
    /// from DIFS on, since the timeout is shorter.
    #[must_use]
    pub fn under_model_assumptions(self) -> MacConfig {
        MacConfig {
            short_retry: None,
            long_retry: None,
            access: AccessRules {
                eifs: false,
                timeout: ResponseTimeout::ReceptionStart(Span::ZERO),
                ..self.access
            },
            ..self
        }
    }
}
