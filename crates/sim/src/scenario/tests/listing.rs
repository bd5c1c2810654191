//! The results of a legal scenario: the listing of a point, its hash and its typed configuration.

use super::{BASE, changed, extended, read, resolved, with};
use crate::medium::loss::{LossConfig, PacketClass};
use crate::model::{LinkKind, PointToPoint, TransportConfig};
use crate::scenario::{Scenario, explain, keys, schema};
use crate::traffic::{AppKind, OnOffLaw};
use lasthop_stack::estimate::LowPass;
use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::registry::tcp::Config as Tcp;
use lasthop_stack::registry::{LawConfig, RecoveryKind};
use lasthop_stack::transport::congestion::{VegasConfig, WestwoodPlusConfig};
use lasthop_stack::units::{Bytes, Rate, Span, Time};
use serde_json::Value as Json;

fn ends(scenario: &Scenario, link: usize) -> PointToPoint {
    match &scenario.config(0).links[link].kind {
        LinkKind::PointToPoint(ends) => ends.clone(),
        LinkKind::Wifi(_) | LinkKind::Frn(_) => panic!("a link between two nodes"),
    }
}

const TCP: &str = "\n[flows.main.tcp]\nprofile = \"ns2-2004\"\nvariant = \"newreno\"\n";

fn tcp(scenario: &Scenario, point: usize) -> Tcp {
    match &scenario.config(point).flows[0].transport {
        TransportConfig::Tcp(tcp) => tcp.clone(),
        TransportConfig::Udp { .. } | TransportConfig::Quic(_) => panic!("a flow over TCP"),
    }
}

#[test]
fn every_value_of_a_point_is_listed_with_its_origin() {
    let scenario = with(BASE, &[("links.a-b.delay", "0.01 ms")]).unwrap();
    let of = |key: &str| resolved(&scenario, 0, key).unwrap_or_else(|| panic!("{key} is listed"));
    assert_eq!(of("run.duration"), ("10 s".into(), "file".into()));
    assert_eq!(of("run.warmup"), ("0 s".into(), "default".into()));
    assert_eq!(of("links.a-b.delay"), ("10 us".into(), "set".into()));
    assert_eq!(of("links.a-b.reverse.delay"), ("10 us".into(), "links.a-b.delay".into()));
    assert_eq!(of("flows.main.tcp.min-rto"), ("1 s".into(), "profile ns2-2004".into()));
    assert_eq!(of("flows.main.tcp.recovery"), ("newreno".into(), "variant newreno".into()));
    assert_eq!(resolved(&scenario, 0, "links.a-b.loss.rate"), None);
    assert_eq!(resolved(&scenario, 0, "flows.main.udp.extra-header"), None);
    let min_rto = scenario.resolved(0).into_iter().find(|line| line.key.ends_with("min-rto")).unwrap();
    assert!(min_rto.source.contains("RFC 2988 (2.4)"), "{}", min_rto.source);
}

#[test]
fn every_profiled_default_has_a_source() {
    for profile in ["ns2-2004", "modern"] {
        let scenario = with(BASE, &[("flows.main.tcp.profile", profile)]).unwrap();
        for line in scenario.resolved(0).iter().filter(|line| line.from.starts_with("profile")) {
            let without = line.key.ends_with("extra-header");
            assert!(without || !line.source.is_empty(), "{profile}: {}", line.key);
        }
    }
}

#[test]
fn the_profiles_reach_the_endpoint_unchanged() {
    use lasthop_stack::transport::tcp::Profile;
    let bare = changed(TCP, "[flows.main.tcp]\n");
    assert_eq!(tcp(&read(&bare).unwrap(), 0), Profile::Modern.config());
    let ns2 = with(&bare, &[("flows.main.tcp.profile", "ns2-2004")]).unwrap();
    assert_eq!(tcp(&ns2, 0), Profile::Ns2Of2004.config());
    assert_eq!(resolved(&ns2, 0, "flows.main.tcp.variant").unwrap().0, "newreno");
}

#[test]
fn recovery_overrides_its_part_of_the_variant_and_switches_sack_on() {
    let scenario = with(BASE, &[("flows.main.tcp.recovery", "sack")]).unwrap();
    let tcp = tcp(&scenario, 0);
    assert_eq!((tcp.parts.recovery, tcp.sack), (RecoveryKind::Sack, true));
    assert_eq!(resolved(&scenario, 0, "flows.main.tcp.sack"), Some(("true".into(), "recovery sack".into())));
}

#[test]
fn the_variant_westwood_rides_on_the_recovery_that_its_own_key_names() {
    let recovery = |overrides: &[(&str, &str)]| {
        let scenario = with(BASE, overrides).unwrap();
        (tcp(&scenario, 0).parts.recovery, resolved(&scenario, 0, "flows.main.tcp.recovery").unwrap())
    };
    let (variant, key) = (("flows.main.tcp.variant", "westwood"), "flows.main.tcp.westwood.recovery");
    for (word, kind) in [
        ("newreno", RecoveryKind::NewReno),
        ("reno", RecoveryKind::Reno),
        ("uninflated", RecoveryKind::Uninflated),
    ] {
        assert_eq!(recovery(&[variant, (key, word)]), (kind, (word.into(), key.into())));
    }
    assert_eq!(recovery(&[variant]), (RecoveryKind::NewReno, ("newreno".into(), key.into())));
    let overridden = recovery(&[variant, (key, "reno"), ("flows.main.tcp.recovery", "sack")]);
    assert_eq!(overridden, (RecoveryKind::Sack, ("sack".into(), "set".into())));
}

#[test]
fn the_constants_of_vegas_are_set_by_name_and_one_by_one() {
    let vegas = |overrides: &[(&str, &str)]| {
        let overrides = [&[("flows.main.tcp.variant", "vegas")], overrides].concat();
        let LawConfig::Vegas(vegas) = tcp(&with(BASE, &overrides).unwrap(), 0).parts.law else {
            panic!("Vegas")
        };
        vegas
    };
    // The profile here is ns-2's, which rounds.
    let rounded = |config| VegasConfig { rounded: true, ..config };
    assert_eq!(vegas(&[]), rounded(VegasConfig::NS2));
    assert_eq!(vegas(&[("flows.main.tcp.vegas.rounded-backlog", "false")]), VegasConfig::NS2);
    assert_eq!(vegas(&[("flows.main.tcp.profile", "modern")]), VegasConfig::NS2);
    let linux = ("flows.main.tcp.vegas.constants", "linux");
    assert_eq!(vegas(&[linux]), rounded(VegasConfig::LINUX));
    let set = rounded(VegasConfig { alpha: 1.5, ..VegasConfig::LINUX });
    assert_eq!(vegas(&[linux, ("flows.main.tcp.vegas.alpha", "1.5")]), set);
}

#[test]
fn the_filter_of_westwood_is_chosen_and_set() {
    let filter = |overrides: &[(&str, &str)]| {
        let overrides = [&[("flows.main.tcp.variant", "westwood")], overrides].concat();
        let law = tcp(&with(BASE, &overrides).unwrap(), 0).parts.law;
        let LawConfig::Westwood(westwood) = law else { panic!("Westwood") };
        westwood.filter
    };
    assert_eq!(filter(&[]), LowPass::Constant(19.0 / 21.0));
    assert_eq!(filter(&[("flows.main.tcp.westwood.alpha", "0.5")]), LowPass::Constant(0.5));
    let tustin = ("flows.main.tcp.westwood.filter", "tustin");
    assert_eq!(filter(&[tustin]), LowPass::Tustin(Span::from_millis(500)));
    let tau = ("flows.main.tcp.westwood.tau", "1 s");
    assert_eq!(filter(&[tustin, tau]), LowPass::Tustin(Span::from_secs(1)));
    let plus = ("flows.main.tcp.variant", "westwood-plus");
    let least = ("flows.main.tcp.westwood-plus.least-interval", "20 ms");
    let law = tcp(&with(BASE, &[plus, least]).unwrap(), 0).parts.law;
    let expected = WestwoodPlusConfig { least_interval: Span::from_millis(20) };
    assert_eq!(law, LawConfig::WestwoodPlus(expected));
}

#[test]
fn links_and_their_directions_are_typed() {
    let text = changed(
        "delay = \"40 ms\"",
        "delay = \"40 ms\"\nqueue = \"64 kB\"\nreverse = { rate = \"1 Mbit/s\", queue = \"unlimited\" }",
    );
    let scenario = read(&text).unwrap();
    let (first, second) = (ends(&scenario, 0), ends(&scenario, 1));
    let [forward, reverse] = &first.directions;
    assert_eq!(first.nodes, [0, 1]);
    assert_eq!((forward.rate, forward.delay), (Rate(5_000_000), Span::from_millis(40)));
    assert_eq!((reverse.rate, reverse.delay), (Rate(1_000_000), Span::from_millis(40)));
    assert_eq!((forward.queue, reverse.queue), (QueueLimit::Bytes(Bytes(64_000)), QueueLimit::Unlimited));
    assert_eq!((&forward.loss, &reverse.loss), (&LossConfig::None, &LossConfig::None));
    let lossy = &second.directions;
    assert_eq!((&lossy[0].loss, &lossy[1].loss), (&LossConfig::Packet { rate: 0.01 }, &LossConfig::None));
}

#[test]
fn loss_models_and_directions_are_typed() {
    let loss = |table: &str| {
        let text = changed(r#"{ rate = "1 %" }"#, table);
        ends(&read(&text).unwrap(), 1).directions.map(|direction| direction.loss)
    };
    let [forward, reverse] = loss(r#"{ model = "bit", direction = "both", bit = { ber = 1e-6 } }"#);
    assert_eq!(forward, LossConfig::Bit { ber: 1e-6 });
    assert_eq!(forward, reverse);
    let [forward, reverse] =
        loss(r#"{ model = "list", direction = "reverse", list = { drop = [2, 9], of = "ack" } }"#);
    assert_eq!(forward, LossConfig::None);
    assert_eq!(reverse, LossConfig::List { drop: vec![2, 9], of: PacketClass::Ack });
    let [forward, _] = loss(
        r#"{ model = "gilbert-elliott", gilbert-elliott = { good-to-bad = "0.1 %", bad-to-good = "25 %" } }"#,
    );
    let expected =
        LossConfig::GilbertElliott { loss_good: 0.0, loss_bad: 1.0, good_to_bad: 0.001, bad_to_good: 0.25 };
    assert_eq!(forward, expected);
}

#[test]
fn sources_are_typed_and_choose_their_transport() {
    let flow = |lines: &str| {
        let text = changed(TCP, lines);
        read(&text).unwrap().config(0).flows[0].clone()
    };
    let file = flow(
        "tcp = { packet = \"1000 B\" }\napp = { kind = \"file\", start = \"1 s\", file = { size = \"700 packets\" } }",
    );
    assert_eq!(
        (file.app.kind, file.app.start),
        (AppKind::File { size: Bytes(700_000) }, Time(1_000_000_000))
    );
    let cbr =
        flow("app = { kind = \"cbr\", stop = \"2 s\", cbr = { rate = \"1 Mbit/s\", packet = \"500 B\" } }");
    assert_eq!(cbr.app.kind, AppKind::Cbr { rate: Rate(1_000_000), packet: 500 });
    assert_eq!(cbr.app.stop, Some(Time(2_000_000_000)));
    assert!(matches!(cbr.transport, TransportConfig::Udp { extra_header: 0 }));
    let over_tcp = flow("app = { kind = \"poisson\", poisson = { rate = \"1 Mbit/s\" } }\ntcp = {}");
    assert!(matches!(over_tcp.transport, TransportConfig::Tcp(_)));
    let pareto =
        flow("app = { kind = \"on-off\", on-off = { rate = \"1 Mbit/s\", law = \"pareto\", shape = 1.2 } }");
    let AppKind::OnOff { law, on, .. } = pareto.app.kind else { panic!("an on-off source") };
    assert_eq!((law, on), (OnOffLaw::Pareto(1.2), Span::from_millis(500)));
}

#[test]
fn a_slow_reader_is_typed() {
    let sink = "sink = { buffer = \"64 kB\", read-rate = \"1 Mbit/s\", pause-at = \"2 s\", pause = \"3 s\" }";
    let scenario = read(&changed("to   = \"c\"", &format!("to = \"c\"\n{sink}"))).unwrap();
    assert_eq!(tcp(&scenario, 0).receive_buffer, Some(64_000));
    let sink = &scenario.config(0).flows[0].sink;
    assert_eq!(
        (sink.read_rate, sink.pause_at, sink.pause),
        (Some(Rate(1_000_000)), Some(Time(2_000_000_000)), Span::from_secs(3))
    );
}

#[test]
fn the_key_of_a_point_changes_with_its_values_only() {
    let key = |text: &str| read(text).unwrap().point_key(0);
    let base = key(BASE);
    assert_eq!(base.len(), 32);
    for same in [
        changed("title = \"three nodes\"", "title = \"other\"\nsummary = \"words\""),
        changed(
            "duration = \"10 s\"",
            "duration = \"10000 ms\"\nseed = 7\nreplications = 3\nmax-memory = \"1 GB\"",
        ),
        changed("delay = \"40 ms\"", "delay = \"0.04 s\"\nqueue = \"100 packets\" # the default"),
    ] {
        assert_eq!(key(&same), base);
    }
    for other in [
        changed("duration = \"10 s\"", "duration = \"11 s\""),
        changed("variant = \"newreno\"", "variant = \"reno\""),
        changed("delay = \"40 ms\"", "delay = \"41 ms\""),
    ] {
        assert_ne!(key(&other), base);
    }
}

#[test]
fn a_swept_value_and_the_same_value_set_by_hand_have_one_key() {
    let swept = read(&extended("[sweep]\n\"links.b-c.loss.rate\" = [\"3 %\", \"4 %\"]\n")).unwrap();
    let set = with(BASE, &[("links.b-c.loss.rate", "4 %")]).unwrap();
    assert_eq!(swept.point_key(1), set.point_key(0));
    assert_ne!(swept.point_key(0), swept.point_key(1));
}

#[test]
fn overrides_are_toml_where_they_can_be_and_words_otherwise() {
    let scenario = with(
        BASE,
        &[
            ("flows.main.tcp.timestamps", "true"),
            ("flows.main.tcp.ack-every", "2"),
            ("flows.main.tcp.variant", "\"reno\""),
            ("title", "2026"),
            ("links.b-c.loss", "{ rate = \"2 %\", direction = \"both\" }"),
            ("run.seed", "3"),
            ("run.seed", "4"),
        ],
    )
    .unwrap();
    assert_eq!((scenario.title(), scenario.seed()), ("2026".to_string(), 4));
    assert_eq!(resolved(&scenario, 0, "links.b-c.loss.direction").unwrap().0, "both");
    assert_eq!(tcp(&scenario, 0).ack_every, 2);
    assert_eq!(scenario.overrides().len(), 7);
}

#[test]
fn a_seed_of_any_length_is_the_one_that_was_given() {
    for seed in ["0", "7", "999999999999999", "1000000000000000", "9007199254740993", "999999999999999999"] {
        let scenario = with(BASE, &[("run.seed", seed)]).unwrap();
        assert_eq!(scenario.seed().to_string(), seed);
        assert_eq!(resolved(&scenario, 0, "run.seed").unwrap().0, seed);
    }
    let scenario = with(BASE, &[("run.seed", "1e15"), ("run.replications", "1e6")]).unwrap();
    assert_eq!((scenario.seed(), scenario.replications()), (1_000_000_000_000_000, 1_000_000));
}

#[test]
fn a_flow_without_a_table_of_its_transport_goes_over_what_its_application_needs() {
    let explained: Json = serde_json::from_str(&explain("flows.NAME.app.kind").unwrap()).unwrap();
    assert!(explained["meaning"].as_str().unwrap().contains("cbr, poisson, on-off and ping use udp"));
    for (kind, alone_over_udp) in
        [("cbr", true), ("poisson", true), ("on-off", true), ("bulk", false), ("file", false)]
    {
        for (table, over_udp) in [("", alone_over_udp), ("tcp = {}\n", false), ("udp = {}\n", true)] {
            // Datagrams have an end or a rate.
            if (kind, over_udp) == ("bulk", true) {
                continue;
            }
            let rate = match kind {
                "bulk" => String::new(),
                "file" => ", file = { size = \"10 kB\" }".to_string(),
                _ => format!(", {kind} = {{ rate = \"10 kbit/s\" }}"),
            };
            let app = format!("app = {{ kind = \"{kind}\"{rate} }}\n{table}");
            let config = read(&changed(TCP, &app)).unwrap().config(0);
            let is_udp = matches!(config.flows[0].transport, TransportConfig::Udp { .. });
            assert_eq!(is_udp, over_udp, "{kind} {table}");
        }
    }
}

#[test]
fn a_flow_that_starts_after_the_end_is_remarked() {
    let scenario = read(&changed("to   = \"c\"", "to   = \"c\"\napp  = { start = \"10 s\" }")).unwrap();
    assert_eq!(
        scenario.warnings(),
        [
            "x.toml:26: flows.main.app.start: the flow starts at 10 s, after the end of the run; expected an earlier time"
        ]
    );
}

#[test]
fn numeric_values_are_in_si_units() {
    let scenario = read(BASE).unwrap();
    assert_eq!(scenario.numeric("links.b-c.loss.rate", "1 %"), Some(0.01));
    assert_eq!(scenario.numeric("links.a-b.rate", "5 Mbit/s"), Some(5e6));
    assert_eq!(scenario.numeric("links.a-b.delay", "40 ms"), Some(0.04));
    assert_eq!(scenario.numeric("flows.main.tcp.ack-every", "2"), Some(2.0));
    assert_eq!(scenario.numeric("links.a-b.queue", "unlimited"), None);
    assert_eq!(scenario.numeric("flows.main.tcp.variant", "reno"), None);
    assert_eq!(scenario.numeric("no.such.key", "1 %"), None);
}

#[test]
fn keys_are_explained_by_name_by_pattern_and_by_a_unique_end() {
    let found: Vec<Json> = ["flows.main.tcp.min-rto", "flows.NAME.tcp.min-rto", "min-rto"]
        .iter()
        .map(|key| serde_json::from_str(&explain(key).unwrap()).unwrap())
        .collect();
    assert_eq!(found[0]["key"], "flows.NAME.tcp.min-rto");
    assert_eq!(found[0]["default"], "200 ms (modern); 1 s (rfc); 1 s (ns2-2004)");
    assert!(found.iter().all(|entry| *entry == found[0]));
    assert_eq!(
        explain("flows.main.tcp.minrto").unwrap_err().to_string().split(" (").next(),
        Some("flows.main.tcp.minrto: unknown key; did you mean \"min-rto\"?")
    );
    assert!(
        explain("rate")
            .unwrap_err()
            .to_string()
            .starts_with("rate: several keys; expected one of nodes.NAME.wifi.rate, links.NAME.rate")
    );
    let all: Vec<Json> = serde_json::from_str(&keys()).unwrap();
    assert!(all.len() > 70);
}

#[test]
fn the_schema_has_a_place_for_every_key() {
    let schema: Json = serde_json::from_str(&schema()).unwrap();
    let all: Vec<Json> = serde_json::from_str(&keys()).unwrap();
    for entry in &all {
        let mut at = &schema;
        for part in entry["key"].as_str().unwrap().split('.') {
            at = match part {
                "NAME" => &at["patternProperties"]["^[A-Za-z0-9_-]+$"],
                "figure" => &at["properties"]["figure"]["items"],
                _ => &at["properties"][part],
            };
        }
        assert_eq!(at["description"], entry["meaning"], "{}", entry["key"]);
    }
}
