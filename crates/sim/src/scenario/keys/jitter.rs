//! The keys of the laws that judge losses by jitter, and of judges that only watch.

use super::table::{LONGEST, SEGMENTS, SHARE, TIME_MS};
use super::{Key, Kind, Only};
use lasthop_stack::packet::Form;
use lasthop_stack::registry::CongestionKind;
use lasthop_stack::schemes::ejtcp::{ModulationRule, RandomTimeout, RttThreshold};
use lasthop_stack::transport::congestion::TimeoutRule;
use lasthop_stack::transport::estimate::Reach;

const JTCP: &[Only] = &[Only::Law("jtcp")];
const EJTCP: &[Only] = &[Only::Law("ejtcp")];
const BY_SHARE: &[Only] = &[Only::Law("ejtcp"), Only::Is("flows.*.tcp.ejtcp.rtt-threshold", &["alpha"])];

/// The keys of JTCP, EJTCP and the judges.
pub(super) const KEYS: &[Key] = &[
    Key::new(
        "flows.*.tcp.judges",
        Kind::Words("congestion law", || CongestionKind::JUDGES.iter().map(|kind| kind.entry().name).collect()),
        "laws that judge each loss of this flow without a say in its window",
    )
    .or(&["none"])
    .default("none")
    .only(&[Only::Tcp]),
    Key::new(
        "flows.*.tcp.jtcp.k",
        Kind::Number,
        "segments queued in a round trip from which on a loss counts as congestion",
    )
    .law(|laws| laws.jtcp.k.to_string())
    .source("EJTCP (2)")
    .above("0")
    .at_most("1000")
    .only(JTCP),
    Key::new("flows.*.tcp.jtcp.jitter-window", Kind::Word("choice", || vec!["round", "cwnd"]), REACH)
        .law(|laws| reach(laws.jtcp.reach).to_string())
        .only(JTCP),
    Key::new(
        "flows.*.tcp.jtcp.timeout-rule",
        Kind::Word("choice", || vec!["reno", "half"]),
        "a timeout is Reno's, or halves the window without slow start if the jitter ratio takes it for random",
    )
    .law(|laws| timeout_rule(laws.jtcp.timeout_rule).to_string())
    .only(JTCP),
    Key::new("flows.*.tcp.jtcp.header", Kind::Word("form", || vec!["option", "paper"]), HEADER)
        .law(|laws| header(laws.jtcp.header).to_string())
        .source("RFC 6994")
        .only(JTCP),
    Key::new(
        "flows.*.tcp.ejtcp.jitter-test",
        Kind::Bool,
        "whether the jitter ratio has a say in what a loss is",
    )
    .law(|laws| laws.ejtcp.jitter_test.to_string())
    .source("EJTCP (3.1)")
    .only(EJTCP),
    Key::new(
        "flows.*.tcp.ejtcp.k",
        Kind::Number,
        "segments queued in a round trip from which on jitter speaks of congestion",
    )
    .law(|laws| laws.ejtcp.k.to_string())
    .source("EJTCP (2)")
    .above("0")
    .at_most("1000")
    .only(EJTCP),
    Key::new("flows.*.tcp.ejtcp.jitter-window", Kind::Word("choice", || vec!["round", "cwnd"]), REACH)
        .law(|laws| reach(laws.ejtcp.reach).to_string())
        .only(EJTCP),
    Key::new(
        "flows.*.tcp.ejtcp.rtt-threshold",
        TIME_MS,
        "round trip above which a loss may be congestion: a time, or the share alpha of the longest; off asks jitter alone",
    )
    .or(&["alpha", "off"])
    .law(|laws| match laws.ejtcp.rtt_threshold {
        RttThreshold::Off => "off".to_string(),
        RttThreshold::Share(_) => "alpha".to_string(),
        RttThreshold::Fixed(span) => super::table::time(span),
    })
    .source("EJTCP (3.1)")
    .at_most(LONGEST)
    .only(EJTCP),
    Key::new("flows.*.tcp.ejtcp.alpha", Kind::Number, "share of the longest round trip that is the threshold")
        .law(|laws| match laws.ejtcp.rtt_threshold {
            RttThreshold::Share(alpha) => alpha.to_string(),
            RttThreshold::Off | RttThreshold::Fixed(_) => "1".to_string(),
        })
        .source("EJTCP (3.1): 0.2 s of 0.25 s")
        .at_least("0")
        .at_most("1")
        .only(BY_SHARE),
    Key::new(
        "flows.*.tcp.ejtcp.double-retransmission",
        SHARE,
        "share of segments lost above which a random loss is answered by two copies",
    )
    .or(&["off"])
    .law(|laws| laws.ejtcp.double_retransmission.map_or("off".to_string(), |most| format!("{} %", most * 100.0)))
    .source("EJTCP (3.2)")
    .at_most("100 %")
    .only(EJTCP),
    Key::new(
        "flows.*.tcp.ejtcp.loss-record",
        SEGMENTS,
        "segments over which that share is taken: all, or the last so many",
    )
    .or(&["all"])
    .law(|laws| laws.ejtcp.loss_record.map_or("all".to_string(), super::table::segments))
    .at_least("1 segment")
    .at_most("1000000 segments")
    .only(EJTCP),
    Key::new(
        "flows.*.tcp.ejtcp.filter",
        Kind::Bool,
        "whether duplicates that the second of two copies triggers are left out of account",
    )
    .law(|laws| laws.ejtcp.filter.to_string())
    .source("EJTCP (3.2)")
    .only(EJTCP),
    Key::new(
        "flows.*.tcp.ejtcp.smooth",
        SEGMENTS,
        "most segments that one acknowledgement releases",
    )
    .or(&["off"])
    .law(|laws| laws.ejtcp.smooth.map_or("off".to_string(), super::table::segments))
    .source("EJTCP (3.2)")
    .at_least("1 segment")
    .at_most("1000000 segments")
    .only(EJTCP),
    Key::new(
        "flows.*.tcp.ejtcp.modulation",
        Kind::Word("choice", || vec!["scale", "scale-down", "off"]),
        "what a change of the modulation of an 802.16 link on the way does to the window",
    )
    .law(|laws| modulation(laws.ejtcp.modulation).to_string())
    .source("EJTCP (3.3)")
    .only(EJTCP),
    Key::new(
        "flows.*.tcp.ejtcp.after-random-timeout",
        Kind::Word("choice", || vec!["keep", "slow-start", "half", "reno"]),
        "the window after a timeout that is judged random: as it is, slow start up to it, its half, or Reno's",
    )
    .law(|laws| random_timeout(laws.ejtcp.random_timeout).to_string())
    .only(EJTCP),
    Key::new("flows.*.tcp.ejtcp.header", Kind::Word("form", || vec!["option", "paper"]), HEADER)
        .law(|laws| header(laws.ejtcp.header).to_string())
        .source("RFC 6994")
        .only(EJTCP),
];

const REACH: &str =
    "packets that the jitter ratio is taken over: cwnd, or two more, so that it always spans a round trip";

const HEADER: &str = "stamps in a TCP option of 20 bytes and whole microseconds, or exact ones for 2 bytes as the paper charges them";

fn reach(reach: Reach) -> &'static str {
    match reach {
        Reach::Round => "round",
        Reach::Cwnd => "cwnd",
    }
}

fn header(form: Form) -> &'static str {
    if form == Form::Paper { "paper" } else { "option" }
}

fn timeout_rule(rule: TimeoutRule) -> &'static str {
    match rule {
        TimeoutRule::Reno => "reno",
        TimeoutRule::Half => "half",
    }
}

fn modulation(rule: ModulationRule) -> &'static str {
    match rule {
        ModulationRule::Off => "off",
        ModulationRule::Scale => "scale",
        ModulationRule::ScaleDown => "scale-down",
    }
}

fn random_timeout(rule: RandomTimeout) -> &'static str {
    match rule {
        RandomTimeout::Keep => "keep",
        RandomTimeout::SlowStart => "slow-start",
        RandomTimeout::Half => "half",
        RandomTimeout::Reno => "reno",
    }
}
