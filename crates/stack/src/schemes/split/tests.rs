//! The behaviour of a station with hand-made packets, and with two hosts over wires that a test controls.

mod end_to_end;
mod property;
mod scripts;
mod world;

use super::*;
use crate::hooks::Criterion;
use crate::registry::{Parts, VariantName};
use crate::units::{Bytes, SeqNo};

const HOST: NodeId = NodeId(1);
const STATION: NodeId = NodeId(2);
const MOBILE: NodeId = NodeId(3);
const HOST_PORT: u16 = 5000;
const MOBILE_PORT: u16 = 80;

fn ms(ms: u64) -> Span {
    Span::from_millis(ms)
}

/// A station whose mobile is the only node ahead, with a buffer of 8 kB and exact, short timers.
fn settings() -> Settings<VariantName> {
    Settings {
        criterion: Criterion::between([MOBILE], [HOST, STATION]),
        buffer: Bytes(8_000),
        min_rto: ms(200),
        max_flows: 2,
        ..Settings::new("newreno")
    }
}

fn indirect() -> Split<Parts> {
    Split::new(settings(), None)
}

const RULES: EndToEnd = EndToEnd { delay: Span::from_millis(100), silence: Some(Span::from_secs(1)) };

fn end_to_end() -> Split<Parts> {
    Split::new(settings(), Some(RULES))
}
