//! Checks of the links of multi-link devices: stations of the first one, one block-ack agreement, and nothing that is not
//! modelled on several links.

use super::Check;
use crate::model::{Config, WifiConfig};
use lasthop_stack::link::dot11::{EdcaConfig, Family, SingleRadio};
use lasthop_stack::registry::AgentKind;
use lasthop_stack::units::Span;

/// The delays that a station can state, us: of padding, and of a transition.
const PADDINGS: &[u64] = &[0, 32, 64, 128, 256];
const TRANSITIONS: &[u64] = &[0, 16, 32, 64, 128, 256];

impl Check<'_> {
    pub(super) fn multi_link(&mut self, config: &Config) {
        let others: Vec<(usize, usize)> =
            config.wifi().filter_map(|(place, wifi)| Some((place, wifi.multi_link?))).collect();
        for &(place, first) in &others {
            let text = wrong_pair(config, place, first)
                .or_else(|| wrong_law(config, place, first))
                .or_else(|| wrong_agreement(config, place, first))
                .or_else(|| [first, place].into_iter().find_map(|link| not_modelled(config, link)));
            if let Some(text) = text {
                self.fault(&format!("links.{}.multi-link", config.links[place].name), text);
            }
        }
        let firsts: Vec<usize> = others.iter().map(|(_, first)| *first).collect();
        for agent in &config.agents {
            let sits_on = |link: &usize| agent.links.as_ref().is_none_or(|links| links.contains(link));
            let rides = AgentKind::RIDERS.contains(&agent.scheme.kind());
            if let Some(link) = firsts.iter().find(|link| rides && sits_on(link)) {
                let text = format!(
                    "nothing rides in the acknowledgements of multi-link devices such as those of links.{}; \
                     expected another link",
                    config.links[*link].name
                );
                self.fault(&format!("agents.{}.link", agent.name), text);
            }
            let other = others
                .iter()
                .find(|(place, _)| agent.links.as_ref().is_some_and(|links| links.contains(place)));
            if let Some(&(_, first)) = other {
                let text = format!(
                    "agents of multi-link devices sit on their first link; expected \"{}\"",
                    config.links[first].name
                );
                self.fault(&format!("agents.{}.link", agent.name), text);
            }
        }
        for node in &config.nodes {
            let Some(handoff) = &node.handoff else { continue };
            if handoff.links.iter().any(|link| config.first_link(*link).is_some()) {
                let text = "hand-offs of multi-link devices are not modelled; expected another link";
                self.fault(&format!("nodes.{}.handoff.from", node.table()), text.to_owned());
            }
        }
    }

    /// Stations with one radio for several links.
    pub(super) fn single_radios(&mut self, config: &Config) {
        self.each_node(config, |check, number, node| {
            if let Some(radio) = node.own_rate.single_radio {
                let name = node.table();
                if let Some(text) = wrong_place(config, number, name) {
                    check.fault(&format!("nodes.{name}.wifi.multi-link"), text);
                }
                check.delays(name, radio);
            }
        });
    }

    /// The delays that a station states.
    fn delays(&mut self, name: &str, SingleRadio { padding, transition, .. }: SingleRadio) {
        for (below, delay, legal) in
            [("padding-delay", padding, PADDINGS), ("transition-delay", transition, TRANSITIONS)]
        {
            if !legal.iter().any(|micros| delay == Span::from_micros(*micros)) {
                let all: Vec<String> = legal.iter().map(u64::to_string).collect();
                let text = format!("{} us; expected one of {} us", delay.0 as f64 / 1e3, all.join(", "));
                self.fault(&format!("nodes.{name}.wifi.emlsr.{below}"), text);
            }
        }
    }
}

/// Why a node cannot be a station with one radio for several links.
fn wrong_place(config: &Config, number: usize, name: &str) -> Option<String> {
    let mut on = config.wifi().filter(|(_, wifi)| !wifi.single_radios.is_empty());
    let Some((place, wifi)) = on.find(|(_, wifi)| wifi.single_radios[number].is_some()) else {
        return Some(format!("has no effect; expected {name} to be on several links of multi-link devices"));
    };
    let link = &config.links[place].name;
    match wifi.access_point {
        None => {
            Some(format!("no access point asks it on links.{link}; expected an access point there, or str"))
        }
        Some(ap) if ap == number => {
            Some("an access point has a radio for each link; expected str".to_owned())
        }
        Some(_) => None,
    }
}

fn wifi(config: &Config, link: usize) -> Option<(&WifiConfig, EdcaConfig)> {
    let wifi = config.links[link].kind.wifi()?;
    Some((wifi, wifi.mac.edca?))
}

/// Why the devices of a link cannot send on this one too.
fn wrong_pair(config: &Config, place: usize, first: usize) -> Option<String> {
    let name = &config.links[first].name;
    if place == first {
        return Some(format!("\"{name}\" is this link; expected another one, or none"));
    }
    let of_eht = wifi(config, first).filter(|(_, edca)| edca.mode.family == Family::Eht);
    let Some((of, _)) = of_eht else {
        return Some(format!("\"{name}\" is not a link of 802.11be; expected one"));
    };
    if let Some(first) = of.multi_link {
        return Some(format!("\"{name}\" is not the first link; expected \"{}\"", config.links[first].name));
    }
    let (ours, _) = wifi(config, place)?;
    if ours.access_point != of.access_point {
        return Some(format!("the access point of \"{name}\" is another; expected the same"));
    }
    let stranger = ours.nodes.iter().find(|node| !of.nodes.contains(node))?;
    let stranger = &config.nodes[*stranger].name;
    Some(format!("{stranger} is not a station of \"{name}\"; expected stations of that link only"))
}

/// What the one block-ack agreement, and the one queue, cannot have twice.
fn wrong_agreement(config: &Config, place: usize, first: usize) -> Option<String> {
    let ((ours, edca), (of, common)) = (wifi(config, place)?, wifi(config, first)?);
    // A law of the first link has a default queue of its own, and the other link's is not used.
    let is_managed = config.links[first].aqm.is_some();
    let wrong = [
        ("block-ack.window", edca.window != common.window),
        ("block-ack.reorder-timeout", edca.reorder_timeout != common.reorder_timeout),
        ("short-retry", ours.mac.short_retry != of.mac.short_retry),
        ("edca.lifetime", edca.lifetime != common.lifetime),
        ("queue", ours.mac.queue != of.mac.queue && !is_managed),
    ];
    let (key, _) = wrong.into_iter().find(|(_, differs)| *differs)?;
    let name = &config.links[first].name;
    Some(format!("the {key} of \"{name}\" is another; expected the same on all links of a device"))
}

/// Why the common queue does not have the management of a link.
fn wrong_law(config: &Config, place: usize, first: usize) -> Option<String> {
    config.links[place].aqm.as_ref()?;
    let (name, first) = (&config.links[place].name, &config.links[first].name);
    Some(format!(
        "the queue that links.{name}.aqm manages is that of \"{first}\"; expected links.{first}.aqm"
    ))
}

/// What links of multi-link devices do not have.
fn not_modelled(config: &Config, link: usize) -> Option<String> {
    let (wifi, _) = wifi(config, link)?;
    let name = &config.links[link].name;
    wifi.arq.as_ref().filter(|arq| arq.build().is_some())?;
    Some(format!("links.{name} has arq, which multi-link devices lack here; expected none"))
}
