//! Laws and agents of the host: names that a program adds, in a process of its own, because the list belongs to the
//! process. Also flows that an agent outside the run steers.

use lasthop_sim::model::{Config, TransportConfig};
use lasthop_sim::scenario::Scenario;
use lasthop_sim::scenario::hosted::{self, HostedAgent, HostedLaw};
use lasthop_sim::steered::{Action, Every, SteeredRun};
use lasthop_sim::{Request, run};
use lasthop_stack::hooks::{Activity, Agent, AgentOut, Needs};
use lasthop_stack::packet::Packet;
use lasthop_stack::registry::{Custom, CustomAgentConfig, LawConfig, Parts, RecoveryKind};
use lasthop_stack::signal::Signal;
use lasthop_stack::transport::congestion::Reno;
use lasthop_stack::units::Time;

const BASE: &str = r#"
[run]
duration = "10 s"
[nodes]
a = {}
b = {}
[links.wire]
kind  = "lossy"
nodes = ["a", "b"]
rate  = "2 Mbit/s"
delay = "20 ms"
loss  = { rate = "1 %" }
[flows.main]
from = "a"
to   = "b"
app  = { kind = "bulk" }
[agents.x]
kind = "none"
node = "a"
link = "wire"
"#;

fn with(overrides: &[(&str, &str)]) -> Result<Scenario, String> {
    let pair = |(key, value): &(&str, &str)| ((*key).to_string(), (*value).to_string());
    let overrides: Vec<_> = overrides.iter().map(pair).collect();
    Scenario::from_text(BASE, "x.toml", &overrides).map_err(|error| error.to_string())
}

fn parts(config: &Config) -> &Parts {
    match &config.flows[0].transport {
        TransportConfig::Tcp(tcp) => &tcp.parts,
        TransportConfig::Udp { .. } | TransportConfig::Quic(_) => panic!("not over TCP"),
    }
}

fn law(name: &str, identity: &str) -> HostedLaw {
    let (name, identity) = (name.to_string(), identity.to_string());
    HostedLaw { name, recovery: RecoveryKind::NewReno, identity, law: Custom::new(|_| Reno) }
}

#[test]
fn a_law_of_the_host_is_a_variant_and_a_law_and_its_identity_is_a_part_of_the_key() {
    hosted::register(law("hosted-a", "one")).unwrap();
    let variant = with(&[("flows.main.tcp.variant", "hosted-a")]).unwrap();
    let config = variant.config(0);
    assert_eq!(parts(&config).recovery, RecoveryKind::NewReno);
    assert!(matches!(parts(&config).law, LawConfig::Custom(_)));
    let alone = with(&[("flows.main.tcp.congestion", "hosted-a")]).unwrap();
    assert!(matches!(parts(&alone.config(0)).law, LawConfig::Custom(_)));
    let before = variant.point_key(0);
    hosted::register(law("hosted-a", "one")).unwrap();
    assert_eq!(variant.point_key(0), before);
    hosted::register(law("hosted-a", "two")).unwrap();
    assert_ne!(variant.point_key(0), before);
}

/// Loses each packet that leaves by its interface, after the first so many.
#[derive(Clone, Debug)]
struct Closing(u64);

impl Agent for Closing {
    fn down(&mut self, packet: &Packet, _now: Time, out: &mut impl AgentOut) {
        if self.0 > 0 {
            self.0 -= 1;
            out.down(packet);
        }
    }

    fn up(&mut self, packet: &Packet, _now: Time, out: &mut impl AgentOut) {
        out.up(packet);
    }

    fn on_signal(&mut self, _: Signal, _: &Packet, _: Time, _: &mut impl AgentOut) {}

    fn on_timer(&mut self, _: Time, _: &mut impl AgentOut) {}

    fn activity(&self) -> Activity {
        Activity::default()
    }
}

fn agent(name: &str, identity: &str, most: u64) -> HostedAgent {
    let (name, identity) = (name.to_string(), identity.to_string());
    let agent = CustomAgentConfig::new(Needs::default(), move |_| Closing(most));
    HostedAgent { name, identity, agent }
}

#[test]
fn an_agent_of_the_host_is_a_kind_in_scenarios_and_its_identity_is_a_part_of_the_key() {
    let at = [("agents.x.kind", "hosted-agent")];
    let goodput = |scenario: &Scenario| {
        let config = scenario.config(0);
        let metrics = run(&Request::new(&config, 1, 0)).unwrap().metrics;
        metrics.iter().find(|(name, _)| name == "flows.main.goodput_bps").unwrap().1.unwrap()
    };
    assert!(with(&at).is_err(), "before it is registered");
    hosted::register_agent(agent("hosted-agent", "one", u64::MAX)).unwrap();
    let scenario = with(&at).unwrap();
    let (open, before) = (goodput(&scenario), scenario.point_key(0));
    assert_eq!(open, goodput(&with(&[]).unwrap()));
    hosted::register_agent(agent("hosted-agent", "two", 20)).unwrap();
    assert_ne!(scenario.point_key(0), before);
    assert!(goodput(&with(&at).unwrap()) < open / 10.0);
    let unknown = with(&[("agents.x.kind", "hosted-agen")]).unwrap_err();
    assert!(unknown.contains("did you mean \"hosted-agent\"?"), "{unknown}");
    let taken = hosted::register_agent(agent("snoop", "", 0)).unwrap_err();
    assert_eq!(taken, "\"snoop\" is an agent of lasthop; expected another name");
    assert!(hosted::register_agent(agent("custom", "", 0)).is_err());
    assert!(hosted::register_agent(agent("My_agent", "", 0)).unwrap_err().contains("such as my-agent"));
}

#[test]
fn a_name_of_lasthop_or_with_other_signs_is_refused_and_an_unknown_one_has_a_near_one() {
    let taken = hosted::register(law("cubic", "")).unwrap_err();
    assert_eq!(taken, "\"cubic\" is a law or variant of lasthop; expected another name");
    for name in ["", "Mine", "my_law", "1st", "-x"] {
        assert!(hosted::register(law(name, "")).unwrap_err().contains("lower-case letters"), "{name}");
    }
    hosted::register(law("hosted-b", "")).unwrap();
    let unknown = with(&[("flows.main.tcp.variant", "hosted-bb")]).unwrap_err();
    assert!(unknown.contains("did you mean \"hosted-b\"?"), "{unknown}");
    assert!(hosted::forget("hosted-b") && !hosted::forget("hosted-b"));
    assert!(with(&[("flows.main.tcp.variant", "hosted-b")]).is_err());
}

#[test]
fn a_hosted_law_gives_the_metrics_of_the_same_law_of_the_registry() {
    hosted::register(law("hosted-c", "")).unwrap();
    let metrics = |name| {
        let config = with(&[("flows.main.tcp.variant", name)]).unwrap().config(0);
        run(&Request::new(&config, 1, 0)).unwrap().metrics
    };
    assert_eq!(metrics("hosted-c"), metrics("newreno"));
}

fn steered(every: Every, action: Action) -> (Vec<[f64; 12]>, f64) {
    let config = with(&[]).unwrap().config(0);
    let mut run = SteeredRun::new(&config, 0, every, 1);
    let mut seen = Vec::new();
    let mut is_on = run.reset(0).unwrap();
    while is_on {
        seen.push(run.observation());
        is_on = run.step(action);
    }
    let outcome = run.finish().unwrap().expect("a run");
    let goodput = outcome.metrics.iter().find(|(name, _)| name == "flows.main.goodput_bps").unwrap().1;
    (seen, goodput.unwrap())
}

#[test]
fn a_decision_is_due_at_each_acknowledgement_or_once_a_round_trip() {
    let keep = Action { multiply: 1.0, add: 0.0 };
    let (acks, _) = steered(Every::Ack, keep);
    let (rounds, _) = steered(Every::RoundTrip, keep);
    assert!(acks.iter().all(|seen| seen[7] == 1.0), "an acknowledgement each");
    assert!(acks.len() > 3 * rounds.len(), "{} {}", acks.len(), rounds.len());
    // Apart from losses, a round trip passes between two decisions.
    let long = rounds[1..].iter().filter(|seen| seen[1] >= 0.04).count();
    assert!(long * 10 > rounds.len() * 8, "{long} of {}", rounds.len());
    // What is acknowledged at a decision left after the one before: its round trip is no longer than the time between.
    let stale = rounds[1..].iter().filter(|seen| seen[1] < seen[4]).count();
    assert!(stale * 10 < rounds.len(), "{stale} of {}", rounds.len());
    assert_eq!(steered(Every::RoundTrip, keep).0, rounds);
}

#[test]
fn what_the_agent_decides_is_the_window_at_the_next_acknowledgement() {
    let (grown, _) = steered(Every::Ack, Action { multiply: 1.0, add: 0.5 });
    let of = |seen: &[f64; 12]| seen[2];
    let steps = grown.windows(2).filter(|pair| of(&pair[1]) == of(&pair[0]) + 0.5).count();
    assert!(steps > 50, "{steps}");
    let (slow, least) = steered(Every::RoundTrip, Action { multiply: 0.0, add: 1.0 });
    assert!(slow[2..].iter().all(|seen| of(seen) == 1.0));
    let (_, more) = steered(Every::RoundTrip, Action { multiply: 0.0, add: 12.0 });
    assert!(more > 2.0 * least, "{more} {least}");
}
