//! The keys of what a wire does to packets besides queueing and losing them: a policer, jitter, reordering and duplication.
//!
//! Each key has one below `reverse`, whose default is the value of the forward direction.

use super::kinds::WITH_DELAYS;
use super::shared::{FASTEST, LONGEST, RATE, SHARE, SIZE, TIME_MS};
use super::{Key, Kind, Only};
use crate::medium::impairments::JitterLaw;
use lasthop_stack::hooks::parameter::words;

const NETEM: &str = "Linux: sch_netem.c";

const POLICED: &[Only] = &[WITH_DELAYS, Only::Given("links.*.policer.rate")];
const POLICED_BACK: &[Only] = &[WITH_DELAYS, Only::Given("links.*.reverse.policer.rate")];
const VARIES: &[Only] = &[WITH_DELAYS, Only::Given("links.*.jitter.spread")];
const VARIES_BACK: &[Only] = &[WITH_DELAYS, Only::Given("links.*.reverse.jitter.spread")];
const REORDERS: &[Only] = &[WITH_DELAYS, Only::Given("links.*.reorder.rate")];
const REORDERS_BACK: &[Only] = &[WITH_DELAYS, Only::Given("links.*.reverse.reorder.rate")];
const COPIES: &[Only] = &[WITH_DELAYS, Only::Given("links.*.duplicate.rate")];
const COPIES_BACK: &[Only] = &[WITH_DELAYS, Only::Given("links.*.reverse.duplicate.rate")];

/// The keys.
pub(super) const KEYS: &[Key] = &[
    Key::new("links.*.policer.rate", RATE, "rate above which a token bucket in front of the queue drops packets; none means no policer")
        .absent().or(&["none"]).above("0 bit/s").at_most(FASTEST).only(&[WITH_DELAYS]),
    Key::new("links.*.reverse.policer.rate", RATE, "the same from the second node to the first")
        .like("links.*.policer.rate").or(&["none"]).above("0 bit/s").at_most(FASTEST).only(&[WITH_DELAYS]),
    Key::new("links.*.policer.burst", SIZE, "bytes of IP packets that the bucket holds, and that therefore pass at once")
        .absent().above("0 B").at_most("1000 GB").only(POLICED),
    Key::new("links.*.reverse.policer.burst", SIZE, "the same from the second node to the first")
        .like("links.*.policer.burst").above("0 B").at_most("1000 GB").only(POLICED_BACK),
    Key::new("links.*.jitter.spread", TIME_MS, "scale of a random time added to the delay of each packet, or taken off it; 0 s means none")
        .absent().at_most("1000000 s").only(&[WITH_DELAYS]),
    Key::new("links.*.reverse.jitter.spread", TIME_MS, "the same from the second node to the first")
        .like("links.*.jitter.spread").at_most("1000000 s").only(&[WITH_DELAYS]),
    Key::new("links.*.jitter.distribution", Kind::Word("distribution", words::<JitterLaw>), "distribution of that time, with mean 0: uniform within one spread, or cut off at 4 spreads")
        .default("uniform").source(NETEM).only(VARIES),
    Key::new("links.*.reverse.jitter.distribution", Kind::Word("distribution", words::<JitterLaw>), "the same from the second node to the first")
        .like("links.*.jitter.distribution").only(VARIES_BACK),
    Key::new("links.*.jitter.correlation", SHARE, "correlation of the random number of a packet with that of the packet before")
        .default("0 %").source(NETEM).at_most("100 %").only(VARIES),
    Key::new("links.*.reverse.jitter.correlation", SHARE, "the same from the second node to the first")
        .like("links.*.jitter.correlation").at_most("100 %").only(VARIES_BACK),
    Key::new("links.*.jitter.keeps-order", Kind::Bool, "whether a packet waits for those that left before it, as behind a rate in netem; false lets jitter reorder")
        .default("true").only(VARIES),
    Key::new("links.*.reverse.jitter.keeps-order", Kind::Bool, "the same from the second node to the first")
        .like("links.*.jitter.keeps-order").only(VARIES_BACK),
    Key::new("links.*.reorder.rate", SHARE, "share of the packets that are sent ahead of those in transit; needs a delay")
        .absent().source(NETEM).at_most("100 %").only(&[WITH_DELAYS]),
    Key::new("links.*.reverse.reorder.rate", SHARE, "the same from the second node to the first")
        .like("links.*.reorder.rate").at_most("100 %").only(&[WITH_DELAYS]),
    Key::new("links.*.reorder.correlation", SHARE, "correlation of the random number of a packet with that of the packet before")
        .default("0 %").source(NETEM).at_most("100 %").only(REORDERS),
    Key::new("links.*.reverse.reorder.correlation", SHARE, "the same from the second node to the first")
        .like("links.*.reorder.correlation").at_most("100 %").only(REORDERS_BACK),
    Key::new("links.*.reorder.gap", Kind::Integer, "number of packets from one that is sent ahead to the next that may be")
        .default("1").source(NETEM).at_least("1").at_most("1000000000").only(REORDERS),
    Key::new("links.*.reverse.reorder.gap", Kind::Integer, "the same from the second node to the first")
        .like("links.*.reorder.gap").at_least("1").at_most("1000000000").only(REORDERS_BACK),
    Key::new("links.*.reorder.by", TIME_MS, "by how much less than the delay such a packet takes; delay means that it arrives as soon as it has left")
        .default("delay").or(&["delay"]).source(NETEM).above("0 s").at_most(LONGEST).only(REORDERS),
    Key::new("links.*.reverse.reorder.by", TIME_MS, "the same from the second node to the first")
        .like("links.*.reorder.by").or(&["delay"]).above("0 s").at_most(LONGEST).only(REORDERS_BACK),
    Key::new("links.*.duplicate.rate", SHARE, "share of the packets that arrive twice")
        .absent().source(NETEM).at_most("100 %").only(&[WITH_DELAYS]),
    Key::new("links.*.reverse.duplicate.rate", SHARE, "the same from the second node to the first")
        .like("links.*.duplicate.rate").at_most("100 %").only(&[WITH_DELAYS]),
    Key::new("links.*.duplicate.correlation", SHARE, "correlation of the random number of a packet with that of the packet before")
        .default("0 %").source(NETEM).at_most("100 %").only(COPIES),
    Key::new("links.*.reverse.duplicate.correlation", SHARE, "the same from the second node to the first")
        .like("links.*.duplicate.correlation").at_most("100 %").only(COPIES_BACK),
];

#[cfg(test)]
mod tests {
    use super::super::Default;
    use super::*;

    #[test]
    fn a_key_of_the_reverse_direction_follows_that_of_the_forward_one() {
        for key in KEYS.iter().filter(|key| key.path.contains(".reverse.")) {
            let forward = key.path.replace(".reverse.", ".");
            assert!(matches!(key.default, Default::Like(other) if other == forward), "{}", key.path);
        }
    }
}
