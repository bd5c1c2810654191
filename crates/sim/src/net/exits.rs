//! Where a packet can go from a node.

/// The target of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    Channel(u32),
    Station { wlan: u32, station: u32 },
    Slotted { frn: u32, station: u32 },
}

/// The receiver of a packet at a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Way {
    /// It has arrived, or does not pass here.
    #[default]
    Ends,
    /// A channel that other packets come to as well.
    Channel(u32),
    /// A channel that only the one it comes from feeds.
    Relay(u32),
    /// A channel behind agents.
    Guarded(u32),
    /// A station of a medium.
    Station { wlan: u32, station: u32 },
    /// A station of a slotted network.
    Slotted { frn: u32, station: u32 },
}

impl Way {
    /// The way over an interface, at which agents sit or not.
    pub(super) fn over(exit: Exit, is_guarded: bool) -> Way {
        match exit {
            Exit::Channel(channel) if is_guarded => Way::Guarded(channel),
            Exit::Channel(channel) => Way::Channel(channel),
            Exit::Station { wlan, station } => Way::Station { wlan, station },
            Exit::Slotted { frn, station } => Way::Slotted { frn, station },
        }
    }
}
