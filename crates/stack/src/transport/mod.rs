//! Transport: TCP with its recoveries, congestion laws and laws of acknowledgement, and UDP.

pub mod acks;
pub mod congestion;
pub mod recovery;
pub mod tcp;
pub mod udp;
