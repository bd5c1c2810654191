//! The state shared by stations that hold the segments of a flow until a mobile acknowledges them, and repair losses
//! themselves. It is the segments and the interpretation of acknowledgements, the local round trip, and the flows with
//! their deadlines.

mod duplicates;
mod flows;
mod round_trip;
#[cfg(test)]
pub(super) mod script;
mod segments;

pub(super) use duplicates::{Duplicates, Tells};
pub(super) use flows::{Flows, Kept};
pub(super) use round_trip::RoundTrip;
pub(super) use segments::{Heard, Held, Segments, Taken};
