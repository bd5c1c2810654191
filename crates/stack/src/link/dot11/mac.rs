//! What a host asks of a station, whichever MAC it has.

use std::sync::Arc;

use super::MacOut;
use super::bystander::Bystander;
use super::dcf::Dcf;
use super::edca::{Edca, Load, Mpdu};
use super::frame::{Frame, Msdu};
use super::planned::{Plan, Tries};
use super::shared::{Counters, Doing, Exchange, Role};
use super::timing::Rules;
use crate::hooks::{Arq, Count, Rider, Timing};
use crate::packet::NodeId;
use crate::units::Time;

/// A station of an 802.11 link: its interface on the medium, with DCF or EDCA.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one for each station, and DCF without an indirection")]
pub enum Station<A> {
    /// With DCF: all standards before 802.11n.
    Dcf(Dcf<A>),
    /// With EDCA and block acknowledgement: 802.11n and later.
    Edca(Box<Edca<A>>),
}

impl<A: Arq + Clone> Station<A> {
    /// An idle station on a medium that was always idle, with the MAC of its rules.
    #[must_use]
    pub fn new(rules: Arc<Rules>, address: NodeId, role: Role) -> Station<A> {
        match rules.config.edca {
            Some(_) => Station::Edca(Box::new(Edca::new(rules, address, role))),
            None => Station::Dcf(Dcf::new(rules, address, role)),
        }
    }

    /// The MAC, if it is EDCA.
    #[must_use]
    pub fn edca(&self) -> Option<&Edca<A>> {
        if let Station::Edca(mac) = self { Some(mac) } else { None }
    }
}

/// Makes from one list what a host asks of a MAC: the trait [`Mac`], and the methods of [`Station`], which are those of its
/// MAC.
macro_rules! asked {
    (each { $($(#[$about:meta])*
        fn $own:ident($this:ident: $receiver:ty $(, $name:ident: $type:ty)*) $(-> $result:ty)?;)+ }
     both { $($(#[$note:meta])*
        fn $same:ident($it:ident: $holder:ty $(, $argument:ident: $kind:ty)*) $(-> $value:ty)? { $($body:tt)* })+ }
    ) => {
        /// A MAC as its host sees it: what DCF and EDCA do each in its way, and what is the same in both.
        pub(super) trait Mac<A>: Exchange {
            $($(#[$about])* fn $own($this: $receiver $(, $name: $type)*) $(-> $result)?;)+
            $($(#[$note])* fn $same($it: $holder $(, $argument: $kind)*) $(-> $value)? { $($body)* })+
        }

        impl<A: Arq + Clone> Station<A> {
            $(asked!(@ $(#[$about])* $own($this: $receiver $(, $name: $type)*) $(-> $result)?);)+
            $(asked!(@ $(#[$note])* $same($it: $holder $(, $argument: $kind)*) $(-> $value)?);)+
        }
    };

    (@ $(#[$about:meta])* $method:ident($this:ident: $receiver:ty $(, $name:ident: $type:ty)*) $(-> $result:ty)?) => {
        $(#[$about])*
        #[inline]
        pub fn $method($this: $receiver $(, $name: $type)*) $(-> $result)? {
            match $this {
                Station::Dcf(mac) => mac.$method($($name),*),
                Station::Edca(mac) => mac.$method($($name),*),
            }
        }
    };
}

asked! {
    each {
        /// Accepts a packet to send, at the end of the queue or ahead of those that wait. Returns false if the queue is full: the
        /// packet remains the caller's. Where a scheme chooses among frames, it chooses among those of this packet too.
        fn enqueue(self: &mut Self, msdu: Msdu, is_ahead: bool, now: Time, out: &mut impl MacOut) -> bool;

        /// Accepts a frame with its plan, which with EDCA an agreement covers or not. Returns false if the queue is full.
        fn enqueue_planned(self: &mut Self, msdu: Msdu, plan: (Plan, bool), now: Time, out: &mut impl MacOut) -> bool;

        /// Removes the packets that wait for a neighbour. Those in service remain; with EDCA they are discarded if their exchange
        /// fails.
        fn flush(self: &mut Self, to: NodeId, out: &mut impl MacOut);

        /// The physical carrier turned busy.
        fn on_busy(self: &mut Self, now: Time, out: &mut impl MacOut);

        /// A frame was received without error, for this station or overheard, with its load: of an A-MPDU at least one MPDU.
        fn on_frame(self: &mut Self, frame: &Frame, load: &Load, now: Time, out: &mut impl MacOut);

        /// A frame was received, and `turns_idle` says whether the medium turned idle. Returns false, and does nothing, if that may
        /// concern it: the frame is for it, or it does more than follow carrier and reservation.
        fn stands_by(self: &mut Self, frame: &Frame, turns_idle: bool, now: Time) -> bool;

        /// A reception ended in error.
        fn on_error(self: &mut Self, now: Time, out: &mut impl MacOut);

        /// A frame that ends at `end` is not followed: it is too weak to spoil the one being received, or began while the station
        /// sent.
        fn on_missed(self: &mut Self, end: Time);

        /// The station's own frame has ended.
        fn on_sent(self: &mut Self, now: Time, out: &mut impl MacOut);

        /// The timer fired.
        fn on_timer(self: &mut Self, now: Time, out: &mut impl MacOut);

        /// The medium has lost the packet of the frame being sent for good, or those of some of its MPDUs: they are discarded after
        /// this attempt.
        fn on_lost_for_good(self: &mut Self, sent: (&Frame, &[Mpdu]));

        /// Lets a scheme select what is sent. To be called before the first packet.
        fn adopt(self: &mut Self, scheme: A);

        /// The timing of a flow's sender has become known, or has changed.
        fn on_timing(self: &mut Self, flow: u32, timing: Timing);

        /// The counters of the schemes that select frames.
        #[must_use]
        fn arq_counts(self: &Self) -> Vec<Count>;

        /// Packets it holds, those in service included.
        #[must_use]
        fn backlog(self: &Self) -> usize;

        /// Whether its queue, limited in packets, is full; with EDCA, that of any category.
        #[must_use]
        fn is_full(self: &Self) -> bool;

        /// The packet in service, of several the first, and how many attempts at it have failed.
        #[must_use]
        fn in_service(self: &Self) -> Option<(u64, u32)>;
    }

    both {
        /// How often a planned frame was sent that the station has released, once.
        fn take_tries(self: &mut Self, handle: u64) -> Option<Tries> {
            self.core_mut().plans.as_mut()?.take(handle)
        }

        /// Something is to ride in the next acknowledgement to a neighbour, instead of what waits.
        fn ride(self: &mut Self, to: NodeId, rider: Rider) {
            self.core_mut().riders.take(to, rider);
        }

        /// Something is to ride in an acknowledgement to a neighbour, behind what waits.
        fn ride_behind(self: &mut Self, to: NodeId, rider: Rider) {
            self.core_mut().riders.take_behind(to, rider);
        }

        /// Removes what waits to ride to a neighbour.
        fn unload(self: &mut Self, to: NodeId) {
            self.core_mut().riders.unload(to);
        }

        /// What it knows of the medium, if it is at rest: it neither sends nor waits, has no backoff and does not poll.
        #[must_use]
        fn at_rest(self: &Self) -> Option<Bystander> {
            self.is_at_rest().then(|| Bystander::new(&self.core().carrier))
        }

        /// Whether it is at rest and knows of the medium what a bystander does.
        #[must_use]
        fn rests_as(self: &Self, bystander: &Bystander) -> bool {
            self.is_at_rest() && self.core().carrier.is_as(bystander.access())
        }

        /// It was at rest, and takes over what a bystander knows.
        fn catch_up(self: &mut Self, bystander: &Bystander) {
            self.core_mut().carrier = bystander.access().clone();
        }

        /// The physical carrier turned idle.
        fn on_idle(self: &mut Self, now: Time, out: &mut impl MacOut) {
            self.core_mut().carrier.on_idle(now);
            match self.core().doing {
                Doing::Contend => self.resume(now, out),
                Doing::Late(answer) => self.fail(answer, now, out),
                Doing::Apart => self.on_idle_apart(now, out),
                Doing::Gap(_) | Doing::Sending(_) | Doing::Await(_) => {}
            }
        }

        /// Its address.
        #[must_use]
        fn address(self: &Self) -> NodeId {
            self.core().address
        }

        /// Its counters.
        #[must_use]
        fn counters(self: &Self) -> &Counters {
            &self.core().counters
        }
    }
}
