//! Dynamic ARQ that is aware of TCP: which frame a link repeats first, by how soon the sender's timer fires.
//!
//! **Source.** Mahmoodi, Friderikos, Holland and Aghvami, "Cross-Layer Design to Improve Wireless TCP Performance with
//! Link-Layer Adaptation", VTC 2007 Fall, as slides tell of it.

pub mod estimate;
pub mod timing;

pub use estimate::Estimator;
pub use timing::{FlowKey, Timing};
