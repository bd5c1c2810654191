//! The radios of bound nodes whose MAC layer is a kernel's: their frames cross an 802.11 link of the scenario.
//!
//! **How.** A kernel hands over each frame with a table of rates ([`hwsim`]). It enters the queue of the station of its node, and
//! when the station is done with it, the kernel gets its status: how often it was sent at which rates, and whether it was
//! acknowledged. The radios of its receivers get it when it ends on the air. Frames to groups, and frames without an
//! acknowledgement, are sent to all stations; a radio gets the frames to groups and to itself.
//!
//! With 802.11n, the station aggregates the frames that an agreement of block acknowledgement covers ([`agreements`]). If the
//! kernel selects their rates, it learns from one frame for all that are over in the same instant, after the same attempts by the
//! same table: the status of that frame counts them.
//!
//! **Limits.** A frame for another channel than that of the link is sent to nobody. A radio that listens to another channel still
//! acknowledges here. RTS and the MAC's retry limit are those of the scenario and of the table of rates.

mod agreements;
mod hwsim;
pub(super) mod place;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};

use lasthop_stack::link::dot11::{
    BROADCAST, DataRate, EdcaConfig, Family, Guard, MacConfig, Mode, PhyRate, Plan, RateControl, Ru, STAGES,
    Tries,
};
use lasthop_stack::packet::{Body, Datagram, NodeId, Packet};
use lasthop_stack::units::Time;

use crate::model::Config;
use crate::net::wlan::{Handover, News};
use crate::outside::Contents;
use crate::probe::radiotap::{address, node};
use agreements::Agreements;
use hwsim::{HT, Ticket, Transmission, Tried, VHT};

/// Bytes of the check sequence, which kernels do not write.
const FCS: usize = 4;
/// Where the address of the receiver begins in a frame.
const RECEIVER: usize = 4;
/// The bit in the first byte of the address of a group.
const GROUP: u8 = 1;
/// The indices of MCS for each number of streams.
const MCS_OF_STREAMS: u8 = 8;
/// The first frequency in MHz above the band in which DSSS is used.
const OFDM_ONLY: u32 = 3000;
/// The power of what has been heard in a medium without distances, and of acknowledgements, dBm.
const NEAR_DBM: i32 = -50;
/// The frequencies of channel 1, and of channel 36, in MHz.
const CHANNEL_1: u32 = 2412;
const CHANNEL_36: u32 = 5180;

/// The radios that a link needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needed {
    /// The frequency of their channel in MHz.
    pub frequency: u32,
    /// The rates that all must have, in 500 kbit/s.
    pub basic: Vec<u8>,
    /// Those that each node may use.
    pub rates: Vec<Vec<u8>>,
    /// The places of the access points among the nodes, if there are any.
    pub access_points: Vec<usize>,
    /// Whether frames of the network are encrypted, as WPA2 does.
    pub is_secret: bool,
    /// The indices of the MCS that each node may use, in networks of 802.11n.
    pub mcs: Vec<Vec<u8>>,
}

impl Needed {
    /// Those of the link whose stations are outside, if there is one.
    pub(super) fn of(config: &Config) -> Option<Needed> {
        let (_, wifi) = config.wifi().find(|(_, wifi)| !wifi.outer.is_empty())?;
        let MacConfig { basic_rates, data_rate, edca, .. } = wifi.mac;
        let has_dsss = basic_rates.has(PhyRate::Dsss1);
        let listed = |is_used: &dyn Fn(PhyRate) -> bool| -> Vec<u8> {
            PhyRate::ALL.into_iter().filter(|rate| is_used(*rate)).map(PhyRate::half_megabits).collect()
        };
        let up_to_the_links = |rate: PhyRate| rate <= data_rate && (has_dsss || rate.is_ofdm());
        let own: Vec<Option<DataRate>> =
            wifi.outer.iter().map(|node| wifi.own_rates.get(*node).copied().flatten()).collect();
        // Linux sends at no rate to all stations that is not basic.
        let is_basic = |rate: PhyRate| {
            basic_rates.has(rate) || edca.is_none() && own.iter().flatten().any(|fixed| fixed.rate == rate)
        };
        let rates = own.iter().map(|fixed| match fixed {
            // Data goes by MCS, and the rest at the slowest rate.
            _ if edca.is_some() => vec![PhyRate::ALL[first_of(CHANNEL_36)].half_megabits()],
            Some(DataRate { rate, .. }) => vec![rate.half_megabits()],
            None => listed(&up_to_the_links),
        });
        let serves = |node: usize| Some(node) == wifi.access_point || config.nodes[node].is_access_point;
        let of_nodes = |edca: EdcaConfig| -> Vec<Vec<u8>> {
            let most = own.iter().map(|own| own.and_then(|own| own.mode).unwrap_or(edca.mode));
            most.map(|most| indices(most, edca.rate_control)).collect()
        };
        Some(Needed {
            frequency: if has_dsss { CHANNEL_1 } else { CHANNEL_36 },
            basic: listed(&is_basic),
            rates: rates.collect(),
            access_points: (0..wifi.outer.len()).filter(|place| serves(wifi.outer[*place])).collect(),
            is_secret: wifi.is_secret,
            mcs: edca.map_or_else(Vec::new, of_nodes),
        })
    }
}

/// A frame without a status so far.
#[derive(Debug)]
struct Pending {
    ticket: Ticket,
    /// An agreement covers it, and no status counts for it yet.
    is_to_count: bool,
}

/// The radios of a link.
#[derive(Debug)]
pub(super) struct Air {
    /// The number of the protocol of the radios in this kernel.
    family: u16,
    /// The frequency of the link in MHz.
    frequency: u32,
    /// Whether kernels select the rates of aggregates.
    selects: bool,
    /// The frames without a status so far, by their numbers.
    pending: HashMap<u32, Pending>,
    news: Vec<News>,
    due: VecDeque<News>,
    agreements: Agreements,
    /// A frame with another number, and the message.
    frame: Vec<u8>,
    message: Vec<u8>,
}

impl Air {
    pub(super) fn new(family: u16, needed: &Needed) -> Air {
        Air {
            family,
            frequency: needed.frequency,
            selects: needed.mcs.iter().any(|indices| indices.len() > 1),
            pending: HashMap::new(),
            news: Vec::new(),
            due: VecDeque::new(),
            agreements: Agreements::default(),
            frame: Vec::new(),
            message: Vec::new(),
        }
    }

    /// The frame of a message, if it is one: the node of its radio, and how its station is to send it. A frame that is not sent
    /// here, since it is for another channel, is answered at once.
    pub(super) fn entering<'m>(&mut self, message: &'m [u8], now: Time) -> Option<Entering<'m>> {
        let sent = Transmission::parse(message, self.family)?;
        let to: [u8; 6] = *sent.frame.get(RECEIVER..)?.first_chunk()?;
        let ticket = sent.ticket();
        let is_to_all = to[0] & GROUP != 0 || sent.needs_no_ack();
        if sent.frequency != self.frequency {
            let tries = [u8::from(is_to_all), 0, 0, 0];
            // Frames on the air are numbered from 0.
            let number = (0..=u32::MAX).rev().find(|number| !self.pending.contains_key(number))?;
            self.pending.insert(number, Pending { ticket, is_to_count: false });
            self.due.push_back(News::Sent { number, is_delivered: is_to_all, tries, when: now });
            return None;
        }
        let next = if is_to_all { BROADCAST } else { node(to)? };
        Some(Entering {
            from: node(sent.radio)?,
            handover: Handover {
                to: next,
                bytes: (sent.frame.len() + FCS) as u32,
                plan: plan(&sent, self.frequency),
                category: agreements::category_of(sent.frame),
                is_covered: !is_to_all && self.agreements.cover(sent.frame),
            },
            frame: sent.frame,
            ticket,
        })
    }

    /// Whether a message reports that the kernel has refused a request.
    pub(super) fn is_refusal(message: &[u8]) -> bool {
        hwsim::is_refusal(message)
    }

    /// The frame of this number is under way.
    pub(super) fn track(&mut self, number: u32, entering: &Entering<'_>) {
        let Entering { ticket, handover: Handover { is_covered, .. }, .. } = *entering;
        self.pending.insert(number, Pending { ticket, is_to_count: self.selects && is_covered });
    }

    /// Where to put what has happened.
    pub(super) fn news(&mut self) -> &mut Vec<News> {
        &mut self.news
    }

    /// The next message to the kernel: when it is due, and the node that receives a frame by it, if one does.
    pub(super) fn message(&mut self, contents: &Contents) -> Option<(Time, Option<NodeId>, &[u8])> {
        self.due.extend(self.news.drain(..));
        while let Some(news) = self.due.pop_front() {
            if let Some((when, at)) = self.write(news, contents) {
                return Some((when, at, &self.message));
            }
        }
        None
    }

    fn write(&mut self, news: News, contents: &Contents) -> Option<(Time, Option<NodeId>)> {
        match news {
            News::Sent { number, is_delivered, tries, when } => {
                let Pending { ticket, is_to_count } = self.pending.remove(&number)?;
                let is_counted = is_to_count && tries != Tries::default();
                let counted = is_counted.then(|| self.counted(&ticket, is_delivered, tries, when));
                ticket.status(self.family, is_delivered, NEAR_DBM, tries, counted, &mut self.message);
                Some((when, None))
            }
            News::Heard { at, number, rate, signal_dbm, when } => {
                let frame = &contents.get(number)?.bytes[..];
                let to: [u8; 6] = *frame.get(RECEIVER..)?.first_chunk()?;
                let is_to_all = to[0] & GROUP != 0;
                if !is_to_all && to != address(at) || agreements::asks_for_block_ack(frame) {
                    return None;
                }
                self.agreements.note(frame);
                let frame = self.agreements.numbered(frame, &mut self.frame);
                let signal_dbm = signal_dbm.map_or(NEAR_DBM, |dbm| libm::round(dbm) as i32);
                let (frequency, rate) = (self.frequency, index_of(rate, self.frequency));
                let how = hwsim::Reception { frequency, rate, signal_dbm };
                hwsim::reception(self.family, address(at), frame, how, &mut self.message);
                Some((when, Some(at)))
            }
        }
    }

    /// The frames for which the status of one counts, itself included, and those of them that were acknowledged.
    fn counted(&mut self, first: &Ticket, is_delivered: bool, tries: Tries, when: Time) -> [u8; 2] {
        let mut counted = [1, u8::from(is_delivered)];
        for news in &self.due {
            let News::Sent { number, is_delivered, tries: others, when: then } = *news else { continue };
            if let Some(other) = self.pending.get_mut(&number)
                && (others, then, other.is_to_count) == (tries, when, true)
                && first.is_as(&other.ticket)
            {
                other.is_to_count = false;
                counted[0] += 1;
                counted[1] += u8::from(is_delivered);
            }
        }
        counted
    }
}

/// A frame that enters.
#[derive(Debug)]
pub(super) struct Entering<'m> {
    /// The node whose radio sends it.
    pub(super) from: NodeId,
    /// How it is sent.
    pub(super) handover: Handover,
    /// Its bytes.
    pub(super) frame: &'m [u8],
    ticket: Ticket,
}

impl Entering<'_> {
    /// The packet that stands for it in the network, to its receiver or, if that is none of these nodes, to another.
    pub(super) fn packet(&self, nodes: &[NodeId], other: NodeId) -> Packet {
        let to = self.handover.to;
        let dst = if nodes.contains(&to) { to } else { other };
        let len = self.handover.bytes;
        Packet::new(self.from, dst, Body::Udp(Datagram { len, ..Datagram::default() }))
    }
}

/// The rates of a frame, and how often it is tried at each.
fn plan(sent: &Transmission<'_>, frequency: u32) -> Plan {
    let lowest = PhyRate::ALL[first_of(frequency)];
    let listed = |rate: usize| PhyRate::ALL.get(first_of(frequency) + rate).copied();
    let at = |rate: Option<PhyRate>| DataRate { rate: rate.unwrap_or(lowest), mode: None };
    let stage = |(rate, tries): Tried, kind: u16| match (u8::try_from(rate), kind) {
        (Ok(index), HT) => (DataRate::from(mode(index)), tries),
        (Ok(_), VHT..) => (at(None), tries),
        (Ok(rate), _) => (at(listed(rate.into())), tries),
        (Err(_), _) => (at(None), 0),
    };
    let mut plan: Plan = std::array::from_fn(|place| stage(sent.rates[place], sent.kinds[place]));
    if plan.iter().all(|(_, tries)| *tries == 0) {
        plan[0].1 = 1;
    }
    plan
}

/// The mode of an index of MCS (IEEE 802.11-2020, 19.5), in 20 MHz.
fn mode(index: u8) -> Mode {
    let (mcs, streams) = (index % MCS_OF_STREAMS, index / MCS_OF_STREAMS + 1);
    Mode { family: Family::Ht, mcs, width: 20, guard: Guard::Normal, streams, ru: Ru::Whole }
}

/// The indices of the MCS that a node may use, whose fastest mode this is.
fn indices(most: Mode, control: RateControl) -> Vec<u8> {
    if control == RateControl::Constant {
        return vec![index(most)];
    }
    let up_to = |streams| (0..=most.mcs).map(move |mcs| index(Mode { mcs, streams, ..most }));
    (1..=most.streams).flat_map(up_to).collect()
}

/// The index of the MCS of a mode.
fn index(mode: Mode) -> u8 {
    (mode.streams - 1) * MCS_OF_STREAMS + mode.mcs
}

/// The place in [`PhyRate::ALL`] of the first rate of a band.
fn first_of(frequency: u32) -> usize {
    if frequency > OFDM_ONLY { PhyRate::Ofdm6 as usize } else { 0 }
}

/// The index of a rate in its band.
fn index_of(rate: PhyRate, frequency: u32) -> u32 {
    (rate as usize).saturating_sub(first_of(frequency)) as u32
}

const _: () = assert!(STAGES == size_of::<Tries>(), "a number for each rate");
