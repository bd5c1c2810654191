//! Measurements that several congestion laws share.

mod backlog;
mod delivery_rate;

pub use backlog::Backlog;
pub use delivery_rate::{DeliveryRate, RateSample};
