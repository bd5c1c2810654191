//! A metric is one row: name, unit, meaning, and the function that computes its value from the samples of its scope.
//!
//! Each scope has one type, which holds the measurements of a run in that scope, and one table of rows in the same
//! file. `scope.rs` lists all scopes.

/// The unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bits per second.
    BitsPerSecond,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// A share, or another number without a unit.
    One,
    /// Packets.
    Packets,
    /// TCP segments.
    Segments,
    /// Frames of a link.
    Frames,
    /// Losses.
    Losses,
    /// Timeouts.
    Timeouts,
    /// Transfers of users.
    Transfers,
    /// Slots of an FRN.
    Slots,
    /// Turns at which a station chooses what it sends.
    Turns,
    /// What a scheme counts.
    Counted(&'static str),
}

impl Unit {
    /// Its symbol after a number; empty for a number without a unit.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Unit::BitsPerSecond => "bit/s",
            Unit::Seconds => "s",
            Unit::Bytes => "B",
            Unit::One => "",
            Unit::Packets => "packets",
            Unit::Segments => "segments",
            Unit::Frames => "frames",
            Unit::Losses => "losses",
            Unit::Timeouts => "timeouts",
            Unit::Transfers => "transfers",
            Unit::Slots => "slots",
            Unit::Turns => "turns",
            Unit::Counted(what) => what,
        }
    }

    /// Endings of names that state the unit.
    pub(super) const fn suffix(self) -> &'static str {
        match self {
            Unit::BitsPerSecond => "_bps",
            Unit::Seconds => "_s",
            Unit::Packets => "_packets",
            Unit::Segments => "_segments",
            _ => "",
        }
    }
}

/// A metric: what it is, and how it is read from what was measured in its scope.
pub(super) struct Row<C> {
    pub(super) name: &'static str,
    pub(super) unit: Unit,
    pub(super) meaning: &'static str,
    /// `None` where there was nothing to measure.
    pub(super) value: fn(&C) -> Option<f64>,
}

/// What was measured in a scope, from which its metrics are read.
pub(super) trait Measured: Sized + 'static {
    /// Its metrics, in the order of the output.
    const ROWS: &'static [Row<Self>];
}

/// Declares the metrics of a [`Measured`], which the pattern names: of each its meaning, name, unit and value.
macro_rules! rows {
    (|$of:pat_param| $($(#[doc = $line:literal])+ $name:literal: $unit:ident $(($what:literal))? = $value:expr;)+) => {
        const ROWS: &'static [$crate::metrics::row::Row<Self>] = &[$(
            $crate::metrics::row::Row {
                name: $name,
                unit: $crate::metrics::row::Unit::$unit $(($what))?,
                meaning: concat!($($line),+).trim_ascii_start(),
                value: |$of| $value,
            }
        ),+];
    };
}

pub(super) use rows;

/// A quotient; `None` where it has no meaning.
pub(super) fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}
