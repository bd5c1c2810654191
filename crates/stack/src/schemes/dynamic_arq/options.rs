//! The interpretations of the slides, and the controls: orders that ignore TCP.

/// The meaning of "RTO" in a weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// The time left until the timer fires.
    #[default]
    Left,
    /// The timeout to which the timer was set.
    Rto,
    /// Nothing, a control: each queue is in the order in which units came to it, and no unit is urgent.
    None,
}

/// The queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Queues {
    /// Q1 to Q3.
    #[default]
    Three,
    /// One, a control: a failed unit goes to its end.
    One,
    /// One per flow, a control: flows are served in turn, and a failed unit stays the first of its flow.
    Flows,
}

/// The queue that is served when no unit is urgent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priority {
    /// The first that is not empty.
    #[default]
    Strict,
    /// One unit of Q1, one of Q2, one of Q3, and so on.
    Pass,
}

/// The units that are checked for urgency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Check {
    /// The first of each queue.
    #[default]
    Heads,
    /// All.
    All,
}

/// Treatment of a head whose acknowledgement cannot arrive before the timer fires: less than half a round trip is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hopeless {
    /// It is served like any other.
    #[default]
    Send,
    /// It is served when no other unit is left.
    Demote,
    /// It is discarded together with its packet.
    Drop,
}

/// Whether a packet's deadline moves when its flow's timer restarts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deadline {
    /// The deadline is that of the flow's only timer (RFC 6298, 5).
    #[default]
    OfFlow,
    /// The deadline is the packet's own: one timeout after it was sent.
    OfPacket,
}

/// The position of first transmissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// In Q1, together with units that failed once.
    #[default]
    Together,
    /// Before all retransmissions except urgent ones, in order of arrival.
    NewFirst,
    /// After all retransmissions, in order of arrival.
    RetransmissionsFirst,
}

/// When a unit is discarded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Limit {
    /// After its third retransmission has failed.
    #[default]
    Count,
    /// Never by the scheme: units repeated more often stay in Q3, and the link discards packets at the end of their
    /// lifetime.
    Never,
}

/// The interpretation of the slides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The queues.
    pub queues: Queues,
    /// The meaning of "RTO".
    pub clock: Clock,
    /// The queue that is served.
    pub priority: Priority,
    /// The units that are checked for urgency.
    pub check: Check,
    /// Treatment of a hopeless head.
    pub hopeless: Hopeless,
    /// The deadline of a packet.
    pub deadline: Deadline,
    /// The position of first transmissions.
    pub order: Order,
    /// When a unit is discarded.
    pub limit: Limit,
}

impl Options {
    /// Whether the order depends on the timers of TCP senders.
    #[must_use]
    pub fn knows_timers(&self) -> bool {
        self.queues == Queues::Three && self.clock != Clock::None
    }
}
