//! The tests of the crate, in one program.

#[cfg(unix)]
mod in_c;
#[cfg(feature = "quinn")]
mod planted;
mod trials;
