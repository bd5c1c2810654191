//! All loss recoveries.

use super::{Entry, kinds};
use crate::hooks::parameter::{Described, Exception, Setting, Spec};
use crate::hooks::scoreboard::Scoreboard;
use crate::hooks::{Declared, Fresh, LossResponse, Pick, Recovery, Verdict, Window};
use crate::transport::recovery::{Fack, NewRenoRecovery, RenoRecovery, SackRecovery, Tahoe, Uninflated};
use crate::transport::tcp::Config;
use crate::units::Time;

kinds! {
    /// What to resend, and when recovery ends.
    RecoveryKind, RecoveryConfig, RecoveryMachine;
    Tahoe(Tahoe), () = "tahoe" as "Tahoe", "Jacobson 1988", "third duplicate ACK: window of one segment, retransmission of everything from the missing segment";
    Reno(RenoRecovery), () = "reno" as "Reno", "RFC 5681 (3.2)", "fast retransmit and fast recovery, which any new acknowledgement ends";
    Uninflated(Uninflated), () = "uninflated" as "uninflated Reno", "ns-2 module of Westwood, June 2002", "fast retransmit without fast recovery: duplicate acknowledgements do not inflate the window";
    NewReno(NewRenoRecovery), () = "newreno" as "NewReno", "RFC 6582", "fast recovery that partial acknowledgements do not end";
    Sack(SackRecovery), () = "sack" as "SACK", "RFC 6675", "conservative recovery based on selective acknowledgements";
    Fack(Fack), () = "fack" as "FACK", "Mathis and Mahdavi 1996", "forward acknowledgement: uses the highest selectively acknowledged byte";
}

impl RecoveryKind {
    /// A recovery of this kind at the start of a connection.
    #[must_use]
    pub fn build<P>(self, config: &Config<P>) -> RecoveryMachine {
        match self {
            RecoveryKind::Tahoe => RecoveryMachine::Tahoe(Tahoe::new(config)),
            RecoveryKind::Reno => RecoveryMachine::Reno(RenoRecovery::new(config)),
            RecoveryKind::Uninflated => RecoveryMachine::Uninflated(Uninflated::default()),
            RecoveryKind::NewReno => RecoveryMachine::NewReno(NewRenoRecovery::new(config)),
            RecoveryKind::Sack => RecoveryMachine::Sack(SackRecovery::new(config)),
            RecoveryKind::Fack => RecoveryMachine::Fack(Fack::new(config)),
        }
    }
}

macro_rules! each {
    ($machine:expr, $recovery:ident => $call:expr) => {
        match $machine {
            RecoveryMachine::Tahoe($recovery) => $call,
            RecoveryMachine::Reno($recovery) => $call,
            RecoveryMachine::Uninflated($recovery) => $call,
            RecoveryMachine::NewReno(NewRenoRecovery::Inflated($recovery)) => $call,
            RecoveryMachine::NewReno(NewRenoRecovery::Counted($recovery)) => $call,
            RecoveryMachine::Sack(SackRecovery::Scoreboard($recovery)) => $call,
            RecoveryMachine::Sack(SackRecovery::Counted($recovery)) => $call,
            RecoveryMachine::Fack($recovery) => $call,
        }
    };
}

impl Recovery for RecoveryMachine {
    #[inline]
    fn on_advance(&mut self, segments: u32, board: &mut Scoreboard, window: &mut Window) -> Verdict {
        each!(self, recovery => recovery.on_advance(segments, board, window))
    }

    fn on_duplicate(&mut self, board: &mut Scoreboard, window: &mut Window) -> Verdict {
        each!(self, recovery => recovery.on_duplicate(board, window))
    }

    fn begin(&mut self, response: LossResponse, board: &mut Scoreboard, window: &mut Window) {
        each!(self, recovery => recovery.begin(response, board, window));
    }

    fn on_timeout(&mut self, response: LossResponse, board: &mut Scoreboard) {
        each!(self, recovery => recovery.on_timeout(response, board));
    }

    #[inline]
    fn next(&mut self, board: &Scoreboard, window: &Window, fresh: Fresh) -> Option<Pick> {
        each!(self, recovery => recovery.next(board, window, fresh))
    }

    #[inline]
    fn allows_new(&self, board: &Scoreboard, window: &Window) -> Option<u32> {
        each!(self, recovery => recovery.allows_new(board, window))
    }

    #[inline]
    fn on_sent(&mut self, pick: Pick, board: &Scoreboard) {
        each!(self, recovery => recovery.on_sent(pick, board));
    }

    #[inline]
    fn inflation(&self) -> f64 {
        each!(self, recovery => recovery.inflation())
    }

    #[inline]
    fn is_by_time(&self) -> bool {
        each!(self, recovery => recovery.is_by_time())
    }

    #[inline]
    fn wakes_at(&self) -> Option<Time> {
        each!(self, recovery => recovery.wakes_at())
    }

    fn on_time(&mut self, board: &mut Scoreboard) -> bool {
        each!(self, recovery => recovery.on_time(board))
    }

    fn on_duplicate_report(&mut self, ack: u64, board: &Scoreboard) {
        each!(self, recovery => recovery.on_duplicate_report(ack, board));
    }

    fn undo(&mut self, declared: Declared, board: &mut Scoreboard) {
        each!(self, recovery => recovery.undo(declared, board));
    }

    fn holds_sacked(&self) -> bool {
        each!(self, recovery => recovery.holds_sacked())
    }

    #[inline]
    fn goes_by_pipe(&self) -> bool {
        each!(self, recovery => recovery.goes_by_pipe())
    }

    #[inline]
    fn assumes(&self) -> bool {
        each!(self, recovery => recovery.assumes())
    }

    fn has_reduced(&self, board: &Scoreboard) -> bool {
        each!(self, recovery => recovery.has_reduced(board))
    }

    #[inline]
    fn is_active(&self) -> bool {
        each!(self, recovery => recovery.is_active())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::LossResponse;
    use crate::transport::recovery::testing::{REDUCED, board, config, duplicates, send, window};

    fn machines() -> impl Iterator<Item = RecoveryMachine> {
        RecoveryKind::ALL.iter().map(|kind| kind.build(&config()))
    }

    #[test]
    fn a_timeout_sends_as_many_copies_of_the_first_segment_as_the_law_asks_for_and_goes_on_behind_it() {
        for mut recovery in machines() {
            let (mut board, window) = (board(8), window(3.0));
            recovery.on_timeout(LossResponse { copies: 2, ..REDUCED }, &mut board);
            let sent = send(&mut recovery, &mut board, &window, Fresh::Ready);
            assert_eq!(sent[..3], [Pick::Again(0), Pick::Again(0), Pick::Again(1)], "{recovery:?}");
        }
    }

    #[test]
    fn a_loss_told_by_duplicates_is_sent_in_as_many_copies_as_the_law_asks_for() {
        for mut recovery in machines() {
            let (mut board, mut window) = (board(8), window(8.0));
            board.sack(200, 600);
            duplicates(&mut recovery, &mut board, &mut window, 3);
            recovery.begin(LossResponse { copies: 2, ..REDUCED }, &mut board, &mut window);
            let sent = send(&mut recovery, &mut board, &window, Fresh::Withheld);
            let firsts = sent.iter().filter(|pick| **pick == Pick::Again(0)).count();
            assert_eq!(firsts, 2, "{recovery:?}");
        }
    }
}
