//! A line as the entries of a JSON object, with the column of each.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::BadLine;
use crate::error::shortened;

/// An object's entries in order, values as they stand in the text.
pub(super) struct Entries<'a>(pub(super) Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Entries<'de>;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a JSON object")
            }
            fn visit_map<M: MapAccess<'de>>(
                self,
                mut map: M,
            ) -> std::result::Result<Self::Value, M::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// A line's entries with the means to say where each stands.
pub(super) struct Fields<'a> {
    line: &'a str,
    pub(super) entries: Entries<'a>,
}

impl<'a> Fields<'a> {
    pub(super) fn parse(line: &'a str) -> std::result::Result<Self, BadLine> {
        let entries: Entries<'a> = serde_json::from_str(line).map_err(|error| {
            // serde_json counts bytes; columns are characters.
            let bytes = error.column().saturating_sub(1).min(line.len());
            let column = 1 + line
                .char_indices()
                .take_while(|(at, _)| *at < bytes)
                .count();
            let text = error.to_string();
            let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
            bad(column, format!("not a vector line: {message}"))
        })?;
        let fields = Self { line, entries };
        let mut keys = HashSet::new();
        for (key, value) in &fields.entries.0 {
            if !keys.insert(key) {
                return Err(bad(
                    fields.column(value),
                    format!("key \"{key}\" stands twice"),
                ));
            }
        }
        Ok(fields)
    }

    pub(super) fn column(&self, value: &RawValue) -> usize {
        let offset = (value.get().as_ptr() as usize).wrapping_sub(self.line.as_ptr() as usize);
        self.line
            .get(..offset)
            .map_or(1, |before| before.chars().count() + 1)
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.entries
            .0
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| *value)
    }

    /// A string value and the column of its first character.
    pub(super) fn text(&self, key: &str) -> std::result::Result<Option<(String, usize)>, BadLine> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        match serde_json::from_str(value.get()) {
            Ok(text) => Ok(Some((text, self.column(value) + 1))),
            Err(_) => Err(bad(
                self.column(value),
                format!("\"{key}\" must be a string"),
            )),
        }
    }

    pub(super) fn required(&self, key: &str) -> std::result::Result<(String, usize), BadLine> {
        self.text(key)?
            .ok_or_else(|| bad(1, format!("key \"{key}\" is missing")))
    }
}

/// A line that is wrong at a column, whose `id` is not looked for.
pub(super) fn bad(column: usize, message: impl Into<String>) -> BadLine {
    BadLine {
        column,
        message: shortened(&message.into()),
        id: None,
        unmodelled: false,
    }
}
