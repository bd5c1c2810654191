//! A load for the agent of an access point alone: the cost of the agent itself (lle-tcp/II.E).
//!
//! Packets of many flows pass in turn, as in a busy cell. Each is seen on its way to the link, reported as delivered,
//! and acknowledged. For one in ten the receiver's own acknowledgement comes over the air, and an ARQ proxy receives a
//! request for the acknowledgement of each. The same load without the agent gives the cost of making the packets.
//! Nothing here reads a clock; the caller does.

use std::hint::black_box;

use lasthop_stack::hooks::parameter::Setting;
use lasthop_stack::hooks::{Agent, AgentOut, Criterion};
use lasthop_stack::packet::{Body, Flags, NodeId, Options, Packet, Segment, Timestamps};
use lasthop_stack::registry::{AgentConfig, AgentMachine};
use lasthop_stack::schemes::arq_proxy;
use lasthop_stack::signal::Signal;
use lasthop_stack::units::{SeqNo, Span, Time};
use lasthop_stack::wire;

#[cfg(unix)]
use crate::live::{Attached, Ends, Taken};

const HOST: NodeId = NodeId(0);
const ACCESS_POINT: NodeId = NodeId(1);
/// The mobiles have the numbers from here on.
const FIRST_MOBILE: u32 = 2;
/// Flows beyond this number are further ports of the same mobiles.
const MOBILES: u32 = 250;
const FIRST_PORT: u16 = 10_000;
/// Payload of each packet, and the receivers' window.
const LEN: u32 = 1000;
const WINDOW: u16 = u16::MAX;
/// Packets of a flow for one acknowledgement that passes: half a window has three times as many.
const EACH: u32 = 10;
/// Bytes of the header of Ethernet.
#[cfg(unix)]
const LINK_HEADER: usize = 14;
/// All addresses of the load are in a network with this mask.
#[cfg(unix)]
const NETWORK: u32 = 0xFF00_0000;
/// Between two packets; that of a flow grows with the number of flows.
const STEP: Span = Span::from_micros(10);

/// Flows whose packets pass in turn.
#[derive(Debug)]
pub struct AgentLoad {
    under: Under,
    /// How far each flow has come, in bytes.
    sent: Vec<u32>,
    turn: usize,
    now: Time,
    out: Sink,
}

/// What the packets pass.
#[derive(Debug)]
enum Under {
    Nothing,
    Agent(AgentMachine),
    /// They become bytes, which pass nothing, or an agent at an interface.
    #[cfg(unix)]
    Bytes(Option<Box<Attached>>),
}

/// Receives what the agent sends.
#[derive(Clone, Debug, Default)]
struct Sink {
    up: u64,
    down: u64,
    timer: Option<Time>,
}

impl AgentOut for Sink {
    fn down(&mut self, packet: &Packet) {
        black_box(packet);
        self.down += 1;
    }
    fn up(&mut self, packet: &Packet) {
        black_box(packet);
        self.up += 1;
    }
    fn set_timer(&mut self, at: Time) {
        self.timer = Some(at);
    }
    fn cancel_timer(&mut self) {
        self.timer = None;
    }
}

#[cfg(unix)]
impl Ends for Sink {
    fn send(&mut self, bytes: &[u8], _: bool) -> Taken {
        black_box(bytes);
        self.down += 1;
        Taken::Yes
    }

    fn pass(&mut self, bytes: &[u8], _: bool) {
        black_box(bytes);
        self.up += 1;
    }
}

impl AgentLoad {
    /// The same packets as bytes, as a program at an interface has them: through safe LLE-TCP there, or through nothing.
    #[cfg(unix)]
    #[must_use]
    pub fn at_interface(scheme: Option<&AgentConfig>, flows: u32) -> AgentLoad {
        let net = u32::from_be_bytes(wire::address(HOST)) & NETWORK;
        let attached = |agent| Box::new(Attached::new(agent, vec![(net, NETWORK, true)], usize::MAX));
        AgentLoad::over(Under::Bytes(scheme.map(|scheme| attached(built(scheme, flows)))), flows)
    }

    /// This many flows after their handshakes, with such an agent or without one.
    #[must_use]
    pub fn new(scheme: Option<&AgentConfig>, flows: u32) -> AgentLoad {
        let under = scheme.map_or(Under::Nothing, |scheme| Under::Agent(built(scheme, flows)));
        AgentLoad::over(under, flows)
    }

    fn over(under: Under, flows: u32) -> AgentLoad {
        let mut load = AgentLoad {
            under,
            sent: vec![0; flows as usize],
            turn: 0,
            now: Time::ZERO,
            out: Sink::default(),
        };
        for flow in 0..flows {
            load.open(flow);
        }
        load
    }

    /// Passes this many data packets.
    pub fn run(&mut self, packets: u64) {
        for _ in 0..packets {
            self.now = self.now.after(STEP);
            self.wake();
            let flow = self.turn;
            self.turn = (flow + 1) % self.sent.len();
            let at = self.sent[flow];
            self.sent[flow] = at.wrapping_add(LEN);
            self.carry(&data(flow as u32, at, self.now));
            if (at / LEN).is_multiple_of(EACH) {
                self.up(&answer(flow as u32, at.wrapping_add(LEN), self.now));
            }
        }
    }

    /// Packets passed up and down since the handshakes began, those of the agent's own included.
    #[must_use]
    pub fn handed(&self) -> (u64, u64) {
        (self.out.up, self.out.down)
    }

    /// Bytes of state held now, and the most that were. Only LLE-TCP counts the former.
    #[must_use]
    pub fn state_bytes(&self) -> (u64, u64) {
        let of = |agent: &AgentMachine| match agent {
            AgentMachine::LleTcp(agent) => {
                let counters = agent.counters();
                (counters.state_bytes, counters.state_bytes_max)
            }
            agent => (agent.activity().state_bytes_max, agent.activity().state_bytes_max),
        };
        match &self.under {
            Under::Nothing => (0, 0),
            Under::Agent(agent) => of(agent),
            #[cfg(unix)]
            Under::Bytes(None) => (0, 0),
            #[cfg(unix)]
            Under::Bytes(Some(attached)) => {
                let ((now, most), kept) = (of(attached.agent()), attached.bytes());
                (now + kept, most + kept)
            }
        }
    }

    fn open(&mut self, flow: u32) {
        let stamps = Some(Timestamps { value: 0, echo: 0 });
        let options = Options {
            mss: Some(LEN as u16),
            window_scale: Some(0),
            sack_permitted: true,
            timestamps: stamps,
            ..Options::default()
        };
        let edit = |packet: Packet, flags, before: u32| -> Packet {
            let Body::Tcp(segment) = packet.body else { return packet };
            let seq = SeqNo(segment.seq.0.wrapping_sub(before));
            Packet { body: Body::Tcp(Segment { seq, flags, options, len: 0, ..segment }), ..packet }
        };
        self.carry(&edit(data(flow, 0, self.now), Flags::SYN, 1));
        self.up(&edit(answer(flow, 0, self.now), Flags::SYN.with(Flags::ACK), 1));
        self.carry(&edit(data(flow, 0, self.now), Flags::ACK, 0));
    }

    /// A packet goes to the link, which delivers it.
    fn carry(&mut self, packet: &Packet) {
        match &mut self.under {
            Under::Agent(agent) => {
                agent.down(packet, self.now, &mut self.out);
                agent.on_signal(Signal::Delivered, packet, self.now, &mut self.out);
                if let (AgentMachine::ArqProxy(agent), Some(request)) = (agent, arq_proxy::request(packet)) {
                    agent.on_rider(request, self.now, &mut self.out);
                }
            }
            Under::Nothing => self.out.down(packet),
            #[cfg(unix)]
            Under::Bytes(attached) => {
                let frame = framed(packet);
                let bytes = &frame[LINK_HEADER..];
                if let Some(attached) = attached {
                    attached.from_network(bytes, self.now, &mut self.out);
                    attached.reported(&frame, true, self.now, &mut self.out);
                } else {
                    self.out.send(bytes, true);
                }
            }
        }
    }

    fn up(&mut self, packet: &Packet) {
        match &mut self.under {
            Under::Agent(agent) => agent.up(packet, self.now, &mut self.out),
            Under::Nothing => self.out.up(packet),
            #[cfg(unix)]
            Under::Bytes(attached) => {
                let frame = framed(packet);
                let bytes = &frame[LINK_HEADER..];
                if let Some(attached) = attached {
                    attached.from_link(bytes, self.now, &mut self.out);
                } else {
                    self.out.pass(bytes, true);
                }
            }
        }
    }

    fn wake(&mut self) {
        match &mut self.under {
            Under::Agent(agent) => {
                while self.out.timer.is_some_and(|at| at <= self.now) {
                    self.out.timer = None;
                    agent.on_timer(self.now, &mut self.out);
                }
            }
            Under::Nothing => {}
            #[cfg(unix)]
            Under::Bytes(attached) => {
                if let Some(attached) = attached {
                    attached.wake(self.now, &mut self.out);
                }
            }
        }
    }
}

/// An agent with room for this many flows.
fn built(scheme: &AgentConfig, flows: u32) -> AgentMachine {
    let ahead = (FIRST_MOBILE..FIRST_MOBILE + MOBILES).map(NodeId);
    let mut scheme = scheme.clone();
    scheme.set("max-flows", Setting::Count(flows.into()));
    scheme.build(&Criterion::one_hop(ACCESS_POINT, ahead))
}

/// A packet of zeros in a frame of Ethernet.
#[cfg(unix)]
fn framed(packet: &Packet) -> Vec<u8> {
    let mut frame = vec![0; LINK_HEADER + packet.size().0 as usize];
    let written = wire::write(packet, 0, &mut frame[LINK_HEADER..]);
    debug_assert!(written.is_ok(), "its headers have bytes");
    frame
}

/// The addresses of a flow: the host's port, the mobile and its port.
fn ends(flow: u32) -> (u16, NodeId, u16) {
    let port = FIRST_PORT + (flow / MOBILES) as u16;
    (FIRST_PORT + (flow % MOBILES) as u16, NodeId(FIRST_MOBILE + flow % MOBILES), port)
}

fn stamps(now: Time) -> Options {
    let value = (now.0 / 1_000_000) as u32;
    Options { timestamps: Some(Timestamps { value, echo: value }), ..Options::default() }
}

/// A packet of the host with the data from `at` on.
fn data(flow: u32, at: u32, now: Time) -> Packet {
    let (src_port, mobile, dst_port) = ends(flow);
    let segment = Segment {
        src_port,
        dst_port,
        seq: SeqNo(at),
        ack: SeqNo(0),
        flags: Flags::ACK,
        window: WINDOW,
        len: LEN,
        options: stamps(now),
    };
    Packet::new(HOST, mobile, Body::Tcp(segment))
}

/// The mobile's acknowledgement of all below `at`.
fn answer(flow: u32, at: u32, now: Time) -> Packet {
    let (dst_port, mobile, src_port) = ends(flow);
    let segment = Segment {
        src_port,
        dst_port,
        seq: SeqNo(0),
        ack: SeqNo(at),
        flags: Flags::ACK,
        window: WINDOW,
        len: 0,
        options: stamps(now),
    };
    Packet::new(mobile, HOST, Body::Tcp(segment))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_stack::registry::AgentKind;
    use lasthop_stack::schemes::lle_tcp::{Config, Mode};

    fn lle(mode: Mode) -> AgentConfig {
        AgentConfig::LleTcp(Config::new(mode, Criterion::default()))
    }

    #[test]
    fn a_station_passes_all_data_once_and_a_proxy_makes_each_acknowledgement() {
        for (kind, each) in
            [(AgentKind::ProxyTcp, 4), (AgentKind::Snoop, 4), (AgentKind::Wtcp, 4), (AgentKind::ArqProxy, 40)]
        {
            let mut load = AgentLoad::new(Some(&kind.config()), 7);
            let opened = load.handed();
            load.run(7 * 40);
            let (up, down) = (load.handed().0 - opened.0, load.handed().1 - opened.1);
            assert_eq!((up, down), (7 * each, 7 * 40), "{kind:?}");
            assert!(load.state_bytes().1 > 7 * 100, "{kind:?}");
        }
    }

    #[test]
    fn as_bytes_at_an_interface_packets_pass_as_through_the_agent() {
        let safe = lle(Mode::Safe);
        let (mut inside, mut at_interface) =
            (AgentLoad::new(Some(&safe), 7), AgentLoad::at_interface(Some(&safe), 7));
        let mut bare = AgentLoad::at_interface(None, 7);
        let opened = bare.handed();
        for load in [&mut inside, &mut at_interface, &mut bare] {
            load.run(7 * 40);
        }
        assert_eq!(at_interface.handed(), inside.handed());
        assert_eq!(bare.handed(), (opened.0 + 7 * 4, opened.1 + 7 * 40));
        assert!(at_interface.state_bytes().1 > inside.state_bytes().1 + 7 * 1000, "with the bytes");
    }

    #[test]
    fn each_packet_is_acknowledged_once_by_the_agent_and_passes_alike_without_it() {
        for flows in [1, 7, 600] {
            let packets = u64::from(flows) * 40;
            for mode in [Mode::Paper, Mode::Safe] {
                let mut with = AgentLoad::new(Some(&lle(mode)), flows);
                let mut without = AgentLoad::new(None, flows);
                let opened = with.handed();
                assert_eq!(opened, without.handed());
                with.run(packets);
                without.run(packets);
                let (up, down) = (with.handed().0 - opened.0, with.handed().1 - opened.1);
                assert_eq!(down, packets, "{mode:?} {flows}: nothing is sent again");
                let own = packets / 10 * u64::from(mode == Mode::Paper);
                assert_eq!(up, packets + own, "{mode:?} {flows}");
                assert_eq!(without.handed(), (opened.0 + packets / 10, opened.1 + packets));
            }
        }
    }

    #[test]
    fn state_grows_with_the_flows_alone_and_in_proportion() {
        let most = |flows: u32, rounds: u64| {
            let mut load = AgentLoad::new(Some(&lle(Mode::Safe)), flows);
            load.run(u64::from(flows) * rounds);
            load.state_bytes().1
        };
        assert_eq!(most(50, 20), most(50, 200));
        let [few, many] = [most(10, 100), most(1000, 100)];
        assert!(many <= 100 * few && many > 90 * few, "{few} {many}");
    }
}
