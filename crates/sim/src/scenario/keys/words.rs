//! The words with which scenarios select parts of the model, each with a one-line description.

/// A word and its meaning.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// The word in scenarios.
    pub name: &'static str,
    /// Its meaning.
    pub summary: &'static str,
}

const fn named(name: &'static str, summary: &'static str) -> Named {
    Named { name, summary }
}

/// Standards of 802.11 links.
pub static STANDARDS: &[Named] = &[
    named("802.11", "DSSS at 1 and 2 Mbit/s, long preamble"),
    named("802.11b", "CCK at 5.5 and 11 Mbit/s, long preamble"),
    named("802.11b-short", "CCK at 5.5 and 11 Mbit/s, short preamble"),
    named("802.11a", "OFDM at 6 to 54 Mbit/s in a channel of 20 MHz"),
    named("802.11g", "ERP-OFDM at 6 to 54 Mbit/s in the band of 802.11b, with its rates"),
    named("802.11n", "HT in 20 or 40 MHz, with EDCA, aggregation and block acknowledgement"),
    named("802.11ac", "VHT in 20 to 160 MHz, with EDCA, aggregation and block acknowledgement"),
    named("802.11ax", "HE in 20 to 160 MHz, with EDCA, aggregation, block acknowledgement and OFDMA"),
    named("802.11be", "EHT in 20 to 320 MHz, with the MAC of 802.11ax and block-ack windows up to 1024"),
    named("bianchi", "the constants of Bianchi's tables, by default with the assumptions of his model"),
];

/// The standards with EDCA.
pub(in crate::scenario) const EDCA_STANDARDS: &[&str] = &["802.11n", "802.11ac", "802.11ax", "802.11be"];

/// Schedulers of PPDUs to several stations.
pub(super) static SCHEDULERS: &[Named] = &[
    named("none", "each PPDU is for one station"),
    named("round-robin", "of the stations with packets those whose last such PPDU was longest ago"),
    named("longest-queue", "those with the most packets in the queue"),
];

/// Schedulers of PPDUs from several stations.
pub(super) static UPLINKS: &[Named] = &[
    named("none", "stations send by themselves only"),
    named(
        "round-robin",
        "of the stations that have reported packets those whose last trigger was longest ago",
    ),
    named("longest-queue", "those that have reported the most bytes"),
];

/// How stations that were triggered contend.
pub(super) static MU_EDCA: &[Named] = &[
    named("contend", "as others do"),
    named("mu", "for a time with the parameters of mu-edca, in the category of what was triggered"),
];

/// How stations acknowledge a PPDU to several of them.
pub(super) static SHARED_ANSWERS: &[Named] = &[
    named("requests", "one after the other: the first at once, each other after a BlockAckReq"),
    named("trigger", "together, after a trigger that requests their BlockAcks (MU-BAR)"),
    named("aggregated-trigger", "together, after such a trigger within each A-MPDU"),
];

/// Loss models.
pub static LOSS_MODELS: &[Named] = &[
    named("none", "no random losses"),
    named("packet", "independent packet losses"),
    named("bit", "independent bit errors; a packet with a wrong bit is lost"),
    named(
        "gilbert-elliott",
        "two states with their own loss probabilities; the state changes from packet to packet",
    ),
    named("snr", "by signal-to-noise ratio and modulation, on an 802.11 link"),
    named("list", "exactly the listed packets are lost; on an 802.11 link, attempts of one station"),
];

/// Kinds of places.
pub(super) static PLACES: &[Named] = &[
    named("point", "all at one point; with a distance, as circle"),
    named("line", "in a line, at equal distances"),
    named("grid", "in rows and columns"),
    named("hexagon", "in rings around the first, six neighbours each"),
    named("circle", "on a circle, at equal distances"),
    named("disc", "random, uniform over a disc"),
    named("rectangle", "random, uniform over a rectangle"),
];

/// Kinds of movement.
pub(super) static MOVES: &[Named] = &[
    named("circle", "around a point at constant speed"),
    named("waypoint", "in straight lines from one random point to the next"),
];

/// Kinds of sources.
pub static APPS: &[Named] = &[
    named("bulk", "unlimited data, as fast as the transport accepts it"),
    named("file", "a given number of bytes or packets"),
    named("cbr", "packets at constant intervals"),
    named("poisson", "packets at exponential intervals"),
    named("on-off", "bursts of packets at constant intervals, with pauses in between"),
    named(
        "ping",
        "a small datagram per interval that the receiver returns, to measure round trips and losses",
    ),
    named("ftp", "a user who fetches files, each over a new connection"),
    named(
        "web",
        "a user who reads web pages; the objects of a page are fetched one after another over one connection",
    ),
    named("mail", "a user who fetches messages, each over a new connection"),
    named("mix", "a user whose sessions are ftp, web or mail"),
];

/// Sources that send by themselves, and may send back on the same connection: all but the probe and users.
pub(super) static SOURCES: &[Named] = APPS.split_at(APPS.len() - USERS.len() - 1).0;

/// Users, who ask for what is sent.
pub(super) static USERS: &[Named] = APPS.split_at(6).1;

/// Kinds of figures.
pub static FIGURES: &[Named] = &[
    named("lines", "a metric against a swept key, one line per value of another key"),
    named("bar", "a metric against a swept key, as bars with intervals, one per value of another key"),
    named("box", "how a metric varies between runs, as boxes, against a swept key"),
    named("scatter", "a metric against another one, with an ellipse of one standard deviation per point"),
    named("matrix", "a metric as a matrix of two swept keys"),
    named("airtime", "the airtime of an 802.11 medium, one stacked bar per point"),
    named("time", "quantities of a flow against simulated time"),
    named("cdf", "the distribution of response times of a class of transfers, unfinished transfers censored"),
];

/// What a figure over time can show of a flow.
pub static PANELS: &[Named] = &[
    named("rtt", "round-trip samples of the sender"),
    named("srtt", "the smoothed round-trip time"),
    named("rto", "the retransmission timeout"),
    named("cwnd", "the congestion window"),
    named("ssthresh", "the slow-start threshold"),
    named("sequence", "numbers of packets sent, retransmitted and acknowledged"),
    named("released", "number of packets that each acknowledgement released at once"),
    named("jitter", "jitter ratio and threshold of each law that uses them"),
    named("goodput", "delivered application bits per second in each bin of run.bin"),
    named("received", "application bytes delivered so far, in bins of run.bin"),
];

/// The panels drawn from the bins of a run, and not from a trace.
pub(in crate::scenario) static BINNED_PANELS: &[&str] = &["goodput", "received"];

pub(in crate::scenario) fn names(words: &[Named]) -> Vec<&'static str> {
    words.iter().map(|word| word.name).collect()
}
