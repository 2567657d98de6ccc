//! Fused sums by multiply-adds in f64 that round down (method A of `docs/kernels-inside.md`): which units have them, and their
//! source.

use mmascope_model::dpa::{Dpa, Operation, Select, Start, TFdpa, Unit, ZeroSign};
use mmascope_model::format::{Format, Overflow, Rounding, Specials};

const TEXT: &str = include_str!("../source/down.cu");

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
    let finish = finish(&output.format, output.rounding);
    if operands.widened.is_some() || !operands.is_whole() || sum.align != Rounding::Rz {
        return Err("operands widened or in parts, or terms that are not truncated");
    }
    // One word has the signs of a block. A product's 2^-30 stays below its own last place and below the grid; a zero's stand-in
    // times any operand stays below every grid.
    if sum.l > 32 || a.fraction_bits + b.fraction_bits + 2 > 24 || sum.f > 28 || sum.e0 < -140 {
        return Err("sums longer or finer than f64 has room for");
    }
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
    if signature.scale.is_some() {
        return Err("block scales");
    }
    Ok(*sum)
}

/// How a result is rounded: the lines of `result_of`.
fn finish(format: &Format, rounding: Rounding) -> Option<String> {
    let float = format.float()?;
    if float.specials != Specials::Ieee || !float.subnormals {
        return None;
    }
    let is_wide = float.exponent_bits == 8 && format.register.bits == 32;
    match (rounding, is_wide, format.name) {
        (Rounding::Rz, true, _) => {
            let mask = u32::MAX << (23 - float.fraction_bits);
            Some(format!(
                "  if (size >= power_of_two(128)) return value < 0 ? 0xff800000u : 0x7f800000u;\n\
                 \x20 const word rounded = __float_as_uint(__double2float_rz(value)) & {mask:#x}u;\n\
                 \x20 return rounded << 1 & 0xffffffffu ? rounded : 0;"
            ))
        }
        (Rounding::Rne, true, "f32") => Some(
            "  (void)size;\n  const word rounded = __float_as_uint(__double2float_rn(value));\n\
             \x20 return rounded << 1 & 0xffffffffu ? rounded : 0;"
                .to_owned(),
        ),
        (Rounding::Rne, false, "f16") => Some(
            "  (void)size;\n  unsigned short rounded;\n  asm volatile(\"cvt.rn.f16.f64 %0, %1;\" : \"=h\"(rounded) : \"d\"(value));\n\
             \x20 return rounded << 1 & 0xffff ? rounded : 0;"
                .to_owned(),
        ),
        _ => None,
    }
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
    let values = [
        ("L", sum.l.to_string()),
        ("F", sum.f.to_string()),
        ("E0", sum.e0.to_string()),
        ("FORMAT_A", initialiser(&signature.a)),
        ("FORMAT_B", initialiser(&signature.b)),
        ("FORMAT_C", initialiser(&signature.c)),
        (
            "FINISH",
            finish(&output.format, output.rounding).unwrap_or_default(),
        ),
    ];
    values.iter().fold(TEXT.to_owned(), |text, (name, value)| {
        text.replace(&format!("@{name}@"), value)
    })
}
