//! Checks of slotted networks.

use super::Check;
use crate::model::{Config, FrnConfig};

impl Check<'_> {
    pub(super) fn frn(&mut self, name: &str, frn: &FrnConfig, config: &Config) {
        let key = |below: &str| format!("links.{name}.frn.{below}");
        let windows = &frn.windows;
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
}
