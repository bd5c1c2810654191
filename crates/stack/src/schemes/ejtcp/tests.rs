//! The formulas, the states of Fig. 3 and the table of Fig. 7; Fig. 2 is a test of the jitter ratio.

mod fig7;
mod formulas;
mod states;

use super::*;
use crate::hooks::Sending;
use crate::hooks::testing::{ack, loss};

/// An acknowledgement of a packet sent and received at these milliseconds, with this round trip.
fn stamped(sent: u64, received: u64, rtt: u64) -> Ack {
    let at = |ms: u64| Time(ms * 1_000_000);
    let echo = Echo {
        sent: at(sent),
        received: at(received),
        trigger: 0,
        sending: Sending::Single,
        modulation: None,
    };
    Ack { extension: Some(echo), rtt: Some(Span::from_millis(rtt)), ..ack(Progress::Unlimited(1)) }
}

/// Shows a law 40 packets sent 10 ms apart and received `apart` ms apart, all with this round trip.
fn see(law: &mut Ejtcp, apart: u64, rtt: u64, window: &mut Window) {
    for packet in 0..40 {
        law.on_ack(&stamped(10 * packet, 50 + apart * packet, rtt), window);
    }
}

/// Spacing at the receiver while a queue grows: a ratio of 2/12.
const QUEUEING: u64 = 12;
/// Spacing at the receiver while no queue grows.
const EMPTY: u64 = 10;

fn window() -> Window {
    Window::new(20.0, Some(10.0), 100.0)
}

/// A loss at this time, after `sent` segments were sent.
fn at(ms: u64, cause: LossCause, sent: u64) -> Loss {
    let srtt = Some(Span::from_millis(100));
    Loss { now: Time(ms * 1_000_000), srtt, una: ms, sent, ..loss(cause, 18) }
}
