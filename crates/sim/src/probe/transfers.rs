//! The transfers of a run: what each user asked for, when, and when it was there.
//!
//! One record a transfer, whether it was done or not: one that is not done when the run ends is known to take longer than
//! it has taken by then (it is censored), which a table of response times has to heed.

use std::collections::BTreeMap;

use lasthop_stack::units::Time;

use crate::model::{Config, FlowConfig};
use crate::traffic::AppKind;
use crate::traffic::sessions::Class;

/// A file, a web page with all its objects, or a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The place of its flow.
    pub flow: u32,
    /// What it is.
    pub class: Class,
    /// When it was asked for: the first of a connection when that was opened.
    pub begun: Time,
    /// When its last byte had arrived, if it has.
    pub ended: Option<Time>,
    /// Bytes asked for.
    pub bytes: u64,
}

/// How many records there is room for at the start; the room doubles when it is used up.
const ROOM: usize = 4096;

/// Memory for the records of a run in which flows have users.
pub(crate) fn room(users: bool) -> Vec<Transfer> {
    Vec::with_capacity(if users { ROOM } else { 0 })
}

/// What became of the transfers of one class of a flow that were begun in the measured time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) begun: u64,
    pub(crate) done: u64,
}

impl Tally {
    /// Those of each flow and class.
    pub(crate) fn all(transfers: &[Transfer], flows: usize, from: Time) -> Vec<[Tally; 3]> {
        let mut tallies = vec![[Tally::default(); 3]; flows];
        for transfer in transfers.iter().filter(|transfer| transfer.begun >= from) {
            let tally = &mut tallies[transfer.flow as usize][transfer.class as usize];
            tally.begun += 1;
            tally.done += u64::from(transfer.ended.is_some());
        }
        tallies
    }
}

/// The flows whose metrics are told by class, alone and in groups: what they are called by, and their places.
fn users(config: &Config) -> Vec<(&str, Vec<usize>)> {
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
fn classes(flow: &FlowConfig) -> Vec<Class> {
    let AppKind::User(user) = &flow.app.kind else { return Vec::new() };
    Class::ALL.into_iter().filter(|class| user.shares[*class as usize] > 0.0).collect()
}

/// What the metrics of each class are called by.
pub(crate) fn prefixes(config: &Config) -> Vec<String> {
    let of = |(name, places): (&str, Vec<usize>)| {
        let classes = classes(&config.flows[places[0]]);
        classes.into_iter().map(|class| format!("flows.{name}.class.{}.", class.name())).collect::<Vec<_>>()
    };
    users(config).into_iter().flat_map(of).collect()
}

/// The metrics of each class, in the order of [`prefixes`]; `bytes` came for each flow in the measured time, which began
/// at `from`.
pub(crate) fn values(
    config: &Config,
    bytes: &[[u64; 3]],
    transfers: &[Transfer],
    from: Time,
    seconds: f64,
) -> Vec<Option<f64>> {
    let tallies = Tally::all(transfers, config.flows.len(), from);
    let mut values = Vec::new();
    for (_, places) in users(config) {
        for class in classes(&config.flows[places[0]]) {
            let sum = |of: &dyn Fn(usize) -> u64| places.iter().map(|place| of(*place)).sum::<u64>() as f64;
            let came = sum(&|place| bytes[place][class as usize]);
            let begun = sum(&|place| tallies[place][class as usize].begun);
            let done = sum(&|place| tallies[place][class as usize].done);
            let goodput = (seconds > 0.0).then(|| came * 8.0 / seconds);
            values.extend([goodput, Some(came), Some(begun), Some(done), Some(begun - done)]);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_begun_before_the_measurement_are_not_counted() {
        let transfer = |flow, class, begun, ended: Option<u64>| Transfer {
            flow,
            class,
            begun: Time(begun),
            ended: ended.map(Time),
            bytes: 1,
        };
        let transfers = [
            transfer(0, Class::Ftp, 4, Some(7)),
            transfer(1, Class::Web, 5, Some(7)),
            transfer(1, Class::Web, 6, None),
            transfer(1, Class::Mail, 7, None),
        ];
        let found = Tally::all(&transfers, 2, Time(5));
        let none = Tally::default();
        assert_eq!(found, [[none; 3], [none, Tally { begun: 2, done: 1 }, Tally { begun: 1, done: 0 }]]);
    }
}
