//! Declarations of each kind of parameter, and what a host reads and sets by them.

use super::*;
use crate::units::{Bytes, Rate, Span};

#[derive(Clone, Copy, Debug, PartialEq)]
struct Config {
    depth: u64,
    rule: Rule,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    Early,
    Late,
}

impl Default for Config {
    fn default() -> Config {
        Config { depth: 3, rule: Rule::Late }
    }
}

words! { Rule: Early = "early", Late = "late" }

impl Described for Config {
    parameters! {
        /// when
        "rule": Words("rule") = rule;
        /// how deep
        "depth": Count = depth, at_least("1");
    }
}

#[test]
fn a_configuration_lists_its_parameters_with_their_defaults_and_takes_values_by_name() {
    let listing = Config::listing();
    let names: Vec<_> = listing.iter().map(|(spec, default)| (spec.name, *default)).collect();
    assert_eq!(names, [("rule", Setting::Word("late")), ("depth", Setting::Count(3))]);
    let mut config = Config::default();
    config.set("depth", Setting::Count(7));
    config.set("rule", Setting::Word("early"));
    assert_eq!(config, Config { depth: 7, rule: Rule::Early });
}

const SHARED: Spec = Spec::new("shared", Domain::Size, "bytes").at_most("1 GB").source("RFC 1");

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct All {
    flag: bool,
    counts: (u8, u32, u64, usize),
    real: f64,
    share: f64,
    time: Span,
    size: Bytes,
    segments: Option<u32>,
    sizes: (u16, u32),
    rate: Rate,
    width: f64,
    radio: (f64, f64, f64),
    square: f64,
}

impl Described for All {
    parameters! {
        /// whether
        "flag": Flag = flag;
        /// a short one
        "u8": Count = counts.0;
        /// a longer one
        "u32": Count = counts.1;
        /// a long one
        "u64": Count = counts.2;
        /// one of the machine
        "usize": Count = counts.3;
        /// a number whose meaning
        /// has two lines
        "number": Number = real, above("0"), only(&[("flag", &["true"])]);
        /// a share
        "share": Share = share, at_least("1 %"), at_most("2 %"), source("RFC 2");
        /// a time
        "time": Time("ms") = time, follows("flag", "true", Setting::Time(Span(1)));
        SHARED: Size = size, source("RFC 3");
        /// some segments or none
        "segments": Segments or "none" = segments;
        /// a short size
        "u16": Size = sizes.0;
        /// a longer one
        "bytes": Size = sizes.1;
        /// a rate
        "rate": Rate = rate, published("RFC 4", "RFC 5"), rfc("RFC 6");
        /// a width
        "width": Frequency = width, standards("clause 1", "clause 2"),
            unless("flag", &[Case::new(&["true"], Setting::Frequency(4e7), "clause 3")]), under("rfc");
        /// a length
        "length": Length = radio.0, radios("ns-2", "ns-3");
        /// a power
        "power": Power = radio.1;
        /// a gain
        "gain": Gain = radio.2;
        /// the root of a field
        "root": Number = (|all| all.square.sqrt(), |all, root: f64| all.square = root * root);
    }
}

#[test]
fn a_value_of_each_kind_is_read_as_it_was_set() {
    let values = [
        ("flag", Setting::Flag(true)),
        ("u8", Setting::Count(255)),
        ("u32", Setting::Count(1 << 31)),
        ("u64", Setting::Count(1 << 63)),
        ("usize", Setting::Count(7)),
        ("number", Setting::Number(0.5)),
        ("share", Setting::Share(0.25)),
        ("time", Setting::Time(Span(3))),
        ("shared", Setting::Size(Bytes(4))),
        ("segments", Setting::Segments(5)),
        ("u16", Setting::Size(Bytes(65_535))),
        ("bytes", Setting::Size(Bytes(1 << 31))),
        ("rate", Setting::Rate(Rate(11_000_000))),
        ("width", Setting::Frequency(80e6)),
        ("length", Setting::Length(-1.5)),
        ("power", Setting::Power(0.1)),
        ("gain", Setting::Gain(-82.0)),
        ("root", Setting::Number(6.0)),
    ];
    let mut all = All::default();
    assert_eq!(All::listing()[9].1, Setting::Word("none"));
    for (name, value) in values {
        all.set(name, value);
    }
    let read = All::PARAMETERS.iter().map(|parameter| (parameter.spec.name, (parameter.get)(&all)));
    assert_eq!(read.collect::<Vec<_>>(), values);
    assert_eq!((all.segments, all.square), (Some(5), 36.0));
    all.set("segments", Setting::Word("none"));
    assert_eq!(all.segments, None);
}

#[test]
fn a_declaration_has_the_details_and_the_lines_of_its_meaning() {
    let spec = |name| All::listing().into_iter().find(|(spec, _)| spec.name == name).expect("declared").0;
    let number = spec("number");
    assert_eq!(number.meaning, "a number whose meaning has two lines");
    assert_eq!(number.least, Some(Limit { text: "0", included: false }));
    assert_eq!((number.most, number.only), (None, &[("flag", &["true"][..])][..]));
    let share = spec("share");
    assert_eq!(share.least, Some(Limit { text: "1 %", included: true }));
    assert_eq!((share.most.map(|most| most.text), share.source), (Some("2 %"), "RFC 2"));
    let follows = Follows { name: "flag", word: "true", default: Setting::Time(Span(1)) };
    assert_eq!(spec("time").follows, Some(follows));
    assert!(matches!(spec("time").domain, Domain::Time("ms")));
    let published = Published { ns2: "RFC 4", modern: "RFC 5", rfc: Some("RFC 6") };
    assert_eq!(spec("rate").published, Some(published));
    let width = spec("width");
    assert_eq!(width.standards, Some(["clause 1", "clause 2"]));
    assert_eq!((width.radios, spec("length").radios), (None, Some(["ns-2", "ns-3"])));
    let case =
        width.unless.filter(|it| (it.name, it.under) == ("flag", Some("rfc"))).expect("overruled").cases[0];
    assert_eq!((case.words, case.then, case.source), (&["true"][..], Setting::Frequency(4e7), "clause 3"));
    let shared = spec("shared");
    assert_eq!((shared.most.map(|most| most.text), shared.source), (Some("1 GB"), "RFC 3"));
    assert_eq!((spec("segments").words, shared.words), (&["none"][..], &[][..]));
    let Domain::Words("rule", words) = Config::PARAMETERS[0].spec.domain else { panic!("a rule") };
    assert_eq!(words(), ["early", "late"]);
}

#[test]
#[should_panic(expected = "where others are published comes first")]
fn a_source_of_the_rfcs_without_others_breaks_an_invariant() {
    let _ = Spec::new("rate", Domain::Rate, "a rate").rfc("RFC 6");
}

#[test]
#[should_panic(expected = "what overrules comes first")]
fn a_profile_that_nothing_overrules_breaks_an_invariant() {
    let _ = Spec::new("rate", Domain::Rate, "a rate").under("rfc");
}

#[test]
#[should_panic(expected = "Flag(true) for a parameter that takes an integer")]
fn a_value_of_another_domain_breaks_an_invariant() {
    Config::default().set("depth", Setting::Flag(true));
}
