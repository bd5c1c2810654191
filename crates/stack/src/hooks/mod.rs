//! The interfaces of the stack: the traits that a scheme may implement, and their plain data.
//!
//! [`Congestion`] sets the size of the window, and [`Recovery`] selects the next segment: two independent choices, both
//! of which the sender calls. An [`Agent`] sits between network and link, and an [`Arq`] orders the frames of a link.
//! An [`Interval`] spaces the retransmissions of a slotted network, and an [`Aqm`] or [`Discipline`] manages a queue. A
//! [`Reaction`] is the response of an endpoint to events of its link. Nothing here names a scheme or a link.

mod agent;
mod aqm;
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

pub use agent::{Activity, Agent, AgentOut, Answered, Criterion, Exported, Needs, Rider};
pub use aqm::{Admission, Aqm, Arrival, Backlog, Discipline, DropCause, QueueHost, Queued, Reach};
pub use arq::{Arq, ArqVerdict, Choice, Head, MOST_UNITS, Newcomer, QUEUES, Reason, Timing, Unit, Waiting};
pub use congestion::{
    Ack, Congestion, Departure, Echo, EcnEcho, Jitter, Judgement, Loss, LossBase, LossCause, LossResponse,
    Mark, Progress, Reduction, Sending, SlowStart,
};
pub use count::Count;
pub(crate) use count::counts;
pub use interval::{Interval, PacketId, SlotNo, Transmission, TransmissionOutcome};
pub use out::{Judge, Judged, Note, NoteEvent, Out, Room, Timer};
pub use outbox::{Outbox, Timers};
pub use reaction::{Acknowledge, Advertised, AtTimeout, Deeds, LinkEvent, Reaction, Standing, StopOrGo};
pub use recovery::{Declared, Fresh, Pick, Recovery, Verdict};
pub use scoreboard::Delivered;
pub use window::Window;
