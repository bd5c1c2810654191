//! How long after an outage or a hand-off a flow takes to bring something new.

use lasthop_stack::units::Time;

use crate::metrics::Resumed;

/// One direction of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Resuming {
    /// When the silence ended, if nothing new has come since.
    since: Option<Time>,
    /// Bytes in order at the receiver then.
    level: u64,
    pub(super) resumed: Resumed,
}

impl Resuming {
    /// Nothing arrives any more: a wait that goes on is not measured.
    pub(super) fn on_silence(&mut self) {
        self.since = None;
    }

    /// Something can arrive again; so many bytes have come in order.
    pub(super) fn on_silence_ended(&mut self, level: u64, now: Time) {
        (self.since, self.level) = (Some(now), level);
    }

    /// So many bytes have come in order, with this window at the sender.
    #[inline]
    pub(super) fn on_arrival(&mut self, level: u64, window: f64, now: Time) {
        if let Some(since) = self.since
            && level > self.level
        {
            self.since = None;
            self.resumed.add(now.since(since), window);
        }
    }

    /// The measurement begins.
    pub(super) fn begin_measurement(&mut self) {
        self.resumed = Resumed::default();
    }
}
