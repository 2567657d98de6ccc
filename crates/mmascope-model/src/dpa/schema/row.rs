//! Rows: where a step or a result keeps a parameter, its default and its words.

use super::{Parameter, Value};
use crate::dpa::notation::Flaw;
use crate::dpa::{Output, Token};
use crate::error::Error;
use crate::format::{Format, Formats, Overflow, Rounding};

/// A parameter of one step, or of a result.
pub(in crate::dpa) struct Row<S: 'static> {
    /// What it is.
    pub(in crate::dpa) parameter: &'static Parameter,
    /// The step's value.
    pub(in crate::dpa) get: fn(&S) -> Value,
    /// Changes it; false where this step cannot have the value.
    pub(in crate::dpa) set: fn(&mut S, Value) -> bool,
    /// What it is when nobody says it; it may depend on the rows before.
    pub(in crate::dpa) default: Default<S>,
    /// Whether the rows before leave it a meaning, and if not, what it would need.
    pub(in crate::dpa) needs: fn(&S) -> Result<(), &'static str>,
    /// Why this step cannot have a value that the parameter allows, where that needs saying.
    pub(in crate::dpa) refuses: fn(&S, Value) -> Option<String>,
    /// What it makes the step do, in words, with its place among the sentences; empty where that is
    /// said by another row. The output is that of the statement.
    pub(in crate::dpa) words: (u8, fn(&S, &Output) -> String),
}

/// What a parameter is when nobody says it.
pub(in crate::dpa) enum Default<S: 'static> {
    /// It has to be said.
    Required,
    /// This.
    Of(fn(&S) -> Value),
}

impl<S> Row<S> {
    /// A row without a default, a condition and words.
    pub(in crate::dpa) const fn new(
        parameter: &'static Parameter,
        get: fn(&S) -> Value,
        set: fn(&mut S, Value) -> bool,
    ) -> Self {
        Self {
            parameter,
            get,
            set,
            default: Default::Required,
            needs: |_| Ok(()),
            refuses: |_, _| None,
            words: (0, |_, _| String::new()),
        }
    }

    /// With a default.
    pub(in crate::dpa) const fn or(mut self, default: fn(&S) -> Value) -> Self {
        self.default = Default::Of(default);
        self
    }

    /// With a condition.
    pub(in crate::dpa) const fn if_any(
        mut self,
        needs: fn(&S) -> Result<(), &'static str>,
    ) -> Self {
        self.needs = needs;
        self
    }

    /// With values that it refuses.
    pub(in crate::dpa) const fn unless(mut self, refuses: fn(&S, Value) -> Option<String>) -> Self {
        self.refuses = refuses;
        self
    }

    /// With words.
    pub(in crate::dpa) const fn says(
        mut self,
        place: u8,
        words: fn(&S, &Output) -> String,
    ) -> Self {
        self.words = (place, words);
        self
    }

    /// Whether the step has the value that it has when nobody says it.
    fn is_default(&self, step: &S) -> bool {
        match self.default {
            Default::Required => false,
            Default::Of(default) => default(step) == (self.get)(step),
        }
    }
}

/// What is done with all rows of a step, or of a result.
pub(in crate::dpa) trait Rows: Sized + 'static {
    /// The rows, in the order of the notation.
    const ALL: &'static [Row<Self>];
    /// What a parameter is called where its name is unknown.
    const KIND: &'static str;

    /// Every parameter with its value, where it has a meaning.
    fn parameters(&self) -> Vec<(&'static Parameter, Value)> {
        let rows = Self::ALL.iter().filter(|row| (row.needs)(self).is_ok());
        rows.map(|row| (row.parameter, (row.get)(self))).collect()
    }

    /// The parameters that are not at their defaults, with their values.
    fn said(&self) -> Vec<(&'static Parameter, Value)> {
        let said = |row: &&Row<Self>| (row.needs)(self).is_ok() && !row.is_default(self);
        let rows = Self::ALL.iter().filter(said);
        rows.map(|row| (row.parameter, (row.get)(self))).collect()
    }

    /// The value of a parameter; `None` when there is none of that symbol.
    fn get(&self, symbol: &str) -> Option<Value> {
        let mut rows = Self::ALL.iter();
        let row = rows.find(|row| row.parameter.symbol == symbol)?;
        Some((row.get)(self))
    }

    /// Changes a parameter; false where it cannot have this value. Parameters to which that leaves no meaning get their
    /// defaults.
    fn set(&mut self, symbol: &str, value: Value) -> bool {
        let mut rows = Self::ALL.iter();
        let Some(row) = rows.find(|row| row.parameter.symbol == symbol) else {
            return false;
        };
        let is_possible = (row.needs)(self).is_ok()
            && row.parameter.check(value).is_ok()
            && (row.refuses)(self, value).is_none();
        if !is_possible {
            return false;
        }
        let before: Vec<bool> = Self::ALL
            .iter()
            .map(|row| (row.needs)(self).is_ok())
            .collect();
        let is_set = (row.set)(self, value);
        for (row, had_meaning) in Self::ALL.iter().zip(before) {
            if let Default::Of(default) = row.default
                && had_meaning
                && (row.needs)(self).is_err()
            {
                let usual = default(self);
                (row.set)(self, usual);
            }
        }
        is_set
    }

    /// Says which parameter is out of its range.
    fn check_ranges(&self) -> Result<(), String> {
        let mut rows = Self::ALL.iter().filter(|row| (row.needs)(self).is_ok());
        rows.try_for_each(|row| row.parameter.check((row.get)(self)))
    }

    /// The sentences of the rows.
    fn words(&self, output: &Output) -> Vec<String> {
        let mut found: Vec<(u8, String)> = Vec::new();
        for row in Self::ALL {
            let (place, words) = row.words;
            found.push((place, words(self, output)));
        }
        found.sort_by_key(|(place, _)| *place);
        let said = found.into_iter().map(|(_, words)| words);
        said.filter(|words| !words.is_empty()).collect()
    }

    /// Takes the values of `NAME=value` words, row by row; `head` is the word that they stand behind.
    fn read(
        &mut self,
        head: Token<'_>,
        given: &[Given<'_>],
        formats: &Formats,
    ) -> Result<(), Flaw> {
        let symbols = || Self::ALL.iter().map(|row| row.parameter.symbol);
        for (index, (word, name, _)) in given.iter().enumerate() {
            if !symbols().any(|symbol| symbol == *name) {
                let error = Error::unknown(Self::KIND, name, symbols());
                return Err((word.column, error.to_string()));
            }
            if given[..index].iter().any(|(_, earlier, _)| earlier == name) {
                let kind = Self::KIND;
                return Err((word.column, format!("{kind} {name} is given twice")));
            }
        }
        for row in Self::ALL {
            let symbol = row.parameter.symbol;
            let word = given.iter().find(|(_, name, _)| *name == symbol);
            let needed = (row.needs)(self);
            let (column, value) = match (word, &row.default) {
                (Some((word, name, text)), _) => {
                    if let Err(reason) = needed {
                        return Err((word.column, format!("{name}={text} {reason}")));
                    }
                    let value = row.parameter.parse(text, formats);
                    (
                        word.column,
                        value.map_err(|message| (word.column, message))?,
                    )
                }
                (None, Default::Of(_)) if needed.is_err() => continue,
                (None, Default::Of(default)) => (head.column, default(self)),
                (None, Default::Required) => {
                    return Err((head.column, format!("{} needs {symbol}=…", head.text)));
                }
            };
            if let Some(reason) = (row.refuses)(self, value) {
                return Err((column, format!("{symbol}={value}: {reason}")));
            }
            if !(row.set)(self, value) {
                let message = format!("{symbol}={value}: {} has no such value", head.text);
                return Err((column, message));
            }
        }
        Ok(())
    }
}

/// A word `NAME=value` with its parts.
pub(in crate::dpa) type Given<'a> = (Token<'a>, &'a str, &'a str);

/// Types of fields as values.
pub(in crate::dpa) trait Typed: Sized {
    /// The field as a value of this parameter.
    fn value(self, of: &Parameter) -> Value;
    /// The value as a field; `None` where it is none.
    fn of(value: Value, of: &Parameter) -> Option<Self>;
}

impl Typed for i32 {
    fn value(self, _: &Parameter) -> Value {
        Value::Number(self)
    }

    fn of(value: Value, _: &Parameter) -> Option<Self> {
        match value {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }
}

impl Typed for u32 {
    fn value(self, _: &Parameter) -> Value {
        Value::Number(i32::try_from(self).unwrap_or(i32::MAX))
    }

    fn of(value: Value, of: &Parameter) -> Option<Self> {
        u32::try_from(i32::of(value, of)?).ok()
    }
}

impl Typed for bool {
    /// The second word is true.
    fn value(self, of: &Parameter) -> Value {
        Value::Word(of.kind.words[usize::from(self)])
    }

    fn of(value: Value, of: &Parameter) -> Option<Self> {
        match value {
            Value::Word(word) => Some(word == of.kind.words[1]),
            _ => None,
        }
    }
}

impl Typed for Rounding {
    fn value(self, _: &Parameter) -> Value {
        Value::Rounding(self)
    }

    fn of(value: Value, _: &Parameter) -> Option<Self> {
        match value {
            Value::Rounding(rounding) => Some(rounding),
            _ => None,
        }
    }
}

impl Typed for Overflow {
    fn value(self, _: &Parameter) -> Value {
        Value::Word(self.name())
    }

    fn of(value: Value, _: &Parameter) -> Option<Self> {
        match value {
            Value::Word(word) => Self::named(word).ok(),
            _ => None,
        }
    }
}

impl Typed for (Rounding, Format) {
    fn value(self, _: &Parameter) -> Value {
        Value::Rounded(self.0, self.1)
    }

    fn of(value: Value, _: &Parameter) -> Option<Self> {
        match value {
            Value::Rounded(rounding, format) => Some((rounding, format)),
            _ => None,
        }
    }
}

/// `None` is the parameter's first word.
impl<T: Typed> Typed for Option<T> {
    fn value(self, of: &Parameter) -> Value {
        match self {
            None => Value::Word(of.kind.words[0]),
            Some(value) => value.value(of),
        }
    }

    fn of(value: Value, of: &Parameter) -> Option<Self> {
        match value {
            Value::Word(word) if word == of.kind.words[0] => Some(None),
            _ => T::of(value, of).map(Some),
        }
    }
}

/// Makes an enum a field, word by word; a value without a word does not compile.
macro_rules! typed_words {
    ($type:ty: $($value:path => $word:literal),+ $(,)?) => {
        impl $crate::dpa::schema::Typed for $type {
            fn value(self, _: &$crate::dpa::schema::Parameter) -> $crate::dpa::schema::Value {
                $crate::dpa::schema::Value::Word(match self {
                    $($value => $word,)+
                })
            }

            fn of(
                value: $crate::dpa::schema::Value,
                _: &$crate::dpa::schema::Parameter,
            ) -> Option<Self> {
                match value {
                    $($crate::dpa::schema::Value::Word($word) => Some($value),)+
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str(match self {
                    $($value => $word,)+
                })
            }
        }
    };
}
pub(in crate::dpa) use typed_words;

/// A row for a field: `row!(F, f)`, `row!(FLUSH_IN, terms.flush_in)`.
macro_rules! row {
    ($parameter:ident, $($field:ident).+) => {
        $crate::dpa::schema::Row::new(
            &$crate::dpa::schema::parameters::$parameter,
            |step: &Self| {
                let parameter = &$crate::dpa::schema::parameters::$parameter;
                $crate::dpa::schema::Typed::value(step.$($field).+, parameter)
            },
            |step: &mut Self, value| {
                let parameter = &$crate::dpa::schema::parameters::$parameter;
                match $crate::dpa::schema::Typed::of(value, parameter) {
                    Some(value) => {
                        step.$($field).+ = value;
                        true
                    }
                    None => false,
                }
            },
        )
    };
}
pub(in crate::dpa) use row;
