//! Fused sums by multiply-adds that round down (method A of `docs/kernels-inside.md`): which units have them, and their
//! source.

use mmascope_model::dpa::{Dpa, Operation, Select, Start, TFdpa, Unit, ZeroSign};
use mmascope_model::format::{F16, F32, Float, Format, Overflow, Rounding, Specials};

const TEXT: &str = include_str!("../source/down.cu");

/// Rows of a thread's outputs.
const ROWS: usize = 4;
/// In f32 a zero's stand-in is above the grids of smaller exponents. Operands of which f32 has room make no such products, so only
/// a smaller c asks for one: it goes to the integers.
const NARROW_FLOOR: i32 = -60;
/// Rows and columns of the outputs of a block of threads.
pub(super) const TILE: [usize; 2] = [16 * ROWS, 64];

/// The parameters of a unit's one sum, where multiply-adds compute it; else the reason.
pub(super) fn fits(unit: &Unit) -> Result<TFdpa, &'static str> {
    let signature = unit.signature();
    let [statement] = &unit.program().statements[..] else {
        return Err("several statements");
    };
    let Operation::Dot {
        algorithm: Dpa::TFdpa(sum),
        operands,
        over: Select::All,
        from: Start::C,
    } = &statement.operation
    else {
        return Err("no truncated fused sum of all products and c");
    };
    let (a, b) = (signature.a.float(), signature.b.float());
    let (Some(a), Some(b), Some(_)) = (a, b, signature.c.float()) else {
        return Err("operands that are no floats");
    };
    let output = &statement.output;
    let is_wide = !is_narrow(unit, sum);
    if operands.widened.is_some() || !operands.is_whole() || sum.align != Rounding::Rz {
        return Err("operands widened or in parts, or terms that are not truncated");
    }
    if !signature.k.is_multiple_of(block(unit, sum)) {
        return Err("blocks of several lengths");
    }
    // The formats' own numbers below the normal ones are decoded as such.
    let has_subnormals = [Some(a), Some(b), signature.c.float()]
        .iter()
        .flatten()
        .all(|float| float.subnormals);
    if !has_subnormals {
        return Err("operands without subnormal numbers");
    }
    // One word has the signs of a block. A product's 2^-30 stays below its own last place and below the grid; a zero's stand-in
    // times any operand stays below every grid. Values are upper words of f64.
    let is_short = a.fraction_bits.max(b.fraction_bits) <= 20;
    if sum.l > 32
        || !is_short
        || a.fraction_bits + b.fraction_bits + 2 > 24
        || sum.f > 28
        || !(-140..=200).contains(&sum.e0)
    {
        return Err("sums longer or finer than f64 has room for");
    }
    let finish = finish(&output.format, output.rounding, is_wide);
    if !signature.a.signed || !signature.b.signed || !signature.c.signed || finish.is_none() {
        return Err("a result that is rounded in another way");
    }
    let overflows = matches!(output.overflow, Overflow::Infinity | Overflow::Ieee);
    if !overflows || output.zero != ZeroSign::Plus || output.flush.is_some() {
        return Err("a result with other rules for zeros, overflow or subnormals");
    }
    // c is read as the format that it has, whole.
    if signature
        .c
        .float()
        .is_some_and(|c| c.exponent_bits > 8 || c.fraction_bits > 23)
    {
        return Err("an accumulator wider than f32");
    }
    if signature.c.container() != signature.d.container() {
        return Err("c and d of different formats");
    }
    // Between instructions a sum is c again, which has all of its bits.
    let bits = |format: &Format| format.float().map_or(0, |float| float.fraction_bits);
    if bits(&signature.c) < bits(&output.format) {
        return Err("a c that drops bits of results");
    }
    if signature.scale.is_some() {
        return Err("block scales");
    }
    Ok(*sum)
}

/// Products of a block.
pub(super) fn block(unit: &Unit, sum: &TFdpa) -> usize {
    unit.signature().k.min(sum.l as usize)
}

/// Whether f32 has room for the sums: products of fewer than 20 bits, sums that stay within 2^22 units of the grid, zeros that stand in
/// for less than a grid, and results that are cut.
fn is_narrow(unit: &Unit, sum: &TFdpa) -> bool {
    let signature = unit.signature();
    let (Some(a), Some(b)) = (signature.a.float(), signature.b.float()) else {
        return false;
    };
    let output = &unit.program().statements[0].output;
    // A product is below 4 * 2^E, c below 2 * 2^E, and each term may be one unit more.
    let units = (4 * u64::from(sum.l) + 2) << sum.f.min(32);
    let room = units + u64::from(sum.l) + 1 < 1 << 22;
    // Exponents: none so small that its products ask for a grid below the floor, none so large that a zero's stand-in (2^-90) times
    // an operand reaches that grid.
    let fraction = sum.f as i32;
    let fits = |float: Float| {
        let has_top = float.specials != Specials::Ieee;
        let top = (1 << float.exponent_bits) - 2 + i32::from(has_top) - float.bias;
        let bottom = 1 - float.bias;
        float.exponent_bits <= 5
            && top + 1 - 90 < NARROW_FLOOR - fraction
            && 2 * bottom >= NARROW_FLOOR
    };
    a.fraction_bits + b.fraction_bits + 2 < 20
        && room
        && (-133..=60).contains(&sum.e0)
        && fits(a)
        && fits(b)
        && output.rounding == Rounding::Rz
        && output.format.container() == F32
}

/// How a result is rounded: the source of `finished`, `word_of` and the exponents of the result's normal numbers. The first is
/// given the exact sum.
fn finish(format: &Format, rounding: Rounding, is_wide: bool) -> Option<String> {
    let float = format.float()?;
    if float.specials != Specials::Ieee || !float.subnormals {
        return None;
    }
    let is_f32 = format.container() == F32;
    let (finished, word) = match (rounding, is_f32, format.name) {
        (Rounding::Rz, true, _) => (
            format!("return cleared(x, {});", float.fraction_bits),
            match is_wide {
                true => "__float_as_uint(__double2float_rz(x))",
                false => "__float_as_uint(x)",
            },
        ),
        // A negative zero becomes the positive one.
        (Rounding::Rne, true, "f32") if is_wide => (
            "return (value)__double2float_rn(x) + 0.0;".to_owned(),
            "__float_as_uint(__double2float_rz(x))",
        ),
        (Rounding::Rne, false, "f16") if is_wide && *format == F16 => (
            "const unsigned short half = half_of(x);\n  double whole;\n\
             \x20 asm volatile(\"cvt.f64.f16 %0, %1;\" : \"=d\"(whole) : \"h\"(half));\n  return whole + 0.0;"
                .to_owned(),
            "half_of(x)",
        ),
        _ => return None,
    };
    let largest = (1 << (float.exponent_bits - 1)) - 1;
    // In f32 a sum starts at 2^23 of its grid, which must not leave the format.
    let limit = if is_wide { largest } else { 100 };
    Some(format!(
        "enum {{ LARGEST = {limit}, SMALLEST = {}, SUBNORMALS = {} }};\n\
         static __device__ unsigned short half_of(double x) {{\n  unsigned short half;\n\
         \x20 asm volatile(\"cvt.rn.f16.f64 %0, %1;\" : \"=h\"(half) : \"d\"(x));\n  return half;\n}}\n\
         static __device__ value finished(value x) {{\n  {finished}\n}}\n\
         static __device__ d_type word_of(value x) {{ return {word}; }}",
        if is_wide { 1 - largest } else { NARROW_FLOOR },
        i32::from(!is_f32)
    ))
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

/// The source, behind that of the general product.
pub(super) fn source(unit: &Unit, sum: &TFdpa) -> String {
    let signature = unit.signature();
    let output = &unit.program().statements[0].output;
    let is_wide = !is_narrow(unit, sum);
    let values = [
        ("WIDE", i32::from(is_wide).to_string()),
        ("ROWS", ROWS.to_string()),
        ("RESIDENT", "3".to_string()),
        ("L", block(unit, sum).to_string()),
        ("F", sum.f.to_string()),
        (
            "E0",
            match is_wide {
                true => sum.e0,
                false => sum.e0.max(NARROW_FLOOR),
            }
            .to_string(),
        ),
        ("FORMAT_A", initialiser(&signature.a)),
        ("FORMAT_B", initialiser(&signature.b)),
        ("FORMAT_C", initialiser(&signature.c)),
        (
            "FINISH",
            finish(&output.format, output.rounding, is_wide).unwrap_or_default(),
        ),
    ];
    values.iter().fold(TEXT.to_owned(), |text, (name, value)| {
        text.replace(&format!("@{name}@"), value)
    })
}
