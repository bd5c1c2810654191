//! Probes: what a run measures, traces and captures. None of them changes what happens.

pub mod metrics;
pub mod pcap;
pub mod trace;
