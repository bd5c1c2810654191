//! Stations at rest are left out of the frames of a cell, and events of a medium follow at once: nothing is different for it.

use crate::common::run_once;
use lasthop_sim::scenario::Scenario;
use proptest::prelude::*;

/// How many cells; more in the soak.
const CASES: u32 = if option_env!("LASTHOP_SOAK").is_some() { 640 } else { 64 };

/// Stations around a hub, all of which receive each other, with traffic of several kinds.
fn cell(air: &str, (stations, radius_m): (u32, u32), flows: &str) -> String {
    format!(
        r#"
        [run]
        duration = "400 ms"
        [nodes]
        host = {{}}
        hub = {{ position = ["0 m", "0 m"] }}
        a = {{ position = ["0 m", "30 m"] }}
        b = {{ position = ["2 m", "0 m"] }}
        sta = {{ count = {stations}, around = "hub", place = {{ kind = "circle", circle = {{ radius = "{radius_m} m" }} }} }}
        [links.wire]
        kind = "wired"
        nodes = ["host", "hub"]
        rate = "50 Mbit/s"
        delay = "2 ms"
        [links.air]
        kind = "wifi"
        nodes = ["hub", "a", "b", "sta"]
        {air}
        {flows}
        "#
    )
}

const UP: &str = r#"
    [flows.up]
    from = "sta"
    to = "hub"
    app = { kind = "poisson", poisson = { rate = "RATE kbit/s", packet = "700 B" } }
"#;
const DOWN: &str = r#"
    [flows.down]
    from = "host"
    to = "sta"
    app = { kind = "file", file = { size = "40 kB" } }
"#;
const ONE: &str = r#"
    [flows.one]
    from = "a"
    to = "host"
    [flows.across]
    from = "b"
    to = "a"
    app = { kind = "poisson", poisson = { rate = "200 kbit/s", packet = "100 B" } }
"#;

/// A link of a MAC and a radio, and whether the access point relays.
fn air() -> impl Strategy<Value = String> {
    let standard = prop::sample::select(vec![
        "standard = \"802.11b\"\nflavour = \"ns2\"",
        "standard = \"802.11b\"",
        "standard = \"802.11a\"",
        "standard = \"802.11g\"\nrate = \"24 Mbit/s\"",
        "standard = \"802.11n\"\nmcs = 3",
        "standard = \"802.11ax\"\nmcs = 7\nwidth = \"40 MHz\"\nedca = { access-point = \"own\" }",
        "standard = \"802.11ac\"\nmcs = 2\naqm = { law = \"mac80211\" }",
    ]);
    let rts = prop::sample::select(vec!["", "rts-threshold = \"never\"", "rts-threshold = \"0 B\""]);
    let ap = prop::sample::select(vec!["", "access-point = \"hub\""]);
    let reception = prop::sample::select(vec![
        "",
        "reception = { model = \"capture\", capture = \"none\" }",
        "reception = { model = \"sinr\", least-sinr = 3, preamble = \"4 dB\" }",
    ]);
    let lines = (standard, rts, ap, reception);
    lines.prop_map(|(standard, rts, ap, reception)| [standard, rts, ap, reception].join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// By the plain path all stations are at work, and in a run with a limit on events each is one of the run loop.
    #[test]
    fn stations_at_rest_change_no_metric(
        air in air(),
        size in (3u32..24, prop::sample::select(vec![1, 20, 60, 110])),
        rate in prop::sample::select(vec![5, 60, 600]),
        parts in 1usize..8,
    ) {
        let up = UP.replace("RATE", &rate.to_string());
        let all = [&up[..], DOWN, ONE].into_iter().enumerate();
        let flows: String = all.filter(|(bit, _)| parts >> bit & 1 == 1).map(|(_, text)| text).collect();
        let text = cell(&air, size, &flows);
        let run = |set: &[(&str, &str)]| {
            let set: Vec<_> = set.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
            Scenario::from_text(&text, "cell.toml", &set).map(|scenario| run_once(&scenario.config(0)))
        };
        let rested = run(&[]).expect("the link is accepted");
        let stepped = run(&[("run.max-events", "1000000000")]).expect("a limit is accepted");
        prop_assert_eq!(rested.events, stepped.events);
        prop_assert_eq!(&rested.metrics, &stepped.metrics);
    }
}
