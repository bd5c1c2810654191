//! The metrics that agents of all kinds have.

use lasthop_stack::hooks::Activity;

use super::row::{Measured, Row, Scope, Unit, row};

/// The agents of one table of a scenario between two samples.
pub(super) struct Agent {
    pub(super) began: Activity,
    pub(super) ended: Activity,
    /// Bytes acknowledged that have not come to their receiver: only the simulator knows what a receiver lacks.
    pub(super) false_positives: u64,
}

impl Agent {
    fn number(&self, of: fn(&Activity) -> u64) -> Option<f64> {
        Some((of(&self.ended) - of(&self.began)) as f64)
    }
}

impl Measured for Agent {
    const SCOPE: Scope = Scope::Agent;
    const ROWS: &'static [Row<Agent>] = &[
        row("generated", Unit::Segments, "TCP acknowledgements made by the agents", |agent| {
            agent.number(|it| it.generated)
        }),
        row(
            "suppressed",
            Unit::Segments,
            "TCP acknowledgements kept from the air, or hidden from the sender",
            |agent| agent.number(|it| it.suppressed),
        ),
        row(
            "passed",
            Unit::Segments,
            "TCP acknowledgements that went on, to the link or the sender",
            |agent| agent.number(|it| it.passed),
        ),
        row(
            "repaired",
            Unit::Segments,
            "segments sent again because the receiver lacked what the link had delivered",
            |agent| agent.number(|it| it.repaired),
        ),
        row("false_negatives", Unit::Segments, "segments the link gave up that the receiver had", |agent| {
            agent.number(|it| it.false_negatives)
        }),
        row(
            "false_positives",
            Unit::Bytes,
            "bytes acknowledged to a TCP that have not come to the other, at the end",
            |agent| Some(agent.false_positives as f64),
        ),
        row(
            "unconfirmed",
            Unit::Bytes,
            "bytes an agent acknowledged and heard no acknowledgement of, at the end; none where it does not hear them",
            |agent| agent.ended.unconfirmed.map(|bytes| bytes as f64),
        ),
        row("state_max", Unit::Bytes, "most bytes of state held by each agent, summed", |agent| {
            Some(agent.ended.state_bytes_max as f64)
        }),
    ];
}
