//! Chooses the instructions that a command works on: named ones, or the defaults of operand types.

use crate::report::{self, Failure};
use mmascope::Error;
use mmascope::array::Array;
use mmascope::format::Format;
use mmascope::isa::{Architecture, Catalogue, Instruction, OperandTypes, Scaling};

/// What stands for an instruction when none is named.
pub(crate) enum Types<'a> {
    /// The text of `--types`.
    Text(&'a str),
    /// Types that the files say.
    Given(Box<OperandTypes>),
}

impl Types<'_> {
    /// The default instruction of these types.
    pub(crate) fn of<'c>(
        &self,
        architecture: &'c Architecture,
    ) -> Result<&'c Instruction, Failure> {
        self.default_of(architecture)
            .map_err(|error| self.named(&error))
    }

    fn default_of<'c>(&self, architecture: &'c Architecture) -> Result<&'c Instruction, Error> {
        match self {
            Self::Text(text) => architecture.default_for(&architecture.operand_types(text)?),
            Self::Given(types) => architecture.default_for(types),
        }
    }

    /// The error with the argument that it is of.
    fn named(&self, error: &Error) -> Failure {
        let error = report::told(error);
        Failure::Input(match self {
            Self::Text(text) => format!("--types {text}: {error}"),
            Self::Given(_) => {
                format!("{error}; --inst names an instruction, --types other operand types")
            }
        })
    }
}

/// The format that an operand's array says.
pub(crate) fn format_of(operand: &str, array: &Array) -> Result<Format, Failure> {
    array.format().ok_or_else(|| {
        Failure::Input(format!(
            "{operand} {}: {} elements are codes, and no format is named: give --inst, or \
             --types with the operand types, as in --types e4m3,e4m3,f32",
            array.name(),
            array.dtype()
        ))
    })
}

/// The operand types that arrays say: the formats of A, of B and, where it has one, of C.
pub(crate) fn types_of(
    a: &Array,
    b: &Array,
    c: Option<&Array>,
    is_scaled: bool,
) -> Result<OperandTypes, Failure> {
    Ok(OperandTypes {
        c: c.and_then(Array::format),
        scaling: if is_scaled {
            Scaling::Some
        } else {
            Scaling::Open
        },
        ..OperandTypes::of(format_of("A", a)?, format_of("B", b)?)
    })
}

/// Whether the names that lines are taken for, or that lines have to have, are known.
pub(crate) fn check_names(
    catalogue: &Catalogue,
    arch: Option<&str>,
    inst: Option<&str>,
) -> Result<(), Failure> {
    match (arch, inst) {
        (Some(arch), Some(inst)) => {
            catalogue.find(arch, inst)?.unit()?;
        }
        (Some(arch), None) => {
            catalogue.architecture(arch)?;
        }
        (None, Some(inst)) => {
            let known =
                |arch: &Architecture| !matches!(arch.find(inst), Err(Error::Unknown { .. }));
            if !catalogue.architectures().iter().any(known) {
                let names = catalogue.instructions().map(|row| &row.name);
                return Err(Error::unknown("instruction", inst, names).into());
            }
        }
        (None, None) => {}
    }
    Ok(())
}

/// Whether an instruction is to be found for some architecture: none is named for all, nor behind each.
pub(crate) fn is_open(architectures: &[String], instructions: &[String]) -> bool {
    instructions.is_empty() && architectures.iter().any(|item| !item.contains(':'))
}

/// Every instruction on every architecture that has it, in the order of the arguments, each once.
///
/// An item of `architectures` may be ARCH:INST, which is that instruction alone. Without `instructions`
/// each architecture takes its default of `types`.
pub(crate) fn chosen<'c>(
    catalogue: &'c Catalogue,
    architectures: &[String],
    instructions: &[String],
    types: Option<&Types<'_>>,
) -> Result<Vec<&'c Instruction>, Failure> {
    let mut rows: Vec<&'c Instruction> = Vec::new();
    let mut add = |row: &'c Instruction| {
        let same = |known: &&Instruction| std::ptr::eq(*known, row);
        if !rows.iter().any(same) {
            rows.push(row);
        }
    };
    let mut used = vec![false; instructions.len()];
    let mut all_alone = true;
    let mut left_out = Vec::new();
    for item in architectures {
        if let Some((arch, inst)) = item.split_once(':') {
            add(catalogue.find(arch, inst)?);
            continue;
        }
        all_alone = false;
        let architecture = catalogue.architecture(item)?;
        if instructions.is_empty() {
            let Some(types) = types else {
                return Err(Failure::Input(format!(
                    "--arch {item}: which instruction? give --inst, {item}:INST, or --types with the \
                     operand types, as in --types f16,f16,f32"
                )));
            };
            add(types.of(architecture)?);
            continue;
        }
        let mut lacking = None;
        let mut found = false;
        for (inst, used) in instructions.iter().zip(&mut used) {
            match catalogue.find(item, inst) {
                Ok(row) => {
                    add(row);
                    (found, *used) = (true, true);
                }
                // An instruction that the architecture does not have is left out, if it has another.
                Err(error @ Error::Unknown { .. }) => {
                    left_out.push(error.clone());
                    lacking = Some(error);
                }
                Err(error) => return Err(error.into()),
            }
        }
        if !found && let Some(error) = lacking {
            let error = report::told(&error);
            return Err(Failure::Input(format!("--arch {item}: {error}")));
        }
    }
    if all_alone && !architectures.is_empty() {
        let unused = match (instructions.first(), types) {
            (Some(inst), _) => Some(format!("--inst {inst}")),
            (None, Some(Types::Text(text))) => Some(format!("--types {text}")),
            _ => None,
        };
        if let Some(unused) = unused {
            return Err(Failure::Input(format!(
                "{unused}: every unit names its instruction already ({})",
                architectures.join(", ")
            )));
        }
    }
    if !all_alone && let Some(index) = used.iter().position(|used| !used) {
        let names = catalogue.instructions().map(|row| &row.name);
        return Err(Error::unknown("instruction", &instructions[index], names).into());
    }
    rows.iter().copied().for_each(report::doubt);
    for error in left_out {
        report::tell(format!("left out: {error}"));
    }
    Ok(rows)
}
