//! Reports of losses to a law: each copy or segment once, when it is declared lost and before it is sent again,
//! whichever recovery declares it, at whichever event. Round trips of what arrives beyond a hole.

use std::collections::BTreeMap;

use super::*;
use crate::hooks::{Ack, Congestion, Departure, Loss, LossResponse, Progress, Window};
use crate::registry::RecoveryMachine;
use crate::transport::tcp::{self, Endpoint, LossDetection, SackPipe, Undo};

/// A window of at most this many segments.
const WINDOW: f64 = 40.0;

/// A law that listens.
#[derive(Clone, Debug, Default)]
struct Ears {
    /// How often each segment left and was not declared lost since.
    under_way: Vec<u32>,
    /// Segments sent again that were not declared lost, segments declared lost that were not sent again since, and all.
    late: u32,
    twice: u32,
    heard: u32,
    /// When the last event was, and reports of losses at a time before it.
    now: Time,
    early: u32,
    /// The round trips of duplicates: how many, and the shortest.
    beyond: (u32, Option<Span>),
    /// The same of acknowledgements that advance, and how many have none.
    advancing: (u32, Option<Span>),
    untimed: u32,
}

impl Congestion for Ears {
    fn hears_losses(&self) -> bool {
        true
    }

    fn on_sent(&mut self, departure: &Departure) {
        self.now = self.now.max(departure.now);
        let number = departure.number as usize;
        if number == self.under_way.len() {
            self.under_way.push(0);
        }
        self.late += u32::from(self.under_way[number] > 0);
        self.under_way[number] += 1;
    }

    fn on_lost(&mut self, number: u64, now: Time, _: &Window) {
        self.heard += 1;
        self.early += u32::from(now < self.now);
        let under_way = &mut self.under_way[number as usize];
        self.twice += u32::from(*under_way == 0);
        *under_way = under_way.saturating_sub(1);
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        self.now = self.now.max(ack.now);
        if let (Progress::Duplicate, Some(rtt)) = (ack.progress, ack.rtt) {
            self.beyond = (self.beyond.0 + 1, self.beyond.1.into_iter().chain([rtt]).min());
        }
        if ack.progress != Progress::Duplicate {
            self.advancing = (self.advancing.0 + 1, self.advancing.1.into_iter().chain(ack.rtt).min());
            self.untimed += u32::from(ack.rtt.is_none());
        }
        window.cwnd = (window.cwnd + 0.1).min(WINDOW);
    }

    fn on_loss(&mut self, _: &Loss, window: &mut Window) -> LossResponse {
        (window.cwnd, window.ssthresh) = (WINDOW / 2.0, WINDOW / 2.0);
        LossResponse::REDUCED
    }
}

#[derive(Clone, Debug)]
struct Listening(RecoveryKind);

impl tcp::Parts for Listening {
    type Law = Ears;
    type Recovery = RecoveryMachine;
    type Reaction = ();

    fn law(&self, _: &tcp::Config<Self>, _: u32) -> Ears {
        Ears::default()
    }

    fn recovery(&self, config: &tcp::Config<Self>) -> RecoveryMachine {
        self.0.build(config)
    }

    fn reaction(&self) {}
}

/// A long transfer over a wire that loses and delays packets at random: what the law heard, and the timeouts there were.
fn transfer(config: &tcp::Config<Listening>, seed: u64) -> (Ears, u64) {
    let (client, server) = ((NodeId(0), 1000), (NodeId(1), 2000));
    let opens = tcp::Connection::new(config, Role::Active, client, server, SeqNo(1));
    let answers = tcp::Connection::new(config, Role::Passive, server, client, SeqNo(2));
    let mut ends = [Endpoint::new(opens), Endpoint::new(answers)];
    let mut wire: BTreeMap<(Time, u64), (usize, Packet)> = BTreeMap::new();
    let (mut now, mut random, mut serial) = (Time::ZERO, seed, 0);
    ends[CLIENT].act(|tcp, out| {
        tcp.open(now, out);
        tcp.write(1 << 30, now, out);
    });
    while now < Time::ZERO.after(Span::from_secs(30)) {
        for (from, end) in ends.iter_mut().enumerate() {
            while let Some(packet) = end.poll_transmit() {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let (draw, jitter) = ((random >> 33) % 100, (random >> 45) % 8);
                serial += 1;
                // Now and then nothing passes for half a second.
                let is_dark = from == CLIENT && now.0 / 500_000_000 % 9 == 8;
                if draw >= 4 && !is_dark {
                    let late =
                        if from == CLIENT && draw < 20 { Span::from_millis(jitter) } else { Span::ZERO };
                    wire.insert((now.after(ONE_WAY + late), serial), (1 - from, packet));
                }
            }
        }
        let arrival = wire.keys().next().map(|key| key.0);
        let timeouts = ends.iter().filter_map(Endpoint::poll_timeout);
        now = timeouts.chain(arrival).min().expect("an end with data waits for something");
        if arrival == Some(now)
            && let Some((_, (to, packet))) = wire.pop_first()
        {
            ends[to].on_packet(&packet, now);
        } else {
            for end in &mut ends {
                end.on_timeout(now);
            }
        }
    }
    let sender = ends[CLIENT].connection().sender();
    (sender.law().clone(), sender.timeouts())
}

#[test]
fn each_loss_is_heard_once_and_before_the_segment_is_sent_again_whatever_declares_it() {
    use RecoveryKind::{Fack, NewReno, Reno, Sack, Tahoe, Uninflated};
    let (time, duplicates) = (LossDetection::Time, LossDetection::Duplicates);
    let (board, counted) = (SackPipe::Scoreboard, SackPipe::Counted);
    let cases = [
        (Sack, time, board),
        (Sack, duplicates, board),
        (Sack, duplicates, counted),
        (Fack, duplicates, board),
        (NewReno, duplicates, board),
        (Reno, duplicates, board),
        (Uninflated, duplicates, board),
        (Tahoe, duplicates, board),
    ];
    for (kind, loss_detection, sack_pipe) in cases {
        for seed in 0..5 {
            let config = tcp::Config {
                loss_detection,
                sack_pipe,
                sack: matches!(kind, Sack | Fack),
                undo: Undo::None,
                f_rto: false,
                tail_loss_probe: false,
                ..Profile::Modern.with(Listening(kind))
            };
            let (ears, timeouts) = transfer(&config, seed);
            let Ears { late, twice, early, heard, beyond, .. } = ears;
            let what = format!("{kind:?} {loss_detection:?} {sack_pipe:?} {seed}: {heard}");
            assert_eq!((late, early), (0, 0), "{what}");
            // ns-2's forgets what was selectively acknowledged, and so loses what has arrived as often as that.
            assert!(twice == 0 || sack_pipe == counted, "{what}: {twice} twice");
            let has_sack = matches!(kind, Sack | Fack);
            assert_eq!((beyond.0 > 100, beyond.1), (has_sack, has_sack.then_some(ONE_WAY * 2)), "{what}");
            assert!(heard > 30 && timeouts > 3, "{kind:?}: {heard} and {timeouts}");
        }
    }
}

/// Linux: `tcp_ack_update_rtt`.
#[test]
fn an_acknowledgement_of_what_was_sent_again_has_the_round_trip_of_its_echo_where_laws_get_that() {
    let heard = |echoed_rtt| {
        let base = Profile::Modern.with(Listening(RecoveryKind::Sack));
        transfer(&tcp::Config { echoed_rtt, tick: Span::ZERO, ..base }, 0).0
    };
    let [without, with] = [false, true].map(heard);
    assert!(without.untimed > 30 && without.advancing.0 > 300, "{without:?}");
    assert_eq!((with.untimed, with.advancing.1), (0, Some(ONE_WAY * 2)));
}
