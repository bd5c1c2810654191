//! The words of the trace of events.

/// An enumeration with a word for each variant, in the order of the codes.
macro_rules! vocabulary {
    ($(#[$about:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name { $($(#[$of])* $variant,)* }

        impl $name {
            /// The words, in the order of the codes.
            pub(super) const NAMES: &'static [&'static str] = &[$($word,)*];
        }
    };
}

vocabulary! {
    /// The layer of the event.
    Layer {
        App = "app",
        Tcp = "tcp",
        Udp = "udp",
        Agent = "agent",
        /// The link of a node: its queue, what it delivers upwards, and what it loses.
        Link = "link",
        /// The medium: each transmission and its outcome.
        Frame = "frame",
        /// The MPDUs of an A-MPDU, which is a frame with several.
        Mpdu = "mpdu",
    }
}

vocabulary! {
    /// The event.
    Event {
        // Applications.
        Write = "write",
        Read = "read",
        Close = "close",
        // Transports and the medium.
        Send = "send",
        Receive = "receive",
        // TCP senders.
        Ack = "ack",
        Partial = "partial",
        DupAck = "dupack",
        Enter = "enter",
        Exit = "exit",
        Timeout = "timeout",
        // TCP timers.
        Set = "set",
        Cancel = "cancel",
        Fire = "fire",
        // Agents.
        Make = "make",
        Change = "change",
        Keep = "keep",
        Release = "release",
        Again = "again",
        // Links.
        Queue = "queue",
        Done = "done",
        Lost = "lost",
        Copy = "copy",
    }
}

vocabulary! {
    /// The object of the event: a packet by its content, a frame by its kind, a timer by its name.
    What {
        Nothing = "",
        Data = "data",
        Ack = "ack",
        Syn = "syn",
        SynAck = "syn-ack",
        Fin = "fin",
        Reset = "reset",
        Datagram = "datagram",
        Rts = "rts",
        Cts = "cts",
        Null = "null",
        Beacon = "beacon",
        CfEnd = "cf-end",
        Packet = "packet",
        Retransmit = "retransmit",
        DelayedAck = "delayed-ack",
        Pace = "pace",
        BlockAck = "block-ack",
        BlockAckReq = "block-ack-request",
        Aggregate = "a-mpdu",
        Trigger = "trigger",
        MuRts = "mu-rts",
    }
}

vocabulary! {
    /// The reason of the event.
    Why {
        Nothing = "",
        // A transport sends.
        New = "new",
        FastRetransmit = "fast-retransmit",
        Timeout = "timeout",
        /// Retransmitted for neither reason: a window or a link has opened.
        Again = "again",
        Probe = "probe",
        // A transport receives.
        InOrder = "in-order",
        Early = "early",
        Repeat = "repeat",
        // An application writes.
        Endless = "endless",
        // An agent changes a packet: the field.
        AckFlag = "ack-flag",
        Flags = "flags",
        Numbers = "numbers",
        Window = "window",
        Options = "options",
        Length = "length",
        // A link completes a packet, or something is lost.
        Delivered = "delivered",
        Flushed = "flushed",
        Queue = "queue",
        Error = "error",
        AboveMac = "above-mac",
        Collision = "collision",
        Outage = "outage",
        OutOfReach = "out-of-reach",
        RetryLimit = "retry-limit",
        Late = "late",
        Count = "count",
        Lifetime = "lifetime",
        Suppressed = "suppressed",
        NoRoute = "no-route",
        Deaf = "deaf",
        Policer = "policer",
    }
}
