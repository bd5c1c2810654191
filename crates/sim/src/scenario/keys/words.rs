//! The words with which scenarios select parts of the model, each with a one-line description.

use lasthop_stack::hooks::parameter::{Words, words};

/// A word and its meaning.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// The word in scenarios.
    pub name: &'static str,
    /// Its meaning.
    pub summary: &'static str,
}

/// Declares the words of a choice and the list of their meanings.
macro_rules! choice {
    ($(#[$about:meta])* $choice:ident in $list:ident { $($value:ident = $word:literal: $summary:literal),+ $(,)? }) => {
        words! {
            $(#[$about])*
            pub enum $choice { $(#[doc = $summary] $value = $word),+ }
        }

        $(#[$about])*
        pub const $list: &[Named] = &[$(Named { name: $word, summary: $summary }),+];
    };
}
pub(super) use choice;

choice! {
    /// Standards of 802.11 links.
    Standard in STANDARDS {
        Dot11 = "802.11": "DSSS at 1 and 2 Mbit/s, long preamble",
        Dot11b = "802.11b": "CCK at 5.5 and 11 Mbit/s, long preamble",
        Dot11bShort = "802.11b-short": "CCK at 5.5 and 11 Mbit/s, short preamble",
        Dot11a = "802.11a": "OFDM at 6 to 54 Mbit/s in a channel of 20 MHz",
        Dot11g = "802.11g": "ERP-OFDM at 6 to 54 Mbit/s in the band of 802.11b, with its rates",
        Dot11n = "802.11n": "HT in 20 or 40 MHz, with EDCA, aggregation and block acknowledgement",
        Dot11ac = "802.11ac": "VHT in 20 to 160 MHz, with EDCA, aggregation and block acknowledgement",
        Dot11ax = "802.11ax": "HE in 20 to 160 MHz, with EDCA, aggregation, block acknowledgement and OFDMA",
        Dot11be = "802.11be": "EHT in 20 to 320 MHz, with the MAC of 802.11ax and block-ack windows up to 1024",
        Bianchi = "bianchi": "the constants of Bianchi's tables, by default with the assumptions of his model",
    }
}

words! {
    /// Rules of the MAC of an 802.11 link.
    pub(in crate::scenario) enum Flavour { Standard = "standard", Ns2 = "ns2", Model = "model" }

    /// Defaults of propagation and reception on an 802.11 link.
    pub(in crate::scenario) enum Radio { Ns2 = "ns2", Ns3 = "ns3", Bianchi = "bianchi" }

    /// Coordination functions of an 802.11 link.
    pub(in crate::scenario) enum Coordination { Dcf = "dcf", Pcf = "pcf" }

    /// What protects the packets between an access point and nodes that are a kernel.
    pub(in crate::scenario) enum Security { Open = "open", Wpa2 = "wpa2" }

    /// Schedulers of PPDUs to several stations, or from several.
    pub(in crate::scenario) enum Schedule {
        None = "none", RoundRobin = "round-robin", LongestQueue = "longest-queue",
    }

    /// How stations that were triggered contend.
    pub(in crate::scenario) enum Contention { Contend = "contend", Mu = "mu" }

    /// Models of shadowing.
    pub(in crate::scenario) enum ShadowingModel { None = "none", LogNormal = "log-normal" }

    /// Models of fading.
    pub(in crate::scenario) enum FadingModel { None = "none", Rayleigh = "rayleigh", Rician = "rician" }

    /// The directions of a link that lose packets.
    pub(in crate::scenario) enum LossDirection { Forward = "forward", Reverse = "reverse", Both = "both" }

    /// Distributions of round-trip times.
    pub(in crate::scenario) enum RttModel {
        Uniform = "uniform", Normal = "normal", Exponential = "exponential",
    }

    /// Changes of the modulation of an 802.16 link.
    pub(in crate::scenario) enum ModulationModel {
        Fixed = "fixed", Script = "script", Markov = "markov", Snr = "snr",
    }

    /// The lines of a file with the capacity of a link.
    pub(in crate::scenario) enum CapacityFormat { Opportunities = "opportunities", Rates = "rates" }

    /// The delay between two lines of a file of delays.
    pub(in crate::scenario) enum Between { Steps = "steps", Linear = "linear" }

    /// The times of outages and hand-offs.
    pub(in crate::scenario) enum EventLaw { Script = "script", Periodic = "periodic", Random = "random" }

    /// The fate of packets queued during an outage.
    pub(in crate::scenario) enum DuringOutage { Sent = "sent", Kept = "kept" }

    /// The radios of a station on several links of multi-link devices.
    pub(in crate::scenario) enum Radios { OneForEach = "str", One = "emlsr" }

    /// Arrangements of the nodes of a group.
    pub(in crate::scenario) enum Arrangement {
        Point = "point", Line = "line", Grid = "grid", Hexagon = "hexagon", Circle = "circle", Disc = "disc", Rectangle = "rectangle",
    }

    /// Kinds of movement.
    pub(in crate::scenario) enum Movement { Circle = "circle", Waypoint = "waypoint" }

    /// Shapes of the area of way-points.
    pub(in crate::scenario) enum Area { Disc = "disc", Rectangle = "rectangle" }

    /// What is above the radio of a node.
    pub(in crate::scenario) enum NodeStack { Lasthop = "lasthop", Linux = "linux" }

    /// Distributions of bursts and pauses.
    pub(in crate::scenario) enum Bursts { Exponential = "exponential", Pareto = "pareto", Fixed = "fixed" }

    /// Models of a web page.
    pub(in crate::scenario) enum WebModel { ThreeGpp2 = "3gpp2", Fixed = "fixed" }
}

/// The standards with EDCA.
pub(in crate::scenario) const EDCA_STANDARDS: &[&str] = &["802.11n", "802.11ac", "802.11ax", "802.11be"];

choice! {
    /// Loss models.
    LossModel in LOSS_MODELS {
        None = "none": "no random losses",
        Packet = "packet": "independent packet losses",
        Bit = "bit": "independent bit errors; a packet with a wrong bit is lost",
        GilbertElliott = "gilbert-elliott": "two states with their own loss probabilities; the state changes from packet to packet",
        Snr = "snr": "by signal-to-noise ratio and modulation, on an 802.11 link",
        List = "list": "exactly the listed packets are lost; on an 802.11 link, attempts of one station",
    }
}

choice! {
    /// Kinds of sources.
    App in APPS {
        Bulk = "bulk": "unlimited data, as fast as the transport accepts it",
        File = "file": "a given number of bytes or packets",
        Cbr = "cbr": "packets at constant intervals",
        Poisson = "poisson": "packets at exponential intervals",
        OnOff = "on-off": "bursts of packets at constant intervals, with pauses in between",
        Ping = "ping": "a small datagram per interval that the receiver returns, to measure round trips and losses",
        Ftp = "ftp": "a user who fetches files, each over a new connection",
        Web = "web": "a user who reads web pages; the objects of a page are fetched one after another over one connection",
        Mail = "mail": "a user who fetches messages, each over a new connection",
        Mix = "mix": "a user whose sessions are ftp, web or mail",
    }
}

impl App {
    /// Whether it is a user, who asks for what is sent.
    const fn is_user(self) -> bool {
        match self {
            App::Ftp | App::Web | App::Mail | App::Mix => true,
            App::Bulk | App::File | App::Cbr | App::Poisson | App::OnOff | App::Ping => false,
        }
    }

    /// Whether it runs over TCP unless a flow says otherwise.
    pub(in crate::scenario) const fn is_reliable(self) -> bool {
        match self {
            App::Bulk | App::File | App::Ftp | App::Web | App::Mail | App::Mix => true,
            App::Cbr | App::Poisson | App::OnOff | App::Ping => false,
        }
    }
}

/// Sources that send by themselves, and may send back on the same connection: all but the probe and users.
pub(super) fn sources() -> Vec<&'static str> {
    named_where(|app| !app.is_user() && app != App::Ping)
}

/// Users.
#[cfg(test)]
pub(super) fn users() -> Vec<&'static str> {
    named_where(App::is_user)
}

fn named_where(is_meant: impl Fn(App) -> bool) -> Vec<&'static str> {
    App::WORDS.iter().filter(|(_, app)| is_meant(*app)).map(|(word, _)| *word).collect()
}

choice! {
    /// Kinds of figures.
    Figure in FIGURES {
        Lines = "lines": "a metric against a swept key, one line per value of another key",
        Bar = "bar": "a metric against a swept key, as bars with intervals, one per value of another key",
        Box = "box": "how a metric varies between runs, as boxes, against a swept key",
        Scatter = "scatter": "a metric against another one, with an ellipse of one standard deviation per point",
        Matrix = "matrix": "a metric as a matrix of two swept keys",
        Airtime = "airtime": "the airtime of an 802.11 medium, one stacked bar per point",
        Time = "time": "quantities of a flow against simulated time",
        Cdf = "cdf": "the distribution of response times of a class of transfers, unfinished transfers censored",
    }
}

choice! {
    /// What a figure over time can show of a flow.
    Panel in PANELS {
        Rtt = "rtt": "round-trip samples of the sender",
        Srtt = "srtt": "the smoothed round-trip time",
        Rto = "rto": "the retransmission timeout",
        Cwnd = "cwnd": "the congestion window",
        Ssthresh = "ssthresh": "the slow-start threshold",
        Sequence = "sequence": "numbers of packets sent, retransmitted and acknowledged",
        Released = "released": "number of packets that each acknowledgement released at once",
        Jitter = "jitter": "jitter ratio and threshold of each law that uses them",
        Goodput = "goodput": "delivered application bits per second in each bin of run.bin",
        Received = "received": "application bytes delivered so far, in bins of run.bin",
    }
}
