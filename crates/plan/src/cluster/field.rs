//! A field of a JSON text with its path, read with errors that name the path and what was expected there.

use std::fmt;

use serde_json::{Map, Value};

/// The longest piece of a faulty value that an error quotes, in characters.
const MOST_QUOTED_CHARS: usize = 60;

/// A field that is missing, of another kind than expected, or breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}`: expected {expected}, found {found}")]
pub struct FieldError {
    /// The field, as `tiers[1].latency_ns.value`; empty for the whole text.
    pub path: String,
    /// The form that it should have.
    pub expected: String,
    /// The value that is there.
    pub found: String,
}

impl FieldError {
    /// An error at a path.
    pub(super) fn new(path: impl Into<String>, expected: impl Into<String>, found: impl fmt::Display) -> Self {
        Self { path: path.into(), expected: expected.into(), found: found.to_string() }
    }
}

/// A value at its path.
#[derive(Clone, Debug)]
pub(super) struct Field<'a> {
    path: String,
    value: &'a Value,
}

impl<'a> Field<'a> {
    /// The whole text.
    pub(super) fn whole(value: &'a Value) -> Self {
        Self { path: String::new(), value }
    }

    /// An error about this field.
    pub(super) fn error(&self, expected: impl Into<String>) -> FieldError {
        FieldError::new(self.path.clone(), expected, shortened(&self.value.to_string()))
    }

    fn map(&self) -> Result<&'a Map<String, Value>, FieldError> {
        self.value.as_object().ok_or_else(|| self.error("an object"))
    }

    fn below(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// A member that may be missing; `null` is as good as missing.
    pub(super) fn optional(&self, key: &str) -> Result<Option<Field<'a>>, FieldError> {
        let value = self.map()?.get(key).filter(|value| !value.is_null());
        Ok(value.map(|value| Field { path: self.below(key), value }))
    }

    /// A member that every object of this kind has.
    pub(super) fn required(&self, key: &str, expected: &str) -> Result<Field<'a>, FieldError> {
        self.optional(key)?.ok_or_else(|| FieldError::new(self.below(key), expected, "nothing"))
    }

    /// The members by name.
    pub(super) fn members(&self) -> Result<Vec<(&'a str, Field<'a>)>, FieldError> {
        let of = |(key, value): (&'a String, &'a Value)| (key.as_str(), Field { path: self.below(key), value });
        Ok(self.map()?.iter().map(of).collect())
    }

    /// The entries of a list.
    pub(super) fn entries(&self) -> Result<Vec<Field<'a>>, FieldError> {
        let entries = self.value.as_array().ok_or_else(|| self.error("a list"))?;
        let of = |(i, value)| Field { path: format!("{}[{i}]", self.path), value };
        Ok(entries.iter().enumerate().map(of).collect())
    }

    /// A text.
    pub(super) fn text(&self) -> Result<String, FieldError> {
        self.value.as_str().map(str::to_owned).ok_or_else(|| self.error("a text"))
    }

    /// A number.
    pub(super) fn number(&self) -> Result<f64, FieldError> {
        self.value.as_f64().filter(|number| number.is_finite()).ok_or_else(|| self.error("a number"))
    }

    /// A number without a fraction.
    pub(super) fn whole_number(&self) -> Result<u64, FieldError> {
        self.value.as_u64().ok_or_else(|| self.error("a whole number"))
    }

    /// A number without a fraction that has 32 bits.
    pub(super) fn small_number(&self) -> Result<u32, FieldError> {
        u32::try_from(self.whole_number()?).map_err(|_| self.error(format!("a whole number to {}", u32::MAX)))
    }

    /// The members that are not among these.
    pub(super) fn others(&self, known: &[&str]) -> Result<Map<String, Value>, FieldError> {
        let unknown = self.map()?.iter().filter(|(key, _)| !known.contains(&key.as_str()));
        Ok(unknown.map(|(key, value)| (key.clone(), value.clone())).collect())
    }
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(MOST_QUOTED_CHARS).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}
