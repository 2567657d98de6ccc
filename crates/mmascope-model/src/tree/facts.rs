//! What a tree file says beside the tree: formats, products, the arithmetic of its nodes.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::round;
use crate::error::{Error, Result};
use crate::format::{Format, Rounding};

/// The members that hold the tree itself.
const OF_THE_TREE: [&str; 3] = ["tree", "nodes", "root"];

/// What a tree file says beside the tree: what `reveal --json` found. Without it a tree is only an
/// order; which leaves are products, and how wide nodes sum, is not in its nodes.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TreeFacts {
    /// Format of the operands.
    pub operands: Option<Format>,
    /// Format of the subject's results, to which the root is rounded.
    pub format: Option<Format>,
    /// How many leaves, the first ones, are products.
    pub products: Option<usize>,
    /// Fraction bits that fused nodes keep.
    pub fused_bits: Option<i32>,
    /// Rounding of fused nodes.
    pub fused_rounding: Option<String>,
    /// Rounding of all other nodes.
    pub rounding: Option<String>,
    /// Every member of the file but the tree, as it stands there; those above included.
    pub members: Map<String, Value>,
}

impl TreeFacts {
    /// Reads the facts of a tree file whose tree has so many leaves; none where the file is a tree alone.
    ///
    /// # Errors
    /// [`Error::Argument`] and [`Error::Unknown`], which name the member.
    pub fn read(text: &str, leaves: usize) -> Result<Self> {
        // The tree stays text: it may be deeper than JSON is parsed.
        let members: BTreeMap<String, &RawValue> =
            serde_json::from_str(text.trim()).unwrap_or_default();
        let is_file = members.contains_key("tree")
            || members.contains_key("nodes") && members.contains_key("root");
        if !is_file {
            return Ok(Self::default());
        }
        let mut facts = Map::new();
        for (name, raw) in members {
            if !OF_THE_TREE.contains(&&*name) {
                let value = serde_json::from_str(raw.get())
                    .map_err(|error| Error::Argument(format!("tree file: {name}: {error}")))?;
                facts.insert(name, value);
            }
        }
        Self::of_members(facts, leaves)
    }

    /// The facts of these members of a tree file.
    ///
    /// # Errors
    /// As [`TreeFacts::read`].
    pub fn of_members(members: Map<String, Value>, leaves: usize) -> Result<Self> {
        let said = |name: &str| members.get(name).filter(|value| !value.is_null());
        let wrong = |name: &str, value: &Value, needed: &str| {
            Error::Argument(format!("tree file: {name} = {value}: {needed} is needed"))
        };
        let text = |name: &str| {
            said(name)
                .map(|value| {
                    value
                        .as_str()
                        .ok_or_else(|| wrong(name, value, "a text in quotes"))
                })
                .transpose()
        };
        let named =
            |name: &str, error: Error| Error::Argument(format!("tree file: {name}: {error}"));
        let format = |name: &str| {
            let found = text(name)?.map(Format::named).transpose();
            found.map_err(|error| named(name, error))
        };
        let rounding = |name: &str| {
            let found = text(name)?.map(Rounding::named).transpose();
            found.map_err(|error| named(name, error))?;
            Ok::<_, Error>(text(name)?.map(str::to_owned))
        };
        let products = said("products")
            .map(|value| {
                let count = value
                    .as_u64()
                    .and_then(|count| usize::try_from(count).ok())
                    .filter(|&count| count <= leaves);
                let needed = format!("a number of leaves from 0 to {leaves}");
                count.ok_or_else(|| wrong("products", value, &needed))
            })
            .transpose()?;
        let fused_bits = said("fused_bits")
            .map(|value| {
                let bits = value.as_i64().and_then(|bits| i32::try_from(bits).ok());
                bits.ok_or_else(|| wrong("fused_bits", value, "a number of bits"))
            })
            .transpose()?;
        Ok(Self {
            operands: format("operands")?,
            format: format("format")?,
            products,
            fused_bits,
            fused_rounding: rounding("fused_rounding")?,
            rounding: rounding("rounding")?,
            members,
        })
    }

    /// The facts of a subject whose arithmetic is not stated.
    #[must_use]
    pub fn of_subject(subject: &str, operands: Format, format: Format, products: usize) -> Self {
        let members = [
            ("subject", Value::from(subject)),
            ("operands", operands.name.into()),
            ("format", format.name.into()),
            ("products", products.into()),
        ];
        Self {
            operands: Some(operands),
            format: Some(format),
            products: Some(products),
            members: members
                .map(|(name, value)| (name.to_owned(), value))
                .into_iter()
                .collect(),
            ..Self::default()
        }
    }

    /// Refuses another number of products than the file says: a multiply-add of numbers would be an addition.
    ///
    /// # Errors
    /// [`Error::Argument`].
    pub fn check_products(&self, given: usize) -> Result<()> {
        match self.products {
            Some(stated) if given != 0 && stated != 0 && given != stated => {
                Err(Error::Argument(format!(
                    "run: {given} products (a*b), but {stated} leaves of the tree are products"
                )))
            }
            _ => Ok(()),
        }
    }

    /// The sum that a tree gives, as the subject hands it back: rounded to the format of its results,
    /// where that is stated.
    #[must_use]
    pub fn result(&self, sum: f64) -> f64 {
        self.format.map_or(sum, |format| round(format, sum))
    }
}
