//! The algorithms of the papers, one file each: its parameters, the general step that it equals, and the paper's own
//! function, which is the reference and a fast path.
//!
//! A new one is a file here, its `mod` line and its word in `steps!` below. Nothing else has an arm
//! for each algorithm: what is not in its file is read from its rows or from
//! [`Dpa::general`](super::Dpa::general).

mod e_fdpa;
mod fma_chain;
mod ftz_addmul;
mod gr_fdpa;
mod gst_fdpa;
mod gtr_fdpa;
mod int_dot;
mod semi_fma;
mod st_fdpa;
mod t_fdpa;
mod tr_fdpa;

pub use e_fdpa::EFdpa;
pub use fma_chain::FmaChain;
pub use ftz_addmul::FtzAddMul;
pub use gr_fdpa::{Addends, GrFdpa, TakenBits};
pub use gst_fdpa::GstFdpa;
pub use gtr_fdpa::GtrFdpa;
pub use int_dot::{Beyond, IntDot, IntPair};
pub use semi_fma::{SemiFma, SemiNan};
pub use st_fdpa::StFdpa;
pub use t_fdpa::TFdpa;
pub(super) use t_fdpa::block as truncated_block;
pub use tr_fdpa::TrFdpa;
pub(super) use tr_fdpa::floor_to;

use super::events::Events;
use super::general::{AddMul, Fused, General};
use super::notation::Flaw;
use super::output::{Ends, Output, PLUS_ZERO};
use super::pair::Pair;
use super::product::{self, Product};
use super::schema::{Given, Parameter, Row, Rows, Value};
use super::{Select, Signature, Token, ZeroSign, general};
use crate::error::Error;
use crate::format::{Format, Formats, Overflow, Unpacked};

/// What every kind of step has.
pub(super) trait Step: Copy + PartialEq + 'static {
    /// The name in the notation.
    const NAME: &'static str;
    /// The name in the papers.
    const TITLE: &'static str;
    /// Its parameters, in the order of the notation.
    const ROWS: &'static [Row<Self>];
    /// Overflow and sign of zero of a result whose notation does not say them.
    const RESULT: (Overflow, ZeroSign);
    /// Whether it can begin with a product, without a value beside it.
    const FROM_PRODUCT: bool = false;
    /// NaN, flush and tininess of a result whose notation does not say them.
    const ENDS: Ends = Ends::USUAL;
    /// Whether every code of a, b and c is a number to it.
    const NUMBERS_ONLY: bool = false;
    /// Whether it is a step of operands with block scales.
    const SCALED: bool = false;
    /// Whether it tells infinities and NaNs among codes that are numbers, and says what they give.
    const SAYS_SPECIALS: bool = false;

    /// A step to which rows give their values.
    fn new() -> Self;

    /// Products per block: how many k one rounding step takes in.
    fn block(&self) -> usize;

    /// The step of the model space that gives the same results, with this output.
    fn general(&self, output: &Output) -> General;

    /// Says which parameters do not fit each other.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// Whether it rounds after every operation, so that formats may be of any width.
    fn rounds_every_operation(&self) -> bool {
        false
    }

    /// Checks formats, scales and the k that are summed; says whether it uses block scales.
    fn fits(&self, _: &Signature, _: &Select, _: &Format) -> Result<bool, String> {
        Ok(false)
    }

    /// The value that a run begins with.
    fn start(&self, c: Unpacked) -> Unpacked {
        c
    }

    /// Checks what becomes of its results.
    fn takes(&self, _: &Output) -> Result<(), String> {
        Ok(())
    }

    /// The parts of the significands of a and b that it takes, where it takes parts.
    fn parts(&self) -> Option<(TakenBits, TakenBits)> {
        None
    }

    /// Whether all that it takes of a pair is its exact product, its scales included where there are some.
    fn sums_products(&self, _has_scales: bool) -> bool {
        false
    }

    /// One block of exact products. A step that sums no such products has none.
    fn sum(&self, _products: &[Product], _c: &Unpacked, _output: &Output) -> u64 {
        PLUS_ZERO
    }

    /// One block.
    fn run(&self, pairs: &[Pair], c: &Unpacked, output: &Output) -> u64 {
        product::of_each(pairs, |products| self.sum(products, c, output))
    }

    /// One block, adding to the events what happened.
    fn run_noting(&self, pairs: &[Pair], c: &Unpacked, output: &Output, _: &mut Events) -> u64 {
        self.run(pairs, c, output)
    }

    /// A run that begins with a product.
    fn run_from_product(&self, pairs: &[Pair], output: &Output) -> u64 {
        self.general(output).run_from_product(pairs, output)
    }
}

impl<S: Step> Rows for S {
    const ALL: &'static [Row<Self>] = S::ROWS;
    const KIND: &'static str = "parameter";
}

/// Makes the enum of steps, the list of their names, and `each!`, which does something with a step
/// whatever it is.
macro_rules! steps {
    ($($variant:ident),+ $(,)?) => {
        /// An algorithm with its parameters: what one native unit does with a run of k.
        ///
        /// L is the number of products fused per block; a run longer than L is done in blocks of L with
        /// ascending k, each block's rounded result being the next block's c.
        // A program has a few of them, and they are copied freely; boxes would only be in the way.
        #[allow(clippy::large_enum_variant)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Dpa {
            $(
                #[doc = concat!("[`", stringify!($variant), "`].")]
                $variant($variant),
            )+
            /// A step with every parameter of the model space; no known unit needs it.
            General(General),
        }

        $(impl From<$variant> for Dpa {
            fn from(step: $variant) -> Self {
                Self::$variant(step)
            }
        })+

        /// The value of an expression for the step that it is.
        macro_rules! each {
            ($dpa:expr, $step:ident => $value:expr) => {
                match $dpa {
                    $(Dpa::$variant($step) => $value,)+
                    Dpa::General(General::Fused($step)) => $value,
                    Dpa::General(General::AddMul($step)) => $value,
                    Dpa::General(General::Grouped($step)) => $value,
                    Dpa::General(General::Semi($step)) => $value,
                    Dpa::General(General::Integer($step)) => $value,
                }
            };
        }

        /// Names, and steps to begin with.
        const STEPS: &[(&str, fn() -> Dpa)] = &[
            $(($variant::NAME, || Dpa::$variant($variant::new())),)+
            (Fused::NAME, || Dpa::General(General::Fused(Fused::new()))),
            (AddMul::NAME, || Dpa::General(General::AddMul(AddMul::new()))),
        ];
    };
}

steps! {
    FmaChain,
    TFdpa,
    StFdpa,
    GstFdpa,
    FtzAddMul,
    EFdpa,
    TrFdpa,
    GtrFdpa,
    GrFdpa,
    SemiFma,
    IntDot,
}

impl From<Fused> for Dpa {
    fn from(step: Fused) -> Self {
        Self::General(General::Fused(step))
    }
}

impl From<AddMul> for Dpa {
    fn from(step: AddMul) -> Self {
        Self::General(General::AddMul(step))
    }
}

impl Dpa {
    /// The names of all algorithms in the notation.
    pub fn names() -> impl Iterator<Item = &'static str> {
        STEPS.iter().map(|(name, _)| *name)
    }

    /// Every algorithm, with the least of each parameter: something to begin with.
    pub fn all() -> impl Iterator<Item = Self> {
        STEPS.iter().map(|(_, new)| new())
    }

    /// The name in the notation.
    #[must_use]
    pub fn name(&self) -> &'static str {
        fn of<S: Step>(_: &S) -> &'static str {
            S::NAME
        }
        each!(self, step => of(step))
    }

    /// The name in the papers.
    #[must_use]
    pub fn title(&self) -> &'static str {
        fn of<S: Step>(_: &S) -> &'static str {
            S::TITLE
        }
        each!(self, step => of(step))
    }

    /// Products per block: how many k one rounding step takes in.
    #[must_use]
    pub fn block(&self) -> usize {
        each!(self, step => Step::block(step))
    }

    /// The step of the model space that gives the same results where results are made by `output`.
    #[must_use]
    pub fn general(&self, output: &Output) -> General {
        each!(self, step => Step::general(step, output))
    }

    /// Every parameter with its value, in the order of the notation, where it has a meaning.
    #[must_use]
    pub fn parameters(&self) -> Vec<(&'static Parameter, Value)> {
        each!(self, step => Rows::parameters(step))
    }

    /// The parameters that are not at their defaults, with their values, in the order of the notation.
    #[must_use]
    pub fn said(&self) -> Vec<(&'static Parameter, Value)> {
        each!(self, step => Rows::said(step))
    }

    /// The value of a parameter; `None` when the step has none of that symbol.
    #[must_use]
    pub fn get(&self, symbol: &str) -> Option<Value> {
        each!(self, step => Rows::get(step, symbol))
    }

    /// The value of a parameter that is a number.
    #[must_use]
    pub fn number(&self, symbol: &str) -> Option<i32> {
        match self.get(symbol) {
            Some(Value::Number(number)) => Some(number),
            _ => None,
        }
    }

    /// Changes a parameter; false where the step cannot have this value.
    pub fn set(&mut self, symbol: &str, value: Value) -> bool {
        each!(self, step => Rows::set(step, symbol, value))
    }

    /// Says which parameter is out of its range.
    ///
    /// # Errors
    /// The parameter, its value and what it may be.
    pub fn check_limits(&self) -> Result<(), String> {
        each!(self, step => step.check_ranges().and_then(|()| step.check()))
    }

    /// Checks the step against formats; says whether it uses block scales.
    pub(super) fn fits(
        &self,
        signature: &Signature,
        over: &Select,
        result: &Format,
    ) -> Result<bool, String> {
        let Signature { a, b, c, .. } = signature;
        let is_wide = |format: &Format| format.bits > 32;
        // A result of f32's precision may have any range.
        let is_precise = |format: &Format| format.float().is_none_or(|it| it.fraction_bits > 23);
        let operand = [a, b, c].into_iter().find(|format| is_wide(format));
        let wide = operand.or(Some(result).filter(|it| is_wide(it) && is_precise(it)));
        if let Some(wide) = wide.filter(|_| !self.rounds_every_operation()) {
            return Err(format!("{self} takes at most 32-bit formats, not {wide}"));
        }
        each!(self, step => step.fits(signature, over, result))
    }

    /// Checks what becomes of its results.
    pub(super) fn takes(&self, output: &Output) -> Result<(), String> {
        each!(self, step => Step::takes(step, output))
    }

    /// Whether it rounds after every operation, so that formats may be of any width.
    #[must_use]
    pub fn rounds_every_operation(&self) -> bool {
        each!(self, step => Step::rounds_every_operation(step))
    }

    /// Whether it can begin with a product, without a value beside it.
    #[must_use]
    pub fn can_begin_with_product(&self) -> bool {
        fn of<S: Step>(_: &S) -> bool {
            S::FROM_PRODUCT
        }
        each!(self, step => of(step))
    }

    /// Overflow and sign of zero of a result whose notation does not say them.
    pub(super) fn result(&self) -> (Overflow, ZeroSign) {
        fn of<S: Step>(_: &S) -> (Overflow, ZeroSign) {
            S::RESULT
        }
        each!(self, step => of(step))
    }

    /// NaN, flush and tininess of a result whose notation does not say them.
    pub(super) fn ends(&self) -> Ends {
        fn of<S: Step>(_: &S) -> Ends {
            S::ENDS
        }
        each!(self, step => of(step))
    }

    /// Whether it is an algorithm of operands with block scales, and of no others.
    #[must_use]
    pub fn takes_scales(&self) -> bool {
        fn of<S: Step>(_: &S) -> bool {
            S::SCALED
        }
        each!(self, step => of(step))
    }

    /// Whether every code of a, b and c is a number to it: it knows no ∞ and NaN among them.
    #[must_use]
    pub fn knows_numbers_only(&self) -> bool {
        fn of<S: Step>(_: &S) -> bool {
            S::NUMBERS_ONLY
        }
        each!(self, step => of(step))
    }

    /// Whether it tells infinities and NaNs among codes that are numbers, and says what they give.
    pub(super) fn says_specials(&self) -> bool {
        fn of<S: Step>(_: &S) -> bool {
            S::SAYS_SPECIALS
        }
        each!(self, step => of(step))
    }

    /// Whether its operands and its sum are integers.
    #[must_use]
    pub fn sums_integers(&self) -> bool {
        matches!(self, Self::IntDot(_) | Self::General(General::Integer(_)))
    }

    /// The parts of the significands of a and b that it takes, where it takes parts.
    #[must_use]
    pub fn parts(&self) -> Option<(TakenBits, TakenBits)> {
        each!(self, step => step.parts())
    }

    /// Whether all that it takes of a pair is its exact product.
    pub(super) fn sums_products(&self, has_scales: bool) -> bool {
        each!(self, step => Step::sums_products(step, has_scales))
    }

    /// Runs an algorithm that sums exact products over them.
    pub(super) fn sum(&self, products: &[Product], start: Unpacked, output: &Output) -> u64 {
        each!(self, step => chain(step, products, start, output, |products, c| {
            Step::sum(step, products, c, output)
        }))
    }

    /// Runs the algorithm over `pairs` in their order, adding to the events what happened.
    pub(super) fn run(
        &self,
        pairs: &[Pair],
        start: Beginning,
        output: &Output,
        events: &mut Events,
    ) -> u64 {
        let Beginning::Value(start) = start else {
            return each!(self, step => step.run_from_product(pairs, output));
        };
        each!(self, step => chain(step, pairs, start, output, |pairs, c| {
            Step::run_noting(step, pairs, c, output, events)
        }))
    }

    /// One block over all the pairs, whatever L is. The pairs from `products` on are values times one.
    pub(super) fn run_whole(
        &self,
        pairs: &[Pair],
        products: usize,
        start: Unpacked,
        output: &Output,
    ) -> u64 {
        match self.general(output) {
            General::Fused(fused) => fused.sum_of(pairs, products, &fused.start(start), output),
            General::AddMul(step) => step.sum_of(pairs, &step.start(start), output),
            General::Grouped(step) => step.run(pairs, &start, output),
            General::Semi(step) => step.run(pairs, &start, output),
            General::Integer(step) => step.run(pairs, &start, output),
        }
    }

    /// What the step does, in words, sentence by sentence.
    pub(super) fn words(&self, output: &Output) -> Vec<String> {
        let general = Self::General(self.general(output));
        each!(&general, step => Rows::words(step, output))
    }

    /// Reads the parameters of an algorithm.
    pub(super) fn parse(
        head: Token<'_>,
        given: &[Given<'_>],
        formats: &Formats,
    ) -> Result<Self, Flaw> {
        let Some((_, new)) = STEPS.iter().find(|(name, _)| *name == head.text) else {
            let names = Self::names().chain(["add", "convert", "negate", "join"]);
            let error = Error::unknown("algorithm", head.text, names);
            return Err((head.column, error.to_string()));
        };
        let mut step = new();
        each!(&mut step, step => {
            step.read(head, given, formats)?;
            step.check().map_err(|message| (head.column, message))?;
        });
        Ok(step)
    }
}

/// Blocks of pairs or products, one after the other: the result of each is the next one's c.
fn chain<S: Step, T>(
    step: &S,
    terms: &[T],
    start: Unpacked,
    output: &Output,
    mut block: impl FnMut(&[T], &Unpacked) -> u64,
) -> u64 {
    let mut block = |terms: &[T], c: &Unpacked| general::finished(block(terms, c), output);
    let mut blocks = terms.chunks(step.block());
    let Some(first) = blocks.next() else {
        return PLUS_ZERO;
    };
    let sum = block(first, &step.start(start));
    blocks.fold(sum, |sum, terms| {
        let c = match S::NUMBERS_ONLY {
            true => output.number(sum),
            false => output.unpack(sum),
        };
        block(terms, &c)
    })
}

/// What a run begins with.
#[derive(Clone, Copy)]
pub(super) enum Beginning {
    /// A value, which the first block takes for c.
    Value(Unpacked),
    /// A product: there is no value beside it.
    Product,
}

impl std::fmt::Display for Dpa {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.name())?;
        for (parameter, value) in self.said() {
            write!(out, " {}={value}", parameter.symbol)?;
        }
        Ok(())
    }
}
