//! What a tree file says beside the tree: formats, products, the arithmetic of its nodes.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::execute::{decode, round};
use super::{Term, Truncated};
use crate::error::{Error, Result};
use crate::format::{F32, F64, Format, Overflow, Rounding};

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
                bits.filter(|&bits| Truncated::takes(bits))
                    .ok_or_else(|| wrong("fused_bits", value, Truncated::BITS_NEEDED))
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

    /// Makes numbers of the operands' format of these terms, and refuses those that are none. A decimal of f32 and f64 is
    /// the nearest number.
    ///
    /// Products have two operands. A number without a second factor is an operand where the tree has no products, and
    /// otherwise c or a product, whose formats are others.
    ///
    /// # Errors
    /// [`Error::Argument`], which names the first number that is none of the format.
    pub fn read_operands(&self, operands: Format, terms: &mut [Term]) -> Result<()> {
        let is_product = |term: &Term| matches!(term, Term::Product(..));
        let has_products = self.products.unwrap_or(0) > 0 || terms.iter().any(is_product);
        for term in terms {
            match term {
                Term::Product(a, b) => {
                    (*a, *b) = (operand(operands, *a)?, operand(operands, *b)?);
                }
                Term::Value(value) if !has_products => *value = operand(operands, *value)?,
                Term::Value(_) => {}
            }
        }
        Ok(())
    }

    /// The sum that a tree gives, as the subject hands it back: rounded to the format of its results,
    /// where that is stated.
    #[must_use]
    pub fn result(&self, sum: f64) -> f64 {
        self.format.map_or(sum, |format| round(format, sum))
    }
}

/// The number of a format that this is. For a decimal of f32 and f64 that is the nearest, as in any programming
/// language; narrower formats have so few numbers that the nearest may be far from what was meant.
fn operand(format: Format, value: f64) -> Result<f64> {
    let none = |why: String| Error::Argument(format!("{value:?} is no number of {format}{why}"));
    let taken = |is_one: bool, why: &str| match is_one {
        true => Ok(value),
        false => Err(none(why.to_owned())),
    };
    if value.is_nan() {
        return taken(format.nan().is_some(), ", which has no NaN");
    }
    if value.is_infinite() {
        let code = format.infinity(value < 0.0, Overflow::Ieee);
        return taken(decode(format, code) == value, ", which has no such ∞");
    }
    let nearest = round(format, value);
    let is_decimal = [F32, F64].contains(&format) && nearest.is_finite();
    if nearest == value || is_decimal {
        return Ok(nearest);
    }
    let [least, largest] =
        [true, false].map(|negative| decode(format, format.max_finite(negative)));
    Err(none(if (least..=largest).contains(&value) {
        format!(": the nearest is {nearest:?}")
    } else {
        format!(": they go from {least:?} to {largest:?}")
    }))
}
