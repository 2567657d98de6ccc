//! `mmascope quantize` and `dequantize`: arrays to codes with block scales, and back.

use std::io::Write;

use serde_json::{Map, Value, json};

use crate::args::{Common, Dequantize, Quantize};
use crate::interrupt;
use crate::output::Output;
use crate::report::{self, Failure, Status};
use crate::terminal;
use mmascope::array::{self, Array, Casting, Element};
use mmascope::blocks::{self, Quantised};
use mmascope::format::{F32, Rounding};
use mmascope::isa::Catalogue;
use mmascope::precision::block::{BlockFormat, Quantiser, Recipe, Selection};
use mmascope::quantisation::{QuantisationStatistics, histogram_svg};

pub(crate) fn run(
    catalogue: &Catalogue,
    common: &Common,
    options: &Quantize,
) -> Result<Status, Failure> {
    let quantiser = quantiser(options)?;
    let svg = match &options.svg {
        Some(file) if !file.ends_with(".svg") => {
            return Err(Failure::Input(format!(
                "--svg {file}: the name must end with .svg"
            )));
        }
        other => other,
    };
    named("-o", array::check_quantised_writable(&options.output))?;
    let array = array::read(&options.input)?;
    let words = numbers(&array)?;
    let axis = axis(options.axis, array.shape())?;
    let block = block(options.block, &quantiser, array.shape()[axis])?;
    let cancel = interrupt::deferred();
    let quantised = blocks::quantise(
        &words,
        array.shape(),
        axis,
        block,
        &quantiser,
        options.stochastic,
        cancel,
    )?;
    let statistics = QuantisationStatistics::of(&words, &quantised);
    if let Some(file) = svg {
        let title = format!(
            "{} by {}: {}",
            quantised.format,
            quantiser.recipe(),
            options.input
        );
        let mut out = Output::create("--svg", file)?;
        for line in histogram_svg(&title, &statistics).lines() {
            out.line(line)?;
        }
        out.finish()?;
    }
    array::write_quantised(&options.output, &quantised, cancel)?;
    if common.json() {
        report::print_json(catalogue, json(options, &quantised, &statistics))?;
    } else {
        print(options, &quantised, &statistics)?;
    }
    Ok(Status::Done)
}

pub(crate) fn back(
    catalogue: &Catalogue,
    common: &Common,
    options: &Dequantize,
) -> Result<Status, Failure> {
    if options.output == "-" {
        return Err(Failure::Input("-o -: numbers go to an .npy file".into()));
    }
    named("-o", array::check_writable(&options.output))?;
    let quantised = array::read_quantised(&options.input)?;
    let words = quantised.dequantise();
    let cancel = interrupt::deferred();
    let each = words.iter().map(|word| u64::from(*word));
    array::write_npy(&options.output, &quantised.shape, &F32, each, cancel)?;
    if common.json() {
        let body = json!({
            "format": quantised.format.name,
            "recipe": quantised.recipe.map(Recipe::name),
            "axis": quantised.axis,
            "block": quantised.block,
            "shape": quantised.shape,
            "tensor_scale": hex(quantised.tensor_scale),
            "output": options.output,
        });
        report::print_json(catalogue, object(body))?;
    } else {
        let shape = shape_text(&quantised.shape);
        let format = quantised.format;
        writeln!(
            terminal::out(),
            "{}: {shape} f32 of {format}",
            options.output
        )?;
    }
    Ok(Status::Done)
}

fn named<T>(argument: &str, result: mmascope::Result<T>) -> Result<T, Failure> {
    result.map_err(|error| Failure::Input(format!("{argument}: {}", report::told(&error))))
}

fn quantiser(options: &Quantize) -> Result<Quantiser, Failure> {
    let format = named("--format", BlockFormat::named(&options.format))?;
    let recipe = match &options.recipe {
        Some(name) => Recipe::named(name).map_err(|_| {
            let names: Vec<&str> = Recipe::of(&format).iter().map(|it| it.name()).collect();
            Failure::Input(format!(
                "--recipe {name}: unknown recipe; {format} has {}",
                names.join(", ")
            ))
        })?,
        None => Recipe::of(&format)[0],
    };
    let quantiser = named("--recipe", Quantiser::new(format, recipe))?;
    let Some(name) = &options.selection else {
        return Ok(quantiser);
    };
    let selection = named("--selection", Selection::named(name))?;
    if recipe != Recipe::FourOverSix {
        return Err(Failure::Input(format!(
            "--selection {name}: only the recipe four-over-six chooses; this is {recipe}"
        )));
    }
    Ok(quantiser.with_selection(selection))
}

/// The array as f32 words.
fn numbers(array: &Array) -> Result<Vec<u32>, Failure> {
    if !matches!(array.element(), Element::Number(_)) {
        return Err(Failure::Input(format!(
            "{} has elements of {}: numbers are needed, floats of any width",
            array.name(),
            array.element()
        )));
    }
    let casting = Casting {
        rounding: Some(Rounding::Rne),
        saturate: false,
    };
    // (No option clamps here: what is beyond f32 is no number of this command.)
    let words = array
        .words(&F32, &casting)
        .map_err(|error| Failure::Input(report::told_unclamped(&error)))?;
    Ok(words.iter().map(|word| word as u32).collect())
}

/// The dimension that is meant, counted from the first.
fn axis(asked: Option<i64>, shape: &[usize]) -> Result<usize, Failure> {
    let rank = shape.len() as i64;
    let asked = asked.unwrap_or(-1);
    let axis = if asked < 0 { asked + rank } else { asked };
    match usize::try_from(axis) {
        Ok(axis) if axis < shape.len() => Ok(axis),
        _ if rank == 0 => Err(Failure::Input(
            "the array has no dimension along which blocks could lie".into(),
        )),
        _ => Err(Failure::Input(format!(
            "--axis {asked}: an array of shape {shape:?} has the axes {} to {}",
            -rank,
            rank - 1
        ))),
    }
}

/// Elements of a block. One at the end may be shorter; longer than the axis is the format's own alone.
fn block(asked: Option<usize>, quantiser: &Quantiser, length: usize) -> Result<usize, Failure> {
    let largest = length.max(quantiser.format().block);
    match asked {
        None => Ok(quantiser.format().block),
        Some(block) if (1..=largest).contains(&block) => Ok(block),
        Some(block) => Err(Failure::Input(format!(
            "--block {block}: the axis has {length} elements; a block of 1 to {largest} is allowed"
        ))),
    }
}

fn hex(word: u32) -> String {
    format!("{word:08x}")
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

fn shape_text(shape: &[usize]) -> String {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    sizes.join(" × ")
}

fn json(
    options: &Quantize,
    quantised: &Quantised,
    it: &QuantisationStatistics,
) -> Map<String, Value> {
    object(json!({
        "input": options.input,
        "output": options.output,
        "format": quantised.format.name,
        "recipe": quantised.recipe.map(Recipe::name),
        "axis": quantised.axis,
        "block": quantised.block,
        "shape": quantised.shape,
        "scale_shape": blocks::scale_shape(&quantised.shape, quantised.axis, quantised.block),
        "tensor_scale": hex(quantised.tensor_scale),
        "tensor_scale_value": f64::from(f32::from_bits(quantised.tensor_scale)),
        "stochastic": options.stochastic,
        "statistics": {
            "elements": it.elements,
            "blocks": it.blocks,
            "given_nan": it.given_nan,
            "given_infinite": it.given_infinite,
            "nan": it.nan,
            "nan_blocks": it.nan_blocks,
            "zero_blocks": it.zero_blocks,
            "least_scales": it.least_scales,
            "largest_scales": it.largest_scales,
            "clamped": it.clamped,
            "vanished": it.vanished,
            "lost_to_nan": it.lost_to_nan,
            "compared": it.compared,
            "max_error": it.max_error,
            "mean_error": it.mean_error,
            "rms_error": it.rms_error,
            "signal_to_noise_db": it.signal_to_noise,
            "histogram": it.histogram,
        },
        "notes": notes(quantised, it),
    }))
}

/// What a reader should know of the result.
fn notes(quantised: &Quantised, it: &QuantisationStatistics) -> Vec<String> {
    let mut notes = Vec::new();
    if it.lost_to_nan > 0 {
        notes.push(format!(
            "{} finite numbers became NaN with the scales of their blocks; they count in no error",
            it.lost_to_nan
        ));
    }
    let has_nan = quantised.format.element.nan().is_some();
    if it.given_nan > 0 && !has_nan && it.nan < it.given_nan {
        notes.push(format!(
            "{} has no NaN: {} of {} NaN became its largest number, as cvt.satfinite has it",
            quantised.format.element,
            it.given_nan - it.nan.min(it.given_nan),
            it.given_nan
        ));
    }
    notes
}

fn print(
    options: &Quantize,
    quantised: &Quantised,
    it: &QuantisationStatistics,
) -> Result<(), Failure> {
    let mut out = terminal::out();
    let recipe = quantised.recipe.map_or("", Recipe::name);
    let Quantised {
        format,
        shape,
        axis,
        block,
        ..
    } = quantised;
    writeln!(
        out,
        "output       {}: {} codes",
        options.output,
        shape_text(shape)
    )?;
    writeln!(
        out,
        "format       {format}: {} with {} scales",
        format.element, format.scale
    )?;
    writeln!(
        out,
        "recipe       {recipe}, blocks of {block} along axis {axis}"
    )?;
    if format.has_tensor_scale {
        let word = quantised.tensor_scale;
        writeln!(
            out,
            "tensor scale {} = {:e}",
            hex(word),
            f32::from_bits(word)
        )?;
    }
    writeln!(
        out,
        "blocks       {}: {} of zeros, {} NaN, {} at the smallest scale, {} at the largest",
        it.blocks, it.zero_blocks, it.nan_blocks, it.least_scales, it.largest_scales
    )?;
    writeln!(
        out,
        "elements     {}: {} clamped, {} vanished, {} NaN and {} infinite given",
        it.elements, it.clamped, it.vanished, it.given_nan, it.given_infinite
    )?;
    let decibels = it.signal_to_noise;
    match it.compared {
        0 => writeln!(
            out,
            "error        of no element: none is a number before and after"
        )?,
        _ => writeln!(
            out,
            "error        max {:.3e}, mean {:.3e}, rms {:.3e}, signal to noise {}",
            it.max_error,
            it.mean_error,
            it.rms_error,
            decibels.map_or("∞".to_owned(), |decibels| format!("{decibels:.2} dB"))
        )?,
    }
    for note in notes(quantised, it) {
        writeln!(out, "note: {note}")?;
    }
    Ok(())
}
