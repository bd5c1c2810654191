//! The managed queues in front of channels: packets join one, and the channel takes the next when it can send it.
//!
//! A channel with such a queue is not a relay, because the law decides when a packet leaves. It may feed relays.

use lasthop_stack::hooks::DropCause;
use lasthop_stack::link::transmitter::Transmitter;
use lasthop_stack::packet::NodeId;

use super::pool::PoolId;
use super::{Net, traced};
use crate::probe::events::Why;

impl Net {
    /// A packet arrives now at the queue in front of a channel.
    pub(super) fn join(&mut self, number: usize, id: PoolId, is_ahead: bool) {
        let now = self.now;
        if self.channels[number].line.is_due(now) {
            // The capacity of this instant belongs to packets that arrived before.
            self.pull(number);
            self.channels[number].line.pass(now);
        }
        let near = self.near(number);
        let channel = &mut self.channels[number];
        let size = self.pool.get(id).1;
        if channel.polices(size, now) {
            self.refuse(number, id, Why::Policer);
            return;
        }
        let Some(stage) = &mut channel.stage else { return };
        let (packet, size) = self.pool.get(id);
        let packet = *packet;
        if let Some(below) = &mut self.below
            && packet.src == near
        {
            below.enters(&packet);
        }
        stage.enqueue((id, &packet, size), 0, is_ahead, channel.line.queue_at(now).backlog(), now);
        if self.tracer.links {
            traced::joining(&mut self.tracer, channel, &packet, now);
        }
        self.drop_staged(number);
        self.pull(number);
    }

    /// A channel takes the next packet of the queue in front of it.
    pub(crate) fn on_pull(&mut self, number: u32) {
        let channel = &self.channels[number as usize];
        let stack = channel.agents[0];
        self.queue.cancel(channel.pull);
        self.pull(number as usize);
        self.channels[number as usize].line.pass(self.now);
        if let Some(stack) = stack {
            self.settle(stack, number);
        }
    }

    /// A channel takes packets from the queue in front of it while it can send them.
    fn pull(&mut self, number: usize) {
        let now = self.now;
        loop {
            let channel = &mut self.channels[number];
            let Some(stage) = &mut channel.stage else { return };
            if stage.waiting().packets == 0 {
                self.queue.cancel(channel.pull);
                return;
            }
            let at = channel.line.ready_at(now);
            if at > now {
                self.queue.set(channel.pull, at);
                return;
            }
            let next = stage.dequeue(now);
            if let Some(queued) = next {
                let id = PoolId::from_handle(u64::from(queued.handle));
                stage.leaves(&queued, self.pool.packet_mut(id), now);
            }
            self.drop_staged(number);
            if let Some(queued) = next {
                let sequence = self.queue.next_sequence();
                let id = PoolId::from_handle(u64::from(queued.handle));
                let size = self.pool.get(id).1;
                let packet = self.below.as_ref().map(|_| *self.pool.packet(id));
                self.cross(number, id, size, now, sequence);
                let departure = self.channels[number].line.queue().last_departure();
                let near = self.near(number);
                if let Some(packet) = packet.filter(|packet| packet.src == near)
                    && let Some(below) = &mut self.below
                {
                    below.crosses(&packet, departure, &mut self.queue);
                }
            }
        }
    }

    /// The node from which packets enter a channel.
    fn near(&self, number: usize) -> NodeId {
        self.channels[number ^ 1].to
    }

    /// Loses what the law of the queue in front of a channel has dropped.
    fn drop_staged(&mut self, number: usize) {
        while let Some((id, cause)) =
            self.channels[number].stage.as_mut().and_then(|stage| stage.next_dropped())
        {
            self.channels[number].counters.drops_queue += u64::from(cause == DropCause::Full);
            let (near, packet) = (self.near(number), self.pool.packet(id));
            if let Some(below) = &mut self.below
                && packet.src == near
            {
                below.leaves(packet, &mut self.queue, self.now);
            }
            self.drop_at(number, id);
        }
    }
}
