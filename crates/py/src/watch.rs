//! Ends a call of a law that outlives its run. Between two events the run itself checks its limits, but a law that does
//! not return lets no event pass.
//!
//! The first call of a law in a run starts a second thread, which looks a few times a second. Once the run is cancelled
//! or its time is over, a call that lasts from one look to the next is interrupted by an exception. The run then ends
//! as at its own look.

use lasthop_stack::units::Span;
use pyo3::create_exception;
use pyo3::exceptions::PyBaseException;
use pyo3::ffi;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::os::raw::c_ulong;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

create_exception!(
    lasthop._core,
    LawInterrupted,
    PyBaseException,
    "A law is interrupted: its run is cancelled or out of time. Not an Exception, which laws may catch."
);

const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

thread_local! {
    /// What ends the run of this thread.
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

/// When a run is to end.
pub(crate) struct Ends {
    /// Set by another thread.
    pub(crate) cancel: Option<Arc<AtomicBool>>,
    /// The wall-clock time that it may take.
    pub(crate) max_wall: Option<Span>,
}

struct Watch {
    law: Arc<Watched>,
    /// The thread that looks, once a law was called, and what ends it when dropped.
    looks: Option<(Sender<()>, JoinHandle<()>)>,
}

struct Watched {
    ends: Ends,
    begun: Instant,
    /// Odd within a call; changes with the GIL held.
    calls: AtomicU64,
}

/// Does `work`, a run, on this thread; `ends` says when a law is not to hold it up any more. Needs the GIL released.
pub(crate) fn watched<T>(ends: Ends, work: impl FnOnce() -> T) -> T {
    let law = Arc::new(Watched { ends, begun: wall_clock(), calls: AtomicU64::new(0) });
    let outer = WATCH.replace(Some(Watch { law, looks: None }));
    let result = work();
    if let Some((signal, thread)) = WATCH.replace(outer).and_then(|watch| watch.looks) {
        drop(signal);
        // Its panic would lose no result.
        let _ = thread.join();
        // One that came too late for the call is not for what follows the run.
        Python::attach(|py| interrupt(identity(py).unwrap_or(0), ptr::null_mut()));
    }
    result
}

/// Calls a law.
pub(crate) fn call<T>(py: Python<'_>, law: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let Some(watched) = watched_law(py)? else { return law() };
    watched.calls.fetch_add(1, Ordering::Relaxed);
    let result = law();
    watched.calls.fetch_add(1, Ordering::Relaxed);
    result
}

/// What is watched on this thread, by a thread that is started here.
fn watched_law(py: Python<'_>) -> PyResult<Option<Arc<Watched>>> {
    WATCH.with_borrow_mut(|watch| {
        let Some(watch) = watch else { return Ok(None) };
        if watch.looks.is_none() {
            let (signal, ended) = mpsc::channel();
            let (law, caller) = (watch.law.clone(), identity(py)?);
            let look = move || law.look(caller, || ended.recv_timeout(BETWEEN_LOOKS));
            watch.looks = Some((signal, thread::Builder::new().name("lasthop-watch".into()).spawn(look)?));
        }
        Ok(Some(watch.law.clone()))
    })
}

impl Watched {
    fn is_to_end(&self) -> bool {
        let Ends { cancel, max_wall } = &self.ends;
        let is_over = |most: &Span| self.begun.elapsed().as_secs_f64() > most.as_secs();
        cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed))
            || max_wall.as_ref().is_some_and(is_over)
    }

    fn look(&self, caller: c_ulong, wait: impl Fn() -> Result<(), RecvTimeoutError>) {
        let mut before = 0;
        while wait() == Err(RecvTimeoutError::Timeout) {
            let call = self.calls.load(Ordering::Relaxed);
            let lasts = call % 2 == 1 && call == before;
            before = call;
            if lasts && self.is_to_end() {
                Python::attach(|py| {
                    if self.calls.load(Ordering::Relaxed) == call {
                        interrupt(caller, py.get_type::<LawInterrupted>().as_ptr());
                    }
                });
            }
        }
    }
}

/// The wall clock: nothing simulated depends on it.
#[expect(clippy::disallowed_methods, reason = "a limit of wall-clock time needs the wall clock")]
fn wall_clock() -> Instant {
    Instant::now()
}

/// The number by which Python knows the current thread.
fn identity(py: Python<'_>) -> PyResult<c_ulong> {
    py.import("threading")?.getattr("get_ident")?.call0()?.extract()
}

/// Raises an exception in a thread of Python; null takes back one that was not raised yet.
#[expect(unsafe_code, reason = "Python has no safe interface to this")]
fn interrupt(thread: c_ulong, exception: *mut ffi::PyObject) {
    // SAFETY: callers hold the GIL; the type of an exception lives as long as the module.
    unsafe { ffi::PyThreadState_SetAsyncExc(thread.cast_signed(), exception) };
}
