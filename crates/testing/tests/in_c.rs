//! A transport in C over a hop: `window.c`, compiled by the C compiler of the machine.
#![expect(unsafe_code, reason = "a library in C is loaded and called")]

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use lasthop_testing::lasthop_peer::c::{CPeer, Table};
use lasthop_testing::{Failure, Hop, Trial};

const BYTES: u64 = 300_000;
const NOW: c_int = 2;

unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// The library of `window.c`; `None` without a C compiler.
fn library() -> Option<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is in a folder");
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libwindow.so");
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-I"])
        .arg(crates.join("peer/include"))
        .arg(crates.join("testing/tests/window.c"))
        .arg("-o")
        .arg(&library)
        .status();
    let Ok(status) = compiled else { return None };
    assert!(status.success(), "window.c is compiled");
    Some(library)
}

/// What makes an end that sends this many bytes.
fn maker(library: &Path) -> impl Fn(u64) -> CPeer + Copy + use<> {
    let file = CString::new(library.to_str().expect("a path in UTF-8")).expect("a path without NUL");
    // SAFETY: the library is that of `window.c`, in which `window_end` has this type; it stays loaded.
    let window_end: unsafe extern "C" fn(u64) -> Table = unsafe {
        let library = dlopen(file.as_ptr(), NOW);
        assert!(!library.is_null(), "the library is loaded");
        std::mem::transmute(dlsym(library, c"window_end".as_ptr()))
    };
    // SAFETY: each table has a context of its own, from `calloc`, and is used by one thread.
    move |bytes| unsafe { CPeer::new(window_end(bytes), Some(free)) }
}

#[test]
fn a_transport_in_c_needs_a_round_trip_for_each_window_and_a_timeout_for_each_loss() -> Result<(), Failure> {
    let Some(library) = library() else {
        eprintln!("skipped: no C compiler (cc)");
        return Ok(());
    };
    let end = maker(&library);
    let trial = |hop: Hop, bound| {
        let trial = Trial::over(hop).client(move |_| end(0)).server(move |_| end(BYTES)).downloads(BYTES);
        trial.completes_within(bound).percentile(90.0).folder(env!("CARGO_TARGET_TMPDIR")).check()
    };
    // 300 kB are 16 windows of 16 packets; each takes a round trip of 60 ms and the 39 ms of its packets at 4 Mbit/s at most.
    let quick =
        trial(Hop::named("hotel").set("links.air.loss.rate", "0 %"), Duration::from_millis(16 * 100))?;
    assert!(quick.times[0] > Duration::from_millis(15 * 60), "{quick}");
    // Without its timer it would never complete.
    let slow = trial(Hop::named("satellite"), Duration::from_secs(10))?;
    assert!(slow.times.last() > Some(&Duration::from_millis(16 * 50 + 300)), "{slow}");
    Ok(())
}
