//! The catalogue: which architecture has which instruction, and what the instruction computes.
//!
//! The data are text files (`isa/*.txt`), read at run time; a user's file in the same notation
//! extends or overrides them. Nothing in the code knows a chip.

mod architecture;
mod default;
mod evidence;
mod facts;
mod flags;
mod instruction;
mod name;
mod parse;
mod shape;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use sha2::{Digest, Sha256};

pub use default::{OperandTypes, Scaling};
pub use evidence::{Evidence, Strength};
pub use flags::FlagBits;
pub use shape::Shape;

use crate::dpa::{Signature, Unit};
use crate::error::{Error, Position, Result, quoted};
use crate::format::Format;

/// The shipped data.
const BUILT_IN: [(&str, &str); 8] = [
    ("(built in) nvidia.txt", include_str!("../isa/nvidia.txt")),
    ("(built in) amd.txt", include_str!("../isa/amd.txt")),
    (
        "(built in) tenstorrent.txt",
        include_str!("../isa/tenstorrent.txt"),
    ),
    ("(built in) x86.txt", include_str!("../isa/x86.txt")),
    ("(built in) arm.txt", include_str!("../isa/arm.txt")),
    ("(built in) riscv.txt", include_str!("../isa/riscv.txt")),
    ("(built in) others.txt", include_str!("../isa/others.txt")),
    (
        "(built in) integers.txt",
        include_str!("../isa/integers.txt"),
    ),
];

/// Every known instruction of every known architecture.
#[derive(Clone, Debug)]
pub struct Catalogue {
    architectures: Vec<Architecture>,
    /// Lower-case name or alias → index.
    names: HashMap<String, usize>,
    /// Formats that texts declare.
    formats: Vec<Format>,
    hasher: Sha256,
}

/// One architecture and its instructions.
#[derive(Clone, Debug)]
pub struct Architecture {
    /// The name, for example `hopper`.
    pub name: String,
    /// Other names: `sm_90`, `H100`, …
    pub aliases: Vec<String>,
    /// One line for people.
    pub title: String,
    /// Who makes it.
    pub vendor: String,
    /// Where the data are from.
    pub sources: Vec<String>,
    /// Remarks on the whole architecture.
    pub notes: Vec<String>,
    /// Why instructions that no line names have no model, if they are known to exist.
    pub unmodelled: Option<String>,
    /// Names of what the architecture has beside its instructions, for the rooms that model it.
    pub features: Vec<String>,
    /// Shared, so that a catalogue with a text more costs no second copy of the rows.
    instructions: Vec<Arc<Instruction>>,
    /// Normalised name → index.
    keys: HashMap<String, usize>,
    /// Operand types → index of their default.
    defaults: HashMap<Signature, usize>,
    /// Type names of its own (`let`) that stand for one format.
    types: HashMap<String, Format>,
}

/// One row: a family line × operand types × K.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Name of the architecture.
    pub architecture: String,
    /// Canonical name, with the first legal shape.
    pub name: String,
    /// Every legal shape with this K.
    pub shapes: Vec<Shape>,
    /// Operand formats and K.
    pub signature: Signature,
    /// What is known about the arithmetic.
    pub model: Model,
    /// How well each parameter is known.
    pub evidence: Evidence,
    /// Whether it is taken when only its operand types are given.
    pub is_default: bool,
    /// Names of the operand modifiers that the instruction has.
    pub modifiers: Vec<String>,
    /// Remarks.
    pub notes: Vec<String>,
    /// Where the row is from, beside the architecture's sources.
    pub sources: Vec<String>,
    /// Whether a vector line may have a multiple of K products: instructions are then chained, each
    /// one's d being the next one's c.
    pub chained: bool,
    /// Which bits of a status register the events of a result set.
    pub flags: FlagBits,
    /// Where the family stands in the catalogue.
    pub position: Position,
    keys: Vec<String>,
}

/// Whether the arithmetic of a row is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Model {
    /// The unit.
    Known(Box<Unit>),
    /// Nobody has published it, for this reason.
    Unmodelled(String),
}

impl Catalogue {
    /// The shipped catalogue. Reading it takes milliseconds, once.
    ///
    /// # Panics
    /// Never: a test reads the shipped files.
    #[must_use]
    pub fn built_in() -> &'static Self {
        static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
        CATALOGUE.get_or_init(|| {
            let mut catalogue = Self::empty();
            for (file, text) in BUILT_IN {
                catalogue
                    .take_over(file, text)
                    .expect("the shipped catalogue is well formed");
            }
            catalogue
        })
    }

    /// A catalogue without any row, to be extended.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            architectures: Vec::new(),
            names: HashMap::new(),
            formats: Vec::new(),
            hasher: Sha256::new(),
        }
    }

    /// Adds a text in the notation of the catalogue. Rows of the same architecture and name
    /// replace earlier ones; nothing is changed when the text has an error.
    ///
    /// # Errors
    /// [`Error::Text`] with file, line, column and what was expected.
    ///
    /// ```
    /// use mmascope_model::isa::Catalogue;
    /// let mut catalogue = Catalogue::built_in().clone();
    /// catalogue.extend("my_chip.txt", "
    ///     arch mychip = mc1
    ///     dot.{shape}.{d}.{a} | f16 x f16 + f32 -> f32 | m8n8k12 \
    ///         | t-fdpa L=12 F=20 e0=-126 align=rne -> rne f32 | open
    /// ")?;
    /// let instruction = catalogue.find("mc1", "dot.m8n8k12.f32.f16")?;
    /// assert_eq!(instruction.signature.k, 12);
    /// # Ok::<(), mmascope_model::Error>(())
    /// ```
    pub fn extend(&mut self, file: &str, text: &str) -> Result<()> {
        let mut extended = self.clone();
        extended.take_over(file, text)?;
        *self = extended;
        Ok(())
    }

    /// The same in place: after an error a part of the text is in.
    fn take_over(&mut self, file: &str, text: &str) -> Result<()> {
        // An architecture has one block of its own in a text, whatever alias the block names, and any number that it
        // shares with others.
        let mut declared = HashMap::new();
        let (blocks, formats) = parse::parse(file, text)?;
        for format in formats {
            if !self.formats.contains(&format) {
                self.formats.push(format);
            }
        }
        for block in blocks {
            let (name, position) = (block.architecture.name.clone(), block.position.clone());
            let is_shared = block.is_shared;
            let index = self.merge(block)?;
            if is_shared {
                continue;
            }
            if let Some(line) = declared.insert(index, position.line) {
                return Err(Error::Text {
                    message: format!(
                        "'{}' is declared twice in this text, first in line {line}",
                        quoted(&name)
                    ),
                    position,
                });
            }
        }
        self.hasher.update(text.as_bytes());
        Ok(())
    }

    /// The formats that its texts declare (`format` lines), in the order of the files.
    #[must_use]
    pub fn declared_formats(&self) -> &[Format] {
        &self.formats
    }

    /// The architectures in the order of the files.
    #[must_use]
    pub fn architectures(&self) -> &[Architecture] {
        &self.architectures
    }

    /// The architecture of that name or alias, in any case.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the nearest names.
    pub fn architecture(&self, name: &str) -> Result<&Architecture> {
        match self.names.get(&fold(name)) {
            Some(&index) => Ok(&self.architectures[index]),
            None => Err(Error::unknown(
                "architecture",
                name,
                self.architectures
                    .iter()
                    .flat_map(|arch| std::iter::once(&arch.name).chain(&arch.aliases)),
            )),
        }
    }

    /// The instruction of that name: short names, full PTX spelling, old and new AMD mnemonics,
    /// any legal M and N. Operand types in place of a name (`f16`, `e4m3,e5m2,f32`) are the default
    /// instruction of these types, [`Architecture::default_for`].
    ///
    /// # Errors
    /// [`Error::Unknown`] with the nearest names; [`Error::Argument`] for an illegal shape. An
    /// instruction whose arithmetic nobody has published is found; its `model` says so.
    pub fn find(&self, architecture: &str, instruction: &str) -> Result<&Instruction> {
        let architecture = self.architecture(architecture)?;
        architecture.find(instruction).map_err(|error| match error {
            Error::Unknown {
                what,
                name,
                nearest,
                allowed,
                ..
            } => Error::Unknown {
                what,
                name,
                nearest,
                allowed,
                elsewhere: self.having(instruction),
            },
            other => other,
        })
    }

    /// The architectures that have a model of an instruction.
    fn having(&self, instruction: &str) -> Vec<String> {
        let key = name::normalise(instruction).key;
        let has = |architecture: &&Architecture| {
            let index = architecture.keys.get(&key);
            index.is_some_and(|&index| architecture.instructions[index].is_modelled())
        };
        let names = self.architectures.iter().filter(has);
        names
            .map(|architecture| architecture.name.clone())
            .collect()
    }

    /// Every row of every architecture.
    pub fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.architectures
            .iter()
            .flat_map(Architecture::instructions)
    }

    /// Hash of the catalogue text in use (16 hex digits of SHA-256), for reports.
    #[must_use]
    pub fn hash(&self) -> String {
        let digest = self.hasher.clone().finalize();
        digest
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// Adds a block; the index of its architecture.
    fn merge(&mut self, block: parse::Block) -> Result<usize> {
        let parse::Block {
            architecture,
            position,
            columns,
            is_shared: _,
        } = block;
        let index = match self.names.get(&fold(&architecture.name)) {
            Some(&index) => index,
            None => {
                self.architectures
                    .push(Architecture::empty(&architecture.name));
                self.architectures.len() - 1
            }
        };
        // The block may stand under an alias of its architecture, whose name is then no alias of that alias.
        let own = fold(&self.architectures[index].name);
        let is_alias = fold(&architecture.name) != own;
        let names = std::iter::once(&architecture.name).chain(&architecture.aliases);
        for (place, (name, column)) in names.zip(columns).enumerate() {
            if is_alias && place > 0 && fold(name) == own {
                return Err(Error::Text {
                    position: Position { column, ..position },
                    message: format!(
                        "'{}' is an alias of '{name}' already: they name each other in a circle",
                        architecture.name
                    ),
                });
            }
            if *self.names.entry(fold(name)).or_insert(index) != index {
                return Err(Error::Text {
                    position: Position { column, ..position },
                    message: format!("'{name}' already names another architecture"),
                });
            }
        }
        self.architectures[index].merge(architecture);
        Ok(index)
    }
}

/// Architecture names are compared without case, spaces and underscores: `sm90` is `sm_90`.
fn fold(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, ' ' | '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect()
}
