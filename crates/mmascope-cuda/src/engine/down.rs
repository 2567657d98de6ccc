//! Fused sums by multiply-adds that round down (`docs/kernels-inside.md`, 64-bit lanes): which units have them, and their source.

use mmascope_gemm::shape::{StepShape, SumGrid, SumKind};
use mmascope_model::dpa::{Operation, Output, Reading, Select, Signature, Start, Unit, ZeroSign};
use mmascope_model::format::{F16, F32, Float, Format, Overflow, Rounding, Specials};

use super::fast::{Fast, Order, accumulates, of_floats};

pub(super) const ALIGNED: &str = include_str!("../source/aligned.cu");
const KERNEL: &str = include_str!("../source/down.cu");

/// Rows of a thread's outputs.
const ROWS: usize = 4;
/// In f32 a zero's stand-in is above the grids of smaller exponents. Operands of which f32 has room make no such products, so only
/// a smaller c asks for one: it goes to the integers.
const NARROW_FLOOR: i32 = -60;
/// Rows and columns of the outputs of a block of threads.
const TILE: [usize; 2] = [16 * ROWS, 64];

/// The grid of a unit's one sum, where multiply-adds compute it; else the reason.
pub(super) fn fits(unit: &Unit) -> Result<SumGrid, String> {
    let signature = unit.signature();
    let [statement] = &unit.program().statements[..] else {
        return Err("several statements".to_owned());
    };
    let Operation::Dot {
        algorithm,
        operands: Reading::WHOLE,
        over: Select::All,
        from: Start::C,
    } = &statement.operation
    else {
        return Err("no sum of all products, as they are, and c".to_owned());
    };
    let output = &statement.output;
    let grid = match StepShape::of(algorithm, output)? {
        StepShape::Sum(grid) if grid.kind == SumKind::Fused => grid,
        _ => return Err(format!("{algorithm}: no fused sum with c as a term")),
    };
    has_room(signature, &grid)?;
    has_result(output, !is_narrow(unit, &grid))?;
    if !signature.k.is_multiple_of(block(unit, &grid)) {
        return Err("blocks of several lengths".to_owned());
    }
    accumulates(unit)?;
    Ok(grid)
}

/// Whether f64 has room for a sum of products of these operands.
pub(super) fn has_room(signature: &Signature, grid: &SumGrid) -> Result<(), String> {
    let formats = [&signature.a, &signature.b, &signature.c];
    let [Some(a), Some(b), Some(c)] = formats.map(Format::float) else {
        return Err("operands that are no floats".to_owned());
    };
    // The formats' own numbers below the normal ones are decoded as such.
    if ![a, b, c].iter().all(|float| float.subnormals) || formats.iter().any(|it| !it.signed) {
        return Err("operands without subnormal numbers or signs".to_owned());
    }
    if c.exponent_bits > 8 || c.fraction_bits > 23 {
        return Err("an accumulator wider than f32".to_owned());
    }
    if signature.scale.is_some() {
        return Err("block scales".to_owned());
    }
    if grid.align != Rounding::Rz {
        return Err("terms that are not truncated".to_owned());
    }
    // One word has the signs of a block. A product's 2^-30 stays below its own last place and below the grid; a zero's stand-in
    // times any operand stays below every grid. Values are upper words of f64.
    let is_short =
        a.fraction_bits.max(b.fraction_bits) <= 20 && a.exponent_bits.max(b.exponent_bits) <= 8;
    let is_fine = a.fraction_bits + b.fraction_bits + 2 > 24 || grid.f > 28;
    let has_floor = grid.e0.is_none_or(|e0| (-140..=200).contains(&e0));
    if grid.l > 32 || !is_short || is_fine || !has_floor {
        return Err("sums longer or finer than f64 has room for".to_owned());
    }
    Ok(())
}

/// Whether [`finish`] makes the result of a sum.
pub(super) fn has_result(output: &Output, is_wide: bool) -> Result<(), String> {
    let overflows = matches!(output.overflow, Overflow::Infinity | Overflow::Ieee);
    let usual = overflows && output.zero == ZeroSign::Plus && output.flush.is_none();
    match usual && finish(&output.format, output.rounding, is_wide).is_some() {
        true => Ok(()),
        false => Err(format!(
            "{} {} zero={} overflow={}",
            output.rounding, output.format, output.zero, output.overflow
        )),
    }
}

/// Products of a block.
fn block(unit: &Unit, grid: &SumGrid) -> usize {
    unit.signature().k.min(grid.l as usize)
}

/// Whether f32 has room for the sums: products of fewer than 20 bits, sums that stay within 2^22 units of the grid, zeros that stand in
/// for less than a grid, and results that are cut.
pub(super) fn is_narrow(unit: &Unit, grid: &SumGrid) -> bool {
    let signature = unit.signature();
    let (Some(a), Some(b)) = (signature.a.float(), signature.b.float()) else {
        return false;
    };
    let output = &unit.program().statements[0].output;
    // A product is below 4 * 2^E, c below 2 * 2^E, and each term may be one unit more.
    let units = (4 * u64::from(grid.l) + 2) << grid.f.min(32);
    let room = units + u64::from(grid.l) + 1 < 1 << 22;
    // Exponents: none so small that its products ask for a grid below the floor, none so large that a zero's stand-in (2^-90) times
    // an operand reaches that grid.
    let fraction = grid.f as i32;
    let fits = |float: Float| {
        let has_top = float.specials != Specials::Ieee;
        let top = (1 << float.exponent_bits) - 2 + i32::from(has_top) - float.bias;
        let bottom = 1 - float.bias;
        float.exponent_bits <= 5
            && top + 1 - 90 < NARROW_FLOOR - fraction
            && 2 * bottom >= NARROW_FLOOR
    };
    // (A's nudge is 2^-20 of a product, which is below 4 * 2^E: beyond this F it would reach a unit of the grid.)
    a.fraction_bits + b.fraction_bits + 2 < 20
        && grid.f < 18
        && room
        && grid.e0.is_some_and(|e0| (-133..=60).contains(&e0))
        && fits(a)
        && fits(b)
        && output.rounding == Rounding::Rz
        && output.format.container() == F32
}

/// How a sum is rounded: the source of `finished`, which is given the exact sum, and the exponents of the result's normal numbers.
/// `None` for other results than these.
pub(super) fn finish(format: &Format, rounding: Rounding, is_wide: bool) -> Option<String> {
    let float = format.float()?;
    if float.specials != Specials::Ieee || !float.subnormals {
        return None;
    }
    let is_f32 = format.container() == F32;
    // Of zeros all are positive.
    let finished = match (rounding, is_f32) {
        (Rounding::Rz, true) => format!("cleared(x, {})", float.fraction_bits),
        (Rounding::Rne, true) if is_wide && *format == F32 => "as_f32(x) + 0.0".to_owned(),
        (Rounding::Rne, false) if is_wide && *format == F16 => "as_f16(x) + 0.0".to_owned(),
        _ => return None,
    };
    let largest = (1 << (float.exponent_bits - 1)) - 1;
    // In f32 a sum starts at 2^23 of its grid, which must not leave the format.
    let limit = if is_wide { largest } else { 100 };
    Some(format!(
        "enum {{ LARGEST = {limit}, SMALLEST = {}, SUBNORMALS = {} }};\n\
         static __device__ value finished(value x) {{ return {finished}; }}",
        if is_wide { 1 - largest } else { NARROW_FLOOR },
        i32::from(!is_f32)
    ))
}

/// The method with its source.
pub(super) fn fast(unit: &Unit, grid: &SumGrid) -> Fast {
    let output = &unit.program().statements[0].output;
    let is_wide = !is_narrow(unit, grid);
    let (k, block) = (unit.signature().k, block(unit, grid));
    let e0 = grid.e0.unwrap_or(0);
    let e0 = if is_wide { e0 } else { e0.max(NARROW_FLOOR) };
    let values = [
        ("ROWS", ROWS.to_string()),
        ("HALF_OPERANDS", "1".to_owned()),
        ("F", grid.f.to_string()),
        ("E0", e0.to_string()),
        (
            "FINISH",
            finish(&output.format, output.rounding, is_wide).unwrap_or_default(),
        ),
    ];
    let order = Order {
        slots: k,
        list: None,
        block,
        has_exponents: true,
        has_pairs: true,
        widened: None,
    };
    Fast {
        what: match is_wide {
            true => "fused sums by multiply-adds in f64 that round down",
            false => "fused sums by multiply-adds in f32 that round down",
        },
        source: of_floats(unit, is_wide, [ALIGNED, KERNEL], &order, &values),
        tile: TILE,
        bytes: 4,
        exponents: [4, 2],
        slots: k,
        signs: Some(block),
    }
}
