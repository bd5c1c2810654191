//! Riders: a few bytes of an agent in the next acknowledgement to a neighbour.
//!
//! One goes with an Ack of DCF; as many as [`ROOM`] bytes hold with an Ack or BlockAck of EDCA. An acknowledgement that
//! repeats another carries the same riders again.
//!
//! The duration field of the data frame reserves the medium for an acknowledgement without them; for the time that they
//! take longer the others hear the carrier.

use std::collections::VecDeque;

use super::frame::{Frame, FrameKind};
use super::rates::Airtime;
use super::timing::{Response, Rules};
use crate::hooks::Rider;
use crate::packet::NodeId;

/// Bytes of riders in one acknowledgement.
pub(super) const ROOM: u32 = 512;

/// The riders of a station.
#[derive(Clone, Debug, Default)]
pub(super) struct Riders {
    /// Wait for an acknowledgement to a neighbour.
    waiting: VecDeque<(NodeId, Rider)>,
    /// What went with the acknowledgement of this frame of DCF: its transmitter, sequence number and fragment.
    gone: Option<(NodeId, u16, u8, Rider)>,
}

impl Riders {
    /// Something to ride in the next acknowledgement to a neighbour, instead of what waits.
    pub(super) fn take(&mut self, to: NodeId, rider: Rider) {
        self.waiting.clear();
        self.waiting.push_back((to, rider));
    }

    /// The same, behind what waits.
    pub(super) fn take_behind(&mut self, to: NodeId, rider: Rider) {
        self.waiting.push_back((to, rider));
    }

    /// Removes what waits for a neighbour.
    pub(super) fn unload(&mut self, to: NodeId) {
        self.waiting.retain(|(of, _)| *of != to);
    }

    /// The acknowledgement of a data frame from `address`, with its airtime, and how many go with it for the first time.
    /// One that is acknowledged again carries again what it carried.
    #[inline]
    pub(super) fn board(
        &mut self,
        data: &Frame,
        address: NodeId,
        response: &Response,
        rules: &Rules,
    ) -> (Frame, Airtime, u32) {
        let ack = |bytes| Frame::new(FrameKind::Ack, data.transmitter, address, bytes, response.rate);
        let plain = rules.config.ack;
        let none_waits = self.waiting.is_empty() && self.gone.is_none();
        let (rider, boarded) = if none_waits { (None, 0) } else { self.of(data) };
        let Some(rider) = rider else { return (ack(plain), response.ack, 0) };
        let bytes = plain + rider.len();
        let airtime = rules.config.phy.airtime(bytes, 0, response.rate);
        (Frame { rider: Some(rider), ..ack(bytes) }, airtime, boarded)
    }

    #[inline(never)]
    fn of(&mut self, data: &Frame) -> (Option<Rider>, u32) {
        let Frame { transmitter, sequence, fragment, .. } = *data;
        if let Some((to, of, part, rider)) = self.gone
            && (to, of, part) == (transmitter, sequence, fragment)
        {
            return (Some(rider), 0);
        }
        let Some(place) = self.waiting.iter().position(|(to, _)| *to == transmitter) else {
            return (None, 0);
        };
        let rider = self.waiting.remove(place).map(|(_, rider)| rider);
        self.gone = rider.map(|rider| (transmitter, sequence, fragment, rider));
        (rider, 1)
    }

    /// Adds to those of a repeated acknowledgement what waits for the same neighbour, as far as there is room. Returns the
    /// number of those added.
    pub(super) fn board_all(&mut self, to: NodeId, aboard: &mut Vec<Rider>) -> u32 {
        let mut bytes: u32 = aboard.iter().map(Rider::len).sum();
        let before = aboard.len();
        self.waiting.retain(|(of, rider)| {
            let fits = *of == to && bytes + rider.len() <= ROOM;
            if fits {
                bytes += rider.len();
                aboard.push(*rider);
            }
            !fits
        });
        (aboard.len() - before) as u32
    }
}
