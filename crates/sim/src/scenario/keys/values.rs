//! The text of values.

use super::super::quantity::{Dim, Quantity};
use super::Decimal;
use lasthop_stack::units::Span;

pub(super) fn segments(count: u32) -> String {
    quantity(Dim::Segments, count.into())
}

pub(super) fn time(span: Span) -> String {
    quantity(Dim::Time, span.0)
}

pub(super) fn quantity(dim: Dim, base: u64) -> String {
    Quantity { dim, base: Decimal::new(base.into(), 0) }.text()
}
