//! A round trip that is drawn for a link is the one that its packets meet.

use crate::common::{chain, metric, ns2_tcp, run_replication, source};
use lasthop_sim::medium::path::RttLaw;
use lasthop_sim::model::{FlowConfig, LinkKind, SinkConfig, TransportConfig};
use lasthop_sim::traffic::AppKind;
use lasthop_stack::units::{Rate, Span};

#[test]
fn half_of_a_drawn_round_trip_adds_to_the_delay_each_way() {
    let set = Span::from_millis(7);
    let mut config = chain(&[(1_000_000_000, set)], ns2_tcp(), Span::from_secs(10));
    let LinkKind::PointToPoint(ends) = &mut config.links[0].kind else { panic!("a wired link") };
    ends.rtt = Some(RttLaw::Uniform { least: Span::from_millis(5), most: Span::from_millis(100) });
    let udp = |name: &str, from: usize, to: usize| FlowConfig {
        name: name.into(),
        group: None,
        from,
        to,
        app: source(AppKind::Cbr { rate: Rate(80_000), packet: 972 }),
        sink: SinkConfig::default(),
        transport: TransportConfig::Udp { extra_header: 0 },
        dscp: 0,
        encrypted: false,
        is_outside: false,
        reverse: None,
    };
    config.flows = vec![udp("there", 0, 1), udp("back", 1, 0)];
    let mut seen = Vec::new();
    for replication in 0..20 {
        let outcome = run_replication(&config, replication);
        let drawn = metric(&outcome, "links.l0.rtt_drawn_s");
        // 1000 bytes at 1 Gbit/s take 8 us.
        let expected = 8e-6 + set.as_secs() + drawn / 2.0;
        for flow in ["there", "back"] {
            let delay = metric(&outcome, &format!("flows.{flow}.delay_max_s"));
            assert!((delay - expected).abs() < 1.5e-9, "{flow}: {delay}, not {expected}");
        }
        seen.push(drawn);
    }
    let mean = seen.iter().sum::<f64>() / 20.0;
    // The mean of 20 has a deviation of 95 / sqrt(12 * 20) = 6.1 ms.
    assert!((mean - 0.0525).abs() < 0.025, "{seen:?}");
}
