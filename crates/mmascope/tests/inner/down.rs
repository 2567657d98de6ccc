//! Sums that round toward −∞ product by product, at every level, against truncation term by term.

use mmascope::cpu::Level;

use crate::cpu::lanes::{self, Lanes, Portable, Rows};

/// The widest panel.
const COLUMNS: usize = 64;
/// Byte sums of exponents are these larger than exponents.
const BIAS: i32 = 40;
const TINY: f32 = f32::from_bits((127 - 90) << 23);

/// Numbers as a generator of xorshift gives them.
struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number of four significant bits, or a zero, and its exponent byte.
    fn operand(&mut self, spread: u64) -> (f32, u8) {
        let sign = if self.word() & 1 != 0 { -1.0 } else { 1.0 };
        if self.word().is_multiple_of(10) {
            return (0.0 * sign, 0);
        }
        let exponent = (self.word() % spread) as i32 - spread as i32 / 2;
        let significand = (8 + self.word() % 8) as f32 / 8.0;
        let byte = (exponent + BIAS / 2) as u8;
        (sign * significand * 2_f32.powi(exponent), byte)
    }

    /// A c: any, a result of 14 bits, or a zero.
    fn c(&mut self) -> f32 {
        let field = 107 + (self.word() % 40) as u32;
        let word = self.word() as u32 & 0x807f_ffff | field << 23;
        f32::from_bits(match self.word() % 5 {
            0 => word & 1 << 31,
            1 => word,
            _ => word & (u32::MAX << 10),
        })
    }
}

/// The most rows at a time.
const MOST_ROWS: usize = 4;

/// Results, column by column, of each row.
type Results = Vec<Vec<u32>>;

/// What some rows and a panel have, as numbers.
struct Numbers {
    slots: usize,
    groups: usize,
    f: u32,
    /// Row by row, and slot by slot.
    a: [Vec<(f32, u8)>; MOST_ROWS],
    b: Vec<[(f32, u8); COLUMNS]>,
    c: [[f32; COLUMNS]; MOST_ROWS],
}

impl Numbers {
    fn new(random: &mut Random, slots: usize, groups: usize, f: u32, spread: u64) -> Self {
        let mut row = || {
            let operands = (0..slots * groups).map(|_| random.operand(spread));
            operands.collect::<Vec<_>>()
        };
        Self {
            slots,
            groups,
            f,
            a: std::array::from_fn(|_| row()),
            b: (0..slots * groups)
                .map(|_| std::array::from_fn(|_| random.operand(spread)))
                .collect(),
            c: std::array::from_fn(|_| std::array::from_fn(|_| random.c())),
        }
    }

    /// One output: every term truncated to the grid of its group.
    fn expected(&self, r: usize, j: usize) -> f32 {
        let mut c = f64::from(self.c[r][j]);
        for group in 0..self.groups {
            let slots = group * self.slots..(group + 1) * self.slots;
            let terms = slots.map(|k| (self.a[r][k], self.b[k][j]));
            let own = ((c as f32).to_bits() >> 23 & 0xff) as i32 - 127;
            let exponents = terms
                .clone()
                .map(|(a, b)| i32::from(a.1) + i32::from(b.1) - BIAS);
            let e = exponents.fold(own.max(-BIAS), i32::max);
            let unit = 2_f64.powi(e - self.f as i32);
            let products = terms.map(|(a, b)| (f64::from(a.0) * f64::from(b.0) / unit).trunc());
            let sum = products.fold((c / unit).trunc(), |sum, term| sum + term) * unit;
            let kept = f32::from_bits((sum as f32).to_bits() & (u32::MAX << 10));
            // A zero is +0.
            c = f64::from(kept) + 0.0;
        }
        c as f32
    }

    /// Two rows, and all four where a level has registers for them.
    ///
    /// # Safety
    /// The instruction set of `V`.
    #[inline(always)]
    unsafe fn run<V: Lanes>(&self) -> [Results; 2] {
        // SAFETY: as the caller promises.
        unsafe {
            let four = if V::FOUR || V::APART {
                self.rows::<V, MOST_ROWS>()
            } else {
                Vec::new()
            };
            [self.rows::<V, 2>(), four]
        }
    }

    #[inline(always)]
    unsafe fn rows<V: Lanes, const ROWS: usize>(&self) -> Results {
        let (columns, steps) = (4 * V::WIDTH, self.slots * self.groups);
        // Exponents are read one group further.
        let room = steps + self.slots;
        let mut a = vec![0_f32; ROWS * room];
        let mut a_exponents = vec![0; ROWS * room];
        let mut a_signs = vec![0_u32; ROWS * self.groups];
        for (r, row) in self.a[..ROWS].iter().enumerate() {
            for (k, (value, byte)) in row.iter().enumerate() {
                let above = value * (1.0 + 2_f32.powi(-20));
                a[r * room + k] = if *value == 0.0 {
                    TINY.copysign(*value)
                } else {
                    above
                };
                a_exponents[r * room + k] = *byte;
                a_signs[r * self.groups + k / self.slots] |=
                    u32::from(value.is_sign_negative()) << (k % self.slots);
            }
        }
        let mut b = vec![0_f32; steps * columns];
        let mut b_exponents = vec![0; room * columns];
        let mut b_signs = vec![0_u32; self.groups * columns];
        for (k, row) in self.b.iter().enumerate() {
            for (j, (value, byte)) in row[..columns].iter().enumerate() {
                let stand_in = TINY.copysign(*value);
                b[k * columns + j] = if *value == 0.0 { stand_in } else { *value };
                b_exponents[k * columns + j % V::WIDTH * 4 + j / V::WIDTH] = *byte;
                b_signs[k / self.slots * columns + j] |=
                    u32::from(value.is_sign_negative()) << (k % self.slots);
            }
        }
        let rows = Rows {
            a: a.as_ptr(),
            b: b.as_ptr(),
            a_exponents: a_exponents.as_ptr(),
            b_exponents: b_exponents.as_ptr(),
            a_signs: std::array::from_fn(|r| a_signs[r * self.groups..].as_ptr()),
            b_signs: b_signs.as_ptr(),
            apart: room,
            slots: self.slots,
            groups: self.groups,
            f: self.f,
            mask: u32::MAX << 10,
            offset: ((127 - BIAS) as u32) << 23,
            start: 0,
            next: None,
        };
        let mut out = [[0_u32; COLUMNS]; ROWS];
        // SAFETY: the caller has the instruction set; everything is as long as `Rows` wants it.
        unsafe {
            let mut c = [[V::splat(0); 4]; ROWS];
            for (c, words) in c.iter_mut().zip(&self.c) {
                for (c, words) in c.iter_mut().zip(words.chunks(V::WIDTH)) {
                    *c = V::load(words.as_ptr().cast());
                }
            }
            V::sum_down(&rows, &mut None, &mut c);
            for (c, words) in c.into_iter().zip(&mut out) {
                for (c, words) in c.into_iter().zip(words.chunks_mut(V::WIDTH)) {
                    c.store(words.as_mut_ptr());
                }
            }
        }
        (0..columns)
            .map(|j| out.iter().map(|row| row[j]).collect())
            .collect()
    }

    fn at_level(&self, level: Level) -> [Results; 2] {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => {
                #[target_feature(enable = "avx2,fma,f16c")]
                fn enter(numbers: &Numbers) -> [Results; 2] {
                    // SAFETY: this function has AVX2 and FMA.
                    unsafe { numbers.run::<lanes::Avx2>() }
                }
                // SAFETY: the test asks only for levels that are there.
                unsafe { enter(self) }
            }
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 | Level::Vnni => {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
                fn enter(numbers: &Numbers) -> [Results; 2] {
                    // SAFETY: this function has AVX-512 F, BW, DQ and VL.
                    unsafe { numbers.run::<lanes::Avx512>() }
                }
                // SAFETY: the test asks only for levels that are there.
                unsafe { enter(self) }
            }
            #[cfg(target_arch = "aarch64")]
            // SAFETY: every aarch64 has NEON.
            Level::Neon => unsafe { self.run::<lanes::Neon>() },
            // SAFETY: plain Rust.
            _ => unsafe { self.run::<Portable>() },
        }
    }
}

#[test]
fn rounding_down_truncates_every_term() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for level in Level::ALL.into_iter().filter(|level| level.is_there()) {
        for round in 0..600 {
            let slots = [32, 16, 2, 30][round % 4];
            let (groups, spread) = (1 + round % 5, [3, 8, 15][round % 3]);
            let f = if round % 7 == 0 {
                14
            } else {
                13 - (round % 3) as u32
            };
            let numbers = Numbers::new(&mut random, slots, groups, f, spread);
            let of_two_and_four = numbers.at_level(level).into_iter();
            for (j, got) in of_two_and_four.flat_map(|of| of.into_iter().enumerate()) {
                for (r, got) in got.into_iter().enumerate() {
                    let expected = numbers.expected(r, j).to_bits();
                    assert_eq!(
                        got, expected,
                        "{level}, round {round}, row {r}, column {j}: {got:08x}, not {expected:08x}"
                    );
                }
            }
        }
    }
}

/// The ambient rounding mode is again to nearest afterwards.
#[test]
fn the_rounding_mode_is_as_it_was() {
    let mut random = Random(0x0dd0_5eed_0dd0_5eed);
    let numbers = Numbers::new(&mut random, 32, 4, 13, 8);
    for level in Level::ALL.into_iter().filter(|level| level.is_there()) {
        numbers.at_level(level);
        let ulp = std::hint::black_box(f32::EPSILON);
        let one = std::hint::black_box(1.0_f32);
        assert_eq!(one + 0.75 * ulp, 1.0 + f32::EPSILON, "{level}");
        assert_eq!(-one - 0.25 * ulp, -1.0, "{level}");
    }
}
