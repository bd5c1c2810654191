//! Transport: TCP with its recoveries and congestion laws, and UDP.

pub mod congestion;
pub mod recovery;
pub mod tcp;
pub mod udp;
