//! How large the window is: one file per law.

mod reno;

pub use reno::Reno;

use crate::hooks::{Ack, Congestion, Loss, LossResponse, Window};
use crate::registry::{CongestionKind, CongestionMachine};

impl CongestionKind {
    /// A law of this kind at the start of a connection.
    #[must_use]
    pub fn build(self) -> CongestionMachine {
        match self {
            CongestionKind::Reno => CongestionMachine::Reno(Reno),
        }
    }
}

impl Congestion for CongestionMachine {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        match self {
            CongestionMachine::Reno(law) => law.on_ack(ack, window),
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse {
        match self {
            CongestionMachine::Reno(law) => law.on_loss(loss, window),
        }
    }

    fn extension_bytes(&self) -> u8 {
        match self {
            CongestionMachine::Reno(law) => law.extension_bytes(),
        }
    }
}
