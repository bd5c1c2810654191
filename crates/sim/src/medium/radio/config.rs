//! The configuration of a radio medium: powers, thresholds, reception, errors.
//!
//! Powers are in watts, gains and ratios are plain factors, lengths in metres. [`dbm_to_watts`] and [`db_to_ratio`] turn
//! the units of a scenario into these. The defaults are those of ns-2's `Phy/WirelessPhy` and `Antenna/OmniAntenna`, the
//! 914 MHz `WaveLAN` card that the papers of the time were simulated with.

mod parameters;

use crate::medium::loss::PacketClass;
use lasthop_stack::hooks::parameter::words;
use lasthop_stack::units::Span;

pub use parameters::PathLoss;

/// A radio medium, the same for all its stations.
#[derive(Clone, Debug, PartialEq)]
pub struct RadioConfig {
    /// Power fed into the antenna, W.
    pub transmit_power_w: f64,
    /// Carrier frequency, Hz.
    pub frequency_hz: f64,
    /// Gain of the transmitting antenna, a factor over isotropic.
    pub transmit_gain: f64,
    /// Gain of the receiving antenna, a factor over isotropic.
    pub receive_gain: f64,
    /// Height of both antennas above ground, m; only two-ray ground uses it.
    pub antenna_height_m: f64,
    /// Losses in the equipment, a factor of at least 1.
    pub system_loss: f64,
    /// How power falls with distance.
    pub propagation: Propagation,
    /// Shadowing by obstacles.
    pub shadowing: Option<Shadowing>,
    /// Fading by echoes.
    pub fading: Option<Fading>,
    /// Power at which stations hear each other when one of them has no position, W.
    pub flat_power_w: f64,
    /// Weakest frame that can be received, W.
    pub receive_threshold_w: f64,
    /// Weakest frame that makes the medium busy, W.
    pub carrier_sense_threshold_w: f64,
    /// Weakest frame that can spoil the reception of another, W. A frame below this and the other two thresholds costs
    /// its hearer nothing at all.
    pub interference_threshold_w: f64,
    /// What happens when frames overlap.
    pub reception: Reception,
    /// Ratio of power to noise and interference in the first 4 us of a frame from which a receiver notices a frame there.
    /// It does not lock on others, so that no error follows them. `None`: it notices every frame above the threshold.
    pub preamble: Option<f64>,
    /// Bandwidth of the noise, Hz: 22 MHz for DSSS, 20 MHz for OFDM.
    pub bandwidth_hz: f64,
    /// Noise figure of the receiver, dB.
    pub noise_figure_db: f64,
    /// Frames lost by chance.
    pub errors: ErrorConfig,
}

/// How power falls with distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Propagation {
    /// Friis: with the square of the distance.
    FreeSpace,
    /// Free space up to the crossover 4 π h² / λ, then with its fourth power, as the ground reflects a second ray.
    TwoRay,
    /// Free space up to the reference distance, then with the given power of the distance.
    LogDistance {
        /// The exponent: 2 is free space, 2.7 to 3.5 a city.
        exponent: f64,
        /// Reference distance, m.
        reference_m: f64,
    },
}

/// Log-normal shadowing of each pair of stations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shadowing {
    /// Standard deviation, dB.
    pub deviation_db: f64,
    /// When it is drawn anew.
    pub redraw: Redraw,
}

/// Multipath fading of each pair of stations, of mean 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fading {
    /// Power of the steady ray over that of all others, Rice's K; 0 is Rayleigh fading.
    pub factor: f64,
    /// When it is drawn anew.
    pub redraw: Redraw,
}

/// When the gain of a pair of stations is drawn anew.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Redraw {
    /// Never: it is drawn once for each replication.
    Never,
    /// After each such time, which is not zero.
    After(Span),
    /// After each such way of the two stations together, m, which is not zero.
    Moved(f64),
}

/// The fate of a frame when others overlap with it at a receiver.
///
/// A later frame never takes the receiver from the one it is locked on: when neither is strong enough, both are lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reception {
    /// ns-2's rule: the receiver locks on the first frame above the *carrier-sense* threshold, so that a frame too weak
    /// to receive also keeps it from a good one. A frame it is locked on survives those at least `capture` times weaker.
    /// It ends in an error if it was too weak or spoilt.
    Ns2 {
        /// Ratio of powers from which the locked frame survives; `None` means that any overlap spoils it.
        capture: Option<f64>,
    },
    /// The receiver locks on the first frame above the *receive* threshold. The frame survives while it is at least
    /// `capture` times as strong as each other one on the air, earlier or later. Weaker frames only make the medium
    /// busy.
    Capture {
        /// Ratio of powers from which the locked frame survives; `None` means that any overlap spoils it.
        capture: Option<f64>,
    },
    /// As ns-3's interference helper. The receiver locks on the first frame above the receive threshold. The powers of
    /// all others add up and, with noise, give the SINR of each part of the frame. With the error law [`ErrorLaw::Snr`]
    /// each part fails by its own SINR.
    Sinr {
        /// The frame is lost as soon as its SINR falls below this ratio; 0 leaves the decision to the error law.
        least: f64,
    },
}

/// Losses by chance.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorConfig {
    /// The law of the losses.
    pub law: ErrorLaw,
    /// What a loss means.
    pub meaning: LossMeaning,
    /// Which frames can be lost.
    pub of: LossOf,
    /// At which stations, by their numbers; `None` is all. What a station sends is lost where it is received.
    pub at: Option<Vec<usize>>,
}

impl ErrorConfig {
    /// Whether frames on the air fail by the ratio of signal to noise.
    #[must_use]
    pub fn is_by_snr(&self) -> bool {
        self.law == ErrorLaw::Snr && self.meaning == LossMeaning::OnAir
    }
}

/// The law of the losses of a medium.
#[derive(Clone, Debug, PartialEq)]
pub enum ErrorLaw {
    /// Never.
    None,
    /// With this probability, whatever its length.
    Packet {
        /// Probability of loss.
        rate: f64,
    },
    /// Each of its bits, MAC header and FCS included, is wrong with this probability.
    Bit {
        /// Bit error rate.
        ber: f64,
    },
    /// By the ratio of signal to noise and the modulation of its rate; see [`super::modulation`].
    Snr,
    /// A two-state channel for each pair of stations, equal in both directions. Its states last exponential times and
    /// pass whether frames are sent or not, so that two schemes meet the same good and bad periods.
    GilbertElliott {
        /// Probability of loss in the good state.
        loss_good: f64,
        /// Probability of loss in the bad state.
        loss_bad: f64,
        /// Mean length of a good period.
        mean_good: Span,
        /// Mean length of a bad period.
        mean_bad: Span,
    },
    /// Exactly these, at the station they are for; others that hear them receive them.
    List {
        /// The station whose data frames are counted, each attempt anew.
        from: usize,
        /// Which of them are counted.
        of: PacketClass,
        /// Those to lose, counted from 1, ascending.
        drop: Vec<u64>,
    },
}

/// The three meanings of a "packet error rate".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossMeaning {
    /// A frame is errored on the air at each attempt independently; the link's ARQ repairs it.
    OnAir,
    /// A packet (MSDU) is lost for good, decided once before its MAC acknowledgement: the receiver does not get it, the
    /// sender stops after this attempt and reports it undelivered. RTS, CTS and ACK frames are exempt.
    ForGood,
    /// A packet (MSDU) is acknowledged by the MAC and then lost on its way up.
    AboveMac,
}

/// Which frames can be lost by chance. Frames without a packet can be lost only [`LossMeaning::OnAir`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossOf {
    /// All.
    All,
    /// Those that carry a packet.
    Packets,
    /// Those that carry a packet other than a pure TCP acknowledgement.
    Data,
}

words! { LossOf: All = "all", Packets = "packets", Data = "data" }

/// Boltzmann's constant times 290 K: thermal noise of -174 dBm in each hertz, W/Hz.
const THERMAL_NOISE_W_PER_HZ: f64 = 1.380_649e-23 * 290.0;

impl RadioConfig {
    /// ns-2's radio: two-ray ground, reception to 250 m, carrier sense to 550 m, capture from 10 times the power.
    #[must_use]
    pub fn ns2() -> RadioConfig {
        RadioConfig {
            transmit_power_w: 0.281_838_15,
            frequency_hz: 914e6,
            transmit_gain: 1.0,
            receive_gain: 1.0,
            antenna_height_m: 1.5,
            system_loss: 1.0,
            propagation: Propagation::TwoRay,
            shadowing: None,
            fading: None,
            flat_power_w: 1e-8,
            receive_threshold_w: 3.652e-10,
            carrier_sense_threshold_w: 1.559e-11,
            interference_threshold_w: 1.559e-11,
            reception: Reception::Ns2 { capture: Some(10.0) },
            preamble: None,
            bandwidth_hz: 22e6,
            noise_figure_db: 7.0,
            errors: ErrorConfig::none(),
        }
    }

    /// Bianchi's medium: no capture, no errors; stations without positions all hear each other.
    #[must_use]
    pub fn bianchi() -> RadioConfig {
        RadioConfig { reception: Reception::Capture { capture: None }, ..RadioConfig::ns2() }
    }

    /// A radio like ns-3's default for 802.11a: log-distance with exponent 3 from 1 m at 5.15 GHz, 16.02 dBm. Frames
    /// are detected from -82 dBm, interference is summed down to -101 dBm, and errors follow the SINR.
    #[must_use]
    pub fn ns3() -> RadioConfig {
        RadioConfig {
            transmit_power_w: dbm_to_watts(16.0206),
            frequency_hz: 5.15e9,
            propagation: Propagation::LogDistance { exponent: 3.0, reference_m: 1.0 },
            receive_threshold_w: dbm_to_watts(-82.0),
            carrier_sense_threshold_w: dbm_to_watts(-82.0),
            interference_threshold_w: dbm_to_watts(-101.0),
            reception: Reception::Sinr { least: 0.0 },
            bandwidth_hz: 20e6,
            errors: ErrorConfig { law: ErrorLaw::Snr, ..ErrorConfig::none() },
            ..RadioConfig::ns2()
        }
    }

    /// Power of the noise at a receiver, W.
    #[must_use]
    pub fn noise_w(&self) -> f64 {
        THERMAL_NOISE_W_PER_HZ * self.bandwidth_hz * db_to_ratio(self.noise_figure_db)
    }

    /// The power below which a station does not notice a frame, W.
    #[must_use]
    pub fn floor_w(&self) -> f64 {
        self.interference_threshold_w.min(self.carrier_sense_threshold_w).min(self.receive_threshold_w)
    }
}

impl Default for RadioConfig {
    fn default() -> RadioConfig {
        RadioConfig::ns2()
    }
}

impl ErrorConfig {
    /// No losses by chance.
    #[must_use]
    pub fn none() -> ErrorConfig {
        ErrorConfig { law: ErrorLaw::None, meaning: LossMeaning::OnAir, of: LossOf::All, at: None }
    }
}

/// Watts of a level in dBm.
#[must_use]
pub fn dbm_to_watts(dbm: f64) -> f64 {
    db_to_ratio(dbm) * 1e-3
}

/// dBm of a power in watts.
#[must_use]
pub fn watts_to_dbm(watts: f64) -> f64 {
    ratio_to_db(watts * 1e3)
}

/// The factor of a gain in dB.
#[must_use]
pub fn db_to_ratio(db: f64) -> f64 {
    libm::pow(10.0, db / 10.0)
}

/// The gain in dB of a factor.
#[must_use]
pub fn ratio_to_db(ratio: f64) -> f64 {
    10.0 * libm::log10(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decibels_and_watts_convert_both_ways() {
        assert!((dbm_to_watts(20.0) - 0.1).abs() < 1e-12);
        assert!((watts_to_dbm(0.281_838_15) - 24.5).abs() < 1e-5);
        assert!((db_to_ratio(10.0) - 10.0).abs() < 1e-12);
    }

    #[test]
    fn the_noise_in_22_mhz_is_at_93_6_dbm_below_a_milliwatt_with_its_figure_of_7_db() {
        let noise = watts_to_dbm(RadioConfig::ns2().noise_w());
        assert!((noise + 93.55).abs() < 0.05, "{noise}");
    }
}
