//! The text of values.

use super::super::quantity::{Dim, Quantity};
use super::Decimal;
use crate::medium::radio::config::watts_to_dbm;

/// Digits that distinguish the constants of presets from the noise of their last bits.
const DIGITS: usize = 12;

pub(super) fn quantity(dim: Dim, base: u64) -> String {
    Quantity { dim, base: Decimal::new(base.into(), 0) }.text()
}

/// A quantity in base units that need not be whole.
pub(super) fn real(dim: Dim, base: f64) -> String {
    Quantity { dim, base: Decimal::from_f64(base, DIGITS).unwrap_or(Decimal::ZERO) }.text()
}

/// In watts where these are a short number, else as the level it was made from.
pub(super) fn power(watts: f64) -> String {
    match Decimal::from_f64(watts, DIGITS).filter(|exact| exact.as_f64() == watts) {
        Some(base) => Quantity { dim: Dim::Power, base }.text(),
        None => real(Dim::Level, watts_to_dbm(watts)),
    }
}
