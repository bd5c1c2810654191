//! What the tests of descriptions share.

use super::{Described, Domain, Setting};
use crate::units::{Bytes, Rate, Span};

/// Checks that each parameter sets a field of its own: another value of one changes no other. `joined` have fields in common
/// with others, or do not take any value.
///
/// # Panics
/// A parameter changes another, or not itself.
pub fn each_has_a_field_of_its_own<C: Described>(joined: &[&str]) {
    let all = |config: &C| C::PARAMETERS.iter().map(|it| (it.get)(config)).collect::<Vec<_>>();
    let before = all(&C::default());
    for (place, parameter) in C::PARAMETERS.iter().enumerate() {
        let name = parameter.spec.name;
        if joined.contains(&name) {
            continue;
        }
        let mut expected = before.clone();
        expected[place] = another(parameter.spec.domain, before[place]);
        let mut config = C::default();
        (parameter.set)(&mut config, expected[place]);
        assert_eq!(all(&config), expected, "{name}");
    }
}

/// Another value of a domain than this one.
fn another(domain: Domain, value: Setting) -> Setting {
    match (domain, value) {
        (Domain::Words(_, words), Setting::Word(word)) => {
            Setting::Word(words().into_iter().find(|other| *other != word).expect("two words"))
        }
        (Domain::Flag, Setting::Flag(flag)) => Setting::Flag(!flag),
        (Domain::Count, Setting::Count(count)) => Setting::Count(count + 1),
        (Domain::Count, _) => Setting::Count(1),
        (Domain::Number, Setting::Number(number)) => Setting::Number(number + 0.5),
        (Domain::Share, Setting::Share(share)) => Setting::Share(share + 0.25),
        (Domain::Time(_), Setting::Time(time)) => Setting::Time(time + Span(1)),
        (Domain::Time(_), _) => Setting::Time(Span(1)),
        (Domain::Size, Setting::Size(size)) => Setting::Size(size + Bytes(1)),
        (Domain::Size, _) => Setting::Size(Bytes(1)),
        (Domain::Segments, Setting::Segments(segments)) => Setting::Segments(segments + 1),
        (Domain::Segments, _) => Setting::Segments(1),
        (Domain::Rate, _) => Setting::Rate(Rate(1_000_000)),
        (Domain::Frequency, Setting::Frequency(hertz)) => Setting::Frequency(hertz + 20e6),
        (Domain::Length, Setting::Length(metres)) => Setting::Length(metres + 0.5),
        (Domain::Power, Setting::Power(watts)) => Setting::Power(watts + 0.5),
        (Domain::Gain, Setting::Gain(decibels)) => Setting::Gain(decibels + 10.0),
        (Domain::Gain, _) => Setting::Gain(10.0),
        (domain, value) => unreachable!("{domain:?} does not have {value:?}"),
    }
}
