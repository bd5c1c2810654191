//! The keys of TCP, QUIC, the 802.11 MAC, radios, slotted networks and schemes, made from each one's description of its
//! parameters.

use super::super::quantity::Dim;
use super::super::value::Value;
use super::kinds::WIFI;
use super::preset::{Preferred, Source, Value as Chosen};
use super::shared::{FREQUENCY, RATE, SHARE, SIZE};
use super::values::{power, quantity, real};
use super::words::EDCA_STANDARDS;
use super::{Bound, Default, Key, Kind, Only, Profiled, Unless};
use crate::medium::radio::config::{PathLoss, RadioConfig};
use crate::model::{FrnConfig, QuicConfig};
use lasthop_stack::hooks::parameter::{Described, Domain, Limit, Parameter, Setting, Spec, Words};
use lasthop_stack::link::dot11::{Category, EdcaAccess, EdcaConfig, MacConfig, PcfConfig};
use lasthop_stack::registry::tcp;
use lasthop_stack::registry::{AgentKind, AqmKind, ArqKind, CongestionKind, IntervalKind, ReactionKind};
use lasthop_stack::units::{Bytes, Rate, Span};

/// The keys of TCP endpoints: `flows.NAME.tcp.*`. One with conditions has a meaning over TCP alone, as what it depends on.
pub(super) fn tcp() -> Vec<Key> {
    let of = |parameter: &'static Parameter<tcp::Config>| {
        let spec = &parameter.spec;
        let owner = Some(Only::Tcp).filter(|_| spec.only.is_empty());
        let own = key("flows.*.tcp", owner, spec, (parameter.get)(&tcp::Config::default()));
        let Some(published) = spec.published else { return own };
        let by = Profiled { value: parameter.get, published };
        let default = match spec.unless {
            None => Default::Profile(by),
            Some(unless) => Default::Unless(Unless {
                by,
                key: text(format!("flows.*.tcp.{}", unless.name)),
                cases: unless.cases,
                under: unless.under,
            }),
        };
        Key { default, ..own }
    };
    tcp::Config::PARAMETERS.iter().map(of).collect()
}

/// The keys of an 802.11 MAC: `links.NAME.*`.
pub(super) fn mac() -> Vec<Key> {
    let of = |parameter: &'static Parameter<MacConfig>| {
        let owner = Some(WIFI).filter(|_| parameter.spec.only.is_empty());
        let source = |[dsss, ofdm]: [&'static str; 2]| Source::Mac(dsss, ofdm);
        preset("links.*", owner, parameter, Chosen::Mac(parameter.get), source)
    };
    MacConfig::PARAMETERS.iter().map(of).collect()
}

/// The keys of EDCA: `links.NAME.*`.
pub(super) fn edca() -> Vec<Key> {
    let of = |parameter: &'static Parameter<EdcaConfig>| {
        preset("links.*", Some(EDCA), parameter, Chosen::Edca(parameter.get), |[source, _]| {
            Source::Edca(source)
        })
    };
    EdcaConfig::PARAMETERS.iter().map(of).collect()
}

/// The keys of the access categories: `links.NAME.edca.CATEGORY.*`.
pub(super) fn categories() -> Vec<Key> {
    let of = |category: Category| {
        let path = format!("links.*.edca.{}", category.name());
        EdcaAccess::PARAMETERS.iter().map(move |parameter: &'static Parameter<EdcaAccess>| {
            let value = Chosen::Access(category, parameter.get);
            preset(&path, Some(EDCA), parameter, value, |[source, _]| Source::Edca(source))
        })
    };
    Category::ALL.into_iter().flat_map(of).collect()
}

/// The keys of point coordination: `links.NAME.pcf.*`.
pub(super) fn pcf() -> Vec<Key> {
    keys("links.*.pcf", Only::Is("links.*.coordination", &["pcf"]), PcfConfig::listing())
}

const EDCA: Only = Only::Is("links.*.standard", EDCA_STANDARDS);

/// The keys of propagation and reception: `links.NAME.propagation.*` and `links.NAME.reception.*`.
pub(super) fn radio() -> Vec<Key> {
    let of = |parameter: &'static Parameter<RadioConfig>| {
        let owner = Some(WIFI).filter(|_| parameter.spec.only.is_empty());
        preset("links.*", owner, parameter, Chosen::Radio(parameter.get), |[dsss, ofdm]| {
            Source::Mac(dsss, ofdm)
        })
    };
    let mut keys: Vec<Key> = RadioConfig::PARAMETERS.iter().map(of).collect();
    keys[0] = keys[0].unplaced(PathLoss::Flat.word());
    keys
}

/// The keys of QUIC endpoints: `flows.NAME.quic.*`.
pub(super) fn quic() -> Vec<Key> {
    keys("flows.*.quic", Only::Quic, QuicConfig::listing())
}

/// The keys of a slotted network: `links.NAME.frn.*`.
pub(super) fn frn() -> Vec<Key> {
    let of = |Parameter { spec, get, .. }: &'static Parameter<FrnConfig>| {
        let owner = Some(FRN).filter(|_| spec.only.is_empty());
        key("links.*.frn", owner, spec, get(&FrnConfig::default()))
    };
    FrnConfig::PARAMETERS.iter().map(of).collect()
}

/// Slotted networks.
pub(super) const FRN: Only = Only::Is("links.*.kind", &["frn"]);

/// The key of a parameter whose default may be that of the standard or of the radio of the link.
fn preset<C: Described>(
    path: &str,
    owner: Option<Only>,
    parameter: &'static Parameter<C>,
    value: Chosen,
    source: fn([&'static str; 2]) -> Source,
) -> Key {
    let own = key(path, owner, &parameter.spec, (parameter.get)(&C::default()));
    let of_radio = parameter.spec.radios.map(|[ns2, ns3]| Source::Radio(ns2, ns3));
    let Some(source) = parameter.spec.standards.map(source).or(of_radio) else { return own };
    let by = Preferred { value, source, otherwise: None, unplaced: None, managed: false };
    Key { default: Default::Preset(by), ..own }
}

/// The keys of all congestion laws: `flows.NAME.tcp.LAW.*`.
pub(super) fn laws() -> Vec<Key> {
    let of = |kind: &CongestionKind| {
        let name = kind.entry().name;
        let only = if CongestionKind::JUDGES.contains(kind) {
            Only::Law(name)
        } else {
            Only::Is("flows.*.tcp.congestion", leak(vec![name]))
        };
        keys(&format!("flows.*.tcp.{name}"), only, kind.parameters())
    };
    CongestionKind::named_in_scenarios().iter().flat_map(of).collect()
}

/// The keys of all reactions: `flows.NAME.tcp.REACTION.*`.
pub(super) fn reactions() -> Vec<Key> {
    let of = |kind: &ReactionKind| {
        let name = kind.entry().name;
        let only = Only::Is("flows.*.tcp.reaction", leak(vec![name]));
        keys(&format!("flows.*.tcp.{name}"), only, kind.parameters())
    };
    ReactionKind::ALL.iter().flat_map(of).collect()
}

/// The keys of all agents: `agents.NAME.KIND.*`.
pub(super) fn agents() -> Vec<Key> {
    let of = |kind: &AgentKind| {
        let name = kind.entry().name;
        keys(&format!("agents.*.{name}"), Only::Is("agents.*.kind", leak(vec![name])), kind.parameters())
    };
    AgentKind::named_in_scenarios().iter().flat_map(of).collect()
}

/// The keys of all managements of queues: `links.NAME.aqm.LAW.*`.
pub(super) fn aqms() -> Vec<Key> {
    let of = |kind: &AqmKind| {
        let name = kind.entry().name;
        keys(&format!("links.*.aqm.{name}"), Only::Is("links.*.aqm.law", leak(vec![name])), kind.parameters())
    };
    AqmKind::ALL.iter().flat_map(of).collect()
}

/// The keys of all ARQs: `links.NAME.arq.*`.
pub(super) fn arqs() -> Vec<Key> {
    let of = |kind: &ArqKind| {
        let only = Only::Is("links.*.arq.kind", leak(vec![kind.entry().name]));
        keys("links.*.arq", only, kind.parameters())
    };
    ArqKind::ALL.iter().flat_map(of).collect()
}

/// The keys of all retransmission intervals: `links.NAME.frn.*`.
pub(super) fn intervals() -> Vec<Key> {
    let of = |kind: &IntervalKind| {
        let only = Only::Is("links.*.frn.interval", leak(vec![kind.entry().name]));
        keys("links.*.frn", only, kind.parameters())
    };
    IntervalKind::ALL.iter().flat_map(of).collect()
}

/// The table of keys is made once and lasts as long as the program.
fn leak<T>(values: Vec<T>) -> &'static [T] {
    Vec::leak(values)
}

fn text(text: String) -> &'static str {
    String::leak(text)
}

/// The keys of one scheme below `path`, which have a meaning where `owner` holds.
fn keys(path: &str, owner: Only, parameters: Vec<(&'static Spec, Setting)>) -> Vec<Key> {
    parameters.into_iter().map(|(spec, default)| key(path, Some(owner), spec, default)).collect()
}

/// The key of a parameter below `path`.
fn key(path: &str, owner: Option<Only>, spec: &'static Spec, default: Setting) -> Key {
    // A name that begins with the endpoint's is that of a key of its own.
    let at = |name: &str| match name.strip_prefix("tcp.") {
        Some(name) => text(format!("flows.*.tcp.{name}")),
        None => text(format!("{path}.{name}")),
    };
    let conditions = spec.only.iter().map(|(name, words)| Only::Is(at(name), words));
    let or = text(text_of(default));
    Key {
        path: at(spec.name),
        kind: kind(spec.domain),
        words: spec.words,
        least: spec.least.map(bound),
        most: spec.most.map(bound),
        default: match spec.follows {
            None => Default::Text(or),
            Some(follows) => Default::Follows {
                key: at(follows.name),
                value: follows.word,
                then: text(text_of(follows.default)),
                or,
            },
        },
        meaning: spec.meaning,
        source: spec.source,
        only: leak(owner.into_iter().chain(conditions).collect()),
    }
}

fn kind(domain: Domain) -> Kind {
    match domain {
        Domain::Flag => Kind::Bool,
        Domain::Count => Kind::Integer,
        Domain::Number => Kind::Number,
        Domain::Share => SHARE,
        Domain::Time(unit) => Kind::Quantity(&[Dim::Time], unit),
        Domain::Size => SIZE,
        Domain::Segments => Kind::Quantity(&[Dim::Segments], "segments"),
        Domain::Rate => RATE,
        Domain::Frequency => FREQUENCY,
        Domain::Length => Kind::Quantity(&[Dim::Length], "m"),
        Domain::Power => Kind::Quantity(&[Dim::Power, Dim::Level], "mW"),
        Domain::Gain => Kind::Quantity(&[Dim::Gain], "dB"),
        Domain::Words(noun, words) => Kind::Word(noun, words),
    }
}

fn bound(limit: Limit) -> Bound {
    Bound { text: limit.text, included: limit.included }
}

/// A value in the text of a scenario.
pub(in super::super) fn text_of(setting: Setting) -> String {
    match setting {
        Setting::Flag(value) => value.to_string(),
        Setting::Count(value) => value.to_string(),
        Setting::Number(value) => value.to_string(),
        Setting::Share(value) => format!("{} %", value * 100.0),
        Setting::Time(value) => quantity(Dim::Time, value.0),
        Setting::Size(value) => quantity(Dim::Size, value.0),
        Setting::Segments(value) => quantity(Dim::Segments, value.into()),
        Setting::Rate(value) => quantity(Dim::Rate, value.0),
        Setting::Frequency(hertz) => real(Dim::Frequency, hertz),
        Setting::Length(metres) => real(Dim::Length, metres),
        Setting::Power(watts) => power(watts),
        Setting::Gain(decibels) => real(Dim::Gain, decibels),
        Setting::Word(word) => word.to_string(),
    }
}

/// A value of a scenario as its parameter takes it.
pub(in super::super) fn setting(spec: &Spec, value: &Value) -> Option<Setting> {
    if let Value::Text(text) = value {
        let own = match spec.domain {
            Domain::Words(_, words) => words(),
            _ => Vec::new(),
        };
        return spec.words.iter().copied().chain(own).find(|word| word == text).map(Setting::Word);
    }
    match spec.domain {
        Domain::Flag => match value {
            Value::Bool(value) => Some(Setting::Flag(*value)),
            _ => None,
        },
        Domain::Count => value.count().map(Setting::Count),
        Domain::Number => value.si().map(Setting::Number),
        Domain::Share => value.si().map(Setting::Share),
        Domain::Time(_) => value.count().map(|base| Setting::Time(Span(base))),
        Domain::Size => value.count().map(|base| Setting::Size(Bytes(base))),
        Domain::Segments => value.count().and_then(|base| u32::try_from(base).ok()).map(Setting::Segments),
        Domain::Rate => value.count().map(|base| Setting::Rate(Rate(base))),
        Domain::Frequency => value.si().map(Setting::Frequency),
        Domain::Length => value.si().map(Setting::Length),
        Domain::Power => value.watts().map(Setting::Power),
        Domain::Gain => value.si().map(Setting::Gain),
        Domain::Words(..) => None,
    }
}
