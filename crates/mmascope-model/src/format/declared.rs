//! Formats that a text declares, beside those of the table.

use std::collections::BTreeSet;
use std::sync::Mutex;

use super::{ALIASES, FORMATS, Float, Format, Kind, Register, Specials, storage};
use crate::error::{Error, Result};

/// Formats by name: the declared ones, and those of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Formats {
    own: Vec<Format>,
}

/// The largest significand and range that exact sums have room for: those of f32.
const MOST_FRACTION_BITS: u32 = 23;
const MOST_EXPONENT_BITS: u32 = 8;
const LOWEST_PLACE: i32 = -149;
const HIGHEST_EXPONENT: i32 = 127;
/// The most formats that one text declares.
const MOST_FORMATS: usize = 256;

/// Names of formats live as long as the program, each once.
static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

fn kept(name: &str) -> &'static str {
    let mut names = match NAMES.lock() {
        Ok(names) => names,
        Err(poisoned) => poisoned.into_inner(),
    };
    if let Some(known) = names.get(name) {
        return known;
    }
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(name);
    name
}

impl Formats {
    /// The format of that name.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the nearest names.
    pub fn named(&self, name: &str) -> Result<Format> {
        let lower = name.to_lowercase();
        if let Some(own) = self.own.iter().find(|own| own.name == lower) {
            return Ok(*own);
        }
        Format::named(name).map_err(|error| match self.own[..] {
            [] => error,
            _ => {
                let names = self.own.iter().chain(FORMATS).map(|format| format.name);
                Error::unknown("format", name, names)
            }
        })
    }

    /// The declared formats, in the order of their declarations.
    pub(crate) fn declared(&self) -> &[Format] {
        &self.own
    }

    /// Adds a float. One that is the upper part of another's word (`within`) has its exponents.
    ///
    /// # Errors
    /// What is wrong with it, and what is possible.
    ///
    /// ```
    /// use mmascope_model::format::{Class, Float, Formats, Specials};
    /// let mut formats = Formats::default();
    /// let e5m7 = Float { exponent_bits: 5, fraction_bits: 7, bias: 15, specials: Specials::Ieee, subnormals: true };
    /// let format = formats.declare("e5m7", true, e5m7, None)?;
    /// assert_eq!((format.bits, format.decode(0x0780).exponent), (13, 0));
    /// assert_eq!(formats.named("e5m7").map_err(|error| error.to_string())?, format);
    /// # Ok::<(), String>(())
    /// ```
    pub fn declare(
        &mut self,
        name: &str,
        signed: bool,
        float: Float,
        within: Option<&'static Format>,
    ) -> std::result::Result<Format, String> {
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        if name.is_empty() || name.len() > 32 || !name.chars().all(is_word) {
            return Err(format!(
                "'{name}' cannot name a format: lower-case letters, digits, '-' and '_', at most 32"
            ));
        }
        let is_alias = ALIASES.iter().any(|(alias, _)| *alias == name);
        if is_alias
            || FORMATS
                .iter()
                .chain(&self.own)
                .any(|known| known.name == name)
        {
            return Err(format!("'{name}' is a format already"));
        }
        if self.own.len() == MOST_FORMATS {
            return Err(format!("a text declares at most {MOST_FORMATS} formats"));
        }
        check(signed, float)?;
        let bits = u32::from(signed) + float.exponent_bits + float.fraction_bits;
        let register = match within {
            None => Register {
                bits: storage(bits),
                shift: 0,
                of: None,
            },
            Some(whole) => Register {
                bits: whole.register.bits,
                shift: shift_within(signed, float, whole)?,
                of: Some(whole),
            },
        };
        let format = Format {
            name: kept(name),
            bits,
            signed,
            kind: Kind::Float(float),
            register,
        };
        self.own.push(format);
        Ok(format)
    }
}

fn check(signed: bool, float: Float) -> std::result::Result<(), String> {
    let Float {
        exponent_bits,
        fraction_bits,
        bias,
        specials,
        ..
    } = float;
    if !(1..=MOST_EXPONENT_BITS).contains(&exponent_bits) || fraction_bits > MOST_FRACTION_BITS {
        return Err(format!(
            "exponent {exponent_bits} fraction {fraction_bits}: 1 to {MOST_EXPONENT_BITS} exponent bits and 0 to {MOST_FRACTION_BITS} fraction bits are supported"
        ));
    }
    if specials == Specials::Ieee && (exponent_bits < 2 || fraction_bits == 0) {
        return Err(
            "specials ieee needs 2 exponent bits and a fraction bit for its NaN".to_owned(),
        );
    }
    if specials == Specials::NegativeZeroNan && !signed {
        return Err("specials fnuz needs a sign: its NaN is the code of -0".to_owned());
    }
    let (Some(lowest), Some(highest)) = (
        (1 - fraction_bits as i32).checked_sub(bias),
        ((1 << exponent_bits) - 1_i32).checked_sub(bias),
    ) else {
        return Err(format!("bias {bias} is out of range"));
    };
    // (f32's own largest exponent field is that of its specials.)
    let highest = highest - i32::from(specials == Specials::Ieee);
    if lowest < LOWEST_PLACE || highest > HIGHEST_EXPONENT {
        return Err(format!(
            "bias {bias}: the numbers reach from 2^{lowest} to binade 2^{highest}; 2^{LOWEST_PLACE} to 2^{HIGHEST_EXPONENT} are supported"
        ));
    }
    Ok(())
}

/// How far up a code lies in the word of another format.
fn shift_within(signed: bool, float: Float, whole: &Format) -> std::result::Result<u32, String> {
    let same = |own: Float| {
        signed == whole.signed
            && whole.register.shift == 0
            && (own.exponent_bits, own.bias, own.specials, own.subnormals)
                == (
                    float.exponent_bits,
                    float.bias,
                    float.specials,
                    float.subnormals,
                )
    };
    match whole.float() {
        Some(own) if same(own) && own.fraction_bits >= float.fraction_bits => {
            Ok(own.fraction_bits - float.fraction_bits)
        }
        _ => Err(format!(
            "the upper part of a word of {whole} has its sign, exponent, bias and specials, and no more fraction bits"
        )),
    }
}
