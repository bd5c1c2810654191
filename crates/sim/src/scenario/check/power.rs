//! Checks of the transmit powers that nodes have of their own.

use super::Check;
use crate::medium::radio::config::watts_to_dbm;
use crate::model::{Config, LinkKind};

impl Check<'_> {
    /// Powers of nodes: those of stations with a position, and no more than that of their links.
    pub(super) fn own_powers(&mut self, config: &Config) {
        let mut last = None;
        for (number, node) in config.nodes.iter().enumerate() {
            let Some(power_w) = node.power_w else { continue };
            let name = node.table();
            if last.replace(name) == Some(name) {
                continue;
            }
            let key = format!("nodes.{name}.wifi.transmit-power");
            let mut radios = config.links.iter().filter_map(|link| match &link.kind {
                LinkKind::Wifi(wifi) if wifi.nodes.contains(&number) => Some((link.table(), &wifi.radio)),
                _ => None,
            });
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
