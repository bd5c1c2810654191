//! The keys of PPDUs to several stations of 802.11ax.

use super::words::{SCHEDULERS, SHARED_ANSWERS, names};
use super::{Key, Kind, Only};

const HE: &[Only] = &[Only::Is("links.*.standard", &["802.11ax"])];
const SCHEDULED: &[Only] = &[Only::Is("links.*.ofdma.scheduler", &["round-robin", "longest-queue"])];

/// The keys.
pub(super) const KEYS: &[Key] = &[
    Key::new(
        "links.*.ofdma.scheduler",
        Kind::Word("scheduler", || names(SCHEDULERS)),
        "which stations the next PPDU of the access point to several stations (HE MU, downlink OFDMA) is for",
    )
    .default("none")
    .source("IEEE 802.11ax-2021 (26.5.1) leaves it open; ns-3: RrMultiUserScheduler is round robin")
    .only(HE),
    Key::new(
        "links.*.ofdma.acknowledgement",
        Kind::Word("acknowledgement", || names(SHARED_ANSWERS)),
        "how the stations of such a PPDU acknowledge it",
    )
    .default("trigger")
    .source("IEEE 802.11ax-2021 (26.4.2, 9.3.1.22.4); ns-3: WifiDefaultAckManager::DlMuAckSequenceType")
    .only(SCHEDULED),
    Key::new("links.*.ofdma.stations", Kind::Integer, "maximum number of stations of such a PPDU, below the number of RUs")
        .default("74")
        .source("IEEE 802.11ax-2021 (27.3.2.2): RUs of 26 tones in 160 MHz; ns-3: RrMultiUserScheduler::NStations, 4")
        .at_least("2")
        .at_most("74")
        .only(SCHEDULED),
    Key::new("links.*.ofdma.least-ru", Kind::Integer, "tones of the smallest RU: 26, 52, 106, 242, 484 or 996; where a packet does not fit, fewer stations get larger ones")
        .default("26")
        .source("IEEE 802.11ax-2021 (27.3.2.2)")
        .at_least("26")
        .at_most("996")
        .only(SCHEDULED),
];
