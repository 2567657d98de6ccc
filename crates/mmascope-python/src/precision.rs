//! Casts and block scaling of arrays.

use pyo3::prelude::*;

use crate::array::{Operand, to_numpy};
use crate::error::{Raised, argument};
use crate::interrupt::{self, Work};
use mmascope::array::{Casting, Element, Words};
use mmascope::blocks::{self, Quantised};
use mmascope::format::{F32, Format, Rounding};
use mmascope::precision::block::{BlockFormat, Quantiser, Recipe, Selection};
use mmascope::precision::cast::{Cast, CastOptions, CastPolicy, OutOfRange, RandomBits};

/// How numbers are cast.
#[derive(FromPyObject)]
pub(crate) struct Wanted {
    from: String,
    to: String,
    round: Option<String>,
    overflow: Option<String>,
    policy: Option<String>,
    relu: bool,
    sat: bool,
    ftz: bool,
    pzo: bool,
    /// Hexadecimal digits.
    random_bits: Option<String>,
    /// What must have the instruction.
    target: Option<String>,
}

/// Refuses a cast for which a target has no instruction.
fn check_target(cast: &Cast, target: &str) -> PyResult<()> {
    let Some(form) = cast.form() else {
        return Err(argument(&format!(
            "target = '{target}': PTX has no such cvt on any target"
        )));
    };
    if form.targets.include(target).raised()? {
        return Ok(());
    }
    Err(argument(&format!(
        "target = '{target}' has no {form}; it is there on {}",
        form.targets
    )))
}

/// Elements that are cast at a time.
const PIECE: usize = 1 << 20;

/// Words with more of the same width behind them; `length` is what they will come to.
fn joined(words: Option<Words>, more: Words, length: usize) -> Words {
    fn of<T: Copy>(mut words: Vec<T>, more: &[T], length: usize) -> Vec<T> {
        words.reserve_exact(length.saturating_sub(words.len()));
        words.extend_from_slice(more);
        words
    }
    match (words, more) {
        (Some(Words::U8(words)), Words::U8(more)) => of(words, &more, length).into(),
        (Some(Words::U16(words)), Words::U16(more)) => of(words, &more, length).into(),
        (Some(Words::U32(words)), Words::U32(more)) => of(words, &more, length).into(),
        (Some(Words::U64(words)), Words::U64(more)) => of(words, &more, length).into(),
        (_, more) => more,
    }
}

/// Numbers of an array in another format: words, what the cast is in words, and the format's name.
#[pyfunction]
pub(crate) fn cast<'py>(
    py: Python<'py>,
    array: Operand<'_>,
    wanted: Wanted,
) -> PyResult<(Bound<'py, PyAny>, String, &'static str)> {
    let from = Format::named(&wanted.from).raised()?;
    let to = Format::named(&wanted.to).raised()?;
    let random = match &wanted.random_bits {
        Some(text) => Some(RandomBits::parse(text, &to, false).raised()?),
        None => None,
    };
    let rounding = match (wanted.round.as_deref(), random) {
        (None | Some("rs"), Some(random)) => Some(random.of(&to, 0).0.rounding()),
        (Some("rs"), None) => {
            return Err(argument(
                "round='rs': stochastic rounding needs random_bits",
            ));
        }
        (Some(_), Some(_)) => return Err(argument("random_bits are for round='rs'")),
        (Some(name), None) => Some(Rounding::named(name).raised()?),
        (None, None) => None,
    };
    let options = CastOptions {
        rounding,
        overflow: wanted
            .overflow
            .as_deref()
            .map(OutOfRange::named)
            .transpose()
            .raised()?,
        policy: wanted
            .policy
            .as_deref()
            .map(CastPolicy::named)
            .transpose()
            .raised()?,
        relu: wanted.relu,
        sat: wanted.sat,
        ftz: wanted.ftz,
        pzo: wanted.pzo,
    };
    let cast = Cast::new(from, to, &options).raised()?;
    if let Some(target) = &wanted.target {
        check_target(&cast, target)?;
    }
    let casting = Casting {
        saturate: true,
        ..Casting::default()
    };
    let shape = array.shape().to_vec();
    let convert = |words: &Words, first: usize| match random {
        None => mmascope::cast::words(&cast, words),
        Some(random) => {
            let each = (first..).zip(words.iter());
            Words::of(
                &to,
                each.map(|(place, word)| cast.with_random(random.of(&to, place).0).word(word)),
            )
        }
    };
    let mut done = None;
    // Piece by piece: no copy of the whole array is made, and other threads run meanwhile.
    for first in (0..array.len().max(1)).step_by(PIECE) {
        py.check_signals()?;
        let piece = first..array.len().min(first + PIECE);
        let Some(words) = array.own_words(piece, &from, &casting)? else {
            break;
        };
        let piece = py.detach(|| convert(&words, first)).raised()?;
        done = Some(joined(done, piece, array.len()));
    }
    let done = match done {
        Some(done) => done,
        None => {
            let words = array.words(&from, &casting)?;
            py.detach(|| convert(&words, 0)).raised()?
        }
    };
    let by = match cast.form() {
        Some(form) => format!("{form} ({})", form.targets),
        None => format!("policy {}", cast.policy()),
    };
    Ok((to_numpy(py, done, &shape)?, by, to.name))
}

/// Codes, scales, the f32 word of the tensor scale, the block's length, the formats of element and scale, the recipe.
type Made<'py> = (
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    u32,
    usize,
    (&'static str, &'static str, &'static str),
    String,
);

/// Quantises an array of numbers.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the package names each")]
pub(crate) fn quantize<'py>(
    py: Python<'py>,
    array: Operand<'_>,
    format: &str,
    recipe: Option<&str>,
    selection: Option<&str>,
    axis: usize,
    block: Option<usize>,
    stochastic: Option<u64>,
) -> PyResult<Made<'py>> {
    let format = BlockFormat::named(format).raised()?;
    let recipe = match recipe {
        Some(name) => Recipe::named(name).raised()?,
        None => Recipe::of(&format)[0],
    };
    let mut quantiser = Quantiser::new(format, recipe).raised()?;
    if let Some(name) = selection {
        if recipe != Recipe::FourOverSix {
            return Err(argument(&format!(
                "selection={name:?}: only the recipe four-over-six chooses; this is {recipe}"
            )));
        }
        quantiser = quantiser.with_selection(Selection::named(name).raised()?);
    }
    let shape = array.shape().to_vec();
    let length = shape.get(axis).copied().unwrap_or(0);
    let block = match block {
        None => format.block,
        Some(block) if (1..=length).contains(&block) => block,
        Some(block) => {
            return Err(argument(&format!(
                "block = {block}: the axis has {length} elements; a block of 1 to {length} is allowed"
            )));
        }
    };
    let own = array.array()?;
    if !matches!(own.element(), Element::Number(_)) {
        return Err(argument(&format!(
            "array: elements of {}: numbers are needed, floats of any width",
            own.element()
        )));
    }
    let casting = Casting {
        rounding: Some(Rounding::Rne),
        saturate: false,
    };
    let words = own.words(&F32, &casting).raised()?;
    let made = interrupt::run(py, &Work::default(), |watch| {
        let words: Vec<u32> = words.iter().map(|word| word as u32).collect();
        blocks::quantise(
            &words,
            &shape,
            axis,
            block,
            &quantiser,
            stochastic,
            watch.cancel,
        )
    })?;
    let scales = blocks::scale_shape(&shape, axis, block);
    Ok((
        to_numpy(py, Words::from(made.codes), &shape)?,
        to_numpy(py, Words::from(made.scales), &scales)?,
        made.tensor_scale,
        made.block,
        (format.name, format.element.name, format.scale.name),
        recipe.name().to_owned(),
    ))
}

/// The numbers of codes and scales, as f32 words.
#[pyfunction]
pub(crate) fn dequantize<'py>(
    py: Python<'py>,
    codes: Operand<'_>,
    scale: Operand<'_>,
    tensor_scale: u32,
    format: &str,
    axis: usize,
    block: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let format = BlockFormat::named(format).raised()?;
    let (codes, scale) = (codes.array()?, scale.array()?);
    let shape = codes.shape().to_vec();
    let quantised = Quantised {
        format,
        recipe: None,
        shape: shape.clone(),
        axis,
        block,
        codes: codes.bytes().to_vec(),
        scales: scale.bytes().to_vec(),
        tensor_scale,
    };
    quantised.check().raised()?;
    let words = py.detach(|| quantised.dequantise());
    to_numpy(py, Words::from(words), &shape)
}
