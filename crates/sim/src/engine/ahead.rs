//! Memory that is needed soon, asked for before.
//!
//! Among thousands of connections the state of the one that an event is for is not in the processor's cache. What waits for it is
//! known before: it is asked for while events before it are processed, and nothing waits for the answer.

/// Bytes of a line of the cache.
const LINE: usize = 64;

/// Asks for the lines of the cache in which a value lies.
#[inline]
#[allow(unsafe_code, reason = "there is no safe form of the instruction")]
pub(crate) fn fetch<T>(value: &T) {
    let first = std::ptr::from_ref(value).cast::<i8>();
    for offset in (0..size_of::<T>()).step_by(LINE) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the address lies in the value, and the instruction neither reads nor writes.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(first.add(offset));
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = first.wrapping_add(offset);
    }
}
