//! A window that the receiver takes back (RFC 9293, 3.8.6), and the reactions of endpoints to events of their link.

use super::*;
use crate::hooks::LinkEvent;
use crate::registry::{ReactionConfig, ReactionKind};

/// A sender with much to send and a window of eight segments, whose receiver closes its window at 200 ms.
fn config(reaction: ReactionKind) -> Config {
    let parts = Parts { reaction: reaction.config(), ..modern().parts };
    Config { parts, window: 8, initial_window: 8, window_validation: false, ack_every: 1, ..modern() }
}

/// At the side of the mobile, an event of its link.
impl Pair {
    fn event(&mut self, side: usize, event: LinkEvent) {
        self.with(side, |end, now, out| end.on_link(event, now, out));
    }

    /// Lets all happen up to `at`, and moves the clock there.
    fn go_to(&mut self, at: Span) {
        loop {
            let timers = |side: &Side| [side.retransmit, side.delayed_ack, side.pace];
            let sides = &self.sides;
            let next = sides.iter().flat_map(|side| {
                let arrival = side.wire.front().map(|sent| sent.0.after(ONE_WAY));
                timers(side).into_iter().chain([arrival]).flatten()
            });
            if next.min().is_none_or(|next| next.0 > at.0) {
                break;
            }
            self.step();
        }
        self.now = Time(at.0);
    }

    /// All that either side sends from now on up to `until` is lost.
    fn silence(&mut self, until: Span) {
        self.go_to(until);
        for side in [CLIENT, SERVER] {
            self.seen[side] += self.sides[side].wire.len();
            self.sides[side].wire.clear();
        }
    }

    fn opened(config: &Config, bytes: u64) -> Pair {
        let mut pair = Pair::new(config);
        pair.open();
        pair.write(CLIENT, bytes);
        pair
    }

    fn cwnd(&self) -> f64 {
        self.ends[CLIENT].sender().window().cwnd
    }
}

const MS: fn(u64) -> Span = Span::from_millis;

/// Loses what both sides send between two times: each step that would deliver is skipped.
fn cut(pair: &mut Pair, until: Span) {
    while pair.now.0 < until.0 {
        let next = Span((pair.now.0 + MS(5).0).min(until.0));
        pair.silence(next);
    }
}

#[test]
fn a_window_that_is_taken_back_stops_the_timer_and_is_probed_byte_by_byte() {
    let mut pair = Pair::opened(&config(ReactionKind::FreezeTcp), 10_000_000);
    pair.go_to(MS(500));
    let (cwnd, sent) = (pair.cwnd(), pair.ends[CLIENT].sender().board().sent_end());
    assert!(sent > 100_000);
    pair.event(SERVER, LinkEvent::Warning);
    pair.go_to(MS(520));
    assert!(pair.ends[CLIENT].sender().is_persisting());
    let before = pair.data_of(CLIENT).len();
    pair.event(SERVER, LinkEvent::Down);
    cut(&mut pair, MS(8_000));
    let counters = pair.ends[CLIENT].counters(pair.now);
    assert_eq!((counters.timeouts, counters.fast_retransmits), (0, 0), "RFC 9293 (3.8.6.1)");
    assert_eq!(pair.cwnd(), cwnd);
    assert_eq!(pair.data_of(CLIENT).len(), before, "nothing crosses a link that is down");
    pair.event(SERVER, LinkEvent::Up);
    let opened = pair.log.len();
    pair.go_to(MS(8_100));
    assert!(!pair.ends[CLIENT].sender().is_persisting());
    assert_eq!(pair.cwnd(), cwnd, "the window is the old one");
    assert!(pair.ends[CLIENT].sender().rtt().rto() <= MS(300), "the timeout is that before the freeze");
    let acks: Vec<u16> =
        pair.log[opened..].iter().filter(|line| line.1 == SERVER).map(|line| line.2.window).collect();
    assert!(acks.iter().take(3).all(|window| *window > 0), "three with the real window: {acks:?}");
    assert!(pair.ends[SERVER].receiver().in_order() > sent);
    assert_eq!(pair.ends[CLIENT].counters(pair.now).timeouts, 0);
}

#[test]
fn probes_of_a_window_that_was_taken_back_have_one_byte_and_are_backed_off() {
    let mut pair = Pair::opened(&config(ReactionKind::FreezeTcp), 10_000_000);
    pair.go_to(MS(500));
    pair.event(SERVER, LinkEvent::Warning);
    pair.go_to(MS(530));
    let first = pair.log.len();
    pair.go_to(MS(5_000));
    let probes: Vec<(Time, u32)> =
        pair.log[first..].iter().filter(|line| line.1 == CLIENT).map(|line| (line.0, line.2.len)).collect();
    assert!(probes.len() >= 4 && probes.iter().all(|probe| probe.1 == 1), "{probes:?}");
    let answered = pair.log[first..].iter().filter(|line| line.1 == SERVER);
    assert!(answered.clone().all(|line| line.2.window == 0));
    assert_eq!(answered.count(), probes.len(), "each probe is acknowledged (RFC 9293, 3.8.6.1)");
    assert_eq!(pair.ends[CLIENT].counters(pair.now).timeouts, 0);
}

#[test]
fn probes_without_an_answer_are_spaced_exponentially() {
    let mut pair = Pair::opened(&config(ReactionKind::FreezeTcp), 10_000_000);
    pair.go_to(MS(500));
    pair.event(SERVER, LinkEvent::Warning);
    pair.go_to(MS(530));
    let mut sent = Vec::new();
    while pair.now.0 < MS(10_000).0 {
        let next = Span(pair.now.0 + MS(1).0);
        pair.go_to(next);
        sent.extend(pair.sides[CLIENT].wire.drain(..).map(|(at, _)| at));
        pair.sides[SERVER].wire.clear();
    }
    let gaps: Vec<u64> = sent.windows(2).map(|pair| pair[1].since(pair[0]).0).collect();
    assert!(gaps.len() >= 3, "{sent:?}");
    assert!(gaps.windows(2).all(|gaps| gaps[1] == 2 * gaps[0]), "{gaps:?}");
}

#[test]
fn what_was_outstanding_when_the_window_closed_goes_again_when_it_opens_and_is_no_loss() {
    for (recovery, sack) in
        [(RecoveryKind::Reno, false), (RecoveryKind::NewReno, false), (RecoveryKind::Sack, true)]
    {
        let like = config(ReactionKind::FreezeTcp);
        let parts = Parts { recovery, ..like.parts.clone() };
        let mut pair = Pair::opened(&Config { parts, sack, ..like }, 10_000_000);
        pair.go_to(MS(500));
        pair.event(SERVER, LinkEvent::Warning);
        // The sender is notified in 10 ms; what it sends until then is lost, and so is what is in transit.
        pair.sides[CLIENT].wire.clear();
        pair.go_to(MS(511));
        let outstanding = pair.ends[CLIENT].sender().board().outstanding();
        assert!(outstanding > 0);
        let cwnd = pair.cwnd();
        cut(&mut pair, MS(3_000));
        pair.event(SERVER, LinkEvent::Up);
        pair.go_to(MS(3_200));
        let counters = pair.ends[CLIENT].counters(pair.now);
        assert_eq!((counters.timeouts, counters.fast_retransmits), (0, 0), "{recovery:?}");
        assert!(counters.retransmits >= u64::from(outstanding));
        assert!(pair.cwnd() >= cwnd);
    }
}

#[test]
fn a_window_that_closes_by_rounding_alone_is_not_taken_back() {
    // At a shift of three, five bytes of room cannot be distinguished from none.
    let config = Config { receive_buffer: Some(300_005), window_scale: Some(3), ack_every: 1, ..modern() };
    let mut pair = Pair::new(&config);
    pair.ends[SERVER].read_by_hand();
    pair.open();
    pair.write(CLIENT, 1_000_000);
    pair.go_to(MS(5_000));
    assert!(pair.ends[SERVER].receiver().in_order() >= 300_000);
    assert!(pair.ends[CLIENT].sender().is_persisting());
    assert_eq!(pair.ends[CLIENT].counters(pair.now).timeouts, 0);
}

#[test]
fn a_receiver_that_keeps_two_bytes_back_acknowledges_them_later() {
    let mut pair = Pair::opened(&config(ReactionKind::Atcp), 4_000);
    pair.go_to(MS(90));
    assert_eq!(pair.ends[CLIENT].sender().board().una(), 3_998);
    pair.go_to(MS(300));
    assert_eq!(pair.ends[CLIENT].sender().board().una(), 4_000);
    assert_eq!(pair.ends[CLIENT].counters(pair.now).timeouts, 0);
}

#[test]
fn a_reconnected_receiver_makes_its_sender_send_at_once() {
    let mut pair = Pair::opened(&config(ReactionKind::Atcp), 10_000_000);
    pair.go_to(MS(500));
    pair.event(SERVER, LinkEvent::Down);
    // The sender backs off: its next timeout is far away when the link comes back.
    cut(&mut pair, MS(4_000));
    assert!(pair.ends[CLIENT].counters(pair.now).timeouts >= 3);
    let (received, mark) = (pair.ends[SERVER].receiver().in_order(), pair.log.len());
    pair.event(SERVER, LinkEvent::Up);
    pair.go_to(MS(4_045));
    assert!(pair.ends[SERVER].receiver().in_order() > received);
    let acks: Vec<bool> =
        pair.log[mark..].iter().filter(|line| line.1 == SERVER).map(|line| line.2.window == 0).collect();
    assert_eq!(acks[..2], [true, false]);
}

#[test]
fn a_disconnected_sender_with_a_full_window_waits_at_its_timeout_and_resends_at_the_reconnection() {
    let mut pair = Pair::opened(&config(ReactionKind::Atcp), 10_000_000);
    pair.go_to(MS(500));
    let cwnd = pair.cwnd();
    let una = pair.ends[CLIENT].sender().board().una();
    pair.event(CLIENT, LinkEvent::Down);
    pair.sides[CLIENT].wire.clear();
    pair.sides[SERVER].wire.clear();
    pair.go_to(MS(6_000));
    assert_eq!(pair.sides[CLIENT].wire.len(), 0, "nothing is sent while the link is away");
    assert_eq!(pair.ends[CLIENT].counters(pair.now).timeouts, 0);
    let window = *pair.ends[CLIENT].sender().window();
    assert_eq!((window.cwnd, window.ssthresh), (1.0, cwnd));
    pair.event(CLIENT, LinkEvent::Up);
    let sent = pair.sides[CLIENT].wire.len();
    assert_eq!(sent, 1, "a window of one segment");
    pair.go_to(MS(6_200));
    assert!(pair.ends[SERVER].receiver().in_order() > una + 8_000);
    assert_eq!(pair.ends[CLIENT].counters(pair.now).timeouts, 0);
}

#[test]
fn a_disconnected_sender_with_an_open_window_stops_its_timer() {
    let mut pair = Pair::opened(&config(ReactionKind::Atcp), 2_000);
    pair.go_to(MS(500));
    pair.write(CLIENT, 1_000);
    pair.event(CLIENT, LinkEvent::Down);
    pair.sides[CLIENT].wire.clear();
    assert_eq!(pair.sides[CLIENT].retransmit, None);
    pair.write(CLIENT, 1_000);
    pair.go_to(MS(6_000));
    assert_eq!(pair.sides[CLIENT].wire.len(), 0);
    pair.event(CLIENT, LinkEvent::Up);
    assert!(pair.sides[CLIENT].retransmit.is_some());
    pair.go_to(MS(7_000));
    assert_eq!(pair.ends[SERVER].receiver().in_order(), 4_000);
}

#[test]
fn a_share_of_the_receive_buffer_bounds_the_window_offered() {
    let mut atcp = ReactionKind::Atcp.config();
    atcp.set("share", crate::hooks::parameter::Setting::Share(0.25));
    let parts = Parts { reaction: atcp, ..modern().parts };
    let mut pair = Pair::opened(&Config { parts, receive_buffer: Some(40_000), ..modern() }, 1_000_000);
    let mut most = 0;
    while pair.now.0 < MS(2_000).0 && pair.step() {
        most = most.max(pair.ends[CLIENT].sender().board().outstanding());
    }
    assert!((8..=10).contains(&most), "{most}");
}

#[test]
fn no_reaction_leaves_all_as_it_is() {
    let run = |event: Option<LinkEvent>| {
        let mut pair = Pair::opened(&config(ReactionKind::None), 1_000_000);
        pair.go_to(MS(100));
        if let Some(event) = event {
            pair.event(CLIENT, event);
            pair.event(SERVER, event);
        }
        pair.go_to(MS(600));
        pair.log
    };
    let without = run(None);
    for event in [LinkEvent::Warning, LinkEvent::Down, LinkEvent::Up, LinkEvent::HandoffBegins] {
        assert_eq!(run(Some(event)), without);
    }
    assert_eq!(config(ReactionKind::None).parts.reaction, ReactionConfig::None(()));
}

/// No byte is lost or delivered twice, whatever events come when, and the transfer ends.
mod property {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn every_byte_arrives_once_with_any_reaction_and_any_outages(
            kind in prop::sample::select(ReactionKind::ALL),
            mobile in 0_usize..2,
            outages in prop::collection::vec((20_u64..800, 1_u64..3_000, 0_u64..60, any::<bool>()), 1..5),
            sack in any::<bool>(),
        ) {
            let recovery = if sack { RecoveryKind::Sack } else { RecoveryKind::NewReno };
            let like = config(kind);
            let parts = Parts { recovery, ..like.parts.clone() };
            let mut pair = Pair::opened(&Config { parts, sack, ..like }, 600_000);
            pair.close(CLIENT);
            let mut at = MS(50);
            for (up, down, lead, warned) in outages {
                at = Span(at.0 + MS(up).0);
                if warned {
                    pair.go_to(Span(at.0.saturating_sub(MS(lead).0).max(pair.now.0)));
                    pair.event(mobile, LinkEvent::Warning);
                }
                pair.go_to(at);
                pair.event(mobile, LinkEvent::Down);
                at = Span(at.0 + MS(down).0);
                cut(&mut pair, at);
                pair.event(mobile, LinkEvent::Up);
            }
            pair.go_to(Span::from_secs(400));
            prop_assert_eq!(pair.ends[SERVER].receiver().in_order(), 600_000);
            prop_assert!(pair.ends[CLIENT].is_done());
        }
    }
}
