//! The keys of TCP and UDP: how a flow chooses its parts. The parameters of an endpoint are its own ([`super::described`]).

use super::super::hosted;
use super::shared::{IF_TCP, SIZE};
use super::{Key, Kind, Only, Part, WESTWOOD_RECOVERY};
use lasthop_stack::hooks::parameter::{Published, Setting, words};
use lasthop_stack::registry::{CongestionKind, ReactionKind, RecoveryKind, VARIANTS, Variant, tcp};
use lasthop_stack::transport::tcp::Profile;

const IF_UDP: &[Only] = &[Only::Udp];

/// The keys under `[flows.NAME.tcp]` that choose the parts.
pub(super) const TCP: &[Key] = &[
    Key::new(
        "flows.*.tcp.profile",
        Kind::Word("profile", words::<Profile>),
        "set of TCP defaults: a current host (Linux 6), the RFCs where Linux departs from them, or ns-2 in 2004",
    )
    .default("modern")
    .only(IF_TCP),
    Key::new(
        "flows.*.tcp.variant",
        Kind::Word("variant", || VARIANTS.iter().map(|variant| variant.name).chain(hosted::names()).collect()),
        "preset of recovery and congestion law",
    )
    .profile(
        variant,
        Published { ns2: "RFC 3782", modern: "Linux: tcp_congestion_control", rfc: Some("RFC 9438") },
    )
    .only(IF_TCP),
    Key::new(
        WESTWOOD_RECOVERY.1,
        Kind::Word("recovery", || vec!["newreno", "reno", "uninflated"]),
        "recovery of the variant westwood, which tcp.recovery overrides: NewReno's, Reno's, or that of ns-2's module of 2002",
    )
    .default("newreno")
    .source("Mascolo et al. 2001; ns-2 module of Westwood, June 2002")
    .only(&[Only::Is("flows.*.tcp.variant", &[WESTWOOD_RECOVERY.0])]),
    Key::new(
        "flows.*.tcp.recovery",
        Kind::Word("recovery", || RecoveryKind::ALL.iter().map(|kind| kind.entry().name).collect()),
        "loss recovery: which segments are retransmitted, and when recovery ends",
    )
    .part_of_variant(Part::Recovery)
    .only(IF_TCP),
    Key::new(
        "flows.*.tcp.congestion",
        Kind::Word("congestion law", laws),
        "congestion control law",
    )
    .part_of_variant(Part::Congestion)
    .only(IF_TCP),
    Key::new(
        "flows.*.tcp.reaction",
        Kind::Word("reaction", || ReactionKind::ALL.iter().map(|kind| kind.entry().name).collect()),
        "what an end does at events of its own link: outages, hand-offs, warnings; unset means nothing",
    )
    .absent()
    .only(IF_TCP),
];

/// The keys under `[flows.NAME.udp]`.
pub(super) const UDP: &[Key] =
    &[Key::new("flows.*.udp.extra-header", SIZE, "bytes that a routing protocol adds to every packet")
        .default("0 B")
        .at_most("40 B")
        .only(IF_UDP)];

/// The laws that a flow can have: those of the registry, then those of the host.
fn laws() -> Vec<&'static str> {
    let registered = CongestionKind::named_in_scenarios().iter().map(|kind| kind.entry().name);
    registered.chain(hosted::names()).collect()
}

/// The variant of which an endpoint has the parts.
fn variant(tcp: &tcp::Config) -> Setting {
    let pair = |variant: &&Variant| {
        variant.recovery == tcp.parts.recovery && variant.congestion == tcp.parts.law.kind()
    };
    Setting::Word(VARIANTS.iter().find(pair).map_or("", |variant| variant.name))
}
