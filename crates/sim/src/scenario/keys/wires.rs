//! The keys of what a wire does to packets besides queueing and losing them: a policer, jitter, reordering and duplication.
//!
//! Each key has one below `reverse` ([`both_ways`]).

use super::kinds::WITH_DELAYS;
use super::shared::{FASTEST, LONGEST, RATE, SHARE, SIZE, TIME_MS, both_ways};
use super::{Key, Kind, Only};
use crate::medium::impairments::JitterLaw;
use lasthop_stack::hooks::parameter::words;

const NETEM: &str = "Linux: sch_netem.c";

const POLICED: &[Only] = &[WITH_DELAYS, Only::Given("links.*.policer.rate")];
const VARIES: &[Only] = &[WITH_DELAYS, Only::Given("links.*.jitter.spread")];
const REORDERS: &[Only] = &[WITH_DELAYS, Only::Given("links.*.reorder.rate")];
const COPIES: &[Only] = &[WITH_DELAYS, Only::Given("links.*.duplicate.rate")];

/// The keys of the forward direction.
const KEYS: &[Key] = &[
    Key::new("links.*.policer.rate", RATE, "rate above which a token bucket in front of the queue drops packets; none means no policer")
        .absent().or(&["none"]).above("0 bit/s").at_most(FASTEST).only(&[WITH_DELAYS]),
    Key::new("links.*.policer.burst", SIZE, "bytes of IP packets that the bucket holds, and that therefore pass at once")
        .absent().above("0 B").at_most("1000 GB").only(POLICED),
    Key::new("links.*.jitter.spread", TIME_MS, "scale of a random time added to the delay of each packet, or taken off it; 0 s means none")
        .absent().at_most("1000000 s").only(&[WITH_DELAYS]),
    Key::new("links.*.jitter.distribution", Kind::Word("distribution", words::<JitterLaw>), "distribution of that time, with mean 0: uniform within one spread, or cut off at 4 spreads")
        .default("uniform").source(NETEM).only(VARIES),
    Key::new("links.*.jitter.correlation", SHARE, "correlation of the random number of a packet with that of the packet before")
        .default("0 %").source(NETEM).at_most("100 %").only(VARIES),
    Key::new("links.*.jitter.keeps-order", Kind::Bool, "whether a packet waits for those that left before it, as behind a rate in netem; false lets jitter reorder")
        .default("true").only(VARIES),
    Key::new("links.*.reorder.rate", SHARE, "share of the packets that are sent ahead of those in transit; needs a delay")
        .absent().source(NETEM).at_most("100 %").only(&[WITH_DELAYS]),
    Key::new("links.*.reorder.correlation", SHARE, "correlation of the random number of a packet with that of the packet before")
        .default("0 %").source(NETEM).at_most("100 %").only(REORDERS),
    Key::new("links.*.reorder.gap", Kind::Integer, "number of packets from one that is sent ahead to the next that may be")
        .default("1").source(NETEM).at_least("1").at_most("1000000000").only(REORDERS),
    Key::new("links.*.reorder.by", TIME_MS, "by how much less than the delay such a packet takes; delay means that it arrives as soon as it has left")
        .default("delay").or(&["delay"]).source(NETEM).above("0 s").at_most(LONGEST).only(REORDERS),
    Key::new("links.*.duplicate.rate", SHARE, "share of the packets that arrive twice")
        .absent().source(NETEM).at_most("100 %").only(&[WITH_DELAYS]),
    Key::new("links.*.duplicate.correlation", SHARE, "correlation of the random number of a packet with that of the packet before")
        .default("0 %").source(NETEM).at_most("100 %").only(COPIES),
];

/// The keys.
pub(super) fn keys() -> Vec<Key> {
    KEYS.iter().flat_map(both_ways).collect()
}
