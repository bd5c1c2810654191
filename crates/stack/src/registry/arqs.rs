//! All link retransmission schemes (ARQ).

use std::convert::Infallible;

use super::{Entry, kinds};
use crate::hooks::parameter::{Described, Exception, Setting, Spec};
use crate::hooks::{Arq, ArqVerdict, Choice, Count, Newcomer, Timing, Unit, Waiting};
use crate::link::dot11;
use crate::schemes::dynamic_arq::{self, Deadline, DynamicArq, Estimator, TimingSource};
use crate::units::{Span, Time};

kinds! {
    /// How a link repeats unacknowledged frames.
    ArqKind, ArqConfig, ArqMachine;
    Fixed(Infallible), () = "fixed" as "standard ARQ", "IEEE 802.11-2012 (9.3.4.4)", "repeats the current frame up to the retry limits, then drops its packet";
    Dynamic(DynamicArq), dynamic_arq::Config = "dynamic" as "dynamic ARQ", "Mahmoodi et al. 2007", "orders fragments by retransmissions and by the time left until the timer of their TCP sender expires";
}

/// A station of an 802.11 link with any of these schemes.
pub type Station = dot11::Station<ArqMachine>;

impl ArqConfig {
    /// The scheme that selects frames, if any; a station that repeats the frame in service needs none.
    #[must_use]
    pub fn build(&self) -> Option<ArqMachine> {
        match self {
            ArqConfig::Fixed(()) => None,
            ArqConfig::Dynamic(config) => Some(ArqMachine::Dynamic(DynamicArq::new(config.options))),
        }
    }
}

/// How a link that requests the timing of TCP senders learns it.
#[derive(Clone, Debug)]
pub enum Learner {
    /// Not at all: the scheme does not use it.
    Nothing,
    /// From the host, whenever it changes.
    Oracle,
    /// From the host when a packet arrives; the packet then has its own deadline.
    OracleOfPackets,
    /// From passing packets.
    Packets(Box<Estimator>),
}

impl ArqConfig {
    /// How a station with this scheme learns the timing of senders, if it needs it.
    #[must_use]
    pub fn learner(&self) -> Option<Learner> {
        match self {
            ArqConfig::Fixed(()) => None,
            ArqConfig::Dynamic(config) if !config.options.knows_timers() => Some(Learner::Nothing),
            ArqConfig::Dynamic(config) => Some(match (config.timing, config.options.deadline) {
                (TimingSource::Oracle, Deadline::OfFlow) => Learner::Oracle,
                (TimingSource::Oracle, Deadline::OfPacket) => Learner::OracleOfPackets,
                (TimingSource::Estimate, _) => Learner::Packets(Box::new(Estimator::new(config.estimate()))),
            }),
        }
    }

    /// How long a receiver holds a packet while earlier ones are missing, if it does.
    #[must_use]
    pub fn reorder(&self) -> Option<Span> {
        match self {
            ArqConfig::Fixed(()) => None,
            ArqConfig::Dynamic(config) => config.reorder,
        }
    }

    /// Whether a scheme selects frames; without one, a station repeats the frame in service.
    #[must_use]
    pub fn chooses(&self) -> bool {
        self.build().is_some()
    }

    /// The counters specific to the scheme.
    #[must_use]
    pub fn counts(&self) -> Vec<Count> {
        self.build().map_or_else(Vec::new, |machine| machine.counts())
    }
}

macro_rules! each {
    ($machine:expr, $arq:ident => $call:expr) => {
        match $machine {
            ArqMachine::Fixed(never) => match *never {},
            ArqMachine::Dynamic($arq) => $call,
        }
    };
}

impl Arq for ArqMachine {
    fn on_timing(&mut self, flow: u32, timing: Timing) {
        each!(self, arq => arq.on_timing(flow, timing));
    }

    #[inline]
    fn fires_at(&self, flow: u32) -> Time {
        each!(self, arq => arq.fires_at(flow))
    }

    #[inline]
    fn takes_new(&self) -> bool {
        each!(self, arq => arq.takes_new())
    }

    #[inline]
    fn hold(&mut self, unit: Unit) -> ArqVerdict {
        each!(self, arq => arq.hold(unit))
    }

    fn withdraw(&mut self, packet: u32, fragment: u8) -> Option<Unit> {
        each!(self, arq => arq.withdraw(packet, fragment))
    }

    #[inline]
    fn next(&mut self, newcomer: Newcomer, now: Time) -> Option<Choice> {
        each!(self, arq => arq.next(newcomer, now))
    }

    fn is_empty(&self) -> bool {
        each!(self, arq => arq.is_empty())
    }

    fn waiting(&self, now: Time) -> Waiting {
        each!(self, arq => arq.waiting(now))
    }

    fn counts(&self) -> Vec<Count> {
        each!(self, arq => arq.counts())
    }
}
