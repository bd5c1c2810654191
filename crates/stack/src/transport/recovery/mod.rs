//! Loss recovery: one file per scheme.

mod counted;
mod fack;
mod newreno;
mod rack;
mod reno;
mod sack;
mod sack1;
mod tahoe;
mod uninflated;

pub use counted::Counted;
pub use fack::Fack;
pub use newreno::NewReno;
pub use reno::Reno as RenoRecovery;
pub use sack::Sack;
pub use sack1::Sack1;
pub use tahoe::Tahoe;
pub use uninflated::Uninflated;

use crate::hooks::scoreboard::{DUP_THRESH, Scoreboard};
use crate::hooks::{LossResponse, Pick, Window};
use crate::transport::tcp::{Config, SackPipe};

/// What the recoveries without SACK share: counting duplicates, and going by the window alone.
#[derive(Clone, Debug, Default)]
pub(super) struct Duplicates {
    /// Duplicate acknowledgements since the last advance.
    count: u32,
    /// Segments beyond the window that limited transmit allows.
    extra: u32,
    /// Whether the last duplicate has not sent one of them.
    owes: bool,
    /// Duplicates for data below this offset belong to a loss that was answered already.
    recover: Option<u64>,
    /// Copies of the first unacknowledged segment still to be sent.
    head_copies: u8,
    limited_transmit: bool,
    limited_transmit_resends: bool,
}

impl Duplicates {
    fn new<P>(config: &Config<P>) -> Duplicates {
        Duplicates {
            limited_transmit: config.limited_transmit,
            limited_transmit_resends: config.limited_transmit && config.limited_transmit_resends,
            ..Duplicates::default()
        }
    }

    /// Counts a duplicate; true when it is the one that indicates a new loss.
    fn tell(&mut self, board: &Scoreboard) -> bool {
        self.count += 1;
        self.extra = if self.count < DUP_THRESH { self.count } else { 0 };
        self.owes = true;
        self.count == DUP_THRESH && self.recover.is_none_or(|recover| board.una() > recover)
    }

    fn clear(&mut self) {
        self.count = 0;
        self.extra = 0;
        self.head_copies = 0;
    }

    /// All that was sent is presumed lost, and duplicates for it mean nothing: everything goes again from the hole.
    fn go_back(&mut self, response: LossResponse, board: &mut Scoreboard) {
        self.extra = 0;
        self.recover = Some(board.sent_end());
        self.head_copies = copies_ahead(response);
        (board.base()..board.next()).for_each(|number| board.suspect(number));
        board.go_back();
    }

    /// The head's copies first, then along the window: inflated while fast recovery lasts, otherwise with what limited
    /// transmit adds (RFC 3042).
    fn next(&self, board: &Scoreboard, window: &Window, inflation: Option<f64>) -> Option<Pick> {
        if self.head_copies > 0 && !board.is_empty() {
            return Some(Pick::Again(board.base()));
        }
        if let Some(inflation) = inflation {
            return along_window(board, window.inflated(inflation) as u32, 0);
        }
        let allowed = if board.is_behind() { self.limited_transmit_resends } else { self.limited_transmit };
        // Each duplicate sends one: what others could not send does not leave with it.
        along_window(board, window.cwnd as u32, if allowed && self.owes { self.extra } else { 0 })
    }

    /// How many new segments may leave outside recovery, where no duplicates have come and nothing is to be sent again.
    #[inline]
    fn allows_new(&self, board: &Scoreboard, window: &Window) -> Option<u32> {
        let is_plain = self.head_copies == 0 && self.extra == 0 && !board.is_behind();
        is_plain.then(|| (window.cwnd as u32).saturating_sub(board.flight()))
    }

    fn on_sent(&mut self, pick: Pick, board: &Scoreboard) {
        if self.head_copies > 0 && pick == Pick::Again(board.base()) {
            self.head_copies -= 1;
        }
        self.owes = false;
    }
}

/// Copies of the first segment that leave before a go-back. The go-back begins after them, so that a single one needs
/// none ahead.
fn copies_ahead(response: LossResponse) -> u8 {
    if response.copies > 1 { response.copies } else { 0 }
}

/// The next segment along the window: sent before if a go-back is under way, new otherwise.
fn along_window(board: &Scoreboard, window: u32, extra: u32) -> Option<Pick> {
    if board.is_behind() {
        return (board.flight() < window + extra).then(|| Pick::Again(board.next()));
    }
    (board.flight() < window + extra).then_some(Pick::New)
}

/// Recovery without selective acknowledgements that partial acknowledgements do not end, by what duplicates mean.
#[derive(Clone, Debug)]
pub enum NewRenoRecovery {
    /// They inflate the window (RFC 6582).
    Inflated(NewReno),
    /// They count as deliveries (Linux).
    Counted(Counted),
}

impl NewRenoRecovery {
    /// A recovery in which duplicates mean what the configuration says.
    #[must_use]
    pub fn new<P>(config: &Config<P>) -> NewRenoRecovery {
        if config.newreno_counts && !config.sack {
            NewRenoRecovery::Counted(Counted::new(config))
        } else {
            NewRenoRecovery::Inflated(NewReno::new(config))
        }
    }
}

/// Recovery from selective acknowledgements, by either account of what is in the network.
#[derive(Clone, Debug)]
pub enum SackRecovery {
    /// RFC 6675's.
    Scoreboard(Sack),
    /// ns-2's.
    Counted(Sack1),
}

impl SackRecovery {
    /// A recovery by the account that the configuration names.
    #[must_use]
    pub fn new<P>(config: &Config<P>) -> SackRecovery {
        match config.sack_pipe {
            SackPipe::Scoreboard => SackRecovery::Scoreboard(Sack::new(config)),
            SackPipe::Counted => SackRecovery::Counted(Sack1::new(config)),
        }
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! What the tests of the recoveries share.

    use crate::hooks::scoreboard::Scoreboard;
    use crate::hooks::{Fresh, LossResponse, Pick, Recovery, Verdict, Window};
    use crate::registry::tcp::Config;
    use crate::transport::tcp::{LossDetection, Profile};
    use crate::units::Time;

    /// Payload of the segments here.
    pub(crate) const LEN: u64 = 100;

    pub(crate) const REDUCED: LossResponse = LossResponse::REDUCED;

    pub(crate) fn config() -> Config {
        Config { loss_detection: LossDetection::Duplicates, ..Profile::Modern.config() }
    }

    /// This many segments outstanding.
    pub(crate) fn board(segments: u32) -> Scoreboard {
        let mut board = Scoreboard::default();
        for _ in 0..segments {
            board.push(LEN as u32, false, Time::ZERO);
        }
        board
    }

    /// A window as a loss left it.
    pub(crate) fn window(cwnd: f64) -> Window {
        Window::new(cwnd, Some(cwnd), 1000.0)
    }

    /// Sends what the recovery picks until it picks no more, and returns it.
    pub(crate) fn send(
        recovery: &mut impl Recovery,
        board: &mut Scoreboard,
        window: &Window,
        fresh: Fresh,
    ) -> Vec<Pick> {
        send_at(Time::ZERO, recovery, board, window, fresh)
    }

    /// The same at a later time.
    pub(super) fn send_at(
        now: Time,
        recovery: &mut impl Recovery,
        board: &mut Scoreboard,
        window: &Window,
        fresh: Fresh,
    ) -> Vec<Pick> {
        let mut sent = Vec::new();
        while let Some(pick) = recovery.next(board, window, fresh) {
            match pick {
                Pick::New if fresh == Fresh::Withheld => break,
                Pick::New => board.push(LEN as u32, false, now),
                Pick::Again(number) => board.resend(number, now),
            }
            recovery.on_sent(pick, board);
            sent.push(pick);
            assert!(sent.len() < 100, "it sends without end");
        }
        sent
    }

    /// Sends this many duplicates; the verdict of the last.
    pub(crate) fn duplicates(
        recovery: &mut impl Recovery,
        board: &mut Scoreboard,
        window: &mut Window,
        count: u32,
    ) -> Verdict {
        (0..count).map(|_| recovery.on_duplicate(board, window)).last().unwrap_or(Verdict::Open)
    }
}
