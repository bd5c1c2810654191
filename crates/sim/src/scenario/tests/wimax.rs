//! 802.16 links in scenarios.

use super::{BASE, line_of, read};
use crate::medium::modulation::ModulationLaw;
use crate::model::{LinkKind, Sends};
use lasthop_stack::packet::Modulation;
use lasthop_stack::units::{Span, Time};

/// [`BASE`] with an 802.16 link at its end.
fn with(more: &str) -> String {
    BASE.replace(
        "kind  = \"lossy\"\nnodes = [\"b\", \"c\"]\nrate  = \"10 Mbit/s\"",
        &format!("kind  = \"wimax\"\nnodes = [\"b\", \"c\"]\n{more}"),
    )
}

fn refused(more: &str, piece: &str, expected: &str) {
    let text = with(more);
    let told = read(&text).map_or_else(|error| error.to_string(), |_| "no error".to_string());
    assert_eq!(told, format!("x.toml:{}: {expected}", line_of(&text, piece)));
}

#[test]
fn a_link_is_read_with_its_frames_and_the_script_of_its_modulation() {
    let text = with(
        "frame = { length = \"2 ms\", downlink = \"75 %\" }\nmodulation = { start = \"64-qam\", law = \"script\", script = \"qpsk at 3 s, 16-qam at 4500 ms\" }",
    );
    let scenario = read(&text).expect("legal");
    let LinkKind::PointToPoint(link) = &scenario.config(0).links[1].kind else {
        panic!("a point-to-point link")
    };
    let Sends::Air(air) = &link.sends else { panic!("an air interface") };
    assert_eq!((air.frame.length, air.frame.down), (Span::from_millis(2), Span::from_micros(1500)));
    assert_eq!(air.start, Modulation::Qam64);
    let script = vec![(Time(3_000_000_000), Modulation::Qpsk), (Time(4_500_000_000), Modulation::Qam16)];
    assert_eq!(air.law, ModulationLaw::Script(script));
}

#[test]
fn a_script_that_cannot_be_read_is_refused() {
    refused(
        "modulation = { law = \"script\", script = \"qspk at 3 s\" }",
        "modulation",
        "links.b-c.modulation.script: \"qspk at 3 s\"; expected a modulation and a time such as \"qpsk at 60 s\"",
    );
    refused(
        "modulation = { law = \"script\", script = \"qpsk at 3 s, 64-qam at 3 s\" }",
        "modulation",
        "links.b-c.modulation.script: \"64-qam at 3 s\" is not later than the change before it; expected ascending times",
    );
}

#[test]
fn a_frame_without_room_for_bursts_is_refused() {
    refused(
        "frame = { length = \"0.5 ms\", downlink = \"4 %\" }",
        "frame",
        "links.b-c.frame.maps: the downlink sub-frame has no room for a fragment; expected less",
    );
}

#[test]
fn a_modulation_too_slow_for_a_fragment_is_refused() {
    for below in ["16-qam", "64-qam"] {
        let expected = ["downlink", "uplink"].map(|what| {
            let no_room = "sub-frame has no room for a fragment; expected a higher rate";
            format!("links.b-c.rates.{below}: the {what} {no_room}")
        });
        refused(&format!("rates = {{ {below} = \"1 bit/s\" }}"), "rates", &expected.join("\nx.toml:20: "));
    }
}

#[test]
fn a_single_rate_has_no_meaning() {
    refused(
        "rate = \"5 Mbit/s\" # of a cable",
        "of a cable",
        "links.b-c.rate: no point uses it; expected links.b-c.kind = \"wired\" or \"lossy\" or \"wifi\"",
    );
}
