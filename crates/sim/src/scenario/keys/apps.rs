//! The applications at the two ends of a flow: the source that writes and the sink that reads, for the forward data
//! and, over TCP, for the reverse data on the same connection.

use super::super::quantity::Dim;
use super::shared::{FASTEST, IF_TCP, LONGEST, RATE, SIZE, TIME_MS, TIME_S};
use super::words::{App, Bursts, sources};
use super::{Key, Kind, Only};
use lasthop_stack::hooks::parameter::words;

const FILE: Kind = Kind::Quantity(&[Dim::Size, Dim::Packets], "MB");

/// The keys of a source below `$app`, after these that both directions do not share.
macro_rules! source {
    ($app:literal, $($own:expr),+) => {
        &[
            $($own,)+
            Key::new(concat!($app, ".file.size"), FILE, "size of the file; packets have tcp.packet bytes, or file.packet bytes over udp")
                .above("0 B")
                .at_most("1000000000 packets")
                .only(&[Only::Is(concat!($app, ".kind"), &["file"])]),
            Key::new(concat!($app, ".cbr.rate"), RATE, "payload rate in bits per second")
                .above("0 bit/s")
                .at_most(FASTEST)
                .only(&[Only::Is(concat!($app, ".kind"), &["cbr"])]),
            Key::new(concat!($app, ".cbr.packet"), SIZE, "payload of one packet")
                .default("1000 B")
                .at_least("1 B")
                .at_most("65495 B")
                .only(&[Only::Is(concat!($app, ".kind"), &["cbr"])]),
            Key::new(concat!($app, ".poisson.rate"), RATE, "mean payload rate in bits per second")
                .above("0 bit/s")
                .at_most(FASTEST)
                .only(&[Only::Is(concat!($app, ".kind"), &["poisson"])]),
            Key::new(concat!($app, ".poisson.packet"), SIZE, "payload of one packet")
                .default("1000 B")
                .at_least("1 B")
                .at_most("65495 B")
                .only(&[Only::Is(concat!($app, ".kind"), &["poisson"])]),
            Key::new(concat!($app, ".on-off.rate"), RATE, "payload rate during a burst, in bits per second")
                .above("0 bit/s")
                .at_most(FASTEST)
                .only(&[Only::Is(concat!($app, ".kind"), &["on-off"])]),
            Key::new(concat!($app, ".on-off.packet"), SIZE, "payload of one packet")
                .default("1000 B")
                .at_least("1 B")
                .at_most("65495 B")
                .only(&[Only::Is(concat!($app, ".kind"), &["on-off"])]),
            Key::new(concat!($app, ".on-off.on"), TIME_MS, "mean length of a burst")
                .default("500 ms")
                .above("0 s")
                .at_most(LONGEST)
                .only(&[Only::Is(concat!($app, ".kind"), &["on-off"])]),
            Key::new(concat!($app, ".on-off.off"), TIME_MS, "mean length of a pause")
                .default("500 ms")
                .at_most(LONGEST)
                .only(&[Only::Is(concat!($app, ".kind"), &["on-off"])]),
            Key::new(
                concat!($app, ".on-off.law"),
                Kind::Word("law", words::<Bursts>),
                "distribution of bursts and pauses",
            )
            .default("exponential")
            .only(&[Only::Is(concat!($app, ".kind"), &["on-off"])]),
            Key::new(concat!($app, ".on-off.shape"), Kind::Number, "shape of the Pareto distribution")
                .default("1.5")
                .above("1")
                .at_most("1000")
                .only(&[Only::Is(concat!($app, ".on-off.law"), &["pareto"])]),
        ]
    };
}

/// The keys of a sink below `$sink`, which have a meaning under the conditions `$only`.
macro_rules! sink {
    ($sink:literal, $only:expr) => {
        &[
            Key::new(
                concat!($sink, ".buffer"),
                SIZE,
                "receive buffer; none means one segment more than tcp.window",
            )
            .or(&["none"])
            .default("none")
            .at_most("1 GiB")
            .only($only),
            Key::new(concat!($sink, ".read-rate"), RATE, "rate at which the receiving application reads")
                .or(&["unlimited"])
                .default("unlimited")
                .above("0 bit/s")
                .at_most(FASTEST)
                .only($only),
            Key::new(
                concat!($sink, ".pause-at"),
                TIME_S,
                "time at which the receiving application pauses reading",
            )
            .or(&["none"])
            .default("none")
            .at_most(LONGEST)
            .only($only),
            Key::new(concat!($sink, ".pause"), TIME_S, "duration of the pause")
                .default("0 s")
                .at_most(LONGEST)
                .only($only),
        ]
    };
}

/// The kinds of sources, and none.
fn sources_or_none() -> Vec<&'static str> {
    [vec!["none"], sources()].concat()
}

const IF_SENDS_BY_ITSELF: &[Only] =
    &[Only::Tcp, Only::Is("flows.*.app.kind", &["bulk", "file", "cbr", "poisson", "on-off"])];
const IF_FILE_OVER_UDP: &[Only] = &[Only::Udp, Only::Is("flows.*.app.kind", &["file"])];
const IF_PING: &[Only] = &[Only::Is("flows.*.app.kind", &["ping"])];
const IF_REVERSE: &[Only] =
    &[Only::Is("flows.*.app.reverse.kind", &["bulk", "file", "cbr", "poisson", "on-off"])];

/// The source at the sending node.
pub(super) const FORWARD: &[Key] = source!(
    "flows.*.app",
    Key::new("flows.*.app.kind", Kind::Word("kind of source", words::<App>), "kind of source; without a tcp or udp table, cbr, poisson, on-off and ping use udp and the others tcp")
        .default("bulk"),
    Key::new("flows.*.app.start", TIME_S, "start time of the source").default("0 s").at_most(LONGEST),
    Key::new(
        "flows.*.app.spread",
        TIME_S,
        "each flow starts its source, or its user's first session, at a random time within this span after app.start",
    )
    .default("0 s")
    .at_most(LONGEST),
    Key::new("flows.*.app.stop", TIME_S, "time at which the source stops, or a user stops beginning sessions")
        .or(&["none"])
        .default("none")
        .at_most(LONGEST),
    Key::new("flows.*.app.file.packet", SIZE, "payload of a datagram of the file; the last may be smaller")
        .default("1000 B")
        .at_least("1 B")
        .at_most("65495 B")
        .only(IF_FILE_OVER_UDP),
    Key::new("flows.*.app.file.rate", RATE, "payload rate of the file in bits per second; unlimited sends all datagrams at once")
        .or(&["unlimited"])
        .default("unlimited")
        .above("0 bit/s")
        .at_most(FASTEST)
        .only(IF_FILE_OVER_UDP),
    Key::new("flows.*.app.ping.interval", TIME_S, "interval between requests")
        .default("1 s")
        .source("ping(8)")
        .above("0 s")
        .at_most(LONGEST)
        .only(IF_PING),
    Key::new("flows.*.app.ping.packet", SIZE, "payload of a request and of its reply")
        .default("56 B")
        .source("ping(8)")
        .at_least("1 B")
        .at_most("65495 B")
        .only(IF_PING)
);

/// The sink at the receiving node.
pub(super) const FORWARD_SINK: &[Key] = sink!("flows.*.sink", IF_TCP);

/// The source at the receiving node.
pub(super) const REVERSE: &[Key] = source!(
    "flows.*.app.reverse",
    Key::new(
        "flows.*.app.reverse.kind",
        Kind::Word("kind of source", sources_or_none),
        "source at the receiving node on the same TCP connection; default: none"
    )
    .absent()
    .only(IF_SENDS_BY_ITSELF),
    Key::new("flows.*.app.reverse.start", TIME_S, "start time of the reverse source")
        .like("flows.*.app.start")
        .at_most(LONGEST)
        .only(IF_REVERSE),
    Key::new("flows.*.app.reverse.stop", TIME_S, "time at which the reverse source stops")
        .or(&["none"])
        .default("none")
        .at_most(LONGEST)
        .only(IF_REVERSE)
);

/// The sink at the sending node.
pub(super) const REVERSE_SINK: &[Key] = sink!("flows.*.sink.reverse", IF_REVERSE);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_source_may_send_back() {
        let [Only::Is(_, kinds)] = IF_REVERSE else { panic!("one condition") };
        assert_eq!(*kinds, sources());
        let [Only::Tcp, Only::Is(_, kinds)] = IF_SENDS_BY_ITSELF else { panic!("two conditions") };
        assert_eq!(*kinds, sources());
    }
}
