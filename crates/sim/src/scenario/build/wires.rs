//! What a wire does to packets besides queueing and losing them, by the keys of each direction.

use super::part::Part;
use crate::medium::impairments::{DuplicateConfig, ImpairmentConfig, JitterConfig, ReorderConfig};
use lasthop_stack::link::policer::PolicerConfig;
use lasthop_stack::units::Span;

/// The policer of a direction. The check reports a burst that is missing.
pub(super) fn policer(way: &Part<'_>) -> Option<PolicerConfig> {
    let rate = way.given("policer.rate", |way, key| way.optional(key, Part::rate)).flatten()?;
    Some(PolicerConfig { rate, burst: way.given("policer.burst", Part::bytes)? })
}

/// The impairments of a direction. What has a rate or a spread of 0 is left out.
pub(super) fn impairments(way: &Part<'_>) -> ImpairmentConfig {
    let share = |name: &str| way.given(name, Part::real).unwrap_or(0.0);
    let spread = way.given("jitter.spread", Part::span).unwrap_or(Span::ZERO);
    let jitter = (spread > Span::ZERO).then(|| JitterConfig {
        spread,
        law: way.choice("jitter.distribution"),
        correlation: way.real("jitter.correlation"),
        keeps_order: way.flag("jitter.keeps-order"),
    });
    let reorder = (share("reorder.rate") > 0.0).then(|| ReorderConfig {
        rate: share("reorder.rate"),
        correlation: way.real("reorder.correlation"),
        gap: way.small("reorder.gap"),
        by: way.optional("reorder.by", Part::span),
    });
    let duplicate = (share("duplicate.rate") > 0.0).then(|| DuplicateConfig {
        rate: share("duplicate.rate"),
        correlation: way.real("duplicate.correlation"),
    });
    ImpairmentConfig { jitter, reorder, duplicate }
}
