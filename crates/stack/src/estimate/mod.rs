//! Measurements that congestion laws, the retransmission timer and agents share.

mod aggregation;
mod backlog;
mod bandwidth;
mod delivery_rate;
mod jitter;
mod queue_mean;
mod sliding_window;
mod smoothed;
mod ticks;
mod windowed_max;

pub use aggregation::Aggregation;
pub use backlog::Backlog;
pub use bandwidth::{LowPass, PerAck, PerRoundTrip};
pub use delivery_rate::{DeliveryRate, RateSample, Sending};
pub use jitter::{Attribution, JitterRatio, Reach};
pub use queue_mean::QueueMean;
pub use sliding_window::SlidingWindow;
pub use smoothed::Smoothed;
pub use ticks::Ticks;
pub use windowed_max::WindowedMax;
