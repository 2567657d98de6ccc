//! Vector lines: one dot product as a line of JSON, recorded, asked or answered.
//!
//! `{"arch":…, "inst":…, "a":HEX, "b":HEX, "c":HEX, "d":HEX}`, with `sa`, `sb` where the
//! instruction has block scales, `mods` for operand modifiers, `id` echoed, and any other key
//! carried through. A line without `d` is a question.

mod read;
mod together;
mod write;

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

pub use read::{Line, Lines, MAX_LINE};
pub use together::compute_together;
pub use write::{answer, hex, question};

/// A question for a device: operands by its signature, whatever instruction the line names.
use crate::dpa::{Modifiers, OperandWords, Operands, Signature};
use crate::error::{Error, LONGEST_NAME, Result, shortened};
use crate::format::Format;
use crate::isa::{Catalogue, Instruction};

/// A line taken apart and checked against its instruction.
#[derive(Clone, Debug)]
pub struct Vector<'c> {
    /// The instruction that the line names.
    pub instruction: &'c Instruction,
    /// The operands.
    pub words: OperandWords,
    /// Operand modifiers.
    pub modifiers: Modifiers,
    /// Status flags as the line writes them: two hex digits.
    pub flags: Option<String>,
    /// The result, if the line has one.
    pub d: Option<Answer>,
}

/// The result that a line gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// This register word.
    Word(u64),
    /// Any NaN.
    AnyNan,
}

impl fmt::Display for Answer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => write!(out, "{word:x}"),
            Self::AnyNan => out.write_str("nan"),
        }
    }
}

/// What is wrong with a line, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Column in characters, from 1.
    pub column: usize,
    /// What was found and what was expected.
    pub message: String,
    /// The line's `id` as JSON text, if it could be read.
    pub id: Option<String>,
    /// Whether the instruction is known but has no model.
    pub unmodelled: bool,
}

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

/// An object's entries in order, values as they stand in the text.
struct Entries<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Entries<'de>;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a JSON object")
            }
            fn visit_map<M: MapAccess<'de>>(
                self,
                mut map: M,
            ) -> std::result::Result<Self::Value, M::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// A line's entries with the means to say where each stands.
struct Fields<'a> {
    line: &'a str,
    entries: Entries<'a>,
}

impl<'a> Fields<'a> {
    fn parse(line: &'a str) -> std::result::Result<Self, BadLine> {
        let entries: Entries<'a> = serde_json::from_str(line).map_err(|error| {
            // serde_json counts bytes; columns are characters.
            let bytes = error.column().saturating_sub(1).min(line.len());
            let column = 1 + line
                .char_indices()
                .take_while(|(at, _)| *at < bytes)
                .count();
            let text = error.to_string();
            let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
            bad(column, format!("not a vector line: {message}"))
        })?;
        let fields = Self { line, entries };
        let mut keys = HashSet::new();
        for (key, value) in &fields.entries.0 {
            if !keys.insert(key) {
                return Err(bad(
                    fields.column(value),
                    format!("key \"{key}\" stands twice"),
                ));
            }
        }
        Ok(fields)
    }

    fn column(&self, value: &RawValue) -> usize {
        let offset = (value.get().as_ptr() as usize).wrapping_sub(self.line.as_ptr() as usize);
        self.line
            .get(..offset)
            .map_or(1, |before| before.chars().count() + 1)
    }

    fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.entries
            .0
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| *value)
    }

    /// A string value and the column of its first character.
    fn text(&self, key: &str) -> std::result::Result<Option<(String, usize)>, BadLine> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        match serde_json::from_str(value.get()) {
            Ok(text) => Ok(Some((text, self.column(value) + 1))),
            Err(_) => Err(bad(
                self.column(value),
                format!("\"{key}\" must be a string"),
            )),
        }
    }

    fn required(&self, key: &str) -> std::result::Result<(String, usize), BadLine> {
        self.text(key)?
            .ok_or_else(|| bad(1, format!("key \"{key}\" is missing")))
    }
}

fn bad(column: usize, message: impl Into<String>) -> BadLine {
    BadLine {
        column,
        message: shortened(&message.into()),
        id: None,
        unmodelled: false,
    }
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

/// Most products of a line, where instructions are chained.
const MOST_PRODUCTS: usize = 1 << 20;

/// The operand words of a line; `chained`: a and b may have any multiple of K elements.
fn read_words(
    fields: &Fields<'_>,
    signature: &Signature,
    owner: &str,
    chained: bool,
) -> std::result::Result<OperandWords, BadLine> {
    let elements = |key: &str, format: &Format, count: usize| {
        let (text, column) = fields.required(key)?;
        hex_elements(key, &text, column, format, count)
    };
    let mut products = signature.k;
    if chained {
        let digits = fields.required("a")?.0.len();
        let count = digits / signature.a.digits();
        if count > 0 && count.is_multiple_of(signature.k) && count <= MOST_PRODUCTS {
            products = count;
        }
    }
    let a = elements("a", &signature.a, products)?;
    let b = elements("b", &signature.b, products)?;
    let c = elements("c", &signature.c, 1)?[0];
    let (mut scale_a, mut scale_b) = (Vec::new(), Vec::new());
    if let Some(scale) = signature.scale {
        scale_a = elements("sa", &scale.format, signature.scales())?;
        scale_b = elements("sb", &scale.format, signature.scales())?;
    } else if let Some((key, value)) = ["sa", "sb"]
        .iter()
        .find_map(|key| fields.get(key).map(|value| (key, value)))
    {
        let message = format!("\"{key}\": {owner} has no block scales");
        return Err(bad(fields.column(value), message));
    }
    Ok(OperandWords {
        a,
        b,
        c,
        scale_a,
        scale_b,
    })
}

fn read_modifiers(
    fields: &Fields<'_>,
    instruction: &Instruction,
    default: Modifiers,
) -> std::result::Result<Modifiers, BadLine> {
    let Some(value) = fields.get("mods") else {
        let fits = instruction.check_modifiers(&default);
        return fits
            .map(|()| default)
            .map_err(|error| bad(1, error.to_string()));
    };
    let mut modifiers = Modifiers::default();
    let column = fields.column(value);
    let text = value.get();
    let names: Vec<String> = match serde_json::from_str::<String>(text) {
        // One string is taken as well: "negA noC".
        Ok(words) => words
            .split([' ', ','])
            .filter(|w| !w.is_empty())
            .map(str::to_owned)
            .collect(),
        Err(_) => serde_json::from_str(text)
            .map_err(|_| bad(column, "\"mods\" must be a list of strings, or one string"))?,
    };
    for name in names {
        modifiers
            .add(&name)
            .map_err(|error| bad(column, error.to_string()))?;
    }
    instruction
        .check_modifiers(&modifiers)
        .map_err(|error| bad(column, error.to_string()))?;
    Ok(modifiers)
}

/// Splits a string of hex digits into register words.
fn hex_elements(
    key: &str,
    text: &str,
    column: usize,
    format: &Format,
    count: usize,
) -> std::result::Result<Vec<u64>, BadLine> {
    let digits = format.digits();
    if let Some(at) = text.chars().position(|c| !c.is_ascii_hexdigit()) {
        let found: String = text.chars().skip(at).take(1).collect();
        return Err(bad(
            column + at,
            format!("\"{key}\": '{found}' is no hexadecimal digit"),
        ));
    }
    if text.len() != count * digits {
        let message = format!(
            "\"{key}\" has {} digits; {count} × {digits} are needed ({count} of {format})",
            text.len()
        );
        return Err(bad(column, message));
    }
    let mut words = Vec::with_capacity(count);
    for index in 0..count {
        let at = index * digits;
        let part = &text[at..at + digits];
        let Ok(word) = u64::from_str_radix(part, 16) else {
            return Err(bad(
                column + at,
                format!("\"{key}\": '{part}' is no hexadecimal number"),
            ));
        };
        // A line is written by people and programs: bits beside a signed code are a mistake there.
        let too_wide = format.register.shift == 0 && format.signed && word > format.mask();
        if too_wide {
            let message = format!(
                "\"{key}\": {part} does not fit the {} bits of {format}",
                format.bits
            );
            return Err(bad(column + at, message));
        }
        words.push(word);
    }
    Ok(words)
}

impl Vector<'_> {
    /// The operands, for [`Instruction::dot`].
    #[must_use]
    pub fn operands(&self) -> Operands<'_> {
        self.words.operands()
    }

    /// What the model computes.
    ///
    /// # Errors
    /// [`Error::Unmodelled`] when there is no model.
    pub fn compute(&self) -> Result<u64> {
        self.instruction.dot(&self.operands(), &self.modifiers)
    }

    /// The same with the bits of the status register that the result sets, where one is known.
    ///
    /// # Errors
    /// [`Error::Unmodelled`] when there is no model.
    pub fn compute_with_flags(&self) -> Result<(u64, Option<u8>)> {
        (self.instruction).dot_with_flags(&self.operands(), &self.modifiers)
    }

    /// Whether the line is one instruction, not a chain of them.
    #[must_use]
    pub fn is_single(&self) -> bool {
        self.words.a.len() == self.instruction.signature.k
    }

    /// Whether `got` is the line's result. A line without a result agrees with nothing.
    ///
    /// # Errors
    /// [`Error::Unmodelled`] when there is no model.
    pub fn agrees(&self, got: u64) -> Result<bool> {
        let unit = self.instruction.unit()?;
        Ok(match self.d {
            None => false,
            Some(Answer::AnyNan) => unit.is_nan(got),
            Some(Answer::Word(expected)) => unit.agrees(expected, got),
        })
    }

    /// A result as the line writes it: hex digits, or `nan` where the NaN's payload is not known.
    ///
    /// # Errors
    /// [`Error::Unmodelled`] when there is no model.
    pub fn answer_text(&self, d: u64) -> Result<String> {
        Ok(answer(self.instruction.unit()?, d))
    }
}

/// The line with its `d` set to `answer`; every other key stays as it is, in its order.
///
/// # Errors
/// [`BadLine`] when the line is no JSON object.
pub fn with_answer(line: &str, answer: &str) -> std::result::Result<String, BadLine> {
    with_key(line, "d", &serde_json::Value::from(answer))
}

/// The line with its `flags` set; every other key stays as it is, in its order.
///
/// # Errors
/// [`BadLine`] when the line is no JSON object.
pub fn with_flags(line: &str, flags: u8) -> std::result::Result<String, BadLine> {
    let text = format!("{flags:02x}");
    with_key(line, "flags", &serde_json::Value::from(text))
}

/// The line with these modifiers, where it has none of its own: what [`Reader::with_modifiers`] takes it for.
///
/// # Errors
/// [`BadLine`] when the line is no JSON object.
pub fn with_modifiers(line: &str, modifiers: &Modifiers) -> std::result::Result<String, BadLine> {
    let words = modifiers.words();
    if words.is_empty() || Fields::parse(line)?.get("mods").is_some() {
        return Ok(line.to_owned());
    }
    with_key(line, "mods", &serde_json::Value::from(words))
}

/// The line with one key set, which stands last.
fn with_key(
    line: &str,
    set: &str,
    value: &serde_json::Value,
) -> std::result::Result<String, BadLine> {
    let fields = Fields::parse(line)?;
    let mut out = String::with_capacity(line.len() + 24);
    let kept = fields.entries.0.iter().filter(|(key, _)| key != set);
    for (key, value) in kept {
        out.push(if out.is_empty() { '{' } else { ',' });
        out.push_str(&serde_json::Value::from(key.as_str()).to_string());
        out.push(':');
        out.push_str(value.get());
    }
    out.push(if out.is_empty() { '{' } else { ',' });
    out.push_str(&format!("\"{set}\":{value}}}"));
    Ok(out)
}
