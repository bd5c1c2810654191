//! The presets of an 802.11 link: the defaults under each `standard`, `flavour` and `radio`, and the source of each.
//!
//! The values are those of [`Preset`] and [`RadioConfig`]; this file only gives their names in a scenario.

use super::text_of;
use super::words::{EDCA_STANDARDS, Flavour, Radio, Standard};
use crate::medium::radio::config::RadioConfig;
use lasthop_stack::hooks::parameter::{Setting, Words};
use lasthop_stack::link::dot11::{Category, EdcaAccess, EdcaConfig, MacConfig, PhyRate, Preset};
use lasthop_stack::registry::AqmKind;

const NS2_MAC: &str = "ns-2: Mac/802_11";
const MODEL: &str = "Bianchi 2000 (II)";
const BIANCHI: &str = "Bianchi 2000 (table II)";

/// The defaults of an 802.11 link.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Wifi {
    pub(in super::super) mac: MacConfig,
    pub(in super::super) radio: RadioConfig,
}

/// A default that comes from a preset.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Preferred {
    pub(in super::super) value: Value,
    pub(in super::super) source: Source,
    /// The default on a link that is not an 802.11 link; without one it must be set there.
    pub(in super::super) otherwise: Option<&'static str>,
    /// The default on an 802.11 link of whose stations none has a position, whatever the preset.
    pub(in super::super) unplaced: Option<&'static str>,
    /// Whether a management of the queue that has a limit of its own gives the default, on any link.
    pub(in super::super) managed: bool,
}

/// A value in the defaults of an 802.11 link.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Value {
    /// A parameter of the MAC.
    Mac(fn(&MacConfig) -> Setting),
    /// A parameter of EDCA, which a standard without it lacks.
    Edca(fn(&EdcaConfig) -> Setting),
    /// A parameter of an access category.
    Access(Category, fn(&EdcaAccess) -> Setting),
    /// A parameter of the radio.
    Radio(fn(&RadioConfig) -> Setting),
    /// Another.
    Wifi(fn(&Wifi) -> String),
}

impl Value {
    fn of(self, wifi: &Wifi) -> String {
        let edca = || wifi.mac.edca.unwrap_or_default();
        match self {
            Value::Mac(get) => text_of(get(&wifi.mac)),
            Value::Edca(get) => text_of(get(&edca())),
            Value::Access(category, get) => text_of(get(&edca().access[category as usize])),
            Value::Radio(get) => text_of(get(&wifi.radio)),
            Value::Wifi(text) => text(wifi),
        }
    }
}

/// Where the values of a preset are published.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Source {
    /// The standard of a DSSS and of an OFDM link.
    Mac(&'static str, &'static str),
    /// The standards with EDCA.
    Edca(&'static str),
    /// The radio of ns-2 and of ns-3.
    Radio(&'static str, &'static str),
}

/// Which key a default comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Chooser {
    Standard,
    Flavour,
    Radio,
}

impl Wifi {
    /// The defaults under these words.
    pub(in super::super) fn of(standard: Standard, flavour: Flavour, radio: Radio) -> Wifi {
        let mac = mac(standard.preset(), flavour);
        let radio = match radio {
            Radio::Ns2 => RadioConfig::ns2(),
            Radio::Ns3 => RadioConfig::ns3(),
            Radio::Bianchi => RadioConfig::bianchi(),
        };
        let bandwidth_hz = if mac.data_rate.is_ofdm() { 20e6 } else { 22e6 };
        Wifi { mac, radio: RadioConfig { bandwidth_hz, ..radio } }
    }

    /// The rates that a standard has.
    pub(in super::super) fn rates(standard: Standard) -> &'static [PhyRate] {
        match standard {
            Standard::Dot11 => &PhyRate::ALL[..2],
            Standard::Dot11b | Standard::Dot11bShort | Standard::Bianchi => &PhyRate::ALL[..4],
            Standard::Dot11g => &PhyRate::ALL,
            Standard::Dot11a
            | Standard::Dot11n
            | Standard::Dot11ac
            | Standard::Dot11ax
            | Standard::Dot11be => &PhyRate::ALL[4..],
        }
    }
}

impl Standard {
    /// Its constants.
    const fn preset(self) -> Preset {
        match self {
            Standard::Dot11 => Preset::Dot11,
            Standard::Dot11b => Preset::Dot11b,
            Standard::Dot11bShort => Preset::Dot11bShort,
            Standard::Dot11a => Preset::Dot11a,
            Standard::Dot11g => Preset::Dot11g,
            Standard::Dot11n => Preset::Dot11n,
            Standard::Dot11ac => Preset::Dot11ac,
            Standard::Dot11ax => Preset::Dot11ax,
            Standard::Dot11be => Preset::Dot11be,
            Standard::Bianchi => Preset::Bianchi,
        }
    }
}

fn mac(preset: Preset, flavour: Flavour) -> MacConfig {
    match (preset, flavour) {
        (Preset::Dot11, Flavour::Ns2) => Preset::Ns2.config(),
        (Preset::Dot11b, Flavour::Ns2) => Preset::Ns2b.config(),
        (Preset::Bianchi, Flavour::Model) => Preset::Bianchi.config(),
        (preset, Flavour::Ns2) => with_the_standards_rules(preset).as_ns2(),
        (preset, Flavour::Model) => preset.config().under_model_assumptions(),
        (preset, Flavour::Standard) => with_the_standards_rules(preset),
    }
}

/// Bianchi's set comes with the assumptions of his model; everything else obeys the standard as it is.
fn with_the_standards_rules(preset: Preset) -> MacConfig {
    let config = preset.config();
    if preset != Preset::Bianchi {
        return config;
    }
    let MacConfig { short_retry, long_retry, access, .. } = Preset::Dot11.config();
    MacConfig { short_retry, long_retry, access, ..config }
}

impl Preferred {
    /// The default under these words, the key it comes from, and where it is published.
    pub(in super::super) fn of(
        &self,
        standard: Standard,
        flavour: Flavour,
        radio: Radio,
    ) -> (String, Chooser, &'static str) {
        let under = |flavour, radio| self.value.of(&Wifi::of(standard, flavour, radio));
        let value = under(flavour, radio);
        let (chooser, source) = match self.source {
            Source::Mac(..) if value != under(Flavour::Standard, radio) => {
                (Chooser::Flavour, if flavour == Flavour::Ns2 { NS2_MAC } else { MODEL })
            }
            // His set is that of DSSS, except for the constants of his table.
            Source::Mac(..)
                if standard == Standard::Bianchi
                    && value != self.value.of(&Wifi::of(Standard::Dot11, Flavour::Standard, radio)) =>
            {
                (Chooser::Standard, BIANCHI)
            }
            Source::Edca(source) => (Chooser::Standard, source),
            Source::Mac(_, ofdm) if Wifi::of(standard, Flavour::Standard, radio).mac.data_rate.is_ofdm() => {
                (Chooser::Standard, ofdm)
            }
            Source::Mac(dsss, _) => (Chooser::Standard, dsss),
            Source::Radio(_, ns3) if radio == Radio::Ns3 => (Chooser::Radio, ns3),
            Source::Radio(..) if value != under(flavour, Radio::Ns2) => (Chooser::Radio, MODEL),
            Source::Radio(ns2, _) => (Chooser::Radio, ns2),
        };
        (value, chooser, source)
    }

    /// The defaults under all presets in words, and their sources.
    ///
    /// Without a default on other links a key may be `required` there.
    pub(in super::super) fn summary(&self, required: bool) -> (String, String) {
        let mut values = Groups::default();
        let mut sources = Groups::default();
        let of_standard = |(word, standard): &(&'static str, Standard)| {
            (*word, self.of(*standard, Flavour::Standard, Radio::Ns2))
        };
        let (mut note, is_complete) = match self.source {
            Source::Edca(_) => {
                let of_edca = Standard::WORDS.iter().filter(|(word, _)| EDCA_STANDARDS.contains(word));
                (of_edca.map(of_standard).collect::<Vec<_>>(), true)
            }
            Source::Mac(..) => (Standard::WORDS.iter().map(of_standard).collect(), false),
            Source::Radio(..) => {
                let of_radio = |(word, radio): &(&'static str, Radio)| {
                    (*word, self.of(Standard::Dot11b, Flavour::Standard, *radio))
                };
                (Radio::WORDS.iter().map(of_radio).collect(), true)
            }
        };
        if !is_complete {
            let departs = |(word, flavour): &(&'static str, Flavour)| {
                let standard = if *flavour == Flavour::Ns2 { Standard::Dot11 } else { Standard::Dot11b };
                let found = self.of(standard, *flavour, Radio::Ns2);
                (found.1 == Chooser::Flavour).then_some((*word, found))
            };
            note.extend(Flavour::WORDS.iter().filter_map(departs));
        }
        for (word, (value, _, source)) in note {
            values.add(value, word);
            if !source.is_empty() {
                sources.add(source.to_string(), word);
            }
        }
        let otherwise = match self.otherwise {
            Some(text) => format!("{text} (other links); "),
            None if required => "required (other links); ".to_string(),
            None => String::new(),
        };
        let unplaced = self.unplaced.map(|text| format!("{text} (without positions); ")).unwrap_or_default();
        let limits: Vec<_> = AqmKind::limits().filter(|_| self.managed).collect();
        for (law, _, source) in &limits {
            sources.add((*source).to_string(), law);
        }
        let managed: Vec<_> =
            limits.iter().map(|(law, packets, _)| format!("{packets} packets ({law}); ")).collect();
        let managed = managed.concat();
        (format!("{otherwise}{managed}{unplaced}{}", values.text()), sources.text())
    }
}

/// Texts with the words under which each holds.
#[derive(Default)]
struct Groups(Vec<(String, Vec<&'static str>)>);

impl Groups {
    fn add(&mut self, text: String, word: &'static str) {
        match self.0.iter_mut().find(|group| group.0 == text) {
            Some(group) => group.1.push(word),
            None => self.0.push((text, vec![word])),
        }
    }

    fn text(&self) -> String {
        match self.0.as_slice() {
            [(text, _)] => text.clone(),
            several => {
                let line = |(text, words): &(String, Vec<&str>)| format!("{text} ({})", words.join(", "));
                several.iter().map(line).collect::<Vec<_>>().join("; ")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_presets_are_those_of_the_mac_and_the_radio() {
        let mac = |standard, flavour| Wifi::of(standard, flavour, Radio::Ns2).mac;
        for standard in [Standard::Dot11, Standard::Dot11b, Standard::Dot11bShort, Standard::Dot11a] {
            assert_eq!(mac(standard, Flavour::Standard), standard.preset().config());
        }
        assert_eq!(mac(Standard::Dot11, Flavour::Ns2), Preset::Ns2.config());
        assert_eq!(mac(Standard::Dot11b, Flavour::Ns2), Preset::Ns2b.config());
        assert_eq!(mac(Standard::Dot11a, Flavour::Ns2), Preset::Dot11a.config().as_ns2());
        assert_eq!(mac(Standard::Bianchi, Flavour::Model), Preset::Bianchi.config());
        let model = Preset::Dot11b.config().under_model_assumptions();
        assert_eq!(mac(Standard::Dot11b, Flavour::Model), model);
        let radio = |standard, radio| Wifi::of(standard, Flavour::Standard, radio).radio;
        assert_eq!(radio(Standard::Dot11b, Radio::Ns2), RadioConfig::ns2());
        assert_eq!(radio(Standard::Dot11a, Radio::Ns3), RadioConfig::ns3());
        assert_eq!(radio(Standard::Bianchi, Radio::Bianchi), RadioConfig::bianchi());
    }

    #[test]
    fn a_standard_has_the_name_of_its_preset_and_edca_where_the_preset_does() {
        for (word, standard) in Standard::WORDS {
            assert_eq!(*word, standard.preset().name());
            let has_edca = standard.preset().config().edca.is_some();
            assert_eq!(has_edca, EDCA_STANDARDS.contains(word), "{word}");
        }
    }

    #[test]
    fn bianchis_constants_under_the_standards_rules_keep_the_constants_alone() {
        let constants = Wifi::of(Standard::Bianchi, Flavour::Standard, Radio::Bianchi).mac;
        assert_eq!((constants.slot, constants.sifs), {
            let table = Preset::Bianchi.config();
            (table.slot, table.sifs)
        });
        assert_eq!((constants.short_retry, constants.long_retry), (Some(7), Some(4)));
        assert!(constants.access.eifs);
    }
}
