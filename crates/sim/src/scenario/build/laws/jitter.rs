//! The constants of JTCP and EJTCP, and the laws that judge.

use super::Part;
use crate::scenario::value::Value;
use lasthop_stack::packet::Form;
use lasthop_stack::registry::CongestionKind;
use lasthop_stack::schemes::ejtcp::{ModulationRule, RandomTimeout, RttThreshold};
use lasthop_stack::transport::congestion::{Laws, TimeoutRule};
use lasthop_stack::transport::estimate::Reach;
use lasthop_stack::units::Span;

/// Fills in what the scenario sets below `tcp`.
pub(super) fn laws(tcp: &Part<'_>, laws: &mut Laws) {
    let known = |key: &str| tcp.known(key);
    let number = |key: &str| known(key).and_then(Value::si);
    let is = |key: &str, word: &str| known(key).is_some_and(|value| value.is(word));
    let flag = |key: &str| known(key).is_none_or(|value| *value == Value::Bool(true));
    let form = |key: &str| if is(key, "paper") { Form::Paper } else { Form::Option };
    let reach = |key: &str| if is(key, "cwnd") { Reach::Cwnd } else { Reach::Round };
    if let Some(k) = number("jtcp.k") {
        laws.jtcp.reach = reach("jtcp.jitter-window");
        laws.jtcp.k = k;
        laws.jtcp.timeout_rule =
            if is("jtcp.timeout-rule", "half") { TimeoutRule::Half } else { TimeoutRule::Reno };
        laws.jtcp.header = form("jtcp.header");
    }
    let Some(k) = number("ejtcp.k") else { return };
    let law = &mut laws.ejtcp;
    law.k = k;
    law.reach = reach("ejtcp.jitter-window");
    law.jitter_test = flag("ejtcp.jitter-test");
    law.rtt_threshold = match number("ejtcp.alpha") {
        Some(alpha) => RttThreshold::Share(alpha),
        None if is("ejtcp.rtt-threshold", "off") => RttThreshold::Off,
        None => RttThreshold::Fixed(Span(tcp.count("ejtcp.rtt-threshold"))),
    };
    law.double_retransmission = number("ejtcp.double-retransmission");
    law.loss_record = number("ejtcp.loss-record").map(|segments| segments as u32);
    law.filter = flag("ejtcp.filter");
    law.smooth = number("ejtcp.smooth").map(|segments| segments as u32);
    law.modulation = match known("ejtcp.modulation") {
        Some(rule) if rule.is("off") => ModulationRule::Off,
        Some(rule) if rule.is("scale-down") => ModulationRule::ScaleDown,
        _ => ModulationRule::Scale,
    };
    law.random_timeout = match known("ejtcp.after-random-timeout") {
        Some(rule) if rule.is("slow-start") => RandomTimeout::SlowStart,
        Some(rule) if rule.is("half") => RandomTimeout::Half,
        Some(rule) if rule.is("reno") => RandomTimeout::Reno,
        _ => RandomTimeout::Keep,
    };
    law.header = form("ejtcp.header");
}

/// The laws that judge the losses of a flow without a say.
pub(in super::super) fn judges(flow: &Part<'_>) -> Vec<CongestionKind> {
    match flow.value("tcp.judges") {
        Value::List(names) => names.iter().filter_map(|name| CongestionKind::named(&name.text())).collect(),
        _ => Vec::new(),
    }
}
