//! What a run asks of the machine: a clock, for limits and reports only, and files. Nothing simulated depends on either.
//!
//! `native` takes them from the operating system. `page` is for WebAssembly, where there is none: the clock stands still,
//! and files are in memory, where whoever calls the module puts and takes them. A page is called while a run goes on.

#[cfg(not(target_family = "wasm"))]
mod native;
#[cfg(any(target_family = "wasm", test))]
mod page;

#[cfg(not(target_family = "wasm"))]
pub(crate) use native::{Clock, Scratch, create, is_file, reached, read, scratch};
#[cfg(target_family = "wasm")]
pub(crate) use page::{Clock, Scratch, create, is_file, reached, read, scratch};
#[cfg(target_family = "wasm")]
pub use page::{put, take, watch};
