//! Stations on an ideal medium, compared with hand-worked time lines and with the theory of saturated DCF.

/// What only EDCA asks of its host, for a host of DCF.
macro_rules! nothing_of_edca {
    () => {
        fn load(&mut self) -> &mut crate::link::dot11::Load {
            unreachable!("DCF has no loads");
        }
        fn hold(&mut self, _: u64) -> u64 {
            unreachable!("DCF holds nothing");
        }
        fn up_held(&mut self, _: u64) {
            unreachable!("DCF holds nothing");
        }
        fn late(&mut self, _: u64) {
            unreachable!("DCF has no window");
        }
        fn set_release(&mut self, _: crate::units::Time) {
            unreachable!("DCF holds nothing");
        }
        fn signal_to_noise(&mut self, _: crate::packet::NodeId) -> f64 {
            unreachable!("DCF has no rate control");
        }
        fn mpdu_failure(&mut self, _: crate::link::dot11::Mode, _: u32, _: f64) -> f64 {
            unreachable!("DCF has no rate control");
        }
    };
}

mod cell;
mod contention;
mod exchange;
mod fragments;
mod hearing;
mod lifetime;
mod planned;
mod polling;
mod properties;
mod saturation;
mod units;
