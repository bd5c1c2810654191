//! A metric is one row: name, unit, meaning, and the function that computes its value from the samples of its scope.
//!
//! Each scope has one type, which holds the measurements of a run in that scope, and one table of rows in the same
//! file. The names of a scenario's metrics, their values and [`METRICS`] all come from these tables.

use std::sync::LazyLock;

use lasthop_stack::hooks::Count;
use lasthop_stack::registry::{AgentKind, AqmKind, ArqKind, CongestionKind};

use super::agent::Agent;
use super::class::Class;
use super::flow::{EcnFlow, EstimatingFlow, Judge, TcpFlow, UdpFlow};
use super::frn::Frn;
use super::group::{Group, TcpGroup};
use super::link::{Aqm, DrawnLink, ImpairedLink, Link, PolicedLink, RecordedLink};
use super::outages::{Handoff, Outages, Resumption};
use super::ping::Ping;
use super::run::{Run, SeveralFlows, TcpRun};
use super::wifi::{Arq, BlockAcks, Wifi};

/// The unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bits per second.
    BitsPerSecond,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// A share, or another number without a unit.
    One,
    /// Packets.
    Packets,
    /// TCP segments.
    Segments,
    /// Frames of a link.
    Frames,
    /// Losses.
    Losses,
    /// Timeouts.
    Timeouts,
    /// Transfers of users.
    Transfers,
    /// Slots of an FRN.
    Slots,
    /// Turns at which a station chooses what it sends.
    Turns,
    /// What a scheme counts.
    Counted(&'static str),
}

impl Unit {
    /// Its symbol after a number; empty for a number without a unit.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Unit::BitsPerSecond => "bit/s",
            Unit::Seconds => "s",
            Unit::Bytes => "B",
            Unit::One => "",
            Unit::Packets => "packets",
            Unit::Segments => "segments",
            Unit::Frames => "frames",
            Unit::Losses => "losses",
            Unit::Timeouts => "timeouts",
            Unit::Transfers => "transfers",
            Unit::Slots => "slots",
            Unit::Turns => "turns",
            Unit::Counted(what) => what,
        }
    }

    /// Endings of names that state the unit.
    const fn suffix(self) -> &'static str {
        match self {
            Unit::BitsPerSecond => "_bps",
            Unit::Seconds => "_s",
            Unit::Packets => "_packets",
            Unit::Segments => "_segments",
            _ => "",
        }
    }
}

/// The scope of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A flow over TCP, or what comes back on its connection.
    TcpFlow,
    /// A flow whose congestion law estimates the rate of the path.
    EstimatingFlow,
    /// A flow over TCP with `tcp.ecn`.
    EcnFlow,
    /// A flow over UDP.
    UdpFlow,
    /// A flow that probes round trips, or the flows of a group of such, together.
    Ping,
    /// A law that classifies the losses of a flow: the one in force, or one that watches.
    Judge,
    /// What only one law counts, of a flow under it.
    Law,
    /// The flows of a group, together.
    Group,
    /// Those of a group's flows that go over TCP, together.
    TcpGroup,
    /// A class of traffic of a user, or of a group of users.
    Class,
    /// One direction of a link of two nodes.
    Link,
    /// The managed queues of one direction of a link, or of all stations of an 802.11 link.
    Aqm,
    /// What only one management of queues counts.
    AqmKind,
    /// One direction of a link with a policer.
    PolicedLink,
    /// One direction of a link that delays, reorders or duplicates packets at random.
    ImpairedLink,
    /// A link for which a round trip is drawn.
    DrawnLink,
    /// One direction of a link whose capacity over time is recorded.
    RecordedLink,
    /// An 802.11 link.
    Wifi,
    /// An 802.11 link with block acknowledgement.
    BlockAcks,
    /// The access point of an 802.11 link with `arq.kind`.
    Arq,
    /// What only one kind of ARQ counts.
    ArqKind,
    /// A slotted network.
    Frn,
    /// A link that is ever down, or from which a node is handed off.
    Outages,
    /// A node that is handed off.
    Handoff,
    /// A flow of a scenario with outages or hand-offs.
    Resumption,
    /// The agents of one table of a scenario, together.
    Agent,
    /// What only agents of one kind count.
    AgentKind,
    /// The whole run.
    Run,
    /// A run with several flows.
    SeveralFlows,
    /// The flows of a run that go over TCP, together.
    TcpRun,
}

impl Scope {
    /// Every scope, in the order of the output.
    pub const ALL: [Scope; 30] = [
        Scope::TcpFlow,
        Scope::EstimatingFlow,
        Scope::EcnFlow,
        Scope::UdpFlow,
        Scope::Ping,
        Scope::Judge,
        Scope::Law,
        Scope::Group,
        Scope::TcpGroup,
        Scope::Class,
        Scope::Link,
        Scope::Aqm,
        Scope::AqmKind,
        Scope::PolicedLink,
        Scope::ImpairedLink,
        Scope::DrawnLink,
        Scope::RecordedLink,
        Scope::Wifi,
        Scope::BlockAcks,
        Scope::Arq,
        Scope::ArqKind,
        Scope::Frn,
        Scope::Outages,
        Scope::Handoff,
        Scope::Resumption,
        Scope::Agent,
        Scope::AgentKind,
        Scope::Run,
        Scope::SeveralFlows,
        Scope::TcpRun,
    ];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Scope::TcpFlow => "tcp flow",
            Scope::EstimatingFlow => "estimating flow",
            Scope::EcnFlow => "ecn flow",
            Scope::UdpFlow => "udp flow",
            Scope::Ping => "ping",
            Scope::Judge => "judge",
            Scope::Law => "law",
            Scope::Group => "group of flows",
            Scope::TcpGroup => "group of tcp flows",
            Scope::Class => "class",
            Scope::Link => "link",
            Scope::Aqm => "managed queue",
            Scope::AqmKind => "managed queue under its law",
            Scope::PolicedLink => "link with a policer",
            Scope::ImpairedLink => "link with impairments",
            Scope::DrawnLink => "drawn link",
            Scope::RecordedLink => "recorded link",
            Scope::Wifi => "wifi",
            Scope::BlockAcks => "wifi with block acknowledgement",
            Scope::Arq => "arq",
            Scope::ArqKind => "kind of arq",
            Scope::Frn => "frn",
            Scope::Outages => "outages",
            Scope::Handoff => "hand-offs",
            Scope::Resumption => "flow with outages",
            Scope::Agent => "agent",
            Scope::AgentKind => "kind of agent",
            Scope::Run => "run",
            Scope::SeveralFlows => "several flows",
            Scope::TcpRun => "tcp run",
        }
    }

    /// The prefix of a metric's name in the results; `<…>` is a name from the scenario.
    #[must_use]
    pub const fn prefixes(self) -> &'static [&'static str] {
        match self {
            Scope::TcpFlow | Scope::EstimatingFlow | Scope::EcnFlow => &["flows.<f>.", "flows.<f>.reverse."],
            Scope::UdpFlow | Scope::Ping => &["flows.<f>."],
            Scope::Judge => &[
                "flows.<f>.judged.",
                "flows.<f>.judges.<law>.",
                "flows.<f>.reverse.judged.",
                "flows.<f>.reverse.judges.<law>.",
            ],
            Scope::Law => &["flows.<f>.<law>.", "flows.<f>.reverse.<law>."],
            Scope::Group | Scope::TcpGroup => &["flows.<g>.", "flows.<g>.reverse."],
            Scope::Class => &["flows.<f>.class.<c>."],
            Scope::Link | Scope::RecordedLink | Scope::Aqm | Scope::PolicedLink | Scope::ImpairedLink => {
                &["links.<l>.", "links.<l>.reverse."]
            }
            Scope::DrawnLink | Scope::Wifi | Scope::BlockAcks | Scope::Arq | Scope::Frn => &["links.<l>."],
            Scope::AqmKind => &["links.<l>.aqm.", "links.<l>.reverse.aqm."],
            Scope::ArqKind => &["links.<l>.arq."],
            Scope::Outages => &["links.<l>.outages."],
            Scope::Handoff => &["nodes.<n>.handoff."],
            Scope::Resumption => &["flows.<f>.outages.", "flows.<f>.reverse.outages."],
            Scope::Agent => &["agents.<a>."],
            Scope::AgentKind => &["agents.<a>.<kind>."],
            Scope::Run | Scope::SeveralFlows | Scope::TcpRun => &[""],
        }
    }

    fn metrics(self) -> Vec<MetricEntry> {
        match self {
            Scope::TcpFlow => entries::<TcpFlow>(),
            Scope::EstimatingFlow => entries::<EstimatingFlow>(),
            Scope::EcnFlow => entries::<EcnFlow>(),
            Scope::UdpFlow => entries::<UdpFlow>(),
            Scope::Ping => entries::<Ping>(),
            Scope::Judge => entries::<Judge>(),
            Scope::Law => laws(),
            Scope::Group => entries::<Group>(),
            Scope::TcpGroup => entries::<TcpGroup>(),
            Scope::Class => entries::<Class>(),
            Scope::Link => entries::<Link>(),
            Scope::Aqm => entries::<Aqm>(),
            Scope::AqmKind => aqm_kinds(),
            Scope::PolicedLink => entries::<PolicedLink>(),
            Scope::ImpairedLink => entries::<ImpairedLink>(),
            Scope::DrawnLink => entries::<DrawnLink>(),
            Scope::RecordedLink => entries::<RecordedLink>(),
            Scope::Wifi => entries::<Wifi>(),
            Scope::BlockAcks => entries::<BlockAcks>(),
            Scope::Arq => entries::<Arq>(),
            Scope::ArqKind => arq_kinds(),
            Scope::Frn => entries::<Frn>(),
            Scope::Outages => entries::<Outages>(),
            Scope::Handoff => entries::<Handoff>(),
            Scope::Resumption => entries::<Resumption>(),
            Scope::Agent => entries::<Agent>(),
            Scope::AgentKind => agent_kinds(),
            Scope::Run => entries::<Run>(),
            Scope::SeveralFlows => entries::<SeveralFlows>(),
            Scope::TcpRun => entries::<TcpRun>(),
        }
    }
}

/// What a metric is.
#[derive(Clone, Copy, Debug)]
pub struct MetricEntry {
    /// Its name without the prefix in the results.
    pub name: &'static str,
    /// Its scope.
    pub scope: Scope,
    /// Its unit.
    pub unit: Unit,
    /// Its meaning.
    pub meaning: &'static str,
}

impl MetricEntry {
    /// Its name in figures and tables: words, without the unit.
    #[must_use]
    pub fn label(&self) -> String {
        if self.name == "jain_index" {
            return "Jain's fairness index".to_string();
        }
        let last = self.name.rsplit('.').next().unwrap_or(self.name);
        last.strip_suffix(self.unit.suffix()).unwrap_or(last).replace('_', " ")
    }
}

/// Every metric, in the order of the output.
pub static METRICS: LazyLock<Vec<MetricEntry>> =
    LazyLock::new(|| Scope::ALL.into_iter().flat_map(Scope::metrics).collect());

/// The metrics that can have this name in the results of a scenario. There are several where links of different kinds, or a
/// flow and a group, have metrics of one name, which then have one unit.
pub fn named(full: &str) -> impl Iterator<Item = &'static MetricEntry> {
    METRICS.iter().filter(move |entry| {
        let before = full.strip_suffix(entry.name);
        before.is_some_and(|before| entry.scope.prefixes().iter().any(|pattern| fits(before, pattern)))
    })
}

/// Whether the prefix of a metric's name has this form.
fn fits(before: &str, pattern: &str) -> bool {
    let (mut words, mut forms) = (before.split('.'), pattern.split('.'));
    loop {
        match (words.next(), forms.next()) {
            (None, None) => return true,
            (Some(word), Some(form)) if word == form || (form.starts_with('<') && !word.is_empty()) => {}
            _ => return false,
        }
    }
}

/// A metric: what it is, and how it is read from what was measured in its scope.
pub(super) struct Row<C> {
    pub(super) name: &'static str,
    pub(super) unit: Unit,
    pub(super) meaning: &'static str,
    /// `None` where there was nothing to measure.
    pub(super) value: fn(&C) -> Option<f64>,
}

/// What was measured in a scope, from which its metrics are read.
pub(super) trait Measured: Sized + 'static {
    /// The scope.
    const SCOPE: Scope;
    /// Its metrics, in the order of the output.
    const ROWS: &'static [Row<Self>];
}

/// Declares the metrics of a [`Measured`], which the pattern names: of each its meaning, name, unit and value.
macro_rules! rows {
    (|$of:pat_param| $($(#[doc = $line:literal])+ $name:literal: $unit:ident $(($what:literal))? = $value:expr;)+) => {
        const ROWS: &'static [$crate::metrics::row::Row<Self>] = &[$(
            $crate::metrics::row::Row {
                name: $name,
                unit: $crate::metrics::row::Unit::$unit $(($what))?,
                meaning: concat!($($line),+).trim_ascii_start(),
                value: |$of| $value,
            }
        ),+];
    };
}

pub(super) use rows;

fn entries<C: Measured>() -> Vec<MetricEntry> {
    let entry =
        |row: &Row<C>| MetricEntry { name: row.name, scope: C::SCOPE, unit: row.unit, meaning: row.meaning };
    C::ROWS.iter().map(entry).collect()
}

/// The counters that only agents of each kind have.
fn agent_kinds() -> Vec<MetricEntry> {
    let own = |kind: &AgentKind| [kind.config().counts(), kind.config().levels()].concat();
    let counts = AgentKind::named_in_scenarios().iter().flat_map(own);
    counts.map(|count| of_count(Scope::AgentKind, &count)).collect()
}

/// The counters that only ARQs of each kind have.
fn arq_kinds() -> Vec<MetricEntry> {
    let counts = ArqKind::ALL.iter().flat_map(|kind| kind.config().counts());
    counts.map(|count| of_count(Scope::ArqKind, &count)).collect()
}

/// The counters that only the managements of queues of each kind have; some have one of the same name.
fn aqm_kinds() -> Vec<MetricEntry> {
    let mut found: Vec<MetricEntry> = Vec::new();
    for count in AqmKind::ALL.iter().flat_map(|kind| kind.config().counts()) {
        if found.iter().all(|entry| entry.name != count.name) {
            found.push(of_count(Scope::AqmKind, &count));
        }
    }
    found
}

/// The counters that only each law has.
fn laws() -> Vec<MetricEntry> {
    let counts = CongestionKind::named_in_scenarios().iter().flat_map(|kind| kind.config().counts());
    counts.map(|count| of_count(Scope::Law, &count)).collect()
}

fn of_count(scope: Scope, count: &Count) -> MetricEntry {
    MetricEntry { name: count.name, scope, unit: Unit::Counted(count.unit), meaning: count.meaning }
}

/// A quotient; `None` where it has no meaning.
pub(super) fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_scope_has_metrics_of_its_own_and_a_place_in_the_list() {
        for (place, scope) in Scope::ALL.into_iter().enumerate() {
            assert_eq!(scope as usize, place, "{scope:?}");
            let metrics = scope.metrics();
            assert!(!metrics.is_empty() && metrics.iter().all(|entry| entry.scope == scope), "{scope:?}");
        }
    }

    #[test]
    fn no_name_is_given_twice_where_several_scopes_meet() {
        let meeting: [&[Scope]; 7] = [
            &[Scope::TcpFlow, Scope::EstimatingFlow, Scope::EcnFlow, Scope::Judge, Scope::Class],
            &[Scope::UdpFlow],
            &[Scope::Ping],
            &[Scope::Group, Scope::TcpGroup, Scope::Class],
            &[Scope::Link, Scope::Aqm, Scope::DrawnLink, Scope::RecordedLink],
            &[Scope::Wifi, Scope::BlockAcks, Scope::Aqm, Scope::Arq, Scope::ArqKind],
            &[Scope::Run, Scope::SeveralFlows, Scope::TcpRun],
        ];
        for scopes in meeting {
            let mut seen = BTreeSet::new();
            for entry in METRICS.iter().filter(|entry| scopes.contains(&entry.scope)) {
                let name = (entry.scope.prefixes()[0].replace("<g>", "<f>"), entry.name);
                assert!(seen.insert(name.clone()), "{name:?} twice");
            }
        }
    }

    #[test]
    fn metrics_of_one_name_have_one_unit() {
        for one in METRICS.iter() {
            for other in METRICS.iter().filter(|other| other.name == one.name) {
                assert_eq!(one.unit, other.unit, "{}", one.name);
            }
        }
    }

    #[test]
    fn a_metric_is_found_by_its_name_in_the_results() {
        let scopes = |name| named(name).map(|entry| entry.scope).collect::<Vec<_>>();
        assert_eq!(scopes("flows.main.rtt_max_s"), [Scope::TcpFlow, Scope::Ping]);
        assert_eq!(scopes("flows.a.reverse.judges.veno.fast.spurious"), [Scope::Judge]);
        assert_eq!(scopes("flows.clients.class.web.transfers_done"), [Scope::Class]);
        assert_eq!(scopes("links.hop.arq.urgent_missed"), [Scope::ArqKind]);
        assert_eq!(scopes("links.hop.drops_queue"), [Scope::Link, Scope::Wifi]);
        assert_eq!(scopes("links.hop.reverse.drops_queue"), [Scope::Link]);
        assert_eq!(scopes("goodput_bps"), [Scope::Run]);
        for wrong in ["flows.goodput_bps", "flows.a.b.goodput_bps", "flows..goodput_bps", "xgoodput_bps", ""]
        {
            assert_eq!(scopes(wrong), [], "{wrong}");
        }
    }

    #[test]
    fn a_label_is_the_name_in_words_without_its_unit() {
        let label = |name| named(name).next().expect("a metric").label();
        assert_eq!(label("flows.a.goodput_bps"), "goodput");
        assert_eq!(label("flows.a.cwnd_mean_segments"), "cwnd mean");
        assert_eq!(label("links.a.drops_queue"), "drops queue");
        assert_eq!(label("flows.a.judged.fast.random_as_random"), "random as random");
        assert_eq!(label("links.a.frames_sent"), "frames sent");
        assert_eq!(label("jain_index"), "Jain's fairness index");
    }
}
