//! Checks of 802.11n, ac, ax and be links: modes that exist, and keys of DCF that have no effect there.

use super::Check;
use crate::model::{Config, WifiConfig};
use crate::scenario::keys::{EDCA_STANDARDS, Flavour, Radio, Standard, Wifi};
use crate::scenario::layout::Section;
use crate::scenario::sheet::{From, Sheet};
use crate::scenario::value::Value;
use lasthop_stack::hooks::parameter::Words;
use lasthop_stack::link::dot11::{
    Category, DELIMITER, EdcaConfig, Family, Guard, Mode, RateControl, WIDTHS, WINDOWS,
};
use lasthop_stack::units::Span;

/// Bytes of an IP packet with a UDP header and nothing in it.
const LEAST_PACKET: u32 = 28;

impl Check<'_> {
    pub(super) fn of_today(&mut self, name: &str, wifi: &WifiConfig, sheet: &Sheet<'_>) {
        let Some(edca) = wifi.mac.edca else { return };
        let key = |below: &str| format!("links.{name}.{below}");
        self.mode(name, &edca, sheet);
        if edca.lifetime.is_some() && wifi.arq.as_ref().is_some_and(|arq| arq.build().is_some()) {
            let text = "has no effect where a scheme orders packets; expected none".to_owned();
            self.fault(&key("edca.lifetime"), text);
        }
        let largest = EdcaConfig::largest_window(edca.mode.family);
        let windows: Vec<u32> = WINDOWS.into_iter().filter(|window| *window <= largest).collect();
        if !windows.contains(&edca.window) {
            let legal = either(&windows);
            self.fault(&key("block-ack.window"), format!("{}; expected {legal}", edca.window));
        }
        if edca.aggregate.count > edca.window {
            let text = format!(
                "{} is above block-ack.window, {}; expected no more",
                edca.aggregate.count, edca.window
            );
            self.fault(&key("aggregate.count"), text);
        }
        self.room(name, wifi, &edca);
        let most = EdcaConfig::of(edca.mode.family).aggregate.bytes;
        if edca.aggregate.bytes > most {
            let text = format!("{} B; expected at most {most} B", edca.aggregate.bytes);
            self.fault(&key("aggregate.bytes"), text);
        }
        for category in Category::ALL {
            let access = edca.access[category as usize];
            for (below, window) in [("cw-min", access.cw_min), ("cw-max", access.cw_max)] {
                if !(window + 1).is_power_of_two() {
                    let (less, more) = (window.ilog2(), window.ilog2() + 1);
                    let text = format!(
                        "{window}; expected 2^n - 1, such as {} or {}",
                        (1 << less) - 1,
                        (1 << more) - 1
                    );
                    self.fault(&key(&format!("edca.{}.{below}", category.name())), text);
                }
            }
            if access.cw_min > access.cw_max {
                let text = format!("{} is above cw-max, {}; expected less", access.cw_min, access.cw_max);
                self.fault(&key(&format!("edca.{}.cw-min", category.name())), text);
            }
        }
        if sheet.get(&key("arq.hopeless")).is_some_and(|word| word.is("drop")) {
            let text = "\"drop\", but block acknowledgement gives up packets itself; expected send or demote";
            self.fault(&key("arq.hopeless"), text.to_string());
        }
        if edca.rate_control == RateControl::Ideal && !wifi.radio.errors.is_by_snr() {
            let text = "\"ideal\", but frames on the air do not fail by the ratio of signal to noise; expected loss.model = \"snr\"";
            self.fault(&key("rate-control.kind"), text.to_string());
        }
        self.ofdma(name, (wifi, &edca), sheet);
        self.of_dcf(name, wifi, sheet);
    }

    /// Limits of an A-MPDU that exclude one with two packets.
    fn room(&mut self, name: &str, wifi: &WifiConfig, edca: &EdcaConfig) {
        let mac = &wifi.mac;
        let least = 2 * (DELIMITER + mac.header + mac.fcs + mac.llc + LEAST_PACKET);
        let expected = "expected more, or aggregate.count = 1";
        if edca.aggregate.bytes < least {
            let text = format!("{} B; two MPDUs have at least {least} B; {expected}", edca.aggregate.bytes);
            self.fault(&format!("links.{name}.aggregate.bytes"), text);
        }
        let shortest = edca.mode.airtime(least, 0).total;
        if edca.aggregate.time < shortest {
            let [time, shortest] = [edca.aggregate.time, shortest].map(|span| span.0 as f64 / 1e3);
            let text = format!("{time} us; two MPDUs take at least {shortest} us; {expected}");
            self.fault(&format!("links.{name}.aggregate.time"), text);
        }
    }

    /// Rates that nodes have of their own: those of their links' standards, and with an effect.
    pub(super) fn own_rates(&mut self, config: &Config, sheet: &Sheet<'_>) {
        let (mut last, mut member) = (None, 0);
        for (number, node) in config.nodes.iter().enumerate() {
            let name = node.group.as_deref().unwrap_or(&node.name);
            member = if last.replace(name) == Some(name) { member + 1 } else { 0 };
            let Some(table) = sheet.plan.layout.nodes.place(name) else { continue };
            if member >= sheet.kinds(Section::Nodes, table) {
                continue;
            }
            let keys = sheet.member(Section::Nodes, table, member);
            let links = config.links.iter().filter_map(|link| Some((link.table(), link.kind.wifi()?)));
            let links: Vec<(&str, &WifiConfig)> =
                links.filter(|(_, wifi)| wifi.nodes.contains(&number)).collect();
            for (below, is_of_edca) in [("rate", false), ("mcs", true), ("width", true), ("streams", true)] {
                let key = format!("nodes.{name}.wifi.{below}");
                let Some(value) = keys.get(&format!("wifi.{below}")) else { continue };
                let mut ours = links.iter().filter(|(_, wifi)| wifi.mac.edca.is_some() == is_of_edca);
                let Some((link, wifi)) = ours.next() else {
                    let of = if is_of_edca { "802.11n, ac, ax or be" } else { "802.11 with DCF" };
                    self.fault(&key, format!("has no effect; expected {name} to be on a link of {of}"));
                    continue;
                };
                if let Some(text) = Check::wrong_own_rate((link, wifi), (number, below), value, sheet) {
                    self.fault(&key, text);
                }
            }
        }
    }

    /// What is wrong with a value that a node has of its own, on one of its links.
    fn wrong_own_rate(
        (link, wifi): (&str, &WifiConfig),
        (node, below): (usize, &str),
        value: &Value,
        sheet: &Sheet<'_>,
    ) -> Option<String> {
        let Some(edca) = wifi.mac.edca else {
            if wifi.pcf.is_some() {
                return Some(format!("links.{link} has coordination \"pcf\"; expected \"dcf\""));
            }
            return Check::wrong_rate(link, value, sheet);
        };
        let (family, most) = (edca.mode.family, edca.mode.width);
        let count = value.count().unwrap_or(0);
        if below == "mcs" && count > u64::from(family.highest_mcs()) {
            return Some(format!("{count}; links.{link} has 0 to {}", family.highest_mcs()));
        }
        let mode = wifi.own_rates.get(node).copied().flatten()?.mode?;
        if below == "width" && (mode.width > most || !WIDTHS.contains(&mode.width)) {
            return Some(format!(
                "{} MHz; expected 20, 40, 80, 160 or 320, up to {most} of links.{link}",
                mode.width
            ));
        }
        let Mode { mcs, width, streams, .. } = mode;
        (!mode.exists()).then(|| {
            format!(
                "{}: no mode of links.{link} has MCS {mcs}, {width} MHz and {streams} streams",
                value.text()
            )
        })
    }

    fn mode(&mut self, name: &str, edca: &EdcaConfig, sheet: &Sheet<'_>) {
        let key = |below: &str| format!("links.{name}.{below}");
        let family = edca.mode.family;
        let standard = match family {
            Family::Ht => "802.11n",
            Family::Vht => "802.11ac",
            Family::He => "802.11ax",
            Family::Eht => "802.11be",
        };
        let real = |below: &str| match sheet.get(&key(below)) {
            Some(Value::Quantity(quantity)) => quantity.si(),
            Some(value) => value.count().map_or(0.0, |count| count as f64),
            None => 0.0,
        };
        let mut is_known = true;
        if real("mcs") > f64::from(family.highest_mcs()) {
            let text = format!("{}; {standard} has 0 to {}", real("mcs"), family.highest_mcs());
            self.fault(&key("mcs"), text);
            is_known = false;
        }
        let widths = WIDTHS.map(f64::from);
        let widest = f64::from(family.widest());
        if !widths.contains(&(real("width") / 1e6)) || real("width") / 1e6 > widest {
            let widths: Vec<String> =
                widths.iter().filter(|width| **width <= widest).map(ToString::to_string).collect();
            let text = format!("{} MHz; expected one of {} MHz", real("width") / 1e6, widths.join(", "));
            self.fault(&key("width"), text);
            is_known = false;
        }
        let guard = Span::from_secs_f64(real("guard-interval"));
        let guards: Vec<Guard> = Guard::ALL.into_iter().filter(|guard| family.has_guard(*guard)).collect();
        if guards.iter().all(|known| known.length() != guard) {
            let known: Vec<String> =
                guards.iter().map(|known| (known.length().0 as f64 / 1e3).to_string()).collect();
            let text = format!("{} us; expected one of {} us", guard.0 as f64 / 1e3, known.join(", "));
            self.fault(&key("guard-interval"), text);
            is_known = false;
        }
        if is_known && !edca.mode.exists() {
            let Mode { mcs, width, streams, .. } = edca.mode;
            let text = format!(
                "{mcs}; {standard} has no such mode with {streams} streams in {width} MHz; expected another mcs, width or streams"
            );
            self.fault(&key("mcs"), text);
        }
    }

    /// Keys of DCF, whose values differ from those of the standard.
    fn of_dcf(&mut self, name: &str, wifi: &WifiConfig, sheet: &Sheet<'_>) {
        let key = |below: &str| format!("links.{name}.{below}");
        let (Some(of), Some(flavour)) = (
            sheet.get(&key("standard")).and_then(Value::choice::<Standard>),
            sheet.get(&key("flavour")).and_then(Value::choice::<Flavour>),
        ) else {
            return;
        };
        let standard = of.word();
        debug_assert!(EDCA_STANDARDS.contains(&standard));
        if flavour == Flavour::Ns2 {
            let text = format!("\"ns2\", but ns-2 has no {standard}; expected \"standard\" or \"model\"");
            self.fault(&key("flavour"), text);
            return;
        }
        let preset = Wifi::of(of, flavour, Radio::Ns2).mac;
        let mac = &wifi.mac;
        let is_given = |slot| {
            let from = sheet.cell(slot).map(|(_, cell)| cell.from);
            matches!(from, Some(From::File | From::Set | From::Sweep))
        };
        if sheet.plan.layout.slot(&key("rate")).is_some_and(is_given) {
            let text = format!(
                "has no effect on {standard}; expected mcs, width, guard-interval and streams instead"
            );
            self.fault(&key("rate"), text);
        }
        let of_category = "expected the key of an access category, such as edca.best-effort.cw-min";
        let one_sender = "expected none";
        for (below, is_other, instead) in [
            ("cw-min", mac.cw_min != preset.cw_min, of_category),
            ("cw-max", mac.cw_max != preset.cw_max, of_category),
            ("long-retry", mac.long_retry != preset.long_retry, "expected short-retry"),
            ("fragment-threshold", mac.fragment_threshold.is_some(), one_sender),
            ("fec.rate", mac.fec.is_some(), one_sender),
            ("lifetime", mac.lifetime.is_some(), "expected edca.lifetime"),
            ("queue", mac.buffer.is_some(), "expected a number of packets such as \"500 packets\""),
            ("coordination", wifi.pcf.is_some(), "expected \"dcf\""),
            ("access.deaf-after-cts", mac.access.deaf_after_cts, "expected false"),
            ("access.errors-reserve", mac.access.errors_reserve, "expected false"),
            ("access.blind-exchange", !mac.access.blind_exchange, "expected true"),
        ] {
            if is_other {
                self.fault(&key(below), format!("has no effect on {standard}; {instead}"));
            }
        }
    }
}

/// A list of numbers in words.
fn either(numbers: &[u32]) -> String {
    let texts: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    match &texts[..] {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        texts => texts.concat(),
    }
}
