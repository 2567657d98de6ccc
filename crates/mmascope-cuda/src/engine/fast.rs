//! Fast methods: which one a unit has, and its source, put together from pieces.

use mmascope_model::dpa::{Codes, Unit};
use mmascope_model::format::{F16, F32, F64, Format, Specials};

use super::{down, integers, statements};

const TILE: &str = include_str!("../source/tile.cu");
const TILE_KERNEL: &str = include_str!("../source/tile_kernel.cu");
const NUMBERS: &str = include_str!("../source/numbers.cu");
const ROUNDED: &str = include_str!("../source/rounded.cu");
const LATER: &str = include_str!("../source/later.cu");
const EXPAND: &str = include_str!("../source/expand.cu");
const EXPANDED: &str = include_str!("../source/expanded.cu");

/// A fast method of a unit's products, as a chip runs it.
#[derive(Clone, Debug)]
pub(super) struct Fast {
    /// What it is, for people.
    pub what: &'static str,
    /// The source, behind that of the general product.
    pub source: String,
    /// Rows and columns of the outputs of a block of threads.
    pub tile: [usize; 2],
    /// Bytes of an operand's number.
    pub bytes: usize,
    /// Bytes of an exponent of A, and of one of B; none where exponents are not needed.
    pub exponents: [usize; 2],
    /// Numbers of a step, and of these how many have a word of signs together.
    pub slots: usize,
    pub signs: Option<usize>,
}

/// How a chip's f64 compares with its f32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Doubles {
    /// Half of f32's rate.
    #[default]
    Full,
    /// A thirty-second of it or less.
    Slow,
}

impl Doubles {
    /// Of a compute capability: 90 for sm_90. The CUDA C++ Programming Guide's table of arithmetic throughput gives sm_60 and sm_70 half of
    /// f32's rate; the later ones are taken to have it, and were not looked up. All others count as slow. The bits are the same either way.
    #[must_use]
    pub fn of(sm: u32) -> Self {
        match sm {
            60 | 70 | 72 | 80 | 90 | 100 => Self::Full,
            _ => Self::Slow,
        }
    }
}

/// The fast method of a unit on such a chip; else why there is none.
pub(super) fn of(unit: &Unit, doubles: Doubles) -> Result<Fast, String> {
    if unit.program().integer_sum().is_some() {
        return integers::fast(unit);
    }
    if unit.program().codes != Codes::Special {
        return Err("codes of ∞ and NaN that are numbers".to_owned());
    }
    if let Ok(sum) = down::fits(unit)
        && (doubles == Doubles::Full || down::is_narrow(unit, &sum))
    {
        return Ok(down::fast(unit, &sum));
    }
    statements::fast(unit, doubles)
}

/// Whether a step's result is the next one's c, with all of its bits.
pub(super) fn accumulates(unit: &Unit) -> Result<(), String> {
    let signature = unit.signature();
    let bits = |format: &Format| format.float().map_or(0, |float| float.fraction_bits);
    if signature.c.container() != signature.d.container() {
        return Err("c and d of different formats".to_owned());
    }
    match bits(&signature.c) < bits(&unit.program().output().format) {
        true => Err("a c that drops bits of results".to_owned()),
        false => Ok(()),
    }
}

/// A text with values in the places of names: `@NAME@`.
pub(super) fn filled(text: &str, values: &[(&str, String)]) -> String {
    values.iter().fold(text.to_owned(), |text, (name, value)| {
        text.replace(&format!("@{name}@"), value)
    })
}

/// In which order operands are expanded, and what of them.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// Products of a step.
    pub slots: usize,
    /// Their k; in ascending order without it.
    pub list: Option<Vec<usize>>,
    /// Products of a block.
    pub block: usize,
    /// Whether exponents and signs are needed.
    pub has_exponents: bool,
    /// Whether an exponent of A lies twice in a word.
    pub has_pairs: bool,
    /// The smallest normal exponent of the format as whose numbers they are read.
    pub widened: Option<i32>,
}

impl Order {
    fn source(&self) -> String {
        match &self.list {
            None => "static __device__ word k_of(int slot) { return slot; }".to_owned(),
            Some(list) => {
                let list: Vec<String> = list.iter().map(ToString::to_string).collect();
                format!(
                    "static __device__ const short order[] = {{{}}};\n\
                     static __device__ word k_of(int slot) {{ return order[slot]; }}",
                    list.join(", ")
                )
            }
        }
    }
}

/// The pieces of a method of floats: numbers, then what the method says of operands (`head`), their expansion, the kernel (`body`).
pub(super) fn of_floats(
    unit: &Unit,
    is_wide: bool,
    [head, body]: [&str; 2],
    order: &Order,
    values: &[(&str, String)],
) -> String {
    let signature = unit.signature();
    let text = [NUMBERS, ROUNDED, head, EXPAND, EXPANDED, LATER, body].concat();
    let own = [
        ("SLOTS", order.slots.to_string()),
        ("BLOCK", order.block.to_string()),
        ("L", order.block.to_string()),
        ("WITH_EXPONENTS", i32::from(order.has_exponents).to_string()),
        ("IS_WIDENED", i32::from(order.widened.is_some()).to_string()),
        ("WIDENED", order.widened.unwrap_or(0).to_string()),
        (
            "EXPONENT_A",
            if order.has_pairs { "unsigned" } else { "short" }.to_owned(),
        ),
        ("ORDER", order.source()),
        ("WIDE", i32::from(is_wide).to_string()),
        ("FORMAT_A", initialiser(&signature.a)),
        ("FORMAT_B", initialiser(&signature.b)),
        ("FORMAT_C", initialiser(&signature.c)),
        ("WORD", word_of(&signature.d, is_wide).to_owned()),
    ];
    filled(&filled(&text, values), &own)
}

/// A kernel of tiles around methods, with what it does between reading c and writing d.
pub(super) fn tiles(methods: &str) -> String {
    [TILE, methods, TILE_KERNEL].concat()
}

/// The same for integers, whose operands are expanded by `head`.
pub(super) fn of_integers(head: &str, methods: &str) -> String {
    [head, EXPANDED, LATER, &tiles(methods)].concat()
}

/// A value as a word of d, which it is a number of.
fn word_of(format: &Format, is_wide: bool) -> &'static str {
    let format = format.container();
    match is_wide {
        _ if format == F16 => "half_of(x)",
        true if format == F64 => "(word)__double_as_longlong(x)",
        true => "__float_as_uint(__double2float_rn(x))",
        false => "__float_as_uint(x)",
    }
}

/// Whether words of d are made of a value.
pub(super) fn has_words(format: &Format, is_wide: bool) -> bool {
    let format = format.container();
    format == F16 || format == F32 || is_wide && format == F64
}

/// A format as the source has it.
fn initialiser(format: &Format) -> String {
    let Some(float) = format.float() else {
        return "{}".to_owned();
    };
    let specials = match float.specials {
        Specials::Ieee => "IEEE",
        Specials::AllOnesNan => "ALL_ONES_NAN",
        Specials::NegativeZeroNan => "NEGATIVE_ZERO_NAN",
        Specials::None => "NO_SPECIALS",
    };
    format!(
        "{{{}, {}, {}, {specials}, {}}}",
        float.exponent_bits, float.fraction_bits, float.bias, format.register.shift
    )
}
