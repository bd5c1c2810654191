//! Forward error correction: a Reed-Solomon code over the bytes of a frame's body.
//!
//! **Limits**: only the length of the coded body and the number of wrong bytes it survives; no symbol is computed.
//!
//! **Source**: Reed and Solomon (1960). A code over GF(256) has blocks of at most 255 bytes; with `n - k` bytes of
//! redundancy it corrects every `(n - k) / 2` wrong bytes, wherever they are.
//!
//! **Choices**
//! 1. A body is divided into as few blocks as it needs; these differ by at most one byte of data.
//! 2. Redundancy comes in pairs of bytes, each of which corrects one byte: the number of pairs nearest to the rate, at
//!    least one.

use std::num::NonZeroU32;

/// The longest block of a code over GF(256), in bytes.
const LONGEST_BLOCK: u32 = 255;
const MILLION: u32 = 1_000_000;
/// The lowest rate, in millionths: with it a byte and its redundancy still fit into a block.
const LOWEST: f64 = 10_000.0;

/// A code, by its rate: data bytes over all bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    millionths: NonZeroU32,
}

/// A block: its data, and the pairs of bytes after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Bytes of data.
    pub data: u32,
    /// Wrong bytes it survives; there are twice as many bytes of redundancy.
    pub corrects: u32,
}

/// Data that a code protects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coded {
    /// The code.
    pub code: Code,
    /// Bytes of data.
    pub bytes: u16,
}

impl Code {
    /// A code of this rate, rounded to a millionth. `None` unless it is at least 1 % and below 1.
    #[must_use]
    pub fn of_rate(rate: f64) -> Option<Code> {
        let millionths = libm::round(rate * f64::from(MILLION));
        let is_code = (LOWEST..f64::from(MILLION)).contains(&millionths);
        let millionths = NonZeroU32::new(if is_code { millionths as u32 } else { 0 })?;
        Some(Code { millionths })
    }

    /// A block with this much data.
    #[must_use]
    pub fn block(self, data: u32) -> Block {
        let (rate, wanted) = (u64::from(self.millionths.get()), u64::from(data));
        let pairs = (wanted * (u64::from(MILLION) - rate) + rate) / (2 * rate);
        Block { data, corrects: pairs.max(1) as u32 }
    }

    /// The blocks of this much data: those with a byte more than the others, the others, and how many there are of
    /// each.
    #[must_use]
    pub fn blocks(self, bytes: u32) -> [(Block, u32); 2] {
        let fits = |count: &u32| self.block(bytes.div_ceil(*count)).bytes() <= LONGEST_BLOCK;
        let count = (bytes.div_ceil(LONGEST_BLOCK)..bytes).find(fits).unwrap_or(bytes).max(1);
        let longer = bytes % count;
        [(self.block(bytes / count + 1), longer), (self.block(bytes / count), count - longer)]
    }

    /// The bytes it adds to this much data.
    #[must_use]
    pub fn redundancy(self, bytes: u32) -> u32 {
        self.blocks(bytes).iter().map(|(block, count)| 2 * block.corrects * count).sum()
    }
}

impl Block {
    /// Its length with its redundancy.
    #[must_use]
    pub fn bytes(self) -> u32 {
        self.data + 2 * self.corrects
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(rate: f64) -> Code {
        Code::of_rate(rate).expect("a rate between 0 and 1")
    }

    #[test]
    fn a_rate_of_three_quarters_makes_of_191_bytes_a_whole_block_that_corrects_32() {
        // 191 / 6 = 31.8 pairs.
        let block = code(0.75).block(191);
        assert_eq!((block.corrects, block.bytes()), (32, 255));
        assert_eq!(code(0.75).redundancy(191), 64);
    }

    #[test]
    fn the_body_of_a_frame_of_320_bytes_is_two_blocks_of_198_bytes() {
        // 292 bytes and the check sequence: 148 bytes each, 24.7 pairs.
        let half = Block { data: 148, corrects: 25 };
        assert_eq!(code(0.75).blocks(296), [(Block { data: 149, corrects: 25 }, 0), (half, 2)]);
        assert_eq!(code(0.75).redundancy(296), 100);
    }

    #[test]
    fn blocks_hold_all_data_and_differ_by_a_byte_and_none_is_too_long() {
        for rate in [0.01, 0.05, 0.3333, 0.5, 0.6667, 0.75, 0.9, 0.99] {
            for bytes in 1..2400 {
                let [(longer, some), (shorter, others)] = code(rate).blocks(bytes);
                assert_eq!(longer.data * some + shorter.data * others, bytes);
                assert!(some == 0 || longer.bytes() <= LONGEST_BLOCK, "{rate} {bytes}");
                assert!(shorter.bytes() <= LONGEST_BLOCK, "{rate} {bytes}");
                assert!(others > 0 && shorter.data > 0, "{rate} {bytes}");
            }
        }
    }

    #[test]
    fn many_bytes_come_out_at_the_rate() {
        for rate in [0.25, 0.5, 0.75, 0.9] {
            let all = 1500 + code(rate).redundancy(1500);
            let found = 1500.0 / f64::from(all);
            assert!((found - rate).abs() < 0.01, "{rate} {found}");
        }
    }

    #[test]
    fn a_rate_of_next_to_nothing_or_of_one_is_no_code() {
        assert_eq!([0.0, 1.0, -0.5, 2.0, 0.009].map(Code::of_rate), [None; 5]);
    }
}
