//! The scopes of metrics, each with its rows: the list of all metrics.
//!
//! The names of a scenario's metrics, their values and [`METRICS`] all come from the tables of rows that are named here.

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
use super::quic::{QuicFlow, QuicPath};
use super::row::{Measured, Row, Unit};
use super::run::{Run, SeveralFlows, TcpRun};
use super::wifi::{Arq, BlockAcks, Wifi};

/// Declares what metrics belong to, in the order of the output: of each scope its meaning, its name, the prefixes of
/// their names in the results, where `<…>` is a name from the scenario, and the function that lists the metrics.
macro_rules! scopes {
    ($($(#[doc = $meaning:literal])+ $scope:ident = $name:literal at $($prefix:literal),+ => $metrics:expr;)+) => {
        /// What a metric belongs to.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Scope {
            $($(#[doc = $meaning])+ $scope),+
        }

        impl Scope {
            /// Every scope, in the order of the output.
            pub const ALL: &[Scope] = &[$(Scope::$scope),+];

            /// Its name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Scope::$scope => $name),+
                }
            }

            /// The prefixes of a metric's name in the results.
            #[must_use]
            pub const fn prefixes(self) -> &'static [&'static str] {
                match self {
                    $(Scope::$scope => &[$($prefix),+]),+
                }
            }

            fn metrics(self) -> Vec<MetricEntry> {
                match self {
                    $(Scope::$scope => $metrics(self)),+
                }
            }
        }
    };
}

scopes! {
    /// A flow over TCP, or what comes back on its connection.
    TcpFlow = "tcp flow" at "flows.<f>.", "flows.<f>.reverse." => entries::<TcpFlow>;
    /// A flow whose congestion law estimates the rate of the path.
    EstimatingFlow = "estimating flow" at "flows.<f>.", "flows.<f>.reverse." => entries::<EstimatingFlow>;
    /// A flow over TCP with `tcp.ecn`.
    EcnFlow = "ecn flow" at "flows.<f>.", "flows.<f>.reverse." => entries::<EcnFlow>;
    /// A flow over UDP.
    UdpFlow = "udp flow" at "flows.<f>." => entries::<UdpFlow>;
    /// A flow over QUIC.
    QuicFlow = "quic flow" at "flows.<f>." => entries::<QuicFlow>;
    /// A path of a flow over QUIC that has several, by the node at which it ends.
    QuicPath = "quic path" at "flows.<f>.paths.<n>." => entries::<QuicPath>;
    /// A flow that probes round trips, or the flows of a group of such, together.
    Ping = "ping" at "flows.<f>." => entries::<Ping>;
    /// A law that classifies the losses of a flow: the one in force, or one that watches.
    Judge = "judge" at "flows.<f>.judged.", "flows.<f>.judges.<law>.", "flows.<f>.reverse.judged.",
        "flows.<f>.reverse.judges.<law>." => entries::<Judge>;
    /// What only one law counts, of a flow under it.
    Law = "law" at "flows.<f>.<law>.", "flows.<f>.reverse.<law>." => laws;
    /// The flows of a group, together.
    Group = "group of flows" at "flows.<g>.", "flows.<g>.reverse." => entries::<Group>;
    /// Those of a group's flows that go over TCP, together.
    TcpGroup = "group of tcp flows" at "flows.<g>.", "flows.<g>.reverse." => entries::<TcpGroup>;
    /// A class of traffic of a user, or of a group of users.
    Class = "class" at "flows.<f>.class.<c>." => entries::<Class>;
    /// One direction of a link of two nodes.
    Link = "link" at "links.<l>.", "links.<l>.reverse." => entries::<Link>;
    /// The managed queues of one direction of a link, or of all stations of an 802.11 link.
    Aqm = "managed queue" at "links.<l>.", "links.<l>.reverse." => entries::<Aqm>;
    /// What only one management of queues counts.
    AqmKind = "managed queue under its law" at "links.<l>.aqm.", "links.<l>.reverse.aqm." => aqm_kinds;
    /// One direction of a link with a policer.
    PolicedLink = "link with a policer" at "links.<l>.", "links.<l>.reverse." => entries::<PolicedLink>;
    /// One direction of a link that delays, reorders or duplicates packets at random.
    ImpairedLink = "link with impairments" at "links.<l>.", "links.<l>.reverse." => entries::<ImpairedLink>;
    /// A link for which a round trip is drawn.
    DrawnLink = "drawn link" at "links.<l>." => entries::<DrawnLink>;
    /// One direction of a link whose capacity over time is recorded.
    RecordedLink = "recorded link" at "links.<l>.", "links.<l>.reverse." => entries::<RecordedLink>;
    /// An 802.11 link.
    Wifi = "wifi" at "links.<l>." => entries::<Wifi>;
    /// An 802.11 link with block acknowledgement.
    BlockAcks = "wifi with block acknowledgement" at "links.<l>." => entries::<BlockAcks>;
    /// The access point of an 802.11 link with `arq.kind`.
    Arq = "arq" at "links.<l>." => entries::<Arq>;
    /// What only one kind of ARQ counts.
    ArqKind = "kind of arq" at "links.<l>.arq." => arq_kinds;
    /// A slotted network.
    Frn = "frn" at "links.<l>." => entries::<Frn>;
    /// A link that is ever down, or from which a node is handed off.
    Outages = "outages" at "links.<l>.outages." => entries::<Outages>;
    /// A node that is handed off.
    Handoff = "hand-offs" at "nodes.<n>.handoff." => entries::<Handoff>;
    /// A flow of a scenario with outages or hand-offs.
    Resumption = "flow with outages" at "flows.<f>.outages.", "flows.<f>.reverse.outages." => entries::<Resumption>;
    /// The agents of one table of a scenario, together.
    Agent = "agent" at "agents.<a>." => entries::<Agent>;
    /// What only agents of one kind count.
    AgentKind = "kind of agent" at "agents.<a>.<kind>." => agent_kinds;
    /// The whole run.
    Run = "run" at "" => entries::<Run>;
    /// A run with several flows.
    SeveralFlows = "several flows" at "" => entries::<SeveralFlows>;
    /// The flows of a run that go over TCP, together.
    TcpRun = "tcp run" at "" => entries::<TcpRun>;
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
    LazyLock::new(|| Scope::ALL.iter().copied().flat_map(Scope::metrics).collect());

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

/// The rows of a scope.
fn entries<C: Measured>(scope: Scope) -> Vec<MetricEntry> {
    let entry = |row: &Row<C>| MetricEntry { name: row.name, scope, unit: row.unit, meaning: row.meaning };
    C::ROWS.iter().map(entry).collect()
}

/// The counters that only agents of each kind have.
fn agent_kinds(scope: Scope) -> Vec<MetricEntry> {
    let own = |kind: &AgentKind| [kind.config().counts(), kind.config().levels()].concat();
    let counts = AgentKind::named_in_scenarios().iter().flat_map(own);
    counts.map(|count| of_count(scope, &count)).collect()
}

/// The counters that only ARQs of each kind have.
fn arq_kinds(scope: Scope) -> Vec<MetricEntry> {
    let counts = ArqKind::ALL.iter().flat_map(|kind| kind.config().counts());
    counts.map(|count| of_count(scope, &count)).collect()
}

/// The counters that only the managements of queues of each kind have; some have one of the same name.
fn aqm_kinds(scope: Scope) -> Vec<MetricEntry> {
    let mut found: Vec<MetricEntry> = Vec::new();
    for count in AqmKind::ALL.iter().flat_map(|kind| kind.config().counts()) {
        if found.iter().all(|entry| entry.name != count.name) {
            found.push(of_count(scope, &count));
        }
    }
    found
}

/// The counters that only each law has.
fn laws(scope: Scope) -> Vec<MetricEntry> {
    let counts = CongestionKind::named_in_scenarios().iter().flat_map(|kind| kind.config().counts());
    counts.map(|count| of_count(scope, &count)).collect()
}

fn of_count(scope: Scope, count: &Count) -> MetricEntry {
    MetricEntry { name: count.name, scope, unit: Unit::Counted(count.unit), meaning: count.meaning }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_scope_has_metrics_of_its_own() {
        for scope in Scope::ALL.iter().copied() {
            let metrics = scope.metrics();
            assert!(!metrics.is_empty() && metrics.iter().all(|entry| entry.scope == scope), "{scope:?}");
        }
    }

    #[test]
    fn no_name_is_given_twice_where_several_scopes_meet() {
        let meeting: [&[Scope]; 8] = [
            &[Scope::TcpFlow, Scope::EstimatingFlow, Scope::EcnFlow, Scope::Judge, Scope::Class],
            &[Scope::UdpFlow],
            &[Scope::QuicFlow],
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
        assert_eq!(scopes("flows.main.rtt_max_s"), [Scope::TcpFlow, Scope::QuicFlow, Scope::Ping]);
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
