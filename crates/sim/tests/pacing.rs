//! Pacing, and the bound on what waits in the first link of a host.

use crate::common::{metric, run};
use lasthop_sim::scenario::Scenario;
use lasthop_sim::{Outcome, Request};

/// Bulk TCP over this first link of the sender, and then over a wire of 50 Mbit/s and 20 ms.
fn over(first: &str, tcp: &str) -> Outcome {
    let text = format!(
        "title = \"a first link\"\n[run]\nduration = \"20 s\"\nwarmup = \"5 s\"\n\
         [nodes]\ns = {{ position = [\"5 m\", \"0 m\"] }}\nm = {{ position = [\"0 m\", \"0 m\"] }}\nd = {{}}\n{first}\n\
         [links.far]\nkind = \"wired\"\nnodes = [\"m\", \"d\"]\nrate = \"50 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"400 packets\"\n\
         [flows.main]\nfrom = \"s\"\nto = \"d\"\napp = {{ kind = \"bulk\" }}\ntcp = {{ variant = \"cubic\", window = \"300 segments\"{tcp} }}\n"
    );
    let scenario = Scenario::from_text(&text, "first.toml", &[]).expect("it is valid");
    run(&Request::new(&scenario.config(0), 1, 0)).expect("the run succeeds")
}

const WIRE: &str = "[links.near]\nkind = \"wired\"\nnodes = [\"s\", \"m\"]\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\nqueue = \"1000 packets\"";
const AIR: &str = "[links.near]\nkind = \"wifi\"\nnodes = [\"m\", \"s\"]\naccess-point = \"m\"\nstandard = \"802.11a\"\nrate = \"24 Mbit/s\"\nqueue = \"1000 packets\"\nobserver = \"s\"";

/// Of 300 segments most wait without a bound. A sender that is held below its window, without a loss, has a window of
/// twice what is in flight (RFC 7661) and the pace of slow start. Its pace is thus four times the rate. In 1 ms that is
/// 3.3 packets of 10 Mbit/s, in 8 ms 27, and of 18 Mbit/s over the air six and 48. Two more are the last one sent and
/// the one in transmission.
#[test]
fn a_small_queue_bounds_what_waits_in_the_first_link_and_keeps_it_busy() {
    for (first, bounds) in [(WIRE, [5.3, 29.0]), (AIR, [8.0, 50.0])] {
        let of = |tcp: &str| {
            let outcome = over(first, tcp);
            let [queue, goodput] = ["links.near.queue_mean_packets", "flows.main.goodput_bps"]
                .map(|name| metric(&outcome, name));
            (queue, goodput)
        };
        let (unbounded, all) = of("");
        assert!(unbounded > 200.0, "{unbounded} in {first}");
        for (bound, most) in ["1 ms", "8 ms"].into_iter().zip(bounds) {
            let (queue, goodput) = of(&format!(", small-queue = \"{bound}\""));
            assert!(queue <= most, "{queue} with {bound} in {first}");
            assert!(goodput > 0.97 * all, "{goodput} of {all} with {bound} in {first}");
        }
    }
}

/// The queue in front of a link counts like the link, whoever manages it: the sender keeps what waits there within its bound, and
/// is woken as packets leave.
#[test]
fn a_small_queue_bounds_what_waits_in_a_managed_queue_too() {
    let laws = ["red", "codel", "fq-codel", "pie", "dualpi2"];
    for (first, also, bound) in [(WIRE, None, 5.3), (AIR, Some("mac80211"), 8.0)] {
        for law in laws.into_iter().chain(also) {
            let managed = format!("{first}\naqm = {{ law = \"{law}\" }}");
            let outcome = over(&managed, ", small-queue = \"1 ms\"");
            let queue = metric(&outcome, "links.near.queue_mean_packets");
            let (goodput, all) = (
                metric(&outcome, "flows.main.goodput_bps"),
                metric(&over(first, ""), "flows.main.goodput_bps"),
            );
            assert!(queue <= bound, "{queue} with {law} in {first}");
            assert!(goodput > 0.97 * all, "{goodput} of {all} with {law} in {first}");
        }
    }
}

/// Slow start sends two segments for each that arrives, back to back; paced, the queue in front of a slower link stays short.
#[test]
fn a_paced_flow_does_not_queue_its_bursts() {
    let longest = |tcp: &str| {
        let outcome = over(
            &WIRE.replace("10 Mbit/s", "1000 Mbit/s"),
            &format!(", initial-ssthresh = \"60 segments\", {tcp}"),
        );
        metric(&outcome, "links.near.queue_mean_packets")
    };
    let (bursts, paced) = (longest("pacing = \"auto\""), longest("pacing = \"on\""));
    assert!(paced < bursts, "{paced} and {bursts}");
}
