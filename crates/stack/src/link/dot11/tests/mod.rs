//! Stations on an ideal medium, compared with hand-worked time lines and with the theory of saturated DCF.

mod cell;
mod contention;
mod exchange;
mod fragments;
mod hearing;
mod lifetime;
mod planned;
mod polling;
mod properties;
mod saturation;
mod units;
