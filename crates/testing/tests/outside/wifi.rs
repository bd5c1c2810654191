//! NewReno of quinn at the edge of range, in a wrapper that can halve the window twice where NewReno halves it once.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lasthop_testing::quinn::Quinn;
use lasthop_testing::quinn::quinn_proto::congestion::{Controller, ControllerFactory, NewRenoConfig};
use lasthop_testing::quinn::quinn_proto::{RttEstimator, TransportConfig};
use lasthop_testing::{Failure, Hop, Trial};

const HALVINGS: u32 = 1;
const BYTES: u64 = 5_000_000;

struct Law(u32);

impl ControllerFactory for Law {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        Box::new(Halving(self.0, Arc::new(NewRenoConfig::default()).build(now, mtu)))
    }
}

struct Halving(u32, Box<dyn Controller>);

impl Controller for Halving {
    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.1.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent: bool, lost: u64) {
        let window = self.1.window();
        self.1.on_congestion_event(now, sent, is_persistent, lost);
        for halving in 1..if self.1.window() < window { self.0 } else { 1 } {
            let later = now + Duration::from_nanos(halving.into());
            self.1.on_congestion_event(later, later, false, lost);
        }
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.1.on_mtu_update(mtu);
    }

    fn window(&self) -> u64 {
        self.1.window()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Halving(self.0, self.1.clone_box()))
    }

    fn initial_window(&self) -> u64 {
        self.1.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

pub(crate) fn trial(halvings: u32) -> Trial {
    let transport = move || {
        let mut transport = TransportConfig::default();
        transport.congestion_controller_factory(Arc::new(Law(halvings)));
        transport
    };
    Trial::over(Hop::named("edge-of-range"))
        .client(move |seed| Quinn::client(seed, transport()))
        .server(move |seed| Quinn::server(seed, transport()).writes(BYTES))
        .downloads(BYTES)
        .completes_within(Duration::from_secs(11))
}

#[test]
fn a_download_at_the_edge_of_range_takes_eleven_seconds_at_most() -> Result<(), Failure> {
    println!("{}", trial(HALVINGS).check()?);
    Ok(())
}
