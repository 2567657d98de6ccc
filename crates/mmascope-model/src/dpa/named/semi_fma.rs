//! SEMI-FMA: a multiply-add that keeps a few bits of the product below the accumulator's last place
//! and a sticky bit that not every shift fills (`tensix.md` §7.1: the vector unit of Tensix).

use super::Step;
use crate::dpa::events::Events;
use crate::dpa::general::General;
use crate::dpa::output::{Ends, Output};
use crate::dpa::pair::{Pair, Scales};
use crate::dpa::schema::{Row, row, typed_words};
use crate::dpa::{Nan, Select, Signature, Tininess, ZeroSign};
use crate::format::{Class, F32, Format, Overflow, Rounding, Unpacked};

/// The parameters of a SEMI-FMA. Formats are f32; operands and c whose exponent field is 0 are zeros.
///
/// The product keeps three bits below a 24-bit significand, the last one sticky, and is not normalised.
/// A product of 2^128 or more is ∞ by itself, one below 2^−126 is nothing, whatever c is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SemiFma {
    /// Which NaN a NaN is, and what becomes of bits behind it.
    pub nan: SemiNan,
    /// A sum that has two bits too many loses the upper one of them without a trace.
    pub drops_bit: bool,
    /// A sum below 2^−126 is rounded once more, half a place higher, before it becomes zero.
    pub rounds_tiny: bool,
}

/// The NaN of a [`SemiFma`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SemiNan {
    /// 7fc00000.
    Quiet,
    /// 7f800001 with the sign of the product or of c; bits of the sum leak into it.
    Leaks,
}

typed_words!(SemiNan: Self::Quiet => "quiet", Self::Leaks => "leaks");

impl Step for SemiFma {
    const NAME: &'static str = "semi-fma";
    const TITLE: &'static str = "SEMI-FMA";
    const RESULT: (Overflow, ZeroSign) = (Overflow::Infinity, ZeroSign::Plus);
    const ENDS: Ends = Ends {
        nan: Nan::Own,
        flush: None,
        tininess: Tininess::After,
    };
    const NUMBERS_ONLY: bool = true;
    const SAYS_SPECIALS: bool = true;

    const ROWS: &'static [Row<Self>] = &[
        row!(NANS, nan).says(30, |step, _| {
            match step.nan {
                SemiNan::Quiet => {
                    "A NaN operand, 0 times infinity, and an infinite c beside an infinite factor when the signs of product and c differ give 7fc00000. Otherwise an infinite c is the result; without one, an infinite factor or a product whose exponent is 128 or more gives infinity with the sign of the product."
                },
                SemiNan::Leaks => {
                    "A product is infinite when a factor is or when its exponent is 128 or more. A NaN operand, 0 times infinity, and an infinite c beside an infinite product of the other sign give 7f800001 with the sign of the product (of c where only c is NaN); then the sum is computed as if codes were numbers, and the bits of a finite result are set as well. Otherwise an infinite c is the result; without one, an infinite product is."
                }
            }
            .to_owned()
        }),
        row!(LOSES, drops_bit).says(41, |step, _| {
            let lost = match step.drops_bit {
                true => "A sum that is two places too long loses the upper one of them without a trace.",
                false => "A sum that is too long keeps what it loses in its last bit.",
            };
            format!(
                "Subnormal a, b and c are zeros. The product is rounded to odd 26 bits below its exponent, the sum of its operands'; one whose exponent is below -127 counts as a zero of its sign. Product and c are brought to the grid 26 bits below the larger exponent, rounded to odd, or to 0 where nothing is left. {lost}"
            )
        }),
        row!(TINY, rounds_tiny).says(42, |step, _| {
            match step.rounds_tiny {
                true => "A result below 2^-126 is rounded as if its exponent were -127, one place higher, before it becomes zero.",
                false => "A result below 2^-126 becomes zero.",
            }
            .to_owned()
        }),
    ];

    fn new() -> Self {
        Self {
            nan: SemiNan::Quiet,
            drops_bit: false,
            rounds_tiny: false,
        }
    }

    fn block(&self) -> usize {
        1
    }

    fn general(&self, _: &Output) -> General {
        General::Semi(*self)
    }

    fn fits(&self, signature: &Signature, _: &Select, result: &Format) -> Result<bool, String> {
        let Signature { a, b, c, scale, .. } = signature;
        let others = [a, b, c, result].into_iter().any(|format| *format != F32);
        match others || scale.is_some() {
            true => Err(format!(
                "{} takes and gives f32, without scales",
                Self::NAME
            )),
            false => Ok(false),
        }
    }

    fn takes(&self, output: &Output) -> Result<(), String> {
        let zeros = [ZeroSign::Plus, ZeroSign::Common, ZeroSign::Ieee];
        let usual = output.rounding == Rounding::Rne
            && output.overflow == Overflow::Infinity
            && output.nan == Nan::Own
            && output.flush.is_none()
            && zeros.contains(&output.zero);
        match usual {
            true => Ok(()),
            false => Err(format!(
                "{} rounds by itself: its result is 'rne f32', with zero=plus, common or ieee",
                Self::NAME
            )),
        }
    }

    fn run(&self, pairs: &[Pair], c: &Unpacked, output: &Output) -> u64 {
        self.run_noting(pairs, c, output, &mut Events::default())
    }

    fn run_noting(
        &self,
        pairs: &[Pair],
        c: &Unpacked,
        output: &Output,
        events: &mut Events,
    ) -> u64 {
        let (word, own) = self.step(&pairs[0], c, output.zero);
        events.join(own);
        word
    }
}

const INFINITE: i32 = 255;
const INFINITY: u32 = 0x7f80_0000;
const QUIET: u32 = 0x7fc0_0000;
const SIGNALLING: u32 = 0x7f80_0001;
/// The significand without the hidden bit.
const FRACTION: u32 = 0x7f_ffff;

/// An operand: sign, exponent field, 24-bit significand (0 where the field is 0).
#[derive(Clone, Copy)]
struct Field {
    negative: bool,
    exponent: i32,
    significand: u32,
}

impl Field {
    /// An f32 that was decoded as a number, whatever its code.
    fn of(x: &Unpacked) -> Self {
        if x.class == Class::Infinite {
            // Only an earlier result comes as ∞.
            return Self {
                negative: x.negative,
                exponent: INFINITE,
                significand: 1 << 23,
            };
        }
        let is_number = x.significand >> x.fraction_bits != 0;
        Self {
            negative: x.negative,
            exponent: if is_number { x.exponent + 127 } else { 0 },
            significand: if is_number { x.significand as u32 } else { 0 },
        }
    }

    fn is_nan(self) -> bool {
        self.exponent == INFINITE && self.significand != 1 << 23
    }

    fn is_infinite(self) -> bool {
        self.exponent == INFINITE && self.significand == 1 << 23
    }

    fn word(self) -> u32 {
        sign(self.negative) | (self.exponent as u32) << 23 | (self.significand & FRACTION)
    }
}

fn sign(negative: bool) -> u32 {
    u32::from(negative) << 31
}

/// `value >> shift`, its last bit set where bits were lost; a value of which nothing is left leaves
/// no trace.
fn shift_semi_sticky(value: u64, shift: u32, width: u32) -> u64 {
    if shift >= width {
        return 0;
    }
    let kept = value >> shift;
    kept | u64::from(kept != 0 && kept << shift != value)
}

impl SemiFma {
    /// One pair and c: the product keeps three bits below 24, the last one sticky.
    fn step(&self, pair: &Pair, c: &Unpacked, zero: ZeroSign) -> (u64, Events) {
        let (x, y, z) = (Field::of(&pair.a), Field::of(&pair.b), Field::of(c));
        let (word, flushed) = self.fma(x, y, z, zero != ZeroSign::Plus);
        let events = Events {
            overflow: false,
            underflow: flushed,
            infinity: word & 0x7fff_ffff == INFINITY,
            nan: word & 0x7fff_ffff > INFINITY,
        };
        (word.into(), events)
    }

    /// `x · y + z` of f32 words, and what happened. Zeros are +0, or (with another rule than
    /// [`ZeroSign::Plus`]) −0 where IEEE 754 has one.
    #[must_use]
    pub fn of_words(&self, x: u32, y: u32, z: u32, zero: ZeroSign) -> (u32, Events) {
        let number = |word: u32| F32.without_specials().decode(word.into());
        let pair = Pair {
            a: number(x),
            b: number(y),
            scales: &Scales::NONE,
        };
        let (word, events) = self.step(&pair, &number(z), zero);
        (word as u32, events)
    }

    /// `x · y + z`, and whether a number that is not zero became zero.
    fn fma(&self, x: Field, y: Field, z: Field, signed: bool) -> (u32, bool) {
        let negative = x.negative != y.negative;
        // The zero of this unit, and of results that are too small.
        let zero = sign(signed && negative && z.negative);
        let product = (u64::from(x.significand) * u64::from(y.significand)) << 3;
        let mut m = (product >> 23) | u64::from(product & u64::from(FRACTION) != 0);
        let mut e = x.exponent + y.exponent - 127;
        let own = u64::from(z.significand) << 3;

        let mut nan = 0;
        if [x, y, z].iter().any(|it| it.exponent == INFINITE) || e >= INFINITE {
            match self.special(x, y, z, e) {
                Decided::Word(word) => return (word, false),
                Decided::Leaking(word) => nan = word,
            }
            e = e.min(INFINITE);
        }
        if m == 0 || e < 0 {
            let lost = m != 0;
            if nan != 0 {
                (m, e) = (0, 0);
            } else if own != 0 {
                return (z.word(), false);
            } else {
                return (zero, lost);
            }
        }

        let top = e.max(z.exponent);
        let aligned = shift_semi_sticky(m, (top - e) as u32, 64);
        let c = shift_semi_sticky(own, (top - z.exponent) as u32, 32);
        let is_negative = if aligned >= c { negative } else { z.negative };
        let sum = if negative == z.negative {
            aligned.wrapping_add(c)
        } else {
            aligned.abs_diff(c)
        } as u32;
        if sum == 0 {
            return (if nan != 0 { nan } else { zero }, false);
        }
        let tiny = sign(signed && is_negative);
        self.round(is_negative, sum, top, nan, tiny)
    }

    /// NaN and ∞, among the operands or of the product by itself.
    fn special(&self, x: Field, y: Field, z: Field, exponent: i32) -> Decided {
        let negative = x.negative != y.negative;
        let operand = x.exponent == INFINITE || y.exponent == INFINITE;
        let is_invalid = x.is_nan()
            || y.is_nan()
            || x.is_infinite() && y.significand == 0
            || y.is_infinite() && x.significand == 0;
        let opposite = z.is_infinite() && z.negative != negative;
        let infinity = sign(negative) | INFINITY;
        match self.nan {
            SemiNan::Quiet if is_invalid || z.is_nan() || opposite && operand => {
                Decided::Word(QUIET)
            }
            SemiNan::Quiet if z.is_infinite() => Decided::Word(z.word()),
            SemiNan::Quiet => Decided::Word(infinity),
            SemiNan::Leaks if is_invalid || opposite && (operand || exponent >= INFINITE) => {
                Decided::Leaking(sign(negative) | SIGNALLING)
            }
            SemiNan::Leaks if z.is_nan() => Decided::Leaking(sign(z.negative) | SIGNALLING),
            SemiNan::Leaks if z.is_infinite() => Decided::Word(z.word()),
            SemiNan::Leaks => Decided::Word(infinity),
        }
    }

    /// Normalises and rounds a sum that is not zero; 2^26 is 1 at the exponent.
    fn round(&self, negative: bool, sum: u32, exponent: i32, nan: u32, zero: u32) -> (u32, bool) {
        let mut shift = 5 - sum.leading_zeros() as i32;
        let mut e = exponent + shift;
        if e >= INFINITE {
            let infinity = sign(negative) | INFINITY;
            return (if nan != 0 { nan } else { infinity }, false);
        }
        if self.rounds_tiny {
            if e <= 0 {
                (shift, e) = (shift + 1, 0);
            }
        } else if e < 0 {
            return if nan != 0 { (nan, false) } else { (zero, true) };
        }
        let sum = if shift <= 0 {
            sum << -shift
        } else {
            let lost = if self.drops_bit {
                sum & 1
            } else {
                u32::from(sum & (shift as u32 | 1) != 0)
            };
            (sum >> shift) | lost
        };
        let mut word = ((e as u32) << 23) + ((sum >> 3) & FRACTION);
        if (sum & 7) + (word & 1) > 4 {
            word += 1;
        }
        if word >> 23 == 0 {
            return if nan != 0 { (nan, false) } else { (zero, true) };
        }
        let flagged = if nan != 0 { nan } else { sign(negative) };
        (flagged | word, false)
    }
}

/// What special values make of a result.
enum Decided {
    /// This word.
    Word(u32),
    /// This NaN, into which bits of the sum leak.
    Leaking(u32),
}
