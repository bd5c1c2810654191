//! Received power by distance.

use std::f64::consts::PI;

use super::config::{Propagation, RadioConfig};

/// Speed of light, m/s, rounded as in ns-2, whose crossover of 86.14 m at 914 MHz follows from it.
pub(super) const SPEED_OF_LIGHT: f64 = 3e8;

/// The power at a receiver `distance_m` away, W. Never more than was sent, also at distance zero.
#[must_use]
pub fn received_power_w(config: &RadioConfig, distance_m: f64) -> f64 {
    let most = config.transmit_power_w * config.transmit_gain * config.receive_gain / config.system_loss;
    let power = match config.propagation {
        Propagation::TwoRay if distance_m > crossover_m(config) => {
            let squared = config.antenna_height_m / distance_m * config.antenna_height_m / distance_m;
            most * squared * squared
        }
        Propagation::LogDistance { exponent, reference_m } if distance_m > reference_m => {
            friis(config, reference_m) * libm::pow(reference_m / distance_m, exponent)
        }
        Propagation::FreeSpace | Propagation::TwoRay | Propagation::LogDistance { .. } => {
            friis(config, distance_m)
        }
    };
    power.min(most)
}

/// The distance from which two-ray ground leaves free space, m.
#[must_use]
pub fn crossover_m(config: &RadioConfig) -> f64 {
    4.0 * PI * config.antenna_height_m * config.antenna_height_m * config.frequency_hz / SPEED_OF_LIGHT
}

/// The distance up to which the received power is at least `threshold_w`, m.
///
/// Returns 0 if that is nowhere, and infinity if it still is at 10 000 km.
#[must_use]
pub fn range_m(config: &RadioConfig, threshold_w: f64) -> f64 {
    let (mut near, mut far) = (0.0, 1e7);
    if received_power_w(config, near) < threshold_w {
        return 0.0;
    }
    if received_power_w(config, far) >= threshold_w {
        return f64::INFINITY;
    }
    // The power never rises with distance, and 80 halvings leave nothing of a double's digits.
    for _ in 0..80 {
        let middle = near + (far - near) / 2.0;
        if received_power_w(config, middle) >= threshold_w {
            near = middle;
        } else {
            far = middle;
        }
    }
    near
}

/// Free space (Friis 1946).
fn friis(config: &RadioConfig, distance_m: f64) -> f64 {
    let wavelength = SPEED_OF_LIGHT / config.frequency_hz;
    let ratio = wavelength / (4.0 * PI * distance_m);
    config.transmit_power_w * config.transmit_gain * config.receive_gain / config.system_loss * ratio * ratio
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::medium::radio::config::watts_to_dbm;

    #[test]
    fn two_ray_ground_with_ns2s_constants_reaches_250_and_550_metres() {
        let config = RadioConfig::ns2();
        let receive = range_m(&config, config.receive_threshold_w);
        let sense = range_m(&config, config.carrier_sense_threshold_w);
        assert!((receive - 250.01).abs() < 0.01, "{receive}");
        assert!((sense - 550.02).abs() < 0.01, "{sense}");
        assert!((crossover_m(&config) - 86.14).abs() < 0.01);
    }

    #[test]
    fn two_ray_ground_joins_free_space_at_the_crossover() {
        let config = RadioConfig::ns2();
        let crossover = crossover_m(&config);
        let (near, far) =
            (received_power_w(&config, crossover), received_power_w(&config, crossover * 1.000_001));
        assert!((near / far - 1.0).abs() < 1e-5);
    }

    #[test]
    fn log_distance_from_one_metre_at_5_150_ghz_starts_at_46_68_db() {
        let config = RadioConfig::ns3();
        let at = |distance| watts_to_dbm(received_power_w(&config, distance));
        assert!((16.0206 - at(1.0) - 46.68).abs() < 0.01, "{}", at(1.0));
        assert!((at(1.0) - at(10.0) - 30.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_is_received_stronger_than_it_was_sent() {
        for propagation in [
            Propagation::FreeSpace,
            Propagation::TwoRay,
            Propagation::LogDistance { exponent: 3.0, reference_m: 1.0 },
        ] {
            let config = RadioConfig { propagation, ..RadioConfig::ns2() };
            assert_eq!(received_power_w(&config, 0.0), config.transmit_power_w);
            assert!(received_power_w(&config, 100.0) > received_power_w(&config, 200.0));
        }
    }

    #[test]
    fn a_threshold_never_met_has_no_range_and_one_always_met_no_end() {
        let config = RadioConfig::ns2();
        assert_eq!(range_m(&config, 1.0), 0.0);
        assert_eq!(range_m(&config, 0.0), f64::INFINITY);
    }
}
