//! Links: what a node puts between a packet and the medium.

pub mod queue;
pub mod wired;
