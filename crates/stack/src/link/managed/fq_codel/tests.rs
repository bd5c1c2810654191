//! Flows with packets of their own sizes.

use super::super::testing::{Record, packet};
use super::*;
use proptest::prelude::*;

const ROOM: Backlog = Backlog { packets: 1_000, bytes: u64::MAX };

/// The first flows whose queues differ.
fn apart(queue: &FqCodel, count: usize) -> Vec<u32> {
    let mut found: Vec<u32> = Vec::new();
    for flow in 0.. {
        if found.len() == count {
            break;
        }
        if found.iter().all(|other| queue.queue_of(*other) != queue.queue_of(flow)) {
            found.push(flow);
        }
    }
    found
}

fn sent(queue: &mut FqCodel, packets: usize) -> Vec<u32> {
    let mut host = Record::default();
    (0..packets).filter_map(|_| queue.dequeue(Time(0), &mut host)).map(|packet| packet.handle).collect()
}

#[test]
fn flows_take_turns_of_a_quantum_of_bytes() {
    let mut queue = FqCodel::new(&Config { quantum: Bytes(1_000), ..Config::default() }, 7);
    let flows = apart(&queue, 2);
    let mut host = Record::default();
    for number in 0..4 {
        queue.enqueue(Queued { flow: flows[0], ..packet(number, Time(0)) }, ROOM, &mut host);
    }
    for number in 10..18 {
        let half = Queued { flow: flows[1], bytes: 500, ..packet(number, Time(0)) };
        queue.enqueue(half, ROOM, &mut host);
    }
    assert_eq!(sent(&mut queue, 12), [0, 10, 11, 1, 12, 13, 2, 14, 15, 3, 16, 17]);
    assert_eq!(queue.dequeue(Time(0), &mut host), None);
    assert_eq!(queue.backlog(), Backlog::default());
}

#[test]
fn a_new_flow_goes_ahead_of_the_old_ones_once() {
    let mut queue = FqCodel::new(&Config::default(), 7);
    let flows = apart(&queue, 2);
    let mut host = Record::default();
    let mut put = |queue: &mut FqCodel, flow: usize, number: u32| {
        queue.enqueue(Queued { flow: flows[flow], ..packet(number, Time(0)) }, ROOM, &mut host);
    };
    for number in 0..8 {
        put(&mut queue, 0, number);
    }
    // 2000 of 1514 bytes are used up: the queue is old.
    assert_eq!(sent(&mut queue, 3), [0, 1, 2]);
    put(&mut queue, 1, 100);
    assert_eq!(sent(&mut queue, 2), [100, 3]);
    // It was empty and went to the old queues, with what is left of its quantum: it is not new again.
    put(&mut queue, 1, 101);
    assert_eq!(sent(&mut queue, 3), [101, 4, 5]);
    assert_eq!(queue.counts()[1].value, 2);
}

#[test]
fn the_queue_with_the_most_bytes_loses_half_of_its_packets_at_most_a_batch() {
    for (batch, expected) in [(64, 5), (2, 2)] {
        let mut queue = FqCodel::new(&Config { drop_batch: batch, ..Config::default() }, 7);
        let flows = apart(&queue, 2);
        let mut host = Record::default();
        let room = Backlog { packets: 25, bytes: u64::MAX };
        for number in 0..15 {
            let small = Queued { flow: flows[0], bytes: 100, ..packet(100 + number, Time(0)) };
            queue.enqueue(small, room, &mut host);
        }
        for number in 0..11 {
            queue.enqueue(Queued { flow: flows[1], ..packet(number, Time(0)) }, room, &mut host);
        }
        let heads: Vec<_> = (0..expected).map(|number| (number, DropCause::Full)).collect();
        assert_eq!(host.drops, heads);
        assert_eq!(queue.backlog().packets, 26 - expected);
    }
}

#[test]
fn a_limit_in_bytes_holds_too() {
    let mut queue = FqCodel::new(&Config::default(), 7);
    let mut host = Record::default();
    for number in 0..5 {
        queue.enqueue(packet(number, Time(0)), Backlog { packets: 100, bytes: 3_999 }, &mut host);
    }
    assert_eq!(queue.backlog(), Backlog { packets: 3, bytes: 3_000 });
}

#[test]
fn hashes_use_all_queues_and_depend_on_the_salt() {
    let queues = [1, 2].map(|salt| FqCodel::new(&Config { flows: 16, ..Config::default() }, salt));
    let of = |number: usize| (0..4_000).map(|flow| queues[number].queue_of(flow)).collect::<Vec<u32>>();
    let (one, two) = (of(0), of(1));
    assert_ne!(one, two);
    for number in 0..16 {
        let count = one.iter().filter(|queue| **queue == number).count();
        assert!((180..330).contains(&count), "{number}: {count}");
    }
}

proptest! {
    #[test]
    fn each_packet_leaves_or_is_dropped_once(
        steps in prop::collection::vec((0u32..6, 40u32..1500, 0u64..30, any::<bool>()), 1..300),
        packets in 1u32..30,
        bytes in 1_500u64..20_000,
    ) {
        let mut queue = FqCodel::new(&Config { flows: 3, ..Config::default() }, 1);
        let (mut host, mut now, mut seen) = (Record::default(), 0, Vec::new());
        let room = Backlog { packets, bytes };
        for (number, (flow, size, millis, sends)) in steps.iter().enumerate() {
            now += millis * 1_000_000;
            let new = Queued { bytes: *size, flow: *flow, ..packet(number as u32, Time(now)) };
            queue.enqueue(new, room, &mut host);
            prop_assert!(queue.backlog().packets <= packets && queue.backlog().bytes <= bytes);
            if *sends {
                seen.extend(queue.dequeue(Time(now), &mut host).map(|packet| packet.handle));
            }
        }
        while let Some(packet) = queue.dequeue(Time(now), &mut host) {
            seen.push(packet.handle);
        }
        prop_assert_eq!(queue.backlog(), Backlog::default());
        seen.extend(host.drops.iter().map(|drop| drop.0));
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..steps.len() as u32).collect::<Vec<u32>>());
    }
}
