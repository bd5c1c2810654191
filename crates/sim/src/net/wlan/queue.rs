//! The management of the queue of a station.

use lasthop_stack::hooks::Admission;
use lasthop_stack::units::{Bytes, Span, Time};

use super::{Interface, Wlan};

impl Wlan {
    /// A packet of this size arrives at the queue of a station.
    #[inline]
    pub(super) fn manage(&mut self, station: usize, size: Bytes, now: Time) -> Admission {
        let Interface { held, emptied, aqm, .. } = &mut self.sites[station];
        let Some(aqm) = aqm else { return Admission::Pass };
        let idle = if *held == 0 { now.since(*emptied) } else { Span::ZERO };
        aqm.on_arrival(size, (*held, idle), now)
    }
}
