//! The writes of the application of a flow, with their times, for an external program that performs them.

use lasthop_stack::units::Time;

use crate::engine::streams::Stream;
use crate::model::FlowConfig;
use crate::traffic::{Act, AppKind, Source, start_of};

/// A write of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// Bytes without end.
    ForEver,
    /// This many bytes; then it closes.
    AndClose(u64),
    /// This many bytes.
    Packet(u32),
}

/// The writes of the source of a flow, with their times: those of the simulation, from the same random streams.
#[derive(Clone, Debug)]
pub struct Writes {
    source: Source,
    next: Option<Time>,
    stop: Time,
}

impl Writes {
    /// The writes of a flow in a replication; `None` of a user, whose writes answer requests.
    #[must_use]
    pub fn of(flow: &FlowConfig, (seed, replication): (u64, u64)) -> Option<Writes> {
        if matches!(flow.app.kind, AppKind::User(_)) {
            return None;
        }
        let stream = |what: &str| Stream::named(seed, replication, &format!("flows.{}.{what}", flow.name));
        let start = start_of(&flow.app, || stream("start"));
        let source = Source::new(flow.app.kind.clone(), stream("source"));
        Some(Writes { source, next: Some(start), stop: flow.app.stop.unwrap_or(Time::NEVER) })
    }
}

impl Iterator for Writes {
    type Item = (Time, Write);

    fn next(&mut self) -> Option<(Time, Write)> {
        loop {
            let at = self.next.take().filter(|at| *at < self.stop)?;
            let write = match self.source.act(at) {
                Act::WriteForEver => Write::ForEver,
                Act::WriteAndClose(bytes) => Write::AndClose(bytes),
                Act::WritePacket(bytes, next) => {
                    self.next = (next < Time::NEVER).then_some(next);
                    Write::Packet(bytes)
                }
                Act::Wait(next) => {
                    self.next = Some(next);
                    continue;
                }
            };
            return Some((at, write));
        }
    }
}
