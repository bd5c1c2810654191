//! One end of a connection at the station: a TCP connection, its timers, and the side to which it sends.

use super::{WIRED, Way};
use crate::hooks::{AgentOut, Out, Timer, Timers};
use crate::packet::{Body, Packet};
use crate::state_bytes::StateBytes;
use crate::transport::tcp::{Connection, Parts};
use crate::units::Time;

/// An end that the station owns.
#[derive(Clone, Debug)]
pub(super) struct Socket<P: Parts> {
    pub(super) tcp: Connection<P>,
    timers: Timers,
    way: Way,
}

impl<P: Parts> StateBytes for Socket<P> {
    /// What an end needs besides its data: numbers, windows, timers.
    const BYTES: u64 = 256;
}

impl<P: Parts> Socket<P> {
    /// An end that sends its packets to the side `way`.
    pub(super) fn new(tcp: Connection<P>, way: Way) -> Socket<P> {
        Socket { tcp, timers: Timers::default(), way }
    }

    /// Runs `act` on the connection.
    pub(super) fn act<O: AgentOut>(
        &mut self,
        made: &mut u64,
        out: &mut O,
        act: impl FnOnce(&mut Connection<P>, &mut Port<'_, O>),
    ) {
        let mut port = Port { out, timers: &mut self.timers, way: self.way, made };
        act(&mut self.tcp, &mut port);
    }

    /// When its first timer is due.
    pub(super) fn deadline(&self) -> Time {
        self.timers.first().unwrap_or(Time::NEVER)
    }

    /// Runs the timers that are due.
    pub(super) fn on_time(&mut self, now: Time, made: &mut u64, out: &mut impl AgentOut) {
        while let Some(timer) = self.timers.due(now) {
            self.act(made, out, |tcp, out| tcp.on_timer(timer, now, out));
        }
    }
}

/// Receives the output of a connection: packets leave the station at once.
pub(super) struct Port<'a, O> {
    out: &'a mut O,
    timers: &'a mut Timers,
    way: Way,
    /// Counts acknowledgements without data.
    made: &'a mut u64,
}

impl<O: AgentOut> Out for Port<'_, O> {
    fn down(&mut self, packet: Packet) {
        let is_bare = matches!(&packet.body, Body::Tcp(segment) if segment.sequence_len() == 0);
        *self.made += u64::from(is_bare);
        if self.way == WIRED {
            self.out.up(&packet);
        } else {
            self.out.down(&packet);
        }
    }

    fn set(&mut self, timer: Timer, at: Time) {
        self.timers.set(timer, at);
    }

    fn cancel(&mut self, timer: Timer) {
        self.timers.cancel(timer);
    }
}
