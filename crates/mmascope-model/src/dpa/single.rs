//! Adds two f32 words to nearest even, in 64-bit integers. Kernels do this most outside the unit; it equals the general
//! way and is several times as fast.

const SIGN: u32 = 1 << 31;
const INFINITY: u32 = 0x7f80_0000;
/// Bits below the last place of the larger summand.
const GUARD: u32 = 34;

/// `x + y`; `None` when one is ∞ or NaN.
pub(super) fn add(x: u32, y: u32) -> Option<u32> {
    let (large, small) = if x & !SIGN >= y & !SIGN {
        (x, y)
    } else {
        (y, x)
    };
    if large & !SIGN >= INFINITY {
        return None;
    }
    let exponent = (large >> 23 & 255).max(1);
    let distance = exponent - (small >> 23 & 255).max(1);
    let (high, low) = (significand(large) << GUARD, significand(small) << GUARD);
    // What falls off is kept as a last bit that is set: it lies far below every rounding place.
    let low = match distance {
        0..64 => low >> distance | u64::from(low & ((1 << distance) - 1) != 0),
        _ => u64::from(low != 0),
    };
    let sum = if (large ^ small) & SIGN == 0 {
        high + low
    } else {
        high - low
    };
    if sum == 0 {
        return Some(large & small & SIGN); // −0 only for two of them
    }
    // Bit 23 + GUARD has the weight of the larger exponent field.
    let top = 63 - sum.leading_zeros();
    let is_normal = exponent + top > 23 + GUARD;
    let width = if is_normal {
        top - 23
    } else {
        GUARD + 1 - exponent
    };
    let (kept, rest, half) = (sum >> width, sum & ((1 << width) - 1), 1 << (width - 1));
    let rounded = kept as u32 + u32::from(rest > half || rest == half && kept & 1 == 1);
    let field = if is_normal {
        exponent + top - 23 - GUARD
    } else {
        1
    };
    // A carry out of the fraction is the next exponent; the hidden bit is one too many.
    let magnitude = (field << 23) + rounded - (1 << 23);
    Some(large & SIGN | magnitude.min(INFINITY))
}

/// The integer significand with its hidden bit.
fn significand(word: u32) -> u64 {
    u64::from(word & 0x7f_ffff | u32::from(word >> 23 & 255 != 0) << 23)
}
