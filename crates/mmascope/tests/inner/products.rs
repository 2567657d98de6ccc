//! Products of one row and of two, aligned and added, at every level, against the same in f64.

use mmascope::cpu::Level;

use crate::cpu::lanes::{self, Lanes, Portable, Slots, terms};

/// The widest panel.
const COLUMNS: usize = 64;

/// Two rows and a panel, in the order in which packing has them.
struct Numbers {
    count: usize,
    a: [Vec<f32>; 2],
    a_bytes: [Vec<u8>; 2],
    /// Slot by slot.
    b: Vec<f32>,
    b_bytes: Vec<u8>,
    scales: [Vec<f32>; 2],
}

impl Numbers {
    fn new(seed: &mut u64, count: usize) -> Self {
        let mut word = || {
            *seed ^= *seed << 13;
            *seed ^= *seed >> 7;
            *seed ^= *seed << 17;
            seed.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
        };
        // Eleven significant bits: products are exact in f32.
        let mut value = || {
            let significand = (word() % 4096) as f32 - 2048.0;
            significand * 2_f32.powi((word() % 12) as i32 - 16)
        };
        let a = [0, 1].map(|_| (0..count).map(|_| value()).collect());
        let b = (0..count * COLUMNS).map(|_| value()).collect();
        let scales = [0, 1].map(|_| {
            (0..COLUMNS)
                .map(|_| 2_f32.powi((word() % 8) as i32))
                .collect()
        });
        let mut bytes = |len: usize| (0..len).map(|_| (word() % 100) as u8).collect();
        Self {
            count,
            a,
            a_bytes: [bytes(count), bytes(count)],
            b,
            b_bytes: bytes(count * COLUMNS),
            scales,
        }
    }

    /// Sums and the largest bytes of one row, of the first `columns` columns.
    fn expected(&self, r: usize, how: u8, columns: usize) -> (Vec<i32>, Vec<u8>) {
        let sum = |j: usize| {
            let terms = (0..self.count).map(|k| {
                let term = f64::from(self.a[r][k]) * f64::from(self.b[k * columns + j]);
                let term = term * f64::from(self.scales[r][j]);
                (match how {
                    terms::NEAREST => term.round_ties_even(),
                    terms::DOWN => term.floor(),
                    terms::UP => term.ceil(),
                    _ => term.trunc(),
                }) as i32
            });
            terms.sum()
        };
        let byte = |j: usize| {
            let sums = (0..self.count).map(|k| self.a_bytes[r][k] + self.b_bytes[k * columns + j]);
            sums.max().unwrap_or_default()
        };
        (
            (0..columns).map(sum).collect(),
            (0..columns).map(byte).collect(),
        )
    }

    /// # Safety
    /// The instruction set of `V`.
    #[inline(always)]
    unsafe fn check<V: Lanes, const TERMS: u8>(&self, level: Level) {
        let columns = 4 * V::WIDTH;
        let slots = [0, 1].map(|r| Slots {
            a: self.a[r].as_ptr(),
            b: self.b.as_ptr(),
            a_exponents: self.a_bytes[r].as_ptr(),
            b_exponents: self.b_bytes.as_ptr(),
            count: self.count,
        });
        // SAFETY: the caller has the instruction set; the slots are as long as they say.
        unsafe {
            let mut scales = [[V::splat(0); 4]; 2];
            for (scales, from) in scales.iter_mut().zip(&self.scales) {
                for (scale, from) in scales.iter_mut().zip(from.chunks(V::WIDTH)) {
                    *scale = V::load(from.as_ptr().cast());
                }
            }
            let zeros = ([[V::splat(0); 4]; 2], [V::b_splat(0); 2]);
            let (mut sums, mut found) = zeros;
            for r in 0..2 {
                let (sums, found) = (&mut sums[r], &mut found[r]);
                V::add_products::<TERMS>(&slots[r], &scales[r], sums, found);
            }
            let (mut of_two, mut found_of_two) = zeros;
            V::add_products_two::<TERMS>(&slots, &scales, &mut of_two, &mut found_of_two);
            for (sums, found, rows) in [(sums, found, "one"), (of_two, found_of_two, "two")] {
                for r in 0..2 {
                    let mut words = [0_u32; COLUMNS];
                    for (v, sums) in sums[r].into_iter().enumerate() {
                        sums.store(words[v * V::WIDTH..].as_mut_ptr());
                    }
                    let mut bytes = [0_u32; COLUMNS];
                    found[r].store(bytes.as_mut_ptr());
                    let bytes: Vec<u8> = bytes.into_iter().flat_map(u32::to_le_bytes).collect();
                    let (expected, largest) = self.expected(r, TERMS, columns);
                    let words: Vec<i32> = words[..columns].iter().map(|x| *x as i32).collect();
                    assert_eq!(
                        words, expected,
                        "{level}, {rows} at a time, row {r}, {TERMS}"
                    );
                    assert_eq!(
                        bytes[..columns],
                        largest,
                        "{level}, {rows} at a time, row {r}"
                    );
                }
            }
        }
    }

    /// # Safety
    /// The instruction set of `V`.
    #[inline(always)]
    unsafe fn check_all<V: Lanes>(&self, level: Level) {
        // SAFETY: as the caller promises.
        unsafe {
            self.check::<V, { terms::ZERO }>(level);
            self.check::<V, { terms::NEAREST }>(level);
            self.check::<V, { terms::DOWN }>(level);
            self.check::<V, { terms::UP }>(level);
        }
    }

    fn at_level(&self, level: Level) {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => {
                #[target_feature(enable = "avx2,fma,f16c")]
                fn enter(numbers: &Numbers, level: Level) {
                    // SAFETY: this function has AVX2 and FMA.
                    unsafe { numbers.check_all::<lanes::Avx2>(level) }
                }
                // SAFETY: the test asks only for levels that are there.
                unsafe { enter(self, level) }
            }
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 | Level::Vnni => {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
                fn enter(numbers: &Numbers, level: Level) {
                    // SAFETY: this function has AVX-512 F, BW, DQ and VL.
                    unsafe { numbers.check_all::<lanes::Avx512>(level) }
                }
                // SAFETY: the test asks only for levels that are there.
                unsafe { enter(self, level) }
            }
            #[cfg(target_arch = "aarch64")]
            // SAFETY: every aarch64 has NEON.
            Level::Neon => unsafe { self.check_all::<lanes::Neon>(level) },
            // SAFETY: plain Rust.
            _ => unsafe { self.check_all::<Portable>(level) },
        }
    }
}

#[test]
fn products_of_one_row_and_of_two_are_aligned_and_added() {
    let mut seed = 0x1234_5678_9abc_def1;
    for level in Level::ALL.into_iter().filter(|level| level.is_there()) {
        for count in [1, 2, 3, 4, 7, 8, 16, 33] {
            Numbers::new(&mut seed, count).at_level(level);
        }
    }
}
