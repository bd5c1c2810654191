//! Stations on an ideal medium, against time lines worked out by hand and against the theory of saturated DCF.

mod cell;
mod contention;
mod exchange;
mod fragments;
mod hearing;
mod lifetime;
mod polling;
mod properties;
mod saturation;
mod units;
