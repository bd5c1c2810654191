//! By how much packets were delivered late.

use lasthop_stack::units::Span;

/// Buckets in an octave: a percentile is exact to 2 %.
const STEPS: usize = 32;
/// Octaves from 1 ns to 2 minutes.
const OCTAVES: usize = 37;

/// How late packets were, in buckets of about 2 %.
#[derive(Clone, Debug)]
pub struct Lateness {
    buckets: Vec<u64>,
    count: u64,
    most: Span,
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness { buckets: vec![0; STEPS * OCTAVES], count: 0, most: Span::ZERO }
    }
}

impl Lateness {
    /// Counts one packet.
    pub fn add(&mut self, late: Span) {
        self.buckets[bucket(late.0)] += 1;
        self.count += 1;
        self.most = self.most.max(late);
    }

    /// The number of packets.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The largest lateness.
    #[must_use]
    pub fn most(&self) -> Span {
        self.most
    }

    /// The lateness that this share of the packets does not exceed; `None` without packets.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<Span> {
        let rank = libm::ceil(share * self.count as f64) as u64;
        let mut below = 0;
        let reaches = |count: &u64| {
            below += count;
            below >= rank.max(1)
        };
        let place = self.buckets.iter().position(reaches)?;
        Some(Span(upper(place)).min(self.most))
    }
}

/// The bucket of a number of nanoseconds: octave and the five bits below the first.
fn bucket(nanos: u64) -> usize {
    let nanos = nanos.max(1);
    let octave = nanos.ilog2() as usize;
    let below = nanos - (1 << octave);
    let step = if octave < 5 { below << (5 - octave) } else { below >> (octave - 5) };
    (octave * STEPS + step as usize).min(STEPS * OCTAVES - 1)
}

/// The upper end of a bucket.
fn upper(place: usize) -> u64 {
    let (octave, step) = (place / STEPS, (place % STEPS) as u64 + 1);
    (1 << octave) + if octave < 5 { step >> (5 - octave) } else { step << (octave - 5) }
}
