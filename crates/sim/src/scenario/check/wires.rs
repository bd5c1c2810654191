//! Checks of what a wire does to packets besides queueing and losing them.

use super::Check;
use crate::model::PointToPoint;
use crate::scenario::sheet::Sheet;
use crate::scenario::value::Value;
use lasthop_stack::units::Span;

impl Check<'_> {
    /// A policer has a burst, and packets are sent ahead of those that a delay keeps in transit.
    pub(super) fn treatment(&mut self, name: &str, ends: &PointToPoint, sheet: &Sheet<'_>) {
        for (prefix, direction) in ["", "reverse."].into_iter().zip(&ends.directions) {
            let key = |below: &str| format!("links.{name}.{prefix}{below}");
            let rate = sheet.get(&key("policer.rate"));
            let is_policed = rate.is_some_and(|rate| !matches!(rate, Value::Text(_)));
            if is_policed && direction.policer.is_none() {
                let text = "missing; expected a size in B, kB, MB or GB such as \"15 kB\"";
                self.fault(&key("policer.burst"), text.to_string());
            }
            let has_delay = direction.delay > Span::ZERO || ends.rtt.is_some();
            if direction.impairments.reorder.is_some() && !has_delay {
                let text = "no packet is in transit without a delay; expected links.NAME.delay above 0 s";
                self.fault(&key("reorder.rate"), text.replace("NAME", name));
            }
        }
    }
}
