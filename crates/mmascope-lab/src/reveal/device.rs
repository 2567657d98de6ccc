//! Makes a device a subject: its K products and c are the leaves.

use super::range::{Choice, Factors, Raised, Range, exponent};
use super::subject::{Masks, Query, Summation};
use crate::dpa::Signature;
use crate::dut::{Batch, Dut};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::stand_in::StandIn;
use crate::tree::{MAX_LEAVES, Sight, Term, decode, encode, power_of_two};
use crate::vector::Answer;

/// The most queries a call: what a device takes in one batch.
const BATCH: usize = 4096;
/// The most products of all queries of a call: some 64 MiB of words, twice that as text.
const MOST_PRODUCTS: usize = 1 << 22;

/// The inputs that tell the factors of products and of c.
const FACTOR_QUESTIONS: usize = 4;

/// A dot product as a summation. Leaf k is a_k·b_k, leaf K is c.
pub struct DeviceSum<'a> {
    device: &'a mut dyn Dut,
    /// The instruction of which the device makes its sum.
    instruction: Option<Box<dyn Dut>>,
    signature: Signature,
    choices: Vec<Choice>,
    current: Choice,
    shift: i32,
    /// Exponents of scales for blocks with and without a mask, while blocks are raised.
    raised: Option<Raised>,
    factors: Factors,
    /// Where the device sums no products of whole significands: the signature is this one's.
    stand_in: Option<StandIn>,
}

impl<'a> DeviceSum<'a> {
    /// A device as a subject.
    ///
    /// # Errors
    /// [`Error::Argument`] when an operand is no float with a sign, or there are no products or more than
    /// 2^24 − 1.
    pub fn new(device: &'a mut dyn Dut) -> Result<Self> {
        let signature = *device.signature();
        if !(1..MAX_LEAVES).contains(&signature.k) {
            return Err(Error::Argument(format!(
                "{}: {} products; 1 to {} are supported",
                device.name(),
                signature.k,
                MAX_LEAVES - 1
            )));
        }
        let factors = Factors::default();
        let choices = Choice::all(&signature, &factors)?;
        Ok(Self {
            device,
            instruction: None,
            signature,
            current: choices[0],
            choices,
            shift: 0,
            raised: None,
            factors,
            stand_in: None,
        })
    }

    /// Says that the device is a chain of this instruction, `k` products a step in ascending order:
    /// what one fused node gives is then known.
    #[must_use]
    pub fn with_instruction(mut self, instruction: Box<dyn Dut>) -> Self {
        self.instruction = Some(instruction);
        self
    }

    /// What stands in for the device's operands, as far as [`Summation::prepare`] found.
    pub(crate) fn stand_in(&self) -> Option<StandIn> {
        self.stand_in
    }

    /// The reach of the masks in use, for [`crate::tree::visible`].
    #[must_use]
    pub fn sight(&self) -> Sight {
        Sight {
            span: self.masks().span(),
            scaled: self.scales().map(|scales| self.scaled_span(scales)),
            exact: super::EXACT_SPAN,
        }
    }

    /// The widest scales: up for masked blocks, down for the others.
    fn scales(&self) -> Option<Raised> {
        let range = Range::of(self.signature.scale?.format)?;
        // Both operands have a scale; c must reach the masks and the units.
        let c = self.c_range()?;
        let large = self.current.large.0 + self.current.large.1;
        let unit = self.current.unit.0 + self.current.unit.1;
        Some(Raised {
            high: range.top.min((c.top - large) / 2 - 4),
            low: range.subnormal.max((c.normal - unit) / 2 + 4).min(0),
        })
    }

    /// Whether c is a leaf.
    fn has_c(&self) -> bool {
        self.factors.c != 0.0
    }

    /// Exponents of c as a summand.
    fn c_range(&self) -> Option<Range> {
        let range = Range::of(self.signature.c)?;
        Some(range.lowered(self.factors.c_shift()))
    }

    /// The word of c that counts as this summand.
    fn c_word(&self, value: f64) -> u64 {
        encode(self.signature.c, value * self.factors.for_c())
    }

    /// Scales alone take part in the alignment of groups, so M counts by its scales.
    fn scaled_span(&self, scales: Raised) -> i32 {
        2 * scales.high - 2 * scales.low - self.current.unit.0 - self.current.unit.1
    }

    fn unit_exponent(&self) -> i32 {
        let lowered = self.raised.map_or(0, |raised| 2 * raised.low);
        self.current.unit.0 + self.current.unit.1 + self.shift + lowered
    }

    /// Operand exponents of a unit of weight 2^`more`.
    fn unit_operands(&self, more: i32) -> Option<(i32, i32)> {
        let (a, b) = (Range::of(self.signature.a)?, Range::of(self.signature.b)?);
        let (unit_a, unit_b) = self.current.unit;
        let sum = unit_a + unit_b + self.shift + more;
        let split = Range::split(sum, (unit_a, a.top), (unit_b, b.top));
        (split.0 + split.1 == sum).then_some(split)
    }

    /// Results before the products' factor.
    fn run(&mut self, batch: &Batch) -> Result<Vec<f64>> {
        let d = self.signature.d;
        let factor = self.factors.products;
        let answers = match &self.stand_in {
            Some(stand_in) => stand_in.run(self.device, batch)?,
            None => self.device.run(batch)?,
        };
        Ok(answers
            .into_iter()
            .map(|answer| match answer {
                Answer::Word(word) => decode(d, d.from_register(word)) / factor,
                Answer::AnyNan => f64::NAN,
            })
            .collect())
    }

    /// Whether it was found to subtract its products or c.
    pub(crate) fn subtracts(&self) -> bool {
        self.factors.products < 0.0 || self.factors.c < 0.0
    }

    /// Measures the factors of products and c, for which a product of ones, twice that, c = 1 and c = 2 are asked.
    /// False where none shows: the checks of the masks then report what a lone unit gives.
    fn find_factors(&mut self) -> Result<bool> {
        let mut inputs = vec![vec![Term::Product(0.0, 0.0); self.signature.k]; FACTOR_QUESTIONS];
        inputs[0][0] = Term::Product(1.0, 1.0);
        inputs[1][0] = Term::Product(1.0, 2.0);
        if !self.products() {
            inputs[1][0] = Term::Value(2.0);
        }
        for (input, c) in inputs.iter_mut().zip([0.0, 0.0, 1.0, 2.0]) {
            input.push(Term::Value(c));
        }
        let results = self.evaluate(&inputs)?;
        let is_power = |x: f64| x.is_normal() && x.abs() == power_of_two(exponent(x));
        let is_factor = |one: f64, two: f64| one.is_finite() && two == 2.0 * one;
        let [products, twice, c, twice_c] = results[..] else {
            return Ok(false);
        };
        if products == 0.0 || !is_factor(products, twice) || !is_factor(c, twice_c) {
            return Ok(false);
        }
        if !is_power(products) || c != 0.0 && !is_power(c) {
            return Err(Error::Argument(format!(
                "{}: a product of 1 gives {products}, and c = 1 gives {c}: masks need factors that are powers of two \
                 (or 0 for c), with which M and the units stay exact",
                self.device.name()
            )));
        }
        self.factors = Factors { products, c };
        self.choices = Choice::all(&self.signature, &self.factors)?;
        self.current = self.choices[0];
        Ok(true)
    }

    fn plain_scales(&self) -> Vec<u64> {
        self.signature.scale.map_or_else(Vec::new, |scale| {
            vec![encode(scale.format, 1.0); self.signature.scales()]
        })
    }
}

/// The operands of one query, being filled.
#[derive(Clone)]
struct Words {
    a: Vec<u64>,
    b: Vec<u64>,
    c: u64,
}

impl Summation for DeviceSum<'_> {
    fn name(&self) -> &str {
        self.device.name()
    }

    fn leaves(&self) -> usize {
        self.signature.k + usize::from(self.has_c())
    }

    fn leaf_name(&self, leaf: usize) -> String {
        match &self.stand_in {
            _ if leaf == self.signature.k => "c".to_owned(),
            Some(stand_in) => stand_in.name_of(leaf),
            None => format!("p{leaf}"),
        }
    }

    fn format(&self) -> Format {
        self.signature.d
    }

    fn operand_format(&self) -> Format {
        self.signature.a
    }

    fn products(&self) -> bool {
        self.stand_in.as_ref().is_none_or(StandIn::multiplies)
    }

    fn is_product(&self, leaf: usize) -> bool {
        self.products() && leaf < self.signature.k
    }

    fn remarks(&self) -> Vec<String> {
        let stand_in = self.stand_in.as_ref().map(StandIn::words);
        stand_in.into_iter().chain(self.factors.words()).collect()
    }

    fn prepare(&mut self) -> Result<usize> {
        if self.find_factors()? {
            return Ok(FACTOR_QUESTIONS);
        }
        let (stand_in, asked) = StandIn::recognise(self.device)?;
        self.stand_in = stand_in;
        let Some(stand_in) = stand_in else {
            return Ok(FACTOR_QUESTIONS + asked);
        };
        self.signature = stand_in.signature();
        self.choices = Choice::all(&self.signature, &self.factors)?;
        self.current = self.choices[0];
        self.find_factors()?;
        Ok(2 * FACTOR_QUESTIONS + asked)
    }

    fn capacity(&self) -> usize {
        (MOST_PRODUCTS / self.signature.k.max(1)).clamp(1, BATCH)
    }

    fn masks(&self) -> Masks {
        let large = self.current.large.0 + self.current.large.1;
        let digits = self
            .signature
            .d
            .float()
            .map_or(0, |float| float.fraction_bits);
        Masks {
            large: power_of_two(large),
            unit: power_of_two(self.unit_exponent()),
            counted: power_of_two(digits as i32 + 1),
        }
    }

    fn choices(&self) -> usize {
        self.choices.len()
    }

    fn choose(&mut self, choice: usize) {
        self.current = self.choices[choice];
        self.shift = 0;
    }

    fn raise_unit(&mut self, shift: i32) -> bool {
        let large = self.current.large.0 + self.current.large.1;
        let unit = self.current.unit.0 + self.current.unit.1;
        let all = self.leaves().next_power_of_two().ilog2() as i32;
        self.shift = shift;
        if unit + shift + all > large || self.unit_operands(0).is_none() {
            self.shift = 0;
            return false;
        }
        true
    }

    fn block(&self) -> Option<usize> {
        let scale = self.signature.scale.filter(|_| self.has_c())?;
        Some(scale.block)
    }

    fn raise_blocks(&mut self, on: bool) -> Option<i32> {
        let scales = self.scales()?;
        self.raised = on.then_some(scales);
        Some(self.scaled_span(scales))
    }

    fn alignment(&mut self) -> Result<Option<i32>> {
        let unit = self.unit_exponent();
        let Some(range) = self.c_range().filter(|_| self.has_c()) else {
            return Ok(None);
        };
        let Some((a, b)) = self.unit_operands(0) else {
            return Ok(None);
        };
        let shifts: Vec<i32> = (1..=64)
            .take_while(|shift| unit + shift <= range.top)
            .collect();
        let mut inputs = Vec::new();
        for shift in &shifts {
            let mut input = vec![Term::Product(0.0, 0.0); self.leaves()];
            input[0] = Term::Product(power_of_two(a), power_of_two(b));
            input[self.signature.k] = Term::Value(-power_of_two(unit + shift));
            inputs.push(input);
        }
        let results = self.evaluate(&inputs)?;
        let kept = shifts
            .iter()
            .zip(results)
            .filter(|(shift, result)| *result != -power_of_two(unit + **shift))
            .map(|(shift, _)| *shift)
            .max();
        Ok(kept)
    }

    fn measure(&mut self, units: &[f64], queries: &[Query]) -> Result<Vec<f64>> {
        let Signature { a, b, k, .. } = self.signature;
        let raised = self.raised;
        let sign = if self.current.negative { -1.0 } else { 1.0 };
        let unit = self.unit_exponent();
        let missing = || Error::Argument("a unit of that weight has no code".to_owned());
        let unit_words = |weight: f64| -> Result<(u64, u64, u64)> {
            if weight == 0.0 {
                return Ok((encode(a, 0.0), encode(b, 0.0), self.c_word(0.0)));
            }
            let more = weight.log2() as i32;
            let (first, second) = self.unit_operands(more).ok_or_else(missing)?;
            Ok((
                encode(a, sign * power_of_two(first)),
                encode(b, power_of_two(second)),
                self.c_word(sign * power_of_two(unit + more)),
            ))
        };
        let zero = unit_words(0.0)?;
        let one = unit_words(1.0)?;
        let blank = Words {
            a: vec![zero.0; k],
            b: vec![zero.1; k],
            c: zero.2,
        };
        let put = |words: &mut Words, leaf: usize, codes: (u64, u64, u64)| {
            if leaf == k {
                words.c = codes.2;
            } else {
                (words.a[leaf], words.b[leaf]) = (codes.0, codes.1);
            }
        };
        let mut base = blank.clone();
        for (leaf, &weight) in units.iter().enumerate() {
            put(&mut base, leaf, unit_words(weight)?);
        }
        let (large_a, large_b) = self.current.large;
        let scaled_large = large_a + large_b + raised.map_or(0, |raised| 2 * raised.high);
        let mask = |sign: f64| {
            (
                encode(a, sign * power_of_two(large_a)),
                encode(b, power_of_two(large_b)),
                self.c_word(sign * power_of_two(scaled_large)),
            )
        };
        let (plus, minus) = (mask(1.0), mask(-1.0));
        let plain = self.plain_scales();
        let mut results = Vec::with_capacity(queries.len());
        for chunk in queries.chunks(self.capacity()) {
            let mut batch = Batch::new(self.signature);
            for query in chunk {
                let mut words = match query.only {
                    Some(only) => {
                        let mut words = blank.clone();
                        put(&mut words, only, one);
                        words
                    }
                    None => base.clone(),
                };
                let mut scales = plain.clone();
                if let (Some(raised), Some(scale)) = (raised, self.signature.scale) {
                    scales.fill(encode(scale.format, power_of_two(raised.low)));
                    for leaf in [query.plus, query.minus].into_iter().flatten() {
                        if leaf < k {
                            scales[leaf / scale.block] =
                                encode(scale.format, power_of_two(raised.high));
                        }
                    }
                }
                for (leaf, codes) in [(query.plus, plus), (query.minus, minus)] {
                    if let Some(leaf) = leaf {
                        put(&mut words, leaf, codes);
                    }
                }
                batch.push(&crate::dpa::Operands {
                    a: &words.a,
                    b: &words.b,
                    c: words.c,
                    scale_a: &scales,
                    scale_b: &scales,
                })?;
            }
            let unit = sign * power_of_two(unit);
            results.extend(self.run(&batch)?.into_iter().map(|result| result / unit));
        }
        Ok(results)
    }

    fn evaluate(&mut self, inputs: &[Vec<Term>]) -> Result<Vec<f64>> {
        let Signature { a, b, k, .. } = self.signature;
        let scales = self.plain_scales();
        let mut batch = Batch::new(self.signature);
        for terms in inputs {
            let product = |term: &Term| match *term {
                Term::Product(a, b) => (a, b),
                Term::Value(value) => (value, 1.0),
            };
            let codes: Vec<(u64, u64)> = terms[..k]
                .iter()
                .map(product)
                .map(|(x, y)| (encode(a, x), encode(b, y)))
                .collect();
            let (x, y) = terms.get(k).map_or((0.0, 0.0), product);
            let (first, second): (Vec<u64>, Vec<u64>) = codes.into_iter().unzip();
            batch.push(&crate::dpa::Operands {
                a: &first,
                b: &second,
                c: self.c_word(x * y),
                scale_a: &scales,
                scale_b: &scales,
            })?;
        }
        self.run(&batch)
    }

    fn fused_format(&self) -> Option<Format> {
        self.instruction.as_ref().map(|it| it.signature().d)
    }

    fn fused_sum(&mut self, children: &[(usize, Term)]) -> Result<Option<f64>> {
        let products = self.signature.k;
        let Some(instruction) = &mut self.instruction else {
            return Ok(None);
        };
        let step = *instruction.signature();
        let (zero_a, zero_b) = (encode(step.a, 0.0), encode(step.b, 0.0));
        let (mut a, mut b) = (vec![zero_a; step.k], vec![zero_b; step.k]);
        let (mut number, mut sum) = (None, None);
        for &(child, term) in children {
            match term {
                Term::Product(x, y) if child < products => {
                    if *number.get_or_insert(child / step.k) != child / step.k {
                        return Ok(None);
                    }
                    a[child % step.k] = encode(step.a, x);
                    b[child % step.k] = encode(step.b, y);
                }
                Term::Value(value) if sum.is_none() => sum = Some(value),
                _ => return Ok(None),
            }
        }
        let scales = step.scale.map_or_else(Vec::new, |scale| {
            vec![encode(scale.format, 1.0); step.scales()]
        });
        let mut batch = Batch::new(step);
        batch.push(&crate::dpa::Operands {
            a: &a,
            b: &b,
            c: encode(step.c, sum.unwrap_or(0.0)),
            scale_a: &scales,
            scale_b: &scales,
        })?;
        Ok(match instruction.run(&batch)?[..] {
            [Answer::Word(word)] => Some(decode(step.d, step.d.from_register(word))),
            _ => Some(f64::NAN),
        })
    }

    fn random_term(&self, leaf: usize, bits: u64) -> Term {
        let number = |format: Format, bits: u64| {
            let magnitude = 1.0 + (bits >> 12) as f64 / (1_u64 << 52) as f64;
            let signed = if bits & 1 == 1 { -magnitude } else { magnitude };
            let value = signed * power_of_two((bits >> 1 & 7) as i32 - 5);
            crate::tree::round(format, value)
        };
        let other = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
        if leaf == self.signature.k {
            Term::Value(number(self.signature.c, bits))
        } else if !self.products() {
            Term::Value(number(self.signature.a, bits))
        } else {
            Term::Product(
                number(self.signature.a, bits),
                number(self.signature.b, other),
            )
        }
    }
}
