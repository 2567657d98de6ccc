//! The machine of a Tensix chip: the arithmetic of its rows, and the features that the catalogue lists.

use super::source::{SourceFormat, Width};
use crate::dpa::{Dpa, GrFdpa, Operation, Output, SemiFma, ZeroSign};
use crate::error::{Error, Result};
use crate::isa::{Architecture, FlagBits};

/// A machine: its parameters, from the catalogue.
#[derive(Clone, Debug)]
pub struct Machine {
    /// `mvmul`, `elwmul`, `elwadd`, `elwsub` by type, width and phase.
    steps: Vec<Step>,
    /// The vector unit's multiply-add.
    pub(super) fma: SemiFma,
    /// The sign of its zeros.
    pub(super) zero: ZeroSign,
    /// Bits that the matrix unit's events set.
    pub(super) fpu_flags: FlagBits,
    /// Bits that the vector unit's events set.
    pub(super) sfpu_flags: FlagBits,
    features: Vec<String>,
}

/// One operation of the matrix unit for one kind of operands.
#[derive(Clone, Copy, Debug)]
struct Step {
    element: TensixElement,
    wide: bool,
    width: Width,
    phase: Phase,
    algorithm: GrFdpa,
    output: Output,
}

/// What the matrix unit does to make one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TensixElement {
    /// MVMUL, DOTPV, GAPOOL: sixteen products.
    Product,
    /// ELWMUL: one product.
    Multiply,
    /// ELWADD.
    Add,
    /// ELWSUB.
    Subtract,
}

/// A fidelity phase: which parts of the significands are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Phase(u8);

impl Phase {
    /// The first phase: the upper parts of both.
    pub const FIRST: Self = Self(0);

    /// A phase, 0 to 3.
    ///
    /// # Errors
    /// [`Error::Argument`] for another number.
    pub fn new(phase: u8) -> Result<Self> {
        match phase {
            0..=3 => Ok(Self(phase)),
            _ => Err(Error::Argument(format!(
                "phase {phase}: 0 to 3 are possible"
            ))),
        }
    }

    /// The number, 0 to 3.
    #[must_use]
    pub fn number(self) -> u8 {
        self.0
    }
}

/// How many phases a product is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fidelity {
    /// One phase.
    LoFi,
    /// Two phases.
    HiFi2,
    /// Three phases.
    HiFi3,
    /// All four.
    HiFi4,
}

impl Fidelity {
    /// The phases, in order.
    pub fn phases(self) -> impl Iterator<Item = Phase> {
        let count = match self {
            Self::LoFi => 1,
            Self::HiFi2 => 2,
            Self::HiFi3 => 3,
            Self::HiFi4 => 4,
        };
        (0..count).map(Phase)
    }
}

impl Machine {
    /// The machine of an architecture of the catalogue: one that has the rows `tensix.mvmul.…`,
    /// `tensix.elwmul.…`, `tensix.elwadd.…`, `tensix.elwsub.…` and `tensix.sfpmad`.
    ///
    /// # Errors
    /// As [`Architecture::find`] when a row is missing; [`Error::Argument`] when a row has another
    /// algorithm.
    ///
    /// ```
    /// use mmascope_model::{isa::Catalogue, tensix::Machine};
    /// let machine = Machine::of(Catalogue::built_in().architecture("wormhole")?)?;
    /// assert_eq!(machine.multiply_add(0x3f80_0000, 0x4000_0000, 0x3f80_0000), 0x4040_0000); // 1·2 + 1
    /// # Ok::<(), mmascope_model::Error>(())
    /// ```
    pub fn of(architecture: &Architecture) -> Result<Self> {
        let mut steps = Vec::new();
        for (name, element, phases) in [
            ("mvmul", TensixElement::Product, 4),
            ("elwmul", TensixElement::Multiply, 4),
            ("elwadd", TensixElement::Add, 1),
            ("elwsub", TensixElement::Subtract, 1),
        ] {
            for (format, wide) in [("tf32", true), ("f16", false)] {
                for (suffix, width) in [("d16", Width::Bits16), ("d32", Width::Bits32)] {
                    for phase in (0..phases).map(Phase) {
                        let name = format!("tensix.{name}.{format}.{suffix}.phase{}", phase.0);
                        let (algorithm, output) = only_dot(architecture, &name)?;
                        let Dpa::GrFdpa(algorithm) = algorithm else {
                            return Err(other_algorithm(architecture, &name, "gr-fdpa"));
                        };
                        steps.push(Step {
                            element,
                            wide,
                            width,
                            phase,
                            algorithm,
                            output,
                        });
                    }
                }
            }
        }
        let (vector, matrix) = ("tensix.sfpmad", "tensix.mvmul.tf32.d32.phase0");
        let (Dpa::SemiFma(fma), output) = only_dot(architecture, vector)? else {
            return Err(other_algorithm(architecture, vector, "semi-fma"));
        };
        Ok(Self {
            steps,
            fma,
            zero: output.zero,
            fpu_flags: architecture.find(matrix)?.flags,
            sfpu_flags: architecture.find(vector)?.flags,
            features: architecture.features.clone(),
        })
    }

    /// Whether the machine has a feature that the catalogue names.
    #[must_use]
    pub fn has(&self, feature: &str) -> bool {
        self.features.iter().any(|own| own == feature)
    }

    /// The arithmetic of one element.
    pub(super) fn step(
        &self,
        element: TensixElement,
        source: SourceFormat,
        width: Width,
        phase: Phase,
    ) -> Option<(&GrFdpa, &Output)> {
        let wide = source.has_wide_exponents();
        let mut steps = self.steps.iter();
        let step = steps.find(|step| {
            step.element == element
                && step.wide == wide
                && step.width == width
                && step.phase == phase
        })?;
        Some((&step.algorithm, &step.output))
    }

    /// An error unless the machine has a feature.
    pub(super) fn needs(&self, feature: &str, what: &str) -> Result<()> {
        match self.has(feature) {
            true => Ok(()),
            false => Err(Error::Argument(format!(
                "{what} needs the feature '{feature}', which this machine has not; it has: {}",
                self.features.join(" ")
            ))),
        }
    }
}

/// The algorithm and the output of a row's only statement.
fn only_dot(architecture: &Architecture, name: &str) -> Result<(Dpa, Output)> {
    let unit = architecture.find(name)?.unit()?;
    match &unit.program().statements[..] {
        [statement] => match statement.operation {
            Operation::Dot { algorithm, .. } => Ok((algorithm, statement.output)),
            _ => Err(other_algorithm(architecture, name, "one sum")),
        },
        _ => Err(other_algorithm(architecture, name, "one statement")),
    }
}

fn other_algorithm(architecture: &Architecture, name: &str, expected: &str) -> Error {
    Error::Argument(format!(
        "{} {name}: this machine needs a row of {expected}",
        architecture.name
    ))
}
