//! One replication: two peers over the network of a scenario.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lasthop_peer::{LogWriter, Peer};
use lasthop_sim::engine::streams::Stream;
use lasthop_sim::live::{Network, Recorded};
use lasthop_sim::model::Config;
use lasthop_stack::packet::{Body, Datagram, Ecn, IP_HEADER, NodeId, Packet, UDP_HEADER};
use lasthop_stack::units::Time;
use lasthop_stack::wire::{Headers, parse};

/// What makes a peer from a seed.
pub(crate) type Maker = Box<dyn Fn(u64) -> Box<dyn Peer>>;

/// The longest UDP payload in an IP packet of 1500 B. Longer datagrams are lost, as by a path without fragmentation.
const LONGEST: usize = 1500 - (IP_HEADER + UDP_HEADER) as usize;
/// The ports of both ends.
const PORTS: [u16; 2] = [443, 50_000];
/// The files of their logs.
const LOGS: [&str; 2] = ["server.sqlog", "client.sqlog"];
/// A peer whose deadline is not after the present is called again this long after it.
const SOONEST: Duration = Duration::from_micros(1);

/// The end of the server, by the order in which nodes are bound.
pub(crate) const SERVER: usize = 0;
/// The end of the client.
pub(crate) const CLIENT: usize = 1;

/// What is replicated.
pub(crate) struct Experiment {
    pub(crate) config: Config,
    pub(crate) seed: u64,
    pub(crate) makers: [Maker; 2],
    /// The end that receives, and how much.
    pub(crate) receives: (usize, u64),
    /// The time that it may take.
    pub(crate) bound: Duration,
}

/// What came of a replication.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// When all had been delivered, if it was within the bound.
    pub(crate) completed: Option<Duration>,
    /// Bytes delivered.
    pub(crate) delivered: u64,
}

impl Experiment {
    /// Runs a replication; writes captures of all links and the logs of both peers to a folder, if one is given.
    pub(crate) fn run(&self, replication: u64, records: Option<&Path>) -> Result<Outcome, String> {
        let flow = self.config.flows.first().ok_or("flows: none; expected one between server and client")?;
        let nodes = [flow.from, flow.to];
        let begin = Duration::from_nanos(self.config.run.warmup.0);
        let pcap = records.map_or_else(Vec::new, |folder| self.captures(folder));
        let network = Network::new(
            &self.config,
            &nodes.map(|node| self.config.nodes[node].name.as_str()),
            time(begin + self.bound),
            None,
            (self.seed, replication),
            Recorded { pcap, ..Recorded::default() },
        );
        let draw = |end: &str| Stream::named(self.seed, replication, end).next_u64();
        let seeds = [draw("server"), draw("client")];
        let mut joined = Joined {
            network: network.map_err(|error| error.to_string())?,
            peers: [0, 1].map(|side: usize| (self.makers[side])(seeds[side])),
            nodes: nodes.map(|node| NodeId(node as u32)),
            begin,
            datagram: Vec::new(),
            packet: Vec::new(),
        };
        let logs = records.map(|folder| LOGS.map(|name| Written::new(folder.join(name))));
        for (peer, log) in joined.peers.iter_mut().zip(logs.iter().flatten()) {
            peer.log(log.writer());
        }
        let outcome = joined.run(self.bound, self.receives.0, self.receives.1);
        if let Some(logs) = logs {
            joined.network.finish().map_err(|error| error.to_string())?;
            logs.into_iter().try_for_each(Written::save)?;
        }
        Ok(outcome)
    }

    fn captures(&self, folder: &Path) -> Vec<(usize, PathBuf)> {
        let file = |name: &str| folder.join(format!("{name}.pcap"));
        self.config.links.iter().enumerate().map(|(number, link)| (number, file(&link.name))).collect()
    }
}

/// What a peer has logged, and the file for it.
struct Written {
    file: PathBuf,
    text: Arc<Mutex<Vec<u8>>>,
}

impl Written {
    fn new(file: PathBuf) -> Written {
        Written { file, text: Arc::default() }
    }

    fn writer(&self) -> LogWriter {
        let text = self.text.clone();
        Box::new(move |piece| text.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(piece))
    }

    /// Writes the file, unless the peer has no log.
    fn save(self) -> Result<(), String> {
        let text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        if text.is_empty() {
            return Ok(());
        }
        fs::write(&self.file, &*text).map_err(|error| format!("{}: {error}", self.file.display()))
    }
}

/// Two peers and the network between them.
struct Joined {
    network: Network,
    peers: [Box<dyn Peer>; 2],
    nodes: [NodeId; 2],
    /// When the peers start.
    begin: Duration,
    datagram: Vec<u8>,
    packet: Vec<u8>,
}

impl Joined {
    /// Runs until this has been received, or for as long as the bound; the times are those since the peers started.
    fn run(&mut self, bound: Duration, receiver: usize, wanted: u64) -> Outcome {
        let mut now = Duration::ZERO;
        self.network.advance(self.clock(now));
        let mut due = [true; 2];
        loop {
            for side in [CLIENT, SERVER] {
                if due[side] {
                    self.send(side, now);
                }
            }
            let delivered = self.peers[receiver].delivered();
            if delivered >= wanted {
                return Outcome { completed: Some(now), delivered };
            }
            let deadlines = self.peers.each_mut().map(|peer| peer.deadline().map(|at| at.max(now + SOONEST)));
            let event = self.network.next_at();
            let event = event.map(|at| Duration::from_nanos(at.0).saturating_sub(self.begin));
            let next = deadlines.into_iter().chain([event]).flatten().min();
            let Some(next) = next.filter(|next| *next <= bound) else {
                return Outcome { completed: None, delivered };
            };
            now = next.max(now);
            due = deadlines.map(|deadline| deadline.is_some_and(|at| at <= now));
            let clock = self.clock(now);
            self.network.advance(clock);
            while let Some((side, _, bytes)) = self.network.arrival() {
                if let Ok((packet, payload)) = parse(bytes, clock) {
                    self.peers[side].receive(now, payload, packet.ecn as u8);
                    due[side] = true;
                }
            }
        }
    }

    /// A peer sends what it has now.
    fn send(&mut self, side: usize, now: Duration) {
        let clock = self.clock(now);
        self.datagram.clear();
        while let Some(ecn) = self.peers[side].send(now, &mut self.datagram) {
            if self.datagram.len() <= LONGEST {
                let [src, dst] = [side, 1 - side];
                let datagram = Datagram {
                    src_port: PORTS[src],
                    dst_port: PORTS[dst],
                    len: self.datagram.len() as u32,
                    ..Datagram::default()
                };
                let packet = Packet::new(self.nodes[src], self.nodes[dst], Body::Udp(datagram));
                let packet = Packet { ecn: Ecn::of_bits(ecn), ..packet };
                let headers = Headers::over(&packet, 0, &self.datagram).expect("a datagram has a form");
                self.packet.clear();
                self.packet.extend_from_slice(headers.as_bytes());
                self.packet.extend_from_slice(&self.datagram);
                self.network.take(side, &self.packet, clock);
            }
            self.datagram.clear();
        }
    }

    /// The network's time.
    fn clock(&self, now: Duration) -> Time {
        time(self.begin + now)
    }
}

fn time(at: Duration) -> Time {
    Time(at.as_nanos() as u64)
}
