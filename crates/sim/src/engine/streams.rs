//! Random streams, keyed by seed, replication and the name of their purpose.
//!
//! A stream does not depend on which other streams exist. A new node, probe or scheme thus never shifts the draws of
//! the others, and two schemes at the same replication see the same channel.
//!
//! The generator is Philox4x64-10 (Salmon et al., SC 2011), equal bit for bit to `numpy.random.Philox(key=...)`.

/// Multipliers of the round function.
const MULTIPLIERS: [u64; 2] = [0xD2E7_470E_E14C_6C93, 0xCA5A_8263_9512_1157];
/// Weyl constants that bump the key from round to round.
const WEYL: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xBB67_AE85_84CA_A73B];
/// Rounds.
const ROUNDS: u32 = 10;

/// A random stream.
#[derive(Clone, Debug)]
pub struct Stream {
    key: [u64; 2],
    counter: [u64; 4],
    block: [u64; 4],
    used: u8,
}

impl Stream {
    /// The stream for `name` in replication `replication` of a study with this seed.
    #[must_use]
    pub fn named(seed: u64, replication: u64, name: &str) -> Stream {
        Stream::with_key(key(seed, replication, name))
    }

    /// The stream with this key, from its start.
    #[must_use]
    pub fn with_key(key: [u64; 2]) -> Stream {
        Stream { key, counter: [0; 4], block: [0; 4], used: 4 }
    }

    /// Goes to the start of a section, each of 2^64 blocks of draws: a stream begins in section 0.
    ///
    /// The draws for the item of a section do not depend on how much was drawn for the items before it.
    #[inline]
    pub fn seek(&mut self, section: u64) {
        self.counter = [0, section, 0, 0];
        self.used = 4;
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        if self.used == 4 {
            self.refill();
        }
        let bits = self.block[usize::from(self.used)];
        self.used += 1;
        bits
    }

    /// A whole number from 0 to `most`, uniform to within 2^-32. It takes one draw.
    #[inline]
    pub fn up_to(&mut self, most: u32) -> u32 {
        ((u128::from(self.next_u64()) * (u128::from(most) + 1)) >> 64) as u32
    }

    /// A number from the half-open interval from 0 to 1, in steps of 2^-53.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// True with this probability. It takes one draw whatever the probability.
    #[inline]
    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// An exponential number with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log1p(-self.uniform())
    }

    /// A Pareto number with this mean and shape (above 1).
    pub fn pareto(&mut self, mean: f64, shape: f64) -> f64 {
        let least = mean * (shape - 1.0) / shape;
        least / libm::pow(1.0 - self.uniform(), 1.0 / shape)
    }

    /// A standard normal number (Box and Muller 1958). It takes two draws.
    pub fn normal(&mut self) -> f64 {
        let (radius, angle) = (1.0 - self.uniform(), self.uniform());
        libm::sqrt(-2.0 * libm::log(radius)) * libm::cos(2.0 * std::f64::consts::PI * angle)
    }

    #[cold]
    #[inline(never)]
    fn refill(&mut self) {
        for word in &mut self.counter {
            *word = word.wrapping_add(1);
            if *word != 0 {
                break;
            }
        }
        self.block = philox(self.counter, self.key);
        self.used = 0;
    }
}

/// One block of Philox4x64-10.
fn philox(mut counter: [u64; 4], mut key: [u64; 2]) -> [u64; 4] {
    for _ in 0..ROUNDS {
        let [low_0, high_0] = wide_product(MULTIPLIERS[0], counter[0]);
        let [low_1, high_1] = wide_product(MULTIPLIERS[1], counter[2]);
        counter = [high_1 ^ counter[1] ^ key[0], low_1, high_0 ^ counter[3] ^ key[1], low_0];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counter
}

fn wide_product(a: u64, b: u64) -> [u64; 2] {
    let wide = u128::from(a) * u128::from(b);
    [wide as u64, (wide >> 64) as u64]
}

/// The key of a named stream: two FNV-1a hashes of the name, mixed with the seed and the replication.
#[must_use]
pub fn key(seed: u64, replication: u64, name: &str) -> [u64; 2] {
    let hash = |offset: u64| {
        name.bytes().fold(offset, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3))
    };
    let first = mix(hash(0xCBF2_9CE4_8422_2325) ^ mix(seed));
    let second = mix(hash(0x6C62_272E_07BB_0142) ^ mix(replication.wrapping_add(WEYL[0])));
    [first ^ mix(second), second ^ mix(first.wrapping_add(WEYL[1]))]
}

/// The finaliser of `MurmurHash3`: each bit of the input reaches each bit of the output.
fn mix(mut word: u64) -> u64 {
    word ^= word >> 33;
    word = word.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    word ^= word >> 33;
    word = word.wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    word ^ (word >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_reference_vectors_of_random123() {
        let zero = philox([0; 4], [0; 2]);
        assert_eq!(
            zero,
            [0x1655_4D9E_CA36_314C, 0xDB20_FE9D_672D_0FDC, 0xD7E7_72CE_E186_176B, 0x7E68_B68A_EC7B_A23B]
        );
        let ones = philox([u64::MAX; 4], [u64::MAX; 2]);
        assert_eq!(
            ones,
            [0x87B0_92C3_013F_E90B, 0x438C_3C67_BE8D_0224, 0x9CC7_D7C6_9CD7_77B6, 0xA09C_AEBF_594F_0BA0]
        );
    }

    #[test]
    fn streams_of_another_name_seed_or_replication_differ() {
        let first = |seed, replication, name| Stream::named(seed, replication, name).next_u64();
        let draws =
            [first(1, 0, "a"), first(2, 0, "a"), first(1, 1, "a"), first(1, 0, "b"), first(0, 1, "a")];
        for (index, draw) in draws.iter().enumerate() {
            assert!(!draws[..index].contains(draw));
        }
        assert_eq!(first(1, 0, "a"), draws[0]);
    }

    #[test]
    fn a_section_begins_with_the_same_draws_however_far_the_one_before_it_was_used() {
        let drawn = |before: usize, section: u64| {
            let mut stream = Stream::named(1, 0, "sections");
            for _ in 0..before {
                stream.next_u64();
            }
            stream.seek(section);
            stream.next_u64()
        };
        assert_eq!(drawn(1, 5), drawn(11, 5));
        assert_ne!(drawn(0, 5), drawn(0, 6));
        assert_eq!(drawn(3, 0), Stream::named(1, 0, "sections").next_u64());
    }

    #[test]
    fn whole_numbers_reach_both_ends_and_take_the_upper_bits_of_one_draw() {
        let (mut stream, mut bits) = (Stream::named(1, 0, "whole"), Stream::named(1, 0, "whole"));
        assert!((0..100).all(|_| stream.up_to(u32::MAX) == (bits.next_u64() >> 32) as u32));
        let mut counts = [0; 3];
        for _ in 0..3_000 {
            counts[stream.up_to(2) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (900..1_100).contains(count)), "{counts:?}");
        assert_eq!(stream.up_to(0), 0);
    }

    #[test]
    fn the_laws_have_the_means_asked_for() {
        let mut stream = Stream::named(7, 0, "laws");
        let draws = 200_000;
        let mean = |total: f64| total / f64::from(draws);
        let uniform = mean((0..draws).map(|_| stream.uniform()).sum());
        let exponential = mean((0..draws).map(|_| stream.exponential(3.0)).sum());
        let pareto = mean((0..draws).map(|_| stream.pareto(3.0, 3.0)).sum());
        assert!((uniform - 0.5).abs() < 0.005, "{uniform}");
        assert!((exponential - 3.0).abs() < 0.04, "{exponential}");
        assert!((pareto - 3.0).abs() < 0.06, "{pareto}");
    }
}
