//! Every parameter of a TCP endpoint, and the two profiles that set all of them.

mod choices;

use std::fmt::Debug;

pub use choices::{
    AckRule, Counting, Departures, Duplicates, EcnMode, FastRetransmit, FullAck, Growth, Halved,
    LossDetection, LostRetransmission, Pacing, RetransmitTimer, RtoArithmetic, RtoFloor, SackPipe, Undo,
};

use crate::hooks::SlowStart;
use crate::hooks::parameter::words;
use crate::hooks::scoreboard::SackAfterTimeout;
use crate::hooks::{Congestion, Reaction, Recovery};
use crate::packet::{Extension, Form, Options, Timestamps};
use crate::transport::acks::AckLaw;
use crate::units::{Span, Time};

/// The exchangeable parts of a sender: the law of its window, and what it resends. The registered ones
/// are [`crate::registry::Parts`]; a host may bring its own.
pub trait Parts: Clone + Debug {
    /// How large the window is.
    type Law: Congestion + Clone + Debug;
    /// What is resent and when recovery ends.
    type Recovery: Recovery + Clone + Debug;

    /// What an endpoint does at events of its link.
    type Reaction: Reaction + Clone + Debug;

    /// The law at the start of a connection; `draw` is a random number for its own decisions.
    fn law(&self, config: &Config<Self>, draw: u32) -> Self::Law;

    /// Laws that judge each loss without influence on the window.
    fn judges(&self, _config: &Config<Self>, _draw: u32) -> Vec<Self::Law> {
        Vec::new()
    }

    /// The recovery at the start of a connection.
    fn recovery(&self, config: &Config<Self>) -> Self::Recovery;

    /// The reaction at the start of a connection.
    fn reaction(&self) -> Self::Reaction;
}

/// The parameters of one TCP endpoint. Both ends of a flow use the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Config<P> {
    /// The law of the window and the recovery.
    pub parts: P,
    /// Payload bytes of a full segment (SMSS).
    pub packet: u32,
    /// Bytes a routing header adds to every packet.
    pub extra_header: u16,
    /// Most segments outstanding, whatever the congestion window says.
    pub window: u32,
    /// Congestion window at the start, in segments.
    pub initial_window: u32,
    /// Slow-start threshold at the start, in segments; `None` means the window limit.
    pub initial_ssthresh: Option<f64>,
    /// Least retransmission timeout.
    pub min_rto: Span,
    /// Greatest retransmission timeout, back-off included.
    pub max_rto: Span,
    /// Retransmission timeout before the first sample.
    pub initial_rto: Span,
    /// Granularity of the clock by which timeouts and timestamps go; zero means exact.
    pub tick: Span,
    /// Whether the smoothed round trip is exact, whatever the clock is.
    pub exact_round_trips: bool,
    /// Who decides how often the receiver acknowledges; what follows is for [`AckLaw::Delayed`], and until the ends agree.
    pub acks: AckLaw,
    /// Acknowledge every n-th full segment; 1 acknowledges each at once.
    pub ack_every: u32,
    /// Longest time an acknowledgement is held back when `ack_every` is above 1.
    pub ack_delay: Span,
    /// Timestamps option (RFC 7323).
    pub timestamps: bool,
    /// SACK option (RFC 2018).
    pub sack: bool,
    /// Limited transmit (RFC 3042).
    pub limited_transmit: bool,
    /// Nagle's algorithm (RFC 9293, 3.7.4).
    pub nagle: bool,
    /// Grow the congestion window only while it limits the sender (RFC 7661's concern).
    pub window_validation: bool,
    /// Whether a window that was reached counts as the limit for a round trip, as in Linux.
    pub remembers_use: bool,
    /// Fall back to the initial window after an idle time of one RTO (RFC 5681, 4.1).
    pub idle_restart: bool,
    /// Halve the window for each RTO of idle time instead (RFC 2861, Linux). Subtract half of the part that an
    /// application has not used in an RTO, and keep three quarters of the window as ssthresh.
    pub window_decay: bool,
    /// The least window that a mark leaves, in segments.
    pub mark_floor: u32,
    /// Window scale offered (RFC 7323, 2); `None` picks the least that covers the receive buffer.
    pub window_scale: Option<u8>,
    /// Receive buffer in bytes; `None` holds one segment more than the window limit, so that it never limits.
    pub receive_buffer: Option<u64>,
    /// Without SACK, duplicates count as deliveries in `NewReno`'s recovery, as in Linux, and do not inflate the window.
    pub newreno_counts: bool,
    /// `NewReno` restarts the retransmission timer on the first partial acknowledgement only (RFC 3782, 4, "Impatient").
    pub newreno_impatient: bool,
    /// Most new segments that one acknowledgement releases during `NewReno`'s recovery; `None` sets no limit.
    pub newreno_recovery_burst: Option<u32>,
    /// The window with which `NewReno` leaves recovery.
    pub newreno_full_ack: FullAck,
    /// What SACK's recovery considers to be in the network.
    pub sack_pipe: SackPipe,
    /// Whether proportional rate reduction paces the recovery of `sack_pipe` [`SackPipe::Scoreboard`] (RFC 9937).
    pub prr: bool,
    /// What becomes of selective acknowledgements when the timer fires.
    pub sack_after_timeout: SackAfterTimeout,
    /// What indicates to SACK's recovery that a copy was lost, too.
    pub lost_retransmission: LostRetransmission,
    /// What indicates a loss to the recovery of `sack_pipe` [`SackPipe::Scoreboard`].
    pub loss_detection: LossDetection,
    /// Whether that recovery probes the tail of a flight (RFC 8985, 7).
    pub tail_loss_probe: bool,
    /// Whether the receiver reports segments that arrive twice, by SACK (RFC 2883).
    pub dsack: bool,
    /// Whether a timeout sends new data before all of the flight again, to see whether it was spurious (RFC 5682).
    pub f_rto: bool,
    /// What shows that a recovery by [`LossDetection::Time`] was not needed, so that the window is restored.
    pub undo: Undo,
    /// What is halved when duplicates indicate a loss.
    pub loss_ssthresh: Halved,
    /// What is halved when the timer fires.
    pub timeout_ssthresh: Halved,
    /// Whether a timeout within a recovery leaves ssthresh, and marks are neither answered nor halt growth until all that was
    /// outstanding at a timeout is acknowledged.
    pub timeout_once: bool,
    /// Whether ssthresh is rounded down to whole segments.
    pub whole_ssthresh: bool,
    /// Whether the window is a whole number, which grows once all of it is acknowledged.
    pub whole_window: bool,
    /// Whether the window grows on the acknowledgement that ends a recovery.
    pub growth_at_recovery_end: bool,
    /// Whether a law gets the round trip of an echoed timestamp where an acknowledgement has none of a segment that was
    /// sent once (Linux: `tcp_ack_update_rtt`).
    pub echoed_rtt: bool,
    /// Whether a loss that leaves a whole window leaves, too, what was acknowledged towards its next increase.
    pub credit_after_random_loss: bool,
    /// Whether limited transmit sends a segment again while a go-back is under way.
    pub limited_transmit_resends: bool,
    /// How often Reno resends without the timer.
    pub reno_fast_retransmit: FastRetransmit,
    /// What ends slow start before a loss, for laws that allow it.
    pub slow_start: SlowStart,
    /// Whether CUBIC is Linux's where that departs from RFC 9438.
    pub cubic_as_linux: bool,
    /// What the least retransmission timeout bounds.
    pub rto_floor: RtoFloor,
    /// How the timeout follows from round trips.
    pub rto_arithmetic: RtoArithmetic,
    /// Segments that a receiver acknowledges at once at the start of a connection, whatever `ack_every` says.
    pub quick_acks: u32,
    /// Whether it does so again after a gap longer than its timeout (Linux: `tcp_event_data_recv`).
    pub quick_acks_again: bool,
    /// The tick of the timer of acknowledgements, which fires at the first one after its time; zero means exact.
    pub ack_tick: Span,
    /// The longest time for which acknowledgements of what arrives beyond a hole wait, from the fourth on; zero where none
    /// does. Only with SACK.
    pub sack_wait: Span,
    /// Windows for which the send buffer grows (Linux: two, of BBR three); zero where it has no limit.
    pub send_windows: u8,
    /// Memory of a segment in that buffer beyond its payload: a `sk_buff`, headers and the end of its first part.
    pub send_overhead: u32,
    /// Whether consecutive segments that were selectively acknowledged take the memory of one there.
    pub send_merging: bool,
    /// Whether the window that a receiver offers begins with 64 KiB and grows with what is read (Linux: `tcp_rcv_space_adjust`).
    pub receive_autotuning: bool,
    /// Segments for which a buffer that grows has room beyond what was read (Linux before 6.16: 16); with none, as much as
    /// waits beyond a hole.
    pub receive_cushion: u32,
    /// What an acknowledgement counts for where the window grows.
    pub counting: Counting,
    /// Which laws space their segments.
    pub pacing: Pacing,
    /// The pace of a law that sets none itself, in windows per smoothed round trip: below half of ssthresh, and from there on.
    pub pacing_factors: (f64, f64),
    /// Segments at the start of a connection that leave without a pace.
    pub unpaced_start: u32,
    /// How much of the pace may wait in the first link of the host, at least two packets; `None` sets no bound.
    pub small_queue: Option<Span>,
    /// Explicit congestion notification.
    pub ecn: EcnMode,
    /// Whether a duplicate acknowledgement with [`Flags::ELN`](crate::packet::Flags::ELN) makes the sender resend without
    /// reducing its window.
    pub eln: bool,
}

/// The paces of Linux, in windows per smoothed round trip: `tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`.
const LINUX_PACES: (f64, f64) = (2.0, 1.2);

/// The named profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// ns-2 as it was in 2004, its timers and one-way agents.
    Ns2Of2004,
    /// A current end host: Linux 6.
    Modern,
    /// What the RFCs of today say where Linux departs from them.
    Rfc,
}

words! { Profile: Modern = "modern", Rfc = "rfc", Ns2Of2004 = "ns2-2004" }

impl Profile {
    /// All parameters of this profile, for a sender of these parts.
    #[must_use]
    pub fn with<P>(self, parts: P) -> Config<P> {
        match self {
            Profile::Ns2Of2004 => ns2_of_2004(parts),
            Profile::Modern => modern(parts),
            Profile::Rfc => Config {
                min_rto: Span::from_secs(1),
                rto_floor: RtoFloor::Timeout,
                newreno_counts: false,
                window_decay: false,
                timeout_once: false,
                mark_floor: 1,
                quick_acks: 0,
                unpaced_start: 0,
                slow_start: SlowStart::HyStartPlusPlus,
                cubic_as_linux: false,
                remembers_use: false,
                whole_window: false,
                growth_at_recovery_end: false,
                counting: Counting::Segments(Some(2)),
                ..modern(parts)
            },
        }
    }
}

fn ns2_of_2004<P>(parts: P) -> Config<P> {
    Config {
        parts,
        packet: 1000,
        extra_header: 0,
        window: 20,
        initial_window: 2,
        initial_ssthresh: None,
        min_rto: Span::from_secs(1),
        max_rto: Span::from_secs(60),
        initial_rto: Span::from_secs(3),
        tick: Span::from_millis(10),
        exact_round_trips: false,
        acks: AckLaw::Delayed,
        ack_every: 1,
        ack_delay: Span::from_millis(100),
        timestamps: false,
        sack: false,
        limited_transmit: true,
        nagle: false,
        window_validation: false,
        remembers_use: false,
        idle_restart: true,
        window_decay: false,
        mark_floor: 1,
        window_scale: None,
        receive_buffer: None,
        newreno_counts: false,
        newreno_impatient: true,
        newreno_recovery_burst: Some(2),
        newreno_full_ack: FullAck::Deflated,
        sack_pipe: SackPipe::Counted,
        prr: false,
        sack_after_timeout: SackAfterTimeout::Cleared,
        lost_retransmission: LostRetransmission::Timer,
        loss_detection: LossDetection::Duplicates,
        tail_loss_probe: false,
        dsack: false,
        f_rto: false,
        undo: Undo::None,
        loss_ssthresh: Halved::Window,
        timeout_ssthresh: Halved::Window,
        timeout_once: false,
        whole_ssthresh: true,
        whole_window: false,
        growth_at_recovery_end: true,
        echoed_rtt: false,
        credit_after_random_loss: false,
        limited_transmit_resends: true,
        reno_fast_retransmit: FastRetransmit::OnceAWindow,
        slow_start: SlowStart::Standard,
        cubic_as_linux: false,
        rto_floor: RtoFloor::Timeout,
        rto_arithmetic: RtoArithmetic::Ticks,
        quick_acks: 0,
        sack_wait: Span::ZERO,
        send_windows: 0,
        send_overhead: 1280,
        send_merging: false,
        receive_autotuning: false,
        receive_cushion: 0,
        quick_acks_again: false,
        ack_tick: Span::ZERO,
        counting: Counting::Acks,
        pacing: Pacing::ByLaw,
        pacing_factors: LINUX_PACES,
        unpaced_start: 0,
        small_queue: None,
        ecn: EcnMode::Off,
        eln: false,
    }
}

fn modern<P>(parts: P) -> Config<P> {
    Config {
        parts,
        packet: 1448,
        extra_header: 0,
        window: 4096,
        initial_window: 10,
        initial_ssthresh: None,
        min_rto: Span::from_millis(200),
        max_rto: Span::from_secs(120),
        initial_rto: Span::from_secs(1),
        tick: Span::from_millis(1),
        exact_round_trips: true,
        acks: AckLaw::Delayed,
        ack_every: 2,
        ack_delay: Span::from_millis(40),
        timestamps: true,
        sack: true,
        limited_transmit: true,
        nagle: true,
        window_validation: true,
        remembers_use: true,
        idle_restart: true,
        window_decay: true,
        mark_floor: 2,
        window_scale: None,
        receive_buffer: None,
        newreno_counts: true,
        newreno_impatient: true,
        newreno_recovery_burst: None,
        newreno_full_ack: FullAck::Flight,
        sack_pipe: SackPipe::Scoreboard,
        prr: true,
        sack_after_timeout: SackAfterTimeout::Kept,
        lost_retransmission: LostRetransmission::Timer,
        loss_detection: LossDetection::Time,
        tail_loss_probe: true,
        dsack: true,
        f_rto: true,
        undo: Undo::Both,
        loss_ssthresh: Halved::Flight,
        timeout_ssthresh: Halved::Flight,
        timeout_once: true,
        whole_ssthresh: false,
        whole_window: true,
        growth_at_recovery_end: true,
        echoed_rtt: false,
        credit_after_random_loss: false,
        limited_transmit_resends: false,
        reno_fast_retransmit: FastRetransmit::EveryHole,
        slow_start: SlowStart::HyStart,
        cubic_as_linux: true,
        rto_floor: RtoFloor::Variation,
        rto_arithmetic: RtoArithmetic::Real,
        quick_acks: 16,
        sack_wait: Span::ZERO,
        send_windows: 0,
        send_overhead: 1280,
        send_merging: false,
        receive_autotuning: false,
        receive_cushion: 0,
        quick_acks_again: false,
        ack_tick: Span::ZERO,
        counting: Counting::Segments(None),
        pacing: Pacing::ByLaw,
        pacing_factors: LINUX_PACES,
        unpaced_start: 10,
        small_queue: None,
        ecn: EcnMode::Off,
        eln: false,
    }
}

/// The timestamp at this time, of a clock with this unit (RFC 7323, 3).
#[must_use]
#[inline]
pub(super) fn stamp_at(now: Time, unit: Span) -> u32 {
    (now.0 / unit.0 + 1) as u32
}

impl<P> Config<P> {
    /// The unit of timestamps: that of the clock that measures round trips, or a microsecond if that is exact.
    #[must_use]
    pub fn stamp_unit(&self) -> Span {
        self.tick.max(Span::from_micros(1))
    }

    /// The receive buffer in force, in bytes.
    #[must_use]
    pub fn receive_buffer_bytes(&self) -> u64 {
        self.receive_buffer.unwrap_or_else(|| self.default_buffer_bytes())
    }

    /// The receive buffer where none is given: one segment more than the window.
    #[must_use]
    pub fn default_buffer_bytes(&self) -> u64 {
        u64::from(self.window + 1) * u64::from(self.packet)
    }

    /// How many SACK blocks fit into a header besides the timestamps and an extension of this form.
    #[must_use]
    pub fn room_for_blocks(&self, extension: Option<Form>) -> usize {
        let timestamps = self.timestamps.then(Timestamps::default);
        let extension = extension.map(|form| Extension { form, ..Extension::default() });
        Options { timestamps, extension, ..Options::default() }.room_for_blocks()
    }

    /// The window scale in force: the least shift by which 16 bits cover the receive buffer, at most 14.
    #[must_use]
    pub fn window_scale_shift(&self) -> u8 {
        self.window_scale.unwrap_or_else(|| {
            let buffer = self.receive_buffer_bytes();
            (0..14).find(|shift| u16::try_from(buffer >> shift).is_ok()).unwrap_or(14)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::tcp::Config;

    #[test]
    fn the_window_scale_is_the_least_that_covers_the_buffer() {
        let config = Config { receive_buffer: Some(65_535), ..Profile::Modern.config() };
        assert_eq!(config.window_scale_shift(), 0);
        let config = Config { receive_buffer: Some(65_536), ..config };
        assert_eq!(config.window_scale_shift(), 1);
        let config = Config { receive_buffer: Some(6_000_000), ..config };
        assert_eq!(config.window_scale_shift(), 7);
    }
}
