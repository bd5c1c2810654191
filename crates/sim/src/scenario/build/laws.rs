//! The constants of the congestion laws.

mod jitter;

pub(super) use jitter::judges;

use super::Part;
use crate::scenario::value::Value;
use lasthop_stack::transport::congestion::Laws;
use lasthop_stack::transport::estimate::LowPass;

/// The constants of the law that runs as the scenario sets them; where another law runs, its keys have no value, and the
/// profile's stay.
pub(super) fn laws(flow: &Part<'_>, mut laws: Laws) -> Laws {
    let tcp = flow.below("tcp");
    let number = |key: &str| tcp.known(key).and_then(Value::si);
    for (key, value) in [
        ("vegas.alpha", &mut laws.vegas.alpha),
        ("vegas.beta", &mut laws.vegas.beta),
        ("vegas.gamma", &mut laws.vegas.gamma),
        ("veno.beta", &mut laws.veno.beta),
        ("cubic.c", &mut laws.cubic.c),
        ("cubic.beta", &mut laws.cubic.beta),
    ] {
        if let Some(set) = number(key) {
            *value = set;
        }
    }
    if let Some(Value::Bool(rounded)) = tcp.known("vegas.rounded-backlog") {
        laws.vegas.rounded = *rounded;
    }
    if let Some(Value::Bool(fast)) = tcp.known("cubic.fast-convergence") {
        laws.cubic.fast_convergence = *fast;
    }
    if let Some(alpha) = number("westwood.alpha") {
        laws.westwood.filter = LowPass::Constant(alpha);
    }
    let span = |key: &str| tcp.known(key).map(|_| tcp.span(key));
    if let Some(tau) = span("westwood.tau") {
        laws.westwood.filter = LowPass::Tustin(tau);
    }
    if let Some(least) = span("westwood-plus.least-interval") {
        laws.westwood_plus.least_interval = least;
    }
    jitter::laws(&tcp, &mut laws);
    laws
}
