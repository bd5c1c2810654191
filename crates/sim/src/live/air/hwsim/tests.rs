use super::*;

const FAMILY: u16 = 28;
const RADIO: Address = [2, 0, 0, 0, 0, 1];

/// A frame that a radio sends, as the kernel writes it, for a channel, with rates, flags, and a cookie.
pub(in super::super) fn transmission(
    frame: &[u8],
    (radio, frequency): (Address, u32),
    rates: [Tried; STAGES],
    (of_first, flags): (u16, u32),
    cookie: u64,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut message = Message::begin(FAMILY, FRAME, &mut bytes);
    message.attribute(ADDR_TRANSMITTER, &radio);
    message.attribute(ATTR_FRAME, frame);
    message.attribute(FLAGS, &flags.to_ne_bytes());
    message.attribute(FREQ, &frequency.to_ne_bytes());
    message.attribute(TX_INFO, &rates.map(|(rate, tries)| [rate.cast_unsigned(), tries]).concat());
    let [a, b] = of_first.to_ne_bytes();
    message.attribute(TX_INFO_FLAGS, &[[rates[0].0.cast_unsigned(), a, b], [0; 3], [0; 3], [0; 3]].concat());
    message.attribute(COOKIE, &cookie.to_ne_bytes());
    message.end();
    bytes
}

fn message(rates: [Tried; STAGES], of_first: u16, flags: u32) -> Vec<u8> {
    transmission(&[7; 33], (RADIO, 5180), rates, (of_first, flags), 77)
}

/// The cookie of a status, whether its frame was acknowledged, and its table; `None` of another message.
pub(in super::super) fn status_of(bytes: &[u8]) -> Option<(u64, bool, Vec<u8>)> {
    let found = (bytes[HEAD] == TX_INFO_FRAME).then(|| read(bytes, TX_INFO_FRAME))?;
    let value = |kind| found.iter().find(|(of, _)| *of == kind).map(|(_, value)| value.clone());
    let flags = u32::from_ne_bytes(*value(FLAGS)?.first_chunk()?);
    Some((u64::from_ne_bytes(*value(COOKIE)?.first_chunk()?), flags & STAT_ACK != 0, value(TX_INFO)?))
}

/// How many frames a status counts for, and how many of them were acknowledged, if it says so.
pub(in super::super) fn counted_of(bytes: &[u8]) -> Option<[u8; 2]> {
    let found = read(bytes, TX_INFO_FRAME);
    found.iter().find(|(kind, _)| *kind == AMPDU_STATUS).and_then(|(_, value)| value[..].try_into().ok())
}

/// The receiver of a reception and its frame.
pub(in super::super) fn reception_of(bytes: &[u8]) -> Option<(Address, Vec<u8>)> {
    let found = (bytes[HEAD] == FRAME).then(|| read(bytes, FRAME))?;
    Some((found[0].1[..].try_into().ok()?, found[1].1.clone()))
}

const RATES: [Tried; STAGES] = [(7, 2), (4, 3), (-1, 0), (-1, 0)];

/// The attributes of a message of this command.
fn read(bytes: &[u8], command: u8) -> Vec<(u16, Vec<u8>)> {
    assert_eq!(bytes[..4], (bytes.len() as u32).to_ne_bytes(), "the length is that of the message");
    assert_eq!((bytes[4..6].to_vec(), bytes[HEAD]), (FAMILY.to_ne_bytes().to_vec(), command));
    attributes(&bytes[HEAD + GENERIC_HEAD..]).map(|(kind, value)| (kind, value.to_vec())).collect()
}

#[test]
fn a_frame_comes_with_its_radio_its_channel_and_its_rates() {
    let bytes = message(RATES, 0, 1);
    let sent = Transmission::parse(&bytes, FAMILY).expect("a frame");
    assert_eq!((sent.radio, sent.frame, sent.frequency), (RADIO, &[7; 33][..], 5180));
    assert_eq!((sent.rates, sent.kinds, sent.needs_no_ack()), (RATES, [0; STAGES], false));
    assert!(Transmission::parse(&message(RATES, 0, NO_ACK), FAMILY).expect("a frame").needs_no_ack());
    let of_n = message(RATES, 1 << 3 | 1 << 7, 1);
    assert_eq!(Transmission::parse(&of_n, FAMILY).expect("a frame").kinds, [HT, 0, 0, 0], "an index of MCS");
}

#[test]
fn what_is_not_a_frame_is_not_taken_for_one() {
    let bytes = message(RATES, 0, 1);
    assert_eq!(Transmission::parse(&bytes, FAMILY + 1), None);
    for length in 0..bytes.len() {
        assert_eq!(Transmission::parse(&bytes[..length], FAMILY), None, "{length} bytes");
    }
    let mut refusal = bytes[..HEAD].to_vec();
    refusal[4..6].copy_from_slice(&ERROR.to_ne_bytes());
    assert!(is_refusal(&[&refusal[..], &(-22_i32).to_ne_bytes()].concat()));
    assert!(!is_refusal(&[&refusal[..], &0_i32.to_ne_bytes()].concat()), "it says that all is well");
    assert!(!is_refusal(&bytes));
}

#[test]
fn a_status_has_the_attempts_at_each_rate_that_was_used() {
    let bytes = message(RATES, 0, 1);
    let ticket = Transmission::parse(&bytes, FAMILY).expect("a frame").ticket();
    let mut into = vec![1; 5];
    for (is_delivered, tries, flags, table) in [
        (true, [1, 0, 0, 0], 1 | STAT_ACK, [7, 1, 0xff, 0, 0xff, 0, 0xff, 0]),
        (true, [2, 1, 0, 0], 1 | STAT_ACK, [7, 2, 4, 1, 0xff, 0, 0xff, 0]),
        (false, [2, 3, 0, 0], 1, [7, 2, 4, 3, 0xff, 0, 0xff, 0]),
        (false, [0; 4], 1, [0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0]),
    ] {
        ticket.status(FAMILY, is_delivered, -50, tries, None, &mut into);
        let expected = [
            (ADDR_TRANSMITTER, RADIO.to_vec()),
            (FLAGS, u32::to_ne_bytes(flags).to_vec()),
            (COOKIE, 77_u64.to_ne_bytes().to_vec()),
            (SIGNAL, (-50_i32).to_ne_bytes().to_vec()),
            (TX_INFO, table.to_vec()),
        ];
        assert_eq!(read(&into, TX_INFO_FRAME), expected, "{tries:?}");
        ticket.status(FAMILY, is_delivered, -50, tries, Some([5, 3]), &mut into);
        let counting = [&expected[..], &[(AMPDU_STATUS, vec![5, 3])]].concat();
        assert_eq!(read(&into, TX_INFO_FRAME), counting, "{tries:?}");
    }
}

#[test]
fn what_needs_no_acknowledgement_has_none() {
    let bytes = message(RATES, 0, NO_ACK);
    let ticket = Transmission::parse(&bytes, FAMILY).expect("a frame").ticket();
    let mut into = Vec::new();
    ticket.status(FAMILY, true, -50, [1, 0, 0, 0], None, &mut into);
    assert!(read(&into, TX_INFO_FRAME).contains(&(FLAGS, NO_ACK.to_ne_bytes().to_vec())));
}

#[test]
fn a_reception_names_the_receiver_the_rate_and_the_power() {
    let mut into = Vec::new();
    let how = Reception { frequency: 2412, rate: 11, signal_dbm: -61 };
    reception(FAMILY, RADIO, &[9; 30], how, &mut into);
    let expected = [
        (ADDR_RECEIVER, RADIO.to_vec()),
        (ATTR_FRAME, vec![9; 30]),
        (RX_RATE, 11_u32.to_ne_bytes().to_vec()),
        (SIGNAL, (-61_i32).to_ne_bytes().to_vec()),
        (FREQ, 2412_u32.to_ne_bytes().to_vec()),
    ];
    assert_eq!(read(&into, FRAME), expected);
    assert_eq!(into.len() % 4, 0, "messages are padded");
}
