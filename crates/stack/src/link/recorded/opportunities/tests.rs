use super::*;

fn schedule(text: &str) -> Schedule {
    Schedule::read(text).expect("a schedule")
}

fn line(times: &str, limit: QueueLimit) -> Line {
    let schedule = Arc::new(schedule(&times.replace(' ', "\n")));
    Line::new(Opportunities { schedule, opportunity: 1504, header: 4, is_once: false }, limit, false)
}

/// When packets leave, in milliseconds: each with the microsecond of its arrival and its size.
fn leave(line: &mut Line, packets: &[(u64, u64)]) -> Vec<u64> {
    let offer = |&(us, bytes): &(u64, u64)| line.offer(Bytes(bytes), Time(us * 1000)).expect("room");
    let ns: Vec<Time> = packets.iter().map(offer).collect();
    assert!(ns.iter().all(|at| at.0 % 1_000_000 == 0));
    ns.iter().map(|at| at.0 / 1_000_000).collect()
}

#[test]
fn an_opportunity_carries_one_full_packet_with_its_header() {
    let mut link = line("5 7 7 20", QueueLimit::Unlimited);
    assert_eq!(leave(&mut link, &[(0, 1500), (0, 1500), (0, 1500), (0, 1500)]), [5, 7, 7, 20]);
}

#[test]
fn small_packets_share_an_opportunity_and_a_packet_continues_in_the_next() {
    // 504, 504 and 504 bytes with headers: the third has 496 of its bytes in the first opportunity.
    let mut link = line("1 2 3", QueueLimit::Unlimited);
    assert_eq!(leave(&mut link, &[(0, 500), (0, 500), (0, 500), (0, 1492)]), [1, 1, 2, 2]);
    // 8 + 1496 bytes filled the second one.
    assert_eq!(leave(&mut link, &[(100, 40)]), [3]);
}

#[test]
fn room_that_no_packet_waits_for_is_lost() {
    let mut link = line("1 2 30", QueueLimit::Unlimited);
    assert_eq!(leave(&mut link, &[(0, 40), (1500, 1500), (2500, 1500)]), [1, 2, 30]);
}

#[test]
fn a_packet_that_comes_with_an_opportunity_is_too_late_for_it() {
    let mut link = line("1 2 3", QueueLimit::Unlimited);
    assert_eq!(leave(&mut link, &[(1000, 40), (1999, 40)]), [2, 2]);
    // Not at zero either.
    let mut link = line("0 4", QueueLimit::Unlimited);
    assert_eq!(leave(&mut link, &[(0, 1500), (0, 1500), (0, 1500)]), [4, 4, 8]);
}

#[test]
fn after_the_last_opportunity_the_times_count_from_it() {
    let mut link = line("3 10", QueueLimit::Unlimited);
    assert_eq!(leave(&mut link, &[(0, 1500); 5]), [3, 10, 13, 20, 23]);
    // After a long time without packets, by steps and by look-up.
    for (us, at) in
        [(24_000, 30), (1_000_000_000, 1_000_003), (1_000_005_000, 1_000_010), (9_999_999_999, 10_000_000)]
    {
        assert_eq!(leave(&mut link, &[(us, 1500)]), [at]);
    }
}

#[test]
fn a_packet_longer_than_an_opportunity_takes_several() {
    let mut link = line("1 2 3", QueueLimit::Unlimited);
    assert_eq!(leave(&mut link, &[(0, 3000), (0, 1500)]), [2, 3]);
}

#[test]
fn a_full_queue_drops_and_has_room_after_a_departure() {
    let mut link = line("2 4", QueueLimit::Packets(2));
    assert_eq!(leave(&mut link, &[(0, 1500), (0, 1500)]), [2, 4]);
    assert_eq!(link.offer(Bytes(40), Time(1_999_999)), None);
    assert_eq!(leave(&mut link, &[(2000, 1500)]), [6]);
}

#[test]
fn what_is_used_and_offered_grows_with_the_clock() {
    let mut link = line("1 2 4", QueueLimit::Unlimited);
    leave(&mut link, &[(0, 500), (0, 1500)]);
    let used = |us: u64| link.used(Time(us * 1000));
    assert_eq!(
        [0, 1000, 1001, 2001, 4001].map(used),
        [(0, 0), (0, 0), (1504, 1504), (2008, 3008), (2008, 4512)]
    );
    // The second pass has them at 5, 6 and 8 ms.
    assert_eq!((used(5001).1, used(8001).1), (4 * 1504, 6 * 1504));
}

#[test]
fn an_opportunity_of_this_instant_does_not_count_whether_or_not_it_is_used_yet() {
    let recorded =
        Opportunities { schedule: Arc::new(schedule("1\n2")), opportunity: 1504, header: 4, is_once: false };
    let mut link = Line::new(recorded, QueueLimit::Unlimited, true);
    let now = Time(1_000_000);
    assert_eq!(link.used(now), (0, 0));
    link.offer(Bytes(1500), now);
    assert_eq!((link.used(now), link.used(Time(now.0 + 1))), ((0, 0), (1504, 1504)));
}

#[test]
fn a_direction_that_is_fed_uses_the_opportunity_of_this_instant() {
    let recorded =
        Opportunities { schedule: Arc::new(schedule("1\n3")), opportunity: 1504, header: 4, is_once: false };
    let mut link = Line::new(recorded, QueueLimit::Unlimited, true);
    assert_eq!(link.next_at(), Time(1_000_000));
    assert_eq!(link.offer(Bytes(1000), Time(1_000_000)), Some(Time(1_000_000)));
    assert_eq!(link.next_at(), Time(1_000_000));
    assert_eq!(link.offer(Bytes(1000), Time(1_000_000)), Some(Time(3_000_000)));
    link.pass(Time(1_000_000));
    assert_eq!((link.next_at(), link.left), (Time(3_000_000), 1504 - 504));
    link.pass(Time(3_000_000));
    assert_eq!((link.next_at(), link.left), (Time(4_000_000), 1504));
}

#[test]
fn the_opportunities_up_to_a_time_and_in_a_busy_time_are_counted() {
    let found = schedule("0\n2\n2\n10");
    let passed: Vec<u64> = [0, 1, 2, 9, 10, 12, 20, 25].map(|ms| found.passed(Time(ms * 1_000_000))).into();
    assert_eq!(passed, [1, 1, 3, 3, 5, 7, 9, 11]);
    // At 10 ms, the last of one pass and the first of the next; two more follow at 12 ms.
    assert_eq!([0, 1, 2, 10, 20].map(|ms| found.most_within(Span::from_millis(ms))), [2, 2, 4, 6, 10]);
    let recorded = Opportunities { schedule: Arc::new(found), opportunity: 1504, header: 4, is_once: false };
    assert_eq!(recorded.mean_rate(), Rate(4 * 1504 * 8 * 100));
}

#[test]
fn what_is_not_a_schedule_is_refused_with_its_line() {
    let refused = |text: &str| Schedule::read(text).map_err(|error| (error.line, error.text)).unwrap_err();
    let time = |found: &str| format!("\"{found}\"; expected whole milliseconds from 0 to 1000000000");
    assert_eq!(
        refused("1\n2\n\n"),
        (3, "an empty line; expected a time in milliseconds such as 12".to_string())
    );
    assert_eq!(refused("1\n0x2\n"), (2, time("0x2")));
    assert_eq!(refused("1\n-2\n"), (2, time("-2")));
    assert_eq!(refused("1\n1.5\n"), (2, time("1.5")));
    assert_eq!(refused("1\n1000000001\n"), (2, time("1000000001")));
    assert_eq!(refused("1\n5\n4\n"), (3, "4 is before 5; expected ascending times".to_string()));
    assert_eq!(refused(""), (1, "no line; expected a time in milliseconds on each line".to_string()));
    assert_eq!(
        refused("0\n0\n"),
        (2, "no time after 0; expected a time in milliseconds on each line".to_string())
    );
    assert_eq!(Schedule::read("7").map(|found| found.len()), Ok(1));
}

#[test]
fn a_record_that_is_played_once_delivers_nothing_after_its_last_opportunity() {
    let once = |is_fed: bool| {
        let recorded = Opportunities {
            schedule: Arc::new(schedule("0\n3\n10")),
            opportunity: 1504,
            header: 4,
            is_once: true,
        };
        Line::new(recorded, QueueLimit::Packets(4), is_fed)
    };
    let mut link = once(false);
    assert_eq!(leave(&mut link, &[(0, 1500), (0, 1000)]), [3, 10]);
    // 500 bytes of this one go in the last opportunity, and it does not arrive.
    assert_eq!(link.offer(Bytes(1500), Time(0)), Some(LAST));
    assert_eq!(link.offer(Bytes(40), Time(11_000_000)), Some(LAST));
    assert_eq!((link.next_at(), link.used(Time(1_000_000_000))), (LAST, (3008, 4512)));
    // What waits keeps its room for ever.
    assert!(link.offer(Bytes(40), Time(20_000_000)).is_some());
    assert!(link.offer(Bytes(40), Time(20_000_001)).is_some());
    assert_eq!(link.offer(Bytes(40), Time(u64::MAX / 8)), None);
    // The end is passed by steps and by look-up.
    for (is_fed, now) in
        [(true, 10_000_000), (true, 7_000_000_000), (false, 10_000_000), (false, 7_000_000_000)]
    {
        let mut link = once(is_fed);
        link.pass(Time(now));
        assert_eq!((link.next_at(), link.offer(Bytes(40), Time(now))), (LAST, Some(LAST)));
    }
}
