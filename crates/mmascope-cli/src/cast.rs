//! `mmascope cast`: values and arrays from one format to another.

use std::io::Write;

use serde_json::{Map, Value, json};

use crate::args::{self, Common};
use crate::interrupt;
use crate::report::{self, Failure, Status};
use crate::table::Table;
use crate::terminal;
use mmascope::array::{self, Casting, Words};
use mmascope::cast;
use mmascope::explain;
use mmascope::format::{Format, Kind, Overflow, Rounding, Specials};
use mmascope::isa::Catalogue;
use mmascope::precision::cast::{
    Cast, CastOptions, CastPolicy, NanRule, OutOfRange, Packing, RandomBits, Shown, decimal,
    lane_names, ptx,
};

pub(crate) fn run(
    catalogue: &Catalogue,
    common: &Common,
    options: &args::Cast,
) -> Result<Status, Failure> {
    let asked = options.to.iter().map(|to| Asked::new(options, to));
    let asked: Vec<Asked> = asked.collect::<Result<_, _>>()?;
    match (&options.input, &options.output, &asked[..]) {
        (None, Some(output), _) => Err(Failure::Input(format!(
            "-o {output}: codes of an array go there, from --input X.npy; the results of VALUE are printed"
        ))),
        (Some(input), Some(output), [only]) => only.file(catalogue, common, input, output),
        (Some(_), Some(output), _) => Err(Failure::Input(format!(
            "--to {}: the codes of one format go to -o {output}",
            options.to.join(",")
        ))),
        _ => values(catalogue, common, &asked, &options.values),
    }
}

/// Casts values to each of the formats.
fn values(
    catalogue: &Catalogue,
    common: &Common,
    asked: &[Asked],
    values: &[String],
) -> Result<Status, Failure> {
    let casts = asked.iter().map(|cast| cast.values(values));
    let casts: Vec<Values> = casts.collect::<Result<_, _>>()?;
    let each = asked.iter().zip(&casts);
    if common.json() {
        let bodies = each.map(|(cast, values)| cast.json(values)).collect();
        report::print_json(catalogue, report::one_or_list(bodies, "casts"))?;
        return Ok(Status::Done);
    }
    let mut out = terminal::out();
    for (index, (cast, values)) in each.enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        cast.print(&mut out, values)?;
    }
    Ok(Status::Done)
}

/// A cast as it was asked for.
struct Asked {
    cast: Cast,
    random: Option<RandomBits>,
    packing: Option<Packing>,
}

/// Values with what became of them, and the registers that they make with `--packed`.
struct Values {
    rows: Vec<Row>,
    packed: Option<Vec<u64>>,
}

/// One value and what became of it.
struct Row {
    /// The value as it was written.
    given: String,
    word: u64,
    out: u64,
    is_exact: bool,
    /// What the other reading of shared random bits gives, where it differs.
    otherwise: Option<u64>,
    /// The source does not hold the written value.
    rounded: bool,
}

fn named<T>(argument: &str, result: mmascope::Result<T>) -> Result<T, Failure> {
    result.map_err(|error| Failure::Input(format!("{argument}: {}", report::told(&error))))
}

impl Asked {
    fn new(options: &args::Cast, to: &str) -> Result<Self, Failure> {
        let arguments = format!("--from {} --to {to}", options.from);
        let from = named("--from", Format::named(&options.from))?;
        let to = named("--to", Format::named(to))?;
        let packing = match &options.packed {
            Some(name) => Some(named("--packed", Packing::named(name))?),
            None => None,
        };
        let random = match &options.random_bits {
            Some(text) => {
                let bits = RandomBits::parse(text, &to, packing.is_some());
                Some(named("--random-bits", bits)?)
            }
            None => None,
        };
        let rounding = rounding(options.round.as_deref(), random, &to)?;
        let policy = match &options.policy {
            Some(name) => Some(named("--policy", CastPolicy::named(name))?),
            None => None,
        };
        let overflow = match &options.overflow {
            Some(name) => Some(named("--overflow", OutOfRange::named(name))?),
            None => None,
        };
        let asked = CastOptions {
            rounding,
            overflow,
            policy,
            relu: options.relu,
            sat: options.sat,
            ftz: options.ftz,
            pzo: options.pzo,
        };
        let cast = named(&arguments, Cast::new(from, to, &asked))?;
        let conversion = Self {
            cast,
            random,
            packing,
        };
        if let Some(target) = &options.target {
            conversion.check_target(target)?;
        }
        Ok(conversion)
    }

    /// The result of a word at a place, and the other one where the random bits leave two.
    fn one(&self, place: usize, word: u64) -> (u64, Option<u64>) {
        let Some(random) = self.random else {
            return (self.cast.word(word), None);
        };
        let (slice, reversed) = random.of(self.cast.to(), place);
        let out = self.cast.with_random(slice).word(word);
        let otherwise = reversed.map(|slice| self.cast.with_random(slice).word(word));
        (out, otherwise.filter(|other| *other != out))
    }

    fn row(&self, place: usize, given: &str) -> Result<Row, Failure> {
        let (from, to) = (self.cast.from(), self.cast.to());
        let given = &args::as_written(given);
        let word = explain::word_of("VALUE", given, from, true)?;
        // (Units ignore bits beside a scale's code; a cast has no use for them.)
        if from.register.shift == 0 && word > from.mask() {
            return Err(Failure::Input(format!(
                "VALUE = {given} does not fit the {} bits of {from}",
                from.bits
            )));
        }
        let rounded = explain::word_of("VALUE", given, from, false).is_err();
        let (out, otherwise) = self.one(place, word);
        let codes = (from.from_register(word), to.from_register(out));
        Ok(Row {
            given: given.to_owned(),
            word,
            out,
            is_exact: self.cast.is_exact(codes.0, codes.1),
            otherwise,
            rounded,
        })
    }

    fn values(&self, values: &[String]) -> Result<Values, Failure> {
        let rows: Vec<Row> = (0..)
            .zip(values)
            .map(|(place, given)| self.row(place, given))
            .collect::<Result<_, _>>()?;
        let packed = self.packed(&rows)?;
        Ok(Values { rows, packed })
    }

    fn json(&self, values: &Values) -> Map<String, Value> {
        let mut body = self.summary();
        let results: Vec<Value> = values.rows.iter().map(|row| self.row_json(row)).collect();
        body.insert("results".into(), results.into());
        if let Some(packed) = &values.packed {
            let registers: Vec<String> = packed.iter().map(|it| self.register(*it)).collect();
            body.insert("packed".into(), registers.into());
        }
        body.insert("notes".into(), self.notes().into());
        body
    }

    fn print(&self, out: &mut impl Write, values: &Values) -> Result<(), Failure> {
        let to = self.cast.to();
        writeln!(out, "{}", self.words())?;
        let mut table = Table::new(&["in", "value", "out", "value", ""]);
        for row in &values.rows {
            let exact = if row.is_exact { "exact" } else { "rounded" };
            let also = row.otherwise.map_or(String::new(), |other| {
                format!(", or {} (bits reversed)", hex(to, other))
            });
            let written = if row.rounded {
                format!(" ({})", row.given)
            } else {
                String::new()
            };
            table.add_row([
                hex(self.cast.from(), row.word),
                format!("{}{written}", decimal(self.cast.from(), row.word)),
                hex(to, row.out),
                decimal(to, row.out),
                format!("{exact}{also}"),
            ]);
        }
        writeln!(out, "{}", table)?;
        for register in values.packed.iter().flatten() {
            writeln!(out, "packed {}", self.register(*register))?;
        }
        for note in self.notes() {
            writeln!(out, "note: {note}")?;
        }
        Ok(())
    }

    fn file(
        &self,
        catalogue: &Catalogue,
        common: &Common,
        input: &str,
        output: &str,
    ) -> Result<Status, Failure> {
        if output == "-" {
            return Err(Failure::Input("-o -: codes go to an .npy file".into()));
        }
        array::check_writable(output).map_err(|error| Failure::Input(format!("-o {error}")))?;
        let array = named("--input", array::read(input))?;
        let (from, to) = (self.cast.from(), self.cast.to());
        // A number that the source format does not hold is refused, as VALUE is; no option clamps here.
        let casting = Casting::default();
        let words = array.words(from, &casting).map_err(|error| {
            Failure::Input(format!("--input: {}", report::told_unclamped(&error)))
        })?;
        let cancel = interrupt::deferred();
        let results = match self.random {
            None => cast::words(&self.cast, &words)?,
            Some(_) => {
                let each = (0..)
                    .zip(words.iter())
                    .map(|(place, word)| self.one(place, word).0);
                Words::of(to, each)?
            }
        };
        let pairs = words.iter().zip(results.iter());
        let inexact = pairs
            .filter(|(word, out)| {
                let codes = (from.from_register(*word), to.from_register(*out));
                !self.cast.is_exact(codes.0, codes.1)
            })
            .count();
        array::write_codes(output, array.shape(), to, results.iter(), cancel)?;
        let reading = array.reading(from, &casting);
        if let Some(warning) = &reading.warning {
            report::tell(format_args!("warning: --input: {warning}"));
        }
        if common.json() {
            let mut body = self.summary();
            body.insert("input".into(), input.into());
            body.insert("read".into(), reading.words.into());
            body.insert("output".into(), output.into());
            body.insert("shape".into(), json!(array.shape()));
            body.insert("elements".into(), words.len().into());
            body.insert("inexact".into(), inexact.into());
            body.insert("notes".into(), self.notes().into());
            report::print_json(catalogue, body)?;
            return Ok(Status::Done);
        }
        let mut out = terminal::out();
        writeln!(out, "{}", self.words())?;
        writeln!(out, "input   {input}: {}", reading.words)?;
        let count = words.len();
        writeln!(
            out,
            "output  {output}: {count} codes of {to}, {inexact} not exact"
        )?;
        for note in self.notes() {
            writeln!(out, "note: {note}")?;
        }
        Ok(Status::Done)
    }

    /// The registers that groups of results make.
    fn packed(&self, rows: &[Row]) -> Result<Option<Vec<u64>>, Failure> {
        let Some(packing) = self.packing else {
            return Ok(None);
        };
        let count = packing.count();
        if !rows.len().is_multiple_of(count) {
            let lanes = lane_names(packing).join(", ");
            return Err(Failure::Input(format!(
                "--packed: {} values; a multiple of {count} is needed ({lanes})",
                rows.len()
            )));
        }
        let words: Vec<u64> = rows.iter().map(|row| row.out).collect();
        let registers = words
            .chunks(count)
            .map(|group| packing.pack(self.cast.to(), group));
        Ok(Some(named("--packed", registers.collect())?))
    }

    fn register(&self, register: u64) -> String {
        let lanes = self.packing.map_or(1, Packing::count);
        let digits = self.cast.to().digits() * lanes;
        format!("{register:0digits$x}")
    }

    /// The cast in words.
    fn words(&self) -> String {
        let cast = &self.cast;
        let by = match (self.form(), cast.form()) {
            (Some(form), _) => format!("{form} ({})", form.targets),
            (None, Some(form)) => format!(
                "{form} ({}), which PTX does not pack {}",
                form.targets,
                self.packing.map_or("", Packing::name)
            ),
            (None, None) => format!("policy {}", cast.policy()),
        };
        format!(
            "{} -> {}: round {}, overflow {}, {by}",
            cast.from(),
            cast.to(),
            cast.rounding(),
            overflow_name(cast)
        )
    }

    /// The instruction of PTX; with `--packed` the packed one.
    fn form(&self) -> Option<ptx::PtxForm> {
        let form = *self.cast.form()?;
        match self.packing {
            Some(packing) => form.packed(packing),
            None => Some(form),
        }
    }

    fn check_target(&self, target: &str) -> Result<(), Failure> {
        let Some(form) = self.form() else {
            return Err(Failure::Input(format!(
                "--target {target}: PTX has no such cvt on any target"
            )));
        };
        match named("--target", form.targets.include(target))? {
            true => Ok(()),
            false => Err(Failure::Input(format!(
                "--target {target} has no {form}; it is there on {}",
                form.targets
            ))),
        }
    }

    fn summary(&self) -> Map<String, Value> {
        let cast = &self.cast;
        let mut body = Map::new();
        body.insert("from".into(), cast.from().name.into());
        body.insert("to".into(), cast.to().name.into());
        body.insert("round".into(), cast.rounding().to_string().into());
        body.insert("overflow".into(), overflow_name(cast).into());
        body.insert("policy".into(), cast.policy().name().into());
        let form = self.form();
        let instruction = form.map(|form| form.to_string());
        body.insert("instruction".into(), json!(instruction));
        let targets = form.map(|form| form.targets.to_string());
        body.insert("targets".into(), json!(targets));
        body
    }

    fn row_json(&self, row: &Row) -> Value {
        let (from, to) = (self.cast.from(), self.cast.to());
        let mut json = json!({
            "given": row.given,
            "in": hex(from, row.word),
            "out": hex(to, row.out),
            "value": number(to, row.out),
            "exact": row.is_exact,
        });
        if let Some(other) = row.otherwise {
            json["out_if_bits_reversed"] = hex(to, other).into();
        }
        json
    }

    /// What is not established, or known of one chip only.
    fn notes(&self) -> Vec<String> {
        let cast = &self.cast;
        let (from, to) = (cast.from(), cast.to());
        let mut notes = Vec::new();
        if matches!(self.random, Some(RandomBits::Register(_)))
            && Packing::of_random(to) == Some(Packing::X4)
        {
            notes.push(
                "the two values that share random bits read them in opposite order; which of them \
                 reads them reversed is not established: every value here reads them forward"
                    .to_owned(),
            );
        }
        if cast.form().is_some() && cast.nan_rule().is_some_and(NanRule::keeps_payload) {
            notes.push(
                "PTX does not say which NaN a NaN becomes; sign and payload here are those of an \
                 H200 (sm_90)"
                    .to_owned(),
            );
        }
        let clamps = matches!(to.kind, Kind::Fixed { scale: 0 }) && from.float().is_some();
        if clamps && matches!(cast.policy(), CastPolicy::MlDtypes | CastPolicy::Host) {
            notes.push(format!(
                "{} leaves values beyond {to} undefined; they clamp here, and NaN follows PTX or is 0",
                cast.policy()
            ));
        }
        notes
    }
}

/// The rounding of that name; random bits make it stochastic.
fn rounding(
    name: Option<&str>,
    random: Option<RandomBits>,
    to: &Format,
) -> Result<Option<Rounding>, Failure> {
    const PTX: [(&str, Rounding); 7] = [
        ("rn", Rounding::Rne),
        ("rni", Rounding::Rne),
        ("rzi", Rounding::Rz),
        ("rm", Rounding::Rd),
        ("rmi", Rounding::Rd),
        ("rp", Rounding::Ru),
        ("rpi", Rounding::Ru),
    ];
    match (name, random) {
        (None | Some("rs"), Some(random)) => Ok(Some(random.of(to, 0).0.rounding())),
        (Some("rs"), None) => Err(Failure::Input(
            "--round rs: stochastic rounding needs its random bits, --random-bits HEX".into(),
        )),
        (Some(name), Some(_)) => Err(Failure::Input(format!(
            "--round {name} with --random-bits: random bits are for --round rs"
        ))),
        (Some(name), None) => {
            if let Some((_, rounding)) = PTX.iter().find(|(known, _)| *known == name) {
                return Ok(Some(*rounding));
            }
            named("--round", Rounding::named(name)).map(Some)
        }
        (None, None) => Ok(None),
    }
}

/// What becomes of values beyond the largest of a format: one without infinities has NaN in their place.
fn overflow_name(cast: &Cast) -> &'static str {
    let specials = cast.to().float().map(|float| float.specials);
    match (cast.overflow(), specials) {
        (Overflow::Ieee, Some(Specials::AllOnesNan | Specials::NegativeZeroNan)) => {
            match cast.rounding() {
                Rounding::Rz | Rounding::Odd => "satfinite, infinities not",
                Rounding::Ru if !cast.to().signed => "nan",
                Rounding::Ru | Rounding::Rd => "nan, satfinite on the other side",
                _ => "nan",
            }
        }
        (Overflow::Infinity, Some(Specials::AllOnesNan | Specials::NegativeZeroNan)) => "nan",
        (Overflow::Ieee | Overflow::Infinity, Some(Specials::None)) => "satfinite",
        (Overflow::Ieee | Overflow::Infinity, _) => "ieee",
        (Overflow::Nan | Overflow::NanFinite, _) => "nan",
        (Overflow::Saturate, _) => "satfinite",
        (Overflow::SaturateFinite, _) => "satfinite, infinities not",
    }
}

fn hex(format: &Format, word: u64) -> String {
    let digits = format.digits();
    format!("{word:0digits$x}")
}

/// A word's value as a JSON number; a text where JSON has none.
fn number(format: &Format, word: u64) -> Value {
    match Shown::of(format, word) {
        Shown::Unsigned(value) => value.into(),
        Shown::Negative(value) => value.into(),
        Shown::Float(value) => value.into(),
        Shown::Special(words) => words.into(),
    }
}
