//! The configuration of applications.

use lasthop_stack::hooks::parameter::words;
use lasthop_stack::units::{Bytes, Rate, Span, Time};

/// A source.
#[derive(Clone, Debug)]
pub struct AppConfig {
    /// When it starts.
    pub start: Time,
    /// It starts within this time after [`Self::start`], at a moment drawn for each flow.
    pub spread: Span,
    /// When it stops; TCP then closes after what was written.
    pub stop: Option<Time>,
    /// Its law.
    pub kind: AppKind,
}

/// The law of a source.
#[derive(Clone, Debug, PartialEq)]
pub enum AppKind {
    /// As much as the transport takes.
    Bulk,
    /// This many bytes, then close.
    File {
        /// Size of the file.
        size: Bytes,
    },
    /// A file as datagrams.
    Datagrams {
        /// Size of the file.
        size: Bytes,
        /// Payload of a datagram; the last may be smaller.
        packet: u32,
        /// Payload bits per second, or all at once.
        rate: Option<Rate>,
    },
    /// Packets at a constant distance.
    Cbr {
        /// Payload bits per second.
        rate: Rate,
        /// Payload of a packet.
        packet: u32,
    },
    /// Packets at exponential distances.
    Poisson {
        /// Mean payload bits per second.
        rate: Rate,
        /// Payload of a packet.
        packet: u32,
    },
    /// Constant rate in bursts.
    OnOff {
        /// Payload bits per second while on.
        rate: Rate,
        /// Payload of a packet.
        packet: u32,
        /// Mean length of a burst.
        on: Span,
        /// Mean length of a pause.
        off: Span,
        /// Distribution of both.
        law: OnOffLaw,
    },
    /// A request at each interval, which the receiving end answers with the same payload: a probe of the round trip.
    Ping {
        /// From one request to the next.
        interval: Span,
        /// Payload of a request, and of its answer.
        packet: u32,
    },
    /// A user at the receiving node who opens a connection for each session, and requests data from the sending node.
    User(Box<UserConfig>),
}

/// The behaviour of a user, session by session.
#[derive(Clone, Debug, PartialEq)]
pub struct UserConfig {
    /// The share of each class, in the order of [`Class::ALL`](crate::traffic::sessions::Class::ALL).
    pub shares: [f64; 3],
    /// The total that the shares refer to.
    pub by: Shares,
    /// Files.
    pub ftp: Files,
    /// Web pages.
    pub web: Pages,
    /// Messages.
    pub mail: Files,
    /// The law of all pauses.
    pub pauses: PauseLaw,
}

/// What the shares of classes are shares of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shares {
    /// Sessions, each of which draws its class.
    Session,
    /// Clients, each of which draws the class of all its sessions.
    Client,
    /// Mean bytes requested; each session draws its class.
    Bytes,
}

words! { Shares: Session = "session", Client = "client", Bytes = "bytes" }

/// Transfers of one size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// Bytes of a file or message.
    pub size: Bytes,
    /// Bytes of the request.
    pub request: Bytes,
    /// Mean pause after it.
    pub pause: Span,
}

/// Web pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pages {
    /// The contents of a page.
    pub model: PageModel,
    /// Bytes of the request for an object.
    pub request: Bytes,
    /// Pages that are requested on one connection.
    pub pages: u32,
    /// Mean time for which a page is read.
    pub reading: Span,
    /// Mean time between the main object and the request for the first embedded one.
    pub parsing: Span,
}

/// The contents of a web page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageModel {
    /// The model of 3GPP2 C.R1002.
    ThreeGpp2,
    /// Always the same.
    Fixed {
        /// Bytes of the main object.
        main: Bytes,
        /// Number of embedded objects.
        objects: u32,
        /// Bytes of each.
        object: Bytes,
    },
}

/// The law of pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseLaw {
    /// Exponential.
    Exponential,
    /// Always the mean.
    Fixed,
}

words! { PauseLaw: Exponential = "exponential", Fixed = "fixed" }

/// Distribution of bursts and pauses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OnOffLaw {
    /// Exponential.
    Exponential,
    /// Pareto with this shape (above 1).
    Pareto(f64),
    /// Always the mean.
    Fixed,
}
