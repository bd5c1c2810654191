//! The words that scenarios choose parts of the world by, each with one line on what it is.

/// A word and what it stands for.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// The word in scenarios.
    pub name: &'static str,
    /// What it stands for.
    pub summary: &'static str,
}

const fn named(name: &'static str, summary: &'static str) -> Named {
    Named { name, summary }
}

/// Kinds of links.
pub static LINKS: &[Named] = &[
    named("wired", "rate, delay and drop-tail queue in each direction; loses nothing"),
    named("lossy", "a wired link that loses packets by a loss model"),
    named("wifi", "an 802.11 medium that all its stations share"),
    named("frn", "a slotted multi-hop network, the Flexible Radio Network, of all its stations"),
    named("wimax", "an 802.16 link from a base station, the first node, to a subscriber station"),
];

/// Standards of 802.11 links.
pub static STANDARDS: &[Named] = &[
    named("802.11", "DSSS at 1 and 2 Mbit/s, long preamble"),
    named("802.11b", "CCK at 5.5 and 11 Mbit/s, long preamble"),
    named("802.11b-short", "the same with the short preamble"),
    named("802.11a", "OFDM at 6 to 54 Mbit/s in a channel of 20 MHz"),
    named("bianchi", "the constants of Bianchi's tables, by default under the assumptions of his model"),
];

/// Loss models.
pub static LOSS_MODELS: &[Named] = &[
    named("none", "nothing is lost by chance"),
    named("packet", "each packet is lost with the same probability, independently"),
    named("bit", "each bit is wrong with the same probability; a packet with a wrong bit is lost"),
    named("gilbert-elliott", "two states that change by packet, each with a loss probability of its own"),
    named("snr", "by the ratio of signal to noise and the modulation, on an 802.11 link"),
    named("list", "exactly the listed packets are lost; on an 802.11 link, attempts of one station"),
];

/// Kinds of places.
pub(super) static PLACES: &[Named] = &[
    named("point", "all at one point"),
    named("line", "one after the other"),
    named("grid", "in rows of so many"),
    named("hexagon", "in rings around the first, six neighbours each"),
    named("circle", "on a circle, at equal distances"),
    named("disc", "anywhere on a disc, by chance"),
    named("rectangle", "anywhere in a rectangle, by chance"),
];

/// Kinds of movement.
pub(super) static MOVES: &[Named] = &[
    named("circle", "around a point at constant speed"),
    named("waypoint", "straight to one random point after the other"),
];

/// Kinds of sources.
pub static APPS: &[Named] = &[
    named("bulk", "as much as the transport takes, without end"),
    named("file", "so many bytes or packets, then the end"),
    named("cbr", "packets at a constant distance"),
    named("poisson", "packets at exponential distances"),
    named("on-off", "packets at a constant distance in bursts, with pauses between"),
    named(
        "ping",
        "a small datagram at each interval that the receiver sends back, to measure round trips and losses",
    ),
    named("ftp", "a user who asks for one file after another, each over a connection of its own"),
    named("web", "a user who reads web pages, whose objects come one after another over one connection"),
    named("mail", "a user who fetches one message after another, each over a connection of its own"),
    named("mix", "a user each of whose sessions is one of these"),
];

/// Sources that send by themselves, and may send back on the same connection: all but the probe and users.
pub(super) static SOURCES: &[Named] = APPS.split_at(APPS.len() - USERS.len() - 1).0;

/// Users, who ask for what is sent.
pub(super) static USERS: &[Named] = APPS.split_at(6).1;

/// Kinds of figures.
pub static FIGURES: &[Named] = &[
    named("lines", "a metric against a swept key, one line for each value of another"),
    named(
        "matrix",
        "a metric as numbers, one row for each value of a swept key and one column for each of another",
    ),
    named("airtime", "how the time of an 802.11 medium was used, one stacked bar for each point"),
    named("time", "quantities of a flow against simulated time"),
    named("cdf", "the share of a class of transfers that is done within a time, unfinished ones censored"),
];

/// What a figure over time can show of a flow.
pub static PANELS: &[Named] = &[
    named("rtt", "each round trip that the sender measured"),
    named("srtt", "the smoothed round trip"),
    named("rto", "the retransmission timeout"),
    named("cwnd", "the congestion window"),
    named("ssthresh", "the threshold of slow start"),
    named("sequence", "packets sent, sent again and acknowledged, by their numbers"),
    named("released", "packets that left at once, for each acknowledgement that released some"),
    named("jitter", "the jitter ratio of each law that judges by it, and its threshold"),
    named("goodput", "application bits per second delivered in each bin of run.bin"),
    named("received", "application bytes delivered so far, by the bins of run.bin"),
];

/// The panels drawn from the bins of a run, and not from a trace.
pub(in crate::scenario) static BINNED_PANELS: &[&str] = &["goodput", "received"];

pub(in crate::scenario) fn names(words: &[Named]) -> Vec<&'static str> {
    words.iter().map(|word| word.name).collect()
}
