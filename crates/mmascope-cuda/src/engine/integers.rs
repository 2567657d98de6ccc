//! Sums of integers: by `dp4a` of bytes, counts of bits, or multiplications.

use mmascope_model::dpa::{Beyond, IntPair, Unit};
use mmascope_model::format::Format;

use super::fast::{Fast, filled, of_integers};

const HEAD: &str = include_str!("../source/integers.cu");
const METHOD: &str = include_str!("../source/integer_sums.cu");

/// The method of a unit of integers.
pub(super) fn fast(unit: &Unit) -> Result<Fast, String> {
    let signature = unit.signature();
    let Some(dot) = unit.program().integer_sum() else {
        return Err("no sum of all integer products and c".to_owned());
    };
    let (a, b, d) = (&signature.a, &signature.b, &signature.d);
    let l = (dot.l as usize).min(signature.k);
    if signature.c != *d || ![32, 64].contains(&d.bits) || d.register.shift != 0 {
        return Err(format!("integer accumulators in {d}"));
    }
    if !signature.k.is_multiple_of(l) {
        return Err("a last block of integer products that is shorter".to_owned());
    }
    let saturates = dot.beyond == Beyond::Saturates;
    // Products of a block fill a signed number of 64 bits at most, and c another of 32.
    if saturates && (d.bits != 32 || a.bits + b.bits + l.ilog2() > 61) {
        return Err("saturating sums of more than 64 bits".to_owned());
    }
    let are_bits = a.bits == 1 && b.bits == 1 && !a.signed && !b.signed;
    let differ = dot.pair == IntPair::Differ;
    if differ && !are_bits {
        return Err("operands that differ, of several bits".to_owned());
    }
    // Sums of bytes stay below 2^31, too.
    let pack = match (are_bits, a.bits.max(b.bits)) {
        (true, _) if l.is_multiple_of(32) => 32,
        (false, ..=8) if l.is_multiple_of(4) && l <= 1 << 14 => 4,
        _ => 1,
    };
    // Sums that wrap may be cut anywhere.
    let slots = signature.k / pack;
    let block = match saturates {
        true => l / pack,
        false => (1..=16)
            .rev()
            .find(|block| slots.is_multiple_of(*block))
            .unwrap_or(1),
    };
    if block > 32 {
        return Err("saturating sums that are longer than a tile".to_owned());
    }
    let word = |format: &Format| if format.signed { "s32" } else { "u32" };
    let number = |format: &Format, name: &str| match format.signed {
        true => format!("(word)(long long)(int){name}"),
        false => format!("(word){name}"),
    };
    let is_signed = a.signed || b.signed;
    let (sum, add) = match pack {
        32 => (
            "unsigned",
            format!(
                "sum[r][c] += __popc(x[r] {} y[c])",
                if differ { "^" } else { "&" }
            ),
        ),
        4 => (
            if is_signed { "int" } else { "unsigned" },
            format!(
                "{{ unsigned to; asm volatile(\"dp4a.{}.{} %0, %1, %2, %3;\" : \"=r\"(to) : \"r\"(x[r]), \"r\"(y[c]), \"r\"((unsigned)sum[r][c])); sum[r][c] = to; }}",
                word(a),
                word(b)
            ),
        ),
        _ if differ => ("word", "sum[r][c] += x[r] ^ y[c]".to_owned()),
        _ => (
            "word",
            format!("sum[r][c] += {} * {}", number(a, "x[r]"), number(b, "y[c]")),
        ),
    };
    let format = |format: &Format| {
        format!(
            "{{{}, {}, {}}}",
            format.bits,
            i32::from(format.signed),
            format.register.shift
        )
    };
    let (least, most) = match d.signed {
        true => ("-2147483648LL", "2147483647LL"),
        false => ("0", "4294967295LL"),
    };
    let values = [
        ("PACK", pack.to_string()),
        ("BLOCK", block.to_string()),
        ("FORMAT_A", format(a)),
        ("FORMAT_B", format(b)),
        (
            "VALUE",
            if d.bits == 64 { "word" } else { "unsigned" }.to_owned(),
        ),
        ("COLUMNS", "8".to_owned()),
        ("RESIDENT", "1".to_owned()),
        ("SUM", sum.to_owned()),
        ("ADD", add),
        ("SATURATES", i32::from(saturates).to_string()),
        (
            "ACCUMULATOR",
            if d.signed { "int" } else { "unsigned" }.to_owned(),
        ),
        ("LEAST", least.to_owned()),
        ("MOST", most.to_owned()),
        (
            "BODY",
            "  run<Integers>(shared, first_step * SLOTS, steps * SLOTS, own, bad);".to_owned(),
        ),
    ];
    Ok(Fast {
        what: match pack {
            32 => "sums of integers by counts of bits",
            4 => "sums of integers by products of four bytes",
            _ => "sums of integers by multiplications",
        },
        source: filled(&of_integers(HEAD, METHOD), &values),
        tile: [64, 64],
        bytes: 4,
        slots,
        exponents: [0, 0],
        signs: None,
    })
}
