//! Probes: measurements, traces and captures of a run. Probes do not change results.

pub mod accounts;
pub mod airtime;
pub(crate) mod arq;
pub mod bins;
mod columns;
pub(crate) mod events;
pub(crate) mod jitter;
pub(crate) mod judgement;
pub(crate) mod occupancy;
pub mod pcap;
pub mod radiotap;
pub mod slots;
pub(crate) mod spread;
mod store;
pub mod trace;
pub mod transfers;
