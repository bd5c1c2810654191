//! Congestion laws: one file per law.

mod bbr;
mod bbr3;
mod cubic;
mod dctcp;
pub(crate) mod jtcp;
mod reno;
mod vegas;
mod veno;
mod westwood;
mod westwood_plus;

pub use bbr::{Bbr, Bbr1Config, BbrConfig};
pub use bbr3::{Bbr3, Bbr3Config};
pub use cubic::{Cubic, CubicConfig};
pub use dctcp::{Dctcp, DctcpConfig};
pub use jtcp::{Jtcp, JtcpConfig, TimeoutRule};
pub use reno::Reno;
pub(crate) use reno::grow;
pub use vegas::{Vegas, VegasConfig};
pub use veno::{Veno, VenoConfig};
pub use westwood::{Westwood, WestwoodConfig};
pub use westwood_plus::{WestwoodPlus, WestwoodPlusConfig};
