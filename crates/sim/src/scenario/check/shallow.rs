//! Checks of queues that are too short for the paths of their flows.

use super::Check;
use super::frames::largest_packet;
use crate::model::{Config, FlowConfig, PointToPoint, TransportConfig};
use crate::net::routes::Routes;
use crate::traffic::AppKind;
use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::registry::tcp;

/// The share of the capacity of a path below which a queue is too short. Reno, which halves its window, needs all of
/// it. CUBIC, which reduces it to 0.7, needs less than half.
const SHARE: f64 = 0.25;

/// What the direction of a link adds to a path.
#[derive(Clone, Copy)]
struct Stretch<'a> {
    link: &'a str,
    is_reverse: bool,
    bits_per_second: f64,
    delay_s: f64,
    /// Its drop-tail queue, if that may be the one that fills.
    queue: Option<QueueLimit>,
}

impl Check<'_> {
    /// A wire that is the narrowest link of a flow needs a queue that keeps it busy after a loss: the default may be too short for
    /// it. A queue that the scenario sets is left to it.
    pub(super) fn shallow(&mut self, config: &Config, routes: &Routes) {
        let stretches = stretches(config);
        for flow in &config.flows {
            let Some(window) = window_that_fills_queues(flow) else { continue };
            let path =
                |from, to| routes.path(from, to).into_iter().map(|(_, hop)| stretches[hop.port.0 as usize]);
            let delay_s: f64 =
                path(flow.from, flow.to).chain(path(flow.to, flow.from)).map(|stretch| stretch.delay_s).sum();
            let narrowest = path(flow.from, flow.to)
                .min_by(|one, other| one.bits_per_second.total_cmp(&other.bits_per_second));
            let Some((narrowest, queue)) = narrowest.and_then(|it| Some((it, it.queue?))) else { continue };
            let bits = 8.0 * f64::from(largest_packet(flow).1);
            let holds = narrowest.bits_per_second * delay_s / bits;
            let room = match queue {
                QueueLimit::Packets(packets) => f64::from(packets),
                QueueLimit::Bytes(bytes) => 8.0 * bytes.0 as f64 / bits,
                QueueLimit::Unlimited => f64::INFINITY,
            };
            let key = self.queue_key(narrowest.link, narrowest.is_reverse);
            let is_known =
                self.set_at(&key).is_some() || self.remarked.iter().any(|(_, other, _)| *other == key);
            if !is_known && room < SHARE * holds && window > holds {
                let text = format!(
                    "room for {room:.0} packets, where the path of flows.{} holds {holds:.0}: the link is idle after a loss",
                    flow.table()
                );
                self.remark(&key, text);
            }
        }
    }
}

/// For each port, what it adds to a path.
fn stretches(config: &Config) -> Vec<Stretch<'_>> {
    let mut stretches = Vec::new();
    for link in &config.links {
        let kind = &link.kind;
        let fills = link.aqm.is_none() && kind.wire().is_some_and(|ends| ends.sends.is_constant());
        let delay_s = |ends: &PointToPoint, port: usize| {
            let drawn_s = ends.rtt.map_or(0.0, |law| law.longest().as_secs() / 2.0);
            ends.directions[port].delay.as_secs() + drawn_s
        };
        stretches.extend(kind.ports().map(|port| Stretch {
            link: link.table(),
            is_reverse: kind.is_reverse(port),
            bits_per_second: kind.bps(port).unwrap_or(0.0),
            delay_s: kind.wire().map_or(0.0, |ends| delay_s(ends, port)),
            queue: kind.queue(port).filter(|_| fills),
        }));
    }
    stretches
}

/// The window in packets of a flow that sends as fast as it can until its packets are lost.
fn window_that_fills_queues(flow: &FlowConfig) -> Option<f64> {
    let (TransportConfig::Tcp(tcp), AppKind::Bulk) = (&flow.transport, &flow.app.kind) else { return None };
    tcp.parts.law.kind().fills_queues().then(|| window(tcp))
}

fn window(tcp: &tcp::Config) -> f64 {
    let buffer = tcp.receive_buffer.map_or(f64::INFINITY, |bytes| bytes as f64 / f64::from(tcp.packet));
    f64::from(tcp.window).min(buffer)
}
