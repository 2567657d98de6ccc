//! Plans a unit's program as stages over lanes, or gives the reason why it has no kernel.
//! Only parameters of the program and its formats decide.

use super::codec::Codec;
use super::decoder::Decoder;
use super::down;
use super::exponents::power_of_two;
use super::joined::joined;
use super::pack::Order;
use super::sum::{Finish, Kind, Narrow, Sum};
use crate::dpa::{
    Dpa, EFdpa, FlushSign, FtzAddMul, GtrFdpa, Operation, Output, Select, Signature, Source,
    StFdpa, Start, TFdpa, TrFdpa, Unit, ZeroSign,
};
use crate::format::{Overflow, Rounding};

/// Where a stage's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    C,
    Zero,
    Stage(usize),
}

/// What an addition or a conversion is rounded to, always to nearest even.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Round {
    /// `None`: f32.
    pub(super) narrow: Option<Narrow>,
    /// A zero keeps its sign.
    pub(super) signed_zero: bool,
}

/// One statement over lanes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stage {
    /// A fused sum over so many groups from a slot of the step on.
    Sum {
        sum: Sum,
        slot: usize,
        groups: usize,
        from: From,
    },
    /// A chain of fused multiply-adds in f32; without a start, the first is a product.
    Chain {
        slot: usize,
        slots: usize,
        from: Option<From>,
    },
    /// Products and sums of `p` of them, pairwise, each rounded to f32.
    Pairwise {
        slot: usize,
        slots: usize,
        p: usize,
        from: From,
        /// A zero c becomes +0 before each step.
        plus: bool,
    },
    /// Exact sums of `l` products and c, each rounded to f32.
    Exact {
        slot: usize,
        slots: usize,
        l: usize,
        from: From,
    },
    Add(From, From, Round),
    Convert(From, Round),
}

impl Stage {
    /// Where its values come from.
    pub(super) fn reads(&self) -> Vec<From> {
        match self {
            Self::Sum { from, .. }
            | Self::Pairwise { from, .. }
            | Self::Exact { from, .. }
            | Self::Convert(from, _) => vec![*from],
            Self::Chain { from, .. } => from.iter().copied().collect(),
            Self::Add(left, right, _) => vec![*left, *right],
        }
    }

    /// The same with values from elsewhere.
    pub(super) fn reading(mut self, of: impl Fn(From) -> From) -> Self {
        match &mut self {
            Self::Sum { from, .. }
            | Self::Pairwise { from, .. }
            | Self::Exact { from, .. }
            | Self::Convert(from, _) => *from = of(*from),
            Self::Chain { from, .. } => *from = from.map(of),
            Self::Add(left, right, _) => (*left, *right) = (of(*left), of(*right)),
        }
        self
    }

    /// Makes a sum one group, and says of how many slots; other stages stay.
    pub(super) fn cut(&mut self) -> Option<usize> {
        match self {
            Self::Sum { sum, groups, .. } => {
                *groups = 1;
                Some(sum.slots)
            }
            Self::Exact { slots, l, .. } => {
                *slots = *l;
                Some(*l)
            }
            _ => None,
        }
    }
}

/// Fraction bits below the largest term at which an exact sum in f64 is in doubt.
pub(super) const DOUBT: u32 = 40;

/// A program for the fused kernel.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) stages: Vec<Stage>,
    pub(super) order: Order,
    pub(super) a: Decoder,
    pub(super) b: Decoder,
    pub(super) c: Codec,
    pub(super) d: Codec,
    /// Whether a sum takes c, so that c has to lie in the kernel's range.
    pub(super) takes_c: bool,
    /// The largest and the smallest F of the sums.
    pub(super) f: u32,
    /// The sums' largest e0; `None` where there is none.
    pub(super) e0: Option<i32>,
    /// Products whose magnitude stays below half of the grid under e0 are nothing.
    pub(super) vanishes: bool,
    /// One fused sum is the whole program.
    pub(super) single: bool,
    /// Operands take part as numbers of a wider format.
    pub(super) widened: bool,
    /// Nothing but f32 arithmetic: exponents do not matter.
    pub(super) native: bool,
    /// Subnormal results are flushed.
    pub(super) flushes: bool,
    /// The sign that a result which rounds to a zero keeps: f32's sign bit, or nothing.
    pub(super) zero_sign: u32,
}

/// Why not.
pub(super) type Refusal = String;

impl Plan {
    pub(super) fn new(unit: &Unit, negate: [bool; 2]) -> Result<Self, Refusal> {
        let signature = unit.signature();
        let statements = &unit.program().statements;
        let last = unit.program().output();
        let widened = statements
            .iter()
            .find_map(|statement| match &statement.operation {
                Operation::Dot { operands, .. } => Some(*operands),
                _ => None,
            });
        let reading = widened.ok_or("no dot product in the program")?;
        if !reading.is_whole() {
            return Err("parts of significands".to_owned());
        }
        let widened = reading.widened;
        let decoder = |format, negate| {
            Decoder::new(format, widened.as_ref(), negate)
                .ok_or_else(|| format!("operands in {format} are no f32"))
        };
        let codec = |format| {
            Codec::new(format, last)
                .filter(Codec::is_ieee)
                .ok_or_else(|| format!("accumulators in {format} are no f32"))
        };
        let mut plan = Self {
            stages: Vec::new(),
            order: Order::new(),
            a: decoder(&signature.a, negate[0])?,
            b: decoder(&signature.b, negate[1])?,
            c: codec(&signature.c)?,
            d: codec(&signature.d)?,
            takes_c: false,
            f: 0,
            e0: None,
            vanishes: true,
            single: statements.len() == 1,
            widened: widened.is_some(),
            native: true,
            flushes: false,
            zero_sign: match last.zero {
                ZeroSign::Plus => 0,
                _ => 1 << 31,
            },
        };
        if !plan.c.reads_all_of(&last.format) {
            return Err(format!(
                "c in {} drops bits of results in {}",
                signature.c, last.format
            ));
        }
        if statements.len() > MAX_STAGES {
            return Err(format!("more than {MAX_STAGES} statements"));
        }
        let from_c = matches!(
            statements[0].operation,
            Operation::Dot { from: Start::C, .. }
        );
        plan.single &= from_c;
        let c_smallest = plan.c.smallest();
        let mut reads_c = Vec::new();
        let mut formats = Vec::new();
        for statement in statements {
            let output = &statement.output;
            let from = |source: Source| match source {
                Source::C => From::C,
                Source::Zero => From::Zero,
                Source::Statement(index) => From::Stage(index),
            };
            let smallest = |from: From| match from {
                From::C => c_smallest,
                From::Zero => 0,
                From::Stage(index) => formats[index],
            };
            let has_c = |from: From| match from {
                From::C => true,
                From::Zero => false,
                From::Stage(index) => reads_c[index],
            };
            if output.flush.is_some() {
                return Err("results that are flushed".to_owned());
            }
            let out_smallest = Codec::new(&output.format, output)
                .filter(Codec::is_ieee)
                .ok_or_else(|| format!("results in {} are no f32", output.format))?
                .smallest();
            let (stage, c) = match &statement.operation {
                Operation::Dot {
                    algorithm,
                    operands: own,
                    over,
                    from: source,
                } => {
                    if *own != reading {
                        return Err("operands widened in two ways".into());
                    }
                    if over.indices(signature.k).is_empty() {
                        return Err("a sum of no products".into());
                    }
                    let slot = plan.order.len();
                    if let Some((stage, slots)) =
                        plan.other(algorithm, over, output, *source, signature.k)?
                    {
                        plan.stages.push(stage);
                        reads_c.push(*source == Start::C);
                        formats.push(out_smallest);
                        debug_assert!(plan.order.len() == slot + slots);
                        continue;
                    }
                    let value = source.source();
                    let from = from(value.ok_or("a sum that begins with a product")?);
                    plan.native = false;
                    let (sum, e0) = fused_sum(algorithm, signature, over, output, smallest(from))?;
                    plan.takes_c |= has_c(from);
                    if plan.f != 0 && (plan.f, plan.e0) != (sum.f, e0) {
                        return Err("sums with different F or e0".into());
                    }
                    (plan.f, plan.e0) = (sum.f, e0);
                    plan.vanishes &= sum.kind == Kind::Fused;
                    fill(&mut plan.order, over, signature.k, algorithm.block(), &sum);
                    let groups = (plan.order.len() - slot) / sum.slots;
                    (
                        Stage::Sum {
                            sum,
                            slot,
                            groups,
                            from,
                        },
                        has_c(from),
                    )
                }
                Operation::Add(left, right) => {
                    let (left, right) = (from(*left), from(*right));
                    let round = round(output)?;
                    let narrow = out_smallest != 0;
                    if round.narrow.is_some() {
                        // The f32 sum of two numbers of at most 11 bits, rounded again, is the
                        // sum rounded once.
                        let same =
                            smallest(left) == out_smallest && smallest(right) == out_smallest;
                        if !(narrow && same && round.narrow.is_some_and(|n| n.bits <= 10)) {
                            return Err("an addition that f32 would round twice".into());
                        }
                    }
                    (Stage::Add(left, right, round), has_c(left) || has_c(right))
                }
                Operation::Join { .. } => return Err("a sum of several values".to_owned()),
                Operation::Convert(source) => {
                    let from = from(*source);
                    (Stage::Convert(from, round(output)?), has_c(from))
                }
            };
            plan.stages.push(stage);
            reads_c.push(c);
            formats.push(out_smallest);
        }
        let is_chain = |stage: &Stage| matches!(stage, Stage::Chain { .. });
        if !plan.native && plan.stages.iter().any(is_chain) {
            // What a sum may leave out of its operands, and what it may take as its c, is not what a
            // chain takes and gives.
            return Err("chains of multiply-adds beside fused sums".into());
        }
        plan.stages = joined(plan.stages);
        Ok(plan)
    }

    /// The program's only statement, if it is a fused sum.
    pub(super) fn only(&self) -> Option<Sum> {
        match self.stages[..] {
            [Stage::Sum { sum, .. }] if self.single => Some(sum),
            _ => None,
        }
    }

    /// The same, if the sum can round toward −∞ product by product in 32-bit lanes.
    pub(super) fn down(&self) -> Option<Sum> {
        self.only().filter(|sum| down::fits(sum, &self.a, &self.b))
    }

    /// The stages that are no fused sum, with their slots entered.
    fn other(
        &mut self,
        algorithm: &Dpa,
        over: &Select,
        output: &Output,
        source: Start,
        k: usize,
    ) -> Result<Option<(Stage, usize)>, Refusal> {
        let from = match source {
            Start::C => Some(From::C),
            Start::Zero => Some(From::Zero),
            Start::Product => None,
            Start::Statement(index) => Some(From::Stage(index)),
        };
        let slot = self.order.len();
        let is_f32 = output.format.bits == 32 && output.rounding == Rounding::Rne;
        let indices = over.indices(k);
        let slots = indices.len();
        let wrong = || {
            Err(format!(
                "{} {} zero={} overflow={}",
                output.rounding, output.format, output.zero, output.overflow
            ))
        };
        let ieee = is_f32 && output.zero == ZeroSign::Ieee && output.overflow == Overflow::Ieee;
        let stage = match *algorithm {
            Dpa::FmaChain(_) => {
                if !ieee {
                    return wrong();
                }
                Stage::Chain { slot, slots, from }
            }
            Dpa::FtzAddMul(FtzAddMul {
                p,
                flush_in,
                flush_out,
            }) => {
                if !ieee || flush_out != FlushSign::Kept {
                    return wrong();
                }
                if self.widened || self.c.smallest() != 0 {
                    return Err(
                        "flushes by another exponent than f32's or the operands' own".into(),
                    );
                }
                let p = p as usize;
                if !(p == 1 || p == 2 || p == 4) || !slots.is_multiple_of(p) {
                    return Err(format!("pairwise sums of P={p}"));
                }
                let (Some(from), true) = (from, self.single) else {
                    return Err("pairwise sums among other statements".into());
                };
                (self.a, self.b) = (self.a.flushed(flush_in), self.b.flushed(flush_in));
                self.flushes = true;
                self.takes_c = true;
                Stage::Pairwise {
                    slot,
                    slots,
                    p,
                    from,
                    plus: flush_in == FlushSign::Plus,
                }
            }
            Dpa::EFdpa(EFdpa { l }) => {
                let l = l as usize;
                let bits = self.a.fraction_bits() + self.b.fraction_bits() + 2;
                if l > 16 || bits > 24 || !slots.is_multiple_of(l.min(slots)) {
                    return Err(format!(
                        "exact sums of {l} products of {bits} bits over {slots} k"
                    ));
                }
                if !is_f32 || output.zero != ZeroSign::Exact || !overflows(output) {
                    return wrong();
                }
                let (Some(from), true) = (from, self.single) else {
                    return Err("exact sums among other statements".into());
                };
                self.native = false;
                self.takes_c = true;
                self.vanishes = false;
                self.f = DOUBT;
                Stage::Exact {
                    slot,
                    slots,
                    l: l.min(slots),
                    from,
                }
            }
            _ => return Ok(None),
        };
        self.order.extend(indices.into_iter().map(Some));
        Ok(Some((stage, slots)))
    }
}

/// Longest program.
pub(super) const MAX_STAGES: usize = 6;

/// Fills up slots with a statement's k, each group to its slots; even and odd ones apart where the sum
/// takes them so.
fn fill(order: &mut Order, over: &Select, k: usize, block: usize, sum: &Sum) {
    let parts = if sum.kind == Kind::Parity { 2 } else { 1 };
    for group in over.indices(k).chunks(block) {
        for part in 0..parts {
            let own = group.iter().skip(part).step_by(parts);
            let zeros = sum.slots / parts - own.len();
            order.extend(own.map(|k| Some(*k)));
            order.extend(std::iter::repeat_n(None, zeros));
        }
    }
}

/// Whether what leaves the format becomes ∞, and an ∞ stays one.
pub(super) fn overflows(output: &Output) -> bool {
    matches!(output.overflow, Overflow::Infinity | Overflow::Ieee)
}

fn narrow(output: &Output) -> Result<Narrow, Refusal> {
    let float = output.format.float().ok_or("no float")?;
    let wide = float.emin() == -126;
    let bits = float.fraction_bits;
    let largest = output.format.decode(output.format.max_finite(false));
    let field = (largest.exponent + 127) as u32;
    let fraction = largest.significand as u32 & ((1 << bits) - 1);
    Ok(Narrow {
        bits,
        wide,
        smallest: ((float.emin() + 127) as u32) << 23,
        largest: field << 23 | fraction << (23 - bits),
    })
}

/// The rounding of an addition or a conversion.
fn round(output: &Output) -> Result<Round, Refusal> {
    let bits = output.format.float().map_or(0, |float| float.fraction_bits);
    if output.rounding != Rounding::Rne || !overflows(output) {
        return Err(format!("{} {}", output.rounding, output.format));
    }
    let signed_zero = match output.zero {
        ZeroSign::Ieee => true,
        _ => {
            return Err("a sum whose zeros are not IEEE 754's".into());
        }
    };
    Ok(Round {
        narrow: if bits == 23 {
            None
        } else {
            Some(narrow(output)?)
        },
        signed_zero,
    })
}

fn finish(output: &Output) -> Result<(Finish, bool), Refusal> {
    let float = output.format.float().ok_or("no float")?;
    let wide = float.emin() == -126 && float.exponent_bits == 8;
    let refuse = || Err(format!("{} {}", output.rounding, output.format));
    // A sum that is not zero stays away from zero in a wide format, so −0 never comes about there.
    if !overflows(output) {
        return Err(format!("overflow={}", output.overflow));
    }
    let zero_fits = output.zero == ZeroSign::Plus || wide && output.zero == ZeroSign::Exact;
    if !zero_fits {
        return Err(format!("zero={}", output.zero));
    }
    let finish = match output.rounding {
        Rounding::Rz if wide => Finish::TowardZero {
            mask: u32::MAX << (23 - float.fraction_bits),
        },
        Rounding::Rne if wide && float.fraction_bits == 23 => Finish::Nearest,
        Rounding::Rne => Finish::NearestAt(narrow(output)?),
        _ => return refuse(),
    };
    Ok((finish, wide))
}

/// The first byte, of 128, from which on a sum may be suspected of an overflow.
const SUSPICIOUS: u32 = 112;

fn fused_sum(
    algorithm: &Dpa,
    signature: &Signature,
    over: &Select,
    output: &Output,
    c_smallest: u32,
) -> Result<(Sum, Option<i32>), Refusal> {
    let (kind, l, f, e0, align, f2) = match *algorithm {
        Dpa::TFdpa(TFdpa { l, f, e0, align }) => (Kind::Fused, l, f, Some(e0), align, 0),
        Dpa::StFdpa(StFdpa { l, f, e0, align }) => (Kind::Scaled, l, f, Some(e0), align, 0),
        Dpa::TrFdpa(TrFdpa { l, f, f2 }) => (Kind::Late, l, f, None, Rounding::Rz, f2),
        Dpa::GtrFdpa(GtrFdpa { l, f, f2 }) => (Kind::Parity, l, f, None, Rounding::Rz, f2),
        _ => return Err("no fused sum".into()),
    };
    let late = matches!(kind, Kind::Late | Kind::Parity);
    let nearest = match align {
        Rounding::Rz => false,
        Rounding::Rne => true,
        other => return Err(format!("terms rounded {other}")),
    };
    let bits = |format: &crate::format::Format| format.float().map_or(64, |x| x.fraction_bits);
    let (a, b) = (bits(&signature.a), bits(&signature.b));
    if a + b + 2 > 24 {
        return Err("products of more than 24 bits".into());
    }
    let slots = (over.indices(signature.k).len())
        .min(l as usize)
        .next_multiple_of(2);
    // Largest term and largest c in units of the grid.
    let largest = |bits: u32| 2.0 - power_of_two(-(bits as i32));
    let unit = power_of_two(f as i32);
    let term = (largest(a) * largest(b) * unit).ceil() + 1.0;
    let limit = power_of_two(31);
    let (half, whole) = (slots as f64 / 2.0 * term, slots as f64 * term);
    if f > 28 || half + 2.0 * unit + 1.0 >= limit {
        return Err(format!(
            "L={l} terms of F={f} fraction bits do not fit 32 bits"
        ));
    }
    // A sum that leaves i32 comes back as itself minus 2^32: at least so large a number that hardly any
    // other sum is suspected, or else the halves are kept apart.
    let most = whole + 2.0 * unit + 1.0;
    let apart = nearest || kind == Kind::Scaled;
    let (may_overflow, suspicious) = match ((2.0 * limit - most) / power_of_two(24)).floor() {
        _ if late || most < limit => (false, 256),
        first if first >= f64::from(SUSPICIOUS) && !apart => (false, first as u32),
        _ => (true, 256),
    };
    let mut reach = 0;
    if late {
        if f < 23 || !(30..=40).contains(&f2) || f2 < f || c_smallest != 0 {
            return Err(format!("F={f} F2={f2}"));
        }
        let fits = |reach: &u32| {
            f2 + 1 >= f + reach && whole + power_of_two((f + 1 + reach) as i32) + 1.0 < limit
        };
        reach = (0..8)
            .rev()
            .find(fits)
            .ok_or("sums that do not fit 32 bits")?;
    }
    if kind == Kind::Scaled {
        let fits = signature
            .scale
            .is_some_and(|scale| scale.block == signature.k);
        if !fits || signature.k > l as usize || *over != Select::All || nearest {
            return Err("several block scales in a sum".into());
        }
    }
    let (finish, wide) = finish(output)?;
    let out_smallest = match finish {
        Finish::NearestAt(narrow) => narrow.smallest,
        _ => 0,
    };
    if late && (!wide || finish != Finish::Nearest) {
        return Err(format!("{} {}", output.rounding, output.format));
    }
    let sum = Sum {
        kind,
        slots,
        f,
        nearest,
        may_overflow,
        suspicious,
        finish,
        c_smallest,
        smallest: if wide { 0 } else { out_smallest },
        sticky: !wide,
        reach,
        f2,
    };
    Ok((sum, e0))
}
