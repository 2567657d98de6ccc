//! The engine for this machine's processor: fast kernels with the bits of the reference.
//!
//! A kernel is chosen by the parameters of a unit's program and formats, never by a name, so that a
//! unit from a user's file has one whenever its parameters fit. Operands are packed once: decoded to
//! floats and exponents in the order in which they are read, with marks where a kernel's
//! preconditions do not hold (∞, NaN, exponents out of its window, …). Marked rows and columns, and
//! lanes in which a precondition breaks on the way, are computed by [`Dots`](crate::engine::Dots), the reference, a
//! step at a time; all others by vector instructions. The result has the same bits at every level
//! ([`Level`]), thread count and tile size.
//!
//! ```
//! use mmascope_gemm::cpu::Kernel;
//! use mmascope_model::isa::Catalogue;
//!
//! let unit = Catalogue::built_in().find("H100", "wgmma.m64n8k16.f32.f16.f16")?.unit()?;
//! let kernel = Kernel::for_unit(unit)?;
//! assert!(kernel.is_ok(), "no kernel: {}", kernel.unwrap_err());
//! # Ok::<(), mmascope_model::Error>(())
//! ```

mod aligned;
mod block;
mod buffer_pool;
mod codec;
mod decoder;
mod double;
mod down;
mod enter;
mod exponents;
mod fast;
mod grouped;
mod integers;
mod joined;
mod kernels;
mod lanes;
mod level;
mod pack;
mod packed_operand;
mod plan;
mod program;
mod range;
mod rounded;
mod rows;
mod shared;
mod sum;
mod ways;
mod wide;

pub use level::{Level, VARIABLE};

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::array::{Stored, WordsMut};
use crate::dpa::{Codes, Dpa, Modifiers, Nan, Operation, Unit};
use crate::engine::{Elements, Engine, Layout, Prepared, Reason, Steps, Watch};
use crate::error::{Error, Result};
use block::{Job, Part, Reference};
use codec::Codec;
use double::Doubles;
use grouped::Groups;
use integers::Integers;
use lanes::{Lanes, Portable, VECTORS};
use plan::Plan;
use program::Sums;
use ways::Ways;

/// The processor's engine at a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    level: Level,
}

impl Cpu {
    /// The engine at the level in use.
    ///
    /// # Errors
    /// As [`Level::current`].
    pub fn current() -> Result<Self> {
        Ok(Self {
            level: Level::current()?,
        })
    }

    /// The engine at a level.
    ///
    /// # Errors
    /// [`Error::Argument`] when this machine does not have the level.
    pub fn at(level: Level) -> Result<Self> {
        if !level.is_there() {
            let there: Vec<&str> = Level::available().map(Level::name).collect();
            let there = there.join(", ");
            return Err(Error::Argument(format!(
                "this machine has no {level}; it has {there}"
            )));
        }
        Ok(Self { level })
    }

    /// The level.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }
}

impl Engine for Cpu {
    fn name(&self) -> Cow<'static, str> {
        format!("cpu {}", self.level).into()
    }

    fn plan(&self, unit: &Unit) -> std::result::Result<Arc<dyn crate::engine::Plan>, Reason> {
        Ok(Arc::new(Kernel::at_level(unit, self.level)?))
    }
}

/// A unit with the fast lanes that fit its parameters.
#[derive(Clone, Debug)]
pub struct Kernel {
    unit: Arc<Unit>,
    level: Level,
    family: Family,
    /// What depends on the machine beside its level is chosen for four vector pipes.
    four_pipes: bool,
}

/// The kernels.
#[derive(Clone, Debug)]
enum Family {
    Sums(Plan),
    Double(double::Plan),
    Groups(grouped::Plan),
    Integers(integers::Plan),
    Rounded(rounded::Plan),
}

impl Kernel {
    /// The kernel of a unit at the level in use.
    ///
    /// # Errors
    /// As [`Level::current`]. The inner error says which parameter no kernel has.
    pub fn for_unit(unit: &Unit) -> Result<std::result::Result<Self, Reason>> {
        Ok(Self::at_level(unit, Level::current()?))
    }

    /// The kernel of a unit at a level.
    ///
    /// # Errors
    /// Which parameter no kernel has, or that the level is not there.
    pub fn at_level(unit: &Unit, level: Level) -> std::result::Result<Self, Reason> {
        if !level.is_there() {
            return Err(Reason::new(format!("this machine has no {level}")));
        }
        let family = Family::of(unit, [false; 2])?;
        let level = match (level, &family) {
            (Level::Vnni, Family::Groups(_) | Family::Integers(_)) => level,
            // No other has sums of integers.
            (Level::Vnni, _) => Level::Avx512,
            _ => level,
        };
        Ok(Self {
            unit: Arc::new(unit.clone()),
            level,
            family,
            four_pipes: level::has_four_pipes(),
        })
    }

    /// The same with all that depends on the machine beside its level (in which lanes long sums are, how much of K is done
    /// at once) chosen as for machines of the other kind, with more or fewer vector pipes. The bits are
    /// the same; for comparisons.
    #[must_use]
    pub fn as_elsewhere(&self) -> Self {
        Self {
            four_pipes: !self.four_pipes,
            ..self.clone()
        }
    }

    /// The unit.
    #[must_use]
    pub fn unit(&self) -> &Unit {
        &self.unit
    }

    /// The level whose instructions it takes: the one asked for, or a lower one with all that it can use.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Columns of a panel, and which ways of summing there are.
    fn lanes(&self) -> (usize, Ways) {
        fn of<V: Lanes>(kernel: &Kernel) -> (usize, Ways) {
            let columns = match &kernel.family {
                Family::Double(_) => V::DOUBLES * V::WIDTH / 2,
                Family::Rounded(plan) => plan.panel(),
                Family::Integers(_) => integers::panel(kernel.level),
                _ => VECTORS * V::WIDTH,
            };
            let ways = Ways {
                down: V::DOWN,
                wide: V::WIDE,
                four_pipes: kernel.four_pipes,
            };
            (columns, ways)
        }
        match self.level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => of::<lanes::Avx2>(self),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 | Level::Vnni => of::<lanes::Avx512>(self),
            #[cfg(target_arch = "aarch64")]
            Level::Neon => of::<lanes::Neon>(self),
            _ => of::<Portable>(self),
        }
    }
}

impl crate::engine::Plan for Kernel {
    fn unit(&self) -> &Unit {
        &self.unit
    }

    fn bytes(&self, rows: usize, columns: usize, layout: Layout) -> usize {
        let k = self.unit.signature().k;
        let (panel, ways) = self.lanes();
        let ways = ways.in_layout(layout);
        let (each, rows, columns) = match &self.family {
            Family::Sums(plan) => {
                // (A scale and a mark beside the elements.)
                let each = ways
                    .of(plan)
                    .bytes()
                    .map(|bytes| bytes * plan.order.len() + 5);
                let columns = columns.next_multiple_of(panel);
                return (rows.saturating_mul(each[0]))
                    .saturating_add(columns.saturating_mul(each[1]));
            }
            Family::Groups(plan) => {
                let each = k + 16 * k.div_ceil(plan.group()) + 1;
                (each, rows, columns.next_multiple_of(panel))
            }
            Family::Rounded(plan) => {
                let [a, b] = plan.bytes();
                let columns = columns.next_multiple_of(panel);
                return (rows.saturating_mul(a)).saturating_add(columns.saturating_mul(b));
            }
            Family::Integers(_) => {
                let rows = rows.next_multiple_of(integers::ROWS);
                (2 * k, rows, columns.next_multiple_of(panel))
            }
            Family::Double(_) => {
                let [rows, columns] = double::filled(rows, columns, panel);
                (8 * k, rows, columns)
            }
        };
        rows.saturating_add(columns).saturating_mul(each)
    }

    fn sums_in_place(&self) -> bool {
        matches!(self.family, Family::Double(_) | Family::Integers(_))
    }

    /// Packs the operands.
    fn prepare(
        &self,
        elements: &dyn Elements,
        modifiers: &Modifiers,
        layout: Layout,
    ) -> Result<Option<Box<dyn Prepared>>> {
        let packs = self.pack(elements, modifiers, layout);
        Ok(packs.map(|packs| -> Box<dyn Prepared> {
            Box::new(Packed {
                unit: Arc::clone(&self.unit),
                level: self.level,
                packs,
            })
        }))
    }
}

impl Kernel {
    /// `None` when the operands' exponents leave nothing for the kernel.
    fn pack(
        &self,
        elements: &dyn Elements,
        modifiers: &Modifiers,
        layout: Layout,
    ) -> Option<Packs> {
        let negate = [modifiers.negate_a, modifiers.negate_b];
        let (columns, ways) = self.lanes();
        let ways = ways.in_layout(layout);
        let signature = self.unit.signature();
        Some(match Family::of(&self.unit, negate).ok()? {
            Family::Sums(plan) => {
                let sums = Sums::pack(&plan, signature, elements, columns, ways)?;
                Packs::Sums(Box::new(sums), plan)
            }
            Family::Groups(plan) => {
                let groups = Groups::pack(&plan, &self.unit, elements, columns);
                Packs::Groups(Box::new(groups), plan)
            }
            Family::Double(plan) => {
                let packed = Doubles::pack(plan, &self.unit, elements, modifiers, columns, ways)?;
                Packs::Double(packed)
            }
            Family::Integers(plan) => {
                let packed = Integers::pack(&plan, &self.unit, elements, modifiers, columns)?;
                Packs::Integers(Box::new(packed))
            }
            Family::Rounded(plan) => {
                Packs::Rounded(Box::new(rounded::Packed::new(&plan, elements, modifiers)?))
            }
        })
    }
}

/// Operands packed for a kernel.
#[derive(Debug)]
struct Packed {
    unit: Arc<Unit>,
    level: Level,
    packs: Packs,
}

#[derive(Debug)]
enum Packs {
    Sums(Box<Sums>, Plan),
    Double(Doubles),
    Groups(Box<Groups>, grouped::Plan),
    Integers(Box<Integers>),
    Rounded(Box<rounded::Packed>),
}

impl Prepared for Packed {
    fn advance(
        &self,
        steps: &Steps<'_>,
        accumulators: WordsMut<'_>,
        watch: &Watch<'_>,
    ) -> Result<()> {
        match accumulators {
            WordsMut::U8(words) => self.run(steps, words, watch),
            WordsMut::U16(words) => self.run(steps, words, watch),
            WordsMut::U32(words) => self.run(steps, words, watch),
            WordsMut::U64(words) => self.run(steps, words, watch),
        }
    }
}

impl Packed {
    fn run<W: Stored>(
        &self,
        steps: &Steps<'_>,
        accumulators: &mut [W],
        watch: &Watch<'_>,
    ) -> Result<()> {
        let reference = Reference {
            unit: &self.unit,
            elements: steps.elements,
            modifiers: *steps.modifiers,
        };
        let part = Part {
            rows: steps.rows.clone(),
            columns: steps.columns.clone(),
        };
        match &self.packs {
            Packs::Sums(packed, plan) => job(&**packed, reference, (plan.c, plan.d), steps).run(
                self.level,
                &part,
                accumulators,
                watch,
            ),
            Packs::Groups(packed, plan) => job(&**packed, reference, (plan.c, plan.d), steps).run(
                self.level,
                &part,
                accumulators,
                watch,
            ),
            Packs::Rounded(packed) => packed.run(self.level, steps, accumulators, watch),
            Packs::Integers(packed) => {
                let steps = (steps.steps.clone(), steps.first);
                packed.run(self.level, &part, steps, accumulators, watch)
            }
            Packs::Double(packed) => {
                let steps = (steps.steps.clone(), steps.first);
                packed.run(self.level, &part, steps, accumulators, watch)
            }
        }
    }
}

/// What packed operands do in these steps. `formats`: how c and d lie in their words.
fn job<'a, P>(
    packed: &'a P,
    reference: Reference<'a>,
    formats: (Codec, Codec),
    steps: &Steps<'_>,
) -> Job<'a, P> {
    let (c, d) = formats;
    Job {
        packed,
        reference,
        c,
        d,
        steps: steps.steps.clone(),
        first: steps.first,
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.family {
            Family::Sums(plan) => out.write_str(&program::describe(plan, self.lanes().1)),
            Family::Groups(_) => {
                out.write_str("grouped sums of bytes, aligned in f64 lanes where need be")
            }
            Family::Integers(_) => out.write_str("integers in 16-bit lanes, sums in 32-bit ones"),
            Family::Rounded(plan) => plan.fmt(out),
            Family::Double(_) => out.write_str("multiply-adds in f64 lanes"),
        }
    }
}

impl Family {
    fn of(unit: &Unit, negate: [bool; 2]) -> std::result::Result<Self, Reason> {
        if matches!(unit.program().output().nan, Nan::Operand(_)) {
            return Err(Reason::new("NaNs of operands that go on"));
        }
        if let Some(plan) = rounded::Plan::new(unit) {
            return plan.map(Self::Rounded).map_err(Reason::new);
        }
        if unit.program().codes != Codes::Special {
            return Err(Reason::new("infinity and NaN codes that are numbers"));
        }
        if let Some(plan) = integers::Plan::new(unit) {
            return plan.map(Self::Integers).map_err(Reason::new);
        }
        if let Some(plan) = double::Plan::new(unit) {
            return plan.map(Self::Double).map_err(Reason::new);
        }
        let is_grouped = unit.program().statements.iter().any(|statement| {
            let Operation::Dot { algorithm, .. } = &statement.operation else {
                return false;
            };
            matches!(algorithm, Dpa::GstFdpa(_))
        });
        let family = if is_grouped {
            grouped::Plan::new(unit, negate).map(Self::Groups)
        } else {
            Plan::new(unit, negate).map(Self::Sums)
        };
        family.map_err(Reason::new)
    }
}
