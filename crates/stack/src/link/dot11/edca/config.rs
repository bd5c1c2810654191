//! The constants of EDCA, aggregation and block acknowledgement, and what follows from them.

use super::super::mode::{Family, Guard, LONGEST_PPDU, Mode};
use super::super::rates::PhyRate;
use super::super::ru::Ru;
use super::rate_control::RateControl;
use crate::hooks::parameter::words;
use crate::units::Span;

/// An access category, in the order of its index (ACI).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Best effort.
    #[default]
    BestEffort,
    /// Background.
    Background,
    /// Video.
    Video,
    /// Voice.
    Voice,
}

/// The number of access categories.
pub const CATEGORIES: usize = 4;

impl Category {
    /// All of them, in the order of their index.
    pub const ALL: [Category; CATEGORIES] =
        [Category::BestEffort, Category::Background, Category::Video, Category::Voice];
    /// All of them, the one that wins an internal collision first.
    pub const BY_PRIORITY: [Category; CATEGORIES] =
        [Category::Voice, Category::Video, Category::BestEffort, Category::Background];

    /// Its name in a scenario.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Category::BestEffort => "best-effort",
            Category::Background => "background",
            Category::Video => "video",
            Category::Voice => "voice",
        }
    }

    /// The category of a differentiated services code point (RFC 8325, 4.3).
    #[must_use]
    pub const fn of_dscp(dscp: u8) -> Category {
        match dscp {
            // VOICE-ADMIT, EF, CS6, CS7.
            44 | 46 | 48 | 56 => Category::Voice,
            // AF3x, CS3, AF4x, CS4, CS5.
            24 | 26 | 28 | 30 | 32 | 34 | 36 | 38 | 40 => Category::Video,
            // CS1.
            8 => Category::Background,
            _ => Category::BestEffort,
        }
    }

    /// The user priority that stands for it in a QoS header.
    #[must_use]
    pub const fn tid(self) -> u8 {
        match self {
            Category::BestEffort => 0,
            Category::Background => 1,
            Category::Video => 5,
            Category::Voice => 6,
        }
    }
}

/// The parameters of an access category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Slots after SIFS before the first slot of a backoff (AIFSN).
    pub aifsn: u32,
    /// First contention window.
    pub cw_min: u32,
    /// Largest contention window.
    pub cw_max: u32,
    /// For how long a station may send once it has access; zero is one exchange.
    pub txop: Span,
}

/// What a station does about an A-MPDU that no BlockAck answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterLoss {
    /// It sends a BlockAckReq, as ns-3 does: its success resets the window.
    Request,
    /// It sends the MPDUs again, with a doubled window.
    Data,
}

words! { AfterLoss: Request = "request", Data = "data" }

/// The limits of an A-MPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregate {
    /// MPDUs.
    pub count: u32,
    /// Bytes.
    pub bytes: u32,
    /// Duration of the PPDU.
    pub time: Span,
}

/// Which stations get the next PPDU to several of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// Those whose last such PPDU was longest ago.
    RoundRobin,
    /// Those with the most bytes in the queue.
    LongestQueue,
}

/// How the stations acknowledge a PPDU to several of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledgement {
    /// The first one at once, each other after a BlockAckReq.
    Requests,
    /// Together, after a trigger that requests their BlockAcks (MU-BAR).
    Trigger,
    /// Together, after the same trigger within each A-MPDU.
    Aggregated,
}

words! { Acknowledgement: Requests = "requests", Trigger = "trigger", Aggregated = "aggregated-trigger" }

/// What stations that were triggered contend with for a time (MU EDCA parameter set).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MuEdca {
    /// Slots after SIFS; with none they do not contend.
    pub aifsn: u32,
    /// First contention window.
    pub cw_min: u32,
    /// Largest contention window.
    pub cw_max: u32,
    /// For how long after each success.
    pub timer: Span,
}

/// How an access point triggers PPDUs from several stations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uplink {
    /// Which stations send.
    pub scheduler: Scheduler,
    /// Time between its requests for reports of what stations hold, if it sends any (BSRP).
    pub requests: Option<Span>,
    /// The parameters of contention of stations that were triggered, unless they are those of others.
    pub mu_edca: Option<MuEdca>,
}

/// What an access point does with PPDUs to several stations, and from several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ofdma {
    /// Which stations get one; none if each PPDU is for one station.
    pub scheduler: Option<Scheduler>,
    /// How they acknowledge it.
    pub acknowledgement: Acknowledgement,
    /// Stations in a PPDU.
    pub most: u32,
    /// The smallest RU.
    pub least: Ru,
    /// PPDUs from several, if it triggers any.
    pub uplink: Option<Uplink>,
}

/// The constants of a MAC with EDCA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdcaConfig {
    /// The form of data frames.
    pub mode: Mode,
    /// By category.
    pub access: [Access; CATEGORIES],
    /// Whether an access point has the set of its own ([`EdcaConfig::access_of_ap`]).
    pub own_set: bool,
    /// The limits of an A-MPDU.
    pub aggregate: Aggregate,
    /// The block-ack window: 64, 256, 512 or 1024 MPDUs.
    pub window: u32,
    /// Least time between the beginnings of two MPDUs of an A-MPDU.
    pub spacing: Span,
    /// What follows a missing BlockAck.
    pub after_loss: AfterLoss,
    /// How long a receiver holds an MPDU for an earlier one.
    pub reorder_timeout: Span,
    /// How long a packet may be in the MAC; unlimited if none.
    pub lifetime: Option<Span>,
    /// What chooses the modes of data; `mode` is the fastest.
    pub rate_control: RateControl,
    /// PPDUs to several stations and from several, if there are any.
    pub ofdma: Option<Ofdma>,
}

/// The parameters of the default sets (IEEE 802.11-2012, table 8-105, and WMM).
const ACCESS: [Access; CATEGORIES] = [
    Access { aifsn: 3, cw_min: 15, cw_max: 1023, txop: Span::ZERO },
    Access { aifsn: 7, cw_min: 15, cw_max: 1023, txop: Span::ZERO },
    Access { aifsn: 2, cw_min: 7, cw_max: 15, txop: Span::from_micros(3_008) },
    Access { aifsn: 2, cw_min: 3, cw_max: 7, txop: Span::from_micros(1_504) },
];

/// Bytes of the delimiter before each MPDU of an A-MPDU.
pub const DELIMITER: u32 = 4;
/// Compressed BlockAck without its bitmap, check sequence included.
const BLOCK_ACK: u32 = 24;
/// The numbers of MPDUs that the bitmap of a BlockAck can have.
pub const WINDOWS: [u32; 4] = [64, 256, 512, 1024];
/// Compressed BlockAckReq, check sequence included.
pub(super) const BLOCK_ACK_REQUEST: u32 = 24;
/// A trigger that requests BlockAcks: header, common field and check sequence, and what it has for each station (9.3.1.22).
const TRIGGER: [u32; 2] = [16 + 8 + 4, 5 + 4];
/// What a trigger has for each station that requests reports, or its CTS, and one that requests data (9.3.1.22).
const SOLICITING: [u32; 2] = [5, 5 + 1];
/// A BlockAck to several stations: header, control and check sequence; what it has for each; first number (9.3.1.8.7).
const MULTI_STATION: [u32; 3] = [16 + 2 + 4, 2, 2];
/// What a trigger of EHT has for all its stations (Special User Info, 802.11be-2024, 9.3.1.22.3).
const SPECIAL: u32 = 5;

impl EdcaConfig {
    /// The constants of a generation: its fastest MCS on one stream in 20 (n), 80 (ac, ax, be) MHz.
    #[must_use]
    pub const fn of(family: Family) -> EdcaConfig {
        let (width, bytes, window) = match family {
            Family::Ht => (20, 65_535, 64),
            Family::Vht => (80, 1_048_575, 64),
            Family::He => (80, 6_500_631, 256),
            Family::Eht => (80, 15_523_200, 1024),
        };
        let mcs = family.highest_mcs();
        EdcaConfig {
            mode: Mode { family, mcs, width, guard: Guard::Normal, streams: 1, ru: Ru::Whole },
            access: ACCESS,
            own_set: false,
            aggregate: Aggregate { count: window, bytes, time: LONGEST_PPDU },
            window,
            spacing: Span::ZERO,
            after_loss: AfterLoss::Request,
            reorder_timeout: Span::from_millis(100),
            lifetime: None,
            rate_control: RateControl::Constant,
            ofdma: None,
        }
    }

    /// The parameters of an access point with a set of its own (WMM): best effort has a largest window of 63 at most, video
    /// and voice have AIFSN 1.
    #[must_use]
    pub fn access_of_ap(&self) -> [Access; CATEGORIES] {
        let mut access = self.access;
        let best_effort = &mut access[Category::BestEffort as usize];
        best_effort.cw_max = best_effort.cw_max.min(63).max(best_effort.cw_min);
        for category in [Category::Video, Category::Voice] {
            access[category as usize].aifsn = 1;
        }
        access
    }

    /// Bytes of a BlockAck.
    #[must_use]
    pub const fn block_ack(&self) -> u32 {
        BLOCK_ACK + self.window / 8
    }

    /// The largest block-ack window.
    #[must_use]
    pub const fn largest_window(family: Family) -> u32 {
        WINDOWS[match family {
            Family::Ht | Family::Vht => 0,
            Family::He => 1,
            Family::Eht => 3,
        }]
    }

    /// The most packets of a PPDU.
    #[must_use]
    pub fn most_packets(&self) -> u32 {
        let several = self.ofdma.filter(|ofdma| ofdma.scheduler.is_some());
        let stations = several.map_or(1, |ofdma| {
            let rus = self.mode.within(ofdma.least).rus();
            rus.clamp(1, ofdma.most)
        });
        self.aggregate.count * stations
    }

    /// Bytes of a trigger that requests BlockAcks from this number of stations.
    #[must_use]
    pub const fn trigger(&self, stations: u32) -> u32 {
        self.trigger_head() + TRIGGER[1] * stations
    }

    /// Bytes of a trigger that requests data from this number of stations, or reports.
    #[must_use]
    pub const fn soliciting(&self, stations: u32, wants_data: bool) -> u32 {
        self.trigger_head() + SOLICITING[wants_data as usize] * stations
    }

    /// Bytes of an MU-RTS to one station, with padding that lasts as long at a rate of OFDM.
    #[must_use]
    pub const fn initial(&self, padding: Span, rate: PhyRate) -> u32 {
        self.soliciting(1, false) + (rate.rate().0 * padding.0).div_ceil(8_000_000_000) as u32
    }

    const fn trigger_head(&self) -> u32 {
        TRIGGER[0] + if matches!(self.mode.family, Family::Eht) { SPECIAL } else { 0 }
    }

    /// Bytes of a BlockAck to several stations, some of which get a bitmap.
    #[must_use]
    pub const fn multi_station(&self, stations: u32, bitmaps: u32) -> u32 {
        let bitmap = self.window / 8;
        MULTI_STATION[0] + MULTI_STATION[1] * stations + (MULTI_STATION[2] + bitmap) * bitmaps
    }

    /// Bytes of a PPDU with one MPDU of this size: VHT, HE and EHT send it in an A-MPDU too.
    #[must_use]
    pub const fn single(&self, mpdu: u32) -> u32 {
        match self.mode.family {
            Family::Ht => mpdu,
            Family::Vht | Family::He | Family::Eht => DELIMITER + mpdu,
        }
    }

    /// The least bytes between the beginnings of two MPDUs in this mode.
    #[must_use]
    pub const fn least_subframe(&self, mode: Mode) -> u32 {
        let bits = self.spacing.0 * mode.bits_per_symbol() as u64;
        (bits.div_ceil(8 * mode.symbol().0) as u32).next_multiple_of(4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_points_have_the_categories_of_rfc_8325() {
        let names: Vec<&str> =
            [46, 48, 34, 26, 40, 0, 8, 10, 18].map(|dscp| Category::of_dscp(dscp).name()).to_vec();
        assert_eq!(
            names,
            [
                "voice",
                "voice",
                "video",
                "video",
                "video",
                "best-effort",
                "background",
                "best-effort",
                "best-effort"
            ]
        );
    }

    #[test]
    fn a_block_ack_grows_with_its_window() {
        let of = |window| EdcaConfig { window, ..EdcaConfig::of(Family::Eht) };
        assert_eq!(WINDOWS.map(|window| of(window).block_ack()), [32, 56, 88, 152]);
        assert_eq!(WINDOWS.map(|window| of(window).multi_station(2, 1)), [36, 60, 92, 156]);
        assert_eq!((of(64).trigger(2), EdcaConfig::of(Family::He).trigger(2)), (51, 46));
    }

    #[test]
    fn the_spacing_of_mpdus_is_a_number_of_bytes() {
        let of = |micros| EdcaConfig { spacing: Span::from_micros(micros), ..EdcaConfig::of(Family::Ht) };
        // 65 Mbit/s for 16 µs are 130 bytes.
        assert_eq!(of(16).least_subframe(of(16).mode), 132);
        assert_eq!(of(0).least_subframe(of(0).mode), 0);
    }

    #[test]
    fn an_access_point_may_have_a_set_of_its_own() {
        let access = EdcaConfig::of(Family::He).access_of_ap();
        let found = Category::ALL.map(|category| {
            let Access { aifsn, cw_min, cw_max, .. } = access[category as usize];
            (aifsn, cw_min, cw_max)
        });
        assert_eq!(found, [(3, 15, 63), (7, 15, 1023), (1, 7, 15), (1, 3, 7)]);
    }
}
