//! The place of the radios of bound nodes in a scenario, and what does not fit there.

use lasthop_stack::link::dot11::{EdcaConfig, Family, Guard, RateControl};

use crate::model::{AgentConfig, Config, LinkConfig, WifiConfig};

/// The most packets that a station may hold: `mac80211_hwsim` forgets frames of which more than this wait for their status.
const MOST_HELD: u32 = 190;

/// Gives the bound nodes whose MAC layer is a kernel's their place on their link.
///
/// # Errors
/// Why they have none: a key, and what is wrong.
pub(in super::super) fn give_radios(live: &mut Config, bound: &[usize]) -> Result<(), String> {
    let (outer, others): (Vec<usize>, Vec<usize>) =
        bound.iter().partition(|node| live.nodes[**node].is_linux);
    let Some(&first) = outer.first() else { return Ok(()) };
    let stack = |node: usize| format!("nodes.{}.stack", live.nodes[node].name);
    if let Some(&other) = others.first() {
        let other = &live.nodes[other].name;
        return Err(format!(
            "{}: \"linux\", and {other} is bound without it; expected the same stack on all bound nodes",
            stack(first)
        ));
    }
    if outer.len() == 1 {
        return Err(format!("{}: \"linux\" on one bound node; expected two or more", stack(first)));
    }
    if let Some(agent) = live.agents.iter().find(|agent| sits_at(agent, &outer)) {
        return Err(format!(
            "agents.{}.kind: sees no packets of the stack \"linux\"; expected nodes without it",
            agent.name
        ));
    }
    let mut links_of = vec![0; live.nodes.len()];
    live.links.iter().flat_map(LinkConfig::nodes).for_each(|node| links_of[*node] += 1);
    let joins =
        |link: &LinkConfig| outer.iter().all(|node| link.nodes().contains(node) && links_of[*node] == 1);
    let no_radio = format!(
        "{}: \"linux\" without a radio; expected one link of 802.11, 802.11a, b, g or n, the same for all such nodes",
        stack(first)
    );
    let Some(link) = live.links.iter().find(|link| joins(link)) else { return Err(no_radio) };
    let Some(wifi) = link.kind.wifi() else { return Err(no_radio) };
    if let Some(ap) = wifi.access_point.filter(|ap| !outer.contains(ap)) {
        let text =
            "the access point of nodes with the stack \"linux\"; expected it to have it, and to be bound";
        return Err(format!("{}: {text}", stack(ap)));
    }
    if let (Some(node), None) = (further_access_point(live, &outer), wifi.access_point) {
        let text = "on a link without one; expected the first one there";
        return Err(format!("nodes.{node}.wifi.access-point: {text}: links.{}.access-point", link.name));
    }
    if let Some((key, text)) = misfit(link, wifi) {
        return Err(format!("links.{}.{key}: {text}", link.name));
    }
    for link in &mut live.links {
        if let Some(wifi) = link.kind.wifi_mut()
            && wifi.nodes.contains(&first)
        {
            wifi.outer.clone_from(&outer);
        }
    }
    // What stands by does not receive frames to all.
    live.run.plain = true;
    Ok(())
}

/// The name of the first of these nodes that is a further access point.
fn further_access_point<'c>(config: &'c Config, nodes: &[usize]) -> Option<&'c str> {
    let mut each = nodes.iter().map(|node| &config.nodes[*node]);
    each.find(|node| node.is_access_point).map(|node| node.name.as_str())
}

/// Whether an agent sits at one of these nodes.
fn sits_at(agent: &AgentConfig, nodes: &[usize]) -> bool {
    agent.nodes.as_ref().is_none_or(|of| of.iter().any(|node| nodes.contains(node)))
}

/// What of a link does not fit stations whose frames come from outside: a key, and why.
fn misfit(link: &LinkConfig, wifi: &WifiConfig) -> Option<(&'static str, &'static str)> {
    if let Some(misfit) = wifi.mac.edca.as_ref().and_then(without_mode) {
        return Some(misfit);
    }
    let cases = [
        (
            wifi.is_secret && wifi.access_point.is_none(),
            "security",
            "\"wpa2\"; expected an access point, or \"open\"",
        ),
        (link.aqm.is_some(), "aqm.law", "does not manage what waits in Linux; expected none"),
        (wifi.arq.is_some(), "arq.kind", "Linux plans the attempts of its frames; expected none"),
        (wifi.pcf.is_some(), "coordination", "\"pcf\"; expected \"dcf\" with the stack \"linux\""),
        (
            wifi.mac.queue > MOST_HELD,
            "queue",
            "more than the radios of Linux hold; expected at most 190 packets",
        ),
    ];
    cases.into_iter().find(|(is_so, ..)| *is_so).map(|(_, key, text)| (key, text))
}

/// What of EDCA the radios of Linux do not have.
fn without_mode(edca: &EdcaConfig) -> Option<(&'static str, &'static str)> {
    let mode = edca.mode;
    let cases = [
        (
            mode.family != Family::Ht,
            "standard",
            "the radios of Linux aggregate nothing of it; expected \"802.11n\", or an older one",
        ),
        (mode.width != 20, "width", "more than one channel; expected \"20 MHz\" with the stack \"linux\""),
        (mode.guard != Guard::Normal, "guard-interval", "expected \"0.8 us\" with the stack \"linux\""),
        (mode.streams > 2, "streams", "more than the radios of Linux have; expected at most 2"),
        (
            edca.rate_control == RateControl::Ideal,
            "rate-control.kind",
            "the radios of Linux have Linux's Minstrel; expected \"minstrel-ht\" or \"constant\"",
        ),
    ];
    cases.into_iter().find(|(is_so, ..)| *is_so).map(|(_, key, text)| (key, text))
}
