//! Checks a kernel's layout on the chip before anything is reported: products of small whole numbers, which are exact under
//! every arithmetic, in every element of D.

use mmascope_lab::device_code::DeviceCode;
use mmascope_model::dpa::{Modifiers, Operands, Unit};
use mmascope_model::format::{Exact, Format, Overflow, Rounding};

use crate::Result;
use crate::chip::{Argument, Loaded, Memory, failed, read_words, write_words};

/// Tiles that are checked.
const TILES: usize = 8;

/// A number that looks random.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit) as usize
    }
}

/// The register word of a whole number that the format has.
fn word(format: &Format, value: i32) -> u64 {
    let exact = Exact::of_multiple(value.into(), 0);
    format.to_register(format.round(&exact, Rounding::Rne, Overflow::Saturate))
}

/// The whole numbers from −3 to 3 that a format has, with their words.
fn numbers(format: &Format) -> Vec<(i64, u64)> {
    let range = match (format.float().is_some() || format.signed, format.bits) {
        (true, _) => -3..=3,
        (false, 1) => 0..=1,
        (false, _) => 0..=3,
    };
    range
        .map(|value| (i64::from(value), word(format, value)))
        .collect()
}

/// Memory for the operands of some tiles.
pub(crate) struct Tiles {
    pub(crate) count: usize,
    pub(crate) a: Memory,
    pub(crate) b: Memory,
    pub(crate) c: Memory,
    pub(crate) d: Memory,
}

/// Words of A, B and C of a tile.
pub(crate) fn sizes(code: &DeviceCode) -> [usize; 3] {
    let [m, n, blocks] = code.tile.map(|size| size as usize);
    [
        blocks * m * code.wide(),
        blocks * n * code.wide(),
        blocks * m * n,
    ]
}

impl Tiles {
    pub(crate) fn new(loaded: &mut dyn Loaded, code: &DeviceCode, count: usize) -> Result<Self> {
        let [a, b, c] = sizes(code).map(|size| size * count * 8);
        Ok(Self {
            count,
            a: loaded.allocate(a)?,
            b: loaded.allocate(b)?,
            c: loaded.allocate(c)?,
            d: loaded.allocate(c)?,
        })
    }

    /// The arguments of the kernel `tile`.
    pub(crate) fn arguments(&self) -> [Argument; 4] {
        [self.a, self.b, self.c, self.d].map(Argument::Memory)
    }

    /// Runs the instruction on the first `count` tiles.
    pub(crate) fn run(
        &self,
        loaded: &mut dyn Loaded,
        code: &DeviceCode,
        count: usize,
    ) -> Result<()> {
        let blocks = u32::try_from(count)
            .unwrap_or(u32::MAX)
            .saturating_mul(code.ctas);
        loaded.launch("tile", blocks, code.lanes, &self.arguments())
    }
}

/// Checks the layout of a kernel.
///
/// # Errors
/// [`Error::Device`](crate::Error::Device) when an element is wrong: nothing that the kernel computes may then be believed.
pub(crate) fn check(
    loaded: &mut dyn Loaded,
    device: &str,
    code: &DeviceCode,
    unit: Option<&Unit>,
    tiles: &Tiles,
) -> Result<()> {
    let signature = &code.signature;
    let (k, scales, wide) = (signature.k, signature.scales(), code.wide());
    let [m, n, blocks] = code.tile.map(|size| size as usize);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let count = TILES.min(tiles.count);
    let (of_a, of_b) = (numbers(&signature.a), numbers(&signature.b));
    let powers = signature
        .scale
        .map(|scale| [1, 2, 4].map(|value| (i64::from(value), word(&scale.format, value))));
    let mut lines = |rows: usize, of: &[(i64, u64)]| -> Vec<(i64, u64)> {
        (0..count * blocks * rows * wide)
            .map(|at| match (&powers, at % wide >= k) {
                (Some(powers), true) => powers[random.below(3)],
                _ => of[random.below(of.len() as u64)],
            })
            .collect()
    };
    let (a, b) = (lines(m, &of_a), lines(n, &of_b));
    let c_signed = signature.c.float().is_some() || signature.c.signed;
    let (mut c, mut expected) = (Vec::new(), Vec::new());
    for at in 0..count * blocks * m * n {
        let (block, row, column) = (at / (m * n), at / n % m, at % n);
        let addend = random.below(65) as i32 - if c_signed { 32 } else { 0 };
        let (x, y) = (
            &a[(block * m + row) * wide..][..wide],
            &b[(block * n + column) * wide..][..wide],
        );
        c.push(word(&signature.c, addend));
        if let (true, Some(unit)) = (signature.a.float().is_none(), unit) {
            // Which pair of bits counts is the instruction's own affair; sums of integers are exact in any case.
            let codes =
                |line: &[(i64, u64)]| line.iter().map(|(_, code)| *code).collect::<Vec<_>>();
            let (x, y) = (codes(x), codes(y));
            let operands = Operands {
                a: &x,
                b: &y,
                c: c[at],
                ..Operands::default()
            };
            expected.push(unit.dot(&operands, &Modifiers::default())?);
            continue;
        }
        let products = (0..k).map(|k| {
            let scale = match signature.scale {
                Some(scale) => {
                    x[signature.k + k / scale.block].0 * y[signature.k + k / scale.block].0
                }
                None => 1,
            };
            x[k].0 * y[k].0 * scale
        });
        let sum = products.sum::<i64>() + i64::from(addend);
        let exact = Exact::of_multiple(sum.into(), 0);
        let d = signature.d.container();
        expected.push(d.round(&exact, Rounding::Rne, Overflow::Saturate));
    }
    debug_assert!(scales + k == wide);
    let words = |line: &[(i64, u64)]| -> Vec<u64> { line.iter().map(|(_, word)| *word).collect() };
    write_words(loaded, tiles.a, &words(&a))?;
    write_words(loaded, tiles.b, &words(&b))?;
    write_words(loaded, tiles.c, &c)?;
    write_words(loaded, tiles.d, &vec![u64::MAX; c.len()])?;
    tiles.run(loaded, code, count)?;
    let got = read_words(loaded, tiles.d, c.len())?;
    // The sign of a zero is the chip's.
    let negative_zero = match signature.d.float() {
        Some(_) => 1_u64 << (signature.d.container().bits - 1),
        None => 0,
    };
    let is_right =
        |got: u64, expected: u64| got == expected || expected == 0 && got == negative_zero;
    let wrong: Vec<usize> = (0..got.len())
        .filter(|&at| !is_right(got[at], expected[at]))
        .collect();
    let Some(&first) = wrong.first() else {
        return Ok(());
    };
    Err(failed(
        device,
        format!(
            "the layout of this kernel does not hold on this chip: {} of {} products of whole numbers are wrong, the first at \
             row {}, column {}: got {:x}, exactly it is {:x}. Nothing is reported",
            wrong.len(),
            got.len(),
            first / n % m,
            first % n,
            got[first],
            expected[first]
        ),
    ))
}
