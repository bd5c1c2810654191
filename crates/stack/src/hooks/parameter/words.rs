//! Choices that scenarios name by words.

/// A choice that a scenario names by words, which [`words!`](crate::words) declares.
pub trait Words: Copy + PartialEq + 'static {
    /// Each word and its meaning, in the order of listings.
    const WORDS: &'static [(&'static str, Self)];

    /// The word of this value.
    ///
    /// # Panics
    /// The choice has no word for this value.
    #[must_use]
    fn word(self) -> &'static str {
        let found = Self::WORDS.iter().find(|(_, known)| *known == self);
        found.expect("each value of a choice has a word").0
    }

    /// The choice that a word means, if it is one of its words.
    #[must_use]
    fn of_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, choice)| *choice)
    }
}

/// The words of a choice.
#[must_use]
pub fn words<T: Words>() -> Vec<&'static str> {
    T::WORDS.iter().map(|(word, _)| *word).collect()
}

/// Declares the [`Words`] of an enum, in the order of listings, and enums of which nothing else is needed.
///
/// ```
/// use lasthop_stack::hooks::parameter::{Words, words};
///
/// /// How losses are repaired.
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// enum Repair { Never, Twice }
///
/// words! { Repair: Never = "never", Twice = "twice" }
///
/// words! {
///     /// When.
///     enum Start { Now = "now", Later = "later" }
/// }
///
/// assert_eq!(Repair::of_word("twice"), Some(Repair::Twice));
/// assert_eq!((Repair::Never.word(), Start::Later.word()), ("never", "later"));
/// assert_eq!(words::<Start>(), ["now", "later"]);
/// ```
///
/// A value without a word does not compile:
///
/// ```compile_fail,E0004
/// # use lasthop_stack::hooks::parameter::words;
/// #[derive(Clone, Copy, PartialEq)]
/// enum Repair { Never, Twice }
///
/// words! { Repair: Never = "never" }
/// ```
#[macro_export]
macro_rules! words {
    ($($(#[$about:meta])* $visible:vis enum $choice:ident {
        $($(#[$of:meta])* $value:ident = $word:literal),+ $(,)?
    })+) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visible enum $choice { $($(#[$of])* $value),+ }

        $crate::words! { $choice: $($value = $word),+ }
    )+};
    ($choice:ty: $($value:ident = $word:literal),+ $(,)?) => {
        impl $crate::hooks::parameter::Words for $choice {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$value)),+];

            fn word(self) -> &'static str {
                match self {
                    $(Self::$value => $word),+
                }
            }
        }
    };
}
