//! Units that nobody builds, simulated with big integers and many knobs, apart from the library.

use mmascope::dpa::Signature;
use mmascope::dut::{Batch, Dut};
use mmascope::vector::Answer;

use crate::exact::Dyadic;
use crate::ieee::{BRAIN, HALF, Ieee, Mode, QUARTER, SINGLE, Value};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Place {
    First,
    Last,
    AfterFirst,
    Absent,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sum {
    /// Aligned to the largest, F bits for products and for c.
    Truncated {
        f: i32,
        f_c: i32,
        e0: Option<i32>,
        align: Mode,
        align_c: Mode,
    },
    Exact,
    /// Rounded products, added pairwise or in order, then to c.
    Rounded {
        sequential: bool,
    },
    /// Products first (F bits below their largest), then with c on a grid of `join` bits.
    Late {
        f: i32,
        join: i32,
        align: Mode,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Over {
    Infinite,
    Largest,
    Nan,
}

/// What an invalid operation on infinities gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rule {
    Nan,
    Zero,
    Signed,
    Plus,
}

/// Habits that few units have.
#[derive(Clone, Debug)]
pub(crate) struct Twists {
    /// `flush_in` concerns a alone.
    pub(crate) only_a: bool,
    pub(crate) operands: Option<(Ieee, Mode)>,
    pub(crate) c: Option<(Ieee, Mode)>,
    /// c does not count for the largest exponent.
    pub(crate) c_outside_alignment: bool,
    /// Whatever falls off leaves a bit so many places below the grid.
    pub(crate) sticky: Option<i32>,
    pub(crate) zero_times_infinity: Rule,
    pub(crate) opposite: Rule,
    /// The group of every product of a step, in place of neighbours.
    pub(crate) partition: Option<Vec<usize>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Mutant {
    pub(crate) twists: Twists,
    pub(crate) name: String,
    pub(crate) operands: &'static str,
    pub(crate) k: usize,
    pub(crate) result: &'static str,
    /// The k of every step, in order.
    pub(crate) blocks: Vec<Vec<usize>>,
    pub(crate) place: Place,
    pub(crate) sum: Sum,
    /// Groups inside a step: their size and whether they are strided; each is truncated at F first.
    pub(crate) groups: Option<(usize, bool)>,
    pub(crate) products: Option<(Ieee, Mode)>,
    pub(crate) between: Mode,
    pub(crate) end: Mode,
    /// The rounded addition of c, where it is separate.
    pub(crate) flush_in: bool,
    pub(crate) flush_out: bool,
    pub(crate) over: Over,
    pub(crate) nan: u64,
    /// Tiny negative sums become -0, not +0.
    pub(crate) negative_zero: bool,
    /// The partial sums are kept in this format.
    pub(crate) inner: Option<Ieee>,
    /// Steps are summed each by itself, then added one after the other.
    pub(crate) separate: bool,
}

pub(crate) fn ieee(name: &str) -> Ieee {
    match name {
        "f16" => HALF,
        "bf16" => BRAIN,
        "e5m2" => QUARTER,
        _ => SINGLE,
    }
}

impl Mutant {
    /// Hopper-like: everything in one truncated sum.
    pub(crate) fn new(name: &str, operands: &'static str, k: usize) -> Self {
        Self {
            twists: Twists {
                only_a: false,
                operands: None,
                c: None,
                c_outside_alignment: false,
                sticky: None,
                zero_times_infinity: Rule::Nan,
                opposite: Rule::Nan,
                partition: None,
            },
            name: name.to_owned(),
            operands,
            k,
            result: "f32",
            blocks: vec![(0..k).collect()],
            place: Place::First,
            sum: Sum::Truncated {
                f: 25,
                f_c: 25,
                e0: Some(-133),
                align: Mode::Rz,
                align_c: Mode::Rz,
            },
            groups: None,
            products: None,
            between: Mode::Rz,
            end: Mode::Rz,
            flush_in: false,
            flush_out: false,
            over: Over::Infinite,
            nan: 0x7fff_ffff,
            negative_zero: false,
            inner: None,
            separate: false,
        }
    }

    pub(crate) fn chunks(mut self, l: usize) -> Self {
        let order: Vec<usize> = self.blocks.concat();
        self.blocks = order.chunks(l).map(<[usize]>::to_vec).collect();
        self
    }

    pub(crate) fn order(mut self, order: Vec<usize>, l: usize) -> Self {
        self.blocks = vec![order];
        self.chunks(l)
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    pub(crate) fn signature(&self) -> Signature {
        let (o, r) = (self.operands, self.result);
        format!("a={o} b={o} c={r} d={r} k={}", self.k)
            .parse()
            .expect("a signature")
    }

    fn operand(&self, format: Ieee, code: u64) -> Value {
        match format.decode(code) {
            Value::Finite(negative, _, e)
                if self.flush_in
                    && e == format.emin()
                    && code >> format.fraction & ((1 << format.exponent) - 1) == 0 =>
            {
                let _ = negative;
                Value::Finite(false, Dyadic::zero(), e)
            }
            value => value,
        }
    }

    /// A number rounded to another format.
    fn narrowed(value: Value, to: Option<(Ieee, Mode)>) -> Value {
        match (value, to) {
            (Value::Finite(negative, x, _), Some((format, mode))) => {
                match format.round(&x, mode, negative) {
                    Some(code) => format.decode(code),
                    None => Value::Infinite(negative),
                }
            }
            (value, _) => value,
        }
    }

    /// A product: value, exponent for the alignment, or what it is instead.
    fn product(&self, a: &Value, b: &Value) -> Value {
        match (a, b) {
            (Value::Nan, _) | (_, Value::Nan) => Value::Nan,
            (Value::Infinite(x), Value::Infinite(y)) => Value::Infinite(x != y),
            (Value::Infinite(x), Value::Finite(y, value, _))
            | (Value::Finite(y, value, _), Value::Infinite(x)) => {
                if value.is_zero() {
                    match self.twists.zero_times_infinity {
                        Rule::Nan => Value::Nan,
                        Rule::Zero => Value::Finite(x != y, Dyadic::zero(), 0),
                        Rule::Signed => Value::Infinite(x != y),
                        Rule::Plus => Value::Infinite(false),
                    }
                } else {
                    Value::Infinite(x != y)
                }
            }
            (Value::Finite(x, v, e), Value::Finite(y, w, g)) => {
                let exact = v.multiply(w);
                match self.products {
                    None => Value::Finite(x != y, exact, e + g),
                    Some((format, mode)) => match format.round(&exact, mode, x != y) {
                        Some(code) => format.decode(code),
                        None => Value::Infinite(x != y),
                    },
                }
            }
        }
    }

    /// A rounded result as a value; overflow as the unit has it.
    fn rounded(&self, x: &Dyadic, mode: Mode, format: Ieee) -> Value {
        let negative = x.is_negative() && self.negative_zero;
        match format.round(x, mode, negative) {
            Some(code) => {
                let value = format.decode(code);
                match &value {
                    Value::Finite(n, v, e)
                        if self.flush_out && !v.is_zero() && v.logarithm() < format.emin() =>
                    {
                        Value::Finite(*n && self.negative_zero, Dyadic::zero(), *e)
                    }
                    _ => value,
                }
            }
            None => match self.over {
                Over::Infinite => Value::Infinite(x.is_negative()),
                Over::Largest => format.decode(format.largest(x.is_negative())),
                Over::Nan => Value::Nan,
            },
        }
    }

    fn step(&self, products: &[Value], c: &Value, mode: Mode, format: Ieee) -> Value {
        let all = || products.iter().chain([c]);
        let infinite = |sign: bool| all().any(|v| *v == Value::Infinite(sign));
        let both = infinite(true) && infinite(false);
        if !all().any(|v| *v == Value::Nan) && both && self.twists.opposite == Rule::Plus {
            return Value::Infinite(false);
        }
        if all().any(|v| *v == Value::Nan) || both {
            return Value::Nan;
        }
        if !matches!(self.sum, Sum::Rounded { .. }) && (infinite(true) || infinite(false)) {
            return Value::Infinite(infinite(true));
        }
        let finite = |v: &Value| match v {
            Value::Finite(_, x, e) if !x.is_zero() => Some((x.clone(), *e)),
            _ => None,
        };
        let terms: Vec<Option<(Dyadic, i32)>> = products.iter().map(finite).collect();
        let c_term = finite(c);
        let sum_of = |terms: &[Dyadic]| terms.iter().fold(Dyadic::zero(), |s, t| s.add(t));
        let total = match self.sum {
            Sum::Exact => {
                let all: Vec<Dyadic> = terms
                    .into_iter()
                    .flatten()
                    .chain(c_term)
                    .map(|t| t.0)
                    .collect();
                sum_of(&all)
            }
            Sum::Truncated {
                f,
                f_c,
                e0,
                align,
                align_c,
            } => {
                let terms: Vec<(Dyadic, i32)> = match self.groups {
                    None => terms.into_iter().flatten().collect(),
                    Some((size, strided)) => {
                        let n = terms.len() / size;
                        (0..n)
                            .filter_map(|j| {
                                let own: Vec<(Dyadic, i32)> = terms
                                    .iter()
                                    .enumerate()
                                    .filter(|(i, _)| match &self.twists.partition {
                                        Some(groups) => groups[*i] == j,
                                        None if strided => i % n == j,
                                        None => i / size == j,
                                    })
                                    .filter_map(|(_, t)| t.clone())
                                    .collect();
                                let e = own.iter().map(|t| t.1).max()?;
                                let parts: Vec<Dyadic> =
                                    own.iter().map(|t| t.0.to_grid(e - f, align)).collect();
                                Some((sum_of(&parts), e))
                            })
                            .collect()
                    }
                };
                let of_c = c_term.iter().filter(|_| !self.twists.c_outside_alignment);
                let e = terms.iter().chain(of_c).map(|t| t.1).chain(e0).max();
                let e = e.unwrap_or_else(|| c_term.as_ref().map_or(0, |c| c.1 - 1000));
                let mut parts: Vec<Dyadic> =
                    terms.iter().map(|t| t.0.to_grid(e - f, align)).collect();
                parts.extend(c_term.iter().map(|t| t.0.to_grid(e - f_c, align_c)));
                let total = sum_of(&parts);
                let exact: Vec<Dyadic> = terms.iter().chain(&c_term).map(|t| t.0.clone()).collect();
                let lost = parts != exact;
                match self.twists.sticky.filter(|_| lost && !total.is_zero()) {
                    Some(places) => {
                        let bit = Dyadic::power(e - f.max(f_c) - places);
                        match total.is_negative() {
                            true => total.subtract(&bit),
                            false => total.add(&bit),
                        }
                    }
                    None => total,
                }
            }
            Sum::Late { f, join, align } => {
                let e = terms.iter().flatten().map(|t| t.1).max();
                let parts: Vec<Dyadic> = terms
                    .iter()
                    .flatten()
                    .map(|t| t.0.to_grid(e.unwrap_or(0) - f, align))
                    .collect();
                let t = sum_of(&parts);
                let e = e
                    .into_iter()
                    .chain(c_term.iter().map(|c| c.1))
                    .max()
                    .unwrap_or(0);
                let c = c_term.map_or_else(Dyadic::zero, |c| c.0);
                t.to_grid(e - join, align).add(&c.to_grid(e - join, align))
            }
            Sum::Rounded { sequential } => {
                return self.rounded_step(products, c, mode, format, sequential);
            }
        };
        self.rounded(&total, mode, format)
    }

    fn add(&self, x: &Value, y: &Value, mode: Mode, format: Ieee) -> Value {
        match (x, y) {
            (Value::Nan, _) | (_, Value::Nan) => Value::Nan,
            (Value::Infinite(a), Value::Infinite(b)) if a != b => Value::Nan,
            (Value::Infinite(a), _) | (_, Value::Infinite(a)) => Value::Infinite(*a),
            (Value::Finite(_, a, _), Value::Finite(_, b, _)) => {
                self.rounded(&a.add(b), mode, format)
            }
        }
    }

    fn rounded_step(
        &self,
        products: &[Value],
        c: &Value,
        mode: Mode,
        format: Ieee,
        sequential: bool,
    ) -> Value {
        let mut values: Vec<Value> = products
            .iter()
            .map(|p| match p {
                Value::Finite(_, x, _) => self.rounded(x, mode, format),
                other => other.clone(),
            })
            .collect();
        while values.len() > 1 {
            if sequential {
                let second = values.remove(1);
                values[0] = self.add(&values[0], &second, mode, format);
            } else {
                values = values
                    .chunks(2)
                    .map(|two| {
                        if two.len() == 2 {
                            self.add(&two[0], &two[1], mode, format)
                        } else {
                            two[0].clone()
                        }
                    })
                    .collect();
            }
        }
        self.add(c, &values[0], mode, format)
    }

    fn dot(&self, a: &[u64], b: &[u64], c: u64) -> u64 {
        let (operand, result) = (ieee(self.operands), ieee(self.result));
        let inner = self.inner.unwrap_or(result);
        let taken = |code: u64, is_a: bool| {
            let value = if is_a || !self.twists.only_a {
                self.operand(operand, code)
            } else {
                operand.decode(code)
            };
            Self::narrowed(value, self.twists.operands)
        };
        let product = |&k: &usize| self.product(&taken(a[k], true), &taken(b[k], false));
        let c = if self.twists.only_a {
            result.decode(c)
        } else {
            self.operand(result, c)
        };
        let c = Self::narrowed(c, self.twists.c);
        let zero = Value::Finite(false, Dyadic::zero(), inner.emin());
        let mut sum = if self.place == Place::First && !self.separate {
            c.clone()
        } else {
            zero.clone()
        };
        if self.separate {
            sum = c.clone();
        }
        let last = self.blocks.len() - 1;
        for (index, block) in self.blocks.iter().enumerate() {
            let products: Vec<Value> = block.iter().map(product).collect();
            let ends = index == last && self.place != Place::Last;
            let (mode, format) = if ends {
                (self.end, result)
            } else {
                (self.between, inner)
            };
            if self.separate {
                let own = self.step(&products, &zero, self.between, inner);
                sum = self.add(&sum, &own, mode, format);
                continue;
            }
            sum = self.step(&products, &sum, mode, format);
            if index == 0 && self.place == Place::AfterFirst {
                sum = self.add(&c, &sum, self.between, inner);
            }
        }
        if self.place == Place::Last {
            sum = self.add(&c, &sum, self.end, result);
        }
        match sum {
            Value::Nan => self.nan,
            Value::Infinite(negative) => result.infinity(negative),
            Value::Finite(negative, x, _) => result
                .round(&x, Mode::Rne, negative && self.negative_zero)
                .unwrap_or(0),
        }
    }
}

/// The mutant as a device.
pub(crate) struct Device {
    signature: Signature,
    mutant: Mutant,
}

impl Device {
    pub(crate) fn new(mutant: Mutant) -> Self {
        Self {
            signature: mutant.signature(),
            mutant,
        }
    }
}

impl Dut for Device {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn name(&self) -> &str {
        &self.mutant.name
    }

    fn run(&mut self, batch: &Batch) -> mmascope::Result<Vec<Answer>> {
        Ok((0..batch.len())
            .map(|i| {
                let query = batch.query(i);
                Answer::Word(self.mutant.dot(query.a, query.b, query.c))
            })
            .collect())
    }
}
