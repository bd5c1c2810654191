//! The parameters of propagation and reception, by their names in scenarios, with the source of each default.

use super::{Propagation, RadioConfig, Reception, db_to_ratio, ratio_to_db};
use lasthop_stack::hooks::parameter::{Described, parameters, words};

words! {
    /// Models of propagation: the names of [`Propagation`].
    pub enum PathLoss {
        /// By two rays.
        TwoRay = "two-ray",
        /// As in free space.
        FreeSpace = "free-space",
        /// With a power of the distance.
        LogDistance = "log-distance",
        /// Equal power between all stations, whose positions do not matter.
        Flat = "flat",
    }

    /// Models of the reception of overlapping frames: the names of [`Reception`].
    pub enum ReceptionModel {
        /// That of ns-2.
        Ns2 = "ns2",
        /// By a ratio of powers.
        Capture = "capture",
        /// By summed interference.
        Sinr = "sinr",
    }
}

impl RadioConfig {
    const fn path_loss(&self) -> PathLoss {
        match self.propagation {
            Propagation::FreeSpace => PathLoss::FreeSpace,
            Propagation::TwoRay => PathLoss::TwoRay,
            Propagation::LogDistance { .. } => PathLoss::LogDistance,
        }
    }

    fn set_path_loss(&mut self, model: PathLoss) {
        let (exponent, reference_m) = self.log_distance();
        match model {
            PathLoss::FreeSpace => self.propagation = Propagation::FreeSpace,
            PathLoss::TwoRay => self.propagation = Propagation::TwoRay,
            PathLoss::LogDistance => self.propagation = Propagation::LogDistance { exponent, reference_m },
            PathLoss::Flat => {}
        }
    }

    /// Exponent and reference distance; those of ns-3 where the model has none.
    const fn log_distance(&self) -> (f64, f64) {
        match self.propagation {
            Propagation::LogDistance { exponent, reference_m } => (exponent, reference_m),
            Propagation::FreeSpace | Propagation::TwoRay => (3.0, 1.0),
        }
    }

    const fn reception_model(&self) -> ReceptionModel {
        match self.reception {
            Reception::Ns2 { .. } => ReceptionModel::Ns2,
            Reception::Capture { .. } => ReceptionModel::Capture,
            Reception::Sinr { .. } => ReceptionModel::Sinr,
        }
    }

    fn set_reception_model(&mut self, model: ReceptionModel) {
        let (capture, least) = (self.capture(), self.least_sinr());
        self.reception = match model {
            ReceptionModel::Ns2 => Reception::Ns2 { capture },
            ReceptionModel::Capture => Reception::Capture { capture },
            ReceptionModel::Sinr => Reception::Sinr { least },
        };
    }

    /// The ratio of capture; that of ns-2 where the model has none.
    const fn capture(&self) -> Option<f64> {
        match self.reception {
            Reception::Ns2 { capture } | Reception::Capture { capture } => capture,
            Reception::Sinr { .. } => Some(10.0),
        }
    }

    const fn set_capture(&mut self, ratio: Option<f64>) {
        match &mut self.reception {
            Reception::Ns2 { capture } | Reception::Capture { capture } => *capture = ratio,
            Reception::Sinr { .. } => {}
        }
    }

    const fn least_sinr(&self) -> f64 {
        match self.reception {
            Reception::Sinr { least } => least,
            Reception::Ns2 { .. } | Reception::Capture { .. } => 0.0,
        }
    }
}

type Conditions = &'static [(&'static str, &'static [&'static str])];

const BY_DISTANCE: Conditions = &[("propagation.model", &["two-ray", "free-space", "log-distance"])];
const TWO_RAY: Conditions = &[("propagation.model", &["two-ray"])];
const LOG_DISTANCE: Conditions = &[("propagation.model", &["log-distance"])];
const CAPTURE: Conditions = &[("reception.model", &["ns2", "capture"])];
const SINR: Conditions = &[("reception.model", &["sinr"])];

const STRONGEST: &str = "1000000 W";
const PHY: &str = "ns-2: Phy/WirelessPhy";
const CAPTURES: &str = "ns-2: Phy/WirelessPhy CPThresh_";
const SENSES: &str = "ns-2: Phy/WirelessPhy CSThresh_";
const ANTENNA: &str = "ns-2: Antenna/OmniAntenna";
const GAINS: &str = "ns-3: WifiPhy TxGain, RxGain";
const AUDIBLE: &str = "well above all thresholds";
const LOSS: &str = "ns-3: LogDistancePropagationLossModel";
/// The loss at 1 m, which is that of free space at 5.15 GHz.
const REFERENCE: &str = "ns-3: LogDistancePropagationLossModel ReferenceLoss";
const INTERFERENCE: &str = "ns-3: InterferenceHelper";
const PREAMBLE: &str = "without detection; ns-3: ThresholdPreambleDetectionModel, 4 dB";
const FIGURE: &str = "ns-3: WifiPhy RxNoiseFigure";

impl Described for RadioConfig {
    parameters! {
        /// path-loss model; flat means equal power between all stations
        "propagation.model": Words("model of propagation") = (RadioConfig::path_loss, RadioConfig::set_path_loss),
            radios("ns-2: Propagation/TwoRayGround", LOSS);
        /// path-loss exponent beyond the reference distance
        "propagation.exponent": Number = (
            |radio| radio.log_distance().0,
            |radio, exponent| radio.propagation = Propagation::LogDistance { exponent, reference_m: radio.log_distance().1 },
        ), only(LOG_DISTANCE), above("0"), at_most("10"), radios(LOSS, LOSS);
        /// reference distance, up to which free-space loss applies
        "propagation.reference-distance": Length = (
            |radio| radio.log_distance().1,
            |radio, reference_m| radio.propagation = Propagation::LogDistance { exponent: radio.log_distance().0, reference_m },
        ), only(LOG_DISTANCE), above("0 m"), at_most("1000 km"), radios(LOSS, LOSS);
        /// transmit power
        "propagation.transmit-power": Power = transmit_power_w, only(BY_DISTANCE), above("0 W"), at_most(STRONGEST),
            radios(PHY, "ns-3: WifiPhy TxPowerStart");
        /// carrier frequency
        "propagation.frequency": Frequency = frequency_hz, only(BY_DISTANCE), above("0 Hz"), at_most("1000 GHz"),
            radios(PHY, REFERENCE);
        /// gain of the transmitting antenna, as a factor
        "propagation.transmit-gain": Number = transmit_gain, only(BY_DISTANCE), above("0"), at_most("1000000"),
            radios(ANTENNA, GAINS);
        /// gain of the receiving antenna, as a factor
        "propagation.receive-gain": Number = receive_gain, only(BY_DISTANCE), above("0"), at_most("1000000"),
            radios(ANTENNA, GAINS);
        /// height of all antennas above ground
        "propagation.antenna-height": Length = antenna_height_m, only(TWO_RAY), above("0 m"), at_most("10 km"),
            radios(ANTENNA, ANTENNA);
        /// system loss, as a factor
        "propagation.system-loss": Number = system_loss, only(BY_DISTANCE), at_least("1"), at_most("1000000"),
            radios(PHY, REFERENCE);
        /// received power between all stations under the flat model
        "propagation.flat-power": Power = flat_power_w, above("0 W"), at_most(STRONGEST), radios(AUDIBLE, AUDIBLE);

        /// reception of overlapping frames: by ns-2's rule, by a power ratio, or by summed interference
        "reception.model": Words("model of reception") = (RadioConfig::reception_model, RadioConfig::set_reception_model),
            radios("ns-2: mac-802_11.cc", INTERFERENCE);
        /// minimum power ratio at which a frame survives an overlap
        "reception.capture": Number or "none" = (RadioConfig::capture, RadioConfig::set_capture), only(CAPTURE),
            at_least("1"), at_most("1000000000"), radios(CAPTURES, CAPTURES);
        /// SINR below which a frame is lost; 0 means never
        "reception.least-sinr": Number = (
            RadioConfig::least_sinr, |radio, least| radio.reception = Reception::Sinr { least },
        ), only(SINR), at_least("0"), at_most("1000000000"), radios(INTERFERENCE, INTERFERENCE);
        /// SINR in the first 4 us from which a receiver detects a frame; below, the medium is only busy, and no EIFS follows
        "reception.preamble": Gain or "none" = (
            |radio| radio.preamble.map(ratio_to_db), |radio, db: Option<f64>| radio.preamble = db.map(db_to_ratio),
        ), at_least("-20 dB"), at_most("60 dB"), radios(PREAMBLE, PREAMBLE);
        /// receive threshold: weakest frame that can be received
        "reception.receive-threshold": Power = receive_threshold_w, above("0 W"), at_most(STRONGEST),
            radios("ns-2: Phy/WirelessPhy RXThresh_", "ns-3: ThresholdPreambleDetectionModel MinimumRssi");
        /// carrier-sense threshold: weakest frame that makes the medium busy
        "reception.carrier-sense-threshold": Power = carrier_sense_threshold_w, above("0 W"), at_most(STRONGEST),
            radios(SENSES, "ns-3: WifiPhy CcaSensitivity");
        /// interference threshold: weakest frame that can destroy another
        "reception.interference-threshold": Power = interference_threshold_w, above("0 W"), at_most(STRONGEST),
            radios(SENSES, "ns-3: WifiPhy RxSensitivity");
        /// bandwidth of the noise
        "reception.bandwidth": Frequency = bandwidth_hz, above("0 Hz"), at_most("1000 GHz"),
            standards("IEEE 802.11-2012 (16.4.6, 17.4.6)", "IEEE 802.11-2012 (18.3.8)");
        /// noise figure of the receiver
        "reception.noise-figure": Gain = noise_figure_db, at_least("0 dB"), radios(FIGURE, FIGURE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_stack::hooks::parameter::testing::each_has_a_field_of_its_own;

    #[test]
    fn each_parameter_has_a_field_of_its_own() {
        each_has_a_field_of_its_own::<RadioConfig>(&[
            "propagation.exponent",
            "propagation.reference-distance",
            "reception.least-sinr",
        ]);
    }

    #[test]
    fn what_a_model_lacks_has_the_value_of_the_radio_that_has_it() {
        assert_eq!(RadioConfig::ns2().log_distance(), RadioConfig::ns3().log_distance());
        assert_eq!(RadioConfig::ns3().capture(), RadioConfig::ns2().capture());
    }
}
