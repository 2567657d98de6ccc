//! Eight lanes in plain Rust: what every operation means, and the level `scalar`.

use super::{Alone, Lanes, terms};

/// Eight 32-bit lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable([u32; 8]);

impl Portable {
    #[inline(always)]
    fn each(self, f: impl Fn(u32) -> u32) -> Self {
        Self(self.0.map(f))
    }

    #[inline(always)]
    fn pairs(self, other: Self, f: impl Fn(u32, u32) -> u32) -> Self {
        Self(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }

    #[inline(always)]
    fn signed(self, other: Self, f: impl Fn(i32, i32) -> i32) -> Self {
        self.pairs(other, |x, y| f(x as i32, y as i32) as u32)
    }

    #[inline(always)]
    fn floats(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        self.pairs(other, |x, y| {
            f(f32::from_bits(x), f32::from_bits(y)).to_bits()
        })
    }

    #[inline(always)]
    fn bytes(self, other: Self, f: impl Fn(u8, u8) -> u8) -> Self {
        self.pairs(other, |x, y| {
            let (x, y) = (x.to_le_bytes(), y.to_le_bytes());
            u32::from_le_bytes(std::array::from_fn(|i| f(x[i], y[i])))
        })
    }

    #[inline(always)]
    fn long(self, i: usize) -> u64 {
        u64::from(self.0[2 * i]) | u64::from(self.0[2 * i + 1]) << 32
    }

    #[inline(always)]
    fn from_long(f: impl Fn(usize) -> u64) -> Self {
        Self(std::array::from_fn(|i| (f(i / 2) >> (32 * (i % 2))) as u32))
    }

    #[inline(always)]
    fn double(self, i: usize) -> f64 {
        f64::from_bits(self.long(i))
    }

    #[inline(always)]
    fn from_double(f: impl Fn(usize) -> f64) -> Self {
        Self::from_long(|i| f(i).to_bits())
    }
}

impl Lanes for Portable {
    const WIDTH: usize = 8;
    const APART: bool = true;

    #[inline(never)]
    unsafe fn alone<A: Alone>(work: A) {
        // SAFETY: as the caller promises.
        unsafe { work.run() }
    }

    #[inline(always)]
    unsafe fn splat(word: u32) -> Self {
        Self([word; 8])
    }

    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self {
        // SAFETY: the caller gives 32 readable bytes.
        Self(unsafe { from.cast::<[u32; 8]>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: the caller gives 32 writable bytes.
        unsafe { to.cast::<[u32; 8]>().write_unaligned(self.0) }
    }

    #[inline(always)]
    unsafe fn b_splat(byte: u8) -> Self {
        Self([u32::from_le_bytes([byte; 4]); 8])
    }

    #[inline(always)]
    unsafe fn b_add(self, other: Self) -> Self {
        self.bytes(other, u8::wrapping_add)
    }

    #[inline(always)]
    unsafe fn b_max(self, other: Self) -> Self {
        self.bytes(other, u8::max)
    }

    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        self.pairs(other, |x, y| x & y)
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        self.pairs(other, |x, y| x | y)
    }

    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        self.pairs(other, |x, y| x ^ y)
    }

    #[inline(always)]
    unsafe fn not_and(self, other: Self) -> Self {
        self.pairs(other, |x, y| !x & y)
    }

    #[inline(always)]
    unsafe fn i_add(self, other: Self) -> Self {
        self.pairs(other, u32::wrapping_add)
    }

    #[inline(always)]
    unsafe fn i_sub(self, other: Self) -> Self {
        self.pairs(other, u32::wrapping_sub)
    }

    #[inline(always)]
    unsafe fn i_max(self, other: Self) -> Self {
        self.signed(other, i32::max)
    }

    #[inline(always)]
    unsafe fn i_min(self, other: Self) -> Self {
        self.signed(other, i32::min)
    }

    #[inline(always)]
    unsafe fn i_abs(self) -> Self {
        self.each(|x| (x as i32).unsigned_abs())
    }

    #[inline(always)]
    unsafe fn i_signed(self, other: Self) -> Self {
        self.signed(other, |x, y| if y < 0 { x.wrapping_neg() } else { x })
    }

    #[inline(always)]
    unsafe fn i_greater(self, other: Self) -> Self {
        self.signed(other, |x, y| -i32::from(x > y))
    }

    #[inline(always)]
    unsafe fn i_equal(self, other: Self) -> Self {
        self.signed(other, |x, y| -i32::from(x == y))
    }

    #[inline(always)]
    unsafe fn shl<const N: i32>(self) -> Self {
        self.each(|x| x << N)
    }

    #[inline(always)]
    unsafe fn shr<const N: i32>(self) -> Self {
        self.each(|x| x >> N)
    }

    #[inline(always)]
    unsafe fn shl_by(self, count: Self) -> Self {
        self.pairs(count, |x, n| x.checked_shl(n).unwrap_or(0))
    }

    #[inline(always)]
    unsafe fn sar_by(self, count: Self) -> Self {
        self.pairs(count, |x, n| (x as i32 >> n.min(31)) as u32)
    }

    #[inline(always)]
    unsafe fn select(self, yes: Self, no: Self) -> Self {
        Self(std::array::from_fn(|i| {
            if self.0[i] >> 31 == 1 {
                yes.0[i]
            } else {
                no.0[i]
            }
        }))
    }

    #[inline(always)]
    unsafe fn top_bits(self) -> u32 {
        (0..8).fold(0, |bits, i| bits | (self.0[i] >> 31) << i)
    }

    #[inline(always)]
    unsafe fn f_add(self, other: Self) -> Self {
        self.floats(other, |x, y| x + y)
    }

    #[inline(always)]
    unsafe fn f_sub(self, other: Self) -> Self {
        self.floats(other, |x, y| x - y)
    }

    #[inline(always)]
    unsafe fn f_mul(self, other: Self) -> Self {
        self.floats(other, |x, y| x * y)
    }

    #[inline(always)]
    unsafe fn f_fma(self, b: Self, c: Self) -> Self {
        Self(std::array::from_fn(|i| {
            let [x, y, z] = [self, b, c].map(|v| f32::from_bits(v.0[i]));
            x.mul_add(y, z).to_bits()
        }))
    }

    #[inline(always)]
    unsafe fn f_to_i(self) -> Self {
        self.each(|x| f32::from_bits(x) as i32 as u32)
    }

    #[inline(always)]
    unsafe fn f_to_i_nearest(self) -> Self {
        self.each(|x| f32::from_bits(x).round_ties_even() as i32 as u32)
    }

    #[inline(always)]
    unsafe fn f_floor(self) -> Self {
        self.each(|x| f32::from_bits(x).floor().to_bits())
    }

    #[inline(always)]
    unsafe fn i_to_f(self) -> Self {
        self.each(|x| (x as i32 as f32).to_bits())
    }

    #[inline(always)]
    unsafe fn f_low_to_d(self) -> Self {
        Self::from_double(|i| f64::from(f32::from_bits(self.0[i])))
    }

    #[inline(always)]
    unsafe fn f_high_to_d(self) -> Self {
        Self::from_double(|i| f64::from(f32::from_bits(self.0[4 + i])))
    }

    #[inline(always)]
    unsafe fn i_low_to_d(self) -> Self {
        Self::from_double(|i| f64::from(self.0[i] as i32))
    }

    #[inline(always)]
    unsafe fn i_high_to_d(self) -> Self {
        Self::from_double(|i| f64::from(self.0[4 + i] as i32))
    }

    #[inline(always)]
    unsafe fn d_to_f(self, high: Self) -> Self {
        Self(std::array::from_fn(|i| {
            let half = if i < 4 { self } else { high };
            (half.double(i % 4) as f32).to_bits()
        }))
    }

    #[inline(always)]
    unsafe fn d_splat(value: f64) -> Self {
        Self::from_double(|_| value)
    }

    #[inline(always)]
    unsafe fn d_add(self, other: Self) -> Self {
        Self::from_double(|i| self.double(i) + other.double(i))
    }

    #[inline(always)]
    unsafe fn d_mul(self, other: Self) -> Self {
        Self::from_double(|i| self.double(i) * other.double(i))
    }

    #[inline(always)]
    unsafe fn d_fma(self, b: Self, c: Self) -> Self {
        Self::from_double(|i| self.double(i).mul_add(b.double(i), c.double(i)))
    }

    #[inline(always)]
    unsafe fn d_trunc(self) -> Self {
        Self::from_double(|i| self.double(i).trunc())
    }

    #[inline(always)]
    unsafe fn d_floor(self) -> Self {
        Self::from_double(|i| self.double(i).floor())
    }

    #[inline(always)]
    unsafe fn d_negative(self) -> Self {
        Self::from_long(|i| (self.long(i) as i64 >> 63) as u64)
    }

    #[inline(always)]
    unsafe fn l_add(self, other: Self) -> Self {
        Self::from_long(|i| self.long(i).wrapping_add(other.long(i)))
    }

    // (`LONG` stays false: splitting a sum keeps lanes of 32 bits, of which a register has twice as many.)
    #[inline(always)]
    unsafe fn f_low_to_l<const TERMS: u8>(self) -> Self {
        Self::from_long(|i| whole::<TERMS>(self.0[i]))
    }

    #[inline(always)]
    unsafe fn f_high_to_l<const TERMS: u8>(self) -> Self {
        Self::from_long(|i| whole::<TERMS>(self.0[4 + i]))
    }

    #[inline(always)]
    unsafe fn l_to_f<const HOW: u8>(self, high: Self) -> Self {
        Self(std::array::from_fn(|i| {
            let half = if i < 4 { self } else { high };
            single::<HOW>(half.long(i % 4) as i64)
        }))
    }

    #[inline(always)]
    unsafe fn l_to_d(self) -> Self {
        Self::from_double(|i| self.long(i) as i64 as f64)
    }

    #[inline(always)]
    unsafe fn u_to_f(self) -> Self {
        self.each(|x| (x as f32).to_bits())
    }

    #[inline(always)]
    unsafe fn l_joined(self, above: Self) -> [Self; 2] {
        [0, 4].map(|from| {
            Self::from_long(|i| u64::from(self.0[from + i]) | u64::from(above.0[from + i]) << 32)
        })
    }

    #[inline(always)]
    unsafe fn b_dot2(self, other: Self) -> Self {
        self.pairs(other, |x, y| {
            let (x, y) = (x.to_le_bytes(), y.to_le_bytes());
            let product = |i: usize| i32::from(x[i]) * i32::from(y[i] as i8);
            let word = |i: usize| (product(i) + product(i + 1)) as u32 & 0xffff;
            word(0) | word(2) << 16
        })
    }

    #[inline(always)]
    unsafe fn w_add(self, other: Self) -> Self {
        self.pairs(other, |x, y| {
            x.wrapping_add(y) & 0xffff | (x >> 16).wrapping_add(y >> 16) << 16
        })
    }

    #[inline(always)]
    unsafe fn w_pairs(self) -> Self {
        self.each(|x| (i32::from(x as i16) + (x as i32 >> 16)) as u32)
    }

    #[inline(always)]
    unsafe fn b_dot4(self, other: Self) -> Self {
        self.pairs(other, |x, y| {
            let (x, y) = (x.to_le_bytes(), y.to_le_bytes());
            let product = |i: usize| i32::from(x[i]) * i32::from(y[i] as i8);
            (0..4).map(product).sum::<i32>() as u32
        })
    }
}

/// An f32 as a 64-bit integer, rounded as a constant of [`terms`] says.
fn whole<const HOW: u8>(word: u32) -> u64 {
    let x = f32::from_bits(word);
    let rounded = match HOW {
        terms::NEAREST => x.round_ties_even(),
        terms::DOWN => x.floor(),
        terms::UP => x.ceil(),
        _ => x.trunc(),
    };
    rounded as i64 as u64
}

/// A 64-bit integer as an f32, rounded as a constant of [`terms`] says.
fn single<const HOW: u8>(x: i64) -> u32 {
    let nearest = x as f32;
    let kept = nearest as i128;
    let (beyond, x) = (kept - i128::from(x), i128::from(x));
    let one_less = match HOW {
        terms::NEAREST => false,
        terms::DOWN => beyond > 0,
        terms::UP => beyond < 0,
        _ => kept.abs() > x.abs(),
    };
    // The word of the next number toward zero, or away from it.
    let word = nearest.to_bits();
    match (one_less, HOW) {
        (false, _) => word,
        (true, terms::DOWN) if x < 0 => word + 1,
        (true, terms::UP) if x > 0 => word + 1,
        (true, _) => word - 1,
    }
}
