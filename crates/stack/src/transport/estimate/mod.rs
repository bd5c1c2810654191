//! Measurements that several congestion laws share.

mod backlog;

pub use backlog::Backlog;
