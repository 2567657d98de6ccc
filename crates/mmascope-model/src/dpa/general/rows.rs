//! The steps of the model space as rows: where each parameter stands, its default, and its sentence.
//!
//! The sentences are the whole description of a step: a test computes from them alone.

use super::words::{becomes, block, flushes, narrows};
use super::{AddMul, Fused, General, GroupExponent, Groups, divides, groups_fit};
use crate::dpa::describe::{rounded, stand_ins};
use crate::dpa::named::Step;
use crate::dpa::output::Output;
use crate::dpa::pair::Pair;
use crate::dpa::product::Product;
use crate::dpa::schema::parameters as p;
use crate::dpa::schema::{Row, Typed, Value, row};
use crate::dpa::{Select, Signature, ZeroSign};
use crate::format::{Format, Overflow, Rounding, Unpacked};

/// A list of rows that ends with those of [`super::Terms`].
macro_rules! rows_with_terms {
    ($($row:expr),+ $(,)?) => {
        &[
            $($row,)+
            row!(FLUSH_IN, terms.flush_in)
                .or(|_| Value::Word("none"))
                .says(20, |step, _| {
                    let of = match step.terms.flush_of {
                        super::OperandChoice::Both => "a or b",
                        super::OperandChoice::A => "a",
                        super::OperandChoice::B => "b",
                    };
                    flushes(of, step.terms.flush_in)
                }),
            row!(FLUSH_C, terms.flush_c)
                .or(|_| Value::Word("none"))
                .says(21, |step, _| flushes("c of the first block", step.terms.flush_c)),
            row!(FLUSH_PRODUCTS, terms.flush_products)
                .or(|_| Value::Word("none"))
                .if_any(|step| match step.rounds_products() {
                    true => Ok(()),
                    false => Err("is of rounded products: it needs products=rne:f32, for example"),
                })
                .says(33, |step, _| flushes("rounded product", step.terms.flush_products)),
            row!(OPERANDS, terms.operands)
                .or(|_| Value::Word("exact"))
                .says(23, |step, _| narrows("Then a and b are", step.terms.operands)),
            row!(ROUND_C, terms.round_c)
                .or(|_| Value::Word("exact"))
                .says(24, |step, _| narrows("Then the c of the first block is", step.terms.round_c)),
            row!(FLUSH_OF, terms.flush_of)
                .or(|_| Value::Word("both"))
                .if_any(|step| match step.terms.flush_in {
                    Some(_) => Ok(()),
                    None => Err("says whose subnormals are flushed: it needs flush-in=plus, for example"),
                }),
            row!(ZERO_IN, terms.plus_zeros)
                .or(|_| Value::Word("signed"))
                .says(22, |step, _| match step.terms.plus_zeros {
                    true => "A zero a or b, or c of the first block, counts as +0.".to_owned(),
                    false => String::new(),
                }),
        ]
    };
}

impl Fused {
    fn rounds_products(&self) -> bool {
        self.terms.products.is_some()
    }

    fn is_aligned(&self) -> Result<(), &'static str> {
        match self.f {
            Some(_) => Ok(()),
            None => Err("is of the alignment: F=exact has none; it needs F=25, for example"),
        }
    }

    fn has_groups(&self) -> Result<(), &'static str> {
        self.groups
            .map(|_| ())
            .ok_or("is of groups: it needs G=4, for example")
    }
}

/// Changes the groups that there are.
fn in_groups(step: &mut Fused, change: impl FnOnce(&mut Groups) -> Option<()>) -> bool {
    step.groups.as_mut().and_then(change).is_some()
}

/// A row of the groups: `group_row!(FG, f)`.
macro_rules! group_row {
    ($parameter:ident, $field:ident, $default:expr) => {
        Row::new(
            &p::$parameter,
            |step: &Fused| {
                let groups = step.groups.unwrap_or(Groups::exact(1));
                groups.$field.value(&p::$parameter)
            },
            |step, value| {
                in_groups(step, |groups| {
                    groups.$field = Typed::of(value, &p::$parameter)?;
                    Some(())
                })
            },
        )
        .or(|_| $default)
        .if_any(Fused::has_groups)
    };
}

impl Step for Fused {
    const NAME: &'static str = "fused";
    const TITLE: &'static str = "fused sum";
    const RESULT: (Overflow, ZeroSign) = (Overflow::Infinity, ZeroSign::Exact);
    const FROM_PRODUCT: bool = true;

    const ROWS: &'static [Row<Self>] = rows_with_terms![
        row!(L, l).says(10, |step, _| block(step.l)),
        row!(F, f).says(62, |step, _| step.sum_words()),
        row!(FC, f_c).or(|step| step.f.value(&p::FC)),
        row!(E0, e0)
            .or(|_| Value::Word("none"))
            .if_any(Fused::is_aligned),
        row!(ALIGN, align)
            .or(|_| Value::Rounding(Rounding::Rz))
            .if_any(Fused::is_aligned),
        row!(ALIGN_C, align_c)
            .or(|step| Value::Rounding(step.align))
            .if_any(Fused::is_aligned),
        Row::new(
            &p::G,
            |step: &Fused| step.groups.map(|groups| groups.g).value(&p::G),
            |step, value| match Typed::of(value, &p::G) {
                Some(g) => {
                    let g: Option<u32> = g;
                    let own = step.groups.unwrap_or(Groups::exact(1));
                    step.groups = g.map(|g| Groups { g, ..own });
                    true
                }
                None => false,
            },
        )
        .or(|_| Value::Word("none"))
        .says(40, |step, _| step.group_words()),
        group_row!(GROUPS, strided, Value::Word("neighbours")),
        group_row!(FG, f, Value::Word("exact")),
        group_row!(ALIGN_G, align, Value::Rounding(Rounding::Rz)),
        group_row!(EXPONENT_G, exponent, Value::Word("products")),
        group_row!(ZERO_G, drops_zero, Value::Word("kept")),
        Row::new(
            &p::FJ,
            |step: &Fused| step.join.map(|(f, _)| f).value(&p::FJ),
            |step, value| match Typed::of(value, &p::FJ) {
                Some(f) => {
                    let f: Option<u32> = f;
                    let align = step.join.map_or(Rounding::Rz, |(_, align)| align);
                    step.join = f.map(|f| (f, align));
                    true
                }
                None => false,
            },
        )
        .or(|_| Value::Word("none"))
        .says(50, |step, _| {
            step.join.map_or_else(String::new, |(f, align)| {
                let what = step.joined();
                format!(
                    "Then the {what}s are joined: each is rounded to a multiple of 2^(m-{f}), {}, where m is their largest exponent; their sum is exact and has the exponent m.",
                    rounded(align)
                )
            })
        }),
        Row::new(
            &p::ALIGN_J,
            |step: &Fused| Value::Rounding(step.join.map_or(Rounding::Rz, |(_, align)| align)),
            |step, value| match (&mut step.join, value) {
                (Some((_, align)), Value::Rounding(rounding)) => {
                    *align = rounding;
                    true
                }
                _ => false,
            },
        )
        .or(|_| Value::Rounding(Rounding::Rz))
        .if_any(|step| step.join.map(|_| ()).ok_or("is of joined sums: it needs Fj=24, for example")),
        row!(F2, f2).or(|_| Value::Word("none")).says(65, |step, output| {
            step.f2.map_or_else(String::new, |f2| {
                let emin = output.format.float().map_or(0, |float| float.emin());
                format!(
                    "The sum, unless 0, is rounded to a multiple of 2^(n-{f2}), {}, where n is the exponent of its leading bit, at least {emin}; one that this takes to 0 is exactly 0.",
                    rounded(step.floor)
                )
            })
        }),
        row!(FLOOR, floor)
            .or(|_| Value::Rounding(Rounding::Rd))
            .if_any(|step| step.f2.map(|_| ()).ok_or("rounds to F2 bits: it needs F2=31, for example")),
        row!(PRODUCT_LIMIT, product_limit)
            .or(|_| Value::Word("none"))
            .says(31, |step, _| {
                step.product_limit.map_or_else(String::new, |limit| {
                    format!("A product whose exact magnitude is 2^{limit} or more counts as infinity of its sign.")
                })
            }),
        row!(GRID, c_outside_alignment)
            .or(|_| Value::Word("all"))
            .if_any(Fused::is_aligned)
            .says(60, |step, _| step.grid_words()),
        row!(DROP_C, drop_c)
            .or(|_| Value::Word("none"))
            .if_any(Fused::is_aligned)
            .says(61, |step, _| {
                step.drop_c.map_or_else(String::new, |far| {
                    format!("A c whose exponent is below E-{far} counts as 0 here.")
                })
            }),
        row!(STICKY, sticky)
            .or(|_| Value::Word("none"))
            .if_any(|step| match step.f {
                Some(_) => Ok(()),
                None => Err("remembers what the alignment drops: F=exact drops nothing; it needs F=25, for example"),
            })
            .says(63, |step, _| step.sticky_words()),
        row!(ZERO_TIMES_INF, specials.zero_times_infinity)
            .or(|_| Value::Word("nan"))
            .says(34, |step, _| {
                use super::Invalid;
                let what = match step.specials.zero_times_infinity {
                    Invalid::Nan => "NaN",
                    Invalid::Plus => "+infinity",
                    Invalid::Minus => "-infinity",
                    Invalid::Signed => "infinity of the product's sign",
                    Invalid::Zero => "a zero of the product's sign",
                };
                format!("Zero times infinity is {what}.")
            }),
        row!(INF_MINUS_INF, specials.opposite)
            .or(|_| Value::Word("nan"))
            .says(35, |step, _| {
                use super::Invalid;
                let what = match step.specials.opposite {
                    Invalid::Plus => "+infinity",
                    Invalid::Minus => "-infinity",
                    _ => "NaN",
                };
                format!(
                    "A NaN among products and c gives NaN; else infinities of both signs give {what}, of one sign that infinity."
                )
            }),
        Row::new(
            &p::PRODUCTS,
            |step: &Fused| match (step.terms.products, step.normalised) {
                (Some((rounding, format)), _) => Value::Rounded(rounding, format),
                (None, true) => Value::Word("normalised"),
                (None, false) => Value::Word("exact"),
            },
            |step, value| {
                step.normalised = value == Value::Word("normalised");
                step.terms.products = Typed::of(value, &p::PRODUCTS);
                true
            },
        )
        .or(|_| Value::Word("exact"))
        .says(30, |step, _| step.products_words()),
    ];

    fn new() -> Self {
        Self::plain(1, Some(1))
    }

    fn block(&self) -> usize {
        self.l as usize
    }

    fn general(&self, _: &Output) -> General {
        General::Fused(*self)
    }

    fn rounds_every_operation(&self) -> bool {
        self.is_fused_multiply_add()
    }

    fn check(&self) -> Result<(), String> {
        if self.f.is_none() != self.f_c.is_none() {
            return Err("F and Fc are both exact or both numbers".to_owned());
        }
        match self.groups {
            Some(Groups {
                g,
                exponent: GroupExponent::Scales,
                ..
            }) => divides(g, self.l),
            _ => Ok(()),
        }
    }

    fn fits(&self, signature: &Signature, over: &Select, _: &Format) -> Result<bool, String> {
        let scaled = |groups: &Groups| groups.exponent == GroupExponent::Scales;
        let by_scales = self.groups.filter(scaled);
        if signature.scale.is_none() && by_scales.is_none() {
            return Ok(false);
        }
        // Scales reach further than exact sums; those of groups are taken before the scales are.
        let has_exact_groups = self.groups.is_some_and(|groups| groups.f.is_none());
        let is_exact =
            self.f.is_none() || self.c_outside_alignment || has_exact_groups && by_scales.is_none();
        if is_exact || self.rounds_products() {
            return Err(
                "with block scales, fused needs bits, not exact sums, rounded products or grid=products"
                    .into(),
            );
        }
        match by_scales {
            Some(groups) => groups_fit("exponent-g=scales", groups.g, signature, over),
            None => Ok(true),
        }
    }

    fn start(&self, c: Unpacked) -> Unpacked {
        self.terms.start(c)
    }

    fn sums_products(&self, has_scales: bool) -> bool {
        !has_scales && self.takes_products_only()
    }

    fn sum(&self, products: &[Product], c: &Unpacked, output: &Output) -> u64 {
        self.sum_of_products(products, c, output)
    }

    fn run(&self, pairs: &[Pair], c: &Unpacked, output: &Output) -> u64 {
        self.sum_of(pairs, pairs.len(), c, output)
    }
}

impl AddMul {
    fn rounds_products(&self) -> bool {
        true
    }
}

impl Step for AddMul {
    const NAME: &'static str = "add-mul";
    const TITLE: &'static str = "rounded products and sums";
    const RESULT: (Overflow, ZeroSign) = (Overflow::Ieee, ZeroSign::Ieee);
    const FROM_PRODUCT: bool = true;

    const ROWS: &'static [Row<Self>] = rows_with_terms![
        row!(P, p).says(10, |step, _| block(step.p)),
        row!(ADDS, sequential)
            .or(|_| Value::Word("pairwise"))
            .says(40, |step, _| {
                let order = match step.sequential {
                    true => "one after the other",
                    false => "in pairs of neighbours, their sums likewise, until one is left",
                };
                format!("The products of a block are added {order}; the sum is added to c.")
            }),
        row!(FLUSH_SUMS, flush_sums)
            .or(|_| Value::Word("none"))
            .says(41, |step, _| {
                let flush = step.flush_sums.map_or_else(String::new, |sign| {
                    format!("; a sum that is subnormal {}", becomes(sign))
                });
                format!(
                    "Every addition is one of IEEE 754, made a result as below, signs of zeros too{flush}."
                )
            }),
        Row::new(
            &p::PRODUCTS,
            |step: &AddMul| step
                .terms
                .products
                .map_or(Value::Word("exact"), |to| to.value(&p::PRODUCTS)),
            |step, value| {
                step.terms.products = Typed::of(value, &p::PRODUCTS);
                value != Value::Word("normalised")
            },
        )
        .or(|_| Value::Word("exact"))
        .says(30, |step, _| match step.terms.products {
            None => {
                "Each product is one of IEEE 754, rounded and limited like the result.".to_owned()
            }
            Some((rounding, format)) => format!(
                "Each product is rounded to {format}, {}, with IEEE 754 overflow{}.",
                rounded(rounding),
                stand_ins(&format).map_or_else(String::new, |words| format!("; {words}")),
            ),
        }),
    ];

    fn new() -> Self {
        Self::plain(1)
    }

    fn block(&self) -> usize {
        self.p as usize
    }

    fn general(&self, _: &Output) -> General {
        General::AddMul(*self)
    }

    fn rounds_every_operation(&self) -> bool {
        true
    }

    fn start(&self, c: Unpacked) -> Unpacked {
        self.terms.start(c)
    }

    fn run(&self, pairs: &[Pair], c: &Unpacked, output: &Output) -> u64 {
        self.sum_of(pairs, c, output)
    }
}
