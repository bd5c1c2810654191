//! The send buffer of Linux: the application writes while it has room, and it grows with the window.
//!
//! **Source.** Linux 6.12: `tcp_sndbuf_expand`, `tcp_should_expand_sndbuf` and `tcp_check_space`; `sk_stream_memory_free` and
//! `sk_stream_is_writeable`; `tcp_shift_skb_data`.
//!
//! **How.** What is outstanding or waits to be sent takes memory, each segment some more than its payload. The application writes until
//! the memory is used up, and goes on when a third of it is free. On request consecutive segments that were selectively
//! acknowledged are merged into one. When it waits and the window is not full, the memory grows to that of some windows; it never shrinks.
//!
//! **Why.** Without SACK a recovery repairs one hole in each round trip. In a long one the sender sends nothing new once the memory is
//! used up, and begins to again when the cumulative acknowledgement has come far.
//!
//! **Checked by** `connection/tests/buffer.rs`; beside a kernel in `docs/linux.md`.

use super::Sender;
use crate::transport::tcp::{Config, Parts};

/// What is added to a full segment before it is rounded up to a power of two, and then.
const RESERVED: (u64, u64) = (256 + 320, 256);
/// The option of timestamps in each segment, which the reservation does not deduct.
const TIMESTAMPS: u64 = 12;
/// `tcp_wmem`: the largest size.
const MOST: u64 = 4 << 20;

/// The memory, and what the application has not yet written.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendBuffer {
    /// Windows for which it has memory; zero where it has no limit.
    windows: u64,
    /// Memory that is reserved for a segment of the window.
    reserved: u64,
    /// Memory of a segment beyond its payload, without segmentation offload.
    overhead: u64,
    /// Whether consecutive segments that were selectively acknowledged are merged.
    merges: bool,
    memory: u64,
    /// Bytes that the application writes as soon as there is room.
    waiting: u64,
}

impl SendBuffer {
    pub(super) fn new<P: Parts>(config: &Config<P>) -> SendBuffer {
        let full = u64::from(config.packet) + if config.timestamps { TIMESTAMPS } else { 0 };
        let reserved = (full + RESERVED.0).next_power_of_two() + RESERVED.1;
        let (windows, overhead) = (config.send_windows.into(), config.send_overhead.into());
        let mut buffer =
            SendBuffer { windows, reserved, overhead, merges: config.send_merging, memory: 0, waiting: 0 };
        buffer.grow(f64::from(config.initial_window));
        buffer
    }

    /// Whether the application waits for room.
    #[inline]
    pub(super) fn is_waited_for(&self) -> bool {
        self.waiting > 0
    }

    /// The application does not write what it has not yet written.
    pub(super) fn forget(&mut self) {
        self.waiting = 0;
    }

    fn grow(&mut self, cwnd: f64) {
        let windows = self.windows * self.reserved * (cwnd as u64).max(10);
        self.memory = self.memory.max(windows.min(MOST));
    }

    /// What of these bytes the application writes at once, with `used` bytes of the memory in use and segments of `full` bytes.
    fn take(&mut self, bytes: u64, used: u64, full: u64) -> u64 {
        self.waiting += bytes;
        let free = self.memory.saturating_sub(used);
        // The last segment may use more than there is.
        let taken = self.waiting.min(free.div_ceil(full + self.overhead) * full);
        self.waiting -= taken;
        taken
    }
}

impl<P: Parts> Sender<P> {
    /// The application adds `bytes` to the data to be sent.
    pub fn write(&mut self, bytes: u64) {
        let taken = if self.buffer.windows > 0 { self.take(bytes) } else { bytes };
        self.written = self.written.saturating_add(taken);
    }

    /// What may leave has left: if the application waits and there is room again, it writes. Returns whether it has.
    #[inline]
    pub fn refill(&mut self) -> bool {
        self.buffer.is_waited_for() && self.has_room_again() && {
            self.write(0);
            true
        }
    }

    fn take(&mut self, bytes: u64) -> u64 {
        let used = self.memory_in_use();
        self.buffer.take(bytes, used, self.packet.into())
    }

    fn has_room_again(&mut self) -> bool {
        if self.in_network() < self.window.cwnd as u32 {
            self.buffer.grow(self.window.cwnd);
        }
        let used = self.memory_in_use();
        self.buffer.memory.saturating_sub(used) >= used / 2
    }

    /// The memory of what is outstanding or waits to be sent.
    fn memory_in_use(&self) -> u64 {
        let held = self.written.saturating_sub(self.board.una());
        let merged = if self.buffer.merges { self.board.sacked_together() } else { 0 };
        let parts = held.div_ceil(self.packet.into()).saturating_sub(merged.into());
        held + parts * self.buffer.overhead
    }
}
