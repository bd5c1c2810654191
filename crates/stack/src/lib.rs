//! The protocols of lasthop, sans-IO: the same code runs in the simulator and on real packets.
//!
//! ```text
//!         app            every box has the same inputs
//!         │ ▲                up(packet, now, out)   on_timer(timer, now, out)
//!     transport          and answers only through `out`:
//!         │ ▲                out.down(packet)   out.set(timer, at)   out.cancel(timer)
//!      network           The host (the simulator) empties `out` and calls the next box.
//!         │ ▲            Boxes never call boxes.
//!       link
//! ```
//!
//! From the top: [`transport`] holds TCP in three parts that change for different reasons: the endpoint
//! ([`transport::tcp`]), what it resends ([`transport::recovery`]), and how large its window is
//! ([`transport::congestion`]). They meet in [`hooks`]. A scheme of [`schemes`] may sit as an agent between network and
//! link. [`packet`] is what travels, [`units`] the types of its numbers, and [`registry`] the one place that names
//! every scheme.
//!
//! Nothing here reads a clock, a file, a socket, the environment or a generator of random numbers.

pub mod hooks;
pub mod link;
pub mod packet;
pub mod registry;
pub mod schemes;
pub mod signal;
pub mod transport;
pub mod units;
pub mod wire;
