//! Links: the layer between packets and the medium.

pub mod dot11;
pub mod dot16;
pub mod fec;
pub mod managed;
pub mod policer;
pub mod queue;
pub mod recorded;
pub mod slotted;
pub mod transmitter;
pub mod wired;
