//! The matrix unit: products, element-wise operations, pooling and moves (§4).

use super::machine::{Machine, Phase, TensixElement};
use super::source::{SIGN, SourceFormat, Width, dst_number, working_of_f16};
use crate::dpa::Events;
use crate::error::{Error, Result};

/// The matrix unit with a setting: how the sources are read and how wide Dst is.
#[derive(Clone, Copy, Debug)]
pub struct Fpu<'m> {
    machine: &'m Machine,
    a: SourceFormat,
    b: SourceFormat,
    width: Width,
}

impl Machine {
    /// The matrix unit for sources of these types. The type of SrcA decides how exponents are read, so
    /// both sources have exponents of the same width.
    ///
    /// # Errors
    /// [`Error::Argument`] for types that do not go together, and for integers, which have their own
    /// functions ([`super::integer_mvmul`]).
    pub fn fpu(&self, a: SourceFormat, b: SourceFormat, width: Width) -> Result<Fpu<'_>> {
        if a == SourceFormat::Int8 || b == SourceFormat::Int8 {
            return Err(Error::Argument(
                "int8 sources are multiplied by integer_mvmul, not by the floating-point unit"
                    .into(),
            ));
        }
        if a.has_wide_exponents() != b.has_wide_exponents() {
            return Err(Error::Argument(format!(
                "SrcA {a:?} and SrcB {b:?}: both have exponents of 8 bits, or both of 5"
            )));
        }
        Ok(Fpu {
            machine: self,
            a,
            b,
            width,
        })
    }
}

impl Fpu<'_> {
    /// The machine that it belongs to.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        self.machine
    }

    /// How wide Dst is.
    #[must_use]
    pub fn width(&self) -> Width {
        self.width
    }

    /// Whether Dst holds f16.
    fn is_f16(&self) -> bool {
        self.width == Width::Bits16 && !self.a.has_wide_exponents()
    }

    /// MVMUL (DOTPV, GAPOOL): `dst + Σ b_k·a_k` over sixteen k, one phase. `a` is a column of SrcA, `b` a
    /// row of SrcB; `dst` and the result are in working form.
    #[must_use]
    pub fn mvmul(&self, phase: Phase, a: &[u32; 16], b: &[u32; 16], dst: u32) -> (u32, Events) {
        // The catalogue's row has SrcB as its a.
        self.element(TensixElement::Product, phase, (self.b, b), (self.a, a), dst)
    }

    /// ELWMUL: `dst + a·b`, one phase.
    #[must_use]
    pub fn multiply(&self, phase: Phase, a: u32, b: u32, dst: u32) -> (u32, Events) {
        self.element(
            TensixElement::Multiply,
            phase,
            (self.a, &[a]),
            (self.b, &[b]),
            dst,
        )
    }

    /// ELWADD: `dst + (a + b)`; without AddDst `dst` is 0.
    #[must_use]
    pub fn add(&self, a: u32, b: u32, dst: u32) -> (u32, Events) {
        let phase = Phase::FIRST;
        self.element(
            TensixElement::Add,
            phase,
            (self.a, &[a]),
            (self.b, &[b]),
            dst,
        )
    }

    /// ELWSUB: `dst + (a − b)`.
    #[must_use]
    pub fn subtract(&self, a: u32, b: u32, dst: u32) -> (u32, Events) {
        let phase = Phase::FIRST;
        self.element(
            TensixElement::Subtract,
            phase,
            (self.a, &[a]),
            (self.b, &[b]),
            dst,
        )
    }

    fn element(
        &self,
        element: TensixElement,
        phase: Phase,
        (format_a, a): (SourceFormat, &[u32]),
        (format_b, b): (SourceFormat, &[u32]),
        dst: u32,
    ) -> (u32, Events) {
        let Some((algorithm, output)) = self.machine.step(element, self.a, self.width, phase)
        else {
            // Every machine has every step: `Machine::of` has looked.
            return (0, Events::default());
        };
        let pairs = a.iter().zip(b);
        let pairs = pairs.map(|(a, b)| (format_a.number(*a), format_b.number(*b)));
        let c = dst_number(dst, self.is_f16());
        let (word, events) = algorithm.of_numbers(pairs, &c, output);
        let word = word as u32;
        let working = match (self.width, self.is_f16()) {
            (Width::Bits32, _) => word,
            (Width::Bits16, true) => working_of_f16(word as u16),
            (Width::Bits16, false) => word << 16,
        };
        (working, events)
    }

    /// MOVA2D, MOVB2D: a source datum as one of Dst. An exponent field of 0 becomes +0.
    #[must_use]
    pub fn to_dst(&self, source: SourceFormat, datum: u32) -> u32 {
        let datum = source.taken(datum);
        if datum & (0xff << 10) == 0 {
            return 0;
        }
        match source {
            SourceFormat::Bf16 | SourceFormat::Tf32 => datum << 13,
            SourceFormat::F16 | SourceFormat::Int8 => (datum & SIGN) << 13 | (datum & 0x7fff) << 13,
        }
    }

    /// MOVD2A, MOVD2B: an f32 datum of Dst as a source datum, truncated.
    #[must_use]
    pub fn from_dst(&self, source: SourceFormat, word: u32) -> u32 {
        source.taken(word >> 13)
    }
}

/// GMPOOL: the largest of a column of SrcA and the value in Dst. Every code is a number of its sign
/// and magnitude; exponent fields of 0 are +0 in SrcA. `a` are source data with exponents of 8 bits; Dst and
/// the result are in working form, a 32-bit Dst truncated to ten fraction bits.
#[must_use]
pub fn pool_maximum(source: SourceFormat, width: Width, a: &[u32], dst: u32) -> u32 {
    let dst = match width {
        Width::Bits32 => dst & !0x1fff,
        Width::Bits16 => dst & !0xffff,
    };
    let words = a.iter().map(|datum| {
        let datum = source.taken(*datum);
        if datum & (0xff << 10) == 0 {
            0
        } else {
            datum << 13
        }
    });
    words.fold(dst, |largest, word| match order(word) > order(largest) {
        true => word,
        false => largest,
    })
}

/// The place of an f32 word in the order of signs and magnitudes: −NaN < −∞ < … < −0 < +0 < … < +NaN.
pub(super) fn order(word: u32) -> i32 {
    let magnitude = (word & 0x7fff_ffff) as i32;
    if word >> 31 == 1 {
        -1 - magnitude
    } else {
        magnitude
    }
}
