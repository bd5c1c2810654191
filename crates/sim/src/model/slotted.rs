//! A slotted multi-hop network, and its parameters by their names in scenarios.

use crate::medium::radio::config::{db_to_ratio, ratio_to_db};
use crate::medium::slots::{Interference, SlotMediumConfig};
use lasthop_stack::hooks::parameter::{Described, parameters, words};
use lasthop_stack::link::slotted::interval::Windows;
use lasthop_stack::link::slotted::{
    Alternatives, CountScope, Discard, Remembered, Routing, Rules, Service, WaitFrom,
};
use lasthop_stack::registry::IntervalConfig;
use lasthop_stack::units::Span;

/// A slotted multi-hop network and the stations in it.
#[derive(Clone, Debug)]
pub struct FrnConfig {
    /// Indices into [`Config::nodes`](super::Config::nodes), one for each station; each has a position.
    pub nodes: Vec<usize>,
    /// Length of a slot.
    pub slot: Span,
    /// What carrier sense detects.
    pub sense: Sense,
    /// Which stations lose frames at random.
    pub error_at: ErrorAt,
    /// Ranges, capture, interference and errors.
    pub medium: SlotMediumConfig,
    /// The settings common to all nodes.
    pub rules: Rules,
    /// Which neighbours may take a packet.
    pub alternatives: Alternatives,
    /// How long a node waits before it sends a packet again.
    pub interval: IntervalConfig,
    /// The windows that it moves between.
    pub windows: Windows,
    /// Upper ends of the shortest windows of the stations, where each has one of its own.
    pub uppers: Option<Vec<u64>>,
}

impl FrnConfig {
    /// The windows of a station.
    #[must_use]
    pub fn windows_of(&self, station: usize) -> Windows {
        let own = self.uppers.as_ref().map(|uppers| uppers[station] as u32);
        Windows { shortest: own.unwrap_or(self.windows.shortest), ..self.windows }
    }
}

/// What carrier sense detects at the start of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sense {
    /// The stations that forward or acknowledge a packet just received: they begin at once, the others a little later.
    Committed,
    /// Every station that has begun earlier: each draws its instant within the slot, also to forward or acknowledge.
    Random,
    /// Nothing: all begin together.
    Nothing,
}

words! { Sense: Committed = "committed", Random = "random", Nothing = "nothing" }

/// Which stations lose frames of a slotted network at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorAt {
    /// Every station that receives one, independently; relay echoes are lost like other frames.
    Listeners,
    /// The station that a frame is for.
    Addressee,
}

words! { ErrorAt: Listeners = "listeners", Addressee = "addressee" }

words! {
    /// When a packet of a slotted network is discarded: the names of [`Discard`].
    pub enum DiscardRule {
        /// After this number of retransmissions.
        Count = "count",
        /// At the end of its lifetime.
        Lifetime = "lifetime",
    }

    /// The neighbour that gets a packet: the names of [`Routing`].
    pub enum RoutingRule {
        /// The first of the table.
        Table = "table",
        /// Each in turn.
        Turn = "turn",
        /// The one heard least.
        Load = "load",
    }
}

const RETRANSMISSIONS: u32 = 4;
/// In slots.
const LIFETIME: u64 = 100;
/// In frames.
const HEARD: u32 = 32;

impl Default for FrnConfig {
    fn default() -> FrnConfig {
        FrnConfig {
            nodes: Vec::new(),
            slot: Span::from_millis(10),
            sense: Sense::Committed,
            error_at: ErrorAt::Listeners,
            medium: SlotMediumConfig {
                range_m: 250.0,
                carrier_sense_m: 550.0,
                interference_m: 550.0,
                capture: Some(10.0),
                interference: Interference::Pairwise,
                error: 0.0,
            },
            rules: Rules {
                least_wait: 3,
                discard: Discard::Count(RETRANSMISSIONS),
                scope: CountScope::Path,
                remembered: Remembered::Last(0),
                service: Service::Parallel,
                wait_from: WaitFrom::Echo,
                routing: Routing::Table,
            },
            alternatives: Alternatives::Sideward,
            interval: IntervalConfig::default(),
            windows: Windows { least: 3, shortest: 5, longest: 17 },
            uppers: None,
        }
    }
}

/// More slots than any wait or lifetime.
const MOST_SLOTS: &str = "1000000000";
const FARTHEST: &str = "1000 km";

impl Described for FrnConfig {
    parameters! {
        /// length of a slot; a slot carries one packet of any length
        "slot-length": Time("ms") = slot, at_least("1 us"), at_most("1000 s"),
            source("lasthop: no published value; a retransmission timeout of 1 s is 100 slots");
        /// which transmissions carrier sense detects at the start of a slot: those of forwarding or acknowledging nodes,
        /// those with an earlier random instant, or none
        "sense": Words("choice") = sense, source("lasthop: load-adaptive choice 2");
        /// reception range
        "range": Length = medium.range_m, above("0 m"), at_most(FARTHEST), source("Yamamoto et al. (4.1)");
        /// carrier-sense range
        "carrier-sense-range": Length = medium.carrier_sense_m, at_most(FARTHEST), source("ns-2: CSThresh_");
        /// interference range
        "interference-range": Length = medium.interference_m, at_most(FARTHEST), source("ns-2: CSThresh_");
        /// whether interfering frames are compared with the wanted frame one by one, or by the sum of their powers
        "interference": Words("choice") = medium.interference, source("ns-2: WirelessPhy");
        /// minimum power ratio at which the stronger of two frames is received
        "capture": Gain or "none" = (
            |frn| frn.medium.capture.map(ratio_to_db),
            |frn, db: Option<f64>| frn.medium.capture = db.map(db_to_ratio),
        ), above("0 dB"), at_most("100 dB"), source("ns-2: CPThresh_");
        /// random loss probability of a frame, independently at each listener
        "error-rate": Share = medium.error, at_most("100 %");
        /// where random losses occur: at every listener, so relay echoes are also lost, or only at the addressee
        "error-at": Words("choice") = error_at, source("lasthop: load-adaptive choice 12");
        /// whether packets are discarded by retransmission count or by age
        "discard": Words("rule") = (
            |frn| match frn.rules.discard {
                Discard::Count(_) => DiscardRule::Count,
                Discard::Lifetime(_) => DiscardRule::Lifetime,
            },
            |frn, rule| frn.rules.discard = match rule {
                DiscardRule::Count => Discard::Count(RETRANSMISSIONS),
                DiscardRule::Lifetime => Discard::Lifetime(LIFETIME),
            },
        ), source("Yamamoto et al. (3.2)");
        /// maximum number of retransmissions of a packet
        "max-retransmissions": Count = (
            |frn| if let Discard::Count(most) = frn.rules.discard { most } else { RETRANSMISSIONS },
            |frn, most| frn.rules.discard = Discard::Count(most),
        ), only(&[("discard", &["count"])]), at_most(MOST_SLOTS), source("Yamamoto et al. (4.2)");
        /// whether retransmissions are counted per hop or over the whole path
        "count-over": Words("scope") = rules.scope, only(&[("discard", &["count"])]), source("Yamamoto et al. (3.2)");
        /// maximum lifetime of a packet, in slots
        "max-lifetime": Count = (
            |frn| if let Discard::Lifetime(most) = frn.rules.discard { most } else { LIFETIME },
            |frn, most| frn.rules.discard = Discard::Lifetime(most),
        ), only(&[("discard", &["lifetime"])]), at_least("1"), at_most(MOST_SLOTS), source("lasthop: no published value");
        /// number of packets that each node remembers to discard duplicates; 0 disables duplicate suppression
        "remembered": Count or "unlimited" = (
            |frn| match frn.rules.remembered {
                Remembered::All => None,
                Remembered::Last(packets) => Some(packets),
            },
            |frn, last: Option<usize>| frn.rules.remembered = last.map_or(Remembered::All, Remembered::Last),
        ), at_most("10000"), source("Yamamoto et al. (3.1)");
        /// the farthest neighbours to which a packet is sent if there is only one forward neighbour
        "alternatives": Words("choice") = alternatives, source("lasthop: load-adaptive choice 5");
        /// which of several forward neighbours gets a packet: the first of the table, each in turn, or the one heard
        /// least of late
        "routing": Words("choice") = (
            |frn| match frn.rules.routing {
                Routing::Table => RoutingRule::Table,
                Routing::Turn => RoutingRule::Turn,
                Routing::Load { .. } => RoutingRule::Load,
            },
            |frn, rule| frn.rules.routing = match rule {
                RoutingRule::Table => Routing::Table,
                RoutingRule::Turn => Routing::Turn,
                RoutingRule::Load => Routing::Load { frames: HEARD },
            },
        ), source("Yamamoto et al. (5), as future work; lasthop: load-adaptive choice 14");
        /// number of frames heard last by which a node judges the load of its neighbours
        "heard": Count = (
            |frn| if let Routing::Load { frames } = frn.rules.routing { frames } else { HEARD },
            |frn, frames| frn.rules.routing = Routing::Load { frames },
        ), only(&[("routing", &["load"])]), at_least("1"), at_most("10000"), source("lasthop: load-adaptive choice 14");
        /// whether a packet that waits for its echo blocks no other packet, or all transmissions and retransmissions
        "service": Words("choice") = rules.service, source("lasthop: load-adaptive choice 6");
        /// whether the wait starts at the transmission, which has failed when the wait ends, or when the echo is missing
        "wait-from": Words("choice") = rules.wait_from, source("Yamamoto et al. (2)");
        /// lower bound of every window, in slots
        "least-wait": Count = (
            |frn| frn.windows.least,
            |frn, slots| (frn.windows.least, frn.rules.least_wait) = (slots, slots),
        ), at_least("2"), at_most("1000000"), source("Yamamoto et al. (2)");
        /// upper bound of the window without failures, in slots
        "window": Count = (
            |frn| frn.windows.shortest,
            // A window that cannot grow has no widest one.
            |frn, slots| (frn.windows.shortest, frn.windows.longest) = (slots, slots),
        ), at_least("2"), at_most("1000000"), source("Yamamoto et al. (2)");
        /// upper bound of the widest window, in slots; a value up to frn.window makes the window fixed
        "max-window": Count = windows.longest, only(&[("interval", &["backoff", "blind", "load-adaptive"])]),
            at_least("2"), at_most("1000000"), source("Yamamoto et al. (4.3)");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_stack::hooks::parameter::testing::each_has_a_field_of_its_own;

    #[test]
    fn each_parameter_has_a_field_of_its_own() {
        each_has_a_field_of_its_own::<FrnConfig>(&["max-lifetime", "heard", "window"]);
    }
}
