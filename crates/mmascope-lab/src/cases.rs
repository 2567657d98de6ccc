//! Generates operands of dot products (*cases*) from a family, a seed and an index.
//!
//! A case is a pure function of family, seed, index, signature and hints: integers only, counter-based
//! random words (Philox4x32-10), so that every language and machine makes the same bits and a failure
//! is replayed from those three numbers. `docs/generator.md` states every recipe completely.
//!
//! | family | what it finds |
//! |---|---|
//! | `bits` | uniform bits: every code, ignored bits, NaN and ∞ |
//! | `normal` | N(0, 1): what applications feed |
//! | `outlier` | N(0, 1) with rare values 16 to 4,096 times as large |
//! | `stress` | clustered exponents, ±0, subnormals, all-ones significands; ∞ and NaN in one case of eight |
//! | `sparse` | most products are zero |
//! | `close` | products that cancel in pairs, exactly or almost |
//! | `boundary` | built for L, F and e0: eight kinds of edge, by index mod 8 |
//! | `exhaustive` | all pairs (a0, b0) of narrow operands × 16 chosen c |
//!
//! ```
//! use mmascope_lab::cases::{Family, Generator};
//! use mmascope_model::{dpa::Modifiers, isa::Catalogue};
//!
//! let row = Catalogue::built_in().find("hopper", "mma.m16n8k16.f32.bf16.bf16.f32")?;
//! let generator = Generator::for_unit(Family::Boundary, 7, row.unit()?)?;
//! let case = generator.case(2); // the third case of seed 7: tiny operands around the floor
//! assert_eq!(case, generator.case(2));
//! row.dot(&case.operands(), &Modifiers::default())?;
//! # Ok::<(), mmascope_model::Error>(())
//! ```

#![deny(clippy::float_arithmetic)]

mod boundary;
mod clustered;
mod code;
mod device;
mod draw;
mod exhaustive;
mod hints;
mod integers;
mod matrix;
mod normal;
mod plain;
mod quantiles;
mod terms;

pub use hints::Hints;
pub use matrix::{CaseShape, Distribution, GeneratedOperand};
pub use mmascope_gemm::random::philox;

use code::Code;
use draw::Draws;

use crate::dpa::{OperandWords, Signature, Unit};
use crate::error::{Error, Result};

/// A family of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Family {
    /// Uniform bits.
    Bits,
    /// N(0, 1).
    Normal,
    /// N(0, 1) with rare large ones.
    Outlier,
    /// Clustered exponents with jitter, ±0, subnormals, ∞, NaN, all-ones significands.
    Stress,
    /// Mostly zeros.
    Sparse,
    /// Near-cancelling pairs.
    Close,
    /// Built for given L, F, e0.
    Boundary,
    /// All pairs (a0, b0) of operands of at most 8 bits × 16 chosen c.
    Exhaustive,
}

impl Family {
    /// Every family, in the order of the documents.
    pub const ALL: [Self; 8] = [
        Self::Bits,
        Self::Normal,
        Self::Outlier,
        Self::Stress,
        Self::Sparse,
        Self::Close,
        Self::Boundary,
        Self::Exhaustive,
    ];

    /// The name, as command line and vector lines write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bits => "bits",
            Self::Normal => "normal",
            Self::Outlier => "outlier",
            Self::Stress => "stress",
            Self::Sparse => "sparse",
            Self::Close => "close",
            Self::Boundary => "boundary",
            Self::Exhaustive => "exhaustive",
        }
    }

    /// The family of that name.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the nearest names.
    pub fn named(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|family| family.name() == name)
            .ok_or_else(|| Error::unknown("family", name, Self::ALL.map(Self::name)))
    }
}

impl std::fmt::Display for Family {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.pad(self.name())
    }
}

/// Makes the cases of one family, seed and signature.
#[derive(Clone, Debug)]
pub struct Generator {
    family: Family,
    seed: u64,
    hints: Hints,
    operands: Operands,
}

/// What the recipes know of the formats.
// A generator has one, and cases are made by the million: a box would only be in the way.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
enum Operands {
    Floats(Layout),
    Integers(integers::Layout),
}

/// A signature with the formats as the recipes use them.
#[derive(Clone, Debug)]
struct Layout {
    k: usize,
    a: Code,
    b: Code,
    c: Code,
    d: Code,
    /// Format of the scales and k that share one.
    scale: Option<(Code, usize)>,
}

impl Layout {
    fn blocks(&self) -> usize {
        self.scale.map_or(0, |(_, block)| self.k.div_ceil(block))
    }
}

impl Generator {
    /// The cases of a family for a signature; the hints matter to `boundary` only.
    ///
    /// # Errors
    /// [`Error::Argument`] when the family cannot be made for the signature: a format that is no
    /// float, `exhaustive` with operands wider than 8 bits, K = 0 or above 4,096, a scale block of 0.
    pub fn new(family: Family, seed: u64, signature: &Signature, hints: Hints) -> Result<Self> {
        if !(1..=4096).contains(&signature.k) {
            return Err(Error::Argument(format!(
                "K={}: 1 to 4096 are supported",
                signature.k
            )));
        }
        if let Some(layout) = integers::Layout::of(signature)? {
            if family == Family::Exhaustive {
                exhaustive::check(signature)?;
            }
            return Ok(Self {
                family,
                seed,
                hints,
                operands: Operands::Integers(layout),
            });
        }
        let scale = match signature.scale {
            Some(scale) if scale.block == 0 => {
                return Err(Error::Argument("a scale block of 0".to_owned()));
            }
            Some(scale) => Some((Code::of(&scale.format)?, scale.block)),
            None => None,
        };
        let layout = Layout {
            k: signature.k,
            a: Code::of(&signature.a)?,
            b: Code::of(&signature.b)?,
            c: Code::of(&signature.c)?,
            d: Code::of(&signature.d)?,
            scale,
        };
        if family == Family::Exhaustive {
            exhaustive::check(signature)?;
        }
        hints.check()?;
        Ok(Self {
            family,
            seed,
            hints,
            operands: Operands::Floats(layout),
        })
    }

    /// The cases of a family for a unit, with the unit's own hints.
    ///
    /// # Errors
    /// As [`Generator::new`].
    pub fn for_unit(family: Family, seed: u64, unit: &Unit) -> Result<Self> {
        Self::new(family, seed, unit.signature(), Hints::of_unit(unit))
    }

    /// The family.
    #[must_use]
    pub fn family(&self) -> Family {
        self.family
    }

    /// The seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// How many different cases there are; `None` when every index is another one.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        (self.family == Family::Exhaustive).then(|| match &self.operands {
            Operands::Floats(layout) => exhaustive::count(layout),
            Operands::Integers(layout) => layout.count(),
        })
    }

    /// Whether rows and columns of different cases make cases of the same family: its operands are
    /// drawn independently of each other.
    #[must_use]
    pub fn is_crossed(&self) -> bool {
        matches!(
            self.family,
            Family::Bits | Family::Normal | Family::Outlier | Family::Sparse
        )
    }

    /// Bits of the codes of a and b where the cases are all their pairs (`exhaustive`): case
    /// `first + (b << bits_a) + a` has a and b, and `first`, a multiple of 2^(bits_a + bits_b), says c.
    #[must_use]
    pub fn pairs(&self) -> Option<(u32, u32)> {
        let bits = match &self.operands {
            Operands::Floats(Layout { a, b, .. }) => (a.format.bits, b.format.bits),
            Operands::Integers(integers::Layout { a, b, .. }) => (a.bits, b.bits),
        };
        (self.family == Family::Exhaustive).then_some(bits)
    }

    /// a and its scales of one case, b and its scales of another, c of the first when the sum of the
    /// indices is even, else of the second. `crossed(i, i)` is `case(i)`.
    #[must_use]
    pub fn crossed(&self, row: u64, column: u64) -> OperandWords {
        let (of_a, of_b) = (self.case(row), self.case(column));
        OperandWords {
            c: if (row ^ column) & 1 == 0 {
                of_a.c
            } else {
                of_b.c
            },
            a: of_a.a,
            scale_a: of_a.scale_a,
            b: of_b.b,
            scale_b: of_b.scale_b,
        }
    }

    /// The case of an index. Any index is good; `exhaustive` begins again after [`Self::count`].
    #[must_use]
    pub fn case(&self, index: u64) -> OperandWords {
        let mut maker = Maker::new(self);
        maker.make(index);
        maker.case
    }

    /// The generator as CUDA C++ for all families of this signature and these hints: after `typedef unsigned long long
    /// word`, it defines `struct Case` and `make_case(family, seed, index, case)`. Families are numbered as in
    /// [`Family::ALL`].
    #[must_use]
    pub fn device_source(&self) -> String {
        device::source(&self.operands, &self.hints)
    }

    /// The same one after the other, in memory that is used again.
    pub(crate) fn maker(&self) -> Maker<'_> {
        Maker::new(self)
    }
}

/// Makes cases of a generator.
#[derive(Debug)]
pub(crate) struct Maker<'a> {
    generator: &'a Generator,
    words: Vec<[u32; 4]>,
    case: OperandWords,
}

impl<'a> Maker<'a> {
    fn new(generator: &'a Generator) -> Self {
        Self {
            generator,
            words: Vec::new(),
            case: OperandWords::default(),
        }
    }

    /// The case of an index, as [`Generator::case`] has it.
    pub(crate) fn make(&mut self, index: u64) -> &OperandWords {
        let Generator {
            family,
            seed,
            hints,
            operands,
        } = self.generator;
        let case = &mut self.case;
        let layout = match operands {
            Operands::Floats(layout) => layout,
            Operands::Integers(layout) => {
                let draws = Draws::new(*seed, index, layout.k, &mut self.words);
                layout.case(*family, &draws, index, case);
                return case;
            }
        };
        if *family == Family::Exhaustive {
            exhaustive::case(layout, index, case);
        } else {
            let draws = Draws::new(*seed, index, layout.k, &mut self.words);
            match family {
                Family::Bits => plain::bits(layout, &draws, case),
                Family::Normal => plain::normal(layout, &draws, case),
                Family::Outlier => plain::outlier(layout, &draws, case),
                Family::Sparse => plain::sparse(layout, &draws, case),
                Family::Stress => clustered::stress(layout, &draws, case),
                Family::Close => clustered::close(layout, &draws, case),
                _ => boundary::case(layout, hints, &draws, index, case),
            }
        }
        // The words of `bits` are those of registers.
        if *family != Family::Bits {
            layout.to_registers(case);
        }
        case
    }
}

impl Layout {
    /// A case of +0 without scales.
    fn clear(&self, case: &mut OperandWords) {
        for words in [&mut case.a, &mut case.b] {
            words.clear();
            words.resize(self.k, 0);
        }
        case.c = 0;
        case.scale_a.clear();
        case.scale_b.clear();
    }

    /// Codes to register words.
    fn to_registers(&self, case: &mut OperandWords) {
        let shift = |words: &mut [u64], code: &Code| {
            for word in words {
                *word = code.format.to_register(*word);
            }
        };
        shift(&mut case.a, &self.a);
        shift(&mut case.b, &self.b);
        shift(std::slice::from_mut(&mut case.c), &self.c);
    }
}
