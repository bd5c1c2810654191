//! A table of a sheet whose values have the kinds of their keys.

use crate::scenario::keys::setting;
use crate::scenario::layout::Section;
use crate::scenario::quantity::Dim;
use crate::scenario::sheet::{Sheet, Table};
use crate::scenario::value::Value;
use lasthop_stack::hooks::parameter::{Described, Parameter, Setting, Spec, Words};
use lasthop_stack::link::queue::QueueLimit;
use lasthop_stack::units::{Bytes, Rate, Span, Time};

/// A table, or its part below a name.
pub(super) struct Part<'a>(pub(super) Table<'a>);

impl<'a> Part<'a> {
    pub(super) fn of(sheet: &'a Sheet<'a>, section: Section, table: usize) -> Part<'a> {
        Part(sheet.table(section, table))
    }

    /// The same for a member of the table's group.
    pub(super) fn member(sheet: &'a Sheet<'a>, section: Section, table: usize, number: usize) -> Part<'a> {
        Part(sheet.member(section, table, number))
    }

    pub(super) fn below(&self, name: &'static str) -> Part<'a> {
        Part(self.0.below(name))
    }

    pub(super) fn value(&self, key: &str) -> &'a Value {
        self.known(key).unwrap_or_else(|| self.broken(key))
    }

    /// The value of a key that may have no meaning at this point.
    pub(super) fn known(&self, key: &str) -> Option<&'a Value> {
        self.0.get(key)
    }

    /// What `read` makes of a key, if it has a meaning at this point.
    pub(super) fn given<T>(&self, key: &str, read: impl Fn(&Part<'a>, &str) -> T) -> Option<T> {
        self.known(key).map(|_| read(self, key))
    }

    /// Sets the parameters that a scheme describes from the keys below `prefix`; a parameter without a
    /// meaning at this point keeps its default.
    pub(super) fn described(
        &self,
        prefix: &str,
        parameters: &[(&'static Spec, Setting)],
        mut set: impl FnMut(&str, Setting),
    ) {
        for (spec, _) in parameters {
            if let Some(value) = self.setting(spec, &format!("{prefix}.{}", spec.name)) {
                set(spec.name, value);
            }
        }
    }

    /// Sets the parameters of a configuration; one without a meaning at this point keeps its value.
    pub(super) fn parameters<C: Described>(&self, config: &mut C) {
        for Parameter { spec, set, .. } in C::PARAMETERS {
            if let Some(value) = self.setting(spec, spec.name) {
                set(config, value);
            }
        }
    }

    /// The value of a key that a parameter describes, if it has a meaning at this point.
    pub(super) fn setting(&self, spec: &Spec, key: &str) -> Option<Setting> {
        self.known(key).map(|value| setting(spec, value).unwrap_or_else(|| self.broken(key)))
    }

    pub(super) fn broken(&self, key: &str) -> ! {
        panic!("{}: invalid value after validation", self.0.key(key))
    }

    pub(super) fn word(&self, key: &str) -> &'a str {
        match self.value(key) {
            Value::Text(text) => text,
            _ => self.broken(key),
        }
    }

    /// The choice that the word of a key means.
    pub(super) fn choice<T: Words>(&self, key: &str) -> T {
        self.value(key).choice().unwrap_or_else(|| self.broken(key))
    }

    pub(super) fn flag(&self, key: &str) -> bool {
        match self.value(key) {
            Value::Bool(value) => *value,
            _ => self.broken(key),
        }
    }

    /// A whole number, or the base units of a quantity.
    pub(super) fn count(&self, key: &str) -> u64 {
        self.value(key).count().unwrap_or_else(|| self.broken(key))
    }

    /// The items of a list.
    fn list(&self, key: &str) -> &'a [Value] {
        match self.value(key) {
            Value::List(items) => items,
            _ => self.broken(key),
        }
    }

    /// A list of whole numbers, or the base units of a list of quantities.
    pub(super) fn counts(&self, key: &str) -> Vec<u64> {
        self.list(key).iter().filter_map(Value::count).collect()
    }

    /// A list of names.
    pub(super) fn names(&self, key: &str) -> Vec<String> {
        self.list(key).iter().map(Value::text).collect()
    }

    /// The dimension of a quantity; `None` for a word.
    pub(super) fn dim(&self, key: &str) -> Option<Dim> {
        if let Value::Quantity(quantity) = self.value(key) { Some(quantity.dim) } else { None }
    }

    pub(super) fn small(&self, key: &str) -> u32 {
        u32::try_from(self.count(key)).unwrap_or_else(|_| self.broken(key))
    }

    pub(super) fn real(&self, key: &str) -> f64 {
        self.value(key).si().unwrap_or_else(|| self.broken(key))
    }

    /// Watts.
    pub(super) fn power(&self, key: &str) -> f64 {
        self.value(key).watts().unwrap_or_else(|| self.broken(key))
    }

    pub(super) fn span(&self, key: &str) -> Span {
        Span(self.count(key))
    }

    pub(super) fn time(&self, key: &str) -> Time {
        Time(self.count(key))
    }

    pub(super) fn rate(&self, key: &str) -> Rate {
        Rate(self.count(key))
    }

    pub(super) fn bytes(&self, key: &str) -> Bytes {
        Bytes(self.count(key))
    }

    pub(super) fn queue(&self, key: &str) -> QueueLimit {
        match self.dim(key) {
            None => QueueLimit::Unlimited,
            Some(Dim::Size) => QueueLimit::Bytes(self.bytes(key)),
            Some(_) => QueueLimit::Packets(self.small(key)),
        }
    }

    /// `None` for a word such as `none`, which the key accepts besides numbers.
    pub(super) fn optional<T>(&self, key: &str, read: impl Fn(&Part<'a>, &str) -> T) -> Option<T> {
        let is_word = matches!(self.value(key), Value::Text(_));
        (!is_word).then(|| read(self, key))
    }
}
