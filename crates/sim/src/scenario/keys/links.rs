//! The keys of links.
//!
//! For an 802.11 link, `standard`, `flavour` and `radio` select the defaults of all keys below them, as the profile of
//! a TCP flow does.

use super::super::quantity::Dim;
use super::kinds::{
    self, LOSING, LOSING_A_WAY, OF_ONE_RATE, OF_TWO_NODES, QUEUED, WIFI, WITH_DELAYS, WITH_RATES,
};
use super::preset::{Preferred, Source, Value, Wifi};
use super::shared::{FASTEST, LONGEST, RATE, SHARE, TIME_MS};
use super::values::quantity;
use super::words::{Flavour, LossDirection, LossModel, Radio, RttModel, Security, Standard};
use super::{Default, Key, Kind, Only, aqm};
use crate::medium::loss::PacketClass;
use crate::medium::radio::config::{ErrorLaw, LossOf};
use lasthop_stack::hooks::parameter::{Words, words};
use lasthop_stack::link::dot11::PhyRate;

const ROOM: Kind = Kind::Quantity(&[Dim::Packets, Dim::Size], "packets");

const UNIFORM: &[Only] = &[Only::Is("links.*.rtt.law", &["uniform"])];
const NORMAL: &[Only] = &[Only::Is("links.*.rtt.law", &["normal"])];
const EXPONENTIAL: &[Only] = &[Only::Is("links.*.rtt.law", &["exponential"])];
const PACKET_LOSS: &[Only] = &[Only::Is("links.*.loss.model", &["packet"])];
const BIT_LOSS: &[Only] = &[Only::Is("links.*.loss.model", &["bit"])];
const LIST_LOSS: &[Only] = &[Only::Is("links.*.loss.model", &["list"])];
const LIST_OF_FRAMES: &[Only] = &[LIST_LOSS[0], WIFI];
const BY_CHANCE: &[Only] =
    &[Only::Is("links.*.loss.model", &["none", "packet", "bit", "gilbert-elliott", "snr"]), WIFI];
const AT_RECEIVERS: &[Only] = &[Only::Is("links.*.loss.model", &["packet", "bit", "gilbert-elliott"]), WIFI];
const GILBERT_ELLIOTT: &[Only] = &[Only::Is("links.*.loss.model", &["gilbert-elliott"])];
const GILBERT_BY_PACKET: &[Only] = &[GILBERT_ELLIOTT[0], LOSING_A_WAY];
const GILBERT_BY_TIME: &[Only] = &[GILBERT_ELLIOTT[0], WIFI];

const fn both_mac(source: &'static str) -> Source {
    Source::Mac(source, source)
}

impl Key {
    /// A key whose default on an 802.11 link comes from a preset; elsewhere it has no meaning unless
    /// [`otherwise`](Key::otherwise) or a list of kinds says more.
    pub(super) const fn preset(self, value: fn(&Wifi) -> String, source: Source) -> Key {
        let value = Value::Wifi(value);
        let by = Preferred { value, source, otherwise: None, unplaced: None, managed: false };
        Key { default: Default::Preset(by), only: &[WIFI], ..self }
    }

    /// The default on other links.
    const fn otherwise(self, text: &'static str) -> Key {
        match self.default {
            Default::Preset(by) => {
                Key { default: Default::Preset(Preferred { otherwise: Some(text), ..by }), ..self }
            }
            _ => self,
        }
    }

    /// A management of the queue that has a limit of its own gives the default.
    const fn managed(self) -> Key {
        match self.default {
            Default::Preset(by) => {
                Key { default: Default::Preset(Preferred { managed: true, ..by }), ..self }
            }
            _ => self,
        }
    }

    /// The default on an 802.11 link of whose stations none has a position.
    pub(super) const fn unplaced(self, text: &'static str) -> Key {
        match self.default {
            Default::Preset(by) => {
                Key { default: Default::Preset(Preferred { unplaced: Some(text), ..by }), ..self }
            }
            _ => self,
        }
    }

    /// A default that is one word where another key has a certain value, and else another.
    pub(super) const fn follows(
        self,
        key: &'static str,
        value: &'static str,
        then: &'static str,
        or: &'static str,
    ) -> Key {
        Key { default: Default::Follows { key, value, then, or }, ..self }
    }
}

/// The keys under `[links.NAME]`.
pub(super) const KEYS: &[Key] = &[
    Key::new("links.*.kind", Kind::Word("kind of link", words::<kinds::Kind>), "kind of link"),
    Key::new(
        "links.*.nodes",
        Kind::Nodes,
        "the two ends, forward from the first to the second; or all stations; a group stands for all its nodes",
    ),
    Key::new(
        "links.*.standard",
        Kind::Word("standard", words::<Standard>),
        "standard that sets the constants of MAC and PHY",
    )
    .default("802.11b")
    .only(&[WIFI]),
    Key::new(
        "links.*.flavour",
        Kind::Word("flavour", words::<Flavour>),
        "rules of the MAC: those of the standard, of ns-2, or of Bianchi's model",
    )
    .follows("links.*.standard", "bianchi", "model", "standard")
    .only(&[WIFI]),
    Key::new(
        "links.*.radio",
        Kind::Word("radio", words::<Radio>),
        "set of defaults for propagation and reception",
    )
    .follows("links.*.flavour", "model", "bianchi", "ns2")
    .only(&[WIFI]),
    Key::new("links.*.rate", RATE, "bit rate including headers; on an 802.11 link that of data frames")
        .preset(|wifi| rate(wifi.mac.data_rate), both_mac("fastest rate of the standard; of 802.11n, ac, ax the reference rate of its mode"))
        .only(&[OF_ONE_RATE])
        .above("0 bit/s")
        .at_most(FASTEST),
    Key::new("links.*.basic-rates", Kind::Rates, "rates of RTS, CTS and ACK frames").preset(
        basic_rates,
        Source::Mac("IEEE 802.11-2012 (9.7.6.5.2)", "IEEE 802.11-2012 (9.7.6.5.2, 18.2.2.3)"),
    ),
    Key::new("links.*.delay", TIME_MS, "propagation delay")
        .default("0 s")
        .at_most(LONGEST)
        .only(&[OF_TWO_NODES]),
    aqm::LAW,
    Key::new(
        "links.*.queue",
        ROOM,
        "size of the drop-tail queue, including the packet in transmission; on wifi per station, without that packet, and not unlimited",
    )
    .preset(|wifi| quantity(Dim::Packets, wifi.mac.queue.into()), both_mac("ns-2: ifqlen of the CMU scripts"))
    .otherwise("100 packets")
    .managed()
    .only(&[QUEUED])
    .or(&["unlimited"])
    .above("0 packets")
    .at_most("1000000000 packets"),
    Key::new("links.*.reverse.rate", RATE, "bit rate from the second node to the first")
        .like("links.*.rate")
        .above("0 bit/s")
        .at_most(FASTEST)
        .only(&[WITH_RATES]),
    Key::new("links.*.reverse.delay", TIME_MS, "propagation delay from the second node to the first")
        .like("links.*.delay")
        .at_most(LONGEST)
        .only(&[WITH_DELAYS]),
    Key::new("links.*.reverse.queue", ROOM, "size of the queue at the second node")
        .or(&["unlimited"])
        .like("links.*.queue")
        .above("0 packets")
        .at_most("1000000000 packets")
        .only(&[OF_TWO_NODES]),
    Key::new(
        "links.*.rtt.law",
        Kind::Word("law", words::<RttModel>),
        "distribution of a round-trip time drawn per link and replication; half of it is added to the delay in each direction",
    )
    .absent()
    .only(&[WITH_DELAYS]),
    rtt("links.*.rtt.uniform.min", "minimum round-trip time", UNIFORM),
    rtt("links.*.rtt.uniform.max", "maximum round-trip time", UNIFORM),
    rtt("links.*.rtt.normal.mean", "mean round-trip time before truncation", NORMAL),
    rtt("links.*.rtt.normal.deviation", "standard deviation before truncation", NORMAL),
    rtt("links.*.rtt.normal.min", "smaller values are drawn again", NORMAL).default("0 s"),
    rtt("links.*.rtt.exponential.mean", "mean round-trip time before truncation", EXPONENTIAL),
    rtt(
        "links.*.rtt.exponential.min",
        "smaller values are drawn again, which adds this minimum to the mean",
        EXPONENTIAL,
    )
    .default("0 s"),
    Key::new("links.*.access-point", Kind::Node, "station that relays between all others; none means ad hoc")
        .or(&["none"])
        .default("none")
        .only(&[WIFI]),
    Key::new(
        "links.*.security",
        Kind::Word("security", words::<Security>),
        "whether nodes with nodes.NAME.stack = \"linux\" encrypt what they send to the access point and from it",
    )
    .absent()
    .only(&[WIFI]),
    Key::new(
        "links.*.observer",
        Kind::Node,
        "station at which airtime is accounted; auto means the access point, else the first end of a flow that is a station",
    )
    .or(&["auto"])
    .default("auto")
    .only(&[WIFI]),
];

/// The keys of losses, below those of the MAC.
pub(super) const LOSSES: &[Key] = &[
    Key::new(
        "links.*.loss.model",
        Kind::Word("loss model", words::<LossModel>),
        "model by which packets are lost",
    )
    .preset(
        |wifi| loss_model(wifi).word().to_string(),
        Source::Radio("", "ns-3: NistErrorRateModel"),
    )
    .otherwise("packet")
    .only(&[LOSING]),
    Key::new(
        "links.*.loss.direction",
        Kind::Word("direction", words::<LossDirection>),
        "direction in which packets are lost; forward is from the first node to the second",
    )
    .default("forward")
    .only(&[LOSING_A_WAY]),
    Key::new("links.*.loss.rate", SHARE, "probability that a packet is lost, independently of others")
        .default("0 %")
        .at_most("100 %")
        .only(PACKET_LOSS),
    Key::new(
        "links.*.loss.bit.ber",
        Kind::Number,
        "probability that a bit is wrong; a packet with a wrong bit is lost",
    )
    .at_least("0")
    .at_most("1")
    .only(BIT_LOSS),
    Key::new("links.*.loss.gilbert-elliott.loss-good", SHARE, "loss probability in the good state")
        .default("0 %")
        .source("Gilbert 1960")
        .at_most("100 %")
        .only(GILBERT_ELLIOTT),
    Key::new("links.*.loss.gilbert-elliott.loss-bad", SHARE, "loss probability in the bad state")
        .default("100 %")
        .source("Elliott 1963")
        .at_most("100 %")
        .only(GILBERT_ELLIOTT),
    Key::new(
        "links.*.loss.gilbert-elliott.good-to-bad",
        SHARE,
        "probability per packet of the transition to the bad state",
    )
    .source("Gilbert 1960")
    .at_most("100 %")
    .only(GILBERT_BY_PACKET),
    Key::new(
        "links.*.loss.gilbert-elliott.bad-to-good",
        SHARE,
        "probability per packet of the transition to the good state",
    )
    .source("Gilbert 1960")
    .at_most("100 %")
    .only(GILBERT_BY_PACKET),
    Key::new(
        "links.*.loss.gilbert-elliott.mean-good",
        TIME_MS,
        "mean duration of the good state, independent of frames",
    )
    .above("0 s")
    .at_most(LONGEST)
    .only(GILBERT_BY_TIME),
    Key::new("links.*.loss.gilbert-elliott.mean-bad", TIME_MS, "mean duration of the bad state, independent of frames")
        .above("0 s")
        .at_most(LONGEST)
        .only(GILBERT_BY_TIME),
    Key::new(
        "links.*.loss.list.drop",
        Kind::Ordinals,
        "numbers of packets to drop, counted from 1 in the lossy direction; on an 802.11 link, of data frames from list.from; [] drops none",
    )
    .only(LIST_LOSS),
    Key::new(
        "links.*.loss.list.of",
        Kind::Word("class of packets", words::<PacketClass>),
        "packets that are counted: those with payload, TCP segments without payload, or all",
    )
    .default("data")
    .only(LIST_LOSS),
    Key::new(
        "links.*.loss.list.from",
        Kind::Node,
        "station whose data frames are counted, including each retransmission; they are lost at their receivers",
    )
    .only(LIST_OF_FRAMES),
    Key::new("links.*.loss.at", Kind::Stations, "receiving stations at which frames are lost, from any sender")
        .or(&["all"])
        .default("all")
        .only(AT_RECEIVERS),
    Key::new("links.*.loss.above-mac", Kind::Bool, "whether packets are lost after their MAC acknowledgement")
        .default("false")
        .only(&[WIFI]),
    Key::new(
        "links.*.loss.repaired-by-arq",
        Kind::Bool,
        "true: each transmission attempt of a frame can be lost; false: whole packets are lost without repair",
    )
    .follows("links.*.loss.above-mac", "true", "false", "true")
    .only(&[WIFI]),
    Key::new(
        "links.*.loss.of",
        Kind::Word("class of frames", words::<LossOf>),
        "frames that can be lost: all, those with a packet, or those with a packet other than a TCP acknowledgement",
    )
    .follows("links.*.loss.repaired-by-arq", "false", "packets", "all")
    .only(BY_CHANCE),
];

const fn rtt(path: &'static str, meaning: &'static str, only: &'static [Only]) -> Key {
    Key::new(path, TIME_MS, meaning).at_most(LONGEST).only(only)
}

fn rate(rate: PhyRate) -> String {
    quantity(Dim::Rate, rate.rate().0)
}

fn basic_rates(wifi: &Wifi) -> String {
    let rates = PhyRate::ALL.into_iter().filter(|rate| wifi.mac.basic_rates.has(*rate));
    rates.map(rate).collect::<Vec<_>>().join(", ")
}

fn loss_model(wifi: &Wifi) -> LossModel {
    if wifi.radio.errors.law == ErrorLaw::Snr { LossModel::Snr } else { LossModel::Packet }
}
