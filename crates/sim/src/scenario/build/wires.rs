//! What a wire does to packets besides queueing and losing them.

use super::part::Part;
use crate::medium::impairments::{DuplicateConfig, ImpairmentConfig, JitterConfig, JitterLaw, ReorderConfig};
use lasthop_stack::link::policer::PolicerConfig;
use lasthop_stack::units::Span;

/// The policer of a direction; `prefix` is `reverse.` or nothing. The check reports a burst that is missing.
pub(super) fn policer(link: &Part<'_>, prefix: &str) -> Option<PolicerConfig> {
    let key = |name: &str| format!("{prefix}policer.{name}");
    link.known(&key("rate"))?;
    let rate = link.optional(&key("rate"), Part::rate)?;
    link.known(&key("burst"))?;
    Some(PolicerConfig { rate, burst: link.bytes(&key("burst")) })
}

/// The impairments of a direction. What has a rate or a spread of 0 is left out. A key of the reverse direction has the value
/// of the forward direction, and where that has no meaning because only the reverse direction is impaired, its default.
pub(super) fn impairments(link: &Part<'_>, prefix: &str) -> ImpairmentConfig {
    let key = |name: &str| format!("{prefix}{name}");
    let known = |name: &str| link.known(&key(name)).map(|_| key(name));
    let share = |name: &str| known(name).map_or(0.0, |key| link.real(&key));
    let spread = known("jitter.spread").map_or(Span::ZERO, |key| link.span(&key));
    let jitter = (spread > Span::ZERO).then(|| JitterConfig {
        spread,
        law: known("jitter.distribution").map_or(JitterLaw::Uniform, |key| link.choice(&key)),
        correlation: share("jitter.correlation"),
        keeps_order: known("jitter.keeps-order").is_none_or(|key| link.flag(&key)),
    });
    let reorder = (share("reorder.rate") > 0.0).then(|| ReorderConfig {
        rate: share("reorder.rate"),
        correlation: share("reorder.correlation"),
        gap: known("reorder.gap").map_or(1, |key| link.small(&key)),
        by: known("reorder.by").and_then(|key| link.optional(&key, Part::span)),
    });
    let duplicate = (share("duplicate.rate") > 0.0).then(|| DuplicateConfig {
        rate: share("duplicate.rate"),
        correlation: share("duplicate.correlation"),
    });
    ImpairmentConfig { jitter, reorder, duplicate }
}
