//! ECN at one end of a connection: its negotiation (RFC 3168, 6.1.1) and the echo of marks (6.1.3).
//!
//! The answer to an echo is the sender's part (`sender/marks.rs`).
//!
//! **Choices.** 1. A SYN that is sent again offers ECN again; that it may go without (6.1.1.1) is for middleboxes which
//! this stack does not meet. 2. A mark counts where the segment has something within the window that the receiver has not
//! yet (6.1.5 leaves out what is beyond the window). 3. A segment with CWR that is marked itself ends one echo and begins
//! another.

use crate::packet::{Ecn, Flags};
use crate::transport::tcp::EcnMode;

/// ECN at one end.
#[derive(Clone, Copy, Debug)]
pub(super) struct EcnEnd {
    mode: EcnMode,
    /// Whether both ends have offered it.
    in_use: bool,
    /// Whether acknowledgements echo a mark.
    echoes: bool,
}

impl EcnEnd {
    /// An end before the handshake.
    pub(super) fn new(mode: EcnMode) -> EcnEnd {
        EcnEnd { mode, in_use: false, echoes: false }
    }

    /// Whether both ends have offered it.
    pub(super) fn is_in_use(self) -> bool {
        self.in_use
    }

    /// What the flags of this end's SYN offer: an ECN-setup SYN has both, an ECN-setup SYN-ACK has ECE alone.
    pub(super) fn offer(self, answering: bool) -> Flags {
        match (self.mode, answering) {
            (EcnMode::Classic, false) => Flags::ECE.with(Flags::CWR),
            (EcnMode::Classic, true) if self.in_use => Flags::ECE,
            _ => Flags::default(),
        }
    }

    /// The other end's SYN has come.
    pub(super) fn learn_syn(&mut self, flags: Flags) {
        self.in_use = match self.mode {
            EcnMode::Off => false,
            EcnMode::Classic if flags.has(Flags::ACK) => flags.has(Flags::ECE) && !flags.has(Flags::CWR),
            EcnMode::Classic => flags.has(Flags::ECE.with(Flags::CWR)),
        };
    }

    /// Data with something new has come: CWR ends the echo, a mark begins it.
    #[inline]
    pub(super) fn on_data(&mut self, flags: Flags, ecn: Ecn) {
        if self.in_use {
            self.echoes = (self.echoes && !flags.has(Flags::CWR)) || ecn == Ecn::Ce;
        }
    }

    /// The flags of a segment of this end that acknowledges.
    #[inline]
    pub(super) fn acknowledges_with(self) -> Flags {
        if self.echoes { Flags::ACK.with(Flags::ECE) } else { Flags::ACK }
    }
}
