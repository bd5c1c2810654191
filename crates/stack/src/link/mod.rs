//! Links: what a node puts between a packet and the medium.

pub mod dot11;
pub mod queue;
pub mod wired;
