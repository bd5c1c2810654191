//! Standard managements of queues, one per file. RED decides at arrivals; the others keep the waiting packets themselves.

pub mod codel;
pub mod drop_head;
pub mod dualpi2;
pub mod fq_codel;
pub mod mac80211;
pub mod pie;
pub mod red;
mod waiting;

pub use codel::Codel;
pub use drop_head::DropHead;
pub use dualpi2::DualPi2;
pub use fq_codel::FqCodel;
pub use mac80211::Mac80211;
pub use pie::Pie;
pub use red::Red;
pub use waiting::WaitingLine;

#[cfg(test)]
mod testing;
