//! Sums the products of blocks, as sentences say it.

use super::results::{rounded, stand_in};
use super::{Machine, Pair, Start, Term};
use crate::number::{Exact, Value, encode};
use crate::reader::{Groups, Products, Statement, Sum, To};

impl Machine<'_> {
    /// A value as the c of the first block.
    pub(super) fn first(&self, value: &Value) -> Value {
        self.operand(value, self.own.flush_c, self.own.round_c.as_ref())
    }

    pub(super) fn operand(&self, value: &Value, flush: Option<bool>, to: Option<&To>) -> Value {
        let mut value = value.clone();
        if let Some(kept) = flush
            && value.is_subnormal()
        {
            value = value.as_zero(kept && value.is_negative());
        }
        if self.own.plus_zeros && value.is_zero() {
            value = value.as_zero(false);
        }
        match (&value, to) {
            (Value::Number(negative, x, _), Some(to)) if !x.is_zero() => rounded(*negative, x, to),
            _ => value,
        }
    }

    pub(super) fn taken(&self, pair: &Pair) -> Pair {
        match pair.plain {
            true => pair.clone(),
            false => Pair {
                a: self.operand(&pair.a, self.own.flush_a, self.own.operands.as_ref()),
                b: self.operand(&pair.b, self.own.flush_b, self.own.operands.as_ref()),
                ..pair.clone()
            },
        }
    }

    pub(super) fn blocks(&self, pairs: &[Pair], start: Start) -> u64 {
        let size = self.own.block.expect("blocks are said");
        let mut c = start;
        let mut word = 0;
        for block in pairs.chunks(size) {
            word = match &c {
                Start::Value(c) => self.block(block, c, size),
                Start::Nothing => self.convert(&self.added(block)),
            };
            c = Start::Value(self.value(word));
        }
        word
    }

    /// What the first block starts from where that is no value.
    pub(super) fn nothing(&self, first: &Pair) -> Start {
        if self.own.adds.is_some() {
            // Nothing is added to the sum of rounded products.
            return Start::Nothing;
        }
        let pair = self.taken(first);
        let negative = pair.a.is_negative() != pair.b.is_negative();
        Start::Value(Value::Number(negative, Exact::zero(), 0))
    }

    pub(super) fn block(&self, pairs: &[Pair], c: impl Into<Start>, places: usize) -> u64 {
        let Start::Value(c) = c.into() else {
            panic!("a value")
        };
        if self.own.adds.is_some() {
            let word = self.add(&c, &self.added(pairs));
            return self.flushed_sum(word);
        }
        self.fused(pairs, &c, places)
    }

    /// The sum of a block's rounded products.
    pub(super) fn added(&self, pairs: &[Pair]) -> Value {
        assert!(self.own.rounded_additions);
        let mut level: Vec<Value> = pairs
            .iter()
            .map(|pair| self.rounded_product(&self.taken(pair)))
            .collect();
        let sum = |x: &Value, y: &Value| self.value(self.flushed_sum(self.add(x, y)));
        if self.own.adds == Some(true) {
            let first = level[0].clone();
            return level[1..]
                .iter()
                .fold(first, |total, next| sum(&total, next));
        }
        while level.len() > 1 {
            level = level
                .chunks(2)
                .map(|two| match two {
                    [x, y] => sum(x, y),
                    _ => two[0].clone(),
                })
                .collect();
        }
        level[0].clone()
    }

    pub(super) fn flushed_sum(&self, word: u64) -> u64 {
        let value = self.value(word);
        match self.own.flush_sums {
            Some(kept) if value.is_subnormal() => encode(
                &self.result().1,
                kept && value.is_negative(),
                &Exact::zero(),
            ),
            _ => word,
        }
    }

    pub(super) fn rounded_product(&self, pair: &Pair) -> Value {
        let negative = pair.a.is_negative() != pair.b.is_negative();
        let value = match (&pair.a, &pair.b) {
            (Value::Nan, _) | (_, Value::Nan) => Value::Nan,
            (Value::Infinite(_), other) | (other, Value::Infinite(_)) if other.is_zero() => {
                Value::Nan
            }
            (Value::Infinite(_), _) | (_, Value::Infinite(_)) => match &self.own.products {
                Some(Products::LikeResult) => self.value(self.infinity(negative)),
                _ => Value::Infinite(negative),
            },
            (Value::Number(_, x, _), Value::Number(_, y, _)) => match &self.own.products {
                Some(Products::To(to)) => rounded(negative, &x.times(y), to),
                Some(Products::LikeResult) => {
                    let product = x.times(y);
                    let own = Statement {
                        result: self.own.result.clone(),
                        overflow: self.own.overflow.clone(),
                        nan: self.own.nan,
                        stand_ins: self.own.stand_ins,
                        zero: Some("A sum of zeros of one sign is that zero; another sum of exactly 0 is +0; one that is rounded to zero keeps its sign.".to_owned()),
                        ..Statement::default()
                    };
                    let own = Machine { own: &own };
                    self.value(own.finish(&product, product.is_zero().then_some(negative)))
                }
                other => panic!("products: {other:?}"),
            },
        };
        let value = match &self.own.products {
            Some(Products::To((_, format))) if self.own.product_stand_ins => {
                stand_in(&value, format)
            }
            Some(Products::LikeResult) if matches!(value, Value::Nan) && self.own.stand_ins => {
                self.value(self.nan())
            }
            _ => value,
        };
        match self.own.flush_products {
            Some(kept) if value.is_subnormal() => value.as_zero(kept && value.is_negative()),
            _ => value,
        }
    }

    /// A product of a fused sum: NaN, infinity, or a number with its exponent.
    pub(super) fn product(&self, pair: &Pair) -> Value {
        let negative = pair.a.is_negative() != pair.b.is_negative();
        if let Some((a, b)) = &pair.scales
            && (matches!(a, Value::Nan) || matches!(b, Value::Nan))
        {
            return Value::Nan;
        }
        let (x, y, e) = match (&pair.a, &pair.b) {
            (Value::Nan, _) | (_, Value::Nan) => return Value::Nan,
            (Value::Infinite(_), other) | (other, Value::Infinite(_)) if other.is_zero() => {
                return match self
                    .own
                    .zero_times_infinity
                    .as_deref()
                    .expect("0 times infinity is said")
                {
                    "NaN" => Value::Nan,
                    "+infinity" => Value::Infinite(false),
                    "-infinity" => Value::Infinite(true),
                    "infinity of the product's sign" => Value::Infinite(negative),
                    "a zero of the product's sign" => Value::Number(negative, Exact::zero(), 0),
                    other => panic!("{other}"),
                };
            }
            (Value::Infinite(_), _) | (_, Value::Infinite(_)) => return Value::Infinite(negative),
            (Value::Number(_, x, e), Value::Number(_, y, f)) => (x, y, e + f),
        };
        let (mut value, mut exponent) = (x.times(y), e);
        if let Some((Value::Number(_, a, e), Value::Number(_, b, f))) = &pair.scales {
            value = value.times(a).times(b);
            exponent += e + f;
        }
        if value.is_zero() {
            return Value::Number(negative, Exact::zero(), exponent);
        }
        if pair.plain {
            return Value::Number(negative, value, exponent);
        }
        if self.own.limit.is_some_and(|limit| value.top() >= limit) {
            return Value::Infinite(negative);
        }
        match self.own.products.as_ref().expect("products are said") {
            Products::Sum => Value::Number(negative, value, exponent),
            Products::Leading => {
                let top = value.top();
                Value::Number(negative, value, top)
            }
            Products::To(to) => {
                let value = rounded(negative, &value, to);
                match self.own.flush_products {
                    Some(kept) if value.is_subnormal() => value.as_zero(kept && negative),
                    _ => value,
                }
            }
            Products::LikeResult => panic!("a fused sum"),
        }
    }

    pub(super) fn fused(&self, pairs: &[Pair], c: &Value, places: usize) -> u64 {
        let pairs: Vec<Pair> = pairs.iter().map(|pair| self.taken(pair)).collect();
        let products: Vec<Value> = pairs.iter().map(|pair| self.product(pair)).collect();
        let all = || products.iter().chain([c]);
        if all().any(|x| matches!(x, Value::Nan)) {
            return self.nan();
        }
        let infinite =
            |sign| all().any(|x| matches!(x, Value::Infinite(negative) if *negative == sign));
        match (infinite(false), infinite(true)) {
            (false, false) => {}
            (true, false) => return self.infinity(false),
            (false, true) => return self.infinity(true),
            (true, true) => {
                return match self
                    .own
                    .opposite
                    .as_deref()
                    .expect("opposite infinities are said")
                {
                    "+infinity" => self.infinity(false),
                    "-infinity" => self.infinity(true),
                    _ => self.nan(),
                };
            }
        }
        let factor_zero = |pair: &Pair| pair.a.is_zero() || pair.b.is_zero();
        let is_rounded = matches!(self.own.products, Some(Products::To(_)));
        // A zero scale makes no zero of an operand's sign.
        let zeros = c.is_zero()
            && pairs.iter().zip(&products).all(|(pair, product)| {
                let is_zero = product.is_zero() && (factor_zero(pair) || is_rounded);
                is_zero && product.is_negative() == c.is_negative()
            });
        let zeros = zeros.then_some(c.is_negative());
        let term = |value: &Value| match value {
            Value::Number(_, x, e) if !x.is_zero() => Some(Term {
                value: x.clone(),
                exponent: *e,
            }),
            _ => None,
        };
        let terms: Vec<Option<Term>> = products.iter().map(term).collect();
        let mut sums: Vec<Term> = match &self.own.groups {
            None => terms.into_iter().flatten().collect(),
            Some(groups) => self.groups(groups, &terms, &pairs, places),
        };
        if let Some((f, how)) = &self.own.join
            && let Some(m) = sums.iter().map(|term| term.exponent).max()
        {
            let rounded: Vec<Exact> = sums
                .iter()
                .map(|term| term.value.rounded(m - f, how))
                .collect();
            sums = vec![Term {
                value: Exact::sum(&rounded),
                exponent: m,
            }];
        }
        let mut c = term(c);
        let sum = match self.own.sum.as_ref().expect("the sum is said") {
            Sum::Exact => Exact::sum(sums.iter().chain(&c).map(|term| &term.value)),
            Sum::Aligned((f, how), (f_c, how_c)) => {
                let of_c = c.iter().filter(|_| !self.own.c_has_no_say);
                let exponents = sums.iter().chain(of_c).map(|term| term.exponent);
                let floor = self.own.floor.expect("E is said");
                match exponents.chain(floor).max() {
                    None => c.map_or(Exact::zero(), |c| c.value),
                    Some(e) => {
                        if self
                            .own
                            .drop_c
                            .is_some_and(|far| c.as_ref().is_some_and(|c| c.exponent < e - far))
                        {
                            c = None;
                        }
                        let mut lost = false;
                        let mut align = |term: &Term, grid: i64, how: &str| {
                            let rounded = term.value.rounded(grid, how);
                            lost |= !rounded.plus(&term.value.negated()).is_zero();
                            rounded
                        };
                        let mut all: Vec<Exact> =
                            sums.iter().map(|term| align(term, e - f, how)).collect();
                        all.extend(c.iter().map(|c| align(c, e - f_c, how_c)));
                        let sum = Exact::sum(&all);
                        self.grown(sum, lost, e)
                    }
                }
            }
        };
        let sum = match &self.own.f2 {
            Some((f2, how, least)) if !sum.is_zero() => {
                let n = sum.top().max(*least);
                sum.rounded(n - f2, how)
            }
            _ => sum,
        };
        self.finish(&sum, zeros)
    }

    /// The sum with what remembers a loss.
    pub(super) fn grown(&self, sum: Exact, lost: bool, e: i64) -> Exact {
        let Some(by) = self.own.sticky.filter(|_| lost && !sum.is_zero()) else {
            return sum;
        };
        let place = by.map_or(sum.p.min(sum.top()) - 4000, |below| e - below);
        let more = Exact::new(if sum.is_negative() { -1 } else { 1 }, place);
        sum.plus(&more)
    }

    pub(super) fn groups(
        &self,
        groups: &Groups,
        terms: &[Option<Term>],
        pairs: &[Pair],
        places: usize,
    ) -> Vec<Term> {
        let _ = places;
        let count = groups
            .strided
            .unwrap_or_else(|| terms.len().div_ceil(groups.size.expect("groups are said")));
        let mut found = Vec::new();
        for group in 0..count {
            let own: Vec<usize> = (0..terms.len())
                .filter(|index| match groups.size {
                    Some(size) => index / size == group,
                    None => index % count == group,
                })
                .collect();
            let own_terms: Vec<&Term> = own
                .iter()
                .filter_map(|&index| terms[index].as_ref())
                .collect();
            let Some(e) = own_terms.iter().map(|term| term.exponent).max() else {
                continue;
            };
            let by_scales = || match &pairs[own[0]].scales {
                Some((Value::Number(_, _, a), Value::Number(_, _, b))) => a + b,
                _ => panic!("scales"),
            };
            let sum = match &groups.grid {
                Some((f, how)) => {
                    let e = if groups.grid_by_scales {
                        by_scales()
                    } else {
                        e
                    };
                    let rounded: Vec<Exact> = own_terms
                        .iter()
                        .map(|term| term.value.rounded(e - f, how))
                        .collect();
                    Exact::sum(&rounded)
                }
                None => {
                    assert!(groups.exact);
                    Exact::sum(own_terms.iter().map(|term| &term.value))
                }
            };
            if groups.drops_zero && sum.is_zero() {
                continue;
            }
            let exponent = match groups.exponent.as_str() {
                "the largest of its non-zero products" => e,
                "that of the leading bit of its sum" => sum.top(),
                "the sum of those of its two scales" => by_scales(),
                other => panic!("{other}"),
            };
            found.push(Term {
                value: sum,
                exponent,
            });
        }
        found
    }
}
