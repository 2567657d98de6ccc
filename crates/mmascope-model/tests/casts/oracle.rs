//! The oracle of casts, from lists of values: the formats are retyped, rounding is a comparison with
//! the midpoint of two neighbours, and every policy is a sentence of its own. Values are `f64`, exact
//! for every format that is used here as a source or listed as a target.

use mmascope_model::format::Rounding;

/// Which codes are no numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Special {
    Ieee,
    OneNan,
    Fnuz,
    Finite,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// Exponent bits, fraction bits, bias.
    Float(u32, u32, i32, Special),
    /// Powers of two from 2^-127.
    Powers,
    /// Integers times two to that.
    Fixed(i32),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Spec {
    pub(crate) name: &'static str,
    pub(crate) bits: u32,
    pub(crate) signed: bool,
    pub(crate) shape: Shape,
}

const fn float(name: &'static str, signed: bool, e: u32, m: u32, bias: i32, s: Special) -> Spec {
    let bits = signed as u32 + e + m;
    Spec {
        name,
        bits,
        signed,
        shape: Shape::Float(e, m, bias, s),
    }
}

const fn fixed(name: &'static str, bits: u32, signed: bool, scale: i32) -> Spec {
    Spec {
        name,
        bits,
        signed,
        shape: Shape::Fixed(scale),
    }
}

use Special::{Finite, Fnuz, Ieee, OneNan};

/// Every format of the table of precision.md §6, e8m13 and e11m23.
pub(crate) const SPECS: &[Spec] = &[
    float("f64", true, 11, 52, 1023, Ieee),
    float("e11m23", true, 11, 23, 1023, Ieee),
    float("f32", true, 8, 23, 127, Ieee),
    float("tf32", true, 8, 10, 127, Ieee),
    float("e8m13", true, 8, 13, 127, Ieee),
    float("f16", true, 5, 10, 15, Ieee),
    float("bf16", true, 8, 7, 127, Ieee),
    float("e5m2", true, 5, 2, 15, Ieee),
    float("e4m3fn", true, 4, 3, 7, OneNan),
    float("e5m2fnuz", true, 5, 2, 16, Fnuz),
    float("e4m3fnuz", true, 4, 3, 8, Fnuz),
    float("e4m3-ieee", true, 4, 3, 7, Ieee),
    float("e3m4", true, 3, 4, 3, Ieee),
    float("e4m3b11fnuz", true, 4, 3, 11, Fnuz),
    float("e3m2fn", true, 3, 2, 3, Finite),
    float("e2m3fn", true, 2, 3, 1, Finite),
    float("e2m1fn", true, 2, 1, 1, Finite),
    Spec {
        name: "ue8m0",
        bits: 8,
        signed: false,
        shape: Shape::Powers,
    },
    float("ue4m3", false, 4, 3, 7, OneNan),
    float("ue5m3", false, 5, 3, 15, OneNan),
    fixed("int64", 64, true, 0),
    fixed("uint64", 64, false, 0),
    fixed("int32", 32, true, 0),
    fixed("uint32", 32, false, 0),
    fixed("int16", 16, true, 0),
    fixed("uint16", 16, false, 0),
    fixed("int8", 8, true, 0),
    fixed("uint8", 8, false, 0),
    fixed("int4", 4, true, 0),
    fixed("uint4", 4, false, 0),
    fixed("int2", 2, true, 0),
    fixed("uint2", 2, false, 0),
    fixed("int1", 1, true, 0),
    fixed("uint1", 1, false, 0),
    fixed("mxint8", 8, true, -6),
    fixed("s2f6", 8, true, -6),
];

/// What a code means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Meaning {
    Nan,
    /// Sign and magnitude; the magnitude of ∞ is ∞.
    Number(bool, f64),
}

/// `x · 2^power`, exact in range.
fn scaled(x: f64, power: i32) -> f64 {
    // In two steps, as a power below 2^-1022 is subnormal.
    let half = power / 2;
    x * 2f64.powi(half) * 2f64.powi(power - half)
}

impl Spec {
    pub(crate) fn named(name: &str) -> Self {
        *SPECS.iter().find(|spec| spec.name == name).unwrap()
    }

    pub(crate) fn is_integer(&self) -> bool {
        matches!(self.shape, Shape::Fixed(0))
    }

    pub(crate) fn mask(&self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    /// The k-th magnitude, as if the exponent were unbounded.
    fn rung(&self, k: u64) -> f64 {
        match self.shape {
            Shape::Powers => scaled(1.0, k as i32 - 127),
            Shape::Fixed(scale) => scaled(k as f64, scale),
            Shape::Float(_, m, bias, _) => {
                let (field, fraction) = ((k >> m) as i32, (k & ((1 << m) - 1)) as f64);
                let unit = 1.max(field) - bias - m as i32;
                let hidden = if field > 0 { (1_u64 << m) as f64 } else { 0.0 };
                scaled(hidden + fraction, unit)
            }
        }
    }

    /// Magnitude code of the largest finite number of that sign.
    pub(crate) fn largest(&self, negative: bool) -> u64 {
        match self.shape {
            Shape::Powers => 254,
            Shape::Fixed(_) if self.signed => (1 << (self.bits - 1)) - u64::from(!negative),
            Shape::Fixed(_) if negative => 0,
            Shape::Fixed(_) => self.mask(),
            Shape::Float(e, m, _, special) => {
                let all = (1_u64 << (e + m)) - 1;
                match special {
                    Ieee => all - (1 << m),
                    OneNan => all - 1,
                    Fnuz | Finite => all,
                }
            }
        }
    }

    pub(crate) fn meaning(&self, code: u64) -> Meaning {
        let sign_bit = if self.signed { 1 << (self.bits - 1) } else { 0 };
        let negative = code & sign_bit != 0;
        match self.shape {
            Shape::Powers if code == 255 => Meaning::Nan,
            Shape::Powers => Meaning::Number(false, self.rung(code)),
            Shape::Fixed(scale) => {
                let value = if negative {
                    code as i128 - (1_i128 << self.bits)
                } else {
                    code as i128
                };
                Meaning::Number(negative, scaled(value.unsigned_abs() as f64, scale))
            }
            Shape::Float(e, m, _, special) => {
                let magnitude = code & !sign_bit;
                let top = ((1_u64 << e) - 1) << m;
                match special {
                    Ieee if magnitude > top => Meaning::Nan,
                    Ieee if magnitude == top => Meaning::Number(negative, f64::INFINITY),
                    OneNan if magnitude == (1 << (e + m)) - 1 => Meaning::Nan,
                    Fnuz if code == sign_bit => Meaning::Nan,
                    _ => Meaning::Number(negative, self.rung(magnitude)),
                }
            }
        }
    }

    /// The code of a magnitude with a sign.
    fn signed_code(&self, negative: bool, magnitude: u64) -> u64 {
        match self.shape {
            Shape::Fixed(_) if negative => magnitude.wrapping_neg() & self.mask(),
            _ if negative && self.signed => magnitude | 1 << (self.bits - 1),
            _ => magnitude,
        }
    }

    pub(crate) fn zero(&self, negative: bool) -> u64 {
        match self.shape {
            Shape::Float(_, _, _, special) if special != Fnuz => self.signed_code(negative, 0),
            _ => 0,
        }
    }

    pub(crate) fn nan(&self) -> Option<u64> {
        match self.shape {
            Shape::Powers => Some(255),
            Shape::Fixed(_) => None,
            Shape::Float(e, m, _, special) => match special {
                Ieee => Some(((1 << e) - 1) << m | 1 << (m - 1)),
                OneNan => Some((1 << (e + m)) - 1),
                Fnuz => Some(1 << (e + m)),
                Finite => None,
            },
        }
    }

    pub(crate) fn infinity(&self) -> Option<u64> {
        match self.shape {
            Shape::Float(e, m, _, Ieee) => Some(((1 << e) - 1) << m),
            _ => None,
        }
    }
}

/// Where a magnitude stands in a target: the rung at or below it, and how far above that it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The rung; beyond all of them, `u64::MAX`.
    pub(crate) rung: u64,
    /// 0: on it; 1: below the middle; 2: the middle; 3: above.
    pub(crate) quarter: u8,
}

/// A target with its rungs listed.
pub(crate) struct Target {
    pub(crate) spec: Spec,
    rungs: Vec<f64>,
}

impl Target {
    pub(crate) fn new(spec: Spec) -> Self {
        // Two rungs beyond the largest, so that rounding up ends somewhere.
        let listed = spec.bits <= 22;
        let count = if listed {
            spec.largest(true).max(spec.largest(false)) + 3
        } else {
            0
        };
        Self {
            spec,
            rungs: (0..count).map(|k| spec.rung(k)).collect(),
        }
    }

    /// Where a finite magnitude stands.
    pub(crate) fn place(&self, magnitude: f64) -> Place {
        let (low, high, rung) = if self.rungs.is_empty() {
            match self.spec.shape {
                Shape::Fixed(scale) => {
                    let steps = scaled(magnitude, -scale);
                    // Beyond 2^64 every step is whole and out of range.
                    if steps >= 2f64.powi(65) {
                        return Place {
                            rung: u64::MAX,
                            quarter: 0,
                        };
                    }
                    let low = steps.floor();
                    if low >= 2f64.powi(64) {
                        return Place {
                            rung: u64::MAX,
                            quarter: 0,
                        };
                    }
                    return Place {
                        rung: low as u64,
                        quarter: quarter(steps, low, low + 1.0),
                    };
                }
                // f64 and f32: sources here are exact in them, or f32's neighbours by the host.
                _ if self.spec.name == "f64" => {
                    return Place {
                        rung: magnitude.to_bits(),
                        quarter: 0,
                    };
                }
                // The upper part of an f64.
                _ if self.spec.name == "e11m23" => {
                    let rung = magnitude.to_bits() >> 29;
                    let low = f64::from_bits(rung << 29);
                    (low, f64::from_bits((rung + 1) << 29), rung)
                }
                _ => {
                    let near = magnitude as f32;
                    let low = if f64::from(near) > magnitude {
                        f32::from_bits(near.to_bits() - 1)
                    } else {
                        near
                    };
                    let next = f32::from_bits(low.to_bits() + 1);
                    (f64::from(low), f64::from(next), u64::from(low.to_bits()))
                }
            }
        } else {
            let above = self.rungs.partition_point(|rung| *rung <= magnitude);
            if above == self.rungs.len() {
                return Place {
                    rung: u64::MAX,
                    quarter: 0,
                };
            }
            if above == 0 {
                // Below the lowest power of two.
                return Place {
                    rung: 0,
                    quarter: 0,
                };
            }
            (self.rungs[above - 1], self.rungs[above], above as u64 - 1)
        };
        Place {
            rung,
            quarter: quarter(magnitude, low, high),
        }
    }
}

fn quarter(x: f64, low: f64, high: f64) -> u8 {
    let middle = low + (high - low) / 2.0;
    match x {
        _ if x == low => 0,
        _ if x < middle => 1,
        _ if x == middle => 2,
        _ => 3,
    }
}

/// Whether the magnitude goes to the next rung, by the words that define each mode.
pub(crate) fn goes_up(rounding: Rounding, place: Place, negative: bool, odd: bool) -> bool {
    let tie = |up: bool| place.quarter == 3 || place.quarter == 2 && up;
    let inexact = place.quarter != 0;
    match rounding {
        Rounding::Rne => tie(odd),
        Rounding::Rna => tie(true),
        Rounding::Rnz => tie(false),
        Rounding::Rnu => tie(!negative),
        Rounding::Rnd => tie(negative),
        Rounding::Rno => tie(!odd),
        Rounding::Rz => false,
        Rounding::Ra => inexact,
        Rounding::Ru => inexact && !negative,
        Rounding::Rd => inexact && negative,
        Rounding::Odd => inexact && !odd,
        Rounding::Stochastic { .. } => unreachable!("no case of this oracle"),
    }
}

/// What is beyond the largest number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beyond {
    Ieee,
    Infinity,
    Nan,
    Saturate,
    /// Finite values saturate, ∞ does not.
    SaturateFinite,
}

/// The rounded code of a number.
pub(crate) fn rounded(
    to: &Spec,
    place: Place,
    negative: bool,
    rounding: Rounding,
    beyond: Beyond,
) -> u64 {
    let negative_sign = negative && (to.signed || matches!(to.shape, Shape::Fixed(_)));
    let odd = matches!(to.shape, Shape::Powers) || place.rung % 2 == 1;
    let largest = to.largest(negative_sign);
    let rung = match place.rung {
        u64::MAX => u64::MAX,
        rung => rung.saturating_add(u64::from(goes_up(rounding, place, negative_sign, odd))),
    };
    if rung <= largest {
        return if rung == 0 {
            to.zero(negative_sign)
        } else {
            to.signed_code(negative_sign, rung)
        };
    }
    let inward = match rounding {
        Rounding::Rz | Rounding::Odd => true,
        Rounding::Ru => negative_sign,
        Rounding::Rd => !negative_sign,
        _ => false,
    };
    if matches!(to.shape, Shape::Fixed(_))
        || matches!(beyond, Beyond::Saturate | Beyond::SaturateFinite)
        || beyond == Beyond::Ieee && inward
    {
        return to.signed_code(negative_sign, largest);
    }
    infinite(to, negative_sign, beyond)
}

/// What an infinity becomes.
pub(crate) fn infinite(to: &Spec, negative: bool, beyond: Beyond) -> u64 {
    let negative = negative && (to.signed || matches!(to.shape, Shape::Fixed(_)));
    let largest = to.signed_code(negative, to.largest(negative));
    if beyond == Beyond::Saturate || matches!(to.shape, Shape::Fixed(_)) {
        return largest;
    }
    match (to.infinity(), to.nan()) {
        (Some(infinity), _) if beyond != Beyond::Nan => to.signed_code(negative, infinity),
        // Fnuz has one NaN, whose sign bit is set already.
        (_, Some(nan)) => nan | to.signed_code(negative, 0),
        (_, None) => largest,
    }
}
