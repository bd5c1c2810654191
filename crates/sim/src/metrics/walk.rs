//! The walk over a scenario that gives the names of its metrics and, after a run, their values.

use std::collections::BTreeMap;

use lasthop_stack::hooks::{Count, Judge};
use lasthop_stack::registry::CongestionKind;

use super::class::{classes, users};
use super::directions::{Direction, directions};
use super::measurement::{Measurement, Snapshot};
use super::row::Measured;
use crate::model::{Config, LinkKind, TransportConfig};
use crate::traffic::sessions::Class as TrafficClass;

/// The metrics found so far, and the run that they are measured in, if there was one.
struct Walk<'a> {
    run: Option<&'a Measurement<'a>>,
    found: Vec<(String, Option<f64>)>,
}

impl<'a> Walk<'a> {
    /// Adds the metrics of a scope under names that begin with `prefix`.
    fn add<C: Measured>(&mut self, prefix: &str, measure: impl FnOnce(&Measurement<'a>) -> C) {
        let measured = self.run.map(measure);
        self.found.extend(C::ROWS.iter().map(|row| {
            let value = measured.as_ref().and_then(row.value);
            (format!("{prefix}{}", row.name), value)
        }));
    }

    /// Adds the counters that only a scheme has.
    fn add_counts(
        &mut self,
        prefix: &str,
        counts: &[Count],
        value: impl Fn(&Measurement<'a>, &str) -> Option<f64>,
    ) {
        let run = self.run;
        let of = |name: &str| run.and_then(|run| value(run, name));
        self.found.extend(counts.iter().map(|count| (format!("{prefix}{}", count.name), of(count.name))));
    }
}

/// For each medium the media that have its queues, by their numbers: for that of the first link of multi-link devices also those
/// of the others, which themselves have none.
fn sharing(config: &Config) -> Vec<Vec<usize>> {
    let numbers: BTreeMap<usize, usize> = config.wifi().map(|(place, _)| place).zip(0..).collect();
    let mut media = vec![Vec::new(); numbers.len()];
    for (number, (place, wifi)) in config.wifi().enumerate() {
        media[numbers[&wifi.multi_link.unwrap_or(place)]].push(number);
    }
    media
}

/// The groups among directions in the order of their first members, each with the places of its members.
fn groups<'a>(directions: &'a [Direction<'_>]) -> Vec<(&'a str, Vec<usize>)> {
    let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
    let mut places = BTreeMap::new();
    for (member, direction) in directions.iter().enumerate() {
        let Some(name) = direction.group.as_deref() else { continue };
        let place = *places.entry(name).or_insert(groups.len());
        if place == groups.len() {
            groups.push((name, Vec::new()));
        }
        groups[place].1.push(member);
    }
    groups
}

/// All metrics of a scenario in the order of the output, with their values if it was run.
pub(super) fn walk<'a>(config: &Config, run: Option<&'a Measurement<'a>>) -> Vec<(String, Option<f64>)> {
    let mut walk = Walk { run, found: Vec::new() };
    let directions = directions(config);
    for (place, direction) in directions.iter().enumerate() {
        walk.direction(config, place, direction);
        if config.has_link_events() && direction.is_tcp() {
            let prefix = format!("{}.outages.", direction.name);
            walk.add(&prefix, |run| run.resumption(place));
        }
    }
    for (group, members) in groups(&directions) {
        let prefix = format!("{group}.");
        let ends: Vec<usize> = members.iter().map(|member| directions[*member].end()).collect();
        // The flows of a group have one source.
        if directions[members[0]].is_probe() {
            walk.add(&prefix, |run| run.ping(&members, &ends));
            continue;
        }
        walk.add(&prefix, |run| run.group(&members));
        if members.iter().any(|member| directions[*member].is_tcp()) {
            walk.add(&prefix, |run| run.tcp_group(&members, &ends));
        }
    }
    walk.classes(config);
    walk.links(config);
    let mobiles = config.nodes.iter().filter(|node| node.handoff.is_some());
    for (number, node) in mobiles.enumerate() {
        walk.add(&format!("nodes.{}.handoff.", node.name), |run| run.handoff(number));
    }
    for (number, agent) in config.agents.iter().enumerate() {
        let prefix = format!("agents.{}.", agent.name);
        walk.add(&prefix, |run| run.agent(number));
        let prefix = format!("{prefix}{}.", agent.scheme.kind().entry().name);
        walk.add_counts(&prefix, &agent.scheme.counts(), |run, name| run.agent_count(number, name));
        walk.add_counts(&prefix, &agent.scheme.levels(), |run, name| run.agent_level(number, name));
    }
    let loads: Vec<usize> = (0..directions.len()).filter(|place| !directions[*place].is_probe()).collect();
    walk.add("", |run| run.run(&loads));
    if loads.len() > 1 {
        walk.add("", |run| run.several_flows(&loads));
    }
    if directions.iter().any(Direction::is_tcp) {
        walk.add("", Measurement::tcp_run);
    }
    walk.found
}

impl Walk<'_> {
    fn direction(&mut self, config: &Config, place: usize, direction: &Direction<'_>) {
        let prefix = format!("{}.", direction.name);
        if direction.is_tcp() {
            self.add(&prefix, |run| run.tcp_flow(place));
        } else if direction.flow.is_quic() {
            self.add(&prefix, |run| run.quic_flow(place));
            for (path, node) in direction.flow.paths().enumerate() {
                let node = &config.nodes[node].name;
                self.add(&format!("{prefix}paths.{node}."), |run| run.quic_path(place, path));
            }
        } else if direction.is_probe() {
            self.add(&prefix, |run| run.ping(&[place], &[direction.end()]));
        } else {
            self.add(&prefix, |run| run.udp_flow(place));
        }
        if let TransportConfig::Tcp(tcp) = &direction.flow.transport {
            // A law of the host has none: its counters would have no row in the list of metrics.
            let law = &tcp.parts.law;
            if law.kind() != CongestionKind::Custom {
                let prefix = format!("{prefix}{}.", law.kind().entry().name);
                self.add_counts(&prefix, &law.counts(), |run, name| run.law_count(place, name));
            }
        }
        if let Some(segment) = direction.flow.estimated_segment() {
            self.add(&prefix, |run| run.estimating_flow(place, segment));
        }
        if direction.flow.uses_ecn() {
            self.add(&prefix, |run| run.ecn_flow(place));
        }
        for (number, (judge, law)) in direction.flow.judges().enumerate() {
            let judge = match judge {
                Judge::Law => "judged".to_string(),
                Judge::Watching(_) => format!("judges.{}", law.entry().name),
            };
            self.add(&format!("{prefix}{judge}."), |run| run.judge(place, number));
        }
    }

    fn classes(&mut self, config: &Config) {
        let found = self.run.map(Measurement::by_class).unwrap_or_default();
        for (user, flows) in users(config) {
            let has =
                |class: &TrafficClass| flows.iter().any(|flow| classes(&config.flows[*flow]).contains(class));
            for class in TrafficClass::ALL.into_iter().filter(has) {
                self.add(&format!("flows.{user}.class.{}.", class.name()), |_| found.of(&flows, class));
            }
        }
    }

    fn links(&mut self, config: &Config) {
        let (mut channel, mut wlan, mut frn) = (0, 0, 0);
        let sharing = sharing(config);
        for (place, link) in config.links.iter().enumerate() {
            let has_outages = config.has_link_events() && !config.absences(place).is_empty();
            let numbers = (channel, wlan, frn);
            let prefix = format!("links.{}.", link.name);
            match &link.kind {
                LinkKind::PointToPoint(ends) => {
                    self.add(&prefix, |run| run.link(channel));
                    self.add(&format!("{prefix}reverse."), |run| run.link(channel + 1));
                    if let Some(aqm) = &link.aqm {
                        let ways = [prefix.clone(), format!("{prefix}reverse.")];
                        for (channel, prefix) in (channel..).zip(ways) {
                            self.add(&prefix, |run| run.aqm(channel));
                            let prefix = format!("{prefix}aqm.");
                            self.add_counts(&prefix, &aqm.counts(), |run, name| run.aqm_count(channel, name));
                        }
                    }
                    for (way, direction) in ends.directions.iter().enumerate() {
                        let prefix = if way == 0 { prefix.clone() } else { format!("{prefix}reverse.") };
                        if direction.policer.is_some() {
                            self.add(&prefix, |run| run.policed_link(channel + way));
                        }
                        if !direction.impairments.is_none() || direction.delays.is_some() {
                            self.add(&prefix, |run| run.impaired_link(channel + way));
                        }
                    }
                    if ends.sends.recorded(0).is_some() {
                        self.add(&prefix, |run| run.recorded_link(channel));
                        self.add(&format!("{prefix}reverse."), |run| run.recorded_link(channel + 1));
                    }
                    if ends.rtt.is_some() {
                        self.add(&prefix, |run| run.drawn_link(channel, ends));
                    }
                    channel += 2;
                }
                LinkKind::Wifi(wifi) => {
                    self.add(&prefix, |run| run.wifi(wlan, &sharing[wlan]));
                    if wifi.mac.edca.is_some() {
                        self.add(&prefix, |run| run.block_acks(wlan));
                    }
                    if let Some(aqm) = &link.aqm {
                        self.add(&prefix, |run| run.wifi_aqm(wlan));
                        let prefix = format!("{prefix}aqm.");
                        self.add_counts(&prefix, &aqm.counts(), |run, name| run.wifi_aqm_count(wlan, name));
                    }
                    if let Some(arq) = &wifi.arq {
                        self.add(&prefix, |run| run.arq(wlan));
                        let prefix = format!("{prefix}arq.");
                        self.add_counts(&prefix, &arq.counts(), |run, name| run.arq_count(wlan, name));
                    }
                    wlan += 1;
                }
                LinkKind::Frn(config) => {
                    self.add(&prefix, |run| run.frn(frn, config.slot));
                    frn += 1;
                }
            }
            if has_outages {
                let lost = |at: &Snapshot| match &link.kind {
                    LinkKind::PointToPoint(_) => {
                        at.channels[numbers.0..numbers.0 + 2].iter().map(|channel| channel.drops_outage).sum()
                    }
                    LinkKind::Wifi(_) => at.wlans[numbers.1].frames.cut_off,
                    LinkKind::Frn(_) => at.frns[numbers.2].cut_off,
                };
                self.add(&format!("{prefix}outages."), |run| run.outages(place, lost));
            }
        }
    }
}
