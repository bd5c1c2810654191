//! Checks of 802.11 links and of their agents.

use super::{Check, secs};
use crate::medium::path::RttLaw;
use crate::medium::radio::config::{ErrorLaw, LossMeaning, PathLoss};
use crate::model::{AirConfig, Config, LinkConfig, LinkKind, PointToPoint, Sends, WifiConfig};
use crate::scenario::build::air::script;
use crate::scenario::keys::words::CapacityFormat;
use crate::scenario::keys::{EDCA_STANDARDS, Standard, Wifi};
use crate::scenario::layout::Section;
use crate::scenario::nearest::listed;
use crate::scenario::quantity::Dim;
use crate::scenario::records::Records;
use crate::scenario::sheet::Sheet;
use crate::scenario::value::Value;
use lasthop_stack::hooks::parameter::Words;
use lasthop_stack::link::dot11::PhyRate;
use lasthop_stack::link::dot16::{Direction, FRAGMENT_OVERHEAD};
use lasthop_stack::registry::{AqmConfig, AqmKind};
use lasthop_stack::units::{Bytes, Rate, Time};

/// Why a file cannot be used in a way.
type Fault = for<'a> fn(&'a Records, &str) -> Option<&'a str>;

/// The shortest way after which shadowing may be drawn anew, m.
const LEAST_WAY_M: f64 = 0.01;

impl Check<'_> {
    pub(super) fn links(&mut self, config: &Config, sheet: &Sheet<'_>) {
        for members in config.links.chunk_by(|one, other| one.table() == other.table()) {
            let table = sheet.plan.layout.links.place(members[0].table());
            let kinds = table.map_or(1, |table| sheet.kinds(Section::Links, table));
            for link in members.iter().take(kinds) {
                if let Some(law) = &link.aqm {
                    self.aqm(link, law);
                }
                match &link.kind {
                    LinkKind::PointToPoint(ends) => self.cable(link.table(), ends, config, sheet),
                    LinkKind::Wifi(wifi) => self.wifi(link.table(), wifi, config, sheet),
                    LinkKind::Frn(frn) => self.frn(link.table(), frn, config),
                }
            }
        }
    }

    fn aqm(&mut self, link: &LinkConfig, law: &AqmConfig) {
        let name = link.table();
        if law.kind().is_for_stations() && link.kind.wifi().is_none() {
            let name_of_law = law.kind().entry().name;
            let text = format!("\"{name_of_law}\" is for stations; expected a link of kind wifi");
            self.fault(&format!("links.{name}.aqm.law"), text);
        }
        if let Some((parameter, text)) = law.conflict() {
            self.fault(&format!("links.{name}.aqm.{}.{parameter}", law.kind().entry().name), text);
        }
    }

    fn cable(&mut self, name: &str, ends: &PointToPoint, config: &Config, sheet: &Sheet<'_>) {
        if let Some(Value::List(nodes)) = sheet.get(&format!("links.{name}.nodes"))
            && nodes.len() > 2
        {
            let [a, b] = ends.nodes.map(|node| config.nodes[node].name.as_str());
            let text =
                format!("{} names; expected the names of two nodes such as [\"{a}\", \"{b}\"]", nodes.len());
            self.fault(&format!("links.{name}.nodes"), text);
        }
        self.loss_model(name, sheet, "snr", "none, packet, bit, gilbert-elliott, list on a lossy link");
        self.round_trip(name, ends.rtt);
        self.treatment(name, ends, sheet);
        match &ends.sends {
            Sends::Wires => {}
            Sends::Air(air) => self.air(name, air, sheet),
            Sends::Recorded(_) => {
                self.records(name, sheet);
                self.more_records(name, sheet);
            }
        }
    }

    /// The files of recorded links; one that both directions name is reported once.
    fn records(&mut self, name: &str, sheet: &Sheet<'_>) {
        let keys = ["trace.file", "reverse.trace.file"].map(|below| format!("links.{name}.{below}"));
        let files = ["", "reverse."].map(|prefix| {
            let of = |below: &str| sheet.get(&format!("links.{name}.{prefix}trace.{below}"));
            (
                of("file").map(Value::text),
                of("format").is_some_and(|format| format.choice() == Some(CapacityFormat::Rates)),
            )
        });
        for (key, (path, is_rates)) in keys.iter().zip(&files).take(if files[0] == files[1] { 1 } else { 2 })
        {
            let fault = path.as_deref().and_then(|path| self.plan.records.fault(path, *is_rates));
            if let Some(text) = fault.map(str::to_string) {
                self.fault(key, text);
            }
        }
    }

    /// The files of recorded delays and of trains; one that both directions name is reported once.
    fn more_records(&mut self, name: &str, sheet: &Sheet<'_>) {
        for (kind, fault) in [("delay", Records::delay_fault as Fault), ("light", Records::train_fault)] {
            let keys = ["", "reverse."].map(|prefix| format!("links.{name}.{prefix}trace.{kind}.file"));
            let [first, second] = keys.each_ref().map(|key| sheet.get(key).map(Value::text));
            let second = second.filter(|path| Some(path) != first.as_ref());
            for (key, path) in keys.iter().zip([first, second]) {
                let found = path.as_deref().and_then(|path| fault(&self.plan.records, path));
                if let Some(text) = found.map(str::to_string) {
                    self.fault(key, text);
                }
            }
        }
        let keeps =
            |law: &Value| AqmKind::named(&law.text()).is_some_and(|kind| kind.config().keeps_packets());
        if sheet.get(&format!("links.{name}.trace.light.file")).is_some()
            && let Some(law) = sheet.get(&format!("links.{name}.aqm.law")).filter(|law| keeps(law))
        {
            let text = format!(
                "{} with trace.light, which delays packets first; expected no such queue",
                law.text()
            );
            self.fault(&format!("links.{name}.aqm.law"), text);
        }
    }

    /// The law of a round trip that is drawn.
    fn round_trip(&mut self, name: &str, law: Option<RttLaw>) {
        let key = |below: &str| format!("links.{name}.rtt.{below}");
        match law {
            Some(RttLaw::Uniform { least, most }) if least > most => {
                let text = format!("{} is above rtt.uniform.max, {}; expected less", secs(least), secs(most));
                self.fault(&key("uniform.min"), text);
            }
            Some(RttLaw::Normal { mean, least, .. }) if least > mean => {
                let text =
                    format!("{} is above rtt.normal.mean, {}; expected no more", secs(least), secs(mean));
                self.fault(&key("normal.min"), text);
            }
            _ => {}
        }
    }

    fn air(&mut self, name: &str, air: &AirConfig, sheet: &Sheet<'_>) {
        let key = |below: &str| format!("links.{name}.{below}");
        for (direction, taken, what) in
            [(Direction::Down, "frame.maps", "downlink"), (Direction::Up, "frame.requests", "uplink")]
        {
            let (opens, closes) = air.frame.subframe(direction, Time::ZERO);
            let has_room = |rate| {
                let least = Bytes(2 * u64::from(FRAGMENT_OVERHEAD)).time_at(rate);
                opens.after(least) <= closes
            };
            let slow = [(air.rates.qam16, "rates.16-qam"), (air.rates.qam64, "rates.64-qam")]
                .into_iter()
                .find(|(rate, _)| !has_room(*rate));
            if !has_room(air.rates.qpsk) {
                let text = format!("the {what} sub-frame has no room for a fragment; expected less");
                self.fault(&key(taken), text);
            } else if let Some((_, below)) = slow {
                let text = format!("the {what} sub-frame has no room for a fragment; expected a higher rate");
                self.fault(&key(below), text);
            }
        }
        if let Some(Value::Text(text)) = sheet.get(&key("modulation.script"))
            && let Err(wrong) = script(text)
        {
            self.fault(&key("modulation.script"), wrong);
        }
    }

    fn loss_model(&mut self, name: &str, sheet: &Sheet<'_>, wrong: &str, expected: &str) {
        let key = format!("links.{name}.loss.model");
        if sheet.get(&key).is_some_and(|model| model.is(wrong)) {
            self.fault(&key, format!("\"{wrong}\"; expected one of {expected}"));
        }
    }

    fn wifi(&mut self, name: &str, wifi: &WifiConfig, config: &Config, sheet: &Sheet<'_>) {
        let key = |below: &str| format!("links.{name}.{below}");
        self.loss_meaning(name, wifi, sheet);
        self.rates(name, sheet);
        self.positions(name, wifi, config, sheet);
        self.echoes(name, wifi, config, sheet);
        if let Some(queue) = sheet.get(&key("queue"))
            && !matches!(queue, Value::Quantity(_))
        {
            let text = format!(
                "\"{}\" on a wifi link; expected a number of packets such as \"50 packets\", or of bytes such as \"32 kB\"",
                queue.text()
            );
            self.fault(&key("queue"), text);
        }
        self.of_today(name, wifi, sheet);
        let mac = &wifi.mac;
        if mac.cw_min > mac.cw_max {
            let text = format!("{} is above cw-max, {}; expected less", mac.cw_min, mac.cw_max);
            self.fault(&key("cw-min"), text);
        }
        let mut wrong_access_point = false;
        for (below, word, found) in
            [("access-point", "none", wifi.access_point), ("observer", "auto", wifi.observer)]
        {
            if let Some(Value::Text(node)) = sheet.get(&key(below))
                && node != word
                && found.is_none()
            {
                let stations: Vec<&str> =
                    wifi.nodes.iter().map(|node| config.nodes[*node].name.as_str()).collect();
                let stations = listed(node, &stations);
                let text = format!(
                    "\"{node}\" is not a station of this link; expected \"{word}\" or one of {stations}"
                );
                self.fault(&key(below), text);
                wrong_access_point |= below == "access-point";
            }
        }
        if !wrong_access_point {
            self.periods(name, wifi);
            self.arq(name, wifi);
        }
        if wifi.mac.buffer.is_none() {
            for (below, usual) in [("buffer.shared-by", "all"), ("buffer.counts", "packets")] {
                if let Some(word) = sheet.get(&key(below)).filter(|word| !word.is(usual)) {
                    let text = format!(
                        "\"{}\" with a queue in packets; expected \"{usual}\", or a queue in bytes such as \"32 kB\"",
                        word.text()
                    );
                    self.fault(&key(below), text);
                }
            }
        }
    }

    /// A scheme that chooses belongs to an access point, as do its reports, and a poll takes the next packet.
    fn arq(&mut self, name: &str, wifi: &WifiConfig) {
        let Some(arq) = &wifi.arq else { return };
        let key = |below: &str| format!("links.{name}.{below}");
        let kind = arq.kind().entry().name;
        if wifi.access_point.is_none() {
            let text =
                format!("\"{kind}\" without an access point; expected links.{name}.access-point to name one");
            self.fault(&key("arq.kind"), text);
        }
        if wifi.pcf.is_some() && arq.chooses() {
            let text = format!("\"{kind}\" with coordination \"pcf\"; expected \"dcf\"");
            self.fault(&key("arq.kind"), text);
        }
    }

    fn loss_meaning(&mut self, name: &str, wifi: &WifiConfig, sheet: &Sheet<'_>) {
        let key = |below: &str| format!("links.{name}.loss.{below}");
        let is = |below: &str, word: &str| sheet.get(&key(below)).is_some_and(|value| value.text() == word);
        let errors = &wifi.radio.errors;
        if is("above-mac", "true") && is("repaired-by-arq", "true") {
            let text = "true with loss.above-mac, where losses occur after the ARQ; expected false";
            self.fault(&key("repaired-by-arq"), text.to_string());
        } else if errors.meaning != LossMeaning::OnAir && is("of", "all") {
            let text = "\"all\" with loss.repaired-by-arq = false, which loses packets; expected \"packets\" or \"data\"";
            self.fault(&key("of"), text.to_string());
        }
        if errors.meaning == LossMeaning::AboveMac && errors.law == ErrorLaw::Snr {
            let text =
                "\"snr\" with loss.above-mac, which does not depend on the signal; expected another model";
            self.fault(&key("model"), text.to_string());
        }
        if errors.meaning == LossMeaning::AboveMac && matches!(errors.law, ErrorLaw::List { .. }) {
            let text = "\"list\" with loss.above-mac, where attempts are not counted; expected another model";
            self.fault(&key("model"), text.to_string());
        }
        if errors.meaning == LossMeaning::AboveMac && wifi.mac.fec.is_some() {
            let text = "a code with loss.above-mac, where losses occur after decoding; expected 1";
            self.fault(&format!("links.{name}.fec.rate"), text.to_string());
        }
    }

    /// The Doppler shift follows from the carrier, which a flat medium does not have, and from a speed.
    fn echoes(&mut self, name: &str, wifi: &WifiConfig, config: &Config, sheet: &Sheet<'_>) {
        let is = |below: &str, word: &str| {
            sheet.get(&format!("links.{name}.propagation.{below}")).is_some_and(|value| value.is(word))
        };
        let moves = wifi.nodes.iter().any(|node| config.nodes[*node].motion.is_some());
        if is("model", "flat") && is("fading.coherence", "doppler") {
            let text = "\"doppler\" with propagation.model = \"flat\", which has no frequency; expected a time such as \"15 ms\"";
            self.fault(&format!("links.{name}.propagation.fading.coherence"), text.to_string());
        } else if is("fading.speed", "nodes") && !moves {
            let text =
                "\"nodes\", but the stations of the link do not move; expected a speed such as \"1.5 m/s\"";
            self.fault(&format!("links.{name}.propagation.fading.speed"), text.to_string());
        }
        let redraw = format!("links.{name}.propagation.shadowing.redraw");
        let way_m = match sheet.get(&redraw) {
            Some(Value::Quantity(way)) if way.dim == Dim::Length => Some(way.si()),
            _ => None,
        };
        let wrong = match way_m {
            Some(_) if !moves => {
                Some("a length, but the stations of the link do not move; expected a time or \"never\"")
            }
            Some(way_m) if way_m < LEAST_WAY_M => Some("too short; expected at least 0.01 m"),
            _ => None,
        };
        if let Some(text) = wrong {
            self.fault(&redraw, text.to_string());
        }
    }

    fn rates(&mut self, name: &str, sheet: &Sheet<'_>) {
        let is_edca = |standard: &Value| EDCA_STANDARDS.iter().any(|known| standard.is(known));
        // There a rate is reported by itself.
        let has_rate = !sheet.get(&format!("links.{name}.standard")).is_some_and(is_edca);
        for below in ["rate", "basic-rates", "protection-rate"] {
            if below == "rate" && !has_rate {
                continue;
            }
            let key = format!("links.{name}.{below}");
            let wrong = match sheet.get(&key) {
                Some(Value::List(rates)) => rates.iter().find_map(|rate| Self::wrong_rate(name, rate, sheet)),
                Some(Value::Text(_)) | None => None,
                Some(rate) => Self::wrong_rate(name, rate, sheet),
            };
            if let Some(text) = wrong {
                self.fault(&key, text);
            }
        }
    }

    /// What is wrong with a rate, if the standard of a link lacks it.
    pub(super) fn wrong_rate(link: &str, rate: &Value, sheet: &Sheet<'_>) -> Option<String> {
        let standard: Standard = sheet.get(&format!("links.{link}.standard"))?.choice()?;
        let known = Wifi::rates(standard);
        if let Value::Quantity(rate) = rate
            && let Some(rate) = rate.base.as_u64().and_then(|rate| PhyRate::from_rate(Rate(rate)))
            && known.contains(&rate)
        {
            return None;
        }
        let known: Vec<String> = known.iter().map(|rate| (rate.rate().0 as f64 / 1e6).to_string()).collect();
        let (rate, known) = (rate.text(), known.join(", "));
        Some(format!("\"{rate}\" is not a rate of {}; expected one of {known} Mbit/s", standard.word()))
    }

    /// Stations hear each other by distance, or all at equal power; positions for only some of them are a mistake.
    fn positions(&mut self, name: &str, wifi: &WifiConfig, config: &Config, sheet: &Sheet<'_>) {
        let key = format!("links.{name}.propagation.model");
        let stations = || wifi.nodes.iter().map(|node| &config.nodes[*node]);
        if sheet.get(&key).is_some_and(|model| model.choice() == Some(PathLoss::Flat)) {
            if let Some(node) = stations().find(|node| node.position.is_some()) {
                let text = format!(
                    "\"flat\", but another link of \"{}\" needs its position; expected the same model for both",
                    node.name
                );
                self.fault(&key, text);
            }
            return;
        }
        let Some(placed) = stations().find(|node| node.position.is_some()) else {
            // What is not set is flat here.
            if let Some(model) = sheet.get(&key) {
                let text = format!(
                    "\"{}\", but the stations of {name} have no position; expected \"flat\", or a position for each",
                    model.text()
                );
                self.fault(&key, text);
            }
            return;
        };
        for lost in stations().filter(|node| node.position.is_none()) {
            let text = format!(
                "missing; expected one for each station of {name}, because \"{}\" has one",
                placed.name
            );
            self.fault(&format!("nodes.{}.position", lost.table()), text);
        }
    }

    /// Nodes whose movement has no effect.
    pub(super) fn movers(&mut self, config: &Config, sheet: &Sheet<'_>) {
        // For each node its first slotted network, and whether it is on a medium.
        let mut at: Vec<(Option<usize>, bool)> = vec![(None, false); config.nodes.len()];
        for (link, frn) in config.frn() {
            frn.nodes.iter().for_each(|node| {
                at[*node].0.get_or_insert(link);
            });
        }
        for (_, wifi) in config.wifi() {
            wifi.nodes.iter().for_each(|node| at[*node].1 = true);
        }
        let tables = config.nodes.chunk_by(|one, other| one.table() == other.table());
        for (members, number) in tables.scan(0, |first, members| {
            *first += members.len();
            Some((members, *first - members.len()))
        }) {
            let node = &members[0];
            let key = format!("nodes.{}.move.kind", node.table());
            let Some(kind) = sheet.get(&key) else { continue };
            let kind = kind.text();
            let (network, on_air) = at[number];
            if let Some(link) = network {
                let link = config.links[link].table();
                self.fault(
                    &key,
                    format!("\"{kind}\" in the slotted network {link}; expected stationary nodes"),
                );
            } else if node.motion.is_none() || !on_air {
                let text = format!(
                    "\"{kind}\", but no 802.11 link of the node depends on distance; expected a stationary node"
                );
                self.fault(&key, text);
            }
        }
    }
}
