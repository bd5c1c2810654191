//! Checks of the transmit powers that nodes have of their own.

use super::Check;
use crate::medium::radio::config::watts_to_dbm;
use crate::model::Config;

impl Check<'_> {
    /// Powers of nodes: those of stations with a position, and no more than that of their links.
    pub(super) fn own_powers(&mut self, config: &Config) {
        let mut found = self.faults.len();
        let mut last = None;
        for (number, node) in config.nodes.iter().enumerate() {
            let name = node.table();
            // A group has one fault, whichever of its members is wrong.
            if last.replace(name) != Some(name) {
                found = self.faults.len();
            }
            let Some(power_w) = node.power_w.filter(|_| self.faults.len() == found) else { continue };
            let key = format!("nodes.{name}.wifi.transmit-power");
            let on = config.wifi().filter(|(_, wifi)| wifi.nodes.contains(&number));
            let mut radios = on.map(|(place, wifi)| (config.links[place].table(), &wifi.radio));
            let is_placed = node.position.is_some() || node.motion.is_some();
            let Some((first, radio)) = radios.next().filter(|_| is_placed) else {
                let text = format!("has no effect; expected {name} to have a position and an 802.11 link");
                self.fault(&key, text);
                continue;
            };
            let all = std::iter::once((first, radio)).chain(radios);
            // A decibel is rounded.
            for (link, radio) in all.filter(|(_, radio)| power_w > radio.transmit_power_w * (1.0 + 1e-9)) {
                let (ours, most) = (watts_to_dbm(power_w), watts_to_dbm(radio.transmit_power_w));
                let text = format!("{ours:.2} dBm; expected at most {most:.2} dBm, that of links.{link}");
                self.fault(&key, text);
            }
        }
    }
}
