//! Vector registers as the kernels see them: a register of 32-bit lanes and thin operations on it.
//!
//! Every operation is one instruction or a few where an instruction set lacks it. [`Portable`] states
//! in plain Rust what each one means; the others are held to it by `tests/inner.rs`. The names say
//! how an operation reads its bits: `f` f32 lanes, `d` f64 lanes (half as many), `i` i32 lanes, `w` i16
//! lanes, `b` bytes. No operation depends on the ambient rounding mode but those that round to nearest, which
//! is the mode that Rust guarantees.

#![allow(unsafe_code)] // instructions

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub(crate) mod chain;
mod down;
#[cfg(target_arch = "aarch64")]
mod neon;
#[allow(dead_code)] // by `tests/inner.rs`, which takes the lanes alone
pub(crate) mod pairs;
mod portable;
mod products;
mod wide;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::{Avx512, Vnni};
pub(crate) use down::Rows;
#[cfg(target_arch = "aarch64")]
pub(crate) use neon::Neon;
pub(crate) use portable::Portable;
pub(crate) use products::Slots;
#[allow(unused_imports)] // by `tests/inner.rs`, which takes the lanes alone
pub(crate) use products::{four, rows, two};
pub(crate) use wide::WideSlots;

/// How terms become whole numbers.
pub(crate) mod terms {
    /// Toward zero.
    pub(crate) const ZERO: u8 = 0;
    /// To nearest, ties to even.
    pub(crate) const NEAREST: u8 = 1;
    /// Toward −∞.
    pub(crate) const DOWN: u8 = 2;
    /// Toward +∞.
    pub(crate) const UP: u8 = 3;
}

/// How a sum that leaves i32 shows.
pub(crate) mod overflow {
    /// None does.
    pub(crate) const NEVER: u8 = 0;
    /// By its magnitude.
    pub(crate) const TOLD: u8 = 1;
    /// By the signs of the halves' sums.
    pub(crate) const HALVES: u8 = 2;
}

/// Registers of a tile: the columns that one row meets at a time.
pub(crate) const VECTORS: usize = 4;

/// What a function of its own does with lanes, by [`Lanes::alone`].
#[allow(dead_code)] // by `tests/inner.rs`, which takes the lanes alone
pub(crate) trait Alone {
    /// # Safety
    /// The instruction set of its lanes, and what the work itself needs.
    unsafe fn run(self);
}

/// A vector register.
///
/// # Safety
/// Every operation needs the instruction set of its implementation (none for [`Portable`]); loads
/// and stores need as many readable or writable bytes as the register has, at any alignment.
#[allow(clippy::missing_safety_doc, clippy::too_long_first_doc_paragraph)]
pub(crate) trait Lanes: Copy {
    /// 32-bit lanes in a register.
    const WIDTH: usize;
    /// Registers of columns for which sums of six rows in f64 are kept at a time, 2 or 4.
    const DOUBLES: usize = 2;

    unsafe fn splat(word: u32) -> Self;
    unsafe fn load(from: *const u32) -> Self;
    unsafe fn store(self, to: *mut u32);
    /// Bytes, the first one lowest in its lane.
    #[inline(always)]
    unsafe fn load_bytes(from: *const u8) -> Self {
        // SAFETY: as the caller promises.
        let words = unsafe { Self::load(from.cast()) };
        if cfg!(target_endian = "little") {
            return words;
        }
        // SAFETY: as the caller promises.
        unsafe { lane_by_lane([words; 3], |[word, ..]| word.swap_bytes()) }
    }
    /// f64 lanes.
    #[inline(always)]
    unsafe fn d_load(from: *const f64) -> Self {
        // SAFETY: as the caller promises.
        let words = unsafe { Self::load(from.cast()) };
        // SAFETY: as the caller promises.
        unsafe { words.in_order_of_memory() }
    }
    /// f64 lanes.
    #[inline(always)]
    unsafe fn d_store(self, to: *mut f64) {
        // SAFETY: as the caller promises.
        unsafe { self.in_order_of_memory().store(to.cast()) }
    }
    /// The halves of f64 lanes, low and high, in the order in which they lie in memory; and back.
    #[inline(always)]
    unsafe fn in_order_of_memory(self) -> Self {
        if cfg!(target_endian = "little") {
            return self;
        }
        let mut words = [0; 16];
        // SAFETY: as the caller promises; a register has at most 16 lanes.
        unsafe {
            self.store(words.as_mut_ptr());
            words
                .as_chunks_mut::<2>()
                .0
                .iter_mut()
                .for_each(|two| two.reverse());
            Self::load(words.as_ptr())
        }
    }

    /// The byte in every byte.
    unsafe fn b_splat(byte: u8) -> Self;
    /// Bytes, modulo 256.
    unsafe fn b_add(self, other: Self) -> Self;
    /// The larger of unsigned bytes.
    unsafe fn b_max(self, other: Self) -> Self;
    /// Whether any byte is the same as the other's.
    #[inline(always)]
    unsafe fn b_any_equal(self, other: Self) -> bool {
        // SAFETY: as the caller promises.
        unsafe {
            // The lowest byte that is 0 gets its top bit set by the subtraction. Bytes above it may too, none below it does.
            let x = self.xor(other);
            let zeros = x.not_and(x.i_sub(Self::splat(0x0101_0101)));
            let zeros = zeros.and(Self::splat(0x8080_8080));
            let none = zeros.i_equal(Self::splat(0));
            none.not_and(Self::splat(u32::MAX)).top_bits() != 0
        }
    }

    unsafe fn and(self, other: Self) -> Self;
    unsafe fn or(self, other: Self) -> Self;
    unsafe fn xor(self, other: Self) -> Self;
    /// `!self & other`.
    unsafe fn not_and(self, other: Self) -> Self;

    unsafe fn i_add(self, other: Self) -> Self;
    unsafe fn i_sub(self, other: Self) -> Self;
    unsafe fn i_max(self, other: Self) -> Self;
    unsafe fn i_min(self, other: Self) -> Self;
    unsafe fn i_abs(self) -> Self;
    /// Negated where `other` is negative; where that is 0, as it is or 0.
    unsafe fn i_signed(self, other: Self) -> Self;
    /// All ones where signed `self > other`.
    unsafe fn i_greater(self, other: Self) -> Self;
    unsafe fn i_equal(self, other: Self) -> Self;
    /// How many bits are set.
    #[inline(always)]
    unsafe fn i_ones(self) -> Self {
        // SAFETY: as the caller promises.
        unsafe { lane_by_lane([self; 3], |[x, ..]| x.count_ones()) }
    }
    /// How many bits of each byte are set; bytes below 16.
    #[inline(always)]
    unsafe fn b_ones(self) -> Self {
        // SAFETY: as the caller promises.
        unsafe {
            lane_by_lane([self; 3], |[x, ..]| {
                let pairs = (x & 0x0505_0505) + (x >> 1 & 0x0505_0505);
                (pairs & 0x0303_0303) + (pairs >> 2 & 0x0303_0303)
            })
        }
    }
    unsafe fn shl<const N: i32>(self) -> Self;
    unsafe fn shr<const N: i32>(self) -> Self;
    /// Shift by lane; counts of 32 and more, unsigned, leave 0.
    unsafe fn shl_by(self, count: Self) -> Self;
    /// Arithmetic shift by lane; counts of 32 and more leave the sign.
    unsafe fn sar_by(self, count: Self) -> Self;
    /// The same, with the last bit set where bits were lost that are not 0.
    #[inline(always)]
    unsafe fn sar_odd(self, count: Self) -> Self {
        // SAFETY: as the caller promises.
        unsafe {
            let kept = self.sar_by(count);
            let exact = kept.shl_by(count).i_equal(self);
            kept.or(exact.not_and(Self::splat(1)))
        }
    }
    /// `yes` where this mask's lane is all ones, else `no`.
    unsafe fn select(self, yes: Self, no: Self) -> Self;
    /// Bit i: the top bit of lane i.
    unsafe fn top_bits(self) -> u32;

    unsafe fn f_add(self, other: Self) -> Self;
    unsafe fn f_sub(self, other: Self) -> Self;
    unsafe fn f_mul(self, other: Self) -> Self;
    /// `self · b + c`, rounded once.
    unsafe fn f_fma(self, b: Self, c: Self) -> Self;
    /// `self + other`, rounded toward −∞.
    #[inline(always)]
    unsafe fn f_add_down(self, other: Self) -> Self {
        // SAFETY: as the caller promises.
        unsafe { self.f_fma_down(Self::splat(ONE), other) }
    }
    /// `self · b + c`, rounded once, toward −∞.
    #[inline(always)]
    unsafe fn f_fma_down(self, b: Self, c: Self) -> Self {
        // SAFETY: as the caller promises.
        unsafe {
            lane_by_lane([self, b, c], |words| {
                down::multiply_add(words.map(f32::from_bits)).to_bits()
            })
        }
    }
    /// `self + other`, rounded as a constant of [`terms`] says. Slow where [`Lanes::ROUNDS`] is false.
    #[inline(always)]
    unsafe fn f_add_rounded<const HOW: u8>(self, other: Self) -> Self {
        // SAFETY: as the caller promises.
        unsafe {
            let sign = Self::splat(1 << 31);
            let sum = self.f_add(other);
            let down = self.f_add_down(other);
            let up = self.xor(sign).f_add_down(other.xor(sign)).xor(sign);
            match HOW {
                terms::NEAREST => sum,
                terms::DOWN => down,
                terms::UP => up,
                _ => {
                    let nearer = Self::select(sum.sar_by(Self::splat(31)), up, down);
                    // (A sum is zero only where it is exact.)
                    let zero = sign.not_and(sum).i_equal(Self::splat(0));
                    Self::select(zero, sum, nearer)
                }
            }
        }
    }
    /// Toward zero; any value where i32 has none.
    unsafe fn f_to_i(self) -> Self;
    /// To nearest, ties to even; any value where i32 has none.
    unsafe fn f_to_i_nearest(self) -> Self;
    /// Toward −∞, as a float.
    unsafe fn f_floor(self) -> Self;
    /// Toward −∞; any value where i32 has none.
    #[inline(always)]
    unsafe fn f_to_i_down(self) -> Self {
        // SAFETY: as the caller promises.
        unsafe { self.f_floor().f_to_i() }
    }
    /// Toward +∞; any value where i32 has none.
    #[inline(always)]
    unsafe fn f_to_i_up(self) -> Self {
        // SAFETY: as the caller promises.
        unsafe {
            let down = self.xor(Self::splat(1 << 31)).f_to_i_down();
            Self::splat(0).i_sub(down)
        }
    }
    /// One of the four, by a constant of [`terms`].
    #[inline(always)]
    unsafe fn converted<const TERMS: u8>(self) -> Self {
        // SAFETY: as the caller promises.
        unsafe {
            match TERMS {
                terms::NEAREST => self.f_to_i_nearest(),
                terms::DOWN => self.f_to_i_down(),
                terms::UP => self.f_to_i_up(),
                _ => self.f_to_i(),
            }
        }
    }
    /// To nearest, ties to even.
    unsafe fn i_to_f(self) -> Self;
    /// Toward zero. (Clearing bits of x>>24 clears the first bit that is discarded and none that is kept, so that
    /// rounding to nearest goes down.)
    #[inline(always)]
    unsafe fn i_to_f_toward_zero(self) -> Self {
        // SAFETY: as the caller promises.
        unsafe {
            let magnitude = self.i_abs();
            let kept = magnitude.shr::<24>().not_and(magnitude).i_to_f();
            kept.or(self.and(Self::splat(1 << 31)))
        }
    }

    /// Toward zero, and then with the last bit set where that is not exact. Of −2^31 any value.
    #[inline(always)]
    unsafe fn i_to_f_odd(self) -> Self {
        // SAFETY: as the caller promises.
        unsafe {
            let kept = self.i_to_f_toward_zero();
            let exact = kept.f_to_i().i_equal(self);
            kept.or(exact.not_and(Self::splat(1)))
        }
    }
    /// A finite number rounded to f16, to nearest, ties to even; beyond its numbers ∞. A zero keeps the sign.
    #[inline(always)]
    unsafe fn f_to_half(self) -> Self {
        // SAFETY: as the caller promises.
        unsafe {
            let sign = self.and(Self::splat(1 << 31));
            let magnitude = self.xor(sign);
            let exponents = Self::splat(0xff << 23);
            let smallest = Self::splat((127 - 14) << 23);
            // 1.5 · 2^(e + 13): the sum's last place is that of the result.
            let anchor = magnitude.and(exponents).i_max(smallest);
            let anchor = anchor.i_add(Self::splat(13 << 23 | 1 << 22));
            let rounded = magnitude.f_add(anchor).f_sub(anchor);
            let over = rounded.i_greater(Self::splat((127 + 15) << 23 | 0x3ff << 13));
            Self::select(over, exponents, rounded).or(sign)
        }
    }

    /// The lower half's lanes as f64.
    unsafe fn f_low_to_d(self) -> Self;
    /// The upper half's lanes as f64.
    unsafe fn f_high_to_d(self) -> Self;
    /// The lower half's i32 as f64.
    unsafe fn i_low_to_d(self) -> Self;
    /// The upper half's i32 as f64.
    unsafe fn i_high_to_d(self) -> Self;
    /// Two registers of f64, the lower half first, as one of f32, to nearest even.
    unsafe fn d_to_f(self, high: Self) -> Self;
    unsafe fn d_splat(value: f64) -> Self;
    unsafe fn d_add(self, other: Self) -> Self;
    unsafe fn d_mul(self, other: Self) -> Self;
    unsafe fn d_fma(self, b: Self, c: Self) -> Self;
    /// Toward zero, as a float.
    unsafe fn d_trunc(self) -> Self;
    /// Toward −∞, as a float.
    unsafe fn d_floor(self) -> Self;
    /// All ones where a 64-bit lane's top bit is set.
    unsafe fn d_negative(self) -> Self;
    /// 64-bit integers, modulo 2^64.
    unsafe fn l_add(self, other: Self) -> Self;

    /// Whether f32 become 64-bit integers in one instruction, and back. The operations for that are there where they do, and in plain Rust
    /// ([`Portable`]), which says what they mean.
    const LONG: bool = false;

    /// The lower half's f32 as 64-bit integers, rounded as a constant of [`terms`] says; any value where there is none.
    #[inline(always)]
    unsafe fn f_low_to_l<const TERMS: u8>(self) -> Self {
        unreachable!("`LONG` says so")
    }
    /// The same of the upper half.
    #[inline(always)]
    unsafe fn f_high_to_l<const TERMS: u8>(self) -> Self {
        unreachable!("`LONG` says so")
    }
    /// Two registers of 64-bit integers, the lower half first, as one of f32, rounded as a constant of [`terms`] says.
    #[inline(always)]
    unsafe fn l_to_f<const HOW: u8>(self, high: Self) -> Self {
        let _ = high;
        unreachable!("`LONG` says so")
    }
    /// 64-bit integers as f64, to nearest.
    #[inline(always)]
    unsafe fn l_to_d(self) -> Self {
        unreachable!("`LONG` says so")
    }
    /// Unsigned 32-bit lanes as f32, to nearest.
    #[inline(always)]
    unsafe fn u_to_f(self) -> Self {
        unreachable!("`LONG` says so")
    }
    /// 64-bit integers whose lower words are `self` and whose upper words are `above`, the lower half first.
    #[inline(always)]
    unsafe fn l_joined(self, above: Self) -> [Self; 2] {
        let _ = above;
        unreachable!("`LONG` says so")
    }

    /// Sums of the products of four neighbouring bytes, unsigned in `self`, signed in `other`, in
    /// i32 lanes. Two neighbouring products together must fit 16 bits.
    unsafe fn b_dot4(self, other: Self) -> Self;
    /// The same, added to i32 lanes.
    #[inline(always)]
    unsafe fn b_dot4_add(self, other: Self, sum: Self) -> Self {
        // SAFETY: as the caller promises.
        unsafe { sum.i_add(self.b_dot4(other)) }
    }
    /// Whether `b_dot4_add` is one instruction.
    const DOTS: bool = false;
    /// Sums of the products of two neighbouring bytes, unsigned in `self`, signed in `other`, in i16
    /// lanes, which they must fit.
    unsafe fn b_dot2(self, other: Self) -> Self;
    /// i16 lanes, modulo 2^16.
    unsafe fn w_add(self, other: Self) -> Self;
    /// Sums of two neighbouring i16, in i32 lanes.
    unsafe fn w_pairs(self) -> Self;

    /// Products of a row by four registers of columns, slot by slot: multiplied, scaled, converted as
    /// [`Lanes::converted`] does by `TERMS`, and added to `sums`; and the largest byte sums, with `found`.
    #[inline(always)]
    unsafe fn add_products<const TERMS: u8>(
        slots: &Slots,
        scales: &[Self; 4],
        sums: &mut [Self; 4],
        found: &mut Self,
    ) {
        // SAFETY: as the caller promises.
        unsafe { products::add::<Self, TERMS>(slots, scales, sums, found) }
    }

    /// Whether the scales and sums of two rows fit the registers: then two rows at a time are faster than one.
    const TWO: bool = false;

    /// `add_products` of two rows by the same columns.
    #[inline(always)]
    unsafe fn add_products_two<const TERMS: u8>(
        slots: &[Slots; 2],
        scales: &[[Self; 4]; 2],
        sums: &mut [[Self; 4]; 2],
        found: &mut [Self; 2],
    ) {
        // SAFETY: as the caller promises.
        unsafe { products::add_two::<Self, TERMS>(slots, scales, sums, found) }
    }

    /// Whether there is `chain_two`. (`Portable` has none: `tests/kernel` holds it to the reference.)
    const CHAIN: bool = false;

    /// All groups of a chain, with the first one's largest byte sums: c in, results out. Of the sums it gives the largest bytes of
    /// their magnitudes ([`overflow::TOLD`]), or a sign where one has left i32 ([`overflow::HALVES`]; of sums with block scales always).
    #[inline(always)]
    unsafe fn chain_two<const SCALED: bool, const OVERFLOW: u8, const HALF: bool>(
        chain: &chain::Chain,
        found: [Self; 2],
        c: &mut [[Self; 4]; 2],
    ) -> Self {
        let _ = (chain, found, c);
        unreachable!("`CHAIN` says so")
    }

    /// Whether `i_to_f_toward_zero` and `f_add_rounded` are one instruction.
    const ROUNDS: bool = false;

    /// Whether kernels are functions of their own: see [`apart`].
    const APART: bool = false;

    /// Does work in a function of its own that has the instruction set, where there is one. Kernels are inlined into one function,
    /// which takes the compiler a time that grows with its square: the longest of them had better not be.
    #[inline(always)]
    unsafe fn alone<A: Alone>(work: A) {
        // SAFETY: as the caller promises.
        unsafe { work.run() }
    }

    /// Whether `sum_down` is faster than `add_products` where it can do the same.
    const DOWN: bool = false;

    /// Whether four rows of `sum_down` fit the registers: each register of columns then serves four multiply-adds.
    const FOUR: bool = false;

    /// Fused sums of two rows, or of four, by rounding toward −∞: `c` is what they begin with, and what comes of it. `ahead`:
    /// the largest byte sums of the first group, if they are known; then those of the next rows', if they were found.
    #[inline(always)]
    unsafe fn sum_down<const ROWS: usize>(
        rows: &Rows<ROWS>,
        ahead: &mut Option<[Self; ROWS]>,
        c: &mut [[Self; 4]; ROWS],
    ) {
        // SAFETY: as the caller promises.
        unsafe { down::sum::<Self, ROWS>(rows, ahead, c) }
    }

    /// Whether there is `add_products_wide`, faster than `add_products` for sums of many products. (`Portable` has none:
    /// `tests/kernel` holds it to the reference.)
    const WIDE: bool = false;

    /// Products of two rows by four registers of columns, truncated on the grid and added to `sums`, in which the
    /// products below zero are already counted; `scales` are the f32 that are 2^(F − E). And the largest byte
    /// sums, with `found`, and in `beyond` a bit wherever a sum has left i32.
    #[inline(always)]
    unsafe fn add_products_wide(
        slots: &WideSlots,
        scales: &[[Self; 4]; 2],
        sums: &mut [[Self; 4]; 2],
        found: &mut [Self; 2],
        beyond: &mut Self,
    ) {
        let _ = (slots, scales, sums, found, beyond);
        unreachable!("`WIDE` says so")
    }
}

/// An expression with lanes, as a function of its own where lanes are loops. Kernels are inlined into one function, as the
/// vector instructions need it; with thousands of loops that function takes the compiler a time that grows with their square.
#[allow(unused_macros)] // by `tests/inner.rs`, which takes the lanes alone
macro_rules! apart {
    ($lanes:ty, $body:expr) => {
        if <$lanes>::APART {
            $crate::cpu::lanes::called(|| $body)
        } else {
            $body
        }
    };
}
#[allow(unused_imports)] // by `tests/inner.rs`, which takes the lanes alone
pub(crate) use apart;

/// The function's value. It is not inlined.
#[allow(dead_code)] // by `tests/inner.rs`, which takes the lanes alone
#[inline(never)]
pub(crate) fn called<R>(function: impl FnOnce() -> R) -> R {
    function()
}

/// Bits of 1.0.
const ONE: u32 = 127 << 23;

/// An operation that an instruction set lacks, in plain Rust.
///
/// # Safety
/// The instruction set of `V`.
#[inline(always)]
unsafe fn lane_by_lane<V: Lanes>(x: [V; 3], operation: impl Fn([u32; 3]) -> u32) -> V {
    let mut words = [[0; 16]; 3];
    // SAFETY: as the caller promises; a register has at most 16 lanes.
    unsafe {
        for (words, x) in words.iter_mut().zip(x) {
            x.store(words.as_mut_ptr());
        }
        let [x, y, z] = words;
        let result: [u32; 16] = std::array::from_fn(|i| operation([x[i], y[i], z[i]]));
        V::load(result.as_ptr())
    }
}
