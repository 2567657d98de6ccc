//! The text form of GR-FDPA and SEMI-FMA, both ways.

use std::fmt;

use super::{Flaw, at, flaw};
use crate::dpa::limits::{MAX_E0, MAX_F, MAX_L, MAX_PLACE};
use crate::dpa::{GrFdpa, GrTerms, Part, SemiFma, SemiNan, Token};
use crate::format::Rounding;

/// Parameters of `gr-fdpa` beside the required ones.
pub(super) const OPTIONAL: &[&str] = &[
    "of", "F2", "ez", "a", "b", "align-g", "align", "align-c", "fault",
];

const TERMS: [(&str, GrTerms); 3] = [
    ("products", GrTerms::Product),
    ("sum", GrTerms::Sum),
    ("difference", GrTerms::Difference),
];

/// The parameters that stand behind an algorithm's name, each known and given once.
pub(super) struct Given<'a, 'b> {
    pub(super) head: Token<'a>,
    pub(super) list: &'b [(Token<'a>, &'a str, &'a str)],
}

impl Given<'_, '_> {
    fn number(&self, name: &str, low: i64, high: i64) -> Result<Option<i64>, Flaw> {
        let Some((word, _, value)) = self.list.iter().find(|(_, own, _)| *own == name) else {
            return Ok(None);
        };
        match value.parse() {
            Ok(number) if (low..=high).contains(&number) => Ok(Some(number)),
            _ => flaw(
                *word,
                format!("{name}={value}: expected a whole number {low} to {high}"),
            ),
        }
    }

    fn required(&self, name: &str, low: i64, high: i64) -> Result<i64, Flaw> {
        match self.number(name, low, high)? {
            Some(number) => Ok(number),
            None => flaw(self.head, format!("{} needs {name}=…", self.head.text)),
        }
    }

    fn rounding(&self, name: &str, default: Rounding) -> Result<Rounding, Flaw> {
        match self.list.iter().find(|(_, own, _)| *own == name) {
            None => Ok(default),
            Some((word, _, value)) => at(*word, Rounding::named(value)),
        }
    }

    fn part(&self, name: &str) -> Result<Part, Flaw> {
        let Some((word, _, value)) = self.list.iter().find(|(_, own, _)| *own == name) else {
            return Ok(Part::WHOLE);
        };
        let places = value.split_once(':');
        let places = places.and_then(|(x, y)| Some((x.parse().ok()?, y.parse().ok()?)));
        match places {
            Some((first, last)) if first <= last && last <= MAX_PLACE => Ok(Part { first, last }),
            _ => flaw(
                *word,
                format!(
                    "{name}={value}: expected FIRST:LAST, places of a significand from 0 to {MAX_PLACE}"
                ),
            ),
        }
    }

    /// One of some words.
    fn word<T: Copy>(
        &self,
        name: &str,
        words: &[(&str, T)],
        default: Option<T>,
    ) -> Result<T, Flaw> {
        let known = || {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            words.join(" or ")
        };
        match self.list.iter().find(|(_, own, _)| *own == name) {
            None => match default {
                Some(default) => Ok(default),
                None => flaw(
                    self.head,
                    format!("{} needs {name}={}", self.head.text, known()),
                ),
            },
            Some((word, _, value)) => match words.iter().find(|(own, _)| own == value) {
                Some((_, meaning)) => Ok(*meaning),
                None => flaw(*word, format!("{name}={value}: expected {}", known())),
            },
        }
    }

    pub(super) fn gr_fdpa(&self) -> Result<GrFdpa, Flaw> {
        let (most, bits, lowest) = (MAX_L.into(), MAX_F.into(), (-MAX_E0).into());
        let narrow = |number: i64| number as u32;
        let exponent = |number: i64| number as i32;
        Ok(GrFdpa {
            terms: self.word("of", &TERMS, Some(GrTerms::Product))?,
            l: narrow(self.required("L", 1, most)?),
            g: narrow(self.required("G", 1, most)?),
            f_g: narrow(self.required("Fg", 1, bits)?),
            align_g: self.rounding("align-g", Rounding::Rna)?,
            f: narrow(self.required("F", 1, bits)?),
            f2: self.number("F2", 1, bits)?.map(narrow),
            align: self.rounding("align", Rounding::Rnu)?,
            align_c: self.rounding("align-c", Rounding::Rna)?,
            a: self.part("a")?,
            b: self.part("b")?,
            e0: exponent(self.required("e0", lowest, -lowest)?),
            e_z: self.number("ez", lowest, -lowest)?.map(exponent),
            fault: self.number("fault", 1, bits)?.map(narrow),
        })
    }

    pub(super) fn semi_fma(&self) -> Result<SemiFma, Flaw> {
        let nan = [("quiet", SemiNan::Quiet), ("leaks", SemiNan::Leaks)];
        Ok(SemiFma {
            nan: self.word("nan", &nan, None)?,
            signed_zeros: self.word("zeros", &[("plus", false), ("signed", true)], None)?,
            drops_bit: self.word("sticky", &[("all", false), ("last", true)], None)?,
            rounds_tiny: self.word("tiny", &[("zero", false), ("rounded", true)], None)?,
        })
    }
}

impl GrFdpa {
    /// The parameters with their values; those that are not required only where they are not the
    /// usual ones, unless `all` are wanted.
    pub(in crate::dpa) fn parameters(&self, all: bool) -> Vec<(&'static str, String)> {
        let mut found = Vec::new();
        let terms = TERMS.iter().find(|(_, terms)| *terms == self.terms);
        if self.terms != GrTerms::Product {
            found.push(("of", terms.map_or("", |(word, _)| word).to_owned()));
        }
        found.push(("L", self.l.to_string()));
        found.push(("G", self.g.to_string()));
        found.push(("Fg", self.f_g.to_string()));
        found.push(("F", self.f.to_string()));
        if let Some(f2) = self.f2 {
            found.push(("F2", f2.to_string()));
        }
        found.push(("e0", self.e0.to_string()));
        if let Some(e_z) = self.e_z {
            found.push(("ez", e_z.to_string()));
        }
        for (name, part) in [("a", self.a), ("b", self.b)] {
            if part != Part::WHOLE {
                found.push((name, format!("{}:{}", part.first, part.last)));
            }
        }
        let roundings = [
            ("align-g", self.align_g, Rounding::Rna),
            ("align", self.align, Rounding::Rnu),
            ("align-c", self.align_c, Rounding::Rna),
        ];
        for (name, rounding, usual) in roundings {
            if all || rounding != usual {
                found.push((name, rounding.to_string()));
            }
        }
        if let Some(places) = self.fault {
            found.push(("fault", places.to_string()));
        }
        found
    }
}

impl SemiFma {
    /// The parameters with their values.
    pub(in crate::dpa) fn parameters(&self) -> Vec<(&'static str, String)> {
        let choose = |value: bool, no: &str, yes: &str| (if value { yes } else { no }).to_owned();
        let leaks = self.nan == SemiNan::Leaks;
        vec![
            ("nan", choose(leaks, "quiet", "leaks")),
            ("zeros", choose(self.signed_zeros, "plus", "signed")),
            ("sticky", choose(self.drops_bit, "all", "last")),
            ("tiny", choose(self.rounds_tiny, "zero", "rounded")),
        ]
    }
}

fn write(out: &mut fmt::Formatter<'_>, name: &str, parameters: &[(&str, String)]) -> fmt::Result {
    out.write_str(name)?;
    (parameters.iter()).try_for_each(|(name, value)| write!(out, " {name}={value}"))
}

impl fmt::Display for GrFdpa {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(out, "gr-fdpa", &self.parameters(false))
    }
}

impl fmt::Display for SemiFma {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(out, "semi-fma", &self.parameters())
    }
}
