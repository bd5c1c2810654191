//! The parameters of a station that splits connections.

use crate::hooks::Criterion;
use crate::hooks::parameter::Words;
use crate::transport::tcp::{self, Parts, Profile};
use crate::units::{Bytes, Span};

/// The sender variants that a host registers, by name.
pub trait Variants:
    Parts<Law: Send + Sync, Recovery: Send + Sync, Reaction: Send + Sync> + Send + Sync + 'static
{
    /// The name of a variant.
    type Name: Words + std::fmt::Debug + Send + Sync;

    /// An endpoint with this profile and variant.
    fn endpoint(profile: Profile, variant: Self::Name) -> tcp::Config<Self>;
}

/// Settings common to all stations that split connections.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings<N> {
    /// The flows on which it acts: those between a node ahead and one that is not.
    pub criterion: Criterion,
    /// The profile of both ends, from which the settings below may deviate.
    pub profile: Profile,
    /// Variant of the end towards the mobile.
    pub variant: N,
    /// Maximum number of outstanding segments of that end.
    pub window: u32,
    /// Minimum timeout of that end.
    pub min_rto: Span,
    /// Maximum timeout of that end.
    pub max_rto: Span,
    /// Variant of the end towards the fixed host, which sends the data of the mobile.
    pub wired_variant: N,
    /// Maximum number of outstanding segments of that end.
    pub wired_window: u32,
    /// Bytes of one direction that each of the two ends holds.
    pub buffer: Bytes,
    /// How long a connection is remembered after its end.
    pub linger: Span,
    /// Maximum number of connections.
    pub max_flows: usize,
}

impl<N: Words> Settings<N> {
    /// The defaults, with this variant on both sides, or the first one if there is no such variant.
    pub fn new(variant: &str) -> Settings<N> {
        let found = N::WORDS.iter().find(|(word, _)| *word == variant);
        let variant = found.unwrap_or(&N::WORDS[0]).1;
        Settings {
            criterion: Criterion::default(),
            profile: Profile::Modern,
            variant,
            window: 4096,
            min_rto: Span::from_millis(200),
            max_rto: Span::from_secs(120),
            wired_variant: variant,
            wired_window: 4096,
            buffer: Bytes(65_536),
            linger: Span::from_secs(240),
            max_flows: 16_384,
        }
    }

    /// The endpoint towards the mobile or towards the fixed host, for segments of this size.
    pub(super) fn endpoint<P: Variants<Name = N>>(
        &self,
        is_wired: bool,
        packet: u32,
        extra_header: u16,
    ) -> tcp::Config<P> {
        let variant = if is_wired { self.wired_variant } else { self.variant };
        let mut config = P::endpoint(self.profile, variant);
        (config.packet, config.extra_header) = (packet, extra_header);
        config.receive_buffer = Some(self.buffer.0);
        // Copied data is sent at once.
        config.nagle = false;
        if is_wired {
            config.window = self.wired_window;
        } else {
            (config.window, config.min_rto, config.max_rto) = (self.window, self.min_rto, self.max_rto);
        }
        config
    }
}

impl<N> Settings<N> {
    /// The parameter whose value conflicts with another, and the reason.
    pub(crate) fn conflict(&self) -> Option<(&'static str, String)> {
        let text = || {
            format!(
                "{} s is below wireless-min-rto, {} s; expected no less",
                self.max_rto.as_secs(),
                self.min_rto.as_secs()
            )
        };
        (self.max_rto < self.min_rto).then(|| ("wireless-max-rto", text()))
    }
}

/// The parameters common to all stations that split connections, followed by `$more`.
macro_rules! parameters {
    ($($more:tt)*) => {
        $crate::hooks::parameter::parameters! {
            /// TCP of the station: profile that sets every parameter not named here
            "profile": Words("profile") = settings.profile;
            /// TCP variant of the station towards the mobile
            "wireless-variant": Words("TCP variant") = settings.variant,
                follows("profile", "ns2-2004", Setting::Word("reno"));
            /// maximum window of the station towards the mobile
            "wireless-window": Segments = settings.window, at_least("1 segment"), at_most("1000000 segments"),
                follows("profile", "ns2-2004", Setting::Segments(20));
            /// minimum retransmission timeout of the station towards the mobile
            "wireless-min-rto": Time("ms") = settings.min_rto, above("0 s"), at_most(LONGEST),
                follows("profile", "ns2-2004", Setting::Time(Span::from_secs(1)));
            /// maximum retransmission timeout of the station towards the mobile, back-off included
            "wireless-max-rto": Time("s") = settings.max_rto, above("0 s"), at_most(LONGEST),
                follows("profile", "ns2-2004", Setting::Time(Span::from_secs(60)));
            /// TCP variant of the station towards the fixed host
            "wired-variant": Words("TCP variant") = settings.wired_variant,
                follows("profile", "ns2-2004", Setting::Word("reno"));
            /// maximum window of the station towards the fixed host
            "wired-window": Segments = settings.wired_window, at_least("1 segment"), at_most("1000000 segments"),
                follows("profile", "ns2-2004", Setting::Segments(20));
            /// bytes of one direction that each of the two ends at the station holds: the receive buffer of one, and
            /// what the other has taken and is not acknowledged
            "buffer": Size = settings.buffer, at_least("1 kB"), at_most("1 GB"),
                source("lasthop: schemes/split.rs, choice 3");
            /// time after its last packet for which a closed connection is remembered
            "linger": Time("s") = settings.linger, above("0 s"), at_most(LONGEST),
                source("RFC 9293 (3.6.1): twice the maximum segment lifetime");
            /// maximum number of connections; the SYN of a further one is dropped
            "max-flows": Count = settings.max_flows, at_least("1"), at_most("1000000000");
            $($more)*
        }
    };
}

pub(crate) use parameters;
