//! The transitions of Fig. 3: the reactions to duplicates and timeouts.

use super::*;

/// A law that has measured a maximum round trip of 250 ms and then seen a window of packets.
fn law(config: &EjtcpConfig, apart: u64, rtt: u64, window: &mut Window) -> Ejtcp {
    let mut law = Ejtcp::new(config);
    see(&mut law, QUEUEING, 250, window);
    see(&mut law, apart, rtt, window);
    law
}

fn answer(apart: u64, rtt: u64, loss: &Loss) -> (LossResponse, f64, f64) {
    let mut window = window();
    let mut law = law(&EjtcpConfig::default(), apart, rtt, &mut window);
    let response = law.on_loss(loss, &mut window);
    (response, window.cwnd, window.ssthresh)
}

fn told(reduction: Reduction, copies: u8, judgement: Judgement) -> LossResponse {
    LossResponse { reduction, copies, judgement: Some(judgement) }
}

#[test]
fn duplicates_with_growing_delays_and_a_long_round_trip_are_congestion() {
    let loss = at(9000, LossCause::Duplicates, 1000);
    let expected = told(Reduction::Reduced, 1, Judgement::Congestion);
    // The threshold is 0.8 x 250 ms.
    assert_eq!(answer(QUEUEING, 201, &loss), (expected, 10.0, 10.0));
}

#[test]
fn duplicates_without_growing_delays_or_with_a_short_round_trip_are_random_and_leave_the_window() {
    let loss = at(9000, LossCause::Duplicates, 1000);
    let expected = told(Reduction::Kept, 1, Judgement::Random);
    for (apart, rtt) in [(EMPTY, 240), (QUEUEING, 200), (EMPTY, 100)] {
        assert_eq!(answer(apart, rtt, &loss), (expected, 20.0, 10.0), "{apart} {rtt}");
    }
}

#[test]
fn a_random_loss_goes_twice_where_more_than_one_in_a_hundred_is_lost() {
    for (sent, copies) in [(99, 2), (100, 1), (101, 1)] {
        let (response, ..) = answer(EMPTY, 100, &at(9000, LossCause::Duplicates, sent));
        assert_eq!(response.copies, copies, "one of {sent}");
        let (response, ..) = answer(QUEUEING, 240, &at(9000, LossCause::Duplicates, sent));
        assert_eq!(response.copies, 1, "congestion");
    }
}

#[test]
fn duplicates_within_a_round_trip_of_a_reduction_belong_to_it() {
    let mut window = window();
    let mut law = law(&EjtcpConfig::default(), QUEUEING, 240, &mut window);
    law.on_loss(&at(9000, LossCause::Duplicates, 50), &mut window);
    assert_eq!(law.on_loss(&at(9099, LossCause::Duplicates, 50), &mut window), SAME_EVENT);
    assert_eq!(window.cwnd, 10.0);
    let later = law.on_loss(&at(9100, LossCause::Duplicates, 50), &mut window);
    assert_eq!((later.reduction, window.cwnd), (Reduction::Reduced, 5.0));
}

#[test]
fn a_timeout_of_congestion_begins_slow_start() {
    let loss = at(9000, LossCause::Timeout, 50);
    let expected = told(Reduction::Reduced, 1, Judgement::Congestion);
    assert_eq!(answer(QUEUEING, 240, &loss), (expected, 1.0, 10.0));
}

#[test]
fn a_random_timeout_does_what_the_choice_says_and_sends_copies() {
    let cases = [
        (RandomTimeout::Keep, Reduction::Kept, 20.0, 10.0),
        (RandomTimeout::SlowStart, Reduction::Reduced, 1.0, 20.0),
        (RandomTimeout::Half, Reduction::Reduced, 10.0, 10.0),
        // Half of the 18 outstanding.
        (RandomTimeout::Reno, Reduction::Reduced, 1.0, 9.0),
    ];
    for (random_timeout, reduction, cwnd, ssthresh) in cases {
        let mut window = window();
        let config = EjtcpConfig { random_timeout, ..EjtcpConfig::default() };
        let mut law = law(&config, EMPTY, 100, &mut window);
        let response = law.on_loss(&at(9000, LossCause::Timeout, 50), &mut window);
        assert_eq!(response, told(reduction, 2, Judgement::Random), "{random_timeout:?}");
        assert_eq!((window.cwnd, window.ssthresh), (cwnd, ssthresh), "{random_timeout:?}");
    }
}

#[test]
fn a_timeout_forgets_the_longest_round_trip_and_jitter_alone_decides_until_there_is_another() {
    let mut window = window();
    let mut law = law(&EjtcpConfig::default(), QUEUEING, 100, &mut window);
    let duplicates = at(9500, LossCause::Duplicates, 1000);
    assert_eq!(law.on_loss(&duplicates, &mut window).judgement, Some(Judgement::Random));
    law.on_loss(&at(9000, LossCause::Timeout, 1000), &mut window);
    assert_eq!(law.max_rtt, Span::ZERO);
    assert_eq!(law.on_loss(&duplicates, &mut window).judgement, Some(Judgement::Congestion));
}

#[test]
fn each_test_can_be_switched_off_alone() {
    let loss = at(9000, LossCause::Duplicates, 1000);
    let both = EjtcpConfig::default();
    let no_jitter = EjtcpConfig { jitter_test: false, ..both };
    let no_rtt = EjtcpConfig { rtt_threshold: RttThreshold::Off, ..both };
    let neither = EjtcpConfig { jitter_test: false, ..no_rtt };
    let fixed = EjtcpConfig { rtt_threshold: RttThreshold::Fixed(Span::from_millis(120)), ..both };
    // By spacing and round trip: whether each criterion classifies the loss as congestion.
    let cases = [
        (EMPTY, 240, [false, true, false, true, false]),
        (QUEUEING, 130, [false, false, true, true, true]),
        (QUEUEING, 240, [true, true, true, true, true]),
        (EMPTY, 100, [false, false, false, true, false]),
    ];
    for (apart, rtt, expected) in cases {
        for (config, congested) in [both, no_jitter, no_rtt, neither, fixed].iter().zip(expected) {
            let mut window = window();
            let judgement = law(config, apart, rtt, &mut window).on_loss(&loss, &mut window).judgement;
            assert_eq!(judgement == Some(Judgement::Congestion), congested, "{apart} {rtt} {config:?}");
        }
    }
}
