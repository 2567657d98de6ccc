//! Block scaling: blocks of numbers to codes with a common scale (MX formats and NVFP4), and back.
//!
//! ```
//! use mmascope_model::precision::block::{BlockFormat, Quantiser, Recipe};
//!
//! let quantiser = Quantiser::new(BlockFormat::named("mxfp8-e4m3")?, Recipe::Ocp)?;
//! let block = [1.0_f32, -448.0, 0.0].map(f32::to_bits);
//! let mut codes = [0; 3];
//! let tensor = quantiser.tensor(0);
//! let scale = quantiser.block(&block, &tensor, |_| None, &mut codes);
//! assert_eq!((scale, codes), (127, [0x38, 0xfe, 0x00])); // a scale of 2^0
//! # Ok::<(), mmascope_model::Error>(())
//! ```
//!
//! The rules are those of the specification of precision §6: OCP MX 1.0 §6.3, Transformer Engine and
//! the papers on NVFP4 (arXiv 2509.25149) and Four Over Six (arXiv 2512.02010). All f32 arithmetic is
//! in words, in the order that the recipe has.

#![deny(clippy::float_arithmetic)]

mod dequantise;
mod recipe;
mod single;

pub use dequantise::{check_scale, check_tensor_scale};
pub use recipe::{Recipe, Selection};

use crate::error::{Error, Result};
use crate::format::{
    Class, E2M1FN, E4M3FN, E5M2, Exact, F32, Format, Overflow, Rounding, UE4M3, UE8M0,
};
use crate::precision::cast::Slice;
use single::{FLOAT_MAX, add, divide, multiply, subtract};

/// Elements, their scale and how many share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockFormat {
    /// The name on the command line and in files.
    pub name: &'static str,
    /// What elements are.
    pub element: Format,
    /// What scales are.
    pub scale: Format,
    /// How many elements share a scale, unless another number is asked for.
    pub block: usize,
    /// Whether there is a second scale, an f32 for the whole tensor.
    pub has_tensor_scale: bool,
}

/// The names, in the order in which they are listed.
const NAMES: [&str; 7] = [
    "mxfp8-e4m3",
    "mxfp8-e5m2",
    "mxfp6-e2m3",
    "mxfp6-e3m2",
    "mxfp4",
    "mxint8",
    "nvfp4",
];

impl BlockFormat {
    /// The format of that name.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the names that there are.
    pub fn named(name: &str) -> Result<Self> {
        let known = NAMES.into_iter().find(|known| *known == name);
        let Some(known) = known else {
            return Err(Error::unknown("block format", name, NAMES));
        };
        let element = match known {
            "mxfp8-e4m3" => E4M3FN,
            "mxfp8-e5m2" => E5M2,
            "mxfp6-e2m3" => Format::named("e2m3")?,
            "mxfp6-e3m2" => Format::named("e3m2")?,
            "mxint8" => Format::named("mxint8")?,
            _ => E2M1FN,
        };
        let is_nvfp4 = known == "nvfp4";
        Ok(Self {
            name: known,
            element,
            scale: if is_nvfp4 { UE4M3 } else { UE8M0 },
            block: if is_nvfp4 { 16 } else { 32 },
            has_tensor_scale: is_nvfp4,
        })
    }

    /// All names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.into_iter()
    }

    /// The exponent of the element's largest binade (OCP MX: 15, 8, 4, 2, 2, 0).
    fn largest_exponent(&self) -> i32 {
        let largest = self.element.decode(self.element.max_finite(false));
        let top = largest.significand.ilog2() as i32;
        largest.exponent + top - largest.fraction_bits as i32
    }

    /// The largest element as an f32 word.
    fn largest(&self) -> u32 {
        let exact = self.element.decode(self.element.max_finite(false)).exact();
        exact.map_or(0, |exact| {
            F32.round(&exact, Rounding::Rne, Overflow::Ieee) as u32
        })
    }
}

impl std::fmt::Display for BlockFormat {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.name)
    }
}

/// The second scale of a tensor, as f32 words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorScale {
    /// What numbers are multiplied by on the way to codes.
    pub encode: u32,
    /// What codes times scales are multiplied by: 1/`encode`, rounded.
    pub decode: u32,
    /// The largest magnitude that the scales were made for.
    pub largest: u32,
}

/// Makes codes and scales of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantiser {
    format: BlockFormat,
    recipe: Recipe,
    selection: Selection,
}

/// An f32 word without its sign.
const MAGNITUDE: u32 = 0x7fff_ffff;
const INFINITY: u32 = 0x7f80_0000;
const NAN: u32 = 0x7fc0_0000;
const ONE: u32 = 0x3f80_0000;
/// 6, the largest e2m1.
const SIX: u32 = 0x40c0_0000;

impl Quantiser {
    /// Quantises to a format by a recipe.
    ///
    /// # Errors
    /// [`Error::Argument`] when the recipe is not one of the format's.
    pub fn new(format: BlockFormat, recipe: Recipe) -> Result<Self> {
        let fits = Recipe::of(&format);
        if !fits.contains(&recipe) {
            let names: Vec<&str> = fits.iter().map(|fit| fit.name()).collect();
            return Err(Error::Argument(format!(
                "recipe {recipe} is none of {format}; allowed: {}",
                names.join(", ")
            )));
        }
        Ok(Self {
            format,
            recipe,
            selection: Selection::default(),
        })
    }

    /// With another measure by which `four-over-six` chooses.
    #[must_use]
    pub fn with_selection(self, selection: Selection) -> Self {
        Self { selection, ..self }
    }

    /// The format.
    #[must_use]
    pub fn format(&self) -> &BlockFormat {
        &self.format
    }

    /// The recipe.
    #[must_use]
    pub fn recipe(&self) -> Recipe {
        self.recipe
    }

    /// The largest magnitude of f32 words, NaN left out, as `fmaxf` does.
    #[must_use]
    pub fn largest(values: &[u32]) -> u32 {
        let magnitudes = values.iter().map(|word| word & MAGNITUDE);
        magnitudes.filter(|it| *it <= INFINITY).max().unwrap_or(0)
    }

    /// The second scale of a tensor whose largest magnitude that is; 1 where the format has none.
    ///
    /// S_enc = min(448·6 / amax, FLT_MAX), and 1 when amax or the quotient is 0; `four-over-six` has
    /// 256 for 448.
    #[must_use]
    pub fn tensor(&self, largest: u32) -> TensorScale {
        let over = match self.recipe {
            Recipe::Nvfp4 => 0x4528_0000,       // 2688 = 448·6
            Recipe::FourOverSix => 0x44c0_0000, // 1536 = 256·6
            Recipe::Ocp | Recipe::RoundUp => {
                return TensorScale {
                    encode: ONE,
                    decode: ONE,
                    largest,
                };
            }
        };
        let encode = match divide(over, largest).min(FLOAT_MAX) {
            0 => ONE,
            _ if largest == 0 => ONE,
            encode => encode,
        };
        TensorScale {
            encode,
            decode: divide(ONE, encode),
            largest,
        }
    }

    /// Makes the codes of one block of f32 words and gives the code of its scale. `random` gives the
    /// random bits of an element where rounding is stochastic; `None` is round to nearest even.
    ///
    /// # Panics
    /// When there are fewer codes than values.
    pub fn block(
        &self,
        values: &[u32],
        tensor: &TensorScale,
        random: impl Fn(usize) -> Option<Slice>,
        codes: &mut [u8],
    ) -> u8 {
        let rounding = |index: usize| random(index).map_or(Rounding::Rne, Slice::rounding);
        match self.recipe {
            Recipe::Ocp => self.ocp(values, rounding, codes),
            Recipe::RoundUp => self.round_up(values, rounding, codes),
            Recipe::Nvfp4 => {
                let (scale, inverse) = nvfp4_scale(Self::largest(values), tensor);
                self.multiplied(values, inverse, rounding, codes);
                scale
            }
            Recipe::FourOverSix => self.four_over_six(values, tensor, rounding, codes),
        }
    }

    /// OCP MX 1.0 §6.3: the scale is 2^(⌊log2 amax⌋ − emax), at least 2^-127; elements are V/X,
    /// rounded and clamped. A NaN or ∞ makes the whole block NaN.
    fn ocp(&self, values: &[u32], rounding: impl Fn(usize) -> Rounding, codes: &mut [u8]) -> u8 {
        let element = &self.format.element;
        if values.iter().any(|word| word & MAGNITUDE >= INFINITY) {
            let nan = element.nan_or_substitute() as u8;
            codes[..values.len()].fill(if self.format.element == E5M2 {
                0x7f
            } else {
                nan
            });
            return 0xff;
        }
        let exponent = match Self::largest(values) {
            // As if the largest were the smallest normal number.
            0 => -126,
            largest => {
                let value = F32.decode(largest.into());
                let top = value.significand.ilog2() as i32;
                value.exponent + top - value.fraction_bits as i32
            }
        };
        let exponent = (exponent - self.format.largest_exponent()).max(-127);
        for (index, (word, code)) in values.iter().zip(codes).enumerate() {
            let value = F32.decode((*word).into());
            let scaled = Exact {
                negative: value.negative,
                magnitude: value.significand.into(),
                exponent: value.exponent - value.fraction_bits as i32 - exponent,
                sticky: false,
            };
            let rounded = element.round(&scaled, rounding(index), Overflow::Saturate);
            *code = self.symmetric(rounded);
        }
        (exponent + 127) as u8
    }

    /// Transformer Engine: the scale is fl(amax · fl(1/max)) rounded up to a power of two, so that
    /// nothing is clamped; elements are fl(V · 1/X), rounded. NaN takes no part in amax.
    fn round_up(
        &self,
        values: &[u32],
        rounding: impl Fn(usize) -> Rounding,
        codes: &mut [u8],
    ) -> u8 {
        let reciprocal = divide(ONE, self.format.largest());
        let least = multiply(Self::largest(values), reciprocal);
        let exact = F32.decode(least.into());
        let scale = match exact.class {
            Class::Nan => 0xff,
            Class::Infinite => 0xfe,
            _ => {
                let exact = exact.exact();
                exact.map_or(0, |it| {
                    UE8M0.round(&it, Rounding::Ru, Overflow::Saturate) as u8
                })
            }
        };
        let inverse = match scale {
            0xff => NAN,
            0xfe => 0x0040_0000,
            scale => (254 - u32::from(scale)) << 23,
        };
        self.multiplied(values, inverse, rounding, codes);
        scale
    }

    /// Four Over Six: the block is quantised twice, its largest number going to 6 or to 4, and the
    /// smaller error decides; 6 when they are equal.
    fn four_over_six(
        &self,
        values: &[u32],
        tensor: &TensorScale,
        rounding: impl Fn(usize) -> Rounding,
        codes: &mut [u8],
    ) -> u8 {
        const ONE_AND_A_HALF: u32 = 0x3fc0_0000;
        let base = multiply(divide(Self::largest(values), SIX), tensor.encode);
        let candidate = |base: u32, codes: &mut [u8]| {
            let scale = e4m3(base.min(0x43e0_0000)); // 448
            self.multiplied(values, inverse_of(scale, tensor), &rounding, codes);
            (scale, self.error(values, scale, tensor, codes))
        };
        let mut fours = vec![0; values.len()];
        let (six, error_six) = candidate(base, codes);
        let (four, error_four) = candidate(multiply(base, ONE_AND_A_HALF), &mut fours);
        // Both are sums of magnitudes: words in order. A NaN is no smaller error.
        if error_four < error_six && error_six <= INFINITY {
            codes[..values.len()].copy_from_slice(&fours);
            return four;
        }
        six
    }

    /// The error of a candidate, summed in f32 in the order of the elements.
    fn error(&self, values: &[u32], scale: u8, tensor: &TensorScale, codes: &[u8]) -> u32 {
        let scale = dequantise::word(&E4M3FN, scale.into());
        let mut error = 0;
        for (value, code) in values.iter().zip(codes) {
            let number = dequantise::word(&self.format.element, (*code).into());
            let number = multiply(multiply(number, scale), tensor.largest);
            let difference = subtract(divide(number, 0x44c0_0000), *value);
            error = add(
                error,
                match self.selection {
                    Selection::SquaredError => multiply(difference, difference),
                    Selection::AbsoluteError => difference & MAGNITUDE,
                },
            );
        }
        error
    }

    /// Elements fl(V · inverse), rounded and clamped, NaN as PTX `cvt.satfinite` has it.
    fn multiplied(
        &self,
        values: &[u32],
        inverse: u32,
        rounding: impl Fn(usize) -> Rounding,
        codes: &mut [u8],
    ) {
        let element = &self.format.element;
        for (index, (word, code)) in values.iter().zip(codes).enumerate() {
            let value = F32.decode(multiply(*word, inverse).into());
            let rounded = match (value.class, value.exact()) {
                (Class::Nan, _) if *element == E5M2 => 0x7f,
                (Class::Nan, _) => element.nan_or_substitute(),
                (_, None) => element.infinity(value.negative, Overflow::Saturate),
                (_, Some(exact)) => element.round(&exact, rounding(index), Overflow::Saturate),
            };
            *code = self.symmetric(rounded);
        }
    }

    /// mxint8 is clamped to ±127/64: −2 is left unused, so that both signs have the same range.
    fn symmetric(&self, code: u64) -> u8 {
        let is_least = self.format.element.name == "mxint8" && code == 0x80;
        if is_least { 0x81 } else { code as u8 }
    }
}

/// NVFP4: S_dec = e4m3(min(amax · fl(S_enc · fl(1/6)), FLT_MAX)) and what elements are multiplied by.
fn nvfp4_scale(largest: u32, tensor: &TensorScale) -> (u8, u32) {
    let sixth = divide(ONE, SIX);
    let scale = multiply(largest, multiply(tensor.encode, sixth));
    let scale = e4m3(scale.min(FLOAT_MAX));
    (scale, inverse_of(scale, tensor))
}

/// min(1 / fl(S_dec · fl(1/S_enc)), FLT_MAX).
fn inverse_of(scale: u8, tensor: &TensorScale) -> u32 {
    let scale = dequantise::word(&E4M3FN, scale.into());
    divide(ONE, multiply(scale, tensor.decode)).min(FLOAT_MAX)
}

/// A positive f32 word to e4m3, to nearest even, saturating.
fn e4m3(word: u32) -> u8 {
    let exact = F32.decode(word.into()).exact();
    exact.map_or(0x7e, |exact| {
        E4M3FN.round(&exact, Rounding::Rne, Overflow::Saturate) as u8
    })
}
