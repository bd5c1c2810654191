//! The names used here for words of ns-2, ns-3, Mahimahi, netem and iperf, or a note that the feature is not modelled.

use super::quantity::Dim;

/// What a word of another program leads to.
enum Hint {
    /// The keys that correspond to it; the first unless another one belongs to the same table.
    Keys(&'static [&'static str]),
    /// It is not modelled.
    Absent(&'static str),
}

use Hint::{Absent, Keys};

/// The text of a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// The name of the word here.
    Meant(String),
    /// That it is not modelled, and what is instead.
    Absent(String),
}

const MODERN_WIFI: &str = "802.11 goes up to 802.11be, without A-MSDU, beamforming and MU-MIMO";
const ADDRESSES: &str = "nodes have names, without addresses and ports";

/// Keys by the names that other programs give them, in lower case without `-` and `_`.
const KEY_HINTS: &[(&[&str], Hint)] = &[
    (&["bandwidth", "bw", "datarate", "linkrate", "bitrate", "capacity", "speed"], Keys(&["links.*.rate"])),
    (&["datamode", "wifimode", "phymode", "mcsindex", "htmcs", "vhtmcs", "hemcs"], Keys(&["links.*.mcs"])),
    (&["maxdelay", "msdulifetime"], Keys(&["links.*.edca.lifetime"])),
    (&["latency", "propdelay", "linkdelay", "onewaydelay", "owd"], Keys(&["links.*.delay"])),
    (
        &["queuesize", "queuelimit", "qlen", "ifqlen", "limit", "maxsize", "maxpackets", "uplinkqueue"],
        Keys(&["links.*.queue"]),
    ),
    (
        &["plr", "per", "lossrate", "errorrate", "packetloss", "droprate", "errrate"],
        Keys(&["links.*.loss.rate"]),
    ),
    (&["police", "tbf", "tokenbucket", "ratelimit"], Keys(&["links.*.policer.rate"])),
    (&["dup", "duplication", "duplicates"], Keys(&["links.*.duplicate.rate"])),
    (&["reordering"], Keys(&["links.*.reorder.rate"])),
    (&["delayvariation", "delayjitter"], Keys(&["links.*.jitter.spread"])),
    (&["ber", "biterrorrate"], Keys(&["links.*.loss.bit.ber"])),
    (&["errormodel", "lossmodel", "em"], Keys(&["links.*.loss.model"])),
    (&["type", "typeid"], Keys(&["links.*.kind", "flows.*.app.kind", "agents.*.kind", "figure.kind"])),
    (&["ctsthreshold", "rtsctsthreshold"], Keys(&["links.*.rts-threshold"])),
    (
        &["txpower", "txpowerstart", "txpowerend", "transmitpower"],
        Keys(&["links.*.propagation.transmit-power"]),
    ),
    (&["src", "source", "sender", "client"], Keys(&["flows.*.from"])),
    (&["dst", "dest", "destination", "receiver", "server", "remote"], Keys(&["flows.*.to"])),
    (&["parallel", "nflows", "numflows", "streams", "nodes"], Keys(&["flows.*.count", "nodes.*.count"])),
    (
        &["mss", "segmentsize", "packetsize", "pktsize", "segsize", "payload", "mtu"],
        Keys(&["flows.*.tcp.packet"]),
    ),
    (
        &["cc", "congestioncontrol", "algorithm", "algo", "sockettype", "tcptype", "flavour", "flavor"],
        Keys(&["flows.*.tcp.variant"]),
    ),
    (&["initcwnd", "initialcwnd", "iw", "windowinit"], Keys(&["flows.*.tcp.initial-window"])),
    (&["cwnd", "maxcwnd", "maxwindow", "windowsize", "rwnd"], Keys(&["flows.*.tcp.window"])),
    (&["ssthresh", "initialssthresh", "initssthresh"], Keys(&["flows.*.tcp.initial-ssthresh"])),
    (&["rto", "rtomin", "minimumrto"], Keys(&["flows.*.tcp.min-rto"])),
    (&["delack", "delackcount", "delayedack", "delayedacks"], Keys(&["flows.*.tcp.ack-every"])),
    (&["delacktimeout", "delacktime"], Keys(&["flows.*.tcp.ack-delay"])),
    (&["rcvbuf", "rcvbufsize", "recvbuf", "receivebuffer", "rmem"], Keys(&["flows.*.sink.buffer"])),
    (&["starttime", "begin"], Keys(&["flows.*.app.start"])),
    (&["stoptime", "end"], Keys(&["flows.*.app.stop"])),
    (&["filesize", "maxbytes", "bytes", "flowsize"], Keys(&["flows.*.app.file.size"])),
    (&["simtime", "simulationtime", "runtime", "time"], Keys(&["run.duration"])),
    (&["rngseed", "rngrun", "randomseed"], Keys(&["run.seed"])),
    (&["runs", "repetitions", "repeats", "trials", "iterations"], Keys(&["run.replications"])),
    (&["dist", "radius", "away"], Keys(&["nodes.*.distance"])),
    (&["mobility", "mobilitymodel", "velocity"], Keys(&["nodes.*.move.kind"])),
    (&["ecn"], Keys(&["flows.*.tcp.ecn"])),
    (&["tracefile", "downlinktrace", "schedule"], Keys(&["links.*.trace.file"])),
    (&["uplinktrace"], Keys(&["links.*.reverse.trace.file"])),
    (&["red", "codel", "fqcodel", "pie", "qdisc", "queuedisc"], Keys(&["links.*.aqm.law"])),
    (&["ampdu", "maxampdusize", "aggregation"], Keys(&["links.*.aggregate.count"])),
    (&["mimo", "spatialstreams", "nss"], Keys(&["links.*.streams"])),
    (&["channelwidth", "chwidth"], Keys(&["links.*.width"])),
    (&["gi", "sgi"], Keys(&["links.*.guard-interval"])),
    (&["qos", "tos", "diffserv"], Keys(&["flows.*.dscp"])),
    (&["ulofdma", "bsrp", "trigger"], Keys(&["links.*.ofdma.uplink"])),
    (&["amsdu", "mumimo", "beamforming"], Absent(MODERN_WIFI)),
    (&["address", "ip", "port", "subnet", "mask", "ttl", "ipv6", "mac"], Absent(ADDRESSES)),
    (
        &["sndbuf", "sndbufsize", "sendbuffer", "wmem"],
        Absent("data written by an application waits without a limit"),
    ),
];

/// Words of values, likewise: the noun of the key's words, the words given, and the hint.
const WORD_HINTS: &[(&str, &[&str], Hint)] = &[
    ("variant", &["bbrv2", "bbr2", "bbrv3", "bbr3"], Absent("\"bbr\" is version 1")),
    (
        "variant",
        &["compound", "illinois", "hybla", "htcp", "scalable", "bic", "yeah", "ledbat", "copa"],
        Absent(""),
    ),
    ("kind of link", &["pointtopoint", "p2p", "duplexlink", "ethernet", "csma", "cable"], Keys(&["wired"])),
    ("kind of link", &["wlan", "wireless", "80211", "wifi6", "yanswifi"], Keys(&["wifi"])),
    ("kind of link", &["80216", "wman"], Keys(&["wimax"])),
    ("kind of link", &["mahimahi", "mmlink", "record", "recorded"], Keys(&["trace"])),
    ("kind of link", &["lte", "5g", "nr", "cellular", "4g"], Absent("\"trace\" is a record of such a link")),
    ("kind of source", &["bulksend", "iperf", "greedy", "infinite"], Keys(&["bulk"])),
    ("kind of source", &["onoff", "exponential", "pareto", "exponentialonoff"], Keys(&["on-off"])),
    ("kind of source", &["constant", "udp", "udpclient"], Keys(&["cbr"])),
    ("kind of source", &["echo", "icmp", "probe", "udpecho"], Keys(&["ping"])),
    ("kind of source", &["http", "browser"], Keys(&["web"])),
    ("loss model", &["bernoulli", "uniform", "random", "rateerrormodel", "iid"], Keys(&["packet"])),
    (
        "loss model",
        &["ge", "gilbert", "burst", "burstymodel", "bursterrormodel", "markov"],
        Keys(&["gilbert-elliott"]),
    ),
    ("loss model", &["ber"], Keys(&["bit"])),
    ("standard", &["80211bn", "80211p"], Absent(MODERN_WIFI)),
];

/// Units of other programs, and the one that is meant; their case matters only where nothing else distinguishes two.
const UNIT_HINTS: &[(Dim, &[&str], &str)] = &[
    (Dim::Rate, &["bps", "b/s", "bits/s", "bit", "bits"], "bit/s"),
    (Dim::Rate, &["kbps", "kb/s", "kbits/s", "kbit", "kbits", "k"], "kbit/s"),
    (Dim::Rate, &["mbps", "mb/s", "mbits/s", "mbit", "mbits", "m"], "Mbit/s"),
    (Dim::Rate, &["gbps", "gb/s", "gbits/s", "gbit", "gbits", "g"], "Gbit/s"),
    (Dim::Time, &["sec", "secs", "second", "seconds"], "s"),
    (Dim::Time, &["msec", "msecs", "millis", "millisecond", "milliseconds"], "ms"),
    (Dim::Time, &["usec", "usecs", "microsecond", "microseconds"], "us"),
    (Dim::Time, &["nsec", "nanosecond", "nanoseconds"], "ns"),
    (Dim::Time, &["mins", "minute", "minutes"], "min"),
    (Dim::Time, &["hr", "hrs", "hour", "hours"], "h"),
    (Dim::Size, &["byte", "bytes", "octet", "octets"], "B"),
    (Dim::Size, &["kbyte", "kbytes", "k"], "kB"),
    (Dim::Size, &["mbyte", "mbytes", "m"], "MB"),
    (Dim::Size, &["gbyte", "gbytes", "g"], "GB"),
    (Dim::Packets, &["p", "pkt", "pkts", "pk", "frames"], "packets"),
    (Dim::Segments, &["seg", "segs", "mss", "pkt", "pkts"], "segments"),
    (Dim::Share, &["percent", "pct", "per cent"], "%"),
    (Dim::Length, &["meter", "meters", "metre", "metres"], "m"),
    (Dim::Length, &["kilometer", "kilometers", "kilometre", "kilometres"], "km"),
    (Dim::Speed, &["mps", "meters/s"], "m/s"),
];

/// The hint for an unknown key, for a path whose part at `depth` leaves the table of keys.
pub(super) fn of_key(path: &[&str], depth: usize) -> Option<Said> {
    let word = plain(path[depth]);
    let (_, hint) = KEY_HINTS.iter().find(|(words, _)| words.contains(&word.as_str()))?;
    let patterns = match hint {
        Absent(text) => return Some(absent(path[depth], text)),
        Keys(patterns) => *patterns,
    };
    let above = |pattern: &str| -> Vec<String> {
        let mut parts: Vec<String> = pattern.split('.').map(str::to_string).collect();
        parts.pop();
        parts
    };
    let fits = |pattern: &&&str| {
        let parts = above(pattern);
        parts.len() == depth && parts.iter().zip(path).all(|(part, given)| part == "*" || part == given)
    };
    let pattern = patterns.iter().find(fits).or(patterns.first())?;
    if fits(&pattern) {
        return pattern.rsplit('.').next().map(|last| Said::Meant(last.to_string()));
    }
    // The name that the path has already, where it leads into the same section.
    let name = path.get(1).filter(|_| depth > 1 && pattern.split('.').next() == path.first().copied());
    let parts =
        pattern.split('.').map(|part| if part == "*" { name.copied().unwrap_or("NAME") } else { part });
    Some(Said::Meant(parts.collect::<Vec<_>>().join(".")))
}

/// The hint for a word that is not one of the `known` ones of this noun.
pub(super) fn of_word(noun: &str, word: &str, known: &[&str]) -> Option<Said> {
    let given = plain(word);
    let of_noun = |entry: &&(&str, &[&str], Hint)| entry.0 == noun && entry.1.contains(&given.as_str());
    match &WORD_HINTS.iter().find(of_noun)?.2 {
        Absent(text) => Some(absent(word, text)),
        Keys(words) => {
            words.iter().find(|word| known.contains(word)).map(|word| Said::Meant((*word).to_string()))
        }
    }
}

/// The unit of one of these dimensions that is meant by `unit`.
pub(super) fn of_unit(unit: &str, dims: &[Dim]) -> Option<&'static str> {
    let lower = unit.to_lowercase();
    let hinted =
        UNIT_HINTS.iter().find(|(dim, words, _)| dims.contains(dim) && words.contains(&lower.as_str()));
    let by_case = || {
        let mut units = dims.iter().flat_map(|dim| dim.units());
        units.find(|known| known.to_lowercase() == lower)
    };
    hinted.map(|(_, _, meant)| *meant).or_else(by_case)
}

/// What a unit of another program measures. One letter may denote several.
pub(super) fn dim_of_unit(unit: &str) -> Option<Dim> {
    let lower = unit.to_lowercase();
    let known = UNIT_HINTS.iter().find(|(_, words, _)| lower.len() > 1 && words.contains(&lower.as_str()));
    known.map(|(dim, ..)| *dim)
}

fn absent(word: &str, instead: &str) -> Said {
    let instead = if instead.is_empty() { String::new() } else { format!(": {instead}") };
    Said::Absent(format!("\"{word}\" is not modelled{instead}"))
}

/// A word in lower case, without what different programs put between its parts.
fn plain(word: &str) -> String {
    word.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::keys::{APPS, KEYS, LOSS_MODELS, kinds::KINDS};

    #[test]
    fn each_hint_leads_to_a_key_a_word_or_a_unit_that_there_is() {
        for (_, hint) in KEY_HINTS {
            if let Keys(patterns) = hint {
                for pattern in *patterns {
                    assert!(KEYS.iter().any(|key| key.path == *pattern), "{pattern}");
                }
            }
        }
        let words: Vec<&str> = [KINDS, APPS, LOSS_MODELS].concat().iter().map(|word| word.name).collect();
        for (noun, _, hint) in WORD_HINTS {
            if let Keys(meant) = hint {
                assert!(meant.iter().all(|word| words.contains(word)), "{noun}: {meant:?}");
            }
        }
        for (dim, _, unit) in UNIT_HINTS {
            assert!(dim.units().contains(unit), "{unit}");
        }
    }

    #[test]
    fn no_word_of_a_hint_stands_twice() {
        let mut seen = std::collections::BTreeSet::new();
        for (words, _) in KEY_HINTS {
            for word in *words {
                assert_eq!(plain(word), *word);
                assert!(seen.insert(*word), "{word}");
            }
        }
    }

    #[test]
    fn a_hint_is_as_long_as_it_has_to_be() {
        let said = |path: &str, depth: usize| of_key(&path.split('.').collect::<Vec<_>>(), depth);
        let meant = |key: &str| Some(Said::Meant(key.to_string()));
        assert_eq!(said("links.a.bandwidth", 2), meant("rate"));
        assert_eq!(said("links.a.loss.bandwidth", 3), meant("links.a.rate"));
        assert_eq!(said("bandwidth", 0), meant("links.NAME.rate"));
        assert_eq!(said("flows.f.app.type", 3), meant("kind"));
        assert_eq!(said("flows.f.bandwidth", 2), meant("links.NAME.rate"));
        assert!(
            matches!(said("links.a.mumimo", 2), Some(Said::Absent(text)) if text.starts_with("\"mumimo\" is not modelled: "))
        );
        assert_eq!(said("links.a.colour", 2), None);
    }
}
