//! Writes cases as files for `$readmemh`: a testbench reads them without a parser.
//!
//! A file for each operand, a line for each case, the words of a case (k ascending) with a space between. `count.hex`
//! holds the number of cases, `any_nan.hex` a 1 where every NaN is right, and `manifest.json` says what it all is.

use std::fs::File;
use std::io::{BufWriter, Write};

use serde_json::{Map, Value, json};

use crate::output::Folder;
use crate::report::{self, Failure};
use crate::terminal;
use mmascope::dpa::Operands;
use mmascope::format::Format;
use mmascope::isa::{Catalogue, Instruction};

const COUNT: &str = "count.hex";
const ANY_NAN: &str = "any_nan.hex";
const MANIFEST: &str = "manifest.json";
/// The files of words: a, b, c, the scales, d.
const WORDS: [&str; 6] = ["a", "b", "c", "scale_a", "scale_b", "d"];

/// Whether a file of this name is one that is written here.
pub(crate) fn is_own(name: &str) -> bool {
    let is_words = name
        .strip_suffix(".hex")
        .is_some_and(|name| WORDS.contains(&name));
    is_words || [COUNT, ANY_NAN, MANIFEST].contains(&name)
}

/// One case with its result.
pub(crate) struct Case<'a> {
    pub(crate) operands: Operands<'a>,
    pub(crate) d: u64,
    /// Any NaN is right, whatever the word of `d`.
    pub(crate) any_nan: bool,
}

/// The files of one kind of word.
struct Words {
    name: &'static str,
    format: Format,
    /// Words of a case.
    count: usize,
    file: BufWriter<File>,
}

/// A folder of files for `$readmemh`, being written.
pub(crate) struct Memories<'c> {
    row: &'c Instruction,
    /// The folder's name as the user gave it.
    name: String,
    folder: Folder,
    words: Vec<Words>,
    any_nan: BufWriter<File>,
    cases: u64,
}

impl<'c> Memories<'c> {
    /// Begins the folder for the cases of a row.
    pub(crate) fn create(row: &'c Instruction, name: &str) -> Result<Self, Failure> {
        let folder = Folder::create("-o", name, &is_own)?;
        let signature = &row.signature;
        let scale = signature.scale.map(|scale| scale.format);
        let kinds = [
            (Some(signature.a), signature.k),
            (Some(signature.b), signature.k),
            (Some(signature.c), 1),
            (scale, signature.scales()),
            (scale, signature.scales()),
            (Some(signature.d), 1),
        ];
        let mut words = Vec::new();
        for (kind, (format, count)) in WORDS.into_iter().zip(kinds) {
            if let Some(format) = format {
                words.push(Words {
                    name: kind,
                    format,
                    count,
                    file: folder.file(&format!("{kind}.hex"))?,
                });
            }
        }
        Ok(Self {
            row,
            name: name.to_owned(),
            any_nan: folder.file(ANY_NAN)?,
            folder,
            words,
            cases: 0,
        })
    }

    /// Adds a case.
    pub(crate) fn push(&mut self, case: &Case<'_>) -> Result<(), Failure> {
        self.cases += 1;
        self.written(case)
            .map_err(|error| self.folder.failed(&error))
    }

    fn written(&mut self, case: &Case<'_>) -> std::io::Result<()> {
        let operands = &case.operands;
        for words in &mut self.words {
            let values = match words.name {
                "a" => operands.a,
                "b" => operands.b,
                "c" => &[operands.c][..],
                "scale_a" => operands.scale_a,
                "scale_b" => operands.scale_b,
                _ => &[case.d][..],
            };
            let width = words.format.digits();
            for (index, value) in values.iter().enumerate() {
                let before = if index == 0 { "" } else { " " };
                write!(words.file, "{before}{value:0width$x}")?;
            }
            writeln!(words.file)?;
        }
        writeln!(self.any_nan, "{}", u8::from(case.any_nan))
    }

    /// Writes the number of cases and the manifest, with where the cases are from, and gives the folder its name.
    pub(crate) fn finish(self, catalogue: &Catalogue, source: Value) -> Result<(), Failure> {
        let told = format!("{} cases in {}", self.cases, self.name);
        let mut count = self.folder.file(COUNT)?;
        let mut manifest = self.folder.file(MANIFEST)?;
        let text = report::json_text(catalogue, self.manifest(source)?)?;
        writeln!(count, "{:08x}", self.cases)
            .and_then(|()| writeln!(manifest, "{text}"))
            .map_err(|error| self.folder.failed(&error))?;
        let mut files: Vec<_> = self.words.into_iter().map(|words| words.file).collect();
        files.extend([self.any_nan, count, manifest]);
        self.folder.finish(files)?;
        report::unless_closed(writeln!(terminal::out(), "{told}").map_err(Failure::from))
    }

    fn manifest(&self, source: Value) -> Result<Map<String, Value>, Failure> {
        let file = |words: &Words| {
            json!({
                "file": format!("{}.hex", words.name),
                "format": words.format.to_string(),
                "bits": words.format.digits() * 4,
                "words": words.count,
            })
        };
        let files: Vec<Value> = self.words.iter().map(file).collect();
        let body = json!({
            "format": "readmemh",
            "arch": self.row.architecture,
            "inst": self.row.name,
            "signature": self.row.signature.to_string(),
            "arithmetic": self.row.unit()?.program().to_string(),
            "k": self.row.signature.k,
            "cases": self.cases,
            "files": files,
            "any_nan": ANY_NAN,
            "count": COUNT,
            "source": source,
        });
        Ok(body.as_object().cloned().unwrap_or_default())
    }
}
