//! The interfaces of the stack: the traits that a scheme may implement, and their plain data.
//!
//! [`Congestion`] says how large the window is and [`Recovery`] which segment goes next: two independent choices, which
//! the sender reports to. An [`Agent`] sits between network and link, an [`Arq`] orders the frames of a link, and an
//! [`Interval`] spaces the retransmissions of a slotted network. A [`Reaction`] says what an
//! endpoint does at events of its link. Nothing here names a scheme or a link.

mod agent;
mod arq;
mod congestion;
mod count;
mod interval;
mod out;
mod outbox;
pub mod parameter;
mod reaction;
mod recovery;
pub mod scoreboard;
#[cfg(test)]
pub(crate) mod testing;
mod window;

pub use agent::{Activity, Agent, AgentOut, Criterion, Exported, Needs, Rider};
pub use arq::{Arq, ArqVerdict, Choice, Head, MOST_UNITS, Newcomer, QUEUES, Reason, Timing, Unit, Waiting};
pub use congestion::{
    Ack, Congestion, Delivered, Departure, Echo, Jitter, Judgement, Loss, LossBase, LossCause, LossResponse,
    Progress, Reduction, Sending,
};
pub use count::Count;
pub use interval::{Interval, PacketId, SlotNo, Transmission, TransmissionOutcome};
pub use out::{Judge, Judged, Note, NoteEvent, Out, Timer};
pub use outbox::Outbox;
pub use reaction::{Acknowledge, Advertised, AtTimeout, Deeds, LinkEvent, Reaction, Standing, StopOrGo};
pub use recovery::{Fresh, Pick, Recovery, Verdict};
pub use window::Window;
