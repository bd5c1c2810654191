//! The agreements of block acknowledgement between kernels, as the frames that have arrived show them.
//!
//! **How.** A request names a traffic identifier (TID) and a first number; a response that accepts it begins the agreement, for
//! frames of that TID from the one that asked. A DELBA ends it, and so do frames that begin or end an association. The frames
//! that an agreement covers arrive in order, for the receiving station reorders them. But those that a queue refused, or that
//! were given up, leave gaps in the numbers of the kernel, for which the receiving kernel would wait 100 ms each. Therefore
//! frames get numbers without gaps when they arrive, from the first one on.
//!
//! **Source.** IEEE 802.11-2020, 9.2.4.5 (QoS control), 9.3.1.7 (BlockAckReq), 9.6.4 (ADDBA and DELBA).

use lasthop_stack::link::dot11::Category;

use super::hwsim::Address;

const RECEIVER: usize = 4;
const TRANSMITTER: usize = 10;
const SEQUENCE_CONTROL: usize = 22;
const HEADER: usize = 24;
/// Of the first byte: the type, of data those with QoS control, and the subtypes of management.
const TYPE: u8 = 0x0c;
const MANAGEMENT: u8 = 0;
const CONTROL: u8 = 0x04;
const QOS: u8 = 0x88;
/// Of the first byte: the type, and of data whether it has QoS control, and none but a header.
const KIND: u8 = 0xcc;
const ACTION: u8 = 0xd0;
const BLOCK_ACK_REQUEST: u8 = 0x84;
/// Disassociation, authentication, deauthentication.
const ASSOCIATIONS: [u8; 3] = [0xa0, 0xb0, 0xc0];
/// Of the second byte: to and from the distribution system, which adds an address.
const BOTH_SYSTEMS: u8 = 3;
const ADDRESS: usize = 6;
/// The category of actions about block acknowledgement, and these.
const ABOUT_BLOCK_ACKS: u8 = 3;
const ADD_REQUEST: u8 = 0;
const ADD_RESPONSE: u8 = 1;
const DELETE: u8 = 2;
/// Numbers modulo this; what is half of it ahead is behind.
const NUMBERS: u16 = 1 << 12;

/// From one station to another in a TID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    from: Address,
    to: Address,
    tid: u8,
}

#[derive(Clone, Copy, Debug)]
struct Agreement {
    way: Way,
    /// The number of its first frame.
    first: u16,
    /// It is accepted.
    is_valid: bool,
    /// The number of the next frame to arrive, once one has.
    next: Option<u16>,
}

/// The agreements of a network.
#[derive(Debug, Default)]
pub(super) struct Agreements(Vec<Agreement>);

impl Agreements {
    /// Whether an agreement covers a frame.
    pub(super) fn cover(&self, frame: &[u8]) -> bool {
        let Some(way) = Way::of(frame) else { return false };
        self.0.iter().any(|agreement| agreement.is_valid && agreement.way == way)
    }

    /// A frame has arrived at its receiver.
    pub(super) fn note(&mut self, frame: &[u8]) {
        let Some([to, from]) = addresses(frame) else { return };
        if ASSOCIATIONS.contains(&frame[0]) {
            self.0.retain(|Agreement { way, .. }| ![(from, to), (to, from)].contains(&(way.from, way.to)));
        }
        let Some(body) = frame.get(HEADER..).filter(|_| frame[0] == ACTION) else { return };
        let word = |at: usize| body.get(at..)?.first_chunk().copied().map(u16::from_le_bytes);
        let tid_of = |parameters: u16| (parameters >> 2 & 0xf) as u8;
        match body {
            [ABOUT_BLOCK_ACKS, ADD_REQUEST, ..] => {
                let Some((parameters, first)) = word(3).zip(word(7)) else { return };
                let way = Way { from, to, tid: tid_of(parameters) };
                self.end(way);
                self.0.push(Agreement { way, first: first >> 4, is_valid: false, next: None });
            }
            [ABOUT_BLOCK_ACKS, ADD_RESPONSE, ..] => {
                let Some((status, parameters)) = word(3).zip(word(5)) else { return };
                let way = Way { from: to, to: from, tid: tid_of(parameters) };
                if status != 0 {
                    self.end(way);
                } else if let Some(agreement) = self.0.iter_mut().find(|agreement| agreement.way == way) {
                    agreement.is_valid = true;
                }
            }
            [ABOUT_BLOCK_ACKS, DELETE, ..] => {
                let Some(parameters) = word(2) else { return };
                let (one, other) = if parameters >> 11 & 1 == 1 { (from, to) } else { (to, from) };
                self.end(Way { from: one, to: other, tid: (parameters >> 12) as u8 });
            }
            _ => {}
        }
    }

    fn end(&mut self, way: Way) {
        self.0.retain(|agreement| agreement.way != way);
    }

    /// A frame with the number that it gets when it arrives, which is written to `into` if it is another one.
    pub(super) fn numbered<'f>(&mut self, frame: &'f [u8], into: &'f mut Vec<u8>) -> &'f [u8] {
        let Some(way) = Way::of(frame) else { return frame };
        let Some(agreement) = self.0.iter_mut().find(|agreement| agreement.is_valid && agreement.way == way)
        else {
            return frame;
        };
        let control = u16::from_le_bytes([frame[SEQUENCE_CONTROL], frame[SEQUENCE_CONTROL + 1]]);
        let is_before = (control >> 4).wrapping_sub(agreement.first) % NUMBERS >= NUMBERS / 2;
        let number = match agreement.next {
            None if is_before => return frame,
            None => agreement.first,
            Some(next) => next,
        };
        agreement.next = Some((number + 1) % NUMBERS);
        into.clear();
        into.extend_from_slice(frame);
        let control = number << 4 | control & 0xf;
        into[SEQUENCE_CONTROL..HEADER].copy_from_slice(&control.to_le_bytes());
        into
    }
}

impl Way {
    /// That of a frame of data with QoS control.
    fn of(frame: &[u8]) -> Option<Way> {
        let [to, from] = addresses(frame)?;
        (frame[0] & KIND == QOS).then_some(())?;
        Some(Way { from, to, tid: tid(frame)? })
    }
}

/// Receiver and transmitter of a frame with a whole header.
fn addresses(frame: &[u8]) -> Option<[Address; 2]> {
    frame.get(..HEADER)?;
    Some([*frame.get(RECEIVER..)?.first_chunk()?, *frame.get(TRANSMITTER..)?.first_chunk()?])
}

/// The TID of a frame of data with QoS control.
fn tid(frame: &[u8]) -> Option<u8> {
    let has_four = frame.get(1)? & BOTH_SYSTEMS == BOTH_SYSTEMS;
    let control = frame.get(HEADER + if has_four { ADDRESS } else { 0 })?;
    (frame[0] & QOS == QOS).then_some(control & 0xf)
}

/// The access category of a frame (IEEE 802.11-2020, table 10-1): management and control have that of voice.
pub(super) fn category_of(frame: &[u8]) -> Category {
    match (frame.first().map(|first| first & TYPE), tid(frame)) {
        (Some(MANAGEMENT | CONTROL), _) | (_, Some(6 | 7)) => Category::Voice,
        (_, Some(1 | 2)) => Category::Background,
        (_, Some(4 | 5)) => Category::Video,
        _ => Category::BestEffort,
    }
}

/// Whether a frame asks for a BlockAck by numbers that its receiver does not know: the station asks itself.
pub(super) fn asks_for_block_ack(frame: &[u8]) -> bool {
    frame.first() == Some(&BLOCK_ACK_REQUEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Address = [2, 0, 0, 0, 0, 1];
    const B: Address = [2, 0, 0, 0, 0, 2];

    fn frame(kind: u8, from: Address, to: Address, number: u16, body: &[u8]) -> Vec<u8> {
        let control = (number << 4).to_le_bytes();
        [&[kind, 0, 0, 0], &to[..], &from, &[0; 6], &control, body].concat()
    }

    fn data(from: Address, to: Address, number: u16, tid: u8) -> Vec<u8> {
        frame(QOS, from, to, number, &[tid, 0, 9])
    }

    fn asked(tid: u8, first: u16) -> Vec<u8> {
        let [parameters, first] = [2 | u16::from(tid) << 2 | 64 << 6, first << 4].map(u16::to_le_bytes);
        frame(ACTION, A, B, 0, &[&[3, 0, 1], &parameters[..], &[0, 0], &first].concat())
    }

    fn answered(tid: u8, status: u8) -> Vec<u8> {
        let parameters = (2 | u16::from(tid) << 2 | 64 << 6).to_le_bytes();
        frame(ACTION, B, A, 0, &[&[3, 1, 1, status, 0], &parameters[..], &[0, 0]].concat())
    }

    fn deleted(from: Address, to: Address, tid: u8, is_of_sender: bool) -> Vec<u8> {
        let parameters = (u16::from(tid) << 12 | u16::from(is_of_sender) << 11).to_le_bytes();
        frame(ACTION, from, to, 0, &[&[3, 2], &parameters[..], &[1, 0]].concat())
    }

    fn with(frames: &[Vec<u8>]) -> Agreements {
        let mut agreements = Agreements::default();
        for frame in frames {
            agreements.note(frame);
        }
        agreements
    }

    fn number(agreements: &mut Agreements, frame: &[u8]) -> u16 {
        let mut into = Vec::new();
        let found = agreements.numbered(frame, &mut into);
        assert_eq!((&found[..22], &found[24..]), (&frame[..22], &frame[24..]));
        u16::from_le_bytes([found[22], found[23]]) >> 4
    }

    #[test]
    fn a_request_that_is_accepted_covers_frames_of_its_tid_in_its_direction() {
        assert!(!with(&[asked(0, 7)]).cover(&data(A, B, 7, 0)));
        assert!(!with(&[asked(0, 7), answered(0, 37)]).cover(&data(A, B, 7, 0)));
        let agreements = with(&[asked(0, 7), answered(0, 0)]);
        assert!(agreements.cover(&data(A, B, 7, 0)));
        assert!(!agreements.cover(&data(A, B, 7, 5)));
        assert!(!agreements.cover(&data(B, A, 7, 0)));
        assert!(!agreements.cover(&frame(0x08, A, B, 7, &[0, 0, 9])), "without QoS control");
        let whole = data(A, B, 7, 0);
        for length in 0..25 {
            assert!(!agreements.cover(&whole[..length]), "{length} bytes");
        }
    }

    #[test]
    fn either_end_ends_an_agreement_and_so_does_a_new_association() {
        let begun = [asked(0, 7), answered(0, 0)];
        for (end, is_over) in [
            (deleted(A, B, 0, true), true),
            (deleted(B, A, 0, false), true),
            (deleted(B, A, 0, true), false),
            (deleted(A, B, 1, true), false),
            (frame(0xb0, A, B, 0, &[]), true),
            (frame(0xc0, B, A, 0, &[]), true),
            (frame(0xc0, B, [9; 6], 0, &[]), false),
            (asked(0, 9), true),
        ] {
            let mut agreements = with(&begun);
            agreements.note(&end);
            assert_eq!(!agreements.cover(&data(A, B, 7, 0)), is_over, "{end:?}");
        }
    }

    #[test]
    fn frames_get_numbers_without_gaps_from_the_first_one_on() {
        let mut agreements = with(&[asked(0, 4094), answered(0, 0)]);
        // What came down before the agreement keeps its number.
        assert_eq!(number(&mut agreements, &data(A, B, 4093, 0)), 4093);
        let numbers = [4095, 0, 3, 4, 900].map(|sent| number(&mut agreements, &data(A, B, sent, 0)));
        assert_eq!(numbers, [4094, 4095, 0, 1, 2]);
        assert_eq!(number(&mut agreements, &data(B, A, 5, 0)), 5, "of no agreement");
        assert_eq!(number(&mut agreements, &frame(0xc8, A, B, 7, &[0, 0])), 7, "without data");
        assert_eq!(number(&mut agreements, &asked(0, 3)), 0, "not of data");
    }

    #[test]
    fn a_frame_has_the_category_of_its_tid() {
        use Category::{Background, BestEffort, Video, Voice};

        let categories = [0, 1, 2, 3, 4, 5, 6, 7].map(|tid| category_of(&data(A, B, 0, tid)));
        let expected = [BestEffort, Background, Background, BestEffort, Video, Video, Voice, Voice];
        assert_eq!(categories, expected);
        assert_eq!([ACTION, 0x80, 0x84].map(|kind| category_of(&[kind, 0])), [Voice; 3]);
        assert_eq!(category_of(&frame(0x08, A, B, 0, &[6])), BestEffort);
        assert_eq!(category_of(&[]), BestEffort);
    }
}
