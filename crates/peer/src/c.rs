//! Peers in C.
#![expect(unsafe_code, reason = "functions in C are called")]

use alloc::vec::Vec;
use core::ffi::c_void;
use core::time::Duration;

use crate::Peer;

/// The largest UDP payload of an IP packet of version 4.
const LONGEST: usize = 65_507;
/// `LASTHOP_NEVER`.
const NEVER: u64 = u64::MAX;

/// `struct lasthop_peer` of `include/lasthop_peer.h`, which says what its functions do.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the header has them")]
pub struct Table {
    pub context: *mut c_void,
    pub receive: unsafe extern "C" fn(*mut c_void, u64, *const u8, usize, u8),
    pub send: unsafe extern "C" fn(*mut c_void, u64, *mut u8, usize, *mut u8) -> usize,
    pub deadline: unsafe extern "C" fn(*mut c_void) -> u64,
    pub delivered: unsafe extern "C" fn(*mut c_void) -> u64,
}

/// A peer in C.
#[derive(Debug)]
pub struct CPeer {
    table: Table,
    free: Option<unsafe extern "C" fn(*mut c_void)>,
}

impl CPeer {
    /// A peer of these functions. `free` gets its context at the end.
    ///
    /// # Safety
    /// The functions do what the header says with this context, from any one thread, until `free` is called.
    #[must_use]
    pub unsafe fn new(table: Table, free: Option<unsafe extern "C" fn(*mut c_void)>) -> CPeer {
        CPeer { table, free }
    }
}

impl Peer for CPeer {
    fn receive(&mut self, now: Duration, datagram: &[u8], ecn: u8) {
        // SAFETY: the functions are those of the header, by the contract of `new`.
        unsafe {
            (self.table.receive)(self.table.context, nanos(now), datagram.as_ptr(), datagram.len(), ecn);
        }
    }

    fn send(&mut self, now: Duration, into: &mut Vec<u8>) -> Option<u8> {
        into.clear();
        into.reserve(LONGEST);
        let mut ecn = 0;
        // SAFETY: as above; `into` has this room.
        let length = unsafe {
            (self.table.send)(self.table.context, nanos(now), into.as_mut_ptr(), LONGEST, &raw mut ecn)
        };
        assert!(length <= LONGEST, "send returned {length}; expected at most {LONGEST}, its room");
        // SAFETY: `send` has written `length` bytes, by the contract of `new`.
        unsafe { into.set_len(length) };
        (length > 0).then_some(ecn & 0b11)
    }

    fn deadline(&mut self) -> Option<Duration> {
        // SAFETY: as above.
        let at = unsafe { (self.table.deadline)(self.table.context) };
        (at != NEVER).then_some(Duration::from_nanos(at))
    }

    fn delivered(&self) -> u64 {
        // SAFETY: as above.
        unsafe { (self.table.delivered)(self.table.context) }
    }
}

impl Drop for CPeer {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            // SAFETY: as above; nothing is called after it.
            unsafe { free(self.table.context) };
        }
    }
}

fn nanos(now: Duration) -> u64 {
    now.as_nanos() as u64
}
