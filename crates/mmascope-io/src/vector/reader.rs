//! Reads lines: of the instruction that a line names, or of a device's signature.

use std::collections::HashMap;

use super::fields::{Fields, bad};
use super::operands::{hex_elements, read_modifiers, read_words};
use super::{Answer, BadLine, Vector};
use crate::dpa::{Modifiers, OperandWords, Signature};
use crate::error::{Error, LONGEST_NAME, Result};
use crate::isa::{Catalogue, Instruction};

/// Reads lines against a catalogue, remembering the instructions it has looked up.
#[derive(Debug)]
pub struct Reader<'c> {
    catalogue: &'c Catalogue,
    /// What a line that names no architecture or instruction means.
    default: (Option<String>, Option<String>),
    /// Modifiers of a line that carries none.
    modifiers: Modifiers,
    found: HashMap<(String, String), Result<&'c Instruction>>,
}

impl<'c> Reader<'c> {
    /// A reader for lines that name their architecture and instruction.
    #[must_use]
    pub fn new(catalogue: &'c Catalogue) -> Self {
        Self {
            catalogue,
            default: (None, None),
            modifiers: Modifiers::default(),
            found: HashMap::new(),
        }
    }

    /// Gives the architecture and instruction that lines without these keys mean.
    #[must_use]
    pub fn with_default(mut self, arch: Option<String>, inst: Option<String>) -> Self {
        self.default = (arch, inst);
        self
    }

    /// Gives the modifiers that lines without `mods` have.
    #[must_use]
    pub fn with_modifiers(mut self, modifiers: Modifiers) -> Self {
        self.modifiers = modifiers;
        self
    }

    /// The `arch` and `inst` of a line, before any look-up.
    ///
    /// # Errors
    /// [`BadLine`] when the line is no JSON object or lacks them.
    pub fn names(&self, line: &str) -> std::result::Result<(String, String), BadLine> {
        let fields = Fields::parse(line)?;
        Ok((self.name(&fields, "arch")?.0, self.name(&fields, "inst")?.0))
    }

    fn name(
        &self,
        fields: &Fields<'_>,
        key: &str,
    ) -> std::result::Result<(String, usize), BadLine> {
        let default = if key == "arch" {
            &self.default.0
        } else {
            &self.default.1
        };
        match (fields.text(key)?, default) {
            (Some(found), _) => Ok(found),
            (None, Some(default)) => Ok((default.clone(), 1)),
            (None, None) => Err(bad(1, format!("key \"{key}\" is missing"))),
        }
    }

    /// Reads one line.
    ///
    /// # Errors
    /// [`BadLine`]: the column, what was found there, what was expected.
    ///
    /// ```
    /// use mmascope_io::vector::Reader;
    /// use mmascope_model::isa::Catalogue;
    /// let mut reader = Reader::new(Catalogue::built_in());
    /// let vector = reader.read(
    ///     r#"{"arch":"volta","inst":"mma.m8n8k4.f32.f16.f16.f32",
    ///         "a":"3c003c003c003c00","b":"3c003c003c003c00","c":"3f800000"}"#,
    /// ).unwrap();
    /// assert_eq!(vector.compute()?, 0x40a0_0000); // 5.0
    /// assert_eq!(reader.read(r#"{"arch":"volta"}"#).unwrap_err().column, 1);
    /// # Ok::<(), mmascope_model::Error>(())
    /// ```
    pub fn read(&mut self, line: &str) -> std::result::Result<Vector<'c>, BadLine> {
        let fields = Fields::parse(line)?;
        let id = fields.get("id").map(|id| id.get().to_owned());
        let read = |reader: &mut Self| {
            let (arch, inst) = (reader.name(&fields, "arch")?, reader.name(&fields, "inst")?);
            reader.read_fields(&fields, arch, inst)
        };
        read(self).map_err(|bad| BadLine { id, ..bad })
    }

    /// Reads one line as one of the default instruction, whatever it names.
    ///
    /// # Errors
    /// As [`Reader::read`].
    pub fn read_default(&mut self, line: &str) -> std::result::Result<Vector<'c>, BadLine> {
        let fields = Fields::parse(line)?;
        let (Some(arch), Some(inst)) = self.default.clone() else {
            return Err(bad(1, "no default architecture and instruction are set"));
        };
        self.read_fields(&fields, (arch, 1), (inst, 1))
    }

    fn read_fields(
        &mut self,
        fields: &Fields<'_>,
        (arch, arch_column): (String, usize),
        (inst, inst_column): (String, usize),
    ) -> std::result::Result<Vector<'c>, BadLine> {
        if let Some(id) = fields.get("id")
            && !id.get().bytes().all(|b| b.is_ascii_digit() || b == b'-')
        {
            return Err(bad(fields.column(id), "\"id\" must be a whole number"));
        }
        let instruction = self.instruction(arch, inst).map_err(|error| {
            let is_arch = matches!(
                &error,
                Error::Unknown {
                    what: "architecture",
                    ..
                }
            );
            let column = if is_arch { arch_column } else { inst_column };
            let unmodelled = matches!(error, Error::Unmodelled { .. });
            BadLine {
                unmodelled,
                ..bad(column, error.to_string())
            }
        })?;
        let signature = &instruction.signature;
        let chained = instruction.chained;
        let words = read_words(fields, signature, &instruction.name, chained)?;
        let modifiers = read_modifiers(fields, instruction, self.modifiers)?;
        let flags = fields.text("flags")?.map(|(flags, _)| flags);
        let d = match fields.text("d")? {
            None => None,
            Some((text, _)) if text == "nan" => Some(Answer::AnyNan),
            Some((text, column)) => Some(Answer::Word(
                hex_elements("d", &text, column, &signature.d, 1)?[0],
            )),
        };
        Ok(Vector {
            instruction,
            words,
            modifiers,
            flags,
            d,
        })
    }

    fn instruction(&mut self, arch: String, inst: String) -> Result<&'c Instruction> {
        // Hostile input may name very many instructions; the memory for them is bounded.
        if self.found.len() > 10_000 {
            self.found.clear();
        }
        let catalogue = self.catalogue;
        let names = (arch, inst);
        if let Some(found) = self.found.get(&names) {
            return found.clone();
        }
        let found = catalogue
            .find(&names.0, &names.1)
            .and_then(|instruction| instruction.unit().map(|_| instruction));
        if names.0.len().max(names.1.len()) <= LONGEST_NAME {
            self.found.insert(names, found.clone());
        }
        found
    }
}

/// Reads a line for a device of this signature. `"arch":"dut"` must carry the same signature
/// as `inst`; other names are the device's affair.
///
/// # Errors
/// As [`Reader::read`].
pub fn read_operands(
    line: &str,
    signature: &Signature,
) -> std::result::Result<OperandWords, BadLine> {
    let fields = Fields::parse(line)?;
    let id = fields.get("id").map(|id| id.get().to_owned());
    read_fields(&fields, signature).map_err(|bad| BadLine { id, ..bad })
}

fn read_fields(
    fields: &Fields<'_>,
    signature: &Signature,
) -> std::result::Result<OperandWords, BadLine> {
    if let Some(mods) = fields.get("mods") {
        return Err(bad(
            fields.column(mods),
            "a device has no operand modifiers",
        ));
    }
    if let (Some((arch, _)), Some((inst, column))) = (fields.text("arch")?, fields.text("inst")?)
        && arch == "dut"
    {
        match inst.parse::<Signature>() {
            Ok(given) if given == *signature => {}
            Ok(given) => {
                return Err(bad(
                    column,
                    format!("the device takes {signature}, not {given}"),
                ));
            }
            Err(error) => return Err(bad(column, error.to_string())),
        }
    }
    read_words(fields, signature, "the device", false)
}
