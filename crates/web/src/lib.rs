//! The WebAssembly binding of lasthop, without logic of its own.
//!
//! A page writes a call as JSON into the memory of the module and reads the answer as JSON from it. The module imports
//! one function, by which the page learns how far a run is. A worker holds it and opens one scenario at a time; ending the
//! worker ends a run. A panic traps, and leaves its message in the memory.

mod calls;
#[cfg(target_family = "wasm")]
pub mod memory;
mod shown;

pub use calls::Session;
