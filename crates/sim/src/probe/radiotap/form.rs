//! What a capture shows of the form of HE and EHT PPDUs: whether they go to or come from several stations, with which RUs.
//!
//! **Source.** radiotap.org: HE, HE-MU. IEEE 802.11ax-2021, 27.3.11.8 (RU allocation of HE-SIG-B).

use lasthop_stack::link::dot11::{Mode, Ru};
use lasthop_stack::packet::NodeId;

/// The form of an HE or EHT PPDU, and what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// To one station.
    Single,
    /// To several, of which this is one, with its RU; HE-SIG-B at this MCS.
    Several { to: NodeId, place: usize, sig_b_mcs: u8 },
    /// From several at once.
    Together,
}

/// A PPDU, as the header of one of its MPDUs shows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ppdu {
    pub(super) form: Form,
    /// The place of the MPDU, in an A-MPDU.
    pub(super) place: Option<InAggregate>,
}

/// The number of an A-MPDU, and whether an MPDU is its last one.
#[derive(Clone, Copy, Debug)]
pub(super) struct InAggregate {
    pub(super) number: u32,
    pub(super) is_last: bool,
}

/// The association identifier of a station.
pub(super) fn association(node: NodeId) -> u16 {
    (node.0 + 1) as u16 & 0x7FF
}

impl Form {
    /// What it adds to the six HE fields of radiotap.
    pub(super) fn fields(self) -> [u16; 6] {
        match self {
            Form::Single => [0; 6],
            // Known: the station, and the place of the RU.
            Form::Several { to, place, .. } => {
                [0x0802, 0x4000 | (place as u16 & 0x3F) << 8, 0, association(to) << 4, 0, 0]
            }
            // It goes up.
            Form::Together => [0x0013, 0, 0x0080, 0, 0, 0],
        }
    }

    /// The HE-MU field of radiotap: HE-SIG-B.
    pub(super) fn several(self, mode: Mode, bytes: &mut Vec<u8>) {
        let Form::Several { sig_b_mcs, .. } = self else { return };
        let mcs = u16::from(sig_b_mcs.min(5));
        // Known: MCS, RUs of both content channels, no compression; bandwidth, and the number of symbols.
        let [first, second] = allocation(mode.ru);
        let both = if mode.width > 20 { 0x0300 } else { 0x0100 };
        let symbols = (mode.sig_to_several(sig_b_mcs).0 / 4_000) as u16 - 1;
        let fields = [mcs | 0x0010 | both | 0xC000, width(mode) | 0x0004 | symbols.min(15) << 4];
        bytes.extend(fields.into_iter().flat_map(u16::to_le_bytes));
        let blocks = usize::from((mode.width / 40).max(1));
        for value in [first, second] {
            bytes.extend((0..4).map(|block| if block < blocks { value } else { 0 }));
        }
    }
}

/// The codes of equal RUs in the 20 MHz of the first content channel and of the second.
fn allocation(ru: Ru) -> [u8; 2] {
    match ru {
        Ru::Tones26 => [0, 0],
        Ru::Tones52 => [112, 112],
        Ru::Tones106 => [96, 96],
        Ru::Tones242 => [192, 192],
        Ru::Tones484 => [200, 114],
        Ru::Tones996 | Ru::Tones1992 | Ru::Whole => [208, 115],
    }
}

/// The code of a width.
pub(super) fn width(mode: Mode) -> u16 {
    match mode.width {
        20 => 0,
        40 => 1,
        80 => 2,
        160 => 3,
        _ => 4,
    }
}

/// The code of the width, or of an RU, in the HE field.
pub(super) fn width_or_ru(mode: Mode) -> u16 {
    match mode.ru {
        Ru::Whole => width(mode),
        ru => 4 + ru as u16,
    }
}
