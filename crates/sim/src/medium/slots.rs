//! The medium of a slotted network: all transmissions of a slot begin and end together.
//!
//! A station receives the frame of a transmitter within range if it does not transmit itself, no other transmitter
//! destroys the frame, and no channel error occurs. A transmitter within the interference range destroys the frame
//! unless the wanted signal is stronger by the capture ratio. Powers follow the two-ray ground model with ns-2's
//! constants; ranges are used as configured.

use lasthop_stack::hooks::parameter::words;
use lasthop_stack::units::{Metres, Span, Time};

use crate::engine::streams::Stream;
use crate::medium::outages::Cuts;
use crate::medium::radio::config::RadioConfig;
use crate::medium::radio::propagation::received_power_w;

/// How interfering signals combine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interference {
    /// Each is compared with the wanted signal separately, as in ns-2.
    Pairwise,
    /// Their powers are summed.
    Summed,
}

words! { Interference: Pairwise = "pairwise", Summed = "summed" }

/// The parameters of a medium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlotMediumConfig {
    /// Maximum distance for reception, m.
    pub range_m: f64,
    /// Maximum distance for carrier sensing, m.
    pub carrier_sense_m: f64,
    /// Maximum distance for interference, m.
    pub interference_m: f64,
    /// Minimum power ratio at which the stronger of two signals is received; with `None`, both are lost.
    pub capture: Option<f64>,
    /// How interfering signals combine.
    pub interference: Interference,
    /// Probability of a channel error, independent at each receiver.
    pub error: f64,
}

/// The fate of a frame at a station within range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotFate {
    /// It is received.
    Received,
    /// Another transmission destroys it.
    Collided,
    /// The station is transmitting.
    Deaf,
    /// A channel error destroys it.
    Errored,
    /// The network is down.
    CutOff,
}

/// A frame at a station within range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reception {
    /// Index of the transmitter among those of the slot.
    pub frame: u32,
    /// The station.
    pub station: u32,
    /// The fate of the frame at the station.
    pub fate: SlotFate,
}

/// A station in the neighbourhood of another one.
#[derive(Clone, Copy, Debug)]
struct Near {
    station: u32,
    reaches: bool,
    senses: bool,
    power_w: f64,
}

/// The signals that arrive at a station in one slot.
#[derive(Clone, Copy, Debug, Default)]
struct Arrival {
    /// The number of the slot, plus one.
    stamp: u64,
    sends: bool,
    sum_w: f64,
    strongest_w: f64,
    second_w: f64,
}

/// The medium.
#[derive(Debug)]
pub struct SlotMedium {
    config: SlotMediumConfig,
    near: Vec<Vec<Near>>,
    arrivals: Vec<Arrival>,
    /// One stream for each station, if channel errors occur.
    errors: Vec<Stream>,
    /// The outages, if there are any, and the length of a slot.
    cuts: Option<(Cuts, Span)>,
}

impl SlotMedium {
    /// A medium with stations at these positions. `errors` gives the stream of each station, if channel errors occur.
    pub fn new(
        config: SlotMediumConfig,
        positions: &[(Metres, Metres)],
        errors: impl Fn(usize) -> Stream,
    ) -> SlotMedium {
        let errors = if config.error > 0.0 { (0..positions.len()).map(errors).collect() } else { Vec::new() };
        let arrivals = vec![Arrival::default(); positions.len()];
        SlotMedium { near: neighbourhoods(&config, positions), config, arrivals, errors, cuts: None }
    }

    /// Sets the outages: frames that overlap one are lost.
    pub fn cut_by(&mut self, cuts: Option<Cuts>, slot: Span) {
        self.cuts = cuts.map(|cuts| (cuts, slot));
    }

    /// The stations within range of `station`, in order.
    pub fn in_range(&self, station: u32) -> impl Iterator<Item = u32> + Clone {
        self.near[station as usize].iter().filter(|near| near.reaches).map(|near| near.station)
    }

    /// The stations that sense a transmission of `station`, in order.
    pub fn sensing(&self, station: u32) -> impl Iterator<Item = u32> {
        self.near[station as usize].iter().filter(|near| near.senses).map(|near| near.station)
    }

    /// Finds the fate of the frames sent by these stations in a slot, at every station within range. Slots must ascend.
    pub fn resolve(&mut self, slot: u64, transmitters: &[u32], receptions: &mut Vec<Reception>) {
        receptions.clear();
        let is_down = self
            .cuts
            .as_mut()
            .is_some_and(|(cuts, length)| cuts.mask(Time(slot * length.0), Time((slot + 1) * length.0)) != 0);
        let stamp = slot + 1;
        for &transmitter in transmitters {
            fresh(&mut self.arrivals[transmitter as usize], stamp).sends = true;
            for near in &self.near[transmitter as usize] {
                let arrival = fresh(&mut self.arrivals[near.station as usize], stamp);
                arrival.sum_w += near.power_w;
                if near.power_w > arrival.strongest_w {
                    (arrival.second_w, arrival.strongest_w) = (arrival.strongest_w, near.power_w);
                } else {
                    arrival.second_w = arrival.second_w.max(near.power_w);
                }
            }
        }
        for (frame, &transmitter) in transmitters.iter().enumerate() {
            for near in self.near[transmitter as usize].iter().filter(|near| near.reaches) {
                let station = near.station as usize;
                let fate = match self.arrivals[station].fate(near.power_w, &self.config) {
                    SlotFate::Received if self.config.error > 0.0 => {
                        // One section of the stream per slot: two schemes see the same channel whatever each of them
                        // sends.
                        self.errors[station].seek(slot);
                        let errored = self.errors[station].chance(self.config.error);
                        if errored { SlotFate::Errored } else { SlotFate::Received }
                    }
                    fate => fate,
                };
                let fate = match fate {
                    SlotFate::Received | SlotFate::Errored if is_down => SlotFate::CutOff,
                    fate => fate,
                };
                receptions.push(Reception { frame: frame as u32, station: near.station, fate });
            }
        }
    }
}

/// The arrivals at a station, cleared if they belong to an earlier slot.
fn fresh(arrival: &mut Arrival, stamp: u64) -> &mut Arrival {
    if arrival.stamp != stamp {
        *arrival = Arrival { stamp, ..Arrival::default() };
    }
    arrival
}

impl Arrival {
    /// The fate of a signal of this power, which is one of the arrivals.
    fn fate(&self, power_w: f64, config: &SlotMediumConfig) -> SlotFate {
        if self.sends {
            return SlotFate::Deaf;
        }
        if power_w < self.strongest_w {
            return SlotFate::Collided;
        }
        let others_w = match config.interference {
            Interference::Pairwise => self.second_w,
            Interference::Summed => self.sum_w - power_w,
        };
        let is_received = match config.capture {
            // The sum may contain a rounding error; a second signal is either present or absent.
            _ if self.second_w <= 0.0 => true,
            Some(ratio) => power_w >= ratio * others_w,
            None => false,
        };
        if is_received { SlotFate::Received } else { SlotFate::Collided }
    }
}

/// For each station, the others that can receive, sense or be disturbed by its transmissions, in order.
fn neighbourhoods(config: &SlotMediumConfig, positions: &[(Metres, Metres)]) -> Vec<Vec<Near>> {
    let radio = RadioConfig::ns2();
    let reach_m = config.range_m.max(config.carrier_sense_m).max(config.interference_m);
    let mut from_left: Vec<usize> = (0..positions.len()).collect();
    let east_m = |station: usize| positions[station].0.0;
    from_left.sort_by(|one, other| east_m(*one).total_cmp(&east_m(*other)));
    let mut near = vec![Vec::new(); positions.len()];
    for (place, &one) in from_left.iter().enumerate() {
        for &other in
            from_left[place + 1..].iter().take_while(|other| east_m(**other) - east_m(one) <= reach_m)
        {
            let north_m = positions[other].1.0 - positions[one].1.0;
            let distance_m = libm::hypot(east_m(other) - east_m(one), north_m);
            if distance_m > reach_m {
                continue;
            }
            let interferes = distance_m <= config.range_m.max(config.interference_m);
            let power_w = if interferes { received_power_w(&radio, distance_m) } else { 0.0 };
            let reaches = distance_m <= config.range_m;
            let senses = distance_m <= config.carrier_sense_m;
            for (from, to) in [(one, other), (other, one)] {
                near[from].push(Near { station: to as u32, reaches, senses, power_w });
            }
        }
    }
    for near in &mut near {
        near.sort_by_key(|near| near.station);
    }
    near
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: SlotMediumConfig = SlotMediumConfig {
        range_m: 250.0,
        carrier_sense_m: 550.0,
        interference_m: 550.0,
        capture: Some(10.0),
        interference: Interference::Pairwise,
        error: 0.0,
    };

    fn medium(config: SlotMediumConfig, east_m: &[f64]) -> SlotMedium {
        let positions: Vec<(Metres, Metres)> = east_m.iter().map(|x| (Metres(*x), Metres(0.0))).collect();
        SlotMedium::new(config, &positions, |station| Stream::named(1, 0, &format!("{station}")))
    }

    fn fates(config: SlotMediumConfig, east_m: &[f64], transmitters: &[u32]) -> Vec<(u32, u32, SlotFate)> {
        let mut receptions = Vec::new();
        medium(config, east_m).resolve(0, transmitters, &mut receptions);
        receptions.iter().map(|one| (transmitters[one.frame as usize], one.station, one.fate)).collect()
    }

    const CHAIN: [f64; 5] = [0.0, 200.0, 400.0, 600.0, 800.0];

    use SlotFate::{Collided, Deaf, Received};

    #[test]
    fn a_lone_frame_reaches_whoever_is_in_range() {
        assert_eq!(fates(CONFIG, &CHAIN, &[1]), [(1, 0, Received), (1, 2, Received)]);
    }

    #[test]
    fn equal_signals_spoil_each_other_and_a_sender_hears_nothing() {
        let found = fates(CONFIG, &CHAIN, &[1, 3]);
        let expected = [(1, 0, Received), (1, 2, Collided), (3, 2, Collided), (3, 4, Received)];
        assert_eq!(found, expected);
        assert_eq!(fates(CONFIG, &CHAIN, &[1, 2])[1], (1, 2, Deaf));
    }

    #[test]
    fn twice_the_distance_is_captured_at_ten_decibels_and_not_without_capture() {
        // Station 1 hears 0 from 200 m and 3 from 400 m: by two-ray ground a ratio of 16, which is 12 dB.
        assert_eq!(fates(CONFIG, &CHAIN, &[0, 3])[0], (0, 1, Received));
        let off = SlotMediumConfig { capture: None, ..CONFIG };
        assert_eq!(fates(off, &CHAIN, &[0, 3])[0], (0, 1, Collided));
        // 4 is 600 m away from 1, beyond the interference range.
        assert_eq!(fates(off, &CHAIN, &[0, 4])[0], (0, 1, Received));
    }

    #[test]
    fn two_interferers_may_spoil_together_what_neither_spoils_alone() {
        // Station 2 hears 1 from 200 m, and 0 and 4 from 400 m each: a ratio of 16 to each, and of 8 to their sum.
        let stations = [0.0, 200.0, 400.0, 600.0, 800.0];
        assert!(fates(CONFIG, &stations, &[0, 1, 4]).contains(&(1, 2, Received)));
        let summed = SlotMediumConfig { interference: Interference::Summed, ..CONFIG };
        assert!(fates(summed, &stations, &[0, 1, 4]).contains(&(1, 2, Collided)));
        assert!(fates(summed, &stations, &[0, 1]).contains(&(1, 2, Received)));
    }

    #[test]
    fn errors_come_at_their_rate_independently_at_each_listener_and_alike_whatever_else_is_sent() {
        let mut alone = medium(SlotMediumConfig { error: 0.05, ..CONFIG }, &CHAIN);
        let mut among = medium(SlotMediumConfig { error: 0.05, ..CONFIG }, &CHAIN);
        let (mut receptions, mut others) = (Vec::new(), Vec::new());
        let (mut errored, mut both) = (0, 0);
        for slot in 0..20_000 {
            alone.resolve(slot, &[1], &mut receptions);
            let lost = |receptions: &[Reception], place: usize| receptions[place].fate == SlotFate::Errored;
            errored += u32::from(lost(&receptions, 0));
            both += u32::from(lost(&receptions, 0) && lost(&receptions, 1));
            if slot % 3 == 0 {
                among.resolve(slot, &[1], &mut others);
                assert_eq!(receptions, others);
            }
        }
        // 1000 and 50 expected, with standard deviations of 31 and 7.
        assert!((900..1100).contains(&errored), "{errored}");
        assert!((20..80).contains(&both), "{both}");
    }

    #[test]
    fn neighbours_are_listed_in_order_wherever_they_stand() {
        let medium = medium(CONFIG, &[400.0, 0.0, 200.0, 900.0]);
        assert_eq!(medium.in_range(2).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(medium.sensing(0).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(medium.sensing(1).collect::<Vec<_>>(), [0, 2]);
    }
}
