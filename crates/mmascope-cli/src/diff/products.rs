//! `mmascope diff A B`: the same product on several units, output by output; `--results`: D computed elsewhere.

mod map;
mod page;

use std::io::Write;

use serde_json::{Map, Value, json};

use crate::args::{Common, Diff, Matmul};
use crate::interrupt;
use crate::layout;
use crate::matmul::{self, Prepared};
use crate::report::{self, Failure, Status};
use crate::table::Table;
use crate::terminal;
use crate::units::{self, Types};
use crate::walk::{Chain, Walk};
use mmascope::array::{self, Casting, Words};
use mmascope::diff::{self, Outputs, Place, Verdict};
use mmascope::explain::TracedValue;
use mmascope::format::Format;
use mmascope::gemm::{ScheduledProduct, Watch};
use mmascope::isa::{Catalogue, Instruction};

/// Digits of numbers beside their words.
const DIGITS: usize = 9;

/// D of a unit, or of a file.
struct Side<'c> {
    name: String,
    row: Option<&'c Instruction>,
    words: Words,
    format: Format,
    /// The batch, M and N.
    shape: [usize; 3],
    /// The product, where it is a plain chain of the unit.
    chain: Option<Prepared<'c>>,
}

/// Two of them, compared.
struct Compared {
    left: usize,
    right: usize,
    outputs: Outputs,
    /// The chain of the first output that differs, where both are plain chains of units.
    walk: Option<Walk>,
}

impl Compared {
    /// The first k and the last one between two places where both units end a step, in which the first output that differs parts.
    fn parting(&self) -> Option<(usize, usize)> {
        let walk = self.walk.as_ref()?;
        walk.parting.map(|parting| parting.k)
    }
}

impl Side<'_> {
    fn index(&self, [batch, row, column]: Place) -> usize {
        let [_, m, n] = self.shape;
        (batch * m + row) * n + column
    }

    /// An output as its word, in hexadecimal.
    fn word(&self, place: Place) -> String {
        let digits = self.format.register.bits.div_ceil(4) as usize;
        format!("{:0digits$x}", self.words.get(self.index(place)))
    }

    /// An output as a number.
    fn decimal(&self, place: Place) -> String {
        let word = self.words.get(self.index(place));
        TracedValue::of_word(&self.format.container(), word).decimal_of(DIGITS)
    }

    /// Whether the payload of a NaN of the unit is not known.
    fn has_any_nan(&self) -> Result<bool, Failure> {
        match self.row {
            Some(row) => Ok(!row.unit()?.program().nan_is_known()),
            None => Ok(false),
        }
    }
}

pub(super) fn run(
    catalogue: &Catalogue,
    common: &Common,
    options: &Diff,
) -> Result<Status, Failure> {
    let sides = match options.results {
        true => results(options)?,
        false => computed(catalogue, options)?,
    };
    let shape = sides[0].shape;
    if let Some(other) = sides.iter().find(|side| side.shape != shape) {
        return Err(Failure::Input(format!(
            "{}: results of {}, and {} has {}",
            other.name,
            dimensions(other.shape),
            sides[0].name,
            dimensions(shape)
        )));
    }
    let mut pairs = Vec::new();
    for (left, right) in diff::pairs(sides.len()) {
        let (l, r) = (&sides[left], &sides[right]);
        let outputs = diff::outputs(
            (&l.words, &l.format),
            (&r.words, &r.format),
            shape,
            l.has_any_nan()? || r.has_any_nan()?,
        )?;
        let first = outputs.first.map(|(place, _)| place);
        let walk = first.map(|place| walk(l, r, place)).transpose()?.flatten();
        pairs.push(Compared {
            left,
            right,
            outputs,
            walk,
        });
    }
    let page = || page::page(options, &sides, &pairs);
    super::write_drawings(options, || map::svg(&sides, &pairs), page)?;
    let differ = pairs.iter().any(|pair| pair.outputs.different > 0);
    let printed = if common.json() {
        report::print_json(catalogue, body(&sides, &pairs))
    } else {
        print(common, options, &sides, &pairs)
    };
    report::answer(!differ, printed)
}

/// D of every unit.
fn computed<'c>(catalogue: &'c Catalogue, options: &Diff) -> Result<Vec<Side<'c>>, Failure> {
    let [a, b] = &options.files[..] else {
        return Err(Failure::Input(format!(
            "{}: A and B of a product are needed, two files, or --results with the D of each unit",
            options.files.join(" ")
        )));
    };
    // (Files of codes have no types; they are asked only where an instruction is to be found by them.)
    let is_open = units::is_open(&options.arch, &options.inst);
    let types = match &options.types {
        Some(text) => Some(Types::Text(text)),
        None if is_open => Some(Types::Given(Box::new(file_types(options, a, b)?))),
        None => None,
    };
    let rows = units::chosen(catalogue, &options.arch, &options.inst, types.as_ref())?;
    if rows.len() < 2 {
        let name = |row: &&Instruction| format!("{}:{}", row.architecture, row.name);
        let names: Vec<String> = rows.iter().map(name).collect();
        return Err(Failure::Input(format!(
            "diff needs at least two different units; given: {}",
            names.join(", ")
        )));
    }
    let cancel = interrupt::deferred();
    let mut sides: Vec<Side<'c>> = Vec::new();
    let units = rows.len();
    for row in rows {
        let product = Matmul {
            c: options.c.clone(),
            schedule: options.schedule.clone(),
            pad: options.pad,
            saturate: options.saturate,
            ..Matmul::of_files(&row.architecture, Some(&row.name), [a, b])
        };
        let prepared = matmul::one_of(catalogue, &product, units - sides.len())?;
        let unit = row.unit()?;
        let run = ScheduledProduct::new(
            &prepared.schedule,
            unit,
            &prepared.matrices,
            prepared.modifiers,
        )?;
        let bar = crate::progress::bar(
            prepared.matrices.outputs() as u64 * run.steps() as u64,
            "multiplying",
        );
        let advance = |done| bar.inc(done);
        let watch = Watch {
            progress: &advance,
            cancel,
        };
        let words = run.run(prepared.scales.as_ref(), &watch)?;
        bar.finish_and_clear();
        let matrices = &prepared.matrices;
        sides.push(Side {
            name: format!("{}:{}", row.architecture, row.name),
            row: Some(row),
            words,
            format: prepared.schedule.format(unit),
            shape: [matrices.batch(), matrices.m(), matrices.n()],
            chain: (options.schedule.is_none()).then_some(prepared),
        });
    }
    Ok(sides)
}

/// The operand types that the files say.
fn file_types(options: &Diff, a: &str, b: &str) -> Result<mmascope::isa::OperandTypes, Failure> {
    let read = |argument: &str, file: &str| {
        array::read(file).map_err(|error| Failure::Input(format!("{argument}: {error}")))
    };
    let c = options
        .c
        .as_deref()
        .map(|file| read("--c", file))
        .transpose()?;
    units::types_of(&read("A", a)?, &read("B", b)?, c.as_ref(), false)
}

/// D of every file.
fn results(options: &Diff) -> Result<Vec<Side<'static>>, Failure> {
    // Several with commas, unless a file has the comma in its name.
    let is_file = |named: &str| std::path::Path::new(array::path_of(named)).exists();
    let mut files: Vec<String> = Vec::new();
    for named in &options.files {
        if named.split(',').any(str::is_empty) && !std::path::Path::new(named).exists() {
            let message = format!("--results {named}: a file's name is empty");
            return Err(Failure::Input(message));
        }
        let several: Vec<&str> = named.split(',').collect();
        match several.iter().all(|one| is_file(one)) || !is_file(named) {
            true => files.extend(several.into_iter().map(str::to_owned)),
            false => files.push(named.clone()),
        }
    }
    if files.len() < 2 {
        let message = "--results: the D of two units or more are compared, each in a file";
        return Err(Failure::Input(message.to_owned()));
    }
    let side = |file: &String| {
        let array = array::read(file).map_err(|error| Failure::Input(error.to_string()))?;
        let dtype = array.dtype();
        let format = array.format().or_else(|| integers(dtype)).ok_or_else(|| {
            Failure::Input(format!(
                "{file}: {dtype} elements are codes of no stated format; floats and integers of 32 and 64 bits are compared"
            ))
        })?;
        let stack = array.stack()?;
        Ok(Side {
            name: file.clone(),
            row: None,
            words: array.words(&format, &Casting::default())?,
            format,
            shape: [stack.batch.unwrap_or(1), stack.rows, stack.columns],
            chain: None,
        })
    };
    files.iter().map(side).collect()
}

/// The format of an integer unit's D as files have it.
fn integers(dtype: &str) -> Option<Format> {
    let name = match dtype.trim_start_matches(['<', '>', '=']) {
        "i4" | "I32" => "int32",
        "u4" | "U32" => "uint32",
        "i8" | "I64" => "int64",
        "u8" | "U64" => "uint64",
        _ => return None,
    };
    Format::named(name).ok()
}

/// The chain of an output on two units; `None` where the result is no plain chain of instructions.
fn walk(left: &Side<'_>, right: &Side<'_>, place: Place) -> Result<Option<Walk>, Failure> {
    let (Some(l), Some(r)) = (&left.chain, &right.chain) else {
        return Ok(None);
    };
    let chains = (
        Chain::of(l.row, &l.matrices, &l.schedule, place),
        Chain::of(r.row, &r.matrices, &r.schedule, place),
    );
    match chains {
        (Ok(own), Ok(other)) if !own.steps.is_empty() => {
            Walk::of(&own, Some(&other), None).map(Some)
        }
        _ => Ok(None),
    }
}

fn dimensions(shape: [usize; 3]) -> String {
    match shape {
        [1, m, n] => format!("{m} × {n}"),
        [batch, m, n] => format!("{batch} × {m} × {n}"),
    }
}

fn place_text(shape: [usize; 3], place: Place) -> String {
    match (shape, place) {
        ([1, _, _], [_, row, column]) => format!("{row},{column}"),
        (_, [batch, row, column]) => format!("{batch},{row},{column}"),
    }
}

/// How far two outputs are from each other, with a word where one is negative and the other is not.
fn distance(left: &Side<'_>, right: &Side<'_>, place: Place, verdict: Verdict) -> String {
    let is_negative = |side: &Side<'_>| side.decimal(place).starts_with('-');
    let words = verdict_words(verdict);
    match verdict {
        Verdict::Ulps(_) if is_negative(left) != is_negative(right) => {
            format!("{words}, of different signs")
        }
        _ => words,
    }
}

/// [`verdict_text`] for people: a distance that says nothing more is capped.
fn verdict_words(verdict: Verdict) -> String {
    match verdict {
        Verdict::Ulps(steps) if steps > super::text::FAR => {
            format!("{} ulp", super::text::distance(steps))
        }
        other => verdict_text(other),
    }
}

fn verdict_text(verdict: Verdict) -> String {
    match verdict {
        Verdict::Equal => "equal".to_owned(),
        Verdict::Ulps(1) => "1 ulp".to_owned(),
        Verdict::Ulps(steps) => format!("{steps} ulp"),
        Verdict::ZeroSign => "sign of zero".to_owned(),
        Verdict::Infinite => "infinity".to_owned(),
        Verdict::Nan => "NaN".to_owned(),
        Verdict::NanPayload => "NaN payload".to_owned(),
    }
}

/// What the columns of the table are; see [`counts`].
const HEADS: [&str; 7] = [
    "left", "right", "differ", "share", "first at", "worst at", "worst",
];

/// A row of the table.
fn counts(sides: &[Side<'_>], pair: &Compared) -> [String; 7] {
    let Outputs {
        compared,
        different,
        first,
        worst,
        ..
    } = pair.outputs;
    let at = |found: Option<(Place, Verdict)>| {
        found.map_or_else(String::new, |(place, _)| place_text(sides[0].shape, place))
    };
    [
        sides[pair.left].name.clone(),
        sides[pair.right].name.clone(),
        different.to_string(),
        format!("{:.3} %", 100.0 * different as f64 / compared.max(1) as f64),
        at(first),
        at(worst),
        worst.map_or_else(String::new, |(_, verdict)| verdict_words(verdict)),
    ]
}

/// `64 × 96 outputs: products of a.npy and b.npy`.
fn headline(options: &Diff, sides: &[Side<'_>]) -> String {
    let what = match options.results {
        true => "results".to_owned(),
        false => format!("products of {}", options.files.join(" and ")),
    };
    format!("{} outputs: {what}", dimensions(sides[0].shape))
}

/// Says so where units take operands of different formats: then they compute products of different numbers.
fn formats_of_operands(sides: &[Side<'_>]) -> Option<String> {
    let rows = sides.iter().map(|side| side.row);
    let rows: Vec<&Instruction> = rows.collect::<Option<_>>()?;
    let formats = |row: &Instruction| (row.signature.a, row.signature.b);
    let first = formats(rows.first()?);
    if rows.iter().all(|row| formats(row) == first) {
        return None;
    }
    let each = sides.iter().zip(&rows);
    let each: Vec<String> = each
        .map(|(side, row)| {
            let (a, b) = formats(row);
            format!("{} as {a} and {b}", side.name)
        })
        .collect();
    Some(format!(
        "The units read A and B in formats of their own, so that they multiply different numbers: {}.",
        each.join(", ")
    ))
}

fn print(
    common: &Common,
    options: &Diff,
    sides: &[Side<'_>],
    pairs: &[Compared],
) -> Result<(), Failure> {
    let mut out = terminal::out();
    let shape = sides[0].shape;
    writeln!(out, "{}", headline(options, sides))?;
    let mut table = Table::new(&HEADS);
    for pair in pairs {
        table.add_row(counts(sides, pair));
    }
    writeln!(out, "{}", table)?;
    if let Some(text) = formats_of_operands(sides) {
        writeln!(out, "{}", layout::paragraph(&text))?;
    }
    for pair in pairs {
        let (left, right) = (&sides[pair.left], &sides[pair.right]);
        let Some((place, verdict)) = pair.outputs.first else {
            continue;
        };
        writeln!(out, "\n{} and {}", left.name, right.name)?;
        writeln!(
            out,
            "  D (. equal, - some outputs of a place differ, + half or more, # all):"
        )?;
        for line in map(&pair.outputs) {
            writeln!(out, "  {line}")?;
        }
        let other = pair.outputs.worst.filter(|(at, _)| *at != place);
        if let Some((at, verdict)) = other {
            let of = |side: &Side<'_>| format!("{} = {}", side.word(at), side.decimal(at));
            writeln!(
                out,
                "  worst at {}: {} and {} ({})",
                place_text(shape, at),
                of(left),
                of(right),
                distance(left, right, at, verdict)
            )?;
        }
        let far = distance(left, right, place, verdict);
        // (Numbers stand in the line above where there is one.)
        let word = |side: &Side<'_>| match other {
            Some(_) => side.word(place),
            None => format!("{} = {}", side.word(place), side.decimal(place)),
        };
        let place = place_text(shape, place);
        writeln!(
            out,
            "  first at {place}: {} and {} ({})",
            word(left),
            word(right),
            far
        )?;
        if let Some((from, to)) = pair.parting() {
            let meeting = pair.walk.as_ref().and_then(Walk::meeting);
            let meeting = meeting.map_or_else(String::new, |it| format!("; {it}"));
            writeln!(
                out,
                "  they part in the step of k = {from} to {to}{meeting}"
            )?;
        }
        if options.schedule.is_some() {
            writeln!(
                out,
                "  the step that parts them is not shown: `explain` knows products without --schedule"
            )?;
        }
        if let (Some(row), Some(other), Some(_)) = (left.row, right.row, &left.chain) {
            let c = options.c.as_ref();
            let mut more = c.map_or_else(String::new, |file| {
                format!(" --c {}", shell_words::quote(file))
            });
            for (is_asked, option) in [(options.pad, " --pad"), (options.saturate, " --saturate")] {
                more.push_str(if is_asked { option } else { "" });
            }
            writeln!(
                out,
                "  mmascope explain {} --arch {}:{} --at {place}{more} --against {}:{}{}",
                shell_words::join(&options.files),
                row.architecture,
                row.name,
                other.architecture,
                other.name,
                common.isa_options()
            )?;
        }
    }
    Ok(())
}

/// A map of D: where outputs differ, by share.
fn map(outputs: &Outputs) -> Vec<String> {
    let character = |&(different, all): &(u64, u64)| match different * 4 {
        0 => '.',
        many if many >= 4 * all => '#',
        many if many >= 2 * all => '+',
        _ => '-',
    };
    let lines = outputs.map.iter();
    lines
        .map(|cells| cells.iter().map(character).collect())
        .collect()
}

fn body(sides: &[Side<'_>], pairs: &[Compared]) -> Map<String, Value> {
    let units: Vec<Value> = sides
        .iter()
        .map(|side| match side.row {
            Some(row) => {
                json!({"arch": row.architecture, "inst": row.name, "format": side.format.name})
            }
            None => json!({"file": side.name, "format": side.format.name}),
        })
        .collect();
    let found = |pair: &Compared, found: Option<(Place, Verdict)>| {
        found.map(|(place, verdict)| {
            let steps = match verdict {
                Verdict::Ulps(steps) => Some(steps),
                _ => None,
            };
            let [left, right] = [pair.left, pair.right].map(|index| sides[index].word(place));
            json!({"at": place, "kind": verdict_text(verdict), "ulp": steps, "left": left, "right": right})
        })
    };
    let shares = |map: &[Vec<(u64, u64)>]| -> Vec<Vec<u64>> {
        map.iter()
            .map(|cells| cells.iter().map(|cell| cell.0).collect())
            .collect()
    };
    let pairs: Vec<Value> = pairs
        .iter()
        .map(|pair| {
            json!({
                "left": sides[pair.left].name,
                "right": sides[pair.right].name,
                "compared": pair.outputs.compared,
                "different": pair.outputs.different,
                "by_steps": pair.outputs.by_steps,
                "zero_sign": pair.outputs.zero_sign,
                "special": pair.outputs.special,
                "first": found(pair, pair.outputs.first),
                "worst": found(pair, pair.outputs.worst),
                "map": shares(&pair.outputs.map),
                "parting_k": pair.parting().map(|(from, to)| [from, to]),
            })
        })
        .collect();
    let shape: Vec<usize> = sides[0].shape.to_vec();
    let entries = [
        ("units", Value::from(units)),
        ("shape", shape.into()),
        ("pairs", pairs.into()),
    ];
    entries
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
