//! Checks of slotted networks.

use super::Check;
use crate::model::{Config, FrnConfig};

/// The most slots in a window, like those of the key of all stations.
const WIDEST: u64 = 1_000_000;

impl Check<'_> {
    pub(super) fn frn(&mut self, name: &str, frn: &FrnConfig, config: &Config) {
        let key = |below: &str| format!("links.{name}.frn.{below}");
        let windows = &frn.windows;
        if let Some(uppers) = &frn.uppers {
            self.uppers(&key("windows"), uppers, frn);
        }
        if windows.shortest < windows.least {
            let text = format!(
                "{} is below least-wait, {}; expected at least {}",
                windows.shortest, windows.least, windows.least
            );
            self.fault(&key("window"), text);
        }
        for &node in frn.nodes.iter().filter(|node| config.nodes[**node].position.is_none()) {
            let text = format!("missing; expected one for each station of {name}");
            self.fault(&format!("nodes.{}.position", config.nodes[node].table()), text);
        }
    }

    /// The windows of the stations.
    fn uppers(&mut self, key: &str, uppers: &[u64], frn: &FrnConfig) {
        let stations = frn.nodes.len();
        if uppers.len() != stations {
            let text = format!("{} windows; expected one for each of the {stations} stations", uppers.len());
            self.fault(key, text);
        }
        let least = frn.windows.least;
        if let Some(upper) = uppers.iter().find(|upper| **upper < u64::from(least)) {
            self.fault(key, format!("{upper} is below least-wait, {least}; expected at least {least}"));
        }
        if let Some(upper) = uppers.iter().find(|upper| **upper > WIDEST) {
            self.fault(key, format!("{upper}; expected at most {WIDEST}"));
        }
    }
}
