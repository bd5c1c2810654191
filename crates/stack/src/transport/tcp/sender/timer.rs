//! The retransmission timer, and the round trips that it follows.

use super::{Sender, Stopped};
use crate::hooks::{Out, Timer};
use crate::transport::tcp::Parts;
use crate::units::{Span, Time};

impl<P: Parts> Sender<P> {
    /// Whether both ends use timestamps; without them the sender times one segment at a time.
    pub fn set_timestamps(&mut self, agreed: bool) {
        self.timestamps = agreed;
    }

    /// Feeds the retransmission timer if this acknowledgement measures a round trip. With timestamps each advance does;
    /// otherwise one segment at a time is timed, and a retransmission spoils its sample (Karn; RFC 6298, 3). The exact
    /// round trip is that of the oldest segment acknowledged, for which an echo stands, too; where any was sent again,
    /// an echo alone measures (Linux: `tcp_ack_update_rtt`).
    #[inline]
    pub(super) fn take_sample(
        &mut self,
        ack: u64,
        echoed_rtt: Option<Span>,
        oldest_sent: Option<Time>,
        newest_sent: Option<Time>,
        now: Time,
        out: &mut impl Out,
    ) {
        let (estimated, whole, exact) = if self.timestamps {
            let Some(echoed) = echoed_rtt else { return };
            let since = |sent: Option<Time>| sent.map_or(echoed, |sent| now.since(sent));
            (echoed, since(oldest_sent), since(newest_sent))
        } else {
            let Some((_, sent)) = self.timed.filter(|(end, _)| ack >= *end) else { return };
            self.timed = None;
            (self.rtt.read_clock(sent, now), now.since(sent), now.since(sent))
        };
        self.rtt.sample_read(estimated, whole);
        self.asking.measure(exact);
        self.counters.rtt_samples += 1;
        self.counters.rtt_sum += exact;
        self.counters.rtt_max = self.counters.rtt_max.max(exact);
        out.measured(exact, self.rtt.srtt().unwrap_or_default(), self.rtt.rto());
    }

    /// A partial acknowledgement of what is timed, in ns-2: it ends the back-off behind the timer that it has set, and gives no
    /// sample.
    pub(super) fn skip_sample(&mut self, ack: u64) {
        if self.timed.is_some_and(|(end, _)| ack >= end) {
            self.timed = None;
            self.rtt.set_backoff(0);
        }
    }

    pub(super) fn arm(&mut self, now: Time, out: &mut impl Out) {
        if self.stopped == Some(Stopped::WithoutTimer) {
            return;
        }
        self.armed = true;
        self.set_timer(now, now.after(self.rtt.rto()), out);
    }

    pub(super) fn disarm(&mut self, out: &mut impl Out) {
        if self.armed && !self.marks.hold_data() {
            self.armed = false;
            out.cancel(Timer::Retransmit);
        }
    }
}
