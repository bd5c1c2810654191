//! Laws of acknowledgement end to end: how many leave, what they cost, and that all arrives.

use crate::common::{chain, metric, run_once, wire};
use lasthop_sim::Outcome;
use lasthop_sim::medium::loss::LossConfig;
use lasthop_stack::registry::tcp::{self, Profile};
use lasthop_stack::transport::acks::{AckLaw, TackConfig};
use lasthop_stack::units::Span;

const TACK: AckLaw = AckLaw::Tack(TackConfig::PAPER);

/// A bulk flow over 10 Mbit/s and a round trip of 40 ms with this random loss.
fn over_wire(acks: AckLaw, ack_every: u32, loss: f64) -> Outcome {
    let tcp = tcp::Config { acks, ack_every, quick_acks: 0, window: 60, ..Profile::Modern.config() };
    let mut config = chain(&[(10_000_000, Span::from_millis(20))], tcp, Span::from_secs(20));
    config.run.warmup = Span::from_secs(5);
    if loss > 0.0 {
        wire(&mut config, 0, 0).loss = LossConfig::Packet { rate: loss };
    }
    run_once(&config)
}

fn acks_per_second(outcome: &Outcome) -> f64 {
    metric(outcome, "flows.main.acks_sent") / 15.0
}

#[test]
fn a_receiver_acknowledges_as_often_as_its_law_says() {
    let each = |every| metric(&over_wire(AckLaw::Delayed, every, 0.0), "flows.main.acks_per_segment");
    for every in [1, 2, 4, 8] {
        let share = each(every);
        assert!((share * f64::from(every) - 1.0).abs() < 0.02, "{every}: {share}");
    }
    let asked = metric(&over_wire(AckLaw::Requested(8), 2, 0.0), "flows.main.acks_per_segment");
    assert!((asked * 8.0 - 1.0).abs() < 0.02, "{asked}");
}

#[test]
fn tack_sends_beta_acknowledgements_in_a_round_trip_without_loss_of_goodput() {
    let [each, tack] = [(AckLaw::Delayed, 1), (TACK, 2)].map(|(law, every)| over_wire(law, every, 0.0));
    // Four in the least round trip, which is a little more than 40 ms.
    let frequency = acks_per_second(&tack);
    assert!((90.0..=100.0).contains(&frequency), "{frequency}");
    let goodput = [&each, &tack].map(|outcome| metric(outcome, "flows.main.goodput_bps"));
    assert!(goodput[1] > 0.99 * goodput[0], "{goodput:?}");
}

#[test]
fn few_acknowledgements_repair_losses_without_timeouts() {
    for law in [AckLaw::Requested(8), TACK] {
        let [each, few] = [(AckLaw::Delayed, 1), (law, 2)].map(|(law, every)| over_wire(law, every, 0.01));
        let goodput = [&each, &few].map(|outcome| metric(outcome, "flows.main.goodput_bps"));
        assert!(goodput[1] > 0.8 * goodput[0], "{law:?}: {goodput:?}");
        let timeouts = metric(&few, "flows.main.timeouts");
        assert!(timeouts <= 2.0 + metric(&each, "flows.main.timeouts"), "{law:?}: {timeouts}");
    }
}
