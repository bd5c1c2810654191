//! How long it takes to read a scenario of many links and flows.

use super::read;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// A dumbbell: each flow has a sender, a receiver and an access link for both of its own.
fn dumbbell(flows: usize) -> String {
    let mut nodes = String::from("[nodes]\nr1 = {}\nr2 = {}\n");
    let mut rest = String::from(
        "[links.middle]\nkind = \"wired\"\nnodes = [\"r1\", \"r2\"]\nrate = \"5 Mbit/s\"\ndelay = \"40 ms\"\n",
    );
    for n in 0..flows {
        for (end, x) in [("s", 0), ("d", 100)] {
            writeln!(nodes, "{end}{n} = {{ position = [\"{x} m\", \"{n} m\"] }}").unwrap();
        }
        for (link, ends) in [("up", format!("\"s{n}\", \"r1\"")), ("down", format!("\"r2\", \"d{n}\""))] {
            write!(
                rest,
                "[links.{link}{n}]\nkind = \"wired\"\nnodes = [{ends}]\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n"
            )
            .unwrap();
        }
        write!(rest, "[flows.f{n}]\nfrom = \"s{n}\"\nto = \"d{n}\"\n[flows.f{n}.tcp]\nvariant = \"sack\"\n")
            .unwrap();
    }
    format!("title = \"dumbbell\"\n[run]\nduration = \"10 s\"\n{nodes}{rest}")
}

/// The least time of a few tries, which other work on the machine disturbs least.
#[expect(clippy::disallowed_methods, reason = "it is the machine's time that is tested")]
fn least(flows: usize) -> Duration {
    let text = dumbbell(flows);
    let once = || {
        let begin = Instant::now();
        let scenario = read(&text).expect("a dumbbell is legal");
        assert_eq!(scenario.points(), 1);
        begin.elapsed()
    };
    (0..3).map(|_| once()).min().expect("some tries")
}

#[test]
fn the_time_to_read_a_scenario_grows_with_its_size_and_not_with_its_square() {
    // Other work on the machine may slow down all tries of the larger one.
    let mut ratios = Vec::new();
    while ratios.len() < 4 && ratios.iter().all(|ratio| *ratio >= 8.0) {
        ratios.push(least(800).as_secs_f64() / least(200).as_secs_f64());
    }
    assert!(ratios.iter().any(|ratio| *ratio < 8.0), "four times the flows take {ratios:?} times as long");
}
