//! TCP endpoints, sans-IO (RFC 9293).
//!
//! [`Connection`] is the box: segments and timers in, segments and timers out. Inside it a [`sender`] works on the
//! [`scoreboard`] of what is outstanding, with [`rtt`] for the timer, and a [`receiver`] reassembles and acknowledges.
//! An [`Endpoint`] is a connection with its timers in one, for hosts outside the simulator.
//! Both directions of a connection may carry data.

mod config;
mod connection;
mod endpoint;
pub mod ranges;
pub mod receiver;
pub mod rtt;
pub mod scoreboard;
pub mod sender;

pub use config::{
    Config, FastRetransmit, FullAck, Halved, LostRetransmission, Profile, SackAfterTimeout, SackPipe,
};
pub use connection::{Connection, Role, State};
pub use endpoint::Endpoint;
