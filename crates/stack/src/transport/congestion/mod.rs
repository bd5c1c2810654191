//! How large the window is: one file per law.

mod bbr;
mod cubic;
pub(crate) mod jtcp;
mod reno;
mod vegas;
mod veno;
mod westwood;
mod westwood_plus;

pub use bbr::{Bbr, BbrConfig};
pub use cubic::{Cubic, CubicConfig};
pub use jtcp::{Jtcp, JtcpConfig, TimeoutRule};
pub use reno::Reno;
pub(crate) use reno::grow;
pub use vegas::{Vegas, VegasConfig};
pub use veno::{Veno, VenoConfig};
pub use westwood::{Westwood, WestwoodConfig};
pub use westwood_plus::{WestwoodPlus, WestwoodPlusConfig};

use crate::hooks::{Ack, Congestion, Departure, Echo, Jitter, Loss, LossResponse, Window};
use crate::packet::Form;
use crate::registry::{CongestionKind, CongestionMachine};
use crate::schemes::ejtcp::{Ejtcp, EjtcpConfig};
use crate::transport::tcp::Config;
use crate::transport::tcp::scoreboard::Sent;
use crate::units::Time;

/// The constants of every law that has some.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Laws {
    /// CUBIC's.
    pub cubic: CubicConfig,
    /// Vegas's.
    pub vegas: VegasConfig,
    /// EJTCP's.
    pub ejtcp: EjtcpConfig,
    /// JTCP's.
    pub jtcp: JtcpConfig,
    /// Veno's.
    pub veno: VenoConfig,
    /// Westwood's.
    pub westwood: WestwoodConfig,
    /// Westwood+'s.
    pub westwood_plus: WestwoodPlusConfig,
}

impl CongestionKind {
    /// The laws that tell losses apart.
    pub const JUDGES: &'static [CongestionKind] =
        &[CongestionKind::Veno, CongestionKind::Jtcp, CongestionKind::Ejtcp];

    /// The laws that estimate the rate at which the path carries segments.
    pub const ESTIMATORS: &'static [CongestionKind] =
        &[CongestionKind::Westwood, CongestionKind::WestwoodPlus, CongestionKind::Bbr];

    /// A law of this kind at the start of a connection; `draw` is a random number for its own decisions.
    #[must_use]
    pub fn build(self, config: &Config, draw: u32) -> CongestionMachine {
        let laws = &config.laws;
        match self {
            CongestionKind::Reno => CongestionMachine::Reno(Reno),
            CongestionKind::Vegas => CongestionMachine::Vegas(Vegas::new(&laws.vegas)),
            CongestionKind::Veno => CongestionMachine::Veno(Veno::new(&laws.veno)),
            CongestionKind::Cubic => CongestionMachine::Cubic(Cubic::new(&laws.cubic)),
            CongestionKind::Westwood => CongestionMachine::Westwood(Westwood::new(&laws.westwood)),
            CongestionKind::WestwoodPlus => {
                CongestionMachine::WestwoodPlus(WestwoodPlus::new(&laws.westwood_plus))
            }
            CongestionKind::Jtcp => CongestionMachine::Jtcp(Box::new(Jtcp::new(&laws.jtcp))),
            CongestionKind::Ejtcp => CongestionMachine::Ejtcp(Box::new(Ejtcp::new(&laws.ejtcp))),
            CongestionKind::Bbr => {
                CongestionMachine::Bbr(Box::new(Bbr::new(BbrConfig { segment: config.packet, draw })))
            }
        }
    }
}

macro_rules! each {
    ($machine:expr, $law:ident => $call:expr) => {
        match $machine {
            CongestionMachine::Reno($law) => $call,
            CongestionMachine::Vegas($law) => $call,
            CongestionMachine::Veno($law) => $call,
            CongestionMachine::Cubic($law) => $call,
            CongestionMachine::Westwood($law) => $call,
            CongestionMachine::WestwoodPlus($law) => $call,
            CongestionMachine::Bbr($law) => $call,
            CongestionMachine::Jtcp($law) => $call,
            CongestionMachine::Ejtcp($law) => $call,
        }
    };
}

impl Congestion for CongestionMachine {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        each!(self, law => law.on_ack(ack, window));
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse {
        each!(self, law => law.on_loss(loss, window))
    }

    #[inline]
    fn on_sent(&mut self, departure: &Departure) {
        each!(self, law => law.on_sent(departure));
    }

    #[inline]
    fn is_overdue(&self, ack: &Ack, head: &Sent) -> bool {
        each!(self, law => law.is_overdue(ack, head))
    }

    #[inline]
    fn extension(&self) -> Option<Form> {
        each!(self, law => law.extension())
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
}

#[cfg(test)]
pub(crate) mod testing {
    //! What the tests of the laws share.

    use crate::hooks::{Ack, Delivered, Loss, LossBase, LossCause, Progress};
    use crate::units::{Span, Time};

    /// An acknowledgement that measures no round trip.
    pub(crate) fn ack(progress: Progress) -> Ack {
        Ack {
            now: Time::ZERO,
            progress,
            rtt: None,
            newest_sent: None,
            srtt: None,
            una: 0,
            sent_end: 0,
            flight: 10,
            pipe: 10,
            delivered: Delivered::default(),
            extension: None,
        }
    }

    /// An acknowledgement that measures a round trip of so many milliseconds.
    pub(crate) fn after(ms: u64, progress: Progress) -> Ack {
        Ack { rtt: Some(Span::from_millis(ms)), ..ack(progress) }
    }

    /// A loss with so many segments outstanding.
    pub(crate) fn loss(cause: LossCause, flight: u32) -> Loss {
        Loss {
            now: Time::ZERO,
            cause,
            una: 0,
            base: LossBase::Flight(flight),
            pipe: flight,
            sent: 1000,
            sent_end: 0,
            sent_at: Time::ZERO,
            times: 1,
            srtt: None,
        }
    }
}
