//! Frames protected by a block code: the failure probability of the decoder.
//!
//! **Limits**: the wrong bytes of a block are independent, as if the code's bytes were interleaved over the whole body.
//! The bursts of errors that a preceding convolutional decoder leaves are also treated as independent, which favours
//! the code if bursts are longer than a byte. A decoder always detects its failure, by the check sequence. The remains
//! of one attempt are not combined with the next.
//!
//! **How**: a byte is wrong if one of its eight bits is. A block of n bytes that corrects t fails if more than t of
//! them are wrong, which is the upper tail of a binomial law. A frame is correct if its unprotected header and all of
//! its blocks are.

use lasthop_stack::link::dot11::Frame;
use lasthop_stack::link::fec::{Block, Coded};

use super::modulation::bits_lost;

/// The last results for coded bodies: frames have few lengths, and powers change seldom.
#[derive(Clone, Debug)]
pub(super) struct Decoder {
    /// The coded body, and the logarithms of the probabilities that a bit and that all blocks are correct.
    places: Vec<Option<(Coded, f64, f64)>>,
}

const PLACES: u64 = 64;

impl Decoder {
    pub(super) fn new() -> Decoder {
        Decoder { places: vec![None; PLACES as usize] }
    }

    /// Probability that a frame is lost, given the logarithm of the probability that a bit is right.
    #[inline]
    pub(super) fn fails(&mut self, frame: &Frame, each: f64) -> f64 {
        match frame.coded {
            None => bits_lost(each, frame.bytes),
            Some(coded) => self.coded_fails(frame.bytes, coded, each),
        }
    }

    fn coded_fails(&mut self, bytes: u32, coded: Coded, each: f64) -> f64 {
        let protected = u32::from(coded.bytes);
        let header = bytes - protected - coded.code.redundancy(protected);
        let mixed = (each.to_bits() ^ u64::from(coded.bytes)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let place = &mut self.places[(mixed % PLACES) as usize];
        let body = match *place {
            Some((of, at, body)) if of == coded && at == each => body,
            _ => {
                let wrong = bits_lost(each, 1);
                let of = |(block, count)| f64::from(count) * libm::log1p(-block_fails(block, wrong));
                let [longer, shorter] = coded.code.blocks(protected);
                let body = if longer.1 > 0 { of(longer) } else { 0.0 } + of(shorter);
                *place = Some((coded, each, body));
                body
            }
        };
        -libm::expm1(8.0 * f64::from(header) * each + body)
    }
}

/// Probability that more bytes of a block are wrong than it survives, each with probability `wrong`.
///
/// The terms of the tail are added from the greatest outwards, so that no significant term is lost.
fn block_fails(block: Block, wrong: f64) -> f64 {
    let (bytes, least) = (block.bytes(), block.corrects + 1);
    if wrong <= 0.0 || least > bytes {
        return 0.0;
    }
    if wrong >= 1.0 {
        return 1.0;
    }
    let mode = (f64::from(bytes + 1) * wrong) as u32;
    let start = mode.clamp(least, bytes);
    let odds = wrong / (1.0 - wrong);
    let first = term(bytes, start, wrong);
    let (mut sum, mut up, mut down) = (first, first, first);
    for count in start..bytes {
        up *= odds * f64::from(bytes - count) / f64::from(count + 1);
        sum += up;
    }
    for count in (least + 1..=start).rev() {
        down *= f64::from(count) / (odds * f64::from(bytes - count + 1));
        sum += down;
    }
    sum.min(1.0)
}

/// Probability that this many of `bytes` are wrong.
fn term(bytes: u32, count: u32, wrong: f64) -> f64 {
    let factorial = |number: u32| libm::lgamma(f64::from(number) + 1.0);
    let ways = factorial(bytes) - factorial(count) - factorial(bytes - count);
    let right = f64::from(bytes - count) * libm::log1p(-wrong);
    libm::exp(ways + f64::from(count) * libm::log(wrong) + right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_stack::link::dot11::{FrameKind, PhyRate};
    use lasthop_stack::link::fec::Code;
    use lasthop_stack::packet::NodeId;

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    }

    #[test]
    fn a_block_of_four_bytes_that_corrects_one_fails_by_the_binomial_law() {
        let block = Block { data: 2, corrects: 1 };
        for p in [1e-6f64, 0.01, 0.3, 0.9] {
            let q = 1.0 - p;
            let two = 6.0 * p * p * q * q;
            close(block_fails(block, p), two + 4.0 * p * p * p * q + p * p * p * p);
        }
        // 1 - 0.9^4 - 4 × 0.1 × 0.9^3.
        close(block_fails(block, 0.1), 0.0523);
        assert_eq!((block_fails(block, 0.0), block_fails(block, 1.0)), (0.0, 1.0));
    }

    #[test]
    fn the_tail_and_the_rest_of_a_long_block_add_up_to_one() {
        // Fails below 33 of 255 wrong bytes are those of the other tail, summed by plain terms.
        let block = Block { data: 191, corrects: 32 };
        for wrong in [0.01, 0.08, 0.12, 0.3, 0.996] {
            let survives: f64 = (0..=32).map(|count| term(255, count, wrong)).sum();
            assert!((block_fails(block, wrong) + survives - 1.0).abs() < 1e-9, "{wrong}");
        }
        // Far out the first term dominates: C(255, 33) 1e-4^33 (1 - 1e-4)^222, and the next is 6.7e-4 of it.
        let first = term(255, 33, 1e-4);
        assert!((block_fails(block, 1e-4) / first - 1.0).abs() < 7e-4);
        assert!(first < 1e-80);
    }

    fn frame(rate: f64, body: u32) -> Frame {
        let code = Code::of_rate(rate);
        let bytes = 24 + body + code.map_or(0, |code| code.redundancy(body));
        let plain = Frame::new(FrameKind::Data, NodeId(1), NodeId(0), bytes, PhyRate::Ofdm6);
        Frame { coded: code.map(|code| Coded { code, bytes: body as u16 }), ..plain }
    }

    #[test]
    fn at_one_of_a_thousand_wrong_bits_a_protected_fragment_is_lost_by_its_header_alone() {
        let mut decoder = Decoder::new();
        let each = libm::log1p(-1e-3);
        // 24 bytes: 1 - 0.999^192. The blocks of 198 bytes meet 1.6 wrong ones and correct 25.
        close(decoder.fails(&frame(0.75, 296), each), 1.0 - libm::pow(0.999, 192.0));
        close(decoder.fails(&frame(1.0, 296), each), 1.0 - libm::pow(0.999, 2560.0));
    }

    #[test]
    fn a_code_helps_less_the_higher_its_rate_and_fails_with_the_channel() {
        let mut decoder = Decoder::new();
        let mut lost = |rate, ber: f64| decoder.fails(&frame(rate, 296), libm::log1p(-ber));
        for ber in [1e-3, 3e-3, 1e-2] {
            let found = [0.5, 0.75, 0.9, 0.97, 1.0].map(|rate| lost(rate, ber));
            assert!(found.windows(2).all(|pair| pair[0] <= pair[1]), "{ber}: {found:?}");
        }
        assert!(lost(0.75, 0.05) > 0.999);
    }

    #[test]
    fn what_is_remembered_equals_what_is_computed() {
        let mut decoder = Decoder::new();
        for _ in 0..2 {
            for body in [56, 296, 300, 1512] {
                for step in 1..40 {
                    let each = -1e-4 * f64::from(step);
                    let frame = frame(0.8, body);
                    assert_eq!(decoder.fails(&frame, each), Decoder::new().fails(&frame, each));
                }
            }
        }
    }
}
