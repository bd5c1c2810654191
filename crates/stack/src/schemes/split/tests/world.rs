//! Two hosts, one or two stations between them, and wires on which a test may lose packets.

use std::collections::VecDeque;

use super::*;
use crate::registry::tcp::{Config, Endpoint, Profile, Role};
use crate::registry::{ReactionKind, RecoveryKind};
use crate::transport::tcp::Connection;

/// Indices of the hops in each direction: first the hop of the host, then that of the mobile.
pub(super) const DOWN: [usize; 2] = [0, 2];
pub(super) const UP: [usize; 2] = [1, 3];
const WIRED_DELAY: Span = Span::from_millis(15);
const HOP_DELAY: Span = Span::from_millis(4);

#[derive(Default)]
struct Wires {
    /// From the host to the station and back, then from the station to the mobile and back.
    hops: [VecDeque<(Time, Packet)>; 4],
    timer: Option<Time>,
    now: Time,
}

impl AgentOut for Wires {
    fn down(&mut self, packet: &Packet) {
        self.hops[DOWN[1]].push_back((self.now.after(HOP_DELAY), *packet));
    }
    fn up(&mut self, packet: &Packet) {
        self.hops[UP[0]].push_back((self.now.after(WIRED_DELAY), *packet));
    }
    fn set_timer(&mut self, at: Time) {
        self.timer = Some(at);
    }
    fn cancel_timer(&mut self) {
        self.timer = None;
    }
}

pub(super) struct World {
    pub(super) host: Endpoint,
    pub(super) mobile: Endpoint,
    pub(super) station: Split<Parts>,
    wires: Wires,
    pub(super) now: Time,
    /// Whether the hop to the mobile is cut.
    pub(super) is_cut: bool,
    /// Packets so far, and those to lose, by hop and number.
    seen: [usize; 4],
    pub(super) lost: [Vec<usize>; 4],
}

impl World {
    /// The host opens; the mobile listens and reacts to events of its link.
    pub(super) fn new(station: Split<Parts>, reaction: ReactionKind) -> World {
        let like = Profile::Modern.config();
        let parts =
            Parts { recovery: RecoveryKind::NewReno, reaction: reaction.config(), ..like.parts.clone() };
        let config = Config { parts, packet: 1000, sack: false, window: 20, ..like };
        let ends = [(HOST, HOST_PORT), (MOBILE, MOBILE_PORT)];
        let end = |role, one: usize, iss| {
            Endpoint::new(Connection::new(&config, role, ends[one], ends[1 - one], SeqNo(iss)))
        };
        World {
            host: end(Role::Active, 0, u32::MAX - 5_000),
            mobile: end(Role::Passive, 1, 77),
            station,
            wires: Wires::default(),
            now: Time::ZERO,
            is_cut: false,
            seen: [0; 4],
            lost: Default::default(),
        }
    }

    /// Puts the packets of the hosts on their wires.
    fn collect(&mut self) {
        while let Some(packet) = self.host.poll_transmit() {
            self.wires.hops[DOWN[0]].push_back((self.now.after(WIRED_DELAY), packet));
        }
        while let Some(packet) = self.mobile.poll_transmit() {
            self.wires.hops[UP[1]].push_back((self.now.after(HOP_DELAY), packet));
        }
        if self.is_cut {
            self.wires.hops[DOWN[1]].clear();
            self.wires.hops[UP[1]].clear();
        }
    }

    pub(super) fn with_host(&mut self, act: impl FnOnce(&mut Endpoint, Time)) {
        act(&mut self.host, self.now);
        self.collect();
    }

    pub(super) fn with_mobile(&mut self, act: impl FnOnce(&mut Endpoint, Time)) {
        act(&mut self.mobile, self.now);
        self.collect();
    }

    /// An event of the hop, reported to the mobile and to the station.
    pub(super) fn link(&mut self, event: LinkEvent) {
        self.is_cut = event.begins_silence() || (self.is_cut && !event.ends_silence());
        self.collect();
        self.with_mobile(|mobile, now| mobile.act(|tcp, out| tcp.on_link(event, now, out)));
        self.wires.now = self.now;
        self.station.on_link(event, None, self.now, &mut self.wires);
        self.collect();
    }

    pub(super) fn restart(&mut self) {
        self.station.restart(self.now, &mut self.wires);
    }

    /// The mobile moves to a new station; its state takes this long to arrive.
    pub(super) fn hand_off(&mut self, other: Split<Parts>, takes: Span) {
        self.wires.now = self.now;
        self.mobile.act(|tcp, out| tcp.on_link(LinkEvent::HandoffBegins, self.now, out));
        let state = self.station.export(MOBILE, self.now, &mut self.wires);
        self.is_cut = true;
        self.collect();
        self.station = other;
        if state.is_some() {
            self.station.expect(MOBILE);
        }
        self.wires.timer = None;
        self.go_to(Span(self.now.0 + takes.0));
        self.is_cut = false;
        self.wires.now = self.now;
        self.with_mobile(|mobile, now| {
            mobile.act(|tcp, out| tcp.on_link(LinkEvent::HandoffEnds, now, out));
        });
        if let Some(state) = state {
            self.station.import(state, self.now, &mut self.wires);
        }
        self.collect();
    }

    fn next(&self) -> Option<Time> {
        let arrivals = self.wires.hops.iter().filter_map(|hop| hop.front().map(|sent| sent.0));
        let timers = [self.host.poll_timeout(), self.mobile.poll_timeout(), self.wires.timer];
        arrivals.chain(timers.into_iter().flatten()).min()
    }

    fn step(&mut self, at: Time) {
        self.now = self.now.max(at);
        self.wires.now = self.now;
        let now = self.now;
        for hop in 0..4 {
            if self.wires.hops[hop].front().is_none_or(|sent| sent.0 > now) {
                continue;
            }
            let (_, packet) = self.wires.hops[hop].pop_front().expect("a packet");
            let number = self.seen[hop];
            self.seen[hop] += 1;
            if !self.lost[hop].contains(&number) {
                match hop {
                    0 => self.station.down(&packet, now, &mut self.wires),
                    1 => self.host.on_packet(&packet, now),
                    2 => self.mobile.on_packet(&packet, now),
                    _ => self.station.up(&packet, now, &mut self.wires),
                }
            }
            return self.collect();
        }
        if self.wires.timer.is_some_and(|at| at <= now) {
            self.wires.timer = None;
            self.station.on_timer(now, &mut self.wires);
        } else if self.host.poll_timeout().is_some_and(|at| at <= now) {
            self.host.on_timeout(now);
        } else {
            self.mobile.on_timeout(now);
        }
        self.collect();
    }

    /// Runs until `at`, calling `check` at each instant.
    pub(super) fn go_to_with(&mut self, at: Span, check: impl Fn(&World)) {
        for _ in 0..2_000_000 {
            let Some(next) = self.next().filter(|next| next.0 <= at.0) else {
                self.now = Time(at.0);
                return;
            };
            self.step(next);
            check(self);
        }
        panic!("it does not end");
    }

    pub(super) fn go_to(&mut self, at: Span) {
        self.go_to_with(at, |_| {});
    }

    /// How many bytes of the host have been acknowledged to it, and have arrived at the mobile.
    pub(super) fn of_host(&self) -> (u64, u64) {
        (self.host.connection().sender().board().una(), self.mobile.connection().receiver().next())
    }

    /// The same for the bytes of the mobile.
    pub(super) fn of_mobile(&self) -> (u64, u64) {
        (self.mobile.connection().sender().board().una(), self.host.connection().receiver().next())
    }

    /// The host opens, and both write this many bytes.
    pub(super) fn opened(station: Split<Parts>, reaction: ReactionKind, bytes: [u64; 2]) -> World {
        let mut world = World::new(station, reaction);
        world.with_host(|host, now| {
            host.act(|tcp, out| {
                tcp.close_by_hand();
                tcp.open(now, out);
                tcp.write(bytes[0], now, out);
            });
        });
        world.with_mobile(|mobile, now| {
            mobile.act(|tcp, out| {
                tcp.close_by_hand();
                tcp.write(bytes[1], now, out);
            });
        });
        world
    }

    pub(super) fn close(&mut self) {
        self.with_host(|host, now| host.act(|tcp, out| tcp.close(now, out)));
        self.with_mobile(|mobile, now| mobile.act(|tcp, out| tcp.close(now, out)));
    }
}
