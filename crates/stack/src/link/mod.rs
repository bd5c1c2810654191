//! Links: what a node puts between a packet and the medium.

pub mod dot11;
pub mod dot16;
pub mod fec;
pub mod queue;
pub mod slotted;
pub mod wired;
