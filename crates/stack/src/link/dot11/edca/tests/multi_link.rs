//! The links of a multi-link device: who sends what, and who settles it.

use super::super::{Agreements, BlockAck as Bitmap};
use super::*;

/// A device with two links, and what they have in common.
pub(super) struct Device {
    pub(super) now: Time,
    pub(super) links: [Edca<DynamicArq>; 2],
    pub(super) sides: [Side; 2],
    common: Agreements<DynamicArq>,
}

impl Device {
    fn new(absent: Vec<bool>) -> Device {
        let rules = Rules::new(config(|edca| edca.aggregate.count = 4));
        Device::of(rules, (NodeId(0), Role::AdHoc), absent)
    }

    pub(super) fn of(rules: Rules, (address, role): (NodeId, Role), absent: Vec<bool>) -> Device {
        let rules = Arc::new(rules);
        let mut links = [0, 1].map(|_| Edca::new(Arc::clone(&rules), address, role));
        links[0].link_up(0, Vec::new());
        links[1].link_up(1, absent);
        let (sides, common) = ([Side::default(), Side::default()], Agreements::default());
        // A slot boundary of both links, which were never busy.
        Device { now: Time::ZERO + Span::from_micros(1_008), links, sides, common }
    }

    /// Something happens to a link. Returns whether the other one has to know.
    pub(super) fn on(
        &mut self,
        link: usize,
        act: impl FnOnce(&mut Edca<DynamicArq>, Time, &mut Side),
    ) -> bool {
        self.sides[link].now = self.now;
        self.links[link].take_agreements(&mut self.common, self.now);
        act(&mut self.links[link], self.now, &mut self.sides[link]);
        self.links[link].return_agreements(&mut self.common)
    }

    pub(super) fn enqueue(&mut self, handles: std::ops::Range<u64>, next: u32) -> bool {
        self.enqueue_on(0, handles, next)
    }

    fn enqueue_on(&mut self, link: usize, handles: std::ops::Range<u64>, next: u32) -> bool {
        let (class, category, next) = (PayloadClass::Data, Category::BestEffort, NodeId(next));
        handles.fold(false, |_, handle| {
            let msdu = Msdu { handle, bytes: 1_500, next, class, category, flow: None };
            self.on(link, |mac, now, out| assert!(mac.enqueue(msdu, false, now, out)))
        })
    }

    pub(super) fn notice(&mut self, link: usize) {
        self.on(link, Edca::notice);
    }

    /// What a link is sending: the packets in it.
    fn sending(&self, link: usize) -> Vec<u64> {
        let mpdus = &self.sides[link].load.mpdus;
        mpdus.iter().map(|mpdu| mpdu.handle).filter(|_| self.sides[link].sending.is_some()).collect()
    }

    /// The frame of a link ends, and is answered by a BlockAck of these numbers, by an Ack, or by nothing.
    fn end(&mut self, link: usize, answer: Option<&[u16]>) -> bool {
        let airtime = self.sides[link].sending.take().map(|(_, airtime)| airtime.total);
        self.now = self.now + airtime.unwrap_or_default();
        self.on(link, Edca::on_sent);
        self.now = self.now + Span::from_micros(45);
        let kind = if answer == Some(&[]) { FrameKind::Ack } else { FrameKind::BlockAck };
        let frame = Frame::new(kind, NodeId(0), NodeId(1), 32, PhyRate::Ofdm24);
        let mut load = Load { block: Bitmap::default(), ..Load::default() };
        for number in answer.into_iter().flatten() {
            load.block.bits[0] |= 1 << number;
        }
        match answer {
            Some(_) => self.on(link, |mac, now, out| mac.on_frame(&frame, &load, now, out)),
            None => self.on(link, Edca::on_timer),
        }
    }

    /// The backoff of a link ends.
    pub(super) fn turn(&mut self, link: usize) {
        self.now = self.sides[link].timer.take().expect("it waits for its turn");
        self.on(link, Edca::on_timer);
    }
}

#[test]
fn each_link_sends_what_no_other_is_sending_and_settles_that_alone() {
    let mut device = Device::new(Vec::new());
    assert!(device.enqueue(0..8, 1));
    assert_eq!(device.sending(0), [0]);
    device.notice(1);
    assert_eq!(device.sending(1), [1, 2, 3, 4]);
    // All has arrived, but what the second link sends counts when its own BlockAck comes.
    assert!(device.end(0, Some(&[])));
    device.turn(0);
    assert_eq!(device.sending(0), [5, 6, 7]);
    assert!(device.end(0, Some(&[1, 2, 3, 4, 5, 6, 7])));
    assert_eq!(device.sides[0].done, [(0, Delivered), (5, Delivered), (6, Delivered), (7, Delivered)]);
    assert!(device.end(1, Some(&[1, 2, 3, 4])));
    assert_eq!(device.sides[1].done, delivered(1..5));
    assert_eq!(device.links[1].backlog(), 0);
}

#[test]
fn what_one_link_has_sent_in_vain_goes_on_the_other() {
    let mut device = Device::new(Vec::new());
    device.enqueue(0..5, 1);
    device.notice(1);
    assert_eq!(device.sending(1), [1, 2, 3, 4]);
    assert!(device.end(1, None));
    // Its BlockAckReq is owed; the first link sends it, while the second one sends the MPDUs again.
    device.end(0, Some(&[]));
    device.turn(0);
    assert_eq!(device.sides[0].sending.map(|(frame, _)| frame.kind), Some(BlockAckReq));
    device.turn(1);
    assert_eq!(device.sending(1), [1, 2, 3, 4]);
}

#[test]
fn a_station_that_is_not_on_a_link_is_left_to_the_others() {
    let mut device = Device::new(vec![false, true]);
    assert!(device.enqueue(0..4, 1));
    device.notice(1);
    assert!(device.sides[1].sending.is_none());
    device.end(0, Some(&[]));
    device.turn(0);
    assert_eq!(device.sending(0), [1, 2, 3]);
}

#[test]
fn a_link_leaves_what_comes_on_it_for_a_station_that_is_not_on_it_to_the_others() {
    let mut device = Device::new(vec![false, false, true]);
    assert!(device.enqueue_on(1, 0..2, 2));
    assert_eq!(device.sending(1), []);
    device.notice(0);
    assert_eq!(device.sending(0), [0, 1]);
}
