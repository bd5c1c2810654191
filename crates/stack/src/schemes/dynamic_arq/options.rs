//! The readings of the slides, and the controls: orders that know nothing of TCP.

/// What "RTO" stands for in a weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// The time left until the timer fires.
    #[default]
    Left,
    /// The timeout the timer was set to.
    Rto,
    /// Nothing, a control: each queue is in the order in which units came to it, and none is urgent.
    None,
}

/// Which queues there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Queues {
    /// Q1 to Q3.
    #[default]
    Three,
    /// One, a control: a unit that failed goes to its end.
    One,
    /// One for each flow, a control: the flows are served in turn, and a unit that failed stays the first of its own.
    Flows,
}

/// Which queue is served when nothing is urgent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priority {
    /// The first that is not empty.
    #[default]
    Strict,
    /// One unit of Q1, one of Q2, one of Q3, and again.
    Pass,
}

/// Which units are looked at for urgency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Check {
    /// The first of each queue.
    #[default]
    Heads,
    /// All.
    All,
}

/// What becomes of a head whose acknowledgement cannot come back before the timer fires: half a round trip is not left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hopeless {
    /// It is served like any other.
    #[default]
    Send,
    /// It is served when nothing else is left.
    Demote,
    /// It is given up, and its packet with it.
    Drop,
}

/// Whether a packet's deadline moves when its flow's timer restarts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deadline {
    /// It is that of the flow's one timer (RFC 6298, 5).
    #[default]
    OfFlow,
    /// It is the packet's own: the timeout after it was sent.
    OfPacket,
}

/// Where first transmissions stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// In Q1, with what failed once.
    #[default]
    Together,
    /// Before all retransmissions but urgent ones, in the order of arrival.
    NewFirst,
    /// After all retransmissions, in the order of arrival.
    RetransmissionsFirst,
}

/// When a unit is given up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Limit {
    /// When its third retransmission has failed.
    #[default]
    Count,
    /// Never by the scheme: units repeated more often stay in Q3, and the link gives up packets by their lifetime.
    Never,
}

/// The readings of the slides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Which queues there are.
    pub queues: Queues,
    /// What "RTO" stands for.
    pub clock: Clock,
    /// Which queue is served.
    pub priority: Priority,
    /// Which units are looked at for urgency.
    pub check: Check,
    /// What becomes of a hopeless one.
    pub hopeless: Hopeless,
    /// Whose deadline it is.
    pub deadline: Deadline,
    /// Where first transmissions stand.
    pub order: Order,
    /// When a unit is given up.
    pub limit: Limit,
}

impl Options {
    /// Whether the order depends on the timers of TCP senders.
    #[must_use]
    pub fn knows_timers(&self) -> bool {
        self.queues == Queues::Three && self.clock != Clock::None
    }
}
