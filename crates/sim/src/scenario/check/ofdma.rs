//! Checks of PPDUs to several stations and from several: who sends them, and RUs that are there and carry a packet.

use super::Check;
use crate::model::{Config, WifiConfig};
use crate::scenario::layout::Section;
use crate::scenario::sheet::{From, Sheet};
use lasthop_stack::link::dot11::{Acknowledgement, DELIMITER, EdcaConfig, Ofdma, Ru};
use lasthop_stack::units::Span;

/// The unit of the timer of MU EDCA: 8 TU.
const TIMER_UNIT: Span = Span::from_micros(8 * 1_024);
/// Bytes of an IP packet of the usual size.
const PACKET: u32 = 1500;

impl Check<'_> {
    pub(super) fn ofdma(&mut self, name: &str, (wifi, edca): (&WifiConfig, &EdcaConfig), sheet: &Sheet<'_>) {
        let key = |below: &str| format!("links.{name}.ofdma.{below}");
        let is_given = |below: &str| {
            sheet.plan.layout.slot(&key(below)).is_some_and(|slot| {
                let from = sheet.cell(slot).map(|(_, cell)| cell.from);
                matches!(from, Some(From::File | From::Set | From::Sweep))
            })
        };
        let Some(ofdma) = &edca.ofdma else {
            for below in ["stations", "least-ru"].into_iter().filter(|below| is_given(below)) {
                let text = "has no effect; expected ofdma.scheduler or ofdma.uplink".to_owned();
                self.fault(&key(below), text);
            }
            return;
        };
        let has_scheme = wifi.arq.as_ref().is_some_and(|arq| arq.build().is_some());
        let lacks = |node: &usize| {
            wifi.single_radios.get(*node).is_some_and(Option::is_some)
                || wifi.without_ofdma.get(*node) == Some(&true)
        };
        let mut stations = wifi.nodes.iter().filter(|node| Some(**node) != wifi.access_point);
        let has_effect = !stations.all(lacks);
        let directions = [("scheduler", ofdma.scheduler.is_some()), ("uplink", ofdma.uplink.is_some())];
        for (below, _) in directions.into_iter().filter(|(_, is_on)| *is_on) {
            if wifi.access_point.is_none() {
                let verb = if below == "uplink" { "triggers" } else { "sends to" };
                let text = format!(
                    "only an access point {verb} several stations at once; expected access-point, or none"
                );
                self.fault(&key(below), text);
            }
            if !has_effect {
                let text = "has no effect where each station has one radio for several links, or no OFDMA; \
                            expected none";
                self.fault(&key(below), text.to_owned());
            }
            if has_scheme {
                let text = "has no effect where a scheme orders packets; expected none".to_owned();
                self.fault(&key(below), text);
            }
        }
        if let Some(mu) = ofdma.uplink.and_then(|uplink| uplink.mu_edca) {
            for (below, window) in [("mu-edca.cw-min", mu.cw_min), ("mu-edca.cw-max", mu.cw_max)] {
                if !(window + 1).is_power_of_two() {
                    self.fault(&key(below), format!("{window}; expected 2^n - 1, such as 511 or 1023"));
                }
            }
            if mu.cw_min > mu.cw_max {
                let text = format!("{} is above mu-edca.cw-max, {}; expected less", mu.cw_min, mu.cw_max);
                self.fault(&key("mu-edca.cw-min"), text);
            }
            if !mu.timer.0.is_multiple_of(TIMER_UNIT.0) {
                let text = format!(
                    "{} ms; expected a multiple of 8.192 ms, such as {} ms",
                    mu.timer.0 as f64 / 1e6,
                    mu.timer.0.next_multiple_of(TIMER_UNIT.0) as f64 / 1e6
                );
                self.fault(&key("mu-edca.timer"), text);
            }
        }
        if let Some(text) = wrong_ru(wifi, edca, *ofdma)
            && is_given("least-ru")
        {
            self.fault(&key("least-ru"), text);
        }
    }

    /// Stations without OFDMA that are on no link with it.
    pub(super) fn own_ofdma(&mut self, config: &Config, sheet: &Sheet<'_>) {
        let mut last = None;
        for (number, node) in config.nodes.iter().enumerate() {
            let name = node.group.as_deref().unwrap_or(&node.name);
            if last.replace(name) == Some(name) {
                continue;
            }
            let Some(table) = sheet.plan.layout.nodes.place(name) else { continue };
            let is_given = sheet.member(Section::Nodes, table, 0).get("wifi.ofdma").is_some();
            let is_of_rus = config.wifi().any(|(_, wifi)| {
                let has_rus = wifi.mac.edca.is_some_and(|edca| edca.mode.family.has_rus());
                has_rus && wifi.nodes.contains(&number)
            });
            if is_given && !is_of_rus {
                let text = format!("has no effect; expected {name} to be on a link of 802.11ax or 802.11be");
                self.fault(&format!("nodes.{name}.wifi.ofdma"), text);
            }
        }
    }
}

/// What is wrong with the smallest RU.
fn wrong_ru(wifi: &WifiConfig, edca: &EdcaConfig, ofdma: Ofdma) -> Option<String> {
    let tones = ofdma.least.tones();
    let (mac, mode) = (&wifi.mac, edca.mode);
    let has_several = |ru: Ru| mode.within(ru).rus() > 1;
    if ofdma.least == Ru::Whole {
        return Some("not the tones of an RU; expected one of 26, 52, 106, 242, 484, 996, 1992".to_owned());
    }
    if !has_several(ofdma.least) {
        let most = Ru::PARTS.into_iter().rev().find(|ru| has_several(*ru)).unwrap_or_default().tones();
        return Some(format!(
            "{} MHz have fewer than two RUs of {tones} tones; expected at most {most}",
            mode.width
        ));
    }
    let trigger = match ofdma.acknowledgement {
        Acknowledgement::Aggregated => DELIMITER + edca.trigger(1),
        Acknowledgement::Requests | Acknowledgement::Trigger => 0,
    };
    let least = DELIMITER + (mac.header + mac.fcs + mac.llc + PACKET).next_multiple_of(4) + trigger;
    let room = |ru: Ru| {
        let mode = mode.within(ru);
        mode.capacity_after(mode.preamble_to_several(mode.mcs), edca.aggregate.time)
    };
    if room(ofdma.least) >= least {
        return None;
    }
    let (bytes, time) = (room(ofdma.least), edca.aggregate.time.0 as f64 / 1e3);
    let enough = Ru::PARTS.into_iter().find(|ru| has_several(*ru) && room(*ru) >= least);
    let expected = enough.map_or("a higher mcs".to_owned(), |ru| ru.tones().to_string());
    Some(format!(
        "RUs of {tones} tones carry {bytes} B at MCS {} in {time} us, less than a packet of {PACKET} B; expected {expected}",
        mode.mcs
    ))
}
