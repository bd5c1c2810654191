//! The text of values that the profiles of TCP have.

use super::super::quantity::{Dim, Quantity};
use super::Decimal;
use super::words::{Departures, Duplicates, Growth, RetransmitTimer};
use lasthop_stack::registry::VARIANTS;
use lasthop_stack::registry::tcp;
use lasthop_stack::transport::tcp::Counting;
use lasthop_stack::units::Span;

pub(super) fn bytes(count: u64) -> String {
    quantity(Dim::Size, count)
}

pub(super) fn segments(count: u32) -> String {
    quantity(Dim::Segments, count.into())
}

pub(super) fn time(span: Span) -> String {
    quantity(Dim::Time, span.0)
}

pub(super) fn quantity(dim: Dim, base: u64) -> String {
    Quantity { dim, base: Decimal::new(base.into(), 0) }.text()
}

pub(super) fn variant_name(config: &tcp::Config) -> String {
    let pair = |variant: &&lasthop_stack::registry::Variant| {
        variant.recovery == config.parts.recovery && variant.congestion == config.parts.law.kind()
    };
    VARIANTS.iter().find(pair).map_or_else(String::new, |variant| variant.name.to_string())
}

pub(super) fn duplicates(config: &tcp::Config) -> Duplicates {
    if config.newreno_counts { Duplicates::Count } else { Duplicates::Inflate }
}

pub(super) fn retransmit_timer(config: &tcp::Config) -> RetransmitTimer {
    if config.newreno_impatient { RetransmitTimer::Impatient } else { RetransmitTimer::SlowButSteady }
}

pub(super) fn departures(config: &tcp::Config) -> Departures {
    if config.cubic_as_linux { Departures::Linux } else { Departures::None }
}

pub(super) fn growth(config: &tcp::Config) -> Growth {
    match config.counting {
        Counting::Acks => Growth::Acks,
        Counting::Segments(_) => Growth::Segments,
    }
}
