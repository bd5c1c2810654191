//! The send buffer of Linux.

use super::*;

/// Reno without SACK, with a first window of 40 segments of 1448 bytes. The buffer has 2304 bytes for each of two windows, and a segment takes
/// 2728: room for 68 segments.
fn reno(send_windows: u8) -> Config {
    let parts = Parts::new(RecoveryKind::NewReno, LawConfig::Reno(()));
    let base = Profile::Modern.config();
    Config { parts, sack: false, send_windows, packet: 1448, initial_window: 40, quick_acks: 0, ..base }
}

/// The most that is outstanding, in segments, while five holes of the first window are repaired, one in each round trip.
fn most_outstanding(config: &Config) -> u32 {
    let mut pair = Pair::new(config);
    pair.lost[CLIENT] = vec![1, 6, 10, 14, 18];
    pair.open();
    pair.write(CLIENT, 2_000_000);
    let mut most = 0;
    while pair.step() && pair.now < Time(130_000_000) {
        let board = pair.ends[CLIENT].sender().board();
        most = most.max((board.end() - board.base()) as u32);
    }
    pair.run(Span::from_secs(60));
    assert_eq!(pair.ends[CLIENT].sender().board().una(), 2_000_000);
    most
}

#[test]
fn no_more_is_outstanding_than_the_buffer_has_room_for() {
    assert!(most_outstanding(&reno(0)) > 90, "without a limit each acknowledgement releases more");
    let most = most_outstanding(&reno(2));
    assert!((60..=68).contains(&most), "{most}");
}

#[test]
fn smaller_segments_leave_room_for_more() {
    let most = most_outstanding(&Config { send_overhead: 832, ..reno(2) });
    assert!((69..=81).contains(&most), "{most}");
}

/// Linux: `tcp_shift_skb_data`. The buffer has room for 33 segments.
#[test]
fn what_is_reported_selectively_is_merged_and_leaves_room() {
    let most = |recovery, sack, send_merging| {
        let parts = Parts::new(recovery, LawConfig::Reno(()));
        let mut pair = Pair::new(&Config { parts, sack, send_merging, send_overhead: 4096, ..reno(2) });
        pair.lost[CLIENT] = vec![1];
        pair.open();
        pair.write(CLIENT, 400_000);
        let mut most = 0;
        while pair.step() {
            let board = pair.ends[CLIENT].sender().board();
            most = most.max((board.end() - board.base()) as u32);
        }
        assert_eq!(pair.ends[CLIENT].sender().board().una(), 400_000);
        most
    };
    assert!(most(RecoveryKind::NewReno, false, true) <= 34 && most(RecoveryKind::Sack, true, false) <= 34);
    let merged = most(RecoveryKind::Sack, true, true);
    assert!((45..=70).contains(&merged), "{merged}");
}

#[test]
fn the_buffer_grows_with_the_window_and_does_not_limit_it() {
    let sent = |config: &Config| {
        let mut pair = Pair::new(config);
        pair.open();
        pair.write(CLIENT, 20_000_000);
        pair.run(Span::from_millis(105));
        let board = pair.ends[CLIENT].sender().board();
        (board.una(), board.end() - board.base(), pair.sides[CLIENT].wire.len())
    };
    assert!(sent(&reno(0)).1 > 5 * 68);
    assert_eq!(sent(&reno(2)), sent(&reno(0)));
}

#[test]
fn the_end_of_the_stream_follows_what_waited_for_room() {
    let mut pair = Pair::new(&reno(2));
    pair.open();
    pair.write(CLIENT, 1_000_001);
    pair.close(CLIENT);
    pair.run(Span::from_secs(10));
    assert!(pair.ends[CLIENT].sender().is_done());
    let ends: Vec<_> = pair.sent_by(CLIENT).into_iter().filter(|it| it.flags.has(Flags::FIN)).collect();
    assert_eq!(ends.len(), 1);
    assert_eq!(pair.data_of(CLIENT).into_iter().map(|(start, len)| start + len).max(), Some(1_000_001));
}
