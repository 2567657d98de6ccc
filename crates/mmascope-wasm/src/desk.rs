//! The desk: takes questions of the explorer and answers them.

mod bits;
mod casts;
mod compute;
mod matrices;
mod reveal;
mod units;

use mmascope_gemm::array::Array;
use mmascope_lab::cases::{Family, Generator};
use mmascope_model::isa::{Catalogue, Instruction};
use mmascope_model::{Error, Result};
use serde::Deserialize;
use serde_json::{Value, json};

/// A question.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
enum Request {
    /// What there is to choose from.
    About,
    /// Units whose names are like a text.
    Suggest { text: String },
    /// What a unit takes and gives.
    Unit { unit: String },
    /// The results of operands on units.
    Compute(compute::Question),
    /// A generated case.
    Draw {
        unit: String,
        family: String,
        seed: u64,
        index: u64,
    },
    /// The bits of a word.
    Bits { format: String, word: String },
    /// The word with one bit changed.
    Flip {
        format: String,
        word: String,
        bit: u32,
    },
    /// A cast.
    Cast(casts::Question),
    /// The file that follows is a matrix.
    Array { name: String, file: String },
    /// No matrix of this name any more.
    Drop { name: String },
    /// The product of the matrices.
    Product { units: Vec<String> },
    /// The operands of the step that decides an element.
    Element {
        units: Vec<String>,
        row: usize,
        column: usize,
    },
    /// Finds a unit's summation tree.
    Reveal { unit: String },
    /// The picture of one of its steps.
    Step { index: usize },
    /// The texts that the site's catalogue has beside the shipped ones.
    Base { texts: Vec<String> },
    /// A text in the notation of the catalogue.
    Load { text: String },
}

/// What is remembered between questions: the catalogue with the reader's own units, matrices, the last revelation.
#[derive(Default)]
pub struct Desk {
    base: Option<Catalogue>,
    own: Option<Catalogue>,
    arrays: [Option<Array>; 3],
    revealed: Option<reveal::Revealed>,
}

impl Desk {
    /// Answers a question in JSON, with the bytes of a file where it comes with one. The answer is JSON; what cannot be
    /// answered is an object with `error`.
    #[must_use]
    pub fn answer(&mut self, question: &str, file: &[u8]) -> String {
        let answered = serde_json::from_str(question)
            .map_err(|error| Error::Argument(format!("question: {error}")))
            .and_then(|request| self.answered(request, file));
        match answered {
            Ok(value) => value.to_string(),
            Err(error) => error_json(&error).to_string(),
        }
    }

    fn answered(&mut self, request: Request, file: &[u8]) -> Result<Value> {
        match request {
            Request::About => Ok(self.about()),
            Request::Suggest { text } => {
                Ok(json!({"units": units::suggestions(self.catalogue(), &text)}))
            }
            Request::Unit { unit } => self.find(&unit).map(units::describe),
            Request::Compute(question) => compute::run(self.catalogue(), &question),
            Request::Draw {
                unit,
                family,
                seed,
                index,
            } => self.draw(&unit, &family, seed, index),
            Request::Bits { format, word } => bits::bits(&self.format(&format)?, &word),
            Request::Flip { format, word, bit } => bits::flip(&self.format(&format)?, &word, bit),
            Request::Cast(question) => casts::run(self, &question),
            Request::Array { name, file: title } => self.take(&name, &title, file),
            Request::Drop { name } => {
                *self.place(&name)? = None;
                Ok(json!({}))
            }
            Request::Product { units } => matrices::product(self, &units),
            Request::Element { units, row, column } => matrices::element(self, &units, row, column),
            Request::Reveal { unit } => {
                let found = reveal::Revealed::of(self.find(&unit)?)?;
                let body = found.json();
                self.revealed = Some(found);
                Ok(body)
            }
            Request::Step { index } => match &self.revealed {
                Some(revealed) => revealed.step(index),
                None => Err(Error::Argument("step: nothing was revealed".to_owned())),
            },
            Request::Base { texts } => {
                let mut catalogue = Catalogue::built_in().clone();
                for text in &texts {
                    catalogue.extend("text of the site", text)?;
                }
                (self.base, self.own) = (Some(catalogue), None);
                Ok(json!({}))
            }
            Request::Load { text } => self.load(&text),
        }
    }

    fn catalogue(&self) -> &Catalogue {
        self.own.as_ref().unwrap_or(self.site())
    }

    /// The catalogue of the site, without the reader's own units.
    fn site(&self) -> &Catalogue {
        self.base.as_ref().unwrap_or(Catalogue::built_in())
    }

    /// The instruction of `ARCH:INST`.
    fn find(&self, unit: &str) -> Result<&Instruction> {
        units::find(self.catalogue(), unit)
    }

    fn format(&self, name: &str) -> Result<mmascope_model::format::Format> {
        let declared = self.catalogue().declared_formats();
        match declared.iter().find(|format| format.name == name) {
            Some(format) => Ok(*format),
            None => mmascope_model::format::Format::named(name),
        }
    }

    fn about(&self) -> Value {
        let architectures: Vec<Value> = self
            .catalogue()
            .architectures()
            .iter()
            .map(|it| json!({"name": it.name, "title": it.title}))
            .collect();
        let formats = mmascope_model::format::FORMATS.iter();
        let formats = formats.chain(self.catalogue().declared_formats());
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "catalogue": self.catalogue().hash(),
            "architectures": architectures,
            "formats": formats.map(|format| format.name).collect::<Vec<_>>(),
            "families": Family::ALL.map(Family::name),
            "roundings": casts::ROUNDINGS,
            "policies": casts::POLICIES,
            "overflows": mmascope_model::precision::cast::OutOfRange::names().collect::<Vec<_>>(),
            "style": mmascope_model::explain::fragment_style(),
        })
    }

    fn draw(&self, unit: &str, family: &str, seed: u64, index: u64) -> Result<Value> {
        let row = self.find(unit)?;
        let generator = Generator::for_unit(Family::named(family)?, seed, row.unit()?)?;
        Ok(compute::operands_json(
            &row.signature,
            &generator.case(index).operands(),
        ))
    }

    fn place(&mut self, name: &str) -> Result<&mut Option<Array>> {
        let names = ["A", "B", "C"];
        let at = names.iter().position(|known| *known == name);
        let at = at.ok_or_else(|| Error::unknown("matrix", name, names))?;
        Ok(&mut self.arrays[at])
    }

    /// Takes a file's bytes for a matrix.
    fn take(&mut self, name: &str, title: &str, file: &[u8]) -> Result<Value> {
        let place = self.place(name)?;
        let array = matrices::read(title, file)?;
        let shape = array.shape().to_vec();
        let body = json!({"name": name, "file": title, "shape": shape, "type": array.dtype()});
        *place = Some(array);
        Ok(body)
    }

    /// Takes units in the notation of the catalogue; they stay until the next text.
    fn load(&mut self, text: &str) -> Result<Value> {
        const FILE: &str = "own unit";
        let mut catalogue = self.site().clone();
        catalogue.extend(FILE, text)?;
        let units: Vec<String> = catalogue
            .instructions()
            .filter(|row| row.position.file == FILE)
            .map(|row| format!("{}:{}", row.architecture, row.name))
            .collect();
        self.own = (!text.trim().is_empty()).then_some(catalogue);
        Ok(json!({"units": units}))
    }
}

/// An error for the page: its message and, where it has one, its place in the text.
fn error_json(error: &Error) -> Value {
    match error {
        Error::Text { position, message } => {
            json!({"error": message, "line": position.line, "column": position.column})
        }
        Error::Unknown { nearest, .. } => json!({"error": error.to_string(), "nearest": nearest}),
        other => json!({"error": other.to_string()}),
    }
}
