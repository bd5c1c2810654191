//! Prefetching: memory that is needed soon is requested in advance.
//!
//! **How**: with thousands of connections, the state that an event needs is rarely in the processor's cache. Which connections
//! come next is known, so their state is requested while earlier events are processed, and nothing waits for it.
//!
//! **Limits**: on other processors than x86-64 nothing is requested.

/// Bytes of a line of the cache.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Prefetches a value: the lines of the cache in which it lies.
#[inline]
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "there is no safe form of the instruction")]
pub(crate) fn fetch<T>(value: &T) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    let first = std::ptr::from_ref(value).cast::<i8>();
    let fetch = |offset: usize| {
        // SAFETY: the address lies in the value, and the instruction neither reads nor writes.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(first.add(offset)) };
    };
    (0..size_of::<T>()).step_by(LINE).for_each(fetch);
    // A value that does not begin with a line may end in one more.
    fetch(size_of::<T>().saturating_sub(1));
}

/// Prefetches nothing.
#[inline]
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn fetch<T>(_: &T) {}
