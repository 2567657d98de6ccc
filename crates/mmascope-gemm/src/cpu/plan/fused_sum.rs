//! The conditions under which a fused sum and its rounding fit 32-bit lanes.

use super::Refusal;
use crate::cpu::exponents::power_of_two;
use crate::cpu::range::C_HIGH;
use crate::cpu::sum::{Direction, Finish, Narrow, Round, Sum, low_bits};
use crate::dpa::{Output, Select, Signature, ZeroSign};
use crate::format::{Float, Overflow, Rounding};
use crate::shape::{SumGrid, SumKind};

/// Whether what leaves the format becomes ∞, and an ∞ stays one.
pub(in crate::cpu) fn overflows(output: &Output) -> bool {
    matches!(output.overflow, Overflow::Infinity | Overflow::Ieee)
}

/// Whether a format has f32's exponents.
fn is_wide(float: &Float) -> bool {
    float.emin() == -126 && float.exponent_bits == 8
}

/// The format of a result, where f32 lanes can round to it.
fn narrow(output: &Output, direction: Direction) -> Result<Narrow, Refusal> {
    let float = output.format.float().ok_or("no float")?;
    let wide = is_wide(&float);
    let bits = float.fraction_bits;
    let largest = output.format.decode(output.format.max_finite(false));
    // A sum is rounded to odd at 24 bits first: at least two of them go. Of other exponents than f32's, the place of a subnormal
    // is a normal f32, and what lies below the largest number lies in the domain of c.
    let lies_in_f32 = wide || float.emin() - bits as i32 >= -126 && largest.exponent < C_HIGH;
    if bits > 21 || !lies_in_f32 {
        return Err(format!("{} {}", output.rounding, output.format));
    }
    let field = (largest.exponent + 127) as u32;
    let fraction = largest.significand as u32 & ((1 << bits) - 1);
    let fields = (float.emin(), largest.exponent, fraction);
    Ok(Narrow {
        bits,
        wide,
        smallest: ((float.emin() + 127) as u32) << 23,
        largest: field << 23 | fraction << (23 - bits),
        direction,
        stays_finite: output.overflow == Overflow::Ieee,
        signed_zero: output.zero != ZeroSign::Plus,
        half: fields == (-14, 15, 0x3ff) && bits == 10 && direction == Direction::Nearest,
    })
}

/// The rounding of an addition or a conversion. `same`: what is added are numbers of the result's format.
pub(super) fn round(output: &Output, same: bool) -> Result<Round, Refusal> {
    let float = output.format.float().ok_or("no float")?;
    let bits = float.fraction_bits;
    let direction = Direction::of(output.rounding).filter(|_| overflows(output));
    let direction = direction.ok_or_else(|| format!("{} {}", output.rounding, output.format))?;
    if output.zero != ZeroSign::Ieee {
        return Err("a sum whose zeros are not IEEE 754's".into());
    }
    if bits == 23 && is_wide(&float) {
        return Ok(Round::Single {
            direction,
            stays_finite: output.overflow == Overflow::Ieee,
        });
    }
    // The f32 sum of two numbers of at most 11 bits, rounded again to nearest, is the sum rounded once.
    let twice = same && bits <= 10 && direction == Direction::Nearest;
    let to = narrow(output, direction)?;
    Ok(Round::Narrow { to, twice })
}

fn finish(output: &Output) -> Result<(Finish, bool), Refusal> {
    let float = output.format.float().ok_or("no float")?;
    let wide = is_wide(&float);
    if !overflows(output) {
        return Err(format!("overflow={}", output.overflow));
    }
    // (A sum that is not zero stays away from zero in a wide format: −0 comes about in narrow ones alone.)
    if !matches!(output.zero, ZeroSign::Plus | ZeroSign::Exact) {
        return Err(format!("zero={}", output.zero));
    }
    let direction = Direction::of(output.rounding)
        .ok_or_else(|| format!("{} {}", output.rounding, output.format))?;
    let finish = match output.rounding {
        Rounding::Rz if wide => Finish::TowardZero {
            mask: u32::MAX << (23 - float.fraction_bits),
        },
        Rounding::Rd | Rounding::Ru if wide => Finish::Directed {
            up: output.rounding == Rounding::Ru,
            mask: u32::MAX << (23 - float.fraction_bits),
        },
        Rounding::Rne if wide && float.fraction_bits == 23 => Finish::Nearest,
        _ => Finish::At(narrow(output, direction)?),
    };
    Ok((finish, wide))
}

/// Terms that fit 32 bits together so that they are summed there in parts; fewer have a kernel that is faster.
const FEWEST: usize = 4;
/// The largest F on the products' grid: a c of 2^51 grid places is the reference's unless sums are 64-bit integers, and with this F it lies 15
/// binades above the products.
const MOST_F_OUTSIDE: u32 = 36;
/// What products and c stay below together where they do not fit 32 bits, in units of the grid: f64 holds it.
const MOST_IN_F64: i32 = 52;
/// The first byte, of 128, from which on a sum may be suspected of an overflow.
const SUSPICIOUS: u32 = 112;

/// A fused sum in 32-bit lanes and its e0, or why it has none.
pub(super) fn fused_sum(
    alignment: &SumGrid,
    signature: &Signature,
    over: &Select,
    output: &Output,
    c_smallest: u32,
) -> Result<(Sum, Option<i32>), Refusal> {
    let SumGrid {
        kind,
        l,
        f,
        e0,
        align,
        f2,
    } = *alignment;
    let late = matches!(kind, SumKind::Late | SumKind::Parity);
    let outside = kind == SumKind::Outside;
    let terms = Direction::of(align).ok_or_else(|| format!("terms rounded {align}"))?;
    let bits = |format: &crate::format::Format| format.float().map_or(64, |x| x.fraction_bits);
    let (a, b) = (bits(&signature.a), bits(&signature.b));
    if a + b + 2 > 24 {
        return Err("products of more than 24 bits".into());
    }
    let slots = (over.indices(signature.k).len())
        .min(l as usize)
        .next_multiple_of(2);
    // Largest term and largest c in units of the grid.
    let largest = |bits: u32| 2.0 - power_of_two(-(bits as i32));
    let unit = power_of_two(f as i32);
    let term = (largest(a) * largest(b) * unit).ceil() + 1.0;
    let limit = power_of_two(31);
    let (half, whole) = (slots as f64 / 2.0 * term, slots as f64 * term);
    // Whether a c so many binades above the grid fits beside the products.
    let fits_beside = |reach: &u32| whole + power_of_two((f + 1 + reach) as i32) + 1.0 < limit;
    // A c beyond the reach is, as a whole number, so large that the last bit of a sum with it lies below all that results keep, unless
    // they cancel.
    let last_reach = 27_u32.saturating_sub(f);
    let fits = match outside {
        true => fits_beside(&last_reach),
        false => half + 2.0 * unit + 1.0 < limit,
    };
    let part = match fits {
        true => slots,
        false => {
            if !matches!(kind, SumKind::Fused | SumKind::Outside) {
                return Err(format!(
                    "L={l} terms of F={f} fraction bits do not fit 32 bits"
                ));
            }
            if outside && f > MOST_F_OUTSIDE {
                return Err(format!("F={f} on the products' grid"));
            }
            let all = whole + 2.0 * unit + 1.0;
            let high_bits = (f + 2).saturating_sub(low_bits(slots));
            if all >= power_of_two(MOST_IN_F64) || high_bits > low_bits(slots) {
                return Err(format!(
                    "L={l} terms of F={f} fraction bits do not fit {MOST_IN_F64} bits"
                ));
            }
            match ((limit - 1.0) / term).floor() as usize {
                0..FEWEST => 1,
                // (More than one part, also where the products fit and c does not beside them.)
                most => slots.div_ceil(slots.div_ceil(most).max(2)),
            }
        }
    };
    // A sum that leaves i32 comes back as itself minus 2^32: at least so large a number that hardly any
    // other sum is suspected, or else the halves are kept apart.
    let most = whole + 2.0 * unit + 1.0;
    let apart = terms != Direction::TowardZero || kind == SumKind::Scaled;
    let (may_overflow, suspicious) = match ((2.0 * limit - most) / power_of_two(24)).floor() {
        _ if late || outside || part < slots || most < limit => (false, 256),
        first if first >= f64::from(SUSPICIOUS) && !apart => (false, first as u32),
        _ => (true, 256),
    };
    let mut reach = 0;
    if late {
        if f < 23 || !(30..=40).contains(&f2) || f2 < f || c_smallest != 0 {
            return Err(format!("F={f} F2={f2}"));
        }
        let fits = |reach: &u32| f2 + 1 >= f + reach && fits_beside(reach);
        reach = (0..8)
            .rev()
            .find(fits)
            .ok_or("sums that do not fit 32 bits")?;
    }
    let mut may_cancel = false;
    if outside && part == slots {
        let found = (last_reach..30).rev().find(fits_beside);
        reach = found.ok_or("sums that do not fit 32 bits")?;
        // One binade beyond it, c is as a whole number at least half of this.
        let c = power_of_two((f + 1 + reach) as i32);
        may_cancel = c - whole < power_of_two(26);
    }
    if kind == SumKind::Scaled {
        let fits = signature
            .scale
            .is_some_and(|scale| scale.block == signature.k);
        if !fits
            || signature.k > l as usize
            || *over != Select::All
            || terms != Direction::TowardZero
        {
            return Err("several block scales in a sum".into());
        }
    }
    let (finish, wide) = finish(output)?;
    let out_smallest = match finish {
        Finish::At(narrow) => narrow.smallest,
        _ => 0,
    };
    if late && (!wide || finish != Finish::Nearest) {
        return Err(format!("{} {}", output.rounding, output.format));
    }
    let sum = Sum {
        kind,
        slots,
        part,
        f,
        terms,
        may_overflow,
        suspicious,
        finish,
        c_smallest,
        smallest: if wide { 0 } else { out_smallest },
        after: None,
        sticky: !wide,
        reach,
        may_cancel,
        f2,
    };
    Ok((sum, e0))
}
