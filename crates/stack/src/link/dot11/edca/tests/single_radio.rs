//! Stations with one radio for two links, and the access point that asks for it.

use super::super::SingleRadio;
use super::multi_link::Device;
use super::*;
use FrameKind::MuRts;

const STATION: NodeId = NodeId(1);
const TRANSITION: Span = Span::from_micros(64);

fn rules(change: impl FnOnce(&mut EdcaConfig)) -> Rules {
    let radio = SingleRadio {
        padding: Span::from_micros(32),
        transition: TRANSITION,
        synchronizing: Span::from_millis(5),
    };
    let change = |edca: &mut EdcaConfig| {
        edca.aggregate.count = 4;
        change(edca);
    };
    Rules::new(config(change)).with_single_radios([None, Some(radio)].into())
}

fn access_point() -> Device {
    Device::of(rules(|_| {}), (NodeId(0), Role::AccessPoint), Vec::new())
}

fn station() -> Device {
    Device::of(rules(|_| {}), (STATION, Role::Station { ap: NodeId(0) }), Vec::new())
}

impl Device {
    /// A link receives a frame of this kind, which reserves the medium for so long.
    fn hear(&mut self, link: usize, kind: FrameKind, to: NodeId, micros: u64) -> bool {
        let from = if to == STATION { NodeId(0) } else { STATION };
        let duration = Span::from_micros(micros);
        let frame = Frame { duration, mpdus: 1, ..Frame::new(kind, to, from, 100, PhyRate::Ofdm24) };
        let mut load = Load::default();
        if kind == Data {
            let fate = MpduFate::Received;
            let class = PayloadClass::Data;
            let (bytes, payload, attempts, sequence, handle) = (100, 60, 0, 0, 70);
            load.mpdus.push(crate::link::dot11::Mpdu {
                handle,
                sequence,
                attempts,
                class,
                bytes,
                payload,
                fate,
            });
        }
        self.on(link, |mac, now, out| mac.on_frame(&frame, &load, now, out))
    }

    /// What a link sends.
    fn sends(&self, link: usize) -> Option<FrameKind> {
        self.sides[link].sending.map(|(frame, _)| frame.kind)
    }

    /// The frame of a link ends, and the other one learns what has changed.
    fn sent(&mut self, link: usize) -> bool {
        let airtime = self.sides[link].sending.take().map(|(_, airtime)| airtime.total);
        self.now = self.now + airtime.unwrap_or_default();
        self.on(link, Edca::on_sent)
    }
}

/// The first slot boundary from this time on of a link that was never busy.
fn boundary(at: Time) -> Time {
    Time(at.0.next_multiple_of(9_000))
}

#[test]
fn an_access_point_asks_on_one_link_and_again_when_the_station_listens_on_all() {
    let mut ap = access_point();
    assert!(ap.enqueue(0..6, 1));
    ap.notice(1);
    assert_eq!((ap.sends(0), ap.sends(1)), (Some(MuRts), None));
    // 28 + 5 bytes and 32 us of padding at 24 Mbit/s, and 22 bits around them.
    let airtime = ap.sides[0].sending.map(|(frame, airtime)| (frame.bytes, airtime.total));
    assert_eq!(airtime, Some((33 + 96, Span::from_micros(20 + 44))));
    ap.sent(0);
    ap.hear(0, Cts, NodeId(0), 1_000);
    ap.turn(0);
    assert_eq!(ap.sends(0), Some(Data));
    ap.sent(0);
    ap.now = ap.now + Span::from_micros(40);
    assert!(ap.hear(0, Ack, NodeId(0), 0));
    let ended = ap.now;
    ap.notice(1);
    assert_eq!((ap.sends(0), ap.sends(1)), (None, None));
    ap.turn(1);
    assert_eq!((ap.now, ap.sends(1)), (ended + TRANSITION, None));
    ap.turn(1);
    assert_eq!((ap.now, ap.sends(1)), (boundary(ended + TRANSITION), Some(MuRts)));
    ap.notice(0);
    assert_eq!(ap.sends(0), None);
}

#[test]
fn an_access_point_that_no_cts_answers_may_ask_on_the_other_link_at_once() {
    let mut ap = access_point();
    ap.enqueue(0..6, 1);
    ap.notice(1);
    ap.sent(0);
    ap.turn(0);
    assert_eq!(ap.links[0].counters().cts_missing, 1);
    let silent = ap.now;
    ap.notice(1);
    ap.turn(1);
    assert_eq!((ap.now, ap.sends(0), ap.sends(1)), (boundary(silent), None, Some(MuRts)));
}

#[test]
fn an_access_point_that_hears_an_error_in_place_of_a_cts_leaves_the_station_alone_while_that_waits() {
    let mut ap = access_point();
    ap.enqueue(0..6, 1);
    ap.notice(1);
    ap.sent(0);
    ap.now = ap.now + Span::from_micros(16);
    ap.on(0, Edca::on_busy);
    ap.now = ap.now + Span::from_micros(44);
    assert!(!ap.on(0, Edca::on_error), "the station has answered perhaps");
    ap.on(0, Edca::on_idle);
    let ended = ap.now;
    assert_eq!(ap.links[0].counters().cts_missing, 1);
    ap.notice(1);
    assert_eq!(ap.sides[1].timer, None);
    // Its own backoff is longer than the station waits.
    ap.turn(0);
    assert_eq!((ap.now, ap.sends(0)), (ended + Span::from_micros(16 + 9 + 20), None));
    ap.notice(1);
    ap.turn(1);
    assert_eq!(ap.now, ended + Span::from_micros(45) + TRANSITION);
}

#[test]
fn an_access_point_that_may_not_answer_an_rts_leaves_the_station_to_its_other_links_when_nothing_follows() {
    let mut ap = access_point();
    // Others have reserved the medium of the second link.
    ap.on(1, Edca::on_busy);
    ap.hear(1, Rts, NodeId(7), 900);
    ap.on(1, Edca::on_idle);
    let rts = Frame::new(Rts, NodeId(0), STATION, 20, PhyRate::Ofdm24);
    ap.now = ap.now + Span::from_micros(60);
    ap.on(1, Edca::on_busy);
    assert!(ap.on(1, |mac, _, _| mac.on_begun(&rts)));
    ap.enqueue(0..2, 1);
    assert_eq!((ap.sends(0), ap.sides[0].timer), (None, None), "the station is on the other link");
    ap.now = ap.now + Span::from_micros(28);
    assert!(!ap.hear(1, Rts, NodeId(0), 700));
    ap.on(1, Edca::on_idle);
    let ended = ap.now;
    assert_eq!(ap.sends(1), None);
    ap.turn(1);
    assert_eq!((ap.now, ap.sends(1)), (ended + Span::from_micros(16 + 9 + 20), None));
    ap.notice(0);
    ap.turn(0);
    assert_eq!(ap.now, ended + Span::from_micros(45) + TRANSITION);
}

#[test]
fn a_station_answers_on_one_link_and_hears_nothing_on_the_other_until_the_end() {
    let mut station = station();
    assert!(station.hear(0, MuRts, STATION, 900));
    station.notice(1);
    station.hear(1, MuRts, STATION, 900);
    station.turn(0);
    assert_eq!((station.sends(0), station.sends(1), station.sides[1].timer), (Some(Cts), None, None));
    assert_eq!(station.sides[0].rates, [(Cts, PhyRate::Ofdm6, None)]);
    assert!(!station.sent(0));
    assert!(!station.hear(0, Data, STATION, 60));
    station.turn(0);
    assert_eq!(station.sends(0), Some(Ack));
    assert!(station.sent(0), "its radio is free");
    station.notice(1);
    station.hear(1, MuRts, STATION, 900);
    station.turn(1);
    assert_eq!(station.sends(1), Some(Cts));
}

#[test]
fn a_station_is_free_again_when_nothing_follows_its_cts() {
    let mut station = station();
    station.hear(0, MuRts, STATION, 900);
    station.notice(1);
    station.turn(0);
    station.sent(0);
    let ended = station.now;
    station.now = station.sides[0].timer.take().expect("it waits for what follows");
    assert_eq!(station.now, ended + Span::from_micros(16 + 9 + 20));
    assert!(station.on(0, Edca::on_timer));
}

#[test]
fn a_station_that_listens_does_not_receive_what_comes_without_an_mu_rts() {
    let mut station = station();
    for kind in [Data, BlockAckReq, Rts] {
        station.hear(0, kind, STATION, 60);
        assert_eq!((station.sides[0].timer, station.sides[0].up.len()), (None, 0));
    }
}

#[test]
fn a_station_asks_first_on_a_link_that_it_has_missed_and_once_only() {
    let mut station = station();
    station.enqueue(0..1, 0);
    assert_eq!(station.sends(0), Some(Data));
    station.notice(1);
    station.sent(0);
    station.on(0, Edca::on_busy);
    station.now = station.now + Span::from_micros(40);
    assert!(station.hear(0, Ack, STATION, 0));
    station.notice(1);
    let back = station.now;
    // The first link is busy.
    station.enqueue(1..2, 0);
    station.notice(1);
    station.turn(1);
    assert_eq!(station.sends(1), Some(Rts));
    station.sent(1);
    station.turn(1);
    assert!(station.sides[1].timer.is_some_and(|next| next > back + Span::from_millis(5)));
    // A frame that it receives ends this.
    station.on(1, Edca::on_busy);
    station.hear(1, Cts, NodeId(7), 0);
    station.on(1, Edca::on_idle);
    station.turn(1);
    assert!(station.now < back + Span::from_millis(5));
    assert_eq!(station.sends(1), Some(Data));
}

#[test]
fn an_exchange_that_the_station_has_begun_keeps_the_other_links_of_the_access_point_from_it() {
    let mut ap = access_point();
    let data = Frame::new(Data, NodeId(0), STATION, 100, PhyRate::Ofdm24);
    assert!(ap.on(1, |mac, _, _| mac.on_begun(&data)));
    ap.enqueue(0..2, 1);
    assert_eq!(ap.sends(0), None);
    ap.hear(1, Data, NodeId(0), 44);
    ap.turn(1);
    assert_eq!(ap.sends(1), Some(Ack));
    assert!(ap.sent(1));
    let ended = ap.now;
    ap.notice(0);
    ap.turn(0);
    // It is a slot boundary, too.
    assert_eq!((ap.now, ap.sends(0)), (ended + TRANSITION, Some(MuRts)));
}

#[test]
fn of_two_links_that_are_ready_the_one_whose_slot_boundary_comes_first_has_the_station() {
    let mut ap = access_point();
    ap.enqueue(0..6, 1);
    ap.notice(1);
    // The first link was busy until its slots begin 5 us later than those of the second one.
    ap.sent(0);
    ap.hear(0, Cts, NodeId(0), 1_000);
    ap.turn(0);
    ap.sent(0);
    ap.now = boundary(ap.now + Span::from_micros(40)) + Span::from_micros(5);
    ap.on(0, Edca::on_busy);
    ap.hear(0, Ack, NodeId(0), 0);
    ap.on(0, Edca::on_idle);
    ap.notice(1);
    let first = |ap: &Device| ap.sides.iter().map(|side| side.timer).min().flatten();
    while ap.sends(0).is_none() && ap.sends(1).is_none() {
        let link = usize::from(ap.sides[1].timer == first(&ap));
        ap.turn(link);
    }
    assert_eq!((ap.sends(0), ap.sends(1)), (None, Some(MuRts)));
}
