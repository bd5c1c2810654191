//! TCP endpoints, sans-IO (RFC 9293).
//!
//! The inputs and outputs of a [`Connection`] are segments and timers. Inside it, a [`sender`] works on the
//! [`Scoreboard`](crate::hooks::scoreboard::Scoreboard) of outstanding data, with [`rtt`] for the timer, and a
//! [`receiver`] reassembles and acknowledges. An [`Endpoint`] is a connection with its timers merged into one, for
//! hosts outside the simulator. Both directions of a connection may carry data.

mod config;
mod connection;
mod endpoint;
pub mod receiver;
pub mod rtt;
pub mod sender;

pub use crate::hooks::SlowStart;
pub use crate::hooks::scoreboard::SackAfterTimeout;
use config::stamp_at;
pub use config::{
    AckRule, Config, Counting, Departures, Duplicates, EcnMode, FastRetransmit, FullAck, Growth, Halved,
    LossDetection, LostRetransmission, Pacing, Parts, Profile, RetransmitTimer, RtoArithmetic, RtoFloor,
    SackPipe, Undo,
};
/// The count of marked packets with which both ends begin (RFC 9768, 3.2.1).
const FIRST_COUNT: u32 = 5;

pub use connection::{Connection, Role, State};
pub use endpoint::Endpoint;
