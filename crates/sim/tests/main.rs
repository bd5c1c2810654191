//! The simulator from outside. One program, since each is linked by itself; what counts the memory of its whole process
//! has programs of its own (`allocations.rs`, `limits.rs`).

mod accounts;
mod acks;
mod agents;
mod arq;
mod bbr3;
mod common;
mod descendants;
mod dot16;
mod duplex;
mod estimates;
mod events;
mod frn;
mod judges;
mod l4s;
mod latency;
mod laws;
mod link_events;
mod marking;
mod pacing;
mod paths;
mod pcf;
mod proxy_tcp;
mod queues;
mod rate_control;
mod recorded;
mod relays;
mod safe_mode;
mod sessions;
mod split;
mod stations;
mod tcp;
mod timeouts;
mod warmup;
mod wifi;
mod wifi_today;
