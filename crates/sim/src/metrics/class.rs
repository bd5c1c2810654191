//! The metrics of a traffic class, per flow and per group.

use std::collections::BTreeMap;

use super::row::{Measured, ratio, rows};
use crate::model::{Config, FlowConfig};
use crate::probe::transfers::Tally;
use crate::traffic::AppKind;
use crate::traffic::sessions::Class as TrafficClass;

/// A class of traffic of some users in the measured time.
pub(super) struct Class {
    /// Application bytes received.
    pub(super) bytes: u64,
    pub(super) transfers: Tally,
    pub(super) seconds: f64,
}

impl Measured for Class {
    rows! { |class|
        /// goodput of this class: application bytes in order at the client
        "goodput_bps": BitsPerSecond = ratio(class.bytes as f64 * 8.0, class.seconds);
        /// goodput of this class: application bytes in order at the client
        "bytes": Bytes = Some(class.bytes as f64);
        /// files, pages or messages requested in the measured time
        "transfers_begun": Transfers = Some(class.transfers.begun as f64);
        /// requested transfers whose last byte arrived before the end
        "transfers_done": Transfers = Some(class.transfers.done as f64);
        /// requested transfers unfinished at the end
        "transfers_unfinished": Transfers = Some((class.transfers.begun - class.transfers.done) as f64);
    }
}

/// What the user of each flow requested and received, by class.
#[derive(Debug, Default)]
pub(super) struct ByClass {
    pub(super) bytes: Vec<[u64; 3]>,
    pub(super) transfers: Vec<[Tally; 3]>,
    pub(super) seconds: f64,
}

impl ByClass {
    /// A class of traffic of some flows.
    pub(super) fn of(&self, flows: &[usize], class: TrafficClass) -> Class {
        let mut transfers = Tally::default();
        for flow in flows {
            let tally = self.transfers[*flow][class as usize];
            transfers.begun += tally.begun;
            transfers.done += tally.done;
        }
        let bytes = flows.iter().map(|flow| self.bytes[*flow][class as usize]).sum();
        Class { bytes, transfers, seconds: self.seconds }
    }
}

/// The flows of users, alone and in groups: the prefixes of their metrics, and their indices.
pub(super) fn users(config: &Config) -> Vec<(&str, Vec<usize>)> {
    let of_users = || config.flows.iter().enumerate().filter(|(_, flow)| !classes(flow).is_empty());
    let mut users: Vec<(&str, Vec<usize>)> =
        of_users().map(|(place, flow)| (flow.name.as_str(), vec![place])).collect();
    let mut groups = BTreeMap::new();
    for (place, flow) in of_users() {
        let Some(group) = flow.group.as_deref() else { continue };
        let number = *groups.entry(group).or_insert(users.len());
        if number == users.len() {
            users.push((group, Vec::new()));
        }
        users[number].1.push(place);
    }
    users
}

/// The classes of a flow's sessions.
pub(super) fn classes(flow: &FlowConfig) -> Vec<TrafficClass> {
    let AppKind::User(user) = &flow.app.kind else { return Vec::new() };
    TrafficClass::ALL.into_iter().filter(|class| user.shares[*class as usize] > 0.0).collect()
}
