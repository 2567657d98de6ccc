//! Units whose steps do not all do the same, several accumulators, odd codes and zeros: written with
//! big integers, each as a function of its own, and recovered.

use mmascope::dpa::Signature;
use mmascope::dut::{Batch, Dut};
use mmascope::infer::{InferenceOptions, Outcome, infer};
use mmascope::isa::Catalogue;
use mmascope::vector::Answer;

use crate::exact::Dyadic;
use crate::ieee::{BRAIN, HALF, Ieee, Mode, SINGLE, Value};
use crate::mutants::mismatch;

/// A unit as a function of products and c; ∞ and NaN are settled before it, unless it takes codes.
struct Unit {
    name: &'static str,
    signature: Signature,
    operand: Ieee,
    /// Codes of ∞ and NaN are numbers.
    numbers: bool,
    /// The ∞ of operands is the largest number.
    largest: bool,
    nan: fn(u64) -> u64,
    /// Where steps end, but for the last one.
    ends: &'static [usize],
    sum: fn(&[Term], &Term) -> Outcome32,
}

/// A number with the exponent of its field, or those of both operands.
type Term = (Dyadic, i32);

/// A result before it is a word.
enum Outcome32 {
    Number(Dyadic, Mode),
    Infinite(bool),
    Zero(bool),
}

use Outcome32::{Infinite, Number, Zero};

fn decoded(unit: &Unit, code: u64) -> Value {
    let format = unit.operand;
    let value = format.decode(code);
    let special = !matches!(value, Value::Finite(..));
    if special && unit.numbers {
        // One exponent above the largest.
        let below = code & !(1 << format.fraction);
        let Value::Finite(negative, x, e) = format.decode(below) else {
            panic!("a number");
        };
        // The same significand, twice the value.
        return Value::Finite(negative, x.times_power_of_two(1), e + 1);
    }
    match value {
        Value::Infinite(negative) if unit.largest => format.decode(format.largest(negative)),
        value => value,
    }
}

impl Unit {
    fn dot(&self, a: &[u64], b: &[u64], c: u64) -> u64 {
        let mut nan = false;
        let mut infinite: Vec<Option<bool>> = Vec::new();
        let mut terms = Vec::new();
        for (&a, &b) in a.iter().zip(b) {
            let (mut sign, mut term) = (None, (Dyadic::zero(), 0));
            match (decoded(self, a), decoded(self, b)) {
                (Value::Finite(_, x, e), Value::Finite(_, y, g)) => term = (x.multiply(&y), e + g),
                (Value::Nan, _) | (_, Value::Nan) => nan = true,
                (Value::Infinite(s), Value::Infinite(t)) => sign = Some(s != t),
                (Value::Infinite(s), Value::Finite(t, x, _))
                | (Value::Finite(t, x, _), Value::Infinite(s)) => {
                    nan |= x.is_zero();
                    sign = Some(s != t);
                }
            }
            infinite.push(sign);
            terms.push(term);
        }
        let mut state = None;
        let c_term = match SINGLE.decode(c) {
            Value::Finite(_, x, e) => (x, e),
            Value::Infinite(negative) => {
                state = Some(negative);
                (Dyadic::zero(), 0)
            }
            Value::Nan => return (self.nan)(c),
        };
        // Step after step: an infinity, or what overflows before a later one.
        let mut start = 0;
        for &end in self.ends.iter().chain([&terms.len()]) {
            let signs: Vec<bool> = state
                .into_iter()
                .chain(infinite[start..end].iter().copied().flatten())
                .collect();
            nan |= signs.contains(&true) && signs.contains(&false);
            state = signs.first().copied();
            if state.is_none() && end < terms.len() {
                let mut head = terms.clone();
                head[end..].fill((Dyadic::zero(), 0));
                if let Infinite(negative) = (self.sum)(&head, &c_term) {
                    state = Some(negative);
                }
            }
            start = end;
        }
        if nan {
            return (self.nan)(c);
        }
        if let Some(negative) = state {
            return SINGLE.infinity(negative);
        }
        match (self.sum)(&terms, &c_term) {
            Infinite(negative) => SINGLE.infinity(negative),
            Zero(negative) => u64::from(negative) << 31,
            Number(x, mode) => {
                let word = SINGLE.round(&x, mode, false);
                word.unwrap_or_else(|| SINGLE.infinity(x.is_negative()))
            }
        }
    }
}

impl Dut for Unit {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn name(&self) -> &str {
        self.name
    }

    fn run(&mut self, batch: &Batch) -> mmascope::Result<Vec<Answer>> {
        let dot = |query: mmascope::dpa::Operands<'_>| self.dot(query.a, query.b, query.c);
        let each = (0..batch.len()).map(|index| Answer::Word(dot(batch.query(index))));
        Ok(each.collect())
    }
}

fn total<'a>(terms: impl IntoIterator<Item = &'a Dyadic>) -> Dyadic {
    terms
        .into_iter()
        .fold(Dyadic::zero(), |sum, term| sum.add(term))
}

/// A truncated sum: f bits below the largest exponent, which is at least −133.
fn truncated(terms: &[Term], f: i32, floor: i32) -> Dyadic {
    let own = terms.iter().filter(|term| !term.0.is_zero());
    let largest = own.map(|term| term.1).fold(floor, i32::max);
    let cut: Vec<Dyadic> = terms
        .iter()
        .map(|term| term.0.to_grid(largest - f, Mode::Rz))
        .collect();
    total(&cut)
}

/// A number of f32 as the next step takes it; `None` when it is out of range.
fn single(x: &Dyadic, mode: Mode) -> Option<Term> {
    match SINGLE.decode(SINGLE.round(x, mode, false)?) {
        Value::Finite(_, x, e) => Some((x, e)),
        _ => None,
    }
}

fn joined(terms: &[Term], c: &Term) -> Vec<Term> {
    terms.iter().chain([c]).cloned().collect()
}

/// Four products and c, then four products and that; `between` makes a term of the first sum.
fn two_steps(
    terms: &[Term],
    c: &Term,
    between: impl Fn(&Dyadic) -> Option<Term>,
) -> Result<Dyadic, bool> {
    let first = truncated(&joined(&terms[..4], c), 24, -133);
    let carried = between(&first).ok_or(first.is_negative())?;
    Ok(truncated(&joined(&terms[4..], &carried), 24, -133))
}

/// Two products and the sum so far, three times, with so many bits.
fn steps_of_two(terms: &[Term], c: &Term, bits: [i32; 3]) -> Outcome32 {
    let mut sum = c.clone();
    for (step, f) in terms.chunks(2).zip(bits) {
        let x = truncated(&joined(step, &sum), f, -133);
        match single(&x, Mode::Rz) {
            Some(next) => sum = next,
            None => return Infinite(x.is_negative()),
        }
    }
    Number(sum.0, Mode::Rz)
}

fn ended(sum: Result<Dyadic, bool>) -> Outcome32 {
    match sum {
        Ok(x) => Number(x, Mode::Rz),
        Err(negative) => Infinite(negative),
    }
}

fn units() -> Vec<Unit> {
    let unit = |name, operands: &str, k: usize, sum| Unit {
        name,
        signature: format!("a={operands} b={operands} c=f32 d=f32 k={k}")
            .parse()
            .expect("a signature"),
        operand: if operands == "f16" { HALF } else { BRAIN },
        numbers: false,
        largest: false,
        nan: |_| 0x7fff_ffff,
        ends: match (k, name) {
            (6, _) => &[2, 4],
            (10, _) => &[4, 8, 9],
            (24, _) => &[12],
            (_, "largest between, infinity at the end" | "flush between, none at the end") => &[4],
            _ => &[],
        },
        sum,
    };
    let one_sum =
        |terms: &[Term], c: &Term| Number(truncated(&joined(terms, c), 24, -133), Mode::Rz);
    vec![
        unit(
            "largest between, infinity at the end",
            "bf16",
            8,
            |terms, c| {
                ended(two_steps(terms, c, |x| {
                    single(x, Mode::Rz).or_else(|| {
                        let Value::Finite(_, x, e) = SINGLE.decode(SINGLE.largest(x.is_negative()))
                        else {
                            return None;
                        };
                        Some((x, e))
                    })
                }))
            },
        ),
        unit("flush between, none at the end", "bf16", 8, |terms, c| {
            ended(two_steps(terms, c, |x| {
                let carried = single(x, Mode::Rz)?;
                let tiny = carried.0.is_zero() || carried.0.logarithm() < -126;
                Some(if tiny { (Dyadic::zero(), 0) } else { carried })
            }))
        }),
        unit("a tail of single products", "bf16", 10, |terms, c| {
            let mut sum = c.clone();
            for step in terms[..8].chunks(4) {
                let x = truncated(&joined(step, &sum), 24, -132);
                match single(&x, Mode::Rz) {
                    Some(next) => sum = next,
                    None => return Infinite(x.is_negative()),
                }
            }
            for term in &terms[8..] {
                let x = sum.0.add(&term.0);
                match single(&x, Mode::Rne) {
                    Some(next) => sum = next,
                    None => return Infinite(x.is_negative()),
                }
            }
            Number(sum.0, Mode::Rne)
        }),
        unit(
            "pairs added in a tree, toward zero",
            "f16",
            8,
            |terms, c| {
                let mut sums: Vec<Dyadic> = terms
                    .chunks(2)
                    .map(|pair| truncated(pair, 24, -133))
                    .collect();
                let round = |x: &Dyadic| single(x, Mode::Rz).map_or_else(Dyadic::zero, |x| x.0);
                while sums.len() > 1 {
                    let pairs = sums.chunks(2);
                    sums = pairs
                        .map(|pair| round(&round(&pair[0]).add(&round(&pair[1]))))
                        .collect();
                }
                Number(sums[0].add(&c.0), Mode::Rz)
            },
        ),
        unit("groups that cancel take no part", "bf16", 8, |terms, c| {
            let mut groups: Vec<Term> = Vec::new();
            for group in terms.chunks(4) {
                let own = group.iter().filter(|term| !term.0.is_zero());
                let Some(e) = own.map(|term| term.1).max() else {
                    continue;
                };
                let cut = group.iter().map(|t| t.0.to_grid(e - 27, Mode::Rz));
                let sum = total(&cut.collect::<Vec<_>>());
                if !sum.is_zero() {
                    groups.push((sum, e));
                }
            }
            Number(truncated(&joined(&groups, c), 27, -133), Mode::Rne)
        }),
        unit(
            "sums of four, then one of the sums",
            "f16",
            12,
            |terms, c| {
                let sums: Option<Vec<Term>> = terms
                    .chunks(4)
                    .map(|step| single(&truncated(step, 24, -133), Mode::Rz))
                    .collect();
                let sums = sums.expect("products of f16 are in range");
                Number(truncated(&joined(&sums, c), 26, -133), Mode::Rz)
            },
        ),
        unit(
            "groups of six within steps of twelve",
            "f16",
            24,
            |terms, c| {
                let mut sum = c.clone();
                for step in terms.chunks(12) {
                    let groups: Vec<Term> = step
                        .chunks(6)
                        .filter_map(|group| {
                            let own = group.iter().filter(|term| !term.0.is_zero());
                            let e = own.map(|term| term.1).max()?;
                            let cut = group.iter().map(|term| term.0.to_grid(e - 14, Mode::Rz));
                            Some((total(&cut.collect::<Vec<_>>()), e))
                        })
                        .collect();
                    let x = truncated(&joined(&groups, &sum), 25, -133);
                    match single(&x, Mode::Rz) {
                        Some(next) => sum = next,
                        None => return Infinite(x.is_negative()),
                    }
                }
                Number(sum.0, Mode::Rz)
            },
        ),
        unit("a first step of fewer bits", "bf16", 6, |terms, c| {
            steps_of_two(terms, c, [19, 26, 26])
        }),
        unit("every step of other bits", "bf16", 6, |terms, c| {
            steps_of_two(terms, c, [18, 22, 26])
        }),
        unit("exact zeros negative", "bf16", 4, |terms, c| {
            let x = truncated(&joined(terms, c), 25, -133);
            match SINGLE.round(&x, Mode::Rz, x.is_negative()) {
                Some(word) if word << 33 == 0 => Zero(x.is_zero() || x.is_negative()),
                _ => Number(x, Mode::Rz),
            }
        }),
        unit("every zero negative", "bf16", 8, |terms, c| {
            let x = truncated(&joined(terms, c), 25, -133);
            match SINGLE.round(&x, Mode::Rz, true) {
                Some(word) if word << 33 == 0 => Zero(true),
                _ => Number(x, Mode::Rz),
            }
        }),
        Unit {
            numbers: true,
            ..unit("infinity and NaN codes are numbers", "f16", 8, one_sum)
        },
        Unit {
            largest: true,
            ..unit(
                "an infinite operand is the largest number",
                "f16",
                8,
                one_sum,
            )
        },
        Unit {
            nan: |c| match SINGLE.decode(c) {
                Value::Nan => c | 0x0040_0000,
                _ => 0x7fc0_0000,
            },
            ..unit("the NaN of c is carried", "bf16", 8, |terms, c| {
                Number(truncated(&joined(terms, c), 25, -133), Mode::Rz)
            })
        },
    ]
}

#[test]
fn steps_that_differ_and_odd_codes_are_recovered() {
    let mut failures = Vec::new();
    for mut unit in units() {
        let name = unit.name;
        let inference = infer(
            &mut unit,
            Some(Catalogue::built_in()),
            &InferenceOptions::default(),
        )
        .expect("answers");
        let (queries, seconds) = (inference.queries, inference.seconds);
        let Outcome::Model(model) = &inference.outcome else {
            println!("{name:45} {queries:6} queries {seconds:5.2} s  NOT FOUND");
            failures.push(format!("{name}: {:?}", inference.outcome));
            continue;
        };
        println!(
            "{name:45} {queries:6} queries {seconds:5.2} s  {}",
            model.program
        );
        if let Some(found) = mismatch(&mut unit, model) {
            failures.push(format!("{name}: {found}"));
        }
        // Which NaN comes out is stated only where one word came out.
        let states_nan = model.program.to_string().contains("nan=");
        if name.contains("NaN of c") == states_nan {
            failures.push(format!("{name}: {}", model.program));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
