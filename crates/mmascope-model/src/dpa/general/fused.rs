//! Fused sums with every parameter of the model space.

use std::cell::Cell;

use super::summands::{Summands, Surveyed, exact_total};
use super::{Fused, GroupExponent, Groups, Invalid, Sticky, Terms, finished};
use crate::dpa::named::{floor_to, truncated_block};
use crate::dpa::output::{Output, PLUS_ZERO};
use crate::dpa::pair::{Pair, Term, special_product};
use crate::dpa::product::{self, Product, common_zero, zero_of};
use crate::dpa::survey::Survey;
use crate::dpa::{Special, ieee, special_value};
use crate::exact::{Exact, Rounding};
use crate::format::{Class, Overflow, Unpacked};

/// What a sum is made of, while it is made.
#[derive(Default)]
struct Scratch {
    /// Products before they are summed in groups.
    terms: Vec<Option<Term>>,
    /// Products or groups.
    sums: Vec<Term>,
}

thread_local! {
    static SCRATCH: Cell<Scratch> = Cell::default();
}

/// Which special values there are among the terms.
#[derive(Clone, Copy, Default)]
struct Found {
    nan: bool,
    plus: bool,
    minus: bool,
}

impl Found {
    fn add(&mut self, special: Option<Special>) {
        match special {
            None => {}
            Some(Special::Nan) => self.nan = true,
            Some(Special::Infinite { negative: false }) => self.plus = true,
            Some(Special::Infinite { negative: true }) => self.minus = true,
        }
    }
}

/// A finite product, or what it is instead.
enum Outcome {
    Term(Option<Term>),
    /// A rounded product that is zero, and whether it is −0.
    Zero(bool),
    Special(Special),
}

impl Fused {
    /// The pairs from `products` on are values times one: nothing is done to them before the sum.
    pub(in crate::dpa) fn sum_of(
        &self,
        pairs: &[Pair],
        products: usize,
        c: &Unpacked,
        output: &Output,
    ) -> u64 {
        if let [pair] = pairs
            && products == 1
            && self.is_fused_multiply_add()
        {
            return ieee::fused_multiply_add(&pair.a, &pair.b, c, output);
        }
        // (A subnormal scale may have the significand 1, too.)
        let is_one = |x: &Unpacked| x.significand == 1 && x.fraction_bits == 0;
        let odd_scale = |pair: &Pair| !(is_one(&pair.scales.a) && is_one(&pair.scales.b));
        if let Some(f) = self.truncated_f()
            && !pairs.iter().any(odd_scale)
        {
            let truncated = |products: &[_]| self.truncated_sum(products, c, f, output);
            return product::of_each(pairs, truncated);
        }
        // Most blocks have few terms, and millions are summed: their memory is kept.
        let mut scratch = SCRATCH.take();
        let result = self.sum(pairs, products, c, output, &mut scratch);
        SCRATCH.set(scratch);
        result
    }

    /// A block of exact products with F bits where it is truncated.
    fn truncated_sum(&self, products: &[Product], c: &Unpacked, f: u32, output: &Output) -> u64 {
        let has_term = |product: &Product| product.special.is_some() || product.zero().is_none();
        if self.e0.is_none() && c.class == Class::Zero && !products.iter().any(has_term) {
            let zeros = common_zero(products.iter().map(Product::zero).chain([zero_of(c)]));
            return output.fixed(0, 0, zeros);
        }
        let e0 = self.e0.unwrap_or(i32::MIN / 2);
        truncated_block(products, c, f, e0, self.align, output)
    }

    /// The sum of a block of pairs and c.
    fn sum(
        &self,
        pairs: &[Pair],
        products: usize,
        c: &Unpacked,
        output: &Output,
        scratch: &mut Scratch,
    ) -> u64 {
        let Scratch { terms, sums } = scratch;
        let groups = self.own_groups();
        terms.clear();
        sums.clear();
        let mut found = Found::default();
        found.add(special_value(c));
        let mut all_zero = c.class == Class::Zero;
        let plain = self.terms == Terms::default();
        for (index, pair) in pairs.iter().enumerate() {
            let is_product = index < products;
            let changed = (!plain && is_product).then(|| self.terms.pair(pair));
            let pair = changed.as_ref().unwrap_or(pair);
            let product = match pair.special().filter(|_| !is_product) {
                Some(special) => Outcome::Special(special),
                None if is_product => self.product(pair, output),
                None => Outcome::Term(exact_product(pair)),
            };
            all_zero &= match product {
                Outcome::Zero(negative) => negative == c.negative,
                _ => is_zero_like(pair, c),
            };
            match product {
                Outcome::Special(special) => found.add(Some(special)),
                Outcome::Zero(_) if groups.is_some() => terms.push(None),
                Outcome::Zero(_) => {}
                Outcome::Term(term) if groups.is_some() => terms.push(term),
                Outcome::Term(term) => sums.extend(term),
            }
        }
        if let Some(special) = self.special_of(found) {
            return output.special(special);
        }
        let zeros = all_zero.then_some(c.negative);
        if let Some(groups) = groups {
            // The places of a shorter block at the end are those of a whole one.
            let places = match products == pairs.len() {
                true => terms.len().max(self.l as usize),
                false => terms.len(),
            };
            groups.sums(terms, places, sums);
        }
        self.join(sums);
        self.total(&sums[..], c, zeros, output)
    }

    /// The sum of a block of products and c, where it takes nothing else of its pairs.
    pub(super) fn sum_of_products(
        &self,
        products: &[Product],
        c: &Unpacked,
        output: &Output,
    ) -> u64 {
        if let Some(f) = self.truncated_f() {
            return self.truncated_sum(products, c, f, output);
        }
        let survey = Survey::of(products.iter());
        if survey.has_special || c.is_special() || self.product_limit.is_some() {
            let mut found = Found::default();
            found.add(special_value(c));
            for product in products {
                found.add(product.special.or_else(|| self.beyond(product)));
            }
            if let Some(special) = self.special_of(found) {
                return output.special(special);
            }
        }
        let is_zero = |product: &Product| product.zero() == Some(c.negative);
        let are_zeros = c.class == Class::Zero && products.iter().all(is_zero);
        let zeros = are_zeros.then_some(c.negative);
        let groups = self.own_groups();
        if groups.is_none() && self.join.is_none() && !self.normalised {
            return self.total(&Surveyed { products, survey }, c, zeros, output);
        }
        let mut scratch = SCRATCH.take();
        let Scratch { terms, sums } = &mut scratch;
        terms.clear();
        sums.clear();
        let term = |product: &Product| {
            let value = product.exact();
            let top = value.top()?;
            let exponent = match self.normalised {
                true => top,
                false => product.exponent,
            };
            Some(Term { value, exponent })
        };
        match groups {
            Some(groups) => {
                terms.extend(products.iter().map(term));
                groups.sums(terms, terms.len().max(self.l as usize), sums);
            }
            None => sums.extend(products.iter().filter_map(term)),
        }
        self.join(sums);
        let result = self.total(&sums[..], c, zeros, output);
        SCRATCH.set(scratch);
        result
    }

    /// ∞, where a product is too large.
    fn beyond(&self, product: &Product) -> Option<Special> {
        let top = product.exact().top()?;
        let negative = product.negative;
        (top >= self.product_limit?).then_some(Special::Infinite { negative })
    }

    /// Whether it takes nothing of a pair but its exact product. (A fused multiply-add does too, but of formats whose products are too
    /// long to be kept.)
    pub(super) fn takes_products_only(&self) -> bool {
        let of_c = Terms {
            flush_c: self.terms.flush_c,
            round_c: self.terms.round_c,
            ..Terms::default()
        };
        let by_scales = |groups: Groups| groups.exponent == GroupExponent::Scales;
        self.terms == of_c
            && self.specials.zero_times_infinity == Invalid::Nan
            && !self.groups.is_some_and(by_scales)
            && !self.is_fused_multiply_add()
    }

    /// The groups that change something: exact sums in an exact sum are one, and a group's own would have to fit 128 bits.
    fn own_groups(&self) -> Option<Groups> {
        let one = self.f.is_none() && self.join.is_none();
        self.groups.filter(|groups| !one || groups.f.is_some())
    }

    /// Joins products or groups, where that is asked for.
    fn join(&self, sums: &mut Vec<Term>) {
        if let Some((f, align)) = self.join
            && let Some(exponent) = sums.iter().map(|sum| sum.exponent).max()
        {
            let grid = exponent - f as i32;
            let total = sums.iter().map(|sum| sum.align(grid, align)).sum();
            sums.clear();
            sums.push(Term {
                exponent,
                value: Exact::of_multiple(total, grid),
            });
        }
    }

    /// The sum with c, aligned where it is not exact.
    fn total<S: Summands + ?Sized>(
        &self,
        sums: &S,
        c: &Unpacked,
        zeros: Option<bool>,
        output: &Output,
    ) -> u64 {
        let c = Term::of_value(c);
        let (Some(f), Some(f_c)) = (self.f, self.f_c) else {
            return self.finish(sums.exact(c.as_ref()), zeros, output);
        };
        let of_c = c.iter().filter(|_| !self.c_outside_alignment);
        let exponents = of_c.map(|c| c.exponent).chain(sums.largest());
        let Some(largest) = exponents.chain(self.e0).max() else {
            return match &c {
                Some(c) => self.finish(c.value, zeros, output),
                None => output.fixed(0, 0, zeros),
            };
        };
        let is_near = |c: &Term| {
            self.drop_c
                .is_none_or(|far| c.exponent >= largest - far as i32)
        };
        let c = c.filter(is_near);
        let (grid, c_grid) = (largest - f as i32, largest - f_c as i32);
        let lost = self.sticky != Sticky::None
            && (sums.have_bits_below(grid) || c.iter().any(|c| c.value.has_bits_below(c_grid)));
        let total: i128 = sums.aligned(largest, f, self.align);
        if let Some(c) = c
            .as_ref()
            .filter(|c| self.c_outside_alignment && c.exponent > largest)
        {
            // Far above the grid, perhaps: more bits than an integer has.
            let products = Exact::of_multiple(total, grid);
            let c = match c.value.has_bits_below(c_grid) {
                true => Exact::of_multiple(c.align(c_grid, self.align_c), c_grid),
                false => c.value,
            };
            let total = exact_total([&products, &c]);
            let total = self.remember(lost, total, grid.min(c_grid));
            return self.finish(total, zeros, output);
        }
        let c = c.map_or(0, |sum| sum.align(c_grid, self.align_c));
        let fine = grid.min(c_grid);
        let total = (total << (grid - fine)) + (c << (c_grid - fine));
        let total = self.remember(lost, Exact::of_multiple(total, fine), fine);
        self.finish(total, zeros, output)
    }

    /// The sum with what remembers that something fell off below 2^grid.
    fn remember(&self, lost: bool, total: Exact, grid: i32) -> Exact {
        if !lost || total.magnitude == 0 {
            return total;
        }
        match self.sticky {
            Sticky::None => total,
            Sticky::Kept => Exact {
                sticky: true,
                ..total
            },
            Sticky::Bit(place) => {
                let bit = Exact {
                    magnitude: 1,
                    exponent: grid - place as i32,
                    ..total
                };
                exact_total([&total, &bit])
            }
        }
    }

    /// NaN or ∞, if the terms make one.
    fn special_of(&self, found: Found) -> Option<Special> {
        let Found { nan, plus, minus } = found;
        match (nan, plus, minus) {
            (false, false, false) => None,
            (false, true, false) => Some(Special::Infinite { negative: false }),
            (false, false, true) => Some(Special::Infinite { negative: true }),
            (false, true, true) if self.specials.opposite != Invalid::Nan => {
                self.specials.opposite.special(false)
            }
            _ => Some(Special::Nan),
        }
    }

    /// F, where it is nothing but T-FDPA of powers of two as scales, which has a shorter way.
    fn truncated_f(&self) -> Option<u32> {
        self.f.filter(|_| self.is_truncated())
    }

    fn is_truncated(&self) -> bool {
        *self
            == Self {
                e0: self.e0,
                align: self.align,
                align_c: self.align,
                floor: self.floor,
                ..Self::plain(self.l, self.f)
            }
    }

    /// Whether it is one fused multiply-add, which is exact in formats of any width.
    pub(super) fn is_fused_multiply_add(&self) -> bool {
        self.l == 1 && self.f.is_none() && self.is_truncated() && self.e0.is_none()
    }

    /// Blocks of which the first one has no value beside its products.
    pub(super) fn begin_with_product(&self, pairs: &[Pair], output: &Output) -> u64 {
        let nothing = pairs.first().map(|first| self.nothing(first, output));
        let mut start = nothing.unwrap_or_else(|| output.unpack(PLUS_ZERO));
        let mut sum = PLUS_ZERO;
        for block in pairs.chunks(self.l as usize) {
            sum = finished(self.sum_of(block, block.len(), &start, output), output);
            start = output.unpack(sum);
        }
        sum
    }

    fn product(&self, pair: &Pair, output: &Output) -> Outcome {
        if let Some(special) = pair.special() {
            let zero_times_infinity = special == Special::Nan
                && pair.a.class != Class::Nan
                && pair.b.class != Class::Nan
                && special_product(&pair.a, &pair.b).is_some();
            if !zero_times_infinity {
                return Outcome::Special(special);
            }
            let instead = self.specials.zero_times_infinity.special(pair.negative());
            return instead.map_or(Outcome::Term(None), Outcome::Special);
        }
        let term = exact_product(pair);
        let top = term.and_then(|term| term.value.top());
        if let (Some(top), Some(limit)) = (top, self.product_limit)
            && top >= limit
        {
            return Outcome::Special(Special::Infinite {
                negative: pair.negative(),
            });
        }
        if let Some((rounding, format)) = self.terms.products {
            let value = self
                .terms
                .rounded(pair, rounding, format, Overflow::Ieee, output);
            return match special_value(&value) {
                Some(special) => Outcome::Special(special),
                None if value.significand == 0 => Outcome::Zero(value.negative),
                None => Outcome::Term(Term::of_value(&value)),
            };
        }
        let (Some(mut term), Some(top)) = (term, top) else {
            return Outcome::Term(None);
        };
        if self.normalised {
            term.exponent = top;
        }
        if self
            .groups
            .is_some_and(|groups| groups.exponent == GroupExponent::Scales)
        {
            let exponent = pair.scales.a.exponent + pair.scales.b.exponent;
            term.exponent = exponent;
        }
        Outcome::Term(Some(term))
    }

    /// A zero that adds nothing to a product, not even the sign of another zero.
    fn nothing(&self, first: &Pair, output: &Output) -> Unpacked {
        let first = self.terms.pair(first);
        let negative = match self.product(&first, output) {
            Outcome::Zero(negative) => negative,
            _ => first.negative(),
        };
        output.unpack(output.format.to_register(output.format.zero(negative)))
    }

    /// The sum is brought to F2 bits of its own exponent, if it has them, and rounded.
    fn finish(&self, exact: Exact, zeros: Option<bool>, output: &Output) -> u64 {
        let Some(f2) = self.f2.filter(|_| exact.magnitude != 0) else {
            return output.finite(&exact, zeros);
        };
        let smallest = output.format.float().map_or(0, |float| float.emin());
        let top = exact.top().map_or(smallest, |top| top.max(smallest));
        let grid = top - f2 as i32;
        if grid <= exact.exponent && !exact.sticky {
            return output.finite(&exact, zeros);
        }
        // What is longer by less than any bit is rounded too: it then has F2 bits, and one to be rounded.
        let exact = match exact.exponent - (grid - 1) {
            finer @ 1.. => Exact {
                magnitude: exact.magnitude << finer,
                exponent: grid - 1,
                ..exact
            },
            _ => exact,
        };
        if self.floor == Rounding::Rd && !exact.sticky && exact.magnitude >> 127 == 0 {
            let signed = exact.magnitude as i128;
            let signed = if exact.negative { -signed } else { signed };
            let (floored, place) = floor_to(signed, exact.exponent, grid);
            return output.fixed(floored, place, None);
        }
        let width = (grid - exact.exponent) as u32;
        let magnitude =
            self.floor
                .shift_right(exact.negative, exact.magnitude, exact.sticky, width);
        let exact = Exact {
            magnitude,
            exponent: grid,
            sticky: false,
            ..exact
        };
        output.finite(&exact, None)
    }
}

/// Whether a product is a zero of c's sign.
fn is_zero_like(pair: &Pair, c: &Unpacked) -> bool {
    pair.negative() == c.negative && (pair.a.class == Class::Zero || pair.b.class == Class::Zero)
}

/// The product times both scales; `None` when it is zero.
fn exact_product(pair: &Pair) -> Option<Term> {
    let mut term = pair.product()?;
    for scale in [&pair.scales.a, &pair.scales.b] {
        term.exponent += scale.exponent;
        term.value.exponent += scale.exponent - scale.fraction_bits as i32;
        term.value.magnitude *= u128::from(scale.significand);
    }
    (term.value.magnitude != 0).then_some(term)
}

impl Groups {
    /// The sums of the groups that take part.
    ///
    /// The block has so many places, of which the first ones have terms.
    fn sums(&self, terms: &[Option<Term>], places: usize, sums: &mut Vec<Term>) {
        let g = self.g as usize;
        let (count, whole) = (terms.len().div_ceil(g), places.div_ceil(g));
        let groups = if self.strided { whole } else { count };
        sums.extend((0..groups).filter_map(|group| {
            if self.strided {
                self.sum(terms.iter().skip(group).step_by(whole).flatten())
            } else {
                self.sum(terms[group * g..].iter().take(g).flatten())
            }
        }));
    }

    /// The sum of a group; `None` when it takes no part.
    fn sum<'a>(&self, terms: impl Iterator<Item = &'a Term> + Clone) -> Option<Term> {
        let largest = terms.clone().map(|term| term.exponent).max()?;
        let value = match self.f {
            None => exact_total(terms.map(|term| &term.value)),
            Some(f) => {
                let grid = largest - f as i32;
                let aligned = terms.map(|term| term.align(grid, self.align));
                Exact::of_multiple(aligned.sum(), grid)
            }
        };
        if self.drops_zero && value.magnitude == 0 {
            return None;
        }
        if self.exponent != GroupExponent::Own {
            return Some(Term {
                value,
                exponent: largest,
            });
        }
        let exponent = value.top()?;
        Some(Term { value, exponent })
    }
}
