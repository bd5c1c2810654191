//! A flow at events of its links, and the time from the end of an outage or a hand-off to the first new byte.

use lasthop_stack::hooks::LinkEvent;
use lasthop_stack::units::Time;

use super::{Flow, Host, Sockets};
use crate::metrics::Resumed;
use crate::net::Net;

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
    /// Nothing can arrive: a wait in progress is not measured.
    pub(super) fn on_silence(&mut self) {
        self.since = None;
    }

    /// Something can arrive again; `level` is the number of bytes received in order.
    pub(super) fn on_silence_ended(&mut self, level: u64, now: Time) {
        (self.since, self.level) = (Some(now), level);
    }

    /// The receiver has `level` bytes in order, and the sender this window.
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

impl Flow {
    /// The node of one side.
    pub(in crate::run) fn node(&self, side: usize) -> usize {
        self.ends[side].node.0 as usize
    }

    /// Something happens to the link at which one side sits.
    pub(in crate::run) fn on_link(&mut self, side: usize, event: LinkEvent, net: &mut Net) {
        if let Sockets::Tcp(ends) = &mut self.sockets {
            let now = net.now;
            ends[side].on_link(event, now, &mut Host { net, end: &self.ends[side] });
        }
    }

    /// Nothing crosses a link on its way from now on.
    pub(in crate::run) fn on_silence(&mut self) {
        self.resuming.iter_mut().flat_map(|both| both.iter_mut()).for_each(Resuming::on_silence);
    }

    /// Something can cross it again.
    pub(in crate::run) fn on_silence_ended(&mut self, now: Time) {
        if let (Some(resuming), Sockets::Tcp(ends)) = (&mut self.resuming, &self.sockets) {
            for (side, resuming) in resuming.iter_mut().enumerate() {
                resuming.on_silence_ended(ends[1 - side].receiver().in_order(), now);
            }
        }
    }
}
