//! Goodput over time: bits per second of each flow and its reverse data, per bin, from time zero.
//!
//! One event ends a bin, whatever arrived in it, and the scenario bounds the number of bins. Data that arrives at the
//! instant at which a bin ends belongs to the next one.

use lasthop_stack::units::{Span, Time};

/// The goodput of a flow over time, in bit/s; the last bin may be shorter than the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// `flows.NAME.goodput_bps`, or `flows.NAME.reverse.goodput_bps` of the reverse data.
    pub name: String,
    /// One value for each bin.
    pub values: Vec<f64>,
}

/// Bins that are filled.
#[derive(Clone, Debug)]
pub(crate) struct Bins {
    width: Span,
    run_end: Time,
    /// The start of the open bin.
    begin: Time,
    /// The bytes that each flow had delivered by then.
    delivered: Vec<u64>,
    rates: Vec<Vec<f64>>,
}

impl Bins {
    /// Empty bins for this many flows, with room for a run of this length.
    pub(crate) fn new(width: Span, duration: Span, flows: usize) -> Bins {
        let room = duration.0.div_ceil(width.0) as usize;
        let rates = (0..flows).map(|_| Vec::with_capacity(room)).collect();
        let run_end = Time(duration.0);
        Bins { width, run_end, begin: Time::ZERO, delivered: vec![0; flows], rates }
    }

    /// When the open bin ends; none for the last one, which takes everything until the end of the run.
    pub(crate) fn end(&self) -> Option<Time> {
        Some(self.begin.after(self.width)).filter(|end| *end < self.run_end)
    }

    /// Ends a bin; `delivered` are the bytes of each flow since the start.
    pub(crate) fn close(&mut self, now: Time, delivered: impl Iterator<Item = u64>) {
        let seconds = now.since(self.begin).as_secs();
        for ((rates, before), bytes) in self.rates.iter_mut().zip(&mut self.delivered).zip(delivered) {
            rates.push((bytes - *before) as f64 * 8.0 / seconds);
            *before = bytes;
        }
        self.begin = now;
    }

    /// All bins at the end of the run, of flows with these names.
    pub(crate) fn finish(
        mut self,
        end: Time,
        delivered: impl Iterator<Item = u64>,
        names: &[String],
    ) -> Vec<Series> {
        if end > self.begin {
            self.close(end, delivered);
        }
        let series = |(name, values)| Series { name: format!("flows.{name}.goodput_bps"), values };
        names.iter().zip(self.rates).map(series).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_holds_what_came_in_it_and_the_last_one_may_be_shorter() {
        let second = Span(1_000_000_000);
        let mut bins = Bins::new(second, second * 3, 2);
        assert_eq!(bins.end(), Some(Time(second.0)));
        bins.close(Time(second.0), [125, 0].into_iter());
        bins.close(Time(2 * second.0), [125, 250].into_iter());
        let series = bins.finish(Time(2_500_000_000), [375, 250].into_iter(), &["a".into(), "b".into()]);
        assert_eq!(series[0], Series { name: "flows.a.goodput_bps".into(), values: vec![1e3, 0.0, 4e3] });
        assert_eq!(series[1].values, [0.0, 2e3, 0.0]);
    }

    #[test]
    fn the_last_bin_ends_with_the_run_and_no_empty_one_follows() {
        let second = Span(1_000_000_000);
        let bins = Bins::new(second, second, 1);
        assert_eq!(bins.end(), None);
        assert_eq!(bins.finish(Time(second.0), [1].into_iter(), &["a".into()])[0].values, [8.0]);
    }
}
