//! One test per rule.

use super::*;
use crate::hooks::testing::{ack, loss, mark};
use crate::hooks::{Echo, Sending};
use crate::units::Span;

/// An acknowledgement of a packet sent and received at these milliseconds.
pub(crate) fn stamped(sent: u64, received: u64) -> Ack {
    let at = |ms: u64| Time(ms * 1_000_000);
    let echo = Echo {
        sent: at(sent),
        received: at(received),
        trigger: 0,
        sending: Sending::Single,
        modulation: None,
    };
    Ack { extension: Some(echo), newest_sent: Some(at(sent)), ..ack(Progress::Unlimited(1)) }
}

/// A law that has seen a window of packets sent 10 ms apart and received `apart` ms apart.
fn after(apart: u64, config: &JtcpConfig, window: &mut Window) -> Jtcp {
    let mut law = Jtcp::new(config);
    for packet in 0..20 {
        law.on_ack(&stamped(10 * packet, 50 + apart * packet), window);
    }
    law
}

const QUEUEING: u64 = 12;
const EMPTY: u64 = 10;

fn window() -> Window {
    Window::new(20.0, Some(10.0), 100.0)
}

fn at(ms: u64, cause: LossCause) -> Loss {
    let srtt = Some(Span::from_millis(100));
    Loss { now: Time(ms * 1_000_000), srtt, ..loss(cause, 18) }
}

#[test]
fn a_loss_with_growing_delays_halves_the_window_and_one_without_leaves_it() {
    // (12 - 10) / 12 = 0.17 is above 1 / 22; without growing delays the ratio is zero.
    let cases = [
        (QUEUEING, 10.0, Judgement::Congestion, Reduction::Reduced),
        (EMPTY, 20.0, Judgement::Random, Reduction::Kept),
    ];
    for (apart, left, judgement, reduction) in cases {
        let mut window = window();
        let mut law = after(apart, &JtcpConfig::default(), &mut window);
        let answer = law.on_loss(&at(1000, LossCause::Duplicates), &mut window);
        assert_eq!(answer, LossResponse { reduction, copies: 1, judgement: Some(judgement) });
        assert_eq!((window.cwnd, window.ssthresh), (left, 10.0));
    }
}

#[test]
fn a_second_loss_within_a_round_trip_of_a_reduction_belongs_to_it() {
    let mut window = window();
    let mut law = after(QUEUEING, &JtcpConfig::default(), &mut window);
    law.on_loss(&at(1000, LossCause::Duplicates), &mut window);
    assert_eq!(law.on_loss(&at(1099, LossCause::Duplicates), &mut window), SAME_EVENT);
    assert_eq!(window.cwnd, 10.0);
    law.on_loss(&at(1100, LossCause::Duplicates), &mut window);
    assert_eq!(window.cwnd, 5.0);
}

#[test]
fn a_loss_within_a_round_trip_of_a_mark_belongs_to_it() {
    let mut window = window();
    let mut law = after(EMPTY, &JtcpConfig::default(), &mut window);
    let mark = Mark { now: Time(1_000_000_000), ..mark(18) };
    assert_eq!(law.on_mark(&mark, &mut window), Reduction::Reduced);
    assert_eq!(law.on_loss(&at(1099, LossCause::Duplicates), &mut window), SAME_EVENT);
    assert_eq!(window.cwnd, 10.0);
}

#[test]
fn a_timeout_is_renos_unless_the_rule_says_half_and_the_ratio_says_random() {
    // Reno halves the 18 segments outstanding; JTCP's rule halves the window of 20.
    let half = JtcpConfig { timeout_rule: TimeoutRule::Half, ..JtcpConfig::default() };
    let cases = [
        (JtcpConfig::default(), EMPTY, (1.0, 9.0)),
        (JtcpConfig::default(), QUEUEING, (1.0, 9.0)),
        (half, EMPTY, (10.0, 10.0)),
        (half, QUEUEING, (1.0, 10.0)),
    ];
    for (config, apart, left) in cases {
        let mut window = window();
        let mut law = after(apart, &config, &mut window);
        law.on_loss(&at(1000, LossCause::Timeout), &mut window);
        assert_eq!((window.cwnd, window.ssthresh), left, "{config:?} {apart}");
    }
}

#[test]
fn k_is_what_the_ratio_times_the_packets_has_to_exceed() {
    // Ratio 1/6 over 22 packets: 3.67.
    for (k, judgement) in [(3.6, Judgement::Congestion), (3.7, Judgement::Random)] {
        let mut window = window();
        let config = JtcpConfig { k, ..JtcpConfig::default() };
        let answer =
            after(QUEUEING, &config, &mut window).on_loss(&at(1000, LossCause::Duplicates), &mut window);
        assert_eq!(answer.judgement, Some(judgement));
    }
}

#[test]
fn without_stamps_every_loss_is_random() {
    let mut window = window();
    let mut law = Jtcp::new(&JtcpConfig::default());
    law.on_ack(&ack(Progress::Open(1)), &mut window);
    let answer = law.on_loss(&at(1000, LossCause::Duplicates), &mut window);
    assert_eq!(answer.judgement, Some(Judgement::Random));
    assert_eq!(window.cwnd, 20.05);
}
