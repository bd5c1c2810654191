//! Contention of the four categories: their backoffs, computed without events, and internal collisions.

use super::super::timing::Rules;
use super::config::{Access, MuEdca};
use super::{Category, Doing, Edca, MacOut};
use crate::hooks::Arq;
use crate::units::{Span, Time};

/// The contention of one category.
#[derive(Clone, Debug)]
pub(super) struct Contender {
    pub(super) access: Access,
    aifs: Span,
    /// Contention window.
    window: u32,
    /// Attempts in a row that have failed.
    failures: u32,
    /// Slots left of a backoff.
    pub(super) backoff: Option<u32>,
    /// When its first slot begins; valid while the medium is idle and the station contends.
    pub(super) counting_from: Time,
    /// Packets it holds.
    pub(super) backlog: u32,
    /// The agreements that have something to send.
    pub(super) active: Vec<u32>,
    /// An agreement has something to send again, which the other links of its device do not know yet.
    pub(super) has_woken: bool,
    /// The access point has stations to trigger.
    pub(super) solicits: bool,
    /// Until when a triggered station contends with other parameters, and its own.
    mu_until: Time,
    own: Access,
}

impl Contender {
    pub(super) fn new(access: Access, rules: &Rules) -> Contender {
        Contender {
            access,
            aifs: rules.config.sifs + rules.config.slot * u64::from(access.aifsn),
            window: access.cw_min,
            failures: 0,
            backoff: None,
            counting_from: Time::ZERO,
            backlog: 0,
            active: Vec::new(),
            has_woken: false,
            solicits: false,
            mu_until: Time::ZERO,
            own: access,
        }
    }

    pub(super) fn has_work(&self) -> bool {
        !self.active.is_empty() || self.solicits
    }

    /// What a triggered station has sent has arrived: it contends with these parameters for a time (26.2.7).
    pub(super) fn defer(&mut self, mu: &MuEdca, rules: &Rules, now: Time) {
        let aifsn = if mu.aifsn == 0 { self.own.aifsn } else { mu.aifsn };
        self.take_up(Access { aifsn, cw_min: mu.cw_min, cw_max: mu.cw_max, ..self.own }, rules);
        self.mu_until = now.after(mu.timer);
    }

    /// Returns to its own parameters at the end of that time.
    pub(super) fn restore(&mut self, rules: &Rules, now: Time) {
        if self.mu_until > Time::ZERO && now >= self.mu_until {
            self.take_up(self.own, rules);
            self.mu_until = Time::ZERO;
        }
    }

    fn take_up(&mut self, access: Access, rules: &Rules) {
        self.access = access;
        self.aifs = rules.config.sifs + rules.config.slot * u64::from(access.aifsn);
        let within = self.window.clamp(access.cw_min, access.cw_max);
        self.window = if self.failures == 0 { access.cw_min } else { within };
    }

    /// When it may begin to count after the medium is idle from then on.
    pub(super) fn opens(&self, base: Time, mu: Option<MuEdca>) -> Time {
        let opens = base + self.aifs;
        if mu.is_some_and(|mu| mu.aifsn == 0) { opens.max(self.mu_until) } else { opens }
    }

    /// A packet for an agreement, which had something to send before or not.
    pub(super) fn add(&mut self, place: u32, was_active: bool) {
        self.backlog += 1;
        if !was_active {
            self.active.push(place);
        }
    }

    /// A packet has gone.
    pub(super) fn remove(&mut self) {
        self.backlog -= 1;
    }

    /// An agreement of a multi-link device has something to send again.
    pub(super) fn wake(&mut self, place: u32) {
        if !self.active.contains(&place) {
            self.active.push(place);
            self.has_woken = true;
        }
    }

    /// An agreement has nothing to send.
    pub(super) fn retire(&mut self, place: u32) {
        if let Some(found) = self.active.iter().position(|active| *active == place) {
            self.active.swap_remove(found);
        }
    }

    pub(super) fn succeed(&mut self) {
        (self.window, self.failures) = (self.access.cw_min, 0);
    }

    /// An attempt has failed, or collided internally.
    pub(super) fn widen(&mut self) {
        self.window = (self.window * 2 + 1).min(self.access.cw_max);
    }

    /// Counts a failed attempt: one after as many as the limit resets the window (10.23.2.2).
    pub(super) fn fail(&mut self, limit: Option<u32>) {
        self.failures += 1;
        if limit.is_some_and(|limit| self.failures > limit) {
            self.succeed();
        } else {
            self.widen();
        }
    }

    pub(super) fn ends(&self, slot: Span) -> Option<Time> {
        self.backoff.map(|left| self.counting_from + slot * u64::from(left))
    }

    /// A backoff that has ended with nothing to send ends at the next slot boundary instead (10.23.2.4).
    fn align(&mut self, slot: Span, now: Time) {
        let has_ended = self.ends(slot).is_none_or(|end| end < now);
        if has_ended && now > self.counting_from {
            self.backoff = Some((now - self.counting_from).0.div_ceil(slot.0) as u32);
        }
    }

    /// The medium turns busy. Returns whether its turn is this instant.
    pub(super) fn freeze(&mut self, slot: Span, now: Time) -> bool {
        let Some(left) = self.backoff.filter(|_| now >= self.counting_from) else { return false };
        let run = ((now - self.counting_from).0 / slot.0) as u32;
        // One at the boundary after AIFS and one after each slot.
        self.backoff = left.checked_sub(run + 1);
        if self.backoff.is_none() && self.has_work() {
            self.backoff = Some(0);
        }
        left == run && (now - self.counting_from).0.is_multiple_of(slot.0)
    }
}

impl<A: Arq + Clone> Edca<A> {
    /// From when on the medium has been idle, with the time that an error or a missing response adds.
    pub(super) fn base(&self) -> Time {
        let base =
            self.core.carrier.idle_from(self.core.rules.eifs - self.core.rules.difs).max(self.not_before);
        base.max(self.barred_until())
    }

    /// A packet arrived in a category that had nothing to send.
    pub(super) fn join(&mut self, category: usize, now: Time, out: &mut impl MacOut) {
        if self.core.carrier.busy {
            self.ensure_backoff(category, out);
            return;
        }
        let (base, mu, is_aligned) = (self.base(), self.mu_edca(), self.begins_at_boundaries());
        let contender = &mut self.contenders[category];
        contender.restore(&self.core.rules, now);
        if is_aligned && self.core.rules.config.access.immediate {
            contender.align(self.core.rules.config.slot, now);
        }
        let opens = contender.opens(base, mu);
        if let Some(end) = contender.ends(self.core.rules.config.slot) {
            if end > now {
                self.wait_for_turn(out);
                return;
            }
            contender.backoff = None;
        }
        if now >= opens && self.core.rules.config.access.immediate {
            self.attempt(category, now, out);
            return;
        }
        contender.counting_from = opens.max(now);
        self.ensure_backoff(category, out);
        self.wait_for_turn(out);
    }

    pub(super) fn ensure_backoff(&mut self, category: usize, out: &mut impl MacOut) {
        if self.contenders[category].backoff.is_none() {
            self.back_off(category, out);
        }
    }

    /// Draws a backoff.
    pub(super) fn back_off(&mut self, category: usize, out: &mut impl MacOut) {
        let contender = &mut self.contenders[category];
        contender.backoff = Some(out.draw(self.core.rules.draw_bound(contender.window)));
    }

    /// Sets the timer to the end of the first backoff of a category with something to send.
    pub(super) fn wait_for_turn(&mut self, out: &mut impl MacOut) {
        let slot = self.core.rules.config.slot;
        let turns = self.contenders.iter().filter(|contender| contender.has_work());
        let at = turns.filter_map(|contender| contender.ends(slot)).min().unwrap_or(Time::NEVER);
        let at = at.min(self.wakes_at()).min(self.radios_change_at());
        self.core.arm(at, out);
    }

    /// The timer fired in contention.
    pub(super) fn on_turn(&mut self, now: Time, out: &mut impl MacOut) {
        self.core.armed = Time::NEVER;
        let (slot, busy) = (self.core.rules.config.slot, self.core.carrier.busy);
        let committed = std::mem::take(&mut self.committed);
        self.note_silence(now);
        if !busy && self.begins_at_boundaries() {
            self.contenders
                .iter_mut()
                .filter(|contender| contender.has_work())
                .for_each(|contender| contender.align(slot, now));
        }
        if self.note_due(now) && self.requests_now(now, out) {
            return;
        }
        let is_due = |category: usize, contender: &Contender| {
            if busy {
                committed >> category & 1 == 1
            } else {
                contender.has_work() && contender.ends(slot).is_some_and(|end| end <= now)
            }
        };
        let mut winner = None;
        for category in Category::BY_PRIORITY.map(|category| category as usize) {
            if !is_due(category, &self.contenders[category]) {
                continue;
            }
            if winner.is_none() {
                winner = Some(category);
                continue;
            }
            self.block_acks.internal_collisions += 1;
            self.contenders[category].widen();
            self.back_off(category, out);
            // It counts from the end of the winner's exchange.
            self.contenders[category].counting_from = Time::NEVER;
        }
        if let Some(winner) = winner {
            self.attempt(winner, now, out);
        } else if self.is_linked() && !busy {
            // Another link may send what one of them waited for, or a station listens again.
            self.rejoin(now, out);
            if self.core.contends() {
                self.wait_for_turn(out);
            }
        }
    }

    /// Leaves the medium to others until the radio comes back.
    pub(super) fn go_away(&mut self, now: Time, out: &mut impl MacOut) {
        let (slot, is_busy) = (self.core.rules.config.slot, self.core.carrier.busy);
        for contender in self.contenders.iter_mut().filter(|_| !is_busy) {
            contender.freeze(slot, now);
        }
        self.committed = 0;
        self.core.arm(Time::NEVER, out);
        self.core.doing = Doing::Apart;
    }

    /// A category begins to send: the backoffs of the others freeze, except where the medium was busy already.
    pub(super) fn seize(&mut self, category: usize, now: Time) {
        let slot = self.core.rules.config.slot;
        let is_busy = self.core.carrier.busy;
        for (other, contender) in self.contenders.iter_mut().enumerate() {
            if other == category {
                contender.backoff = None;
            } else if !is_busy {
                contender.freeze(slot, now);
            }
        }
        self.core.carrier.take();
        (self.core.armed, self.committed) = (Time::NEVER, 0);
    }
}
