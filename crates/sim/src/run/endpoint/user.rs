//! A user at the receiving end of a flow: opens a connection per session, sends requests, and reads the replies.
//!
//! A session is one connection with its own ports and initial sequence numbers. The client opens it and sends a request
//! for each object; the server answers with the bytes of the object, and closes after the last one. A transfer (a file,
//! a page, a message) lasts from the user's request until its last byte has arrived in order. For the first of a
//! connection, the request is the opening. The user then pauses; the next session begins after the pause, once the
//! previous connection is closed at both ends.
//!
//! The two ends are created anew in their place. Late packets of an earlier connection are addressed to its ports,
//! which are not those of the current one, and go no further.

use lasthop_stack::packet::Packet;
use lasthop_stack::registry::tcp::{Connection, Role};
use lasthop_stack::units::{SeqNo, Span};

use super::{End, Host};
use crate::engine::queue::Slot;
use crate::engine::streams::Stream;
use crate::net::Net;
use crate::probe::transfers::Transfer;
use crate::traffic::AppConfig;
use crate::traffic::sessions::{Class, User as Draws};

/// The server sends, and is the first end of its flow.
const SERVER: usize = 0;
const CLIENT: usize = 1;

/// The two ends of the connections of a user.
pub(super) trait Ends {
    /// Bytes in order that an end has received on this connection.
    fn received(&self, side: usize) -> u64;

    /// Whether the next connection may begin.
    fn are_done(&self) -> bool;

    /// Makes both ends those of the connection with this number; `numbers` gives initial sequence numbers.
    fn renew(&mut self, flow: u32, number: u32, numbers: &mut Stream, net: &mut Net);

    /// An end opens the connection.
    fn open(&mut self, side: usize, places: &[End; 2], net: &mut Net);

    /// An end writes.
    fn write(&mut self, side: usize, bytes: u64, places: &[End; 2], net: &mut Net);

    /// An end closes after what it has written.
    fn close(&mut self, side: usize, places: &[End; 2], net: &mut Net);
}

impl Ends for [Connection; 2] {
    fn received(&self, side: usize) -> u64 {
        self[side].receiver().in_order()
    }

    fn are_done(&self) -> bool {
        self.iter().all(Connection::is_done)
    }

    /// They are done, so none of their timers is needed.
    fn renew(&mut self, flow: u32, number: u32, numbers: &mut Stream, net: &mut Net) {
        let [server, client] = [SERVER, CLIENT].map(|side| net.ports.of(flow, side, number));
        for (side, role, ports) in
            [(SERVER, Role::Passive, (server, client)), (CLIENT, Role::Active, (client, server))]
        {
            net.losses.follow(self[side].port(), ports.0);
            net.on_renewed(2 * flow + side as u32);
            self[side].renew(role, ports, SeqNo(numbers.next_u64() as u32));
        }
    }

    fn open(&mut self, side: usize, places: &[End; 2], net: &mut Net) {
        self[side].open(net.now, &mut Host { net, end: &places[side] });
    }

    fn write(&mut self, side: usize, bytes: u64, places: &[End; 2], net: &mut Net) {
        Host { net, end: &places[side] }.write(&mut self[side], bytes);
    }

    fn close(&mut self, side: usize, places: &[End; 2], net: &mut Net) {
        Host { net, end: &places[side] }.close(&mut self[side]);
    }
}

/// A user, and the application that serves it.
pub(super) struct User {
    draws: Draws,
    numbers: Stream,
    flow: u32,
    slot: Slot,
    phase: Phase,
    is_over: bool,
    class: Class,
    /// Sessions so far.
    sessions: u32,
    /// Transfers still to be made on this connection, the present one included.
    transfers: u32,
    /// The sizes of the objects of this transfer, and how many of them are there.
    objects: Vec<u64>,
    arrived: usize,
    /// The record of this transfer.
    record: usize,
    /// Bytes of the client's requests on this connection, and of the server's answers.
    asked: u64,
    answered: u64,
    /// Bytes received on earlier connections, in all and by class.
    before: u64,
    before_by_class: [u64; 3],
}

/// The activity of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Pauses; the timer starts the next session.
    Pauses,
    /// Would begin a session, but the last connection is not closed yet.
    Waits,
    /// Waits for the server to start sending the requested object.
    Asks,
    /// Receives it.
    Gets,
    /// Parses a page; the timer starts the next request.
    Parses,
    /// Reads a page; the timer starts the request for the next one on the same connection.
    Reads,
}

impl User {
    /// A user whose first session begins when the application does. `numbers` gives initial sequence
    /// numbers.
    pub(super) fn new(
        mut draws: Draws,
        numbers: Stream,
        flow: u32,
        slot: Slot,
        app: &AppConfig,
        net: &mut Net,
    ) -> User {
        net.queue.set(slot, app.start.after(draws.draw_spread(app.spread)));
        User {
            objects: draws.room(),
            draws,
            numbers,
            flow,
            slot,
            phase: Phase::Pauses,
            is_over: false,
            class: Class::Ftp,
            sessions: 0,
            transfers: 0,
            arrived: 0,
            record: 0,
            asked: 0,
            answered: 0,
            before: 0,
            before_by_class: [0; 3],
        }
    }

    /// Whether a packet belongs to an earlier connection.
    pub(super) fn is_late(packet: &Packet, end: &Connection) -> bool {
        packet.ports().1 != end.port()
    }

    /// No further session begins; one under way continues.
    pub(super) fn stop(&mut self) {
        self.is_over = true;
    }

    /// Bytes received on all connections.
    pub(super) fn delivered(&self, ends: &impl Ends) -> u64 {
        self.before + ends.received(CLIENT)
    }

    /// The same by class.
    pub(super) fn by_class(&self, ends: &impl Ends) -> [u64; 3] {
        let mut bytes = self.before_by_class;
        bytes[self.class as usize] += ends.received(CLIENT);
        bytes
    }

    /// A pause is over.
    pub(super) fn on_timer(&mut self, ends: &mut impl Ends, places: &[End; 2], net: &mut Net) {
        match self.phase {
            Phase::Pauses => {
                self.phase = Phase::Waits;
                self.begin_if_closed(ends, places, net);
            }
            Phase::Parses => self.ask(ends, places, net),
            Phase::Reads => {
                self.begin_transfer(net);
                self.ask(ends, places, net);
            }
            Phase::Waits | Phase::Asks | Phase::Gets => {}
        }
    }

    /// Something has arrived at an end.
    #[inline]
    pub(super) fn on_arrival(&mut self, ends: &mut impl Ends, places: &[End; 2], net: &mut Net) {
        match self.phase {
            Phase::Asks if ends.received(SERVER) >= self.asked => self.answer(ends, places, net),
            Phase::Gets if ends.received(CLIENT) >= self.answered => self.take(ends, places, net),
            Phase::Waits => self.begin_if_closed(ends, places, net),
            _ => {}
        }
    }

    fn begin_if_closed(&mut self, ends: &mut impl Ends, places: &[End; 2], net: &mut Net) {
        let closed = self.sessions == 0 || ends.are_done();
        if self.is_over || !closed {
            return;
        }
        if self.sessions > 0 {
            self.renew(ends, net);
        }
        self.sessions += 1;
        self.class = self.draws.draw_class();
        self.transfers = self.draws.transfers(self.class);
        self.begin_transfer(net);
        ends.open(CLIENT, places, net);
        self.ask(ends, places, net);
    }

    /// Makes both ends those of a new connection.
    fn renew(&mut self, ends: &mut impl Ends, net: &mut Net) {
        let came = ends.received(CLIENT);
        self.before += came;
        self.before_by_class[self.class as usize] += came;
        (self.asked, self.answered) = (0, 0);
        ends.renew(self.flow, self.sessions, &mut self.numbers, net);
    }

    fn begin_transfer(&mut self, net: &mut Net) {
        self.draws.draw_objects(self.class, &mut self.objects);
        self.arrived = 0;
        self.record = net.transfers.len();
        let bytes = self.objects.iter().sum();
        let (flow, class, begun) = (self.flow, self.class, net.now);
        net.transfers.push(Transfer { flow, class, begun, ended: None, bytes });
    }

    /// The client requests the next object.
    fn ask(&mut self, ends: &mut impl Ends, places: &[End; 2], net: &mut Net) {
        let request = self.draws.request(self.class);
        self.asked += request;
        self.phase = Phase::Asks;
        ends.write(CLIENT, request, places, net);
    }

    /// The request has arrived: the server sends the object, and closes after the last one.
    fn answer(&mut self, ends: &mut impl Ends, places: &[End; 2], net: &mut Net) {
        let size = self.objects[self.arrived];
        self.answered += size;
        self.phase = Phase::Gets;
        ends.write(SERVER, size, places, net);
        if self.transfers == 1 && self.arrived + 1 == self.objects.len() {
            ends.close(SERVER, places, net);
        }
    }

    /// An object has arrived.
    fn take(&mut self, ends: &mut impl Ends, places: &[End; 2], net: &mut Net) {
        self.arrived += 1;
        if self.arrived < self.objects.len() {
            if self.arrived > 1 {
                return self.ask(ends, places, net);
            }
            let parsing = self.draws.draw_parsing();
            return self.wait(Phase::Parses, parsing, net);
        }
        net.transfers[self.record].ended = Some(net.now);
        self.transfers -= 1;
        let pause = self.draws.draw_pause(self.class);
        self.wait(if self.transfers > 0 { Phase::Reads } else { Phase::Pauses }, pause, net);
    }

    fn wait(&mut self, phase: Phase, span: Span, net: &mut Net) {
        self.phase = phase;
        net.queue.set(self.slot, net.now.after(span));
    }
}
