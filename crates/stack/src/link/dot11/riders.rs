//! What rides in acknowledgements: a few bytes of an agent in the next one to a neighbour.
//!
//! The duration field of the data frame reserves the medium for an acknowledgement without them; for the time that they
//! take longer the others hear the carrier.

use super::frame::{Frame, FrameKind};
use super::rates::Airtime;
use super::timing::{Response, Rules};
use crate::hooks::Rider;
use crate::packet::NodeId;

/// The riders of a station.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Riders {
    /// Waits for the next acknowledgement to this neighbour.
    waiting: Option<(NodeId, Rider)>,
    /// What went with the acknowledgement of this frame: its transmitter, sequence number and fragment.
    gone: Option<(NodeId, u16, u8, Rider)>,
}

impl Riders {
    /// Something to ride in the next acknowledgement to a neighbour, in the place of what waits.
    pub(super) fn take(&mut self, to: NodeId, rider: Rider) {
        self.waiting = Some((to, rider));
    }

    /// The acknowledgement of a data frame from `address`, with its airtime. One that is acknowledged again carries again
    /// what it carried.
    pub(super) fn board(
        &mut self,
        data: &Frame,
        address: NodeId,
        response: &Response,
        rules: &Rules,
    ) -> (Frame, Airtime) {
        let ack = |bytes| Frame::new(FrameKind::Ack, data.transmitter, address, bytes, response.rate);
        let plain = rules.config.ack;
        let Some(rider) = self.of(data) else { return (ack(plain), response.ack) };
        let bytes = plain + u32::from(rider.bytes);
        let airtime = rules.config.phy.airtime(bytes, 0, response.rate);
        (Frame { rider: Some(rider), ..ack(bytes) }, airtime)
    }

    fn of(&mut self, data: &Frame) -> Option<Rider> {
        let Frame { transmitter, sequence, fragment, .. } = *data;
        match self.gone {
            Some((to, of, part, rider)) if (to, of, part) == (transmitter, sequence, fragment) => Some(rider),
            _ => {
                let (_, rider) = self.waiting.take_if(|(to, _)| *to == transmitter)?;
                self.gone = Some((transmitter, sequence, fragment, rider));
                Some(rider)
            }
        }
    }
}
