//! What trials refuse, and what they say.

use std::time::Duration;

use lasthop_testing::{Failure, Hop, Peer, Trial};

const HOP: &str = r#"
[run]
duration = "10 s"
[nodes]
a = {}
b = {}
[links.air]
kind  = "lossy"
nodes = ["a", "b"]
rate  = "8 Mbit/s"
delay = "10 ms"
loss  = { rate = "50 %" }
[flows.main]
from = "a"
to   = "b"
"#;

/// Sends one datagram of this length at the start, without making sure of it.
struct Once {
    length: usize,
    delivered: u64,
}

impl Once {
    fn new(length: usize) -> Once {
        Once { length, delivered: 0 }
    }
}

impl Peer for Once {
    fn receive(&mut self, _now: Duration, datagram: &[u8], ecn: u8) {
        assert_eq!(ecn, 0b10, "ECT(0), as it was sent");
        self.delivered += datagram.len() as u64;
    }

    fn send(&mut self, _now: Duration, into: &mut Vec<u8>) -> Option<u8> {
        let length = std::mem::take(&mut self.length);
        into.resize(length, 7);
        (length > 0).then_some(0b10)
    }

    fn deadline(&mut self) -> Option<Duration> {
        None
    }

    fn delivered(&self) -> u64 {
        self.delivered
    }
}

fn over(hop: Hop, length: usize) -> Trial {
    let trial = Trial::over(hop).client(|_| Once::new(0)).server(move |_| Once::new(length));
    trial.downloads(length as u64).folder(env!("CARGO_TARGET_TMPDIR"))
}

fn trial(length: usize) -> Trial {
    over(Hop::text(HOP), length).completes_within(Duration::from_millis(11))
}

#[test]
fn half_of_the_datagrams_are_lost_and_the_others_take_their_time_on_the_wire() {
    let Err(Failure::Missed(report)) = trial(972).check() else { panic!("half of them are lost") };
    // A datagram of 972 B is a packet of 1000 B.
    assert!(report.times.iter().all(|time| *time == Duration::from_millis(11)), "{report}");
    assert!(!report.times.is_empty());
    let kept = trial(972).at_most(20).percentile(50.0).check();
    assert!(matches!(&kept, Err(Failure::Undecided(report)) if report.replications == 20), "{kept:?}");
}

#[test]
fn a_datagram_that_is_longer_than_the_path_takes_is_lost() {
    let sure = |length: usize| {
        let hop = Hop::text(HOP).set("links.air.loss.rate", "0 %");
        over(hop, length).completes_within(Duration::from_secs(1)).check()
    };
    assert!(sure(1472).is_ok());
    assert!(matches!(sure(1473), Err(Failure::Missed(report)) if report.times.is_empty()));
}

#[test]
fn what_is_missing_or_wrong_is_said() {
    let text = |trial: Trial| trial.check().expect_err("an invalid trial").to_string();
    let unbound = Trial::over(Hop::text(HOP)).client(|_| Once::new(0)).downloads(1);
    assert_eq!(text(unbound), "completes_within: missing; expected a call of .completes_within(…)");
    let alone = Trial::over(Hop::text(HOP)).client(|_| Once::new(0)).downloads(1);
    let alone = alone.completes_within(Duration::from_secs(1));
    assert_eq!(text(alone), "server: missing; expected a call of .server(…)");
    assert_eq!(text(trial(1).percentile(100.0)), "percentile: 100; expected one between 0 and 100");
    assert_eq!(text(trial(1).confidence(95.0)), "confidence: 95; expected one between 0.5 and 1, as 0.95");
    let unknown = Trial::over(Hop::named("motel")).client(|_| Once::new(0)).server(|_| Once::new(1));
    let unknown = text(unknown.downloads(1).completes_within(Duration::from_secs(1)));
    assert!(unknown.starts_with("motel: unknown hop; expected one of lasthop list hops"), "{unknown}");
}

#[test]
fn a_trial_that_holds_says_so() -> Result<(), Failure> {
    let hop = Hop::text(HOP).set("links.air.loss.rate", "0 %");
    println!("{}", over(hop, 972).completes_within(Duration::from_secs(1)).check()?);
    Ok(())
}

#[test]
fn a_replication_that_is_asked_for_is_recorded_though_it_holds() {
    let this = std::env::current_exe().expect("the program of the tests");
    let name = "trials::a_trial_that_holds_says_so";
    let asked = std::process::Command::new(this)
        .args(["--exact", name, "--nocapture"])
        .env("LASTHOP_REPLICATION", "3")
        .output()
        .expect("the test runs");
    let folder =
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("trials-a_trial_that_holds_says_so/3");
    let said = String::from_utf8_lossy(&asked.stdout);
    assert!(said.contains("0 of 1 replications missed it"), "{said}");
    assert!(said.contains(&format!("captures and qlogs: {}", folder.display())), "{said}");
    assert!(folder.join("air.pcap").is_file(), "a peer without a log has a capture");
}
