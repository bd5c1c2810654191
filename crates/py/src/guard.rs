//! Turns a panic inside a run into the failure of that run, with a message of one line.

use crate::law::LawFailure;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
    static MESSAGE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps the panics of guarded code from being printed; all others are printed as before.
pub(crate) fn quiet_panics() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if GUARDED.get() {
            MESSAGE.set(text(info));
        } else {
            usual(info);
        }
    }));
}

/// Why guarded work has no result.
pub(crate) enum Failed {
    /// The message and the place of a panic.
    Panic(String),
    /// An exception of a law.
    Law(Box<LawFailure>),
}

/// Runs `work`, which may panic.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Failed> {
    GUARDED.set(true);
    // What `work` borrows is read-only, or dropped with the run.
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(false);
    result.map_err(|payload| match payload.downcast::<LawFailure>() {
        Ok(law) => Failed::Law(law),
        Err(_) => Failed::Panic(MESSAGE.take()),
    })
}

fn text(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let literal = payload.downcast_ref::<&str>().copied();
    let what = literal.or(payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("panic");
    match info.location() {
        Some(at) => format!("{what} ({}:{})", at.file(), at.line()),
        None => what.to_string(),
    }
}
