//! The border of the module: bytes in its memory, each by an address and a length in one number.

#![expect(unsafe_code, reason = "a page reads and writes memory by address")]

use crate::Session;
use lasthop_sim::host;
use std::cell::{Cell, RefCell};
use std::panic;
use std::path::Path;

thread_local! {
    static SESSION: RefCell<Session> = RefCell::default();
    static MESSAGE: RefCell<String> = const { RefCell::new(String::new()) };
    static WATCHED: Cell<bool> = const { Cell::new(false) };
}

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// The simulated time in seconds that the run has reached.
    #[link_name = "reached"]
    safe fn page_reached(seconds: f64);
}

/// Memory for `length` bytes, to be given to [`call`] or [`take`], which free it.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(length: usize) -> *mut u8 {
    Box::into_raw(vec![0_u8; length].into_boxed_slice()).cast()
}

/// Frees an answer.
///
/// # Safety
/// The address and the length are those of one answer, which is freed once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn release(at: *mut u8, length: usize) {
    // SAFETY: by the contract of this function.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(at, length)) });
}

/// The JSON answer to a JSON call.
///
/// # Safety
/// The bytes are in memory from [`reserve`], all of it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn call(at: *mut u8, length: usize) -> u64 {
    if !WATCHED.replace(true) {
        panic::set_hook(Box::new(|info| MESSAGE.set(info.to_string().replace('\n', " "))));
        host::watch(|seconds| page_reached(seconds));
    }
    // SAFETY: by the contract of this function.
    let text = unsafe { bytes(at, length) };
    let text = String::from_utf8_lossy(&text);
    given(SESSION.with_borrow_mut(|session| session.call(&text)).into_bytes())
}

/// Writes a file that a scenario names, by its path from the folder of the scenario.
///
/// # Safety
/// Both are memory from [`reserve`], all of it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn put(path_at: *mut u8, path_length: usize, at: *mut u8, length: usize) {
    // SAFETY: by the contract of this function.
    let (path, content) = unsafe { (bytes(path_at, path_length), bytes(at, length)) };
    host::put(Path::new(&*String::from_utf8_lossy(&path)), content.into_vec());
}

/// A file that a run wrote, once; empty if there is none of this name.
///
/// # Safety
/// The bytes are in memory from [`reserve`], all of it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn take(at: *mut u8, length: usize) -> u64 {
    // SAFETY: by the contract of this function.
    let name = unsafe { bytes(at, length) };
    given(host::take(Path::new(&*String::from_utf8_lossy(&name))).unwrap_or_default())
}

/// The message of the panic that trapped.
#[unsafe(no_mangle)]
pub extern "C" fn panicked() -> u64 {
    given(MESSAGE.take().into_bytes())
}

unsafe fn bytes(at: *mut u8, length: usize) -> Box<[u8]> {
    // SAFETY: by the contract of the callers.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(at, length)) }
}

/// Hands bytes to the page: the address in the upper half, the length in the lower.
fn given(bytes: Vec<u8>) -> u64 {
    let length = bytes.len() as u64;
    (Box::into_raw(bytes.into_boxed_slice()).cast::<u8>() as u64) << 32 | length
}
