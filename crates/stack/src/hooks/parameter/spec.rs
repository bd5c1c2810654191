//! Descriptions of parameters.

use super::Setting;

/// The values of a parameter, other than the words it names.
#[derive(Clone, Copy, Debug)]
pub enum Domain {
    /// Yes or no.
    Flag,
    /// A whole number.
    Count,
    /// A real number.
    Number,
    /// A share.
    Share,
    /// A time, usually written in this unit.
    Time(&'static str),
    /// Bytes.
    Size,
    /// Segments.
    Segments,
    /// A bit rate.
    Rate,
    /// A frequency.
    Frequency,
    /// A length.
    Length,
    /// A power.
    Power,
    /// A gain.
    Gain,
    /// One of these words and nothing else, described by this noun.
    Words(&'static str, fn() -> Vec<&'static str>),
}

/// A limit of the values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// The limit, in the text of a scenario: `10 s`, `0.5`.
    pub text: &'static str,
    /// Whether the limit itself is allowed.
    pub included: bool,
}

/// A default that another parameter of the scheme changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Follows {
    /// The other parameter; the name of one of the endpoint begins with `tcp.`.
    pub name: &'static str,
    /// The word it has.
    pub word: &'static str,
    /// The default under that word.
    pub default: Setting,
}

/// Where the default of each profile of the endpoint is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// That of ns-2 in 2004.
    pub ns2: &'static str,
    /// That of a current host.
    pub modern: &'static str,
    /// That of the RFCs, where it is another than that of a current host.
    pub rfc: Option<&'static str>,
}

/// A default of a profile that certain values of another parameter overrule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unless {
    /// The other parameter.
    pub name: &'static str,
    /// The values that overrule.
    pub cases: &'static [Case],
    /// The profile that is concerned, if it is one alone.
    pub under: Option<&'static str>,
}

/// What certain values of another parameter require, and the source of that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// The values of the other parameter.
    pub words: &'static [&'static str],
    /// The default under them.
    pub then: Setting,
    /// Where it is published.
    pub source: &'static str,
}

/// The description of a parameter.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Its name within its scheme.
    pub name: &'static str,
    /// Its domain.
    pub domain: Domain,
    /// Words that it also takes.
    pub words: &'static [&'static str],
    /// The least value.
    pub least: Option<Limit>,
    /// The greatest value.
    pub most: Option<Limit>,
    /// Its meaning.
    pub meaning: &'static str,
    /// Where its default is published.
    pub source: &'static str,
    /// It has an effect only where each of these parameters has one of these words.
    pub only: &'static [(&'static str, &'static [&'static str])],
    /// A default that depends on another parameter.
    pub follows: Option<Follows>,
    /// Where the defaults of the profiles are published, if its default is that of the profile.
    pub published: Option<Published>,
    /// Where another parameter overrules the profile.
    pub unless: Option<Unless>,
    /// Where the defaults of the standards of DSSS and of OFDM are published, if its default is that of the standard.
    pub standards: Option<[&'static str; 2]>,
    /// Where the defaults of the radios of ns-2 and of ns-3 are published, if its default is that of the radio.
    pub radios: Option<[&'static str; 2]>,
}

impl Spec {
    /// A parameter without limits and conditions.
    #[must_use]
    pub const fn new(name: &'static str, domain: Domain, meaning: &'static str) -> Spec {
        Spec {
            name,
            domain,
            words: &[],
            least: None,
            most: None,
            meaning,
            source: "",
            only: &[],
            follows: None,
            published: None,
            unless: None,
            standards: None,
            radios: None,
        }
    }

    /// The words that it also takes.
    #[must_use]
    pub const fn words(mut self, words: &'static [&'static str]) -> Spec {
        self.words = words;
        self
    }

    /// Where its default is published.
    #[must_use]
    pub const fn source(mut self, source: &'static str) -> Spec {
        self.source = source;
        self
    }

    /// The least value, which is allowed.
    #[must_use]
    pub const fn at_least(mut self, text: &'static str) -> Spec {
        self.least = Some(Limit { text, included: true });
        self
    }

    /// The value that it must exceed.
    #[must_use]
    pub const fn above(mut self, text: &'static str) -> Spec {
        self.least = Some(Limit { text, included: false });
        self
    }

    /// The greatest value, which is allowed.
    #[must_use]
    pub const fn at_most(mut self, text: &'static str) -> Spec {
        self.most = Some(Limit { text, included: true });
        self
    }

    /// Where it has an effect.
    #[must_use]
    pub const fn only(mut self, only: &'static [(&'static str, &'static [&'static str])]) -> Spec {
        self.only = only;
        self
    }

    /// Another default where the parameter `name` has the value `word`.
    #[must_use]
    pub const fn follows(mut self, name: &'static str, word: &'static str, default: Setting) -> Spec {
        self.follows = Some(Follows { name, word, default });
        self
    }

    /// The default is that of the profile: where those of ns-2 and of a current host are published.
    #[must_use]
    pub const fn published(mut self, ns2: &'static str, modern: &'static str) -> Spec {
        self.published = Some(Published { ns2, modern, rfc: None });
        self
    }

    /// Where the default of the profile `rfc` is published.
    ///
    /// # Panics
    ///
    /// Before [`Spec::published`]; a description in [`parameters!`](crate::parameters) then does not compile.
    #[must_use]
    pub const fn rfc(mut self, source: &'static str) -> Spec {
        let Some(published) = &mut self.published else { panic!("where others are published comes first") };
        published.rfc = Some(source);
        self
    }

    /// Another default than that of the profile for these values of the parameter `name`.
    #[must_use]
    pub const fn unless(mut self, name: &'static str, cases: &'static [Case]) -> Spec {
        self.unless = Some(Unless { name, cases, under: None });
        self
    }

    /// The default is that of the standard of the link, and all are published here.
    #[must_use]
    pub const fn standard(self, source: &'static str) -> Spec {
        self.standards(source, source)
    }

    /// The default is that of the standard of the link: where those of DSSS and of OFDM are published.
    #[must_use]
    pub const fn standards(mut self, dsss: &'static str, ofdm: &'static str) -> Spec {
        self.standards = Some([dsss, ofdm]);
        self
    }

    /// The default is that of the radio of the link: where those of the radios of ns-2 and of ns-3 are published.
    #[must_use]
    pub const fn radios(mut self, ns2: &'static str, ns3: &'static str) -> Spec {
        self.radios = Some([ns2, ns3]);
        self
    }

    /// The only profile that [`Spec::unless`] concerns.
    ///
    /// # Panics
    ///
    /// Before [`Spec::unless`]; a description in [`parameters!`](crate::parameters) then does not compile.
    #[must_use]
    pub const fn under(mut self, profile: &'static str) -> Spec {
        let Some(unless) = &mut self.unless else { panic!("what overrules comes first") };
        unless.under = Some(profile);
        self
    }
}

impl Case {
    /// The default under these values of another parameter, and its source.
    #[must_use]
    pub const fn new(words: &'static [&'static str], then: Setting, source: &'static str) -> Case {
        Case { words, then, source }
    }
}
