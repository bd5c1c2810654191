//! A radio medium: reception, overlapping frames, losses.
//!
//! **How**: the cost of a frame is proportional to the stations it reaches (see `hearers`), of which those at rest in one cell
//! are left out (see `followers`). A frame that stays alone on the air is followed by no receiver (see `lone`). [`Radio::start`] and [`Radio::end`] report to each of them what happened. Propagation takes
//! no time.
//!
//! **Choices**
//! 1. The medium is busy for a station while at least one frame above the carrier-sense threshold is on the air; powers
//!    are not summed for carrier sense.
//! 2. A station that transmits hears nothing; a frame that began meanwhile makes the medium busy afterwards, and its
//!    end is not an error, because its preamble was missed.
//! 3. Each receiver draws separately whether it receives a frame. The addressed station draws from the stream of the
//!    direction (see [`draws`]), all others from their own streams.
//! 4. A packet lost for good ends as an error at the addressed station, also for its EIFS; other stations hear it.
//! 5. A frame keeps its initial power, whatever changes while it lasts.

mod aggregate;
pub mod config;
pub mod draws;
mod ending;
mod errors;
pub mod fading;
mod fec;
mod followers;
mod hearers;
mod lone;
pub mod modulation;
pub mod propagation;
mod receiver;
#[cfg(test)]
mod tests;
mod varying;

use lasthop_stack::link::dot11::{Airtime, Frame, Load, Mpdu, PayloadClass};
use lasthop_stack::packet::NodeId;
use lasthop_stack::units::{Metres, Time};

use config::{RadioConfig, Reception, watts_to_dbm};
use draws::{Attempt, StreamBase};
use errors::Losses;
use followers::Followers;
use hearers::Hearers;
use lone::Lone;
use modulation::{Memo, Modulation};
use receiver::{Arrival, Begun, Bits, Receiver, Rules};

use super::motion::{Motion, Point};
use super::outages::Cuts;

/// A station of a medium.
#[derive(Clone, Debug)]
pub struct Site {
    /// Its address.
    pub node: NodeId,
    /// Its name, which names its random streams.
    pub name: String,
    /// Its position, if that matters.
    pub position: Option<(Metres, Metres)>,
    /// How it moves, whatever its position.
    pub motion: Option<Motion>,
    /// Its transmit power as a share of that of the link, at most 1.
    pub strength: f64,
}

/// A station that a frame of another reaches, and with which power.
#[derive(Clone, Copy, Debug)]
struct Neighbour {
    station: u32,
    power_w: f64,
}

/// What a station hears. Stations are numbered by their place in the list of sites.
///
/// Busy and idle alternate and are of the frames of others only, also while the station sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The medium turned busy.
    Busy(usize),
    /// The medium turned idle.
    Idle(usize),
    /// It received the frame that ended.
    Received(usize),
    /// It followed a frame to its end and could not read it.
    Error(usize),
    /// By ns-2's rule of reception: a frame begins that is too weak to spoil the one it is receiving, or one ends that was
    /// on the air while it sent.
    Missed(usize),
}

/// What became of a frame at its destination; for a frame to all, at the station it reached best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// It arrived.
    Received,
    /// It was lost by chance on the air.
    Errored,
    /// Its packet was lost for good: the sender is informed and does not try again.
    LostForGood,
    /// Another frame overlapped with it.
    Collided,
    /// The medium was down, or one of the two stations was not on it.
    CutOff,
    /// The station is too far away, or is not on this medium.
    OutOfReach,
}

/// What became of the frames of a station since the start. Frames lost for good count as errored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameCounters {
    /// Frames sent.
    pub sent: u64,
    /// Those that arrived.
    pub received: u64,
    /// Those lost by chance.
    pub errored: u64,
    /// Those lost by an outage.
    pub cut_off: u64,
    /// Those that another frame spoilt.
    pub collided: u64,
    /// Those whose destination was out of range.
    pub out_of_reach: u64,
}

#[derive(Clone, Copy, Debug)]
struct Transmission {
    to: Option<usize>,
    started: Time,
    /// The outages that it meets.
    cuts: u64,
}

/// A radio medium and the receivers on it.
#[derive(Clone, Debug)]
pub struct Radio {
    hearers: Hearers,
    receivers: Vec<Receiver>,
    sending: Vec<Option<Transmission>>,
    /// The draws for the frame that each station sends, where frames can be lost.
    attempts: Vec<Attempt>,
    counters: Vec<FrameCounters>,
    /// The station of each node, by node number.
    stations: Vec<Option<u32>>,
    rules: Rules,
    losses: Losses,
    /// The draws for the MPDUs that each station sends.
    drawn: Vec<Vec<Attempt>>,
    /// The stations of a frame to several that each station sends, and the number of their MPDUs.
    shares: Vec<Vec<aggregate::Share>>,
    /// When it is down, if it ever is.
    cuts: Option<Box<Cuts>>,
    /// Who follows the medium, if not all always do.
    followers: Option<Box<Followers>>,
    /// The number of frames on the air.
    on_air: usize,
    /// The frame that is alone on the air since it began, of which the receivers do not know.
    lone: Option<Lone>,
    /// Whether nothing changes who hears whom.
    stays: bool,
    memo: Memo,
}

impl Radio {
    /// A silent medium. Two sites of which one has no position hear each other at [`RadioConfig::flat_power_w`].
    #[must_use]
    pub fn new(config: &RadioConfig, sites: &[Site], base: StreamBase) -> Radio {
        let names = sites.iter().map(|site| site.name.clone()).collect();
        let hearers = Hearers::new(config, sites, &base);
        let losses = Losses::new(&config.errors, config.noise_w(), base, names);
        let lock_w = match config.reception {
            Reception::Ns2 { .. } => config.carrier_sense_threshold_w,
            Reception::Capture { .. } | Reception::Sinr { .. } => config.receive_threshold_w,
        };
        let rules = Rules {
            lock_w,
            lock_alone_w: config.preamble.map_or(lock_w, |least| lock_w.max(least * config.noise_w())),
            receive_w: config.receive_threshold_w,
            sense_w: config.carrier_sense_threshold_w,
            reception: config.reception,
            noise_w: config.noise_w(),
            by_parts: matches!(config.reception, Reception::Sinr { .. }) && losses.by_snr(),
            preamble: config.preamble,
        };
        let stays = hearers.stay();
        let may_rest = stays && !losses.any();
        let followers = if may_rest { Followers::of(config, &rules, sites).map(Box::new) } else { None };
        let most = sites.iter().map(|site| site.node.0 as usize + 1).max().unwrap_or(0);
        let mut stations = vec![None; most];
        for (number, site) in sites.iter().enumerate() {
            stations[site.node.0 as usize] = Some(number as u32);
        }
        Radio {
            hearers,
            receivers: vec![Receiver::default(); sites.len()],
            sending: vec![None; sites.len()],
            attempts: vec![Attempt::default(); sites.len()],
            counters: vec![FrameCounters::default(); sites.len()],
            stations,
            rules,
            losses,
            drawn: vec![Vec::new(); sites.len()],
            shares: vec![Vec::new(); sites.len()],
            cuts: None,
            followers,
            on_air: 0,
            lone: None,
            stays,
            memo: Memo::new(),
        }
    }

    /// Takes frames for lost that meet these outages. The medium is busy as without.
    pub fn cut_by(&mut self, cuts: Option<Cuts>) {
        self.cuts = cuts.map(Box::new);
        if self.cuts.is_some() {
            self.followers = None;
        }
    }

    /// Lets all receivers follow every frame, also those that stay alone on the air.
    pub fn let_all_follow(&mut self) {
        self.stays = false;
        self.followers = None;
    }

    /// Station `station` begins to send a frame. Those to which the medium turns busy are added to `heard`.
    ///
    /// # Panics
    /// When the station is sending already.
    pub fn start(
        &mut self,
        station: usize,
        frame: &Frame,
        airtime: Airtime,
        now: Time,
        heard: &mut Vec<Heard>,
    ) {
        assert!(self.sending[station].is_none(), "a station sends one frame at a time");
        let to = self.station(frame.receiver);
        if self.losses.any() && frame.mpdus == 0 {
            self.attempts[station] = self.losses.attempt(station, to, frame);
        }
        let ends = now.after(airtime.total);
        let cuts = self.cuts.as_mut().map_or(0, |cuts| cuts.mask(now, ends));
        self.sending[station] = Some(Transmission { to, started: now, cuts });
        self.hearers.refresh(station, now);
        self.counters[station].sent += 1;
        let bits = self.rules.by_parts.then(|| Bits {
            begin: now.after(airtime.preamble),
            end: ends,
            count: 8 * frame.bytes,
            modulation: Modulation::of_frame(frame),
        });
        let party = if frame.together { Some(frame.receiver) } else { None };
        self.on_air += 1;
        if self.on_air == 1 && self.stays {
            self.lone = Some(Lone { from: station as u32, began: now, ends, bits, party });
            self.begin_alone(station, heard);
            return;
        }
        self.meet_lone();
        let Radio { hearers, receivers, rules, memo, followers, .. } = self;
        receivers[station].mute(now, ends, rules, memo);
        for neighbour in audience(followers, hearers, station) {
            let arrival = Arrival { power_w: neighbour.power_w, ends, from: station as u32, party };
            let at = neighbour.station as usize;
            if at == station {
                continue;
            }
            match receivers[at].begin(arrival, bits.as_ref(), now, rules, memo) {
                Begun::Busy => heard.push(Heard::Busy(at)),
                Begun::Missed => heard.push(Heard::Missed(at)),
                Begun::Unnoticed => {}
            }
        }
    }

    /// Registers the MPDUs of the next frame of a station, or its shares of a PPDU to several stations.
    #[inline]
    pub fn load(&mut self, station: usize, frame: &Frame, load: &Load) {
        if !load.shares.is_empty() || !self.shares[station].is_empty() {
            self.share(station, load);
        }
        if frame.mpdus > 0 && self.losses.any() {
            self.draw(station, frame, &load.mpdus);
        }
    }

    /// As [`Radio::end_load`] for a frame without MPDUs.
    pub fn end(&mut self, station: usize, frame: &Frame, now: Time, heard: &mut Vec<Heard>) -> Option<Fate> {
        self.end_load(station, frame, &mut [], now, heard)
    }

    /// Station `station` has sent its frame; the host has kept it, and its MPDUs, in which it is noted what became of each. What its hearers learn is added to `heard` in the order
    /// of their numbers; of one station, the reception before the turn to idle.
    ///
    /// Returns what became of the frame, or `None` when the station was not sending.
    pub fn end_load(
        &mut self,
        station: usize,
        frame: &Frame,
        mpdus: &mut [Mpdu],
        now: Time,
        heard: &mut Vec<Heard>,
    ) -> Option<Fate> {
        let sent = self.sending[station].take()?;
        self.on_air -= 1;
        let is_lone = self.lone.take().is_some();
        let fate = if is_lone && sent.cuts == 0 && !self.losses.any() {
            self.end_alone(station, (frame, sent.to), heard)
        } else {
            if !is_lone {
                self.receivers[station].unmute();
            }
            self.end_judged((station, &sent, is_lone), (frame, mpdus), now, heard)
        };
        let counters = &mut self.counters[station];
        match fate {
            Fate::Received => counters.received += 1,
            Fate::Errored | Fate::LostForGood => counters.errored += 1,
            Fate::Collided => counters.collided += 1,
            Fate::CutOff => counters.cut_off += 1,
            Fate::OutOfReach => counters.out_of_reach += 1,
        }
        Some(fate)
    }

    /// Whether stations may rest: whoever does learns nothing of the frames that are alone on the air.
    #[inline]
    #[must_use]
    pub fn may_rest(&self) -> bool {
        self.followers.is_some()
    }

    /// Whether any station rests.
    #[inline]
    #[must_use]
    pub fn any_rests(&self) -> bool {
        self.followers.as_ref().is_some_and(|followers| !followers.are_all())
    }

    /// Whether no frame is on the air.
    #[inline]
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.on_air == 0
    }

    /// Dismisses those stations that may rest. The medium is silent.
    pub fn dismiss(&mut self, may_rest: impl FnMut(usize) -> bool) {
        debug_assert!(self.is_silent(), "no station rests while a frame is on the air");
        if let Some(followers) = &mut self.followers {
            followers.dismiss(may_rest);
        }
    }

    /// A station follows the medium from now on. It must before it sends, before a frame to it begins, and before a frame
    /// begins while another is on the air.
    pub fn follow(&mut self, station: usize) {
        debug_assert!(self.is_silent() || self.lone.is_some(), "all stations follow frames that overlap");
        if let Some(followers) = &mut self.followers {
            followers.add(station);
        }
    }

    /// Whether a packet that the MAC of `station` received from `from` is lost before it reaches the layer above.
    /// Called once for each packet passed up.
    pub fn loses_above(
        &mut self,
        from: NodeId,
        station: usize,
        class: PayloadClass,
        bytes: u32,
        now: Time,
    ) -> bool {
        match self.station(from) {
            Some(from) => self.losses.above((from, station), class, bytes, now),
            None => false,
        }
    }

    /// Whether nothing changes who hears whom.
    #[must_use]
    pub fn stays(&self) -> bool {
        self.stays
    }

    /// The station of a node, if it is on this medium.
    #[must_use]
    pub fn station(&self, node: NodeId) -> Option<usize> {
        self.stations.get(node.0 as usize).copied().flatten().map(|station| station as usize)
    }

    /// The ratio of signal to noise at which a node hears a station now.
    pub fn signal_to_noise(&mut self, from: usize, at: NodeId, now: Time) -> f64 {
        let Some(at) = self.station(at) else { return 0.0 };
        self.hearers.refresh(from, now);
        self.power_w(from, at) / self.rules.noise_w
    }

    /// The power at which one station hears the frames of another since it last began to send one, W; 0 if it is
    /// negligible.
    #[must_use]
    pub fn power_w(&self, from: usize, at: usize) -> f64 {
        self.hearers.power_w(from, at)
    }

    /// The same in dBm, for captures; `None` if it is negligible.
    #[must_use]
    pub fn power_dbm(&self, from: usize, at: usize) -> Option<f64> {
        let power_w = self.power_w(from, at);
        (power_w > 0.0).then(|| watts_to_dbm(power_w))
    }

    /// Whether the medium is busy to `at` while `from` sends; a station does hear itself in this sense.
    #[must_use]
    pub fn senses(&self, from: usize, at: usize) -> bool {
        from == at || self.power_w(from, at) >= self.rules.sense_w
    }

    /// What became of the frames that a station sent.
    #[must_use]
    pub fn counters(&self, station: usize) -> FrameCounters {
        self.counters[station]
    }
}

/// Those that hear a station and follow the medium, in order of their number; the station itself may be among them.
#[inline]
fn audience<'a>(
    followers: &'a mut Option<Box<Followers>>,
    hearers: &'a Hearers,
    station: usize,
) -> &'a [Neighbour] {
    match followers {
        Some(followers) if !followers.are_all() => followers.among(hearers, station),
        _ => hearers.of(station),
    }
}

/// The power at which one station hears another by their positions, W.
fn mean_power_w(config: &RadioConfig, from: Option<Point>, at: Option<Point>) -> f64 {
    match (from, at) {
        (Some((x0, y0)), Some((x1, y1))) => {
            propagation::received_power_w(config, libm::hypot(x1 - x0, y1 - y0))
        }
        _ => config.flat_power_w,
    }
}
