//! The actions of the application: it writes, reads and closes.

use super::{Connection, State};
use crate::hooks::Out;
use crate::transport::tcp::Parts;
use crate::units::Time;

impl<P: Parts> Connection<P> {
    /// The application writes `bytes`.
    pub fn write(&mut self, bytes: u64, now: Time, out: &mut impl Out) {
        self.sender.write(bytes);
        self.send_what_may_go(now, out);
    }

    /// The application writes its last `bytes` and closes its direction: the FIN goes with them.
    pub fn write_last(&mut self, bytes: u64, now: Time, out: &mut impl Out) {
        self.sender.write(bytes);
        self.close(now, out);
    }

    /// The application closes its direction.
    pub fn close(&mut self, now: Time, out: &mut impl Out) {
        self.sender.close();
        self.send_what_may_go(now, out);
    }

    /// The application closes its direction after what was sent; the rest of what it wrote is forgotten.
    pub fn stop(&mut self, now: Time, out: &mut impl Out) {
        self.sender.truncate();
        self.close(now, out);
    }

    /// The application will call [`Self::close`]; until this is called a passive end closes when its peer has.
    pub fn close_by_hand(&mut self) {
        self.closes_on_eof = false;
    }

    /// This end closes when its peer has.
    pub fn close_after_peer(&mut self) {
        self.closes_on_eof = true;
    }

    /// The application will call [`Self::read`]; until this is called it reads everything as it arrives.
    pub fn read_by_hand(&mut self) {
        self.reads_at_once = 0;
    }

    /// The application reads up to `bytes` of each arrival at once, and of the rest as with [`Self::read_by_hand`].
    pub fn read_at_once(&mut self, bytes: u64) {
        self.reads_at_once = bytes;
    }

    /// The application reads up to `bytes` of what has arrived in order.
    pub fn read(&mut self, bytes: u64, now: Time, out: &mut impl Out) {
        if self.take(bytes, now) && self.state == State::Established {
            self.send_ack(now, out);
        }
    }

    /// The application takes up to `bytes`, by which a window that grows is tuned; returns whether the window opened enough to
    /// announce it.
    #[inline]
    pub(super) fn take(&mut self, bytes: u64, now: Time) -> bool {
        let takes = self.receiver.readable() > 0;
        let opened = self.receiver.read(bytes);
        if takes && self.receiver.is_tuned() {
            self.receiver.tune(now, self.sender.rtt().srtt());
        }
        opened
    }
}
