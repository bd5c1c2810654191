//! Tests of a transport over simulated last hops.
//!
//! A [`Trial`] joins two [`Peer`]s by a [`Hop`], runs replications until a bound on a percentile of the completion time is decided
//! with the confidence asked for, and fails with the seed, a command, captures and qlogs of a replication that missed it. A run depends
//! on its seed alone: neither clock nor socket nor thread is involved.
//!
//! ```
//! # #[cfg(feature = "quinn")]
//! # fn main() -> Result<(), lasthop_testing::Failure> {
//! use lasthop_testing::quinn::{Quinn, quinn_proto::TransportConfig};
//! use lasthop_testing::{Hop, Trial};
//! use std::time::Duration;
//!
//! let report = Trial::over(Hop::named("hotel"))
//!     .client(|seed| Quinn::client(seed, TransportConfig::default()))
//!     .server(|seed| Quinn::server(seed, TransportConfig::default()).writes(100_000))
//!     .downloads(100_000)
//!     .completes_within(Duration::from_secs(4))
//!     .percentile(90.0)
//!     .confidence(0.95)
//!     .check()?;
//! println!("{report}");
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "quinn"))]
//! # fn main() {}
//! ```
//!
//! A transport of your own is a [`Peer`], four methods without input and output; one in C is [`lasthop_peer::c::CPeer`]. Debug
//! builds simulate slowly: put `[profile.dev.package."*"]` with `opt-level = 3` into your `Cargo.toml`.

mod hop;
mod replication;
mod report;
mod sequential;
mod trial;

pub use hop::Hop;
pub use lasthop_peer::{self, Peer};
/// Peers of `quinn-proto`.
#[cfg(feature = "quinn")]
pub use lasthop_sim::quic as quinn;
pub use report::{Failure, Miss, Report};
pub use trial::Trial;
