//! The table of every parameter that a step, a result or a program can have.

use super::{MAX_E, MAX_F, MAX_L, Parameter, ParameterKind, Roundings, ShownBy};
use crate::format::Overflow;

const fn numbers(low: i32, high: i32) -> ParameterKind {
    ParameterKind {
        numbers: Some((low, high)),
        words: &[],
        absent: false,
        rounding: Roundings::No,
        registers: &[],
    }
}

const fn words(words: &'static [&'static str]) -> ParameterKind {
    ParameterKind {
        numbers: None,
        words,
        absent: true,
        rounding: Roundings::No,
        registers: &[],
    }
}

/// Words of which one has to be said.
const fn said(all: &'static [&'static str]) -> ParameterKind {
    ParameterKind {
        absent: false,
        ..words(all)
    }
}

/// Numbers or a word.
const fn numbers_or(
    low: i32,
    high: i32,
    words: &'static [&'static str],
    absent: bool,
) -> ParameterKind {
    ParameterKind {
        words,
        absent,
        ..numbers(low, high)
    }
}

const ROUNDING: ParameterKind = ParameterKind {
    numbers: None,
    words: &[],
    absent: false,
    rounding: Roundings::Alone,
    registers: &[],
};

/// A NaN: a word for what it is, or the word itself.
const NANS_OF_RESULTS: ParameterKind = ParameterKind {
    registers: &["", "operand:"],
    ..said(&["any", "own"])
};

const FLUSH: ParameterKind = words(&["none", "plus", "kept"]);

/// Words, or a rounding to a format.
const fn rounded_or(words: &'static [&'static str], absent: bool) -> ParameterKind {
    ParameterKind {
        numbers: None,
        words,
        absent,
        rounding: Roundings::WithFormat,
        registers: &[],
    }
}

macro_rules! parameters {
    ($(
        $(#[doc = $of:literal])+ $list:ident {
            $($name:ident: $symbol:literal, $kind:expr, $cost:literal, $shown_by:ident, $meaning:literal;)+
        }
    )+) => {
        $($(
            #[doc = $meaning]
            pub static $name: Parameter = Parameter {
                symbol: $symbol,
                meaning: $meaning,
                kind: $kind,
                cost: $cost,
                shown_by: ShownBy::$shown_by,
            };
        )+)+
        $(
            $(#[doc = $of])+
            pub static $list: &[&Parameter] = &[$(&$name),+];
        )+
        /// Every parameter there is.
        pub fn all_parameters() -> impl Iterator<Item = &'static Parameter> + Clone {
            [$($list),+].into_iter().flatten().copied()
        }
    };
}

// name: symbol, what it may be (words in the order in which `infer` tries them), cost, which inputs show it, what it is.
parameters! {
/// The parameters of steps.
PARAMETERS {
    L: "L", numbers(1, MAX_L), 2, Blocks, "products per block";
    P: "P", numbers(1, MAX_L), 2, Blocks, "products per group of rounded sums";
    F: "F", numbers_or(1, MAX_F, &["exact"], false), 4, Alignment, "fraction bits kept in the alignment";
    FC: "Fc", numbers_or(1, MAX_F, &["exact"], false), 6, Alignment, "fraction bits of c in the alignment";
    E0: "e0", numbers_or(-MAX_E, MAX_E, &["none"], true), 4, Floor, "floor of the alignment exponent";
    ALIGN: "align", ROUNDING, 4, Ties, "rounding of terms to the grid";
    ALIGN_C: "align-c", ROUNDING, 6, Ties, "rounding of c to the grid";
    G: "G", numbers_or(1, MAX_L, &["none"], true), 6, Blocks, "products per group";
    GROUPS: "groups", words(&["neighbours", "strided"]), 8, Blocks, "which products are a group";
    FG: "Fg", numbers_or(1, MAX_F, &["exact"], false), 8, Alignment, "fraction bits kept in a group";
    ALIGN_G: "align-g", ROUNDING, 8, Ties, "rounding of products to a group's grid";
    EXPONENT_G: "exponent-g", words(&["products", "own", "scales"]), 8, Exponents, "the exponent of a group's sum";
    ZERO_G: "zero-g", words(&["kept", "dropped"]), 8, Blocks, "groups whose sum is zero";
    FJ: "Fj", numbers_or(1, MAX_F, &["none"], true), 16, Alignment, "fraction bits at which products or groups are joined before c";
    ALIGN_J: "align-j", ROUNDING, 16, Ties, "rounding where they are joined";
    F2: "F2", numbers_or(1, MAX_F, &["none"], true), 8, SumBits, "fraction bits kept of the sum";
    FLOOR: "floor", ROUNDING, 8, Ties, "rounding of the sum to F2 bits";
    PRODUCT_LIMIT: "product-limit", numbers_or(-MAX_E, MAX_E, &["none"], true), 8, Range, "power of two from which on products are infinite";
    GRID: "grid", words(&["all", "products"]), 8, Alignment, "the terms that choose the grid";
    DROP_C: "drop-c", numbers_or(1, MAX_E, &["none"], true), 16, Alignment, "binades below the grid's exponent at which c counts as 0";
    STICKY: "sticky", numbers_or(1, 8, &["none", "kept"], true), 8, Ties, "what remembers that something fell off";
    ZERO_TIMES_INF: "zero-times-inf", words(&["nan", "plus", "minus", "signed", "zero"]), 6, Specials, "zero times infinity";
    INF_MINUS_INF: "inf-minus-inf", words(&["nan", "plus", "minus"]), 6, Specials, "infinities of both signs";
    PRODUCTS: "products", rounded_or(&["exact", "normalised"], false), 8, Exponents, "products before they are added";
    ADDS: "adds", words(&["pairwise", "sequential"]), 4, Ties, "the order of additions in a group";
    FLUSH_IN: "flush-in", FLUSH, 4, Subnormals, "subnormal a and b";
    FLUSH_C: "flush-c", FLUSH, 4, Subnormals, "a subnormal c";
    FLUSH_PRODUCTS: "flush-products", FLUSH, 4, Subnormals, "subnormal products";
    FLUSH_OUT: "flush-out", FLUSH, 4, Subnormals, "subnormal products and sums";
    FLUSH_SUMS: "flush-sums", FLUSH, 16, Subnormals, "subnormal sums";
    ZERO_IN: "zero-in", words(&["signed", "plus"]), 16, Zeros, "zeros among a, b and c";
    OPERANDS: "operands", rounded_or(&["exact"], true), 8, Alignment, "rounding of a and b";
    ROUND_C: "round-c", rounded_or(&["exact"], true), 8, Alignment, "rounding of c";
    OF: "of", words(&["product", "sum", "difference"]), 12, Blocks, "what a pair of operands gives to the sum";
    EZ: "ez", numbers_or(-MAX_E, MAX_E, &["none"], true), 12, Floor, "the exponent of a zero product";
    A_FROM: "a-from", numbers(0, 31), 12, Alignment, "the first place of a's significand that is multiplied";
    A_TO: "a-to", numbers_or(0, 31, &["last"], true), 12, Alignment, "the last place of a's significand that is multiplied";
    B_FROM: "b-from", numbers(0, 31), 12, Alignment, "the first place of b's significand that is multiplied";
    B_TO: "b-to", numbers_or(0, 31, &["last"], true), 12, Alignment, "the last place of b's significand that is multiplied";
    FAULT: "fault", numbers_or(1, MAX_F, &["none"], true), 12, LastPlace, "places by which a sum of -1 comes out too high";
    NANS: "nans", said(&["quiet", "leaks"]), 12, Specials, "the NaN that a multiply-add makes";
    LOSES: "loses", said(&["nothing", "bit"]), 12, Ties, "what a sum that is two places too long loses";
    TINY: "tiny", said(&["zero", "rounded"]), 12, Subnormals, "results below the smallest normal number";
    PAIR: "pair", words(&["product", "differ"]), 12, Blocks, "what a pair of integers gives to the sum";
    BEYOND: "beyond", said(&["wraps", "saturates"]), 12, Range, "integer sums that the accumulator does not hold";
    FLUSH_OF: "flush-of", words(&["both", "a", "b"]), 4, Subnormals, "the operands that are flushed";
}

/// The parameters of results: what stands behind `->`, a rounding and a format.
RESULT_PARAMETERS {
    EXPONENTS: "exponents", words(&["special", "numbers"]), 4, Range, "what codes of results with an exponent field of ones are";
    NAN: "nan", NANS_OF_RESULTS, 4, Specials, "which NaN a NaN result is";
    ZERO: "zero", said(&["plus", "exact", "ieee", "minus", "exact-minus", "common", "common-minus"]), 4, Zeros, "the sign of a zero result";
    OVERFLOW: "overflow", said(&Overflow::NAMES), 4, Range, "results beyond the largest number";
    FLUSH_RESULT: "flush", FLUSH, 4, Subnormals, "subnormal results";
    TININESS: "tininess", words(&["after", "before", "unbounded"]), 4, Subnormals, "which results a flush takes to be subnormal";
}

/// The parameters of whole programs.
PROGRAM_PARAMETERS {
    CODES: "codes", words(&["special", "numbers", "largest"]), 8, Specials, "what the infinity and NaN codes of a and b are";
}
}

/// The parameter of that symbol.
#[must_use]
pub fn parameter(symbol: &str) -> Option<&'static Parameter> {
    all_parameters().find(|known| known.symbol == symbol)
}
