//! The messages between the simulated radios of Linux (`mac80211_hwsim`) and what is their medium, over generic netlink.
//!
//! **Source.** `drivers/net/wireless/virtual/mac80211_hwsim.h` of Linux 6.12, and RFC 3549 for the form of messages. The status
//! of an A-MPDU is an attribute that the kernel of `lasthop virtual` adds (`python/lasthop/virtual/linux/patch.diff`).

use lasthop_stack::link::dot11::STAGES;

/// The address of a radio.
pub(super) type Address = [u8; 6];

// <linux/netlink.h>
const HEAD: usize = 16;
const GENERIC_HEAD: usize = 4;
const REQUEST: u16 = 1;
const ERROR: u16 = 2;
const VERSION: u8 = 1;
// `enum hwsim_commands`
const FRAME: u8 = 2;
const TX_INFO_FRAME: u8 = 3;
// `enum hwsim_attrs`
const ADDR_RECEIVER: u16 = 1;
const ADDR_TRANSMITTER: u16 = 2;
const ATTR_FRAME: u16 = 3;
const FLAGS: u16 = 4;
const RX_RATE: u16 = 5;
const SIGNAL: u16 = 6;
const TX_INFO: u16 = 7;
const COOKIE: u16 = 8;
const FREQ: u16 = 19;
const TX_INFO_FLAGS: u16 = 21;
// Of the patch: the frames that a status counts for, and those of them that were acknowledged, a byte each.
const AMPDU_STATUS: u16 = 30;
// `enum hwsim_tx_control_flags`
const NO_ACK: u32 = 1 << 1;
const STAT_ACK: u32 = 1 << 2;
// `enum hwsim_tx_rate_flags`: a rate is an index of MCS of 802.11n, or one of 802.11ac.
pub(super) const HT: u16 = 1 << 3;
pub(super) const VHT: u16 = 1 << 8;

/// An entry of a table of rates: the index of the rate in its band, and how often the frame is tried; negative without one.
pub(super) type Tried = (i8, u8);

/// A frame that a radio sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transmission<'a> {
    /// The radio.
    pub(super) radio: Address,
    /// The frame, without its check sequence.
    pub(super) frame: &'a [u8],
    flags: u32,
    /// The frequency of its channel in MHz.
    pub(super) frequency: u32,
    /// The rates, in their order.
    pub(super) rates: [Tried; STAGES],
    /// What kind of rate each is; without flags it is one of the list of its band.
    pub(super) kinds: [u16; STAGES],
    cookie: u64,
}

impl<'a> Transmission<'a> {
    /// That of a message; `None` of any other message.
    pub(super) fn parse(message: &'a [u8], family: u16) -> Option<Transmission<'a>> {
        let length = u32::from_ne_bytes(*message.first_chunk()?) as usize;
        let kind = u16::from_ne_bytes([*message.get(4)?, *message.get(5)?]);
        if kind != family || *message.get(HEAD)? != FRAME {
            return None;
        }
        let (mut radio, mut frame, mut flags, mut frequency, mut cookie) = (None, None, 0, 0, None);
        let (mut rates, mut kinds) = ([(-1, 0); STAGES], [0; STAGES]);
        for (kind, value) in attributes(message.get(HEAD + GENERIC_HEAD..length)?) {
            match kind {
                ADDR_TRANSMITTER => radio = value.first_chunk().copied(),
                ATTR_FRAME => frame = Some(value),
                FLAGS => flags = u32::from_ne_bytes(*value.first_chunk()?),
                FREQ => frequency = u32::from_ne_bytes(*value.first_chunk()?),
                COOKIE => cookie = value.first_chunk().copied().map(u64::from_ne_bytes),
                TX_INFO => {
                    for (rate, entry) in rates.iter_mut().zip(value.chunks_exact(2)) {
                        *rate = (entry[0].cast_signed(), entry[1]);
                    }
                }
                TX_INFO_FLAGS => {
                    for (kind, entry) in kinds.iter_mut().zip(value.chunks_exact(3)) {
                        *kind = u16::from_ne_bytes([entry[1], entry[2]]) & (HT | VHT);
                    }
                }
                _ => {}
            }
        }
        Some(Transmission { radio: radio?, frame: frame?, flags, frequency, rates, kinds, cookie: cookie? })
    }

    /// Whether its radio awaits no acknowledgement.
    pub(super) fn needs_no_ack(&self) -> bool {
        self.flags & NO_ACK != 0
    }

    /// The data that its sender keeps until the status arrives.
    pub(super) fn ticket(&self) -> Ticket {
        let Transmission { radio, flags, rates, cookie, .. } = *self;
        Ticket { radio, flags, rates, cookie }
    }
}

/// What identifies a frame to the radio that sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket {
    radio: Address,
    flags: u32,
    rates: [Tried; STAGES],
    cookie: u64,
}

impl Ticket {
    /// Whether the same radio sends the frame of another, by the same table of rates.
    pub(super) fn is_as(&self, other: &Ticket) -> bool {
        (self.radio, self.rates) == (other.radio, other.rates)
    }

    /// Writes the status of its frame: how often it was sent at each rate, and whether it was acknowledged. A rate at which it was
    /// not sent ends the table. That of a frame of an aggregate may count for several: how many, and how many were acknowledged.
    pub(super) fn status(
        &self,
        family: u16,
        is_delivered: bool,
        signal_dbm: i32,
        tries: [u8; STAGES],
        counted: Option<[u8; 2]>,
        into: &mut Vec<u8>,
    ) {
        let is_acknowledged = is_delivered && self.flags & NO_ACK == 0;
        let flags = self.flags | if is_acknowledged { STAT_ACK } else { 0 };
        let sent = std::iter::zip(self.rates, tries);
        let table = sent
            .flat_map(|((rate, _), tries)| if tries > 0 { [rate.cast_unsigned(), tries] } else { [0xff, 0] });
        let mut message = Message::begin(family, TX_INFO_FRAME, into);
        message.attribute(ADDR_TRANSMITTER, &self.radio);
        message.attribute(FLAGS, &flags.to_ne_bytes());
        message.attribute(COOKIE, &self.cookie.to_ne_bytes());
        message.attribute(SIGNAL, &signal_dbm.to_ne_bytes());
        message.attribute(TX_INFO, &table.collect::<Vec<u8>>());
        if let Some(counted) = counted {
            message.attribute(AMPDU_STATUS, &counted);
        }
        message.end();
    }
}

/// How a radio receives a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reception {
    /// In MHz.
    pub(super) frequency: u32,
    /// The place of the rate in the list of the band.
    pub(super) rate: u32,
    pub(super) signal_dbm: i32,
}

/// Writes that a radio receives a frame.
pub(super) fn reception(
    family: u16,
    radio: Address,
    frame: &[u8],
    Reception { frequency, rate, signal_dbm }: Reception,
    into: &mut Vec<u8>,
) {
    let mut message = Message::begin(family, FRAME, into);
    message.attribute(ADDR_RECEIVER, &radio);
    message.attribute(ATTR_FRAME, frame);
    message.attribute(RX_RATE, &rate.to_ne_bytes());
    message.attribute(SIGNAL, &signal_dbm.to_ne_bytes());
    message.attribute(FREQ, &frequency.to_ne_bytes());
    message.end();
}

/// Whether a message reports that the kernel has refused a request.
pub(super) fn is_refusal(message: &[u8]) -> bool {
    let number = message.get(HEAD..).and_then(|value| value.first_chunk()).copied();
    message.get(4..6) == Some(&ERROR.to_ne_bytes())
        && number.is_some_and(|number| i32::from_ne_bytes(number) < 0)
}

/// A message being written.
struct Message<'a>(&'a mut Vec<u8>);

impl Message<'_> {
    fn begin(family: u16, command: u8, into: &mut Vec<u8>) -> Message<'_> {
        into.clear();
        into.extend([0; 4]);
        into.extend(family.to_ne_bytes());
        into.extend(REQUEST.to_ne_bytes());
        // Sequence number and port.
        into.extend([0; 8]);
        into.extend([command, VERSION, 0, 0]);
        Message(into)
    }

    fn attribute(&mut self, kind: u16, value: &[u8]) {
        self.0.extend((4 + value.len() as u16).to_ne_bytes());
        self.0.extend(kind.to_ne_bytes());
        self.0.extend(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    fn end(self) {
        let length = self.0.len() as u32;
        self.0[..4].copy_from_slice(&length.to_ne_bytes());
    }
}

/// The attributes of a message: the kind and the value of each.
fn attributes(mut left: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let [a, b, c, d] = *left.first_chunk()?;
        let (length, kind) = (u16::from_ne_bytes([a, b]) as usize, u16::from_ne_bytes([c, d]));
        let value = left.get(4..length)?;
        left = left.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

#[cfg(test)]
pub(super) mod tests;
