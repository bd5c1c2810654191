//! The presets of an 802.11 link: the defaults under each `standard`, `flavour` and `radio`, and the source of each.
//!
//! The values are those of [`Preset`] and [`RadioConfig`]; this file only gives their names in a scenario.

use super::words::{EDCA_STANDARDS, Named, STANDARDS};
use crate::medium::radio::config::RadioConfig;
use lasthop_stack::link::dot11::{MacConfig, PhyRate, Preset};
use lasthop_stack::registry::AqmKind;

/// The words of `links.*.flavour`.
pub(in super::super) const FLAVOURS: [&str; 3] = ["standard", "ns2", "model"];
/// The words of `links.*.radio`.
pub(in super::super) const RADIOS: [&str; 3] = ["ns2", "ns3", "bianchi"];

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
    pub(in super::super) value: fn(&Wifi) -> String,
    pub(in super::super) source: Source,
    /// The default on a link that is not an 802.11 link; without one it must be set there.
    pub(in super::super) otherwise: Option<&'static str>,
    /// The default on an 802.11 link of whose stations none has a position, whatever the preset.
    pub(in super::super) unplaced: Option<&'static str>,
    /// Whether a management of the queue that has a limit of its own gives the default, on any link.
    pub(in super::super) managed: bool,
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
    /// The defaults under these words, which are legal.
    pub(in super::super) fn of(standard: &str, flavour: &str, radio: &str) -> Wifi {
        let mac = mac(standard, flavour);
        let radio = match radio {
            "ns3" => RadioConfig::ns3(),
            "bianchi" => RadioConfig::bianchi(),
            _ => RadioConfig::ns2(),
        };
        let bandwidth_hz = if mac.data_rate.is_ofdm() { 20e6 } else { 22e6 };
        Wifi { mac, radio: RadioConfig { bandwidth_hz, ..radio } }
    }

    /// The rates that a standard has.
    pub(in super::super) fn rates(standard: &str) -> &'static [PhyRate] {
        match standard {
            "802.11" => &PhyRate::ALL[..2],
            "802.11a" => &PhyRate::ALL[4..],
            "802.11g" => &PhyRate::ALL,
            _ if EDCA_STANDARDS.contains(&standard) => &PhyRate::ALL[4..],
            _ => &PhyRate::ALL[..4],
        }
    }
}

fn mac(standard: &str, flavour: &str) -> MacConfig {
    let preset = Preset::ALL.into_iter().find(|preset| preset.name() == standard);
    match (preset.unwrap_or(Preset::Dot11b), flavour) {
        (Preset::Dot11, "ns2") => Preset::Ns2.config(),
        (Preset::Dot11b, "ns2") => Preset::Ns2b.config(),
        (Preset::Bianchi, "model") => Preset::Bianchi.config(),
        (preset, "ns2") => with_the_standards_rules(preset).as_ns2(),
        (preset, "model") => preset.config().under_model_assumptions(),
        (preset, _) => with_the_standards_rules(preset),
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
        standard: &str,
        flavour: &str,
        radio: &str,
    ) -> (String, Chooser, &'static str) {
        let under = |flavour: &str, radio: &str| (self.value)(&Wifi::of(standard, flavour, radio));
        let value = under(flavour, radio);
        let (chooser, source) = match self.source {
            Source::Mac(..) if value != under("standard", radio) => {
                (Chooser::Flavour, if flavour == "ns2" { NS2_MAC } else { MODEL })
            }
            // His set is that of DSSS, except for the constants of his table.
            Source::Mac(..)
                if standard == "bianchi" && value != (self.value)(&Wifi::of("802.11", "standard", radio)) =>
            {
                (Chooser::Standard, BIANCHI)
            }
            Source::Edca(source) => (Chooser::Standard, source),
            Source::Mac(_, ofdm) if Wifi::of(standard, "standard", radio).mac.data_rate.is_ofdm() => {
                (Chooser::Standard, ofdm)
            }
            Source::Mac(dsss, _) => (Chooser::Standard, dsss),
            Source::Radio(_, ns3) if radio == "ns3" => (Chooser::Radio, ns3),
            Source::Radio(..) if value != under(flavour, "ns2") => (Chooser::Radio, MODEL),
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
        let (mut note, is_complete) = match self.source {
            Source::Edca(_) => {
                let of_standard = |standard: &&'static str| (*standard, self.of(standard, "standard", "ns2"));
                (EDCA_STANDARDS.iter().map(of_standard).collect(), true)
            }
            Source::Mac(..) => {
                let of_standard =
                    |standard: &Named| (standard.name, self.of(standard.name, "standard", "ns2"));
                (STANDARDS.iter().map(of_standard).collect::<Vec<_>>(), false)
            }
            Source::Radio(..) => {
                let of_radio = |radio: &&'static str| (*radio, self.of("802.11b", "standard", radio));
                (RADIOS.iter().map(of_radio).collect(), true)
            }
        };
        if !is_complete {
            let departs = |flavour: &'static str| {
                let preset = if flavour == "ns2" { "802.11" } else { "802.11b" };
                let found = self.of(preset, flavour, "ns2");
                (found.1 == Chooser::Flavour).then_some((flavour, found))
            };
            note.extend(FLAVOURS.into_iter().filter_map(departs));
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
        let mac = |standard, flavour| Wifi::of(standard, flavour, "ns2").mac;
        for preset in [Preset::Dot11, Preset::Dot11b, Preset::Dot11bShort, Preset::Dot11a] {
            assert_eq!(mac(preset.name(), "standard"), preset.config());
        }
        assert_eq!(mac("802.11", "ns2"), Preset::Ns2.config());
        assert_eq!(mac("802.11b", "ns2"), Preset::Ns2b.config());
        assert_eq!(mac("802.11a", "ns2"), Preset::Dot11a.config().as_ns2());
        assert_eq!(mac("bianchi", "model"), Preset::Bianchi.config());
        assert_eq!(mac("802.11b", "model"), Preset::Dot11b.config().under_model_assumptions());
        assert_eq!(Wifi::of("802.11b", "standard", "ns2").radio, RadioConfig::ns2());
        assert_eq!(Wifi::of("802.11a", "standard", "ns3").radio, RadioConfig::ns3());
        assert_eq!(Wifi::of("bianchi", "model", "bianchi").radio, RadioConfig::bianchi());
    }

    #[test]
    fn bianchis_constants_under_the_standards_rules_keep_the_constants_alone() {
        let constants = Wifi::of("bianchi", "standard", "bianchi").mac;
        assert_eq!((constants.slot, constants.sifs), {
            let table = Preset::Bianchi.config();
            (table.slot, table.sifs)
        });
        assert_eq!((constants.short_retry, constants.long_retry), (Some(7), Some(4)));
        assert!(constants.access.eifs);
    }
}
