//! Steps with every parameter of the model space (probing specification, §1a): what `infer` finds
//! units to be that no shipped row describes. No known unit needs them; a parameter is left at its
//! default where the unit is like the shipped ones.

use super::FlushSign;
use super::ieee;
use super::output::Output;
use super::pair::{Pair, Term};
use super::t_fdpa::common_zero;
use super::tr_fdpa::floor_to;
use super::wide::Wide;
use super::{Special, special_sum, special_value};
use crate::format::{Class, Exact, Format, Overflow, Rounding, Unpacked};

/// A step of the model space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum General {
    /// `fused`: products, or sums of groups of them, and c in one sum that is rounded once.
    Fused(Fused),
    /// `add-mul`: rounded products and rounded additions.
    AddMul(AddMul),
}

/// What is done to operands and products before anything is added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Terms {
    /// Subnormal a and b become zeros of this sign.
    pub flush_in: Option<FlushSign>,
    /// A subnormal c becomes a zero of this sign.
    pub flush_c: Option<FlushSign>,
    /// Products are rounded to this format.
    pub products: Option<(Rounding, Format)>,
    /// Subnormal rounded products become zeros of this sign.
    pub flush_products: Option<FlushSign>,
}

/// A fused sum with all its parameters; L products a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fused {
    /// Products per block.
    pub l: u32,
    /// What is done to operands and products.
    pub terms: Terms,
    /// Products take part in the alignment with their normalised exponents.
    pub normalised: bool,
    /// Products of 2^this and more are ∞ before the sum.
    pub product_limit: Option<i32>,
    /// Groups that are summed by themselves first.
    pub groups: Option<Groups>,
    /// Fraction bits of the alignment of products or groups; `None`: the sum is exact.
    pub f: Option<u32>,
    /// Fraction bits of the alignment of c.
    pub f_c: Option<u32>,
    /// Floor of the alignment exponent.
    pub e0: Option<i32>,
    /// Rounding of products or groups to the alignment grid.
    pub align: Rounding,
    /// Rounding of c to the alignment grid.
    pub align_c: Rounding,
    /// The sum is rounded to this many fraction bits of its own exponent.
    pub f2: Option<u32>,
    /// The rounding for F2.
    pub floor: Rounding,
}

/// Groups of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Groups {
    /// Products per group.
    pub g: u32,
    /// Group j of n has the products j, j + n, j + 2n …; otherwise neighbours.
    pub strided: bool,
    /// Fraction bits below the group's largest exponent; `None`: exact.
    pub f: Option<u32>,
    /// Rounding to the group's grid.
    pub align: Rounding,
    /// The group's sum takes part with its normalised exponent, not that of its largest product.
    pub normalised: bool,
}

/// Rounded products and additions with all their parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddMul {
    /// Products per group; each group's sum is added to c.
    pub p: u32,
    /// Products of a group are added one after the other, not pairwise.
    pub sequential: bool,
    /// What is done to operands and products; products are rounded to the result's format where
    /// it does not say to which.
    pub terms: Terms,
}

impl Fused {
    /// The plain truncated sum: L products and c, F bits, no floor.
    #[must_use]
    pub fn plain(l: u32, f: Option<u32>) -> Self {
        Self {
            l,
            terms: Terms::default(),
            normalised: false,
            product_limit: None,
            groups: None,
            f,
            f_c: f,
            e0: None,
            align: Rounding::Rz,
            align_c: Rounding::Rz,
            f2: None,
            floor: Rounding::Rd,
        }
    }
}

impl General {
    /// Products per block.
    pub(super) fn block(&self) -> usize {
        match self {
            Self::Fused(fused) => fused.l as usize,
            Self::AddMul(add_mul) => add_mul.p as usize,
        }
    }

    /// c as the first block takes it.
    pub(super) fn start(&self, c: Unpacked) -> Unpacked {
        let (Self::Fused(Fused { terms, .. }) | Self::AddMul(AddMul { terms, .. })) = self;
        flushed(&c, terms.flush_c)
    }

    /// Blocks of rounded sums that begin with the first group's sum, not with c.
    pub(super) fn run_from_product(&self, pairs: &[Pair], output: &Output) -> u64 {
        let mut blocks = pairs.chunks(self.block());
        let first = match (self, blocks.next()) {
            (Self::AddMul(add_mul), Some(first)) => add_mul.group(first, output),
            _ => None,
        };
        let Some(first) = first else {
            return super::output::PLUS_ZERO;
        };
        let rounded = finished(super::output::convert(&first, output), output);
        blocks.fold(rounded, |sum, block| {
            self.run(block, &output.unpack(sum), output)
        })
    }

    /// One block.
    pub(super) fn run(&self, pairs: &[Pair], c: &Unpacked, output: &Output) -> u64 {
        match self {
            Self::Fused(fused) => fused.run(pairs, c, output),
            Self::AddMul(add_mul) => add_mul.run(pairs, c, output),
        }
    }
}

/// A subnormal value becomes a zero.
pub(super) fn flushed(x: &Unpacked, flush: Option<FlushSign>) -> Unpacked {
    let is_subnormal = x.class == Class::Finite && x.significand >> x.fraction_bits == 0;
    match flush {
        Some(sign) if is_subnormal => Unpacked {
            negative: x.negative && sign == FlushSign::Kept,
            class: Class::Zero,
            significand: 0,
            ..*x
        },
        _ => *x,
    }
}

impl Terms {
    fn pair<'a>(&self, pair: &Pair<'a>) -> Pair<'a> {
        Pair {
            a: flushed(&pair.a, self.flush_in),
            b: flushed(&pair.b, self.flush_in),
            ..*pair
        }
    }

    /// A product as a rounded value.
    fn rounded(
        &self,
        pair: &Pair,
        rounding: Rounding,
        format: Format,
        output: &Output,
    ) -> Unpacked {
        let to = Output {
            format,
            rounding,
            overflow: Overflow::Ieee,
            nan: super::Nan::Any,
            zero: super::ZeroSign::Ieee,
            ..*output
        };
        flushed(
            &to.unpack(ieee::multiply(&pair.a, &pair.b, &to)),
            self.flush_products,
        )
    }
}

/// A finite product, or what it is instead.
enum Product {
    Term(Option<Term>),
    Special(Special),
}

impl Fused {
    fn run(&self, pairs: &[Pair], c: &Unpacked, output: &Output) -> u64 {
        let odd_scale = |pair: &Pair| (pair.scales.a.significand | pair.scales.b.significand) != 1;
        if let Some(f) = self
            .f
            .filter(|_| self.is_truncated() && !pairs.iter().any(odd_scale))
        {
            let e0 = self.e0.unwrap_or(i32::MIN / 2);
            let zero = || super::t_fdpa::no_terms(pairs, c);
            return if self.e0.is_none() && zero() {
                output.fixed(0, 0, common_zero(pairs, c))
            } else {
                super::t_fdpa::block(pairs, c, f, e0, self.align, output)
            };
        }
        let pairs: Vec<Pair> = pairs.iter().map(|pair| self.terms.pair(pair)).collect();
        let products: Vec<Product> = pairs
            .iter()
            .map(|pair| self.product(pair, output))
            .collect();
        let specials = products.iter().map(|product| match product {
            Product::Special(special) => Some(*special),
            Product::Term(_) => None,
        });
        if let Some(special) = special_sum(specials.chain([special_value(c)])) {
            return output.special(special);
        }
        let terms: Vec<Option<Term>> = products
            .iter()
            .map(|product| match product {
                Product::Term(term) => *term,
                Product::Special(_) => None,
            })
            .collect();
        let zeros = common_zero(&pairs, c);
        let sums: Vec<Sum> = match self.groups {
            None => terms.iter().flatten().map(Sum::of_term).collect(),
            Some(groups) => groups.sums(&terms),
        };
        let c = Term::of_value(c).map(|term| Sum::of_term(&term));
        let (Some(f), Some(f_c)) = (self.f, self.f_c) else {
            let mut wide = Wide::default();
            for sum in sums.iter().chain(&c) {
                wide.add_exact(&sum.value);
            }
            return self.finish(wide.exact(), zeros, output);
        };
        let exponents = sums.iter().chain(&c).map(|sum| sum.exponent);
        let Some(largest) = exponents.chain(self.e0).max() else {
            return output.fixed(0, 0, zeros);
        };
        let (grid, c_grid) = (largest - f as i32, largest - f_c as i32);
        let total: i128 = sums.iter().map(|sum| sum.align(grid, self.align)).sum();
        let c = c.map_or(0, |sum| sum.align(c_grid, self.align_c));
        let fine = grid.min(c_grid);
        let total = (total << (grid - fine)) + (c << (c_grid - fine));
        let exact = Exact {
            negative: total < 0,
            magnitude: total.unsigned_abs(),
            exponent: fine,
            sticky: false,
        };
        self.finish(exact, zeros, output)
    }

    /// Whether it is nothing but T-FDPA of powers of two as scales, which has a shorter way.
    fn is_truncated(&self) -> bool {
        self.terms == Terms::default()
            && !self.normalised
            && self.product_limit.is_none()
            && self.groups.is_none()
            && self.f == self.f_c
            && self.align == self.align_c
            && self.f2.is_none()
    }

    fn product(&self, pair: &Pair, output: &Output) -> Product {
        if let Some(special) = pair.special() {
            return Product::Special(special);
        }
        if let Some((rounding, format)) = self.terms.products {
            let value = self.terms.rounded(pair, rounding, format, output);
            return match special_value(&value) {
                Some(special) => Product::Special(special),
                None => Product::Term(Term::of_value(&value)),
            };
        }
        let Some(product) = pair.product() else {
            return Product::Term(None);
        };
        let scales = [&pair.scales.a, &pair.scales.b];
        let mut term = product;
        for scale in scales {
            term.exponent += scale.exponent;
            term.significand *= u128::from(scale.significand);
            term.fraction_bits += scale.fraction_bits as i32;
        }
        if term.significand == 0 {
            return Product::Term(None);
        }
        let top = term.exponent - term.fraction_bits + term.significand.ilog2() as i32;
        if self.product_limit.is_some_and(|limit| top >= limit) {
            return Product::Special(Special::Infinite {
                negative: term.negative,
            });
        }
        if self.normalised {
            term.fraction_bits += top - term.exponent;
            term.exponent = top;
        }
        Product::Term(Some(term))
    }

    /// The sum is brought to F2 bits of its own exponent, if it has them, and rounded.
    fn finish(&self, exact: Exact, zeros: Option<bool>, output: &Output) -> u64 {
        let Some(f2) = self.f2.filter(|_| exact.magnitude != 0) else {
            return output.finite(&exact, zeros);
        };
        let smallest = output.format.float().map_or(0, |float| float.emin());
        let top = exact.exponent + exact.magnitude.ilog2() as i32;
        let grid = top.max(smallest) - f2 as i32;
        if grid <= exact.exponent {
            return output.finite(&exact, zeros);
        }
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

/// A term of the sum: an exact value and the exponent with which it takes part in alignment.
struct Sum {
    value: Exact,
    exponent: i32,
}

impl Sum {
    fn of_term(term: &Term) -> Self {
        Self {
            value: Exact {
                negative: term.negative,
                magnitude: term.significand,
                exponent: term.exponent - term.fraction_bits,
                sticky: false,
            },
            exponent: term.exponent,
        }
    }

    /// As a multiple of 2^grid, rounded. The grid lies at most 64 bits below the largest exponent.
    fn align(&self, grid: i32, rounding: Rounding) -> i128 {
        let Exact {
            negative,
            magnitude,
            exponent,
            sticky,
        } = self.value;
        let magnitude = if exponent >= grid {
            magnitude << (exponent - grid).min(127)
        } else {
            rounding.shift_right(negative, magnitude, sticky, (grid - exponent) as u32)
        } as i128;
        if negative { -magnitude } else { magnitude }
    }
}

impl Groups {
    fn sums(&self, terms: &[Option<Term>]) -> Vec<Sum> {
        let g = self.g as usize;
        let count = terms.len().div_ceil(g);
        (0..count)
            .filter_map(|group| {
                if self.strided {
                    self.sum(terms.iter().skip(group).step_by(count))
                } else {
                    self.sum(terms.iter().skip(group * g).take(g))
                }
            })
            .collect()
    }

    /// The sum of a group; `None` when it takes no part.
    fn sum<'a>(&self, terms: impl Iterator<Item = &'a Option<Term>>) -> Option<Sum> {
        let terms: Vec<Sum> = terms.flatten().map(Sum::of_term).collect();
        let largest = terms.iter().map(|term| term.exponent).max()?;
        let value = match self.f {
            None => {
                let mut wide = Wide::default();
                for term in &terms {
                    wide.add_exact(&term.value);
                }
                wide.exact()
            }
            Some(f) => {
                let grid = largest - f as i32;
                let total: i128 = terms.iter().map(|term| term.align(grid, self.align)).sum();
                Exact {
                    negative: total < 0,
                    magnitude: total.unsigned_abs(),
                    exponent: grid,
                    sticky: false,
                }
            }
        };
        if !self.normalised {
            return Some(Sum {
                value,
                exponent: largest,
            });
        }
        (value.magnitude != 0).then(|| Sum {
            exponent: value.exponent + value.magnitude.ilog2() as i32,
            value,
        })
    }
}

impl AddMul {
    fn run(&self, pairs: &[Pair], c: &Unpacked, output: &Output) -> u64 {
        match self.group(pairs, output) {
            Some(group) => finished(ieee::add(c, &group, output), output),
            None => super::output::convert(c, output),
        }
    }

    /// The sum of a group's rounded products.
    fn group(&self, pairs: &[Pair], output: &Output) -> Option<Unpacked> {
        let sum =
            |x: &Unpacked, y: &Unpacked| output.unpack(finished(ieee::add(x, y, output), output));
        let (rounding, format) = self
            .terms
            .products
            .unwrap_or((output.rounding, output.format));
        let mut values: Vec<Unpacked> = pairs
            .iter()
            .map(|pair| {
                let pair = self.terms.pair(pair);
                self.terms.rounded(&pair, rounding, format, output)
            })
            .collect();
        if self.sequential {
            values = values
                .into_iter()
                .reduce(|total, next| sum(&total, &next))
                .into_iter()
                .collect();
        }
        while values.len() > 1 {
            values = values
                .chunks(2)
                .map(|two| match two {
                    [x, y] => sum(x, y),
                    _ => two[0],
                })
                .collect();
        }
        values.first().copied()
    }
}

/// A result after the flush that its output asks for.
pub(super) fn finished(word: u64, output: &Output) -> u64 {
    if output.flush.is_none() {
        return word;
    }
    let x = output.unpack(word);
    let after = flushed(&x, output.flush);
    if after == x {
        word
    } else {
        output.zero(after.negative)
    }
}

impl Wide {
    /// Adds an exact value.
    fn add_exact(&mut self, value: &Exact) {
        let (low, high) = (
            value.magnitude & u128::from(u64::MAX),
            value.magnitude >> 64,
        );
        for (part, exponent) in [(low, value.exponent), (high, value.exponent + 64)] {
            if part != 0 {
                // Trailing zeros may lie below the accumulator's last place.
                let zeros = part.trailing_zeros();
                self.add(value.negative, part >> zeros, exponent + zeros as i32);
            }
        }
    }
}
