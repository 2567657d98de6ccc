//! The text form of the steps of the model space.
//!
//! ```text
//! fused L=16 F=25|exact [Fc=…] [e0=…] [align=…] [align-c=…] [G=4 [groups=strided] [Fg=…|exact] [align-g=…] [exponent-g=own] [zero-g=dropped]]
//!       [F2=…] [floor=…] [products=exact|normalised|rne:f32] [product-limit=128] [grid=products] [sticky=kept|1]
//!       [zero-times-inf=zero|signed|plus|minus] [inf-minus-inf=plus|minus] [terms]
//! add-mul P=4 [adds=sequential] [products=rne:f32] [terms]
//! terms: [codes=numbers|largest] [operands=rz:bf16] [flush-in=…] [flush-of=a|b] [round-c=rz:bf16] [flush-c=…] [flush-products=…]
//! ```

use std::fmt;

use super::general::{
    AddMul, Codes, Fused, General, Groups, Invalid, Side, Specials, Sticky, Terms,
};
use super::limits::{MAX_E0, MAX_F, MAX_L};
use super::notation::{Flaw, at};
use super::{FlushSign, Token};
use crate::error::Error;
use crate::format::{Format, Rounding};

/// What `fused` may be given.
const FUSED: [&str; 27] = [
    "L",
    "F",
    "Fc",
    "e0",
    "align",
    "align-c",
    "G",
    "groups",
    "Fg",
    "align-g",
    "exponent-g",
    "zero-g",
    "F2",
    "floor",
    "products",
    "product-limit",
    "grid",
    "sticky",
    "zero-times-inf",
    "inf-minus-inf",
    "codes",
    "operands",
    "flush-in",
    "flush-of",
    "round-c",
    "flush-c",
    "flush-products",
];
/// What `add-mul` may be given.
const ADD_MUL: [&str; 10] = [
    "P",
    "adds",
    "products",
    "codes",
    "operands",
    "flush-in",
    "flush-of",
    "round-c",
    "flush-c",
    "flush-products",
];

/// Words for operands.
const SIDES: [(&str, Side); 2] = [("a", Side::A), ("b", Side::B)];
/// Words for what ∞ and NaN codes mean instead.
const CODES: [(&str, Codes); 2] = [("numbers", Codes::Numbers), ("largest", Codes::Largest)];
/// Words for what an invalid operation gives; the first two are those of ∞ − ∞.
const INVALID: [(&str, Invalid); 4] = [
    ("plus", Invalid::Plus),
    ("minus", Invalid::Minus),
    ("signed", Invalid::Signed),
    ("zero", Invalid::Zero),
];

type Found<T> = Result<T, Flaw>;

/// The `NAME=value` words of one algorithm.
struct Given<'a, 'b> {
    head: Token<'a>,
    words: &'b [(Token<'a>, &'a str, &'a str)],
}

/// Reads the parameters of `fused` or `add-mul`.
pub(super) fn parse(head: Token<'_>, words: &[(Token<'_>, &str, &str)]) -> Found<General> {
    let allowed: &[&str] = if head.text == "fused" {
        &FUSED
    } else {
        &ADD_MUL
    };
    for (index, (word, name, _)) in words.iter().enumerate() {
        if !allowed.contains(name) {
            return at(*word, Err(Error::unknown("parameter", name, allowed)));
        }
        if words[..index].iter().any(|(_, earlier, _)| earlier == name) {
            return Err((word.column, format!("parameter {name} is given twice")));
        }
    }
    let given = Given { head, words };
    if head.text == "fused" {
        given.fused().map(General::Fused)
    } else {
        given.add_mul().map(General::AddMul)
    }
}

impl<'a> Given<'a, '_> {
    fn find(&self, name: &str) -> Option<(Token<'a>, &'a str)> {
        let found = self.words.iter().find(|(_, known, _)| *known == name);
        found.map(|(word, _, value)| (*word, *value))
    }

    fn number(&self, name: &str, low: i32, high: i32) -> Found<Option<i32>> {
        let Some((word, value)) = self.find(name) else {
            return Ok(None);
        };
        match value.parse() {
            Ok(number) if (low..=high).contains(&number) => Ok(Some(number)),
            _ => Err((
                word.column,
                format!("{name}={value}: expected a whole number {low} to {high}"),
            )),
        }
    }

    fn required(&self, name: &str, high: u32) -> Found<u32> {
        match self.number(name, 1, high as i32)? {
            Some(number) => Ok(number as u32),
            None => Err((
                self.head.column,
                format!("{} needs {name}=…", self.head.text),
            )),
        }
    }

    /// A number of bits, or `exact`.
    fn bits(&self, name: &str) -> Found<Option<Option<u32>>> {
        match self.find(name) {
            Some((_, "exact")) => Ok(Some(None)),
            _ => {
                let number = self.number(name, 1, MAX_F as i32)?;
                Ok(number.map(|number| Some(number as u32)))
            }
        }
    }

    fn rounding(&self, name: &str, default: Rounding) -> Found<Rounding> {
        match self.find(name) {
            None => Ok(default),
            Some((word, value)) => at(word, Rounding::named(value)),
        }
    }

    fn flush(&self, name: &str) -> Found<Option<FlushSign>> {
        match self.find(name) {
            None => Ok(None),
            Some((word, value)) => flush_named(name, value)
                .map(Some)
                .map_err(|message| (word.column, message)),
        }
    }

    fn word(&self, name: &str, only: &str) -> Found<bool> {
        match self.find(name) {
            None => Ok(false),
            Some((_, value)) if value == only => Ok(true),
            Some((word, value)) => Err((
                word.column,
                format!("{name}={value}: expected {name}={only}, or nothing"),
            )),
        }
    }

    fn sticky(&self) -> Found<Sticky> {
        match self.find("sticky") {
            None => Ok(Sticky::None),
            Some((_, "kept")) => Ok(Sticky::Kept),
            Some(_) => match self.number("sticky", 1, Sticky::LOWEST as i32) {
                Ok(place) => Ok(place.map_or(Sticky::None, |place| Sticky::Bit(place as u32))),
                Err((column, message)) => Err((column, format!("{message}, or kept"))),
            },
        }
    }

    /// A rounding and a format, like `rne:f32`.
    fn rounded(&self, name: &str) -> Found<Option<(Rounding, Format)>> {
        let Some((word, value)) = self.find(name) else {
            return Ok(None);
        };
        let Some((rounding, format)) = value.split_once(':') else {
            return Err((
                word.column,
                format!("{name}={value}: expected a rounding and a format, like rne:f32"),
            ));
        };
        let format = at(word, Format::named(format))?;
        if format.float().is_none() || !format.signed || format.bits > 32 {
            return Err((
                word.column,
                format!("{name}={value}: a signed float of at most 32 bits is needed"),
            ));
        }
        Ok(Some((at(word, Rounding::named(rounding))?, format)))
    }

    /// One of a few words.
    fn one_of<T: Copy + Default>(&self, name: &str, words: &[(&str, T)]) -> Found<T> {
        let Some((word, value)) = self.find(name) else {
            return Ok(T::default());
        };
        match words.iter().find(|(known, _)| *known == value) {
            Some((_, found)) => Ok(*found),
            None => {
                let names: Vec<&str> = words.iter().map(|(known, _)| *known).collect();
                let names = names.join(" or ");
                Err((word.column, format!("{name}={value}: expected {names}")))
            }
        }
    }

    fn terms(&self) -> Found<Terms> {
        let products = match self.find("products") {
            None | Some((_, "exact" | "normalised")) => None,
            Some(_) => self.rounded("products")?,
        };
        Ok(Terms {
            codes: self.one_of("codes", &CODES)?,
            operands: self.rounded("operands")?,
            flush_in: self.flush("flush-in")?,
            flush_of: self.one_of("flush-of", &SIDES)?,
            round_c: self.rounded("round-c")?,
            flush_c: self.flush("flush-c")?,
            products,
            flush_products: self.flush("flush-products")?,
        })
    }

    fn fused(&self) -> Found<Fused> {
        let l = self.required("L", MAX_L)?;
        let Some(f) = self.bits("F")? else {
            return Err((self.head.column, "fused needs F=… or F=exact".to_owned()));
        };
        let f_c = self.bits("Fc")?.unwrap_or(f);
        if f.is_none() != f_c.is_none() {
            return Err((
                self.head.column,
                "F and Fc are both exact or both numbers".to_owned(),
            ));
        }
        if let Some((word, _)) = self.find("flush-products")
            && !matches!(self.find("products"), Some((_, value)) if value.contains(':'))
        {
            return Err((
                word.column,
                "flush-products is of rounded products: products=rne:f32, for example".to_owned(),
            ));
        }
        let of_alignment = ["sticky", "align", "align-c", "e0", "grid"];
        let given = of_alignment.into_iter().find_map(|name| {
            let (word, value) = self.find(name)?;
            Some((name, word, value))
        });
        if let (None, Some((name, word, value))) = (f, given) {
            let what = match name {
                "sticky" => "remembers what the alignment drops: F=exact drops nothing",
                _ => "is of the alignment: F=exact has none",
            };
            return Err((
                word.column,
                format!("{name}={value} {what}; it needs F=25, for example"),
            ));
        }
        let align = self.rounding("align", Rounding::Rz)?;
        let groups = match self.number("G", 1, MAX_L as i32)? {
            None => None,
            Some(g) => Some(Groups {
                g: g as u32,
                strided: self.word("groups", "strided")?,
                f: self.bits("Fg")?.unwrap_or(None),
                align: self.rounding("align-g", Rounding::Rz)?,
                normalised: self.word("exponent-g", "own")?,
                drops_zero: self.word("zero-g", "dropped")?,
            }),
        };
        let of_groups = ["groups", "Fg", "align-g", "exponent-g", "zero-g"];
        if let (None, Some(name)) = (
            groups,
            of_groups.into_iter().find(|n| self.find(n).is_some()),
        ) {
            return Err((self.head.column, format!("{name} needs G=…")));
        }
        Ok(Fused {
            l,
            terms: self.terms()?,
            normalised: matches!(self.find("products"), Some((_, "normalised"))),
            product_limit: self.number("product-limit", -MAX_E0, MAX_E0)?,
            groups,
            f,
            f_c,
            e0: self.number("e0", -MAX_E0, MAX_E0)?,
            align,
            align_c: self.rounding("align-c", align)?,
            apart: self.word("grid", "products")?,
            sticky: self.sticky()?,
            specials: Specials {
                zero_times_infinity: self.one_of("zero-times-inf", &INVALID)?,
                opposite: self.one_of("inf-minus-inf", &INVALID[..2])?,
            },
            f2: self.number("F2", 1, MAX_F as i32)?.map(|bits| bits as u32),
            floor: self.rounding("floor", Rounding::Rd)?,
        })
    }

    fn add_mul(&self) -> Found<AddMul> {
        if let Some((word, "normalised")) = self.find("products") {
            return Err((word.column, "add-mul rounds its products".to_owned()));
        }
        Ok(AddMul {
            p: self.required("P", MAX_L)?,
            sequential: self.word("adds", "sequential")?,
            terms: self.terms()?,
        })
    }
}

/// The sign of a flushed zero by its name.
pub(super) fn flush_named(name: &str, value: &str) -> Result<FlushSign, String> {
    match value {
        "plus" => Ok(FlushSign::Plus),
        "kept" => Ok(FlushSign::Kept),
        _ => Err(format!("{name}={value}: expected 'plus' or 'kept'")),
    }
}

impl fmt::Display for FlushSign {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Plus => "plus",
            Self::Kept => "kept",
        })
    }
}

impl General {
    /// The name in the notation.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Fused(_) => "fused",
            Self::AddMul(_) => "add-mul",
        }
    }

    /// The parameters that are not at their defaults, in the order of the notation.
    pub(super) fn parameters(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Fused(fused) => fused.parameters(),
            Self::AddMul(add_mul) => {
                let mut found = vec![("P", add_mul.p.to_string())];
                if add_mul.sequential {
                    found.push(("adds", "sequential".to_owned()));
                }
                add_mul.terms.parameters(false, &mut found);
                found
            }
        }
    }
}

impl Terms {
    fn parameters(&self, normalised: bool, found: &mut Vec<(&'static str, String)>) {
        if let Some((rounding, format)) = self.products {
            found.push(("products", format!("{rounding}:{format}")));
        } else if normalised {
            found.push(("products", "normalised".to_owned()));
        }
        if self.codes != Codes::Special {
            found.push(("codes", self.codes.to_string()));
        }
        let mut flush = |name, flush: Option<FlushSign>| {
            found.extend(flush.map(|sign| (name, sign.to_string())));
        };
        flush("flush-in", self.flush_in);
        flush("flush-c", self.flush_c);
        flush("flush-products", self.flush_products);
        for (name, rounded) in [("operands", self.operands), ("round-c", self.round_c)] {
            if let Some((rounding, format)) = rounded {
                found.push((name, format!("{rounding}:{format}")));
            }
        }
        if let Some((word, _)) = SIDES.iter().find(|(_, side)| *side == self.flush_of) {
            found.push(("flush-of", (*word).to_owned()));
        }
    }
}

impl Fused {
    fn parameters(&self) -> Vec<(&'static str, String)> {
        let bits = |bits: Option<u32>| bits.map_or("exact".to_owned(), |bits| bits.to_string());
        let mut found = vec![("L", self.l.to_string()), ("F", bits(self.f))];
        if self.f_c != self.f {
            found.push(("Fc", bits(self.f_c)));
        }
        if let Some(e0) = self.e0 {
            found.push(("e0", e0.to_string()));
        }
        if self.align != Rounding::Rz {
            found.push(("align", self.align.to_string()));
        }
        if self.align_c != self.align {
            found.push(("align-c", self.align_c.to_string()));
        }
        if let Some(groups) = self.groups {
            found.push(("G", groups.g.to_string()));
            if groups.strided {
                found.push(("groups", "strided".to_owned()));
            }
            if groups.f.is_some() {
                found.push(("Fg", bits(groups.f)));
            }
            if groups.align != Rounding::Rz {
                found.push(("align-g", groups.align.to_string()));
            }
            if groups.normalised {
                found.push(("exponent-g", "own".to_owned()));
            }
            if groups.drops_zero {
                found.push(("zero-g", "dropped".to_owned()));
            }
        }
        if let Some(f2) = self.f2 {
            found.push(("F2", f2.to_string()));
            if self.floor != Rounding::Rd {
                found.push(("floor", self.floor.to_string()));
            }
        }
        if let Some(limit) = self.product_limit {
            found.push(("product-limit", limit.to_string()));
        }
        if self.apart {
            found.push(("grid", "products".to_owned()));
        }
        if self.sticky != Sticky::None {
            found.push(("sticky", self.sticky.to_string()));
        }
        for (name, invalid) in [
            ("zero-times-inf", self.specials.zero_times_infinity),
            ("inf-minus-inf", self.specials.opposite),
        ] {
            if invalid != Invalid::Nan {
                found.push((name, invalid.to_string()));
            }
        }
        self.terms.parameters(self.normalised, &mut found);
        found
    }
}

impl fmt::Display for Side {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = SIDES.iter().find(|(_, side)| side == self);
        out.write_str(word.map_or("both", |(word, _)| word))
    }
}

impl fmt::Display for Codes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = CODES.iter().find(|(_, codes)| codes == self);
        out.write_str(word.map_or("special", |(word, _)| word))
    }
}

impl fmt::Display for Sticky {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => out.write_str("none"),
            Self::Kept => out.write_str("kept"),
            Self::Bit(place) => write!(out, "{place}"),
        }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = INVALID.iter().find(|(_, invalid)| invalid == self);
        out.write_str(word.map_or("nan", |(word, _)| word))
    }
}

impl fmt::Display for General {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())?;
        for (name, value) in self.parameters() {
            write!(out, " {name}={value}")?;
        }
        Ok(())
    }
}
