//! Nothing allocates per packet once a run is warm: counted, not argued.

#![allow(unsafe_code, reason = "a global allocator that counts cannot be written without it")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use common::{ejtcp_fig9, metric, ns2_tcp, run_once};
use lasthop_stack::registry::VARIANTS;
use lasthop_stack::transport::tcp::Config;
use lasthop_stack::units::Span;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations and packets of a run of this length.
fn counted(tcp: &Config, loss: f64, seconds: u64) -> (u64, f64) {
    let config = ejtcp_fig9(tcp.clone(), loss, Span::from_secs(seconds));
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let outcome = run_once(&config);
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
    (allocations, metric(&outcome, "flows.main.segments_sent"))
}

#[test]
fn a_run_ten_times_as_long_allocates_no_more() {
    for variant in VARIANTS {
        let sack = variant.name == "sack" || variant.name == "fack";
        let tcp = Config { recovery: variant.recovery, congestion: variant.congestion, sack, ..ns2_tcp() };
        for loss in [0.0, 0.01] {
            let (short, few) = counted(&tcp, loss, 50);
            let (long, many) = counted(&tcp, loss, 500);
            assert!(many > 5.0 * few, "{}: {few} and {many} packets", variant.name);
            // A burst that is longer than any before may still enlarge a ring: a handful, whatever the packets.
            assert!(long <= short + 8, "{}: {short} allocations, then {long}", variant.name);
        }
    }
}
