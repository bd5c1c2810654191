//! The congestion laws end to end: what their papers say of simple paths.

mod common;

use common::{chain, metric, ns2_tcp, run_once};
use lasthop_sim::Outcome;
use lasthop_stack::registry::variant;
use lasthop_stack::transport::congestion::{Laws, VegasConfig};
use lasthop_stack::transport::tcp;
use lasthop_stack::units::Span;

/// TCP of this variant, otherwise as ns-2's.
fn tcp_of(name: &str) -> tcp::Config {
    let variant = variant(name).unwrap();
    tcp::Config { recovery: variant.recovery, congestion: variant.congestion, ..ns2_tcp() }
}

/// A flow alone behind a bottleneck of 5 Mbit/s, round trip 90 ms, from 20 to 100 s.
fn alone(tcp: tcp::Config) -> Outcome {
    let links = [(100_000_000, Span::from_millis(5)), (5_000_000, Span::from_millis(40))];
    let mut config = chain(&links, tcp, Span::from_secs(100));
    config.run.warmup = Span::from_secs(20);
    run_once(&config)
}

#[test]
fn vegas_alone_keeps_between_alpha_and_beta_segments_queued_and_the_link_busy() {
    for vegas in [VegasConfig::NS2, VegasConfig::LINUX] {
        let laws = Laws { vegas, ..Laws::default() };
        let outcome = alone(tcp::Config { laws, ..tcp_of("vegas") });
        let held = metric(&outcome, "links.l1.queue_mean_packets");
        // The segment being sent waits for nobody: the least round trip holds its time, too.
        let queued = held - metric(&outcome, "links.l1.utilisation");
        assert!((vegas.alpha..=vegas.beta).contains(&queued), "{queued} with {vegas:?}");
        let goodput = metric(&outcome, "flows.main.goodput_bps");
        assert!(goodput > 0.999 * 5e6 * 1000.0 / 1040.0, "{goodput}");
        assert_eq!(metric(&outcome, "links.l1.drops_queue"), 0.0);
    }
}
