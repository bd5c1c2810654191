//! Checks of the transmit powers that nodes have of their own.

use super::Check;
use crate::medium::radio::config::watts_to_dbm;
use crate::model::{Config, NodeConfig};

/// The share by which a rounded level, such as the 24.5 dBm of 281.83815 mW, may exceed its power.
const ROUNDED: f64 = 1e-6;

impl Check<'_> {
    /// Powers of nodes: those of stations with a position, and no more than that of their links.
    pub(super) fn own_powers(&mut self, config: &Config) {
        self.each_node(config, |check, number, node| {
            if let Some(power_w) = node.power_w {
                check.own_power(config, (number, node), power_w);
            }
        });
    }

    fn own_power(&mut self, config: &Config, (number, node): (usize, &NodeConfig), power_w: f64) {
        let name = node.table();
        let key = format!("nodes.{name}.wifi.transmit-power");
        let on = config.wifi().filter(|(_, wifi)| wifi.nodes.contains(&number));
        let on: Vec<_> = on.map(|(place, wifi)| (config.links[place].table(), &wifi.radio)).collect();
        if on.is_empty() {
            let text = format!("has no effect; expected {name} to have a position and an 802.11 link");
            self.fault(&key, text);
        }
        // Where a medium is flat, its stations have no position.
        let is_flat = node.position.is_none() && node.motion.is_none();
        for (link, radio) in on {
            if is_flat {
                let text = format!(
                    "has no effect, as the propagation of links.{link} is flat; \
                     expected positions of its nodes and another model"
                );
                self.fault(&key, text);
            } else if power_w > radio.transmit_power_w * (1.0 + ROUNDED) {
                let (ours, most) = (watts_to_dbm(power_w), watts_to_dbm(radio.transmit_power_w));
                let digits = digits_apart(ours, most);
                let text = format!(
                    "{ours:.digits$} dBm; expected at most {most:.digits$} dBm, that of links.{link}"
                );
                self.fault(&key, text);
            }
        }
    }
}

/// How many decimals two levels need in order to differ, at least two.
fn digits_apart(ours: f64, most: f64) -> usize {
    let is_apart = |digits: &usize| format!("{ours:.digits$}") != format!("{most:.digits$}");
    (2..7).find(is_apart).unwrap_or(7)
}
