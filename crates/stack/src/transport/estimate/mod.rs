//! Measurements that several congestion laws share.

mod backlog;
mod bandwidth;
mod delivery_rate;
mod jitter;

pub use backlog::Backlog;
pub use bandwidth::{LowPass, PerAck, PerRoundTrip};
pub use delivery_rate::{DeliveryRate, RateSample};
pub use jitter::{Attribution, JitterRatio, Reach};
