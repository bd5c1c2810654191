//! The protocols of lasthop, sans-IO: the same code runs in the simulator and on real packets.
//!
//! ```text
//!         app            every box has the same inputs
//!         │ ▲                up(packet, now, out)   on_timer(timer, now, out)
//!     transport          and answers only through `out`:
//!         │ ▲                out.down(packet)   out.set(timer, at)   out.cancel(timer)
//!      network           The host empties `out` and calls the next box. Boxes never call boxes.
//!         │ ▲            The simulator's host is a queue of events. For others an `Endpoint` has
//!       link                 on_packet  on_timeout  ─▶  poll_transmit  poll_timeout
//!         │ ▲
//!       bytes            wire::write(packet)   wire::parse(bytes)
//! ```
//!
//! From the top: [`transport`] holds TCP in three parts that change for different reasons: the endpoint
//! ([`transport::tcp`]), its retransmissions ([`transport::recovery`]), and the size of its window
//! ([`transport::congestion`]). They meet in [`hooks`]. A scheme of [`schemes`] may sit as an agent between network and
//! link. [`packet`] defines packets, [`wire`] converts them to and from bytes, [`units`] defines the types of their
//! numbers, and [`registry`] is the only place that names every scheme.
//!
//! Nothing here reads a clock, a file, a socket, the environment or a random number generator.
//!
//! # Two ends
//!
//! A host calls an [`Endpoint`](registry::tcp::Endpoint) when a packet arrives and when its timeout has come; after
//! each call it sends the packets that are ready. `examples/two_ends.rs` adds a rate, a queue and bytes to this:
//!
//! ```
//! use lasthop_stack::packet::NodeId;
//! use lasthop_stack::registry::{CongestionKind, Parts, RecoveryKind};
//! use lasthop_stack::registry::tcp::{Connection, Endpoint, Profile, Role};
//! use lasthop_stack::units::{SeqNo, Span, Time};
//!
//! let config = Profile::Modern.with(Parts::new(RecoveryKind::Sack, CongestionKind::Cubic.config()));
//! let (client, server) = ((NodeId(0), 5_000), (NodeId(1), 80));
//! let opens = Connection::new(&config, Role::Active, client, server, SeqNo(1));
//! let answers = Connection::new(&config, Role::Passive, server, client, SeqNo(2));
//! let mut ends = [Endpoint::new(opens), Endpoint::new(answers)];
//! let mut now = Time::ZERO;
//! ends[0].act(|tcp, out| {
//!     tcp.open(now, out);
//!     tcp.write(200_000, now, out);
//!     tcp.close(now, out);
//! });
//! let mut sent = 0;
//! while !ends.iter().all(|end| end.connection().is_done()) {
//!     for from in [0, 1] {
//!         let packets: Vec<_> = std::iter::from_fn(|| ends[from].poll_transmit()).collect();
//!         now = now + Span::from_millis(10);
//!         for packet in packets {
//!             sent += 1;
//!             // The wire loses each twentieth.
//!             if sent % 20 != 0 {
//!                 ends[1 - from].on_packet(&packet, now);
//!             }
//!         }
//!     }
//!     ends.iter_mut().for_each(|end| end.on_timeout(now));
//! }
//! assert_eq!(ends[1].connection().receiver().in_order(), 200_000);
//! assert!(ends[0].act(|tcp, _| tcp.counters(now)).retransmits >= 5);
//! ```

pub mod estimate;
pub mod hooks;
pub mod link;
pub mod packet;
pub mod ranges;
pub mod registry;
pub mod schemes;
pub mod signal;
mod state_bytes;
pub mod transport;
pub mod units;
pub mod wire;
