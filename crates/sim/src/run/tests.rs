//! Behaviour that no outside test can see: packets that come to the wrong connection.

use super::{Request, World};
use crate::scenario::Scenario;
use lasthop_stack::packet::{Body, Flags, NodeId, Packet, Segment};
use lasthop_stack::units::Time;

const USER: &str = r#"[run]
duration = "10 s"

[nodes]
server = {}
phone  = {}

[links.air]
kind  = "wired"
nodes = ["server", "phone"]
rate  = "1 Mbit/s"
delay = "10 ms"

[flows.messages]
from = "server"
to   = "phone"
app  = { kind = "mail", pauses = "fixed", mail = { pause = "1 s" } }
"#;

/// The transfers of a run that receives a reset at `at`, from the ports of the connection of this number.
fn disturbed(at: Time, connection: u32) -> usize {
    let scenario = Scenario::from_text(USER, "user.toml", &[]).expect("a valid scenario");
    let config = scenario.config(0);
    let request = Request::new(&config, 1, 0);
    let mut world = World::new(&request).expect("a world");
    let mut reset = Some([0, 1].map(|side| world.net.ports.of(0, side, connection)));
    while let Some((time, slot)) = world.net.queue.peek().filter(|(time, _)| *time <= Time(10_000_000_000)) {
        if time > at
            && let Some([src_port, dst_port]) = reset.take()
        {
            let segment = Segment { src_port, dst_port, flags: Flags::RST, ..Segment::default() };
            let packet = Packet::new(NodeId(0), NodeId(1), Body::Tcp(segment));
            world.deliver(NodeId(1), &packet, packet.size());
        }
        world.net.set_clock(time);
        world.step(slot);
    }
    world.net.transfers.iter().filter(|transfer| transfer.ended.is_some()).count()
}

#[test]
fn what_is_late_of_one_connection_does_not_reach_the_next() {
    // The third message is under way at 2.2 s.
    let at = Time(2_150_000_000);
    assert_eq!(disturbed(at, 0), 10);
    assert_eq!(disturbed(at, 1), 10);
    assert_eq!(disturbed(at, 2), 2, "the connection itself is reset");
    assert_eq!(disturbed(at, 3), 10);
}
