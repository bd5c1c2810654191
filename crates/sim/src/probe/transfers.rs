//! The transfers of a run: request, start and completion.
//!
//! There is one record per transfer, complete or not. One that is incomplete at the end of the run takes longer than
//! the time so far (it is censored), which a table of response times must take into account.

use lasthop_stack::units::Time;

use crate::traffic::sessions::Class;

/// A file, a web page with all its objects, or a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The place of its flow.
    pub flow: u32,
    /// Its class.
    pub class: Class,
    /// When it was requested: the first of a connection when that was opened.
    pub begun: Time,
    /// When its last byte arrived, if it has.
    pub ended: Option<Time>,
    /// Bytes requested.
    pub bytes: u64,
}

/// Initial capacity for records; it doubles when it is used up.
const ROOM: usize = 4096;

/// Memory for the records of a run in which flows have users.
pub(crate) fn room(users: bool) -> Vec<Transfer> {
    Vec::with_capacity(if users { ROOM } else { 0 })
}

/// The results of the transfers of one class of a flow that began in the measured time.
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
