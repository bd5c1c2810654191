//! All congestion laws.

use std::fmt;
use std::sync::Arc;

use super::{Entry, kinds};
use crate::hooks::parameter::{Described, Exception, Setting, Spec};
use crate::hooks::scoreboard::Scoreboard;
use crate::hooks::{
    Ack, Congestion, Count, Departure, Echo, Jitter, Loss, LossResponse, Mark, Reduction, SlowStart, Window,
};
use crate::packet::{Ecn, Form};
use crate::schemes::ejtcp::{Ejtcp, EjtcpConfig};
use crate::schemes::jersey::{Jersey, JerseyConfig};
#[allow(clippy::wildcard_imports, reason = "every law is named here; the lint skips tests")]
use crate::transport::congestion::*;
use crate::units::{Span, Time};

kinds! {
    each $;
    /// How large the congestion window is.
    CongestionKind, LawConfig, CongestionMachine;
    Reno(Reno), () = "reno" as "Reno", "RFC 5681 (3.1)", "slow start, congestion avoidance, halving";
    Vegas(Vegas), VegasConfig = "vegas" as "Vegas", "Brakmo and Peterson 1995", "keeps a few segments queued, estimated from the round-trip time; early retransmission";
    Veno(Veno), VenoConfig = "veno" as "Veno", "Fu and Liew 2003", "a loss with a short estimated queue reduces the window by a fifth only";
    Westwood(Westwood), WestwoodConfig = "westwood" as "Westwood", "Mascolo et al. 2001", "after a loss the window is the ACK rate times the minimum round-trip time";
    WestwoodPlus(WestwoodPlus), WestwoodPlusConfig = "westwood-plus" as "Westwood+", "Grieco and Mascolo 2004", "Westwood with one rate sample per round trip";
    Cubic(Cubic), CubicConfig = "cubic" as "CUBIC", "RFC 9438", "a cubic function of the time since the last loss";
    Bbr(Box<Bbr>), Bbr1Config = "bbr" as "BBR", "draft-cardwell-iccrg-bbr-congestion-control-00", "paces at the measured bottleneck rate (version 1)";
    Bbr3(Box<Bbr3>), Bbr3Config = "bbr3" as "BBRv3", "draft-ietf-ccwg-bbr-06", "paces at the measured bottleneck rate, within bounds that losses set (version 3)";
    Dctcp(Dctcp), DctcpConfig = "dctcp" as "DCTCP", "RFC 8257", "a mark reduces the window by half of the share of packets that are marked";
    Prague(Dctcp), DctcpConfig = "prague" as "Prague", "draft-briscoe-iccrg-prague-congestion-control", "DCTCP with the codepoint of L4S";
    Jtcp(Box<Jtcp>), JtcpConfig = "jtcp" as "JTCP", "Wu and Chen 2004", "a loss without growing delays counts as random and leaves the window unchanged";
    Ejtcp(Box<Ejtcp>), EjtcpConfig = "ejtcp" as "EJTCP", "Wu, Huang and Chang", "classifies losses by jitter and round-trip time; double retransmissions, burst limit, rate of an 802.16 link";
    Jersey(Box<Jersey>), JerseyConfig = "jersey" as "TCP-Jersey", "Xu, Tian and Ansari 2004", "a loss without a warning of a queue leaves the window unchanged; a warning sets it to the estimated rate times the minimum round-trip time";
    Custom(Box<dyn CustomLaw>), Custom = "custom" as "custom", "the host", "a law from another crate, called through a pointer";
}

/// What a law learns at the start of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Payload of a full segment, in bytes.
    pub segment: u32,
    /// A random number for its own decisions.
    pub draw: u32,
}

/// A law from outside this crate.
pub trait CustomLaw: Congestion + fmt::Debug + Send + Sync {
    /// A copy of its state.
    fn duplicate(&self) -> Box<dyn CustomLaw>;
}

impl<T: Congestion + fmt::Debug + Clone + Send + Sync + 'static> CustomLaw for T {
    fn duplicate(&self) -> Box<dyn CustomLaw> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn CustomLaw> {
    fn clone(&self) -> Self {
        (**self).duplicate()
    }
}

/// How a law from outside this crate is made; without one it is Reno's.
#[derive(Clone, Default)]
pub struct Custom(Option<MakeLaw>);

type MakeLaw = Arc<dyn Fn(Start) -> Box<dyn CustomLaw> + Send + Sync>;

impl Custom {
    /// A law that `make` makes at the start of each connection.
    #[must_use]
    pub fn new<T: CustomLaw + 'static>(make: impl Fn(Start) -> T + Send + Sync + 'static) -> Custom {
        Custom(Some(Arc::new(move |start| Box::new(make(start)))))
    }
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Custom")
    }
}

/// Two are equal when they are made by the same function.
impl PartialEq for Custom {
    fn eq(&self, other: &Custom) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

impl Described for Custom {
    const PARAMETERS: &'static [crate::hooks::parameter::Parameter<Custom>] = &[];
}

impl CongestionKind {
    /// Those that a scenario can name: all but a law of the host's own.
    #[must_use]
    pub fn named_in_scenarios() -> &'static [CongestionKind] {
        &CongestionKind::ALL[..CongestionKind::ALL.len() - 1]
    }

    /// The laws that classify losses.
    pub const JUDGES: &'static [CongestionKind] =
        &[CongestionKind::Veno, CongestionKind::Jtcp, CongestionKind::Ejtcp, CongestionKind::Jersey];

    /// The laws that take a loss for random unless delays grow, and then keep their window.
    pub const BY_JITTER: &'static [CongestionKind] = &[CongestionKind::Jtcp, CongestionKind::Ejtcp];

    /// The laws that may space what they send; one of the host's own may.
    pub const PACED: &'static [CongestionKind] =
        &[CongestionKind::Bbr, CongestionKind::Bbr3, CongestionKind::Prague, CongestionKind::Custom];

    /// The laws for which Linux's send buffer has room for three windows instead of two (`bbr_sndbuf_expand`).
    pub const DEEP_BUFFERED: &'static [CongestionKind] = &[CongestionKind::Bbr, CongestionKind::Bbr3];

    /// The laws that take a loss for random unless a queue has marked something.
    pub const MARKED: &'static [CongestionKind] = &[CongestionKind::Jersey];

    /// The laws that answer the share of marked packets, which only accurate ECN counts.
    pub const COUNTING: &'static [CongestionKind] = &[CongestionKind::Dctcp, CongestionKind::Prague];

    /// The laws that estimate the rate at which the path carries segments.
    pub const ESTIMATORS: &'static [CongestionKind] = &[
        CongestionKind::Westwood,
        CongestionKind::WestwoodPlus,
        CongestionKind::Bbr,
        CongestionKind::Bbr3,
        CongestionKind::Jersey,
    ];

    /// The laws whose window stops growing before a queue overflows, and that of the host's own, of which this is not known.
    const SPARING: &'static [CongestionKind] = &[
        CongestionKind::Vegas,
        CongestionKind::Bbr,
        CongestionKind::Bbr3,
        CongestionKind::Dctcp,
        CongestionKind::Prague,
        CongestionKind::Custom,
    ];

    /// Whether its window grows until a queue overflows.
    #[must_use]
    pub fn fills_queues(self) -> bool {
        !CongestionKind::SPARING.contains(&self)
    }

    /// What it needs and QUIC does not give it.
    #[must_use]
    pub const fn lacks_over_quic(self) -> Option<&'static str> {
        match self {
            CongestionKind::Jtcp | CongestionKind::Ejtcp => Some("one-way times, which QUIC does not carry"),
            CongestionKind::Jersey | CongestionKind::Dctcp | CongestionKind::Prague => {
                Some("the marks of each acknowledgement, which quinn does not pass to a controller")
            }
            _ => None,
        }
    }
}

impl LawConfig {
    /// The counters that only this law has.
    #[must_use]
    pub fn counts(&self) -> Vec<Count> {
        Congestion::counts(&self.build(Start { segment: 1, draw: 0 }))
    }

    /// A law at the start of a connection.
    #[must_use]
    pub fn build(&self, start: Start) -> CongestionMachine {
        match self {
            LawConfig::Reno(()) | LawConfig::Custom(Custom(None)) => CongestionMachine::Reno(Reno),
            LawConfig::Vegas(config) => CongestionMachine::Vegas(Vegas::new(config)),
            LawConfig::Veno(config) => CongestionMachine::Veno(Veno::new(config)),
            LawConfig::Westwood(config) => CongestionMachine::Westwood(Westwood::new(config)),
            LawConfig::WestwoodPlus(config) => CongestionMachine::WestwoodPlus(WestwoodPlus::new(config)),
            LawConfig::Cubic(config) => CongestionMachine::Cubic(Cubic::new(config)),
            LawConfig::Bbr(law) => {
                let config = BbrConfig { segment: start.segment, draw: start.draw };
                CongestionMachine::Bbr(Box::new(Bbr::new(*law, config)))
            }
            LawConfig::Bbr3(config) => {
                let connection = BbrConfig { segment: start.segment, draw: start.draw };
                CongestionMachine::Bbr3(Box::new(Bbr3::new(config, connection)))
            }
            LawConfig::Dctcp(config) => CongestionMachine::Dctcp(Dctcp::new(config, Ecn::Ect0)),
            LawConfig::Prague(config) => CongestionMachine::Prague(Dctcp::new(config, Ecn::Ect1)),
            LawConfig::Jtcp(config) => CongestionMachine::Jtcp(Box::new(Jtcp::new(config))),
            LawConfig::Ejtcp(config) => CongestionMachine::Ejtcp(Box::new(Ejtcp::new(config))),
            LawConfig::Jersey(config) => CongestionMachine::Jersey(Box::new(Jersey::new(config))),
            LawConfig::Custom(Custom(Some(make))) => CongestionMachine::Custom(make(start)),
        }
    }
}

impl Congestion for CongestionMachine {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        each!(self, law => law.on_ack(ack, window));
    }

    #[inline]
    fn growth(&self) -> Option<fn(&mut Window, u32)> {
        each!(self, law => law.growth())
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse {
        each!(self, law => law.on_loss(loss, window))
    }

    fn on_mark(&mut self, mark: &Mark, window: &mut Window) -> Reduction {
        each!(self, law => law.on_mark(mark, window))
    }

    fn codepoint(&self) -> Ecn {
        each!(self, law => law.codepoint())
    }

    fn on_answered_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse {
        each!(self, law => law.on_answered_loss(loss, window))
    }

    fn slow_start(&self, asked: SlowStart) -> SlowStart {
        each!(self, law => law.slow_start(asked))
    }

    fn on_undo(&mut self, window: &mut Window) {
        each!(self, law => law.on_undo(window));
    }

    #[inline]
    fn governs_recovery(&self) -> bool {
        each!(self, law => law.governs_recovery())
    }

    fn on_start(&mut self, now: Time, srtt: Option<Span>, window: &mut Window) {
        each!(self, law => law.on_start(now, srtt, window));
    }

    fn on_restart(&mut self, now: Time, window: &mut Window) {
        each!(self, law => law.on_restart(now, window));
    }

    fn paces(&self) -> bool {
        each!(self, law => law.paces())
    }

    fn hears_losses(&self) -> bool {
        each!(self, law => law.hears_losses())
    }

    fn on_lost(&mut self, number: u64, now: Time, window: &Window) {
        each!(self, law => law.on_lost(number, now, window));
    }

    #[inline]
    fn on_sent(&mut self, departure: &Departure) {
        each!(self, law => law.on_sent(departure));
    }

    #[inline]
    fn is_overdue(&self, ack: &Ack, board: &Scoreboard) -> bool {
        each!(self, law => law.is_overdue(ack, board))
    }

    #[inline]
    fn extension(&self) -> Option<Form> {
        each!(self, law => law.extension())
    }

    fn reads_timestamps(&self) -> bool {
        each!(self, law => law.reads_timestamps())
    }

    fn estimate(&mut self, now: Time) -> Option<f64> {
        each!(self, law => law.estimate(now))
    }

    #[inline]
    fn jitter(&self, window: &Window) -> Option<Jitter> {
        each!(self, law => law.jitter(window))
    }

    #[inline]
    fn heeds(&self, echo: &Echo, una: u64) -> bool {
        each!(self, law => law.heeds(echo, una))
    }

    fn counts(&self) -> Vec<Count> {
        each!(self, law => law.counts())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::{Delivered, Progress, testing};

    #[test]
    fn the_laws_that_estimate_a_rate_are_listed() {
        for kind in CongestionKind::named_in_scenarios() {
            let mut law = kind.config().build(Start { segment: 1000, draw: 0 });
            let mut window = Window::new(10.0, None, 100.0);
            let (mut now, rtt) = (Time::ZERO, Span::from_millis(10));
            for number in 0..100 {
                law.on_sent(&Departure {
                    now,
                    number,
                    base: number,
                    pipe: 0,
                    outstanding: 1000,
                    backlog: 1000,
                });
                now = now + rtt;
                let delivered = Delivered { bytes: 1000, segments: 1, newest: Some(number) };
                let heard = testing::ack(Progress::Open(1));
                law.on_ack(&Ack { now, rtt: Some(rtt), srtt: Some(rtt), delivered, ..heard }, &mut window);
            }
            assert_eq!(law.estimate(now).is_some(), CongestionKind::ESTIMATORS.contains(kind), "{kind:?}");
        }
    }
}
