//! The air interface of an 802.16 link.

use super::Part;
use crate::medium::modulation::ModulationLaw;
use crate::model::AirConfig;
use crate::scenario::keys::words::ModulationModel;
use crate::scenario::quantity::{Dim, Quantity};
use lasthop_stack::hooks::parameter::Words;
use lasthop_stack::link::dot16::{Frame, Rates};
use lasthop_stack::packet::Modulation;
use lasthop_stack::units::{Span, Time};

pub(super) fn air(link: &Part<'_>) -> AirConfig {
    let length = link.span("frame.length");
    AirConfig {
        frame: Frame {
            length,
            down: Span::from_secs_f64(length.as_secs() * link.real("frame.downlink")),
            maps: link.span("frame.maps"),
            requests: link.span("frame.requests"),
        },
        rates: Rates {
            qpsk: link.rate("rates.qpsk"),
            qam16: link.rate("rates.16-qam"),
            qam64: link.rate("rates.64-qam"),
        },
        start: link.choice("modulation.start"),
        law: match link.choice("modulation.law") {
            ModulationModel::Fixed => ModulationLaw::Fixed,
            // The check reports an invalid script; it needs a configuration to do so.
            ModulationModel::Script => {
                ModulationLaw::Script(script(link.word("modulation.script")).unwrap_or_default())
            }
            ModulationModel::Markov => ModulationLaw::Markov { mean: link.span("modulation.markov.mean") },
            ModulationModel::Snr => ModulationLaw::Snr {
                mean_db: link.real("modulation.snr.mean"),
                deviation_db: link.real("modulation.snr.deviation"),
                coherence: link.span("modulation.snr.coherence"),
                qam16_db: link.real("modulation.snr.16-qam"),
                qam64_db: link.real("modulation.snr.64-qam"),
            },
        },
    }
}

/// The lines of a script, or what is wrong with it.
pub(in super::super) fn script(text: &str) -> Result<Vec<(Time, Modulation)>, String> {
    let mut lines: Vec<(Time, Modulation)> = Vec::new();
    for line in text.split(',') {
        let line = line.trim();
        let read = line.split_once(" at ").and_then(|(word, time)| {
            let time = Quantity::parse(time.trim()).ok().filter(|time| time.dim == Dim::Time)?;
            Some((Time(time.base.as_u64()?), Modulation::of_word(word.trim())?))
        });
        let Some(read) = read else {
            return Err(format!("\"{line}\"; expected a modulation and a time such as \"qpsk at 60 s\""));
        };
        if lines.last().is_some_and(|last| last.0 >= read.0) {
            return Err(format!(
                "\"{line}\" is not later than the change before it; expected ascending times"
            ));
        }
        lines.push(read);
    }
    Ok(lines)
}
