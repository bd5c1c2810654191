//! The metrics of outages, of hand-offs, and of flows after them.

use lasthop_stack::units::Span;

use super::row::{Measured, ratio, rows};

/// The counts of a link that is ever down.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OutageSample {
    pub(crate) count: u64,
    pub(crate) down: Span,
    pub(crate) false_warnings: u64,
}

/// The counts of a node that is handed off.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HandoffSample {
    pub(crate) count: u64,
    pub(crate) gap: Span,
    pub(crate) state: u64,
    pub(crate) late: u64,
}

/// The times after outages at which a flow brought something new, since the measurement began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Resumed {
    count: u64,
    sum: Span,
    longest: Span,
    windows: f64,
}

impl Resumed {
    pub(crate) fn add(&mut self, wait: Span, window: f64) {
        self.count += 1;
        self.sum += wait;
        self.longest = self.longest.max(wait);
        self.windows += window;
    }
}

/// A link between two samples.
pub(super) struct Outages {
    pub(super) began: OutageSample,
    pub(super) ended: OutageSample,
    /// What it lost.
    pub(super) lost: u64,
}

impl Measured for Outages {
    rows! { |link|
        /// outages of the link that began
        "count": Counted("events") = Some((link.ended.count - link.began.count) as f64);
        /// time for which the link was down
        "down_s": Seconds = Some((link.ended.down - link.began.down).as_secs());
        /// packets of a wire, or frames of a medium with each attempt, lost by outages and because a node was at
        /// another link
        "lost": Counted("packets or frames") = Some(link.lost as f64);
        /// warnings that no outage followed, by the keys of false ones
        "false_warnings": Counted("warnings") = Some((link.ended.false_warnings - link.began.false_warnings) as f64);
    }
}

/// A node between two samples.
pub(super) struct Handoff {
    pub(super) began: HandoffSample,
    pub(super) ended: HandoffSample,
}

impl Measured for Handoff {
    rows! { |node|
        /// hand-offs that began
        "count": Counted("events") = Some((node.ended.count - node.began.count) as f64);
        /// time in hand-offs, in which the node is at neither link
        "gap_s": Seconds = Some((node.ended.gap - node.began.gap).as_secs());
        /// state of agents that moved to another station
        "state": Bytes = Some((node.ended.state - node.began.state) as f64);
        /// packets lost at a station that a node had left, of all nodes
        "late": Packets = Some((node.ended.late - node.began.late) as f64);
    }
}

/// A flow after outages and hand-offs on its way.
pub(super) struct Resumption(pub(super) Resumed);

impl Measured for Resumption {
    rows! { |flow|
        /// outages and hand-offs on the way of the flow after which new data arrived, before the next
        "resumed": Counted("events") = Some(flow.0.count as f64);
        /// mean time from the end of an outage or hand-off to the first new byte in order at the receiver
        "resume_mean_s": Seconds = ratio(flow.0.sum.as_secs(), flow.0.count as f64);
        /// the longest of these times
        "resume_max_s": Seconds = (flow.0.count > 0).then(|| flow.0.longest.as_secs());
        /// mean congestion window when that byte arrived
        "resume_window_mean_segments": Segments = ratio(flow.0.windows, flow.0.count as f64);
    }
}
