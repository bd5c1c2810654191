use super::*;

fn varying(text: &str, is_once: bool) -> Varying {
    Varying { rates: Arc::new(Rates::read(text).expect("rates")), is_once }
}

fn line(text: &str, is_once: bool) -> Line {
    Line::new(varying(text, is_once), QueueLimit::Unlimited)
}

/// When packets of 1000 bytes leave that come at these milliseconds, in microseconds.
fn leave(line: &mut Line, came_ms: &[u64]) -> Vec<u64> {
    let offer = |ms: &u64| line.offer(Bytes(1000), Time(ms * 1_000_000)).expect("room").0 / 1000;
    came_ms.iter().map(offer).collect()
}

#[test]
fn the_rate_of_a_line_holds_from_the_line_before_it_to_its_own_time() {
    // 8 Mbit/s to 2 ms, then 2 Mbit/s to 12 ms: the third packet takes 4 ms.
    let mut link = line("0.002 8\n0.012 2\n", false);
    assert_eq!(leave(&mut link, &[0, 0, 0]), [1000, 2000, 6000]);
    // The rate of a line at 0 is of no time.
    let mut link = line("0 100\n0.002 8\n0.012 2\n", false);
    assert_eq!(leave(&mut link, &[0, 0, 0]), [1000, 2000, 6000]);
}

#[test]
fn a_packet_that_meets_a_change_takes_a_part_at_each_rate() {
    // 4000 bits in the first half millisecond, and the other 4000 at 1 Mbit/s.
    let mut link = line("0.0005\t8\n0.0205\t1\n", false);
    assert_eq!(leave(&mut link, &[0, 0, 10]), [4500, 12_500, 20_500]);
}

#[test]
fn packets_wait_while_the_rate_is_zero() {
    let mut link = line("0.001 8\n0.005 0\n0.010 8\n", false);
    assert_eq!(leave(&mut link, &[0, 0, 3]), [1000, 6000, 7000]);
    // What ends with the capacity of a pass does not wait for the zeros at its end.
    let mut link = line("0.001 8\n0.005 0\n", false);
    assert_eq!(leave(&mut link, &[0, 0]), [1000, 6000]);
}

#[test]
fn after_the_last_time_the_list_begins_again() {
    // 1000 bytes at 1 ms and 1000 at 5 ms in each pass of 5 ms.
    let mut link = line("0.001 8\n0.005 2\n", false);
    assert_eq!(
        leave(&mut link, &[0, 0, 0, 0, 10, 1_000_000_001]),
        [1000, 5000, 6000, 10_000, 11_000, 1_000_000_005_000]
    );
}

#[test]
fn a_record_that_is_played_once_delivers_nothing_after_its_end() {
    let mut link = line("0.001 8\n0.005 2\n", true);
    let left = leave(&mut link, &[0, 0]);
    assert_eq!(left, [1000, 5000]);
    for came in [0, 4, 5, 7000] {
        assert_eq!(link.offer(Bytes(1), Time(came * 1_000_000)), Some(LAST));
    }
    assert_eq!(link.ready_at(Time(8_000_000_000)), LAST);
    // Nothing more was offered, and nothing more was used.
    assert_eq!((link.used(Time(5_000_000)), link.used(Time(9_000_000_000))), ((2000, 2000), (2000, 2000)));
    assert_eq!(link.queue_at(Time(9_000_000_000)).len(), 4);
}

#[test]
fn a_part_that_is_sent_at_the_end_of_a_record_does_not_arrive() {
    let mut link = line("0.0015 8\n", true);
    assert_eq!(leave(&mut link, &[0]), [1000]);
    assert_eq!(link.offer(Bytes(1000), Time(0)), Some(LAST));
    assert_eq!(link.used(Time(1_500_000)), (1500, 1500));
}

#[test]
fn what_is_used_and_offered_grows_with_the_clock() {
    let mut link = line("0.001 8\n0.005 2\n", false);
    leave(&mut link, &[0]);
    let used = |us: u64| link.used(Time(us * 1000));
    assert_eq!(
        [0, 500, 1000, 3000, 6000].map(used),
        [(0, 0), (500, 500), (1000, 1000), (1000, 1500), (1000, 3000)]
    );
}

#[test]
fn no_more_is_used_than_offered_in_any_time() {
    let mut link = line("1 7\n", false);
    assert!(link.offer(Bytes(1000), Time(300)).is_some());
    let seen: Vec<_> = (1..1200).map(|us| link.used(Time(us * 1000))).collect();
    let idle: Vec<_> = seen.iter().map(|(used, offered)| offered - used).collect();
    assert!(idle.is_sorted(), "{idle:?}");
}

#[test]
fn a_full_queue_drops_and_has_room_after_a_departure() {
    let mut link = Line::new(varying("1 8\n", false), QueueLimit::Packets(2));
    assert_eq!(leave(&mut link, &[0, 0]), [1000, 2000]);
    assert_eq!(link.offer(Bytes(1000), Time(999_999)), None);
    assert_eq!(leave(&mut link, &[1]), [3000]);
}

#[test]
fn the_mean_and_the_most_of_any_time_are_those_of_the_list() {
    let found = varying("0.001 8\n0.005 2\n", false);
    assert_eq!(found.mean_rate(), Rate(3_200_000));
    let most = |us: u64| libm::round(found.most_bits_within(Span(us * 1000)));
    // Around the fast millisecond, and over several passes.
    assert_eq!(
        [0, 500, 1000, 2000, 5000, 6000].map(most),
        [0.0, 4000.0, 8000.0, 10_000.0, 16_000.0, 24_000.0]
    );
}

#[test]
fn what_is_not_a_time_and_a_rate_is_refused_with_its_line() {
    let refused = |text: &str| Rates::read(text).map_err(|error| (error.line, error.text)).unwrap_err();
    let pair = "expected a time in seconds and a rate in Mbit/s such as 12.5 4.2";
    assert_eq!(refused("0 1\n\n1 2\n"), (2, format!("an empty line; {pair}")));
    assert_eq!(refused("0 1\n5\n"), (2, format!("\"5\"; {pair}")));
    assert_eq!(refused("0 1 2\n"), (1, format!("\"0 1 2\"; {pair}")));
    assert_eq!(refused("0 1\nx 2\n"), (2, "\"x\"; expected seconds from 0 to 1000000".to_string()));
    for rate in ["-1", "nan", "inf", "1e9", "0x2"] {
        assert_eq!(
            refused(&format!("0 1\n1 1\n2 {rate}\n")),
            (3, format!("\"{rate}\"; expected Mbit/s from 0 to 1000000"))
        );
    }
    assert_eq!(refused("0 1\n5 1\n4 1\n"), (3, "4 s is before 5 s; expected ascending times".to_string()));
    let each = "expected a time in seconds and a rate in Mbit/s on each line";
    assert_eq!(refused(""), (1, format!("no line; {each}")));
    assert_eq!(refused("0 1\n5 0\n"), (2, format!("no rate above 0 for any time; {each}")));
    assert!(Rates::read("0.0 1.5e-1\n.5 3.25").is_ok());
}
