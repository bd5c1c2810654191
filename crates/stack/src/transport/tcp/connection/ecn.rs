//! ECN at one end of a connection: its negotiation, and what acknowledgements report of marks.
//!
//! Classic ECN (RFC 3168, 6.1.1 and 6.1.3) echoes a mark until the sender has answered. Accurate ECN (RFC 9768) counts all
//! marked packets in the three bits AE, CWR and ECE. An end that offers accurate ECN falls back to classic ECN, or to none, if
//! the other end does not have it (RFC 9768, 3.1.2). The answer is the sender's part (`sender/marks.rs`).
//!
//! **Choices.** 1. A SYN that is sent again offers ECN again; that it may go without (RFC 3168, 6.1.1.1) is for middleboxes
//! which this stack does not meet. 2. With classic ECN, a mark counts if the segment carries data within the window
//! that the receiver has not yet received (6.1.5 ignores marks beyond the window). With accurate ECN each marked
//! packet counts (RFC 9768, 3.2.2). 3. A segment with CWR that is marked itself ends one echo and begins another. 4.
//! The option of accurate ECN with counters of bytes (RFC 9768, 3.2.3) is not sent; the count of packets does not need
//! it. 5. The acknowledgement of a SYN-ACK reports how that arrived (3.2.2.1), and the end that sent it does not take
//! this for a count. 6. The second mark since the last acknowledgement is acknowledged at once (3.2.2.5.1).

use crate::packet::{Ecn, Flags};
use crate::transport::tcp::{EcnMode, FIRST_COUNT};

/// Marks that are acknowledged at once (RFC 9768, 3.2.2.5.1).
const REPORTED_AT_ONCE: u32 = 2;

/// The three bits of a SYN that offers accurate ECN.
const ACCURATE_SYN: Flags = Flags::AE.with(Flags::CWR).with(Flags::ECE);

/// What an end says that received a SYN, or a SYN-ACK, without ECN: all that this stack sends (RFC 9768, tables 2 and 3).
const ARRIVED_WITHOUT_ECN: Flags = Flags::CWR;

/// What both ends use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// No ECN.
    Nothing,
    /// The echo of RFC 3168.
    Classic,
    /// The count of RFC 9768.
    Accurate,
}

/// ECN at one end.
#[derive(Clone, Copy, Debug)]
pub(super) struct EcnEnd {
    mode: EcnMode,
    used: Use,
    /// Whether acknowledgements echo a mark.
    echoes: bool,
    /// Marked packets received, and how many of them were acknowledged.
    marked: u32,
    acknowledged: u32,
    /// Whether the next acknowledgement is that of the SYN-ACK, sent or received.
    in_handshake: bool,
}

impl EcnEnd {
    /// An end before the handshake.
    pub(super) fn new(mode: EcnMode) -> EcnEnd {
        let (used, marked) = (Use::Nothing, FIRST_COUNT);
        EcnEnd { mode, used, echoes: false, marked, acknowledged: marked, in_handshake: false }
    }

    /// What both ends have agreed on.
    pub(super) fn used(self) -> Use {
        self.used
    }

    /// What the flags of this end's SYN offer: an ECN-setup SYN has ECE and CWR, an ECN-setup SYN-ACK has ECE alone.
    pub(super) fn offer(self, answering: bool) -> Flags {
        match (self.mode, answering, self.used) {
            (EcnMode::Classic, false, _) => Flags::ECE.with(Flags::CWR),
            (EcnMode::Accurate, false, _) => ACCURATE_SYN,
            (_, true, Use::Accurate) => ARRIVED_WITHOUT_ECN,
            (_, true, Use::Classic) => Flags::ECE,
            _ => Flags::default(),
        }
    }

    /// The other end's SYN has come.
    pub(super) fn learn_syn(&mut self, flags: Flags) {
        let [ae, cwr, ece] = [Flags::AE, Flags::CWR, Flags::ECE].map(|flag| flags.has(flag));
        let is_accurate = self.mode == EcnMode::Accurate;
        self.used = match (self.mode, flags.has(Flags::ACK)) {
            (EcnMode::Off, _) => Use::Nothing,
            // RFC 9768, table 2: all three bits, or none, are not an answer; ECE without CWR is that of RFC 3168.
            (_, true) if ece && !cwr => Use::Classic,
            (_, true) if is_accurate && (ae || cwr) && !(ae && cwr && ece) => Use::Accurate,
            (_, false) if is_accurate && ae && cwr && ece => Use::Accurate,
            (_, false) if cwr && ece => Use::Classic,
            _ => Use::Nothing,
        };
        self.in_handshake = self.used == Use::Accurate;
    }

    /// A packet of an established connection has come.
    #[inline]
    pub(super) fn on_packet(&mut self, ecn: Ecn) {
        if self.used == Use::Accurate && ecn == Ecn::Ce {
            self.marked = self.marked.wrapping_add(1);
        }
    }

    /// Data with something new has come: CWR ends the echo, a mark begins it.
    #[inline]
    pub(super) fn on_data(&mut self, flags: Flags, ecn: Ecn) {
        if self.used == Use::Classic {
            self.echoes = (self.echoes && !flags.has(Flags::CWR)) || ecn == Ecn::Ce;
        }
    }

    /// Whether enough marks have come to acknowledge them at once.
    #[inline]
    pub(super) fn reports_at_once(self) -> bool {
        self.marked.wrapping_sub(self.acknowledged) >= REPORTED_AT_ONCE
    }

    /// The flags of a segment of this end that acknowledges.
    #[inline]
    pub(super) fn acknowledges_with(&mut self) -> Flags {
        match self.used {
            Use::Classic if self.echoes => Flags::ACK.with(Flags::ECE),
            Use::Nothing | Use::Classic => Flags::ACK,
            Use::Accurate if std::mem::take(&mut self.in_handshake) => Flags::ACK.with(ARRIVED_WITHOUT_ECN),
            Use::Accurate => {
                self.acknowledged = self.marked;
                Flags::ACK.with(Flags(((self.marked & 0b111) as u16) << COUNT_SHIFT))
            }
        }
    }

    /// The end that answered a SYN is established: the segment that did it has no count for it, and its own have.
    pub(super) fn is_answered(&mut self) -> bool {
        std::mem::take(&mut self.in_handshake)
    }
}

/// Where the count begins in the flags: ECE, CWR and AE are its bits.
const COUNT_SHIFT: u32 = 6;

/// The count of a segment (RFC 9768, 3.2.2).
#[inline]
pub(super) fn count_of(flags: Flags) -> u32 {
    u32::from(flags.0 >> COUNT_SHIFT) & 0b111
}

#[cfg(test)]
mod tests {
    use super::*;
    use EcnMode::{Accurate, Classic, Off};

    /// What both ends use after their SYNs.
    fn agreed(client: EcnMode, server: EcnMode) -> [Use; 2] {
        let [mut client, mut server] = [client, server].map(EcnEnd::new);
        server.learn_syn(Flags::SYN.with(client.offer(false)));
        client.learn_syn(Flags::SYN.with(Flags::ACK).with(server.offer(true)));
        [client.used(), server.used()]
    }

    #[test]
    fn both_ends_use_the_best_that_both_have() {
        for (client, server, used) in [
            (Accurate, Accurate, Use::Accurate),
            (Accurate, Classic, Use::Classic),
            (Classic, Accurate, Use::Classic),
            (Classic, Classic, Use::Classic),
            (Accurate, Off, Use::Nothing),
            (Off, Accurate, Use::Nothing),
            (Off, Classic, Use::Nothing),
        ] {
            assert_eq!(agreed(client, server), [used; 2], "{client:?} {server:?}");
        }
    }

    #[test]
    fn a_syn_ack_is_read_as_in_table_2_of_rfc_9768() {
        for (bits, used) in [
            (0b000, Use::Nothing),
            (0b001, Use::Classic),
            (0b010, Use::Accurate),
            (0b011, Use::Accurate),
            (0b100, Use::Accurate),
            (0b101, Use::Classic),
            (0b110, Use::Accurate),
            (0b111, Use::Nothing),
        ] {
            let mut client = EcnEnd::new(Accurate);
            client.learn_syn(Flags::SYN.with(Flags::ACK).with(Flags(bits << COUNT_SHIFT)));
            assert_eq!(client.used(), used, "{bits:03b}");
        }
    }

    #[test]
    fn marks_are_counted_modulo_eight_from_five_on() {
        let mut end = EcnEnd::new(Accurate);
        end.learn_syn(Flags::SYN.with(ACCURATE_SYN));
        end.is_answered();
        let mut counts = Vec::new();
        for ecn in [Ecn::Ect0, Ecn::Ce, Ecn::Ce, Ecn::Ect1, Ecn::Ce, Ecn::Ce] {
            end.on_packet(ecn);
            counts.push(count_of(end.acknowledges_with()));
        }
        assert_eq!(counts, [5, 6, 7, 7, 0, 1]);
        end.on_packet(Ecn::Ce);
        assert!(!end.reports_at_once());
        end.on_packet(Ecn::Ce);
        assert!(end.reports_at_once());
        end.acknowledges_with();
        assert!(!end.reports_at_once());
    }

    #[test]
    fn the_acknowledgement_of_a_syn_ack_says_that_it_came_without_ecn() {
        let mut client = EcnEnd::new(Accurate);
        client.learn_syn(Flags::SYN.with(Flags::ACK).with(Flags::CWR));
        assert_eq!([client.acknowledges_with(), client.acknowledges_with()].map(count_of), [0b010, 5]);
    }
}
