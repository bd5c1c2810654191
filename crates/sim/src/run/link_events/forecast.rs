//! The predictions for a link or a node: when a warning is due, whether it is true, and whether it is still active.

use lasthop_stack::hooks::LinkEvent;

use crate::engine::queue::Slot;
use crate::medium::outages::Outage;
use crate::medium::warnings::Warnings;
use crate::net::Net;

/// The warnings of outages, or of hand-offs.
#[derive(Debug)]
pub(super) struct Forecast {
    warnings: Option<Warnings>,
    /// Whether the coming event has been predicted, and whether a false warning is active.
    is_warned: bool,
    is_falsely_warned: bool,
    warning: Slot,
    false_warning: Slot,
}

impl Forecast {
    /// Predictions, if the scenario has any; the slots are for true and false ones.
    pub(super) fn new(warnings: Option<Warnings>, [warning, false_warning]: [Slot; 2]) -> Forecast {
        Forecast { warnings, is_warned: false, is_falsely_warned: false, warning, false_warning }
    }

    /// Schedules the first false warning at the start of the run.
    pub(super) fn begin(&mut self, net: &mut Net) {
        if let Some(at) = self.warnings.as_mut().and_then(|warnings| warnings.next_false(net.now)) {
            net.queue.set(self.false_warning, at);
        }
    }

    /// Sets the next event.
    pub(super) fn expect(&mut self, coming: Outage, net: &mut Net) {
        self.is_warned = false;
        if let Some(at) = self.warnings.as_mut().and_then(|warnings| warnings.of(coming, net.now)) {
            net.queue.set(self.warning, at);
        }
    }

    /// A true warning is due.
    pub(super) fn warn(&mut self) {
        self.is_warned = true;
    }

    /// The predicted event occurs.
    pub(super) fn come_true(&mut self) {
        (self.is_warned, self.is_falsely_warned) = (false, false);
    }

    /// A false warning, or its withdrawal, is due. Returns the event to report, if the link or node is not already
    /// away.
    pub(super) fn mislead(&mut self, is_away: bool, net: &mut Net) -> Option<LinkEvent> {
        let now = net.now;
        let warnings = self.warnings.as_mut()?;
        let event = if self.is_falsely_warned {
            self.is_falsely_warned = false;
            LinkEvent::Cleared
        } else {
            self.is_falsely_warned = !is_away;
            LinkEvent::Warning
        };
        let due = if self.is_falsely_warned {
            Some(now.after(warnings.false_for()))
        } else {
            warnings.next_false(now)
        };
        if let Some(due) = due {
            net.queue.set(self.false_warning, due);
        }
        // If a true warning is active, the false one is not withdrawn; nothing is reported while the link is already
        // down.
        (!is_away && (event == LinkEvent::Warning || !self.is_warned)).then_some(event)
    }
}
