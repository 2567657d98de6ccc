//! Reads and computes the sentences of steps that know numbers only: groups on rounded grids, and multiply-adds
//! with a few bits below the product.

use super::number::{Exact, Value, decode};
use super::reader::fit;
use mmascope_model::format::{F32, Format};

/// What the sentences of groups say.
#[derive(Debug, Default)]
pub(crate) struct Grouped {
    terms: String,
    part_a: Option<Part>,
    part_b: Option<Part>,
    block: usize,
    group: usize,
    group_grid: (i64, String),
    group_floor: i64,
    zero: i64,
    grid: i64,
    coarse: Option<i64>,
    floor: i64,
    align: [String; 2],
    fault: Option<(i64, i64)>,
}

/// Places of a significand, and by how much the exponent counts as lower.
#[derive(Clone, Copy, Debug)]
struct Part {
    first: i64,
    last: Option<i64>,
    lower: i64,
}

/// What the sentences of a multiply-add say.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Semi {
    leaks: bool,
    loses: Option<bool>,
    rounds_tiny: Option<bool>,
}

fn number(text: &str) -> i64 {
    text.parse()
        .unwrap_or_else(|_| panic!("no number: '{text}'"))
}

/// Reads a sentence of groups.
pub(crate) fn sentence(own: &mut Option<Grouped>, text: &str) -> bool {
    const TERMS: &str =
        "{}; every code of a, b and c is a number, and one whose exponent field is 0 is zero.";
    if let Some(found) = fit(TERMS, text) {
        *own = Some(Grouped {
            terms: found[0].to_owned(),
            ..Grouped::default()
        });
        return true;
    }
    let Some(own) = own else {
        return false;
    };
    if let Some(found) = fit(
        "Of the significand of {} the multiplier takes the bits worth 2^-{} to {}.{}",
        text,
    ) {
        let part = Part {
            first: number(found[1]),
            last: fit("2^-{}", found[2]).map(|place| number(place[0])),
            lower: match fit(" The exponent of {} counts as lower by {}.", found[3]) {
                Some(lower) => number(lower[1]),
                None if found[3].is_empty() => 0,
                None => return false,
            },
        };
        match found[0] {
            "a" => own.part_a = Some(part),
            _ => own.part_b = Some(part),
        }
    } else if let Some(found) = fit(
        "Blocks have {} pairs, groups {} neighbours. A group's exponent is the largest of its terms' exponents, of which that of a product is the sum of its operands', normalised or not; a product of parts that is zero keeps its exponent. Every term is rounded to a multiple of 2^(exponent-{}), {}, and they are added. A group whose exponent is {} or less is zero.",
        text,
    ) {
        (own.block, own.group) = (number(found[0]) as usize, number(found[1]) as usize);
        own.group_grid = (number(found[2]), found[3].to_owned());
        own.group_floor = number(found[4]);
    } else if let Some(found) = fit(
        "The exponent of a term that is zero because an operand is zero is {}.",
        text,
    ) {
        own.zero = number(found[0]);
    } else if let Some(found) = fit(
        "E is the largest exponent of groups and c, a zero c apart; if it is {} or less, the result is +0. Each group is rounded to a multiple of 2^(E-{}), {}, c {}, and they are added.",
        text,
    ) {
        own.floor = number(found[0]);
        own.grid = number(found[1]);
        let (c, coarse) = match found[3].split_once(", then in the same way to one of 2^(E-") {
            Some((c, rest)) => (c, Some(number(rest.trim_end_matches(')')))),
            None => (found[3], None),
        };
        own.align = [found[2].to_owned(), c.to_owned()];
        own.coarse = coarse;
    } else if let Some(found) = fit(
        "A fault: a sum of exactly -2^(E-{}) counts 2^{} times.",
        text,
    ) {
        own.fault = Some((number(found[0]), number(found[1])));
    } else {
        return false;
    }
    true
}

/// Reads a sentence of a multiply-add.
pub(crate) fn semi_sentence(own: &mut Option<Semi>, text: &str) -> bool {
    const STEPS: &str = "Subnormal a, b and c are zeros. The product is rounded to odd 26 bits below its exponent, the sum of its operands'; one whose exponent is below -127 counts as a zero of its sign. Product and c are brought to the grid 26 bits below the larger exponent, rounded to odd, or to 0 where nothing is left. ";
    let mut said = own.unwrap_or_default();
    let known = match text {
        "A NaN operand, 0 times infinity, and an infinite c beside an infinite factor when the signs of product and c differ give 7fc00000. Otherwise an infinite c is the result; without one, an infinite factor or a product whose exponent is 128 or more gives infinity with the sign of the product." =>
        {
            said.leaks = false;
            true
        }
        "A product is infinite when a factor is or when its exponent is 128 or more. A NaN operand, 0 times infinity, and an infinite c beside an infinite product of the other sign give 7f800001 with the sign of the product (of c where only c is NaN); then the sum is computed as if codes were numbers, and the bits of a finite result are set as well. Otherwise an infinite c is the result; without one, an infinite product is." =>
        {
            said.leaks = true;
            true
        }
        "A result below 2^-126 is rounded as if its exponent were -127, one place higher, before it becomes zero." =>
        {
            said.rounds_tiny = Some(true);
            true
        }
        "A result below 2^-126 becomes zero." => {
            said.rounds_tiny = Some(false);
            true
        }
        _ => match text.strip_prefix(STEPS) {
            Some(
                "A sum that is two places too long loses the upper one of them without a trace.",
            ) => {
                said.loses = Some(true);
                true
            }
            Some("A sum that is too long keeps what it loses in its last bit.") => {
                said.loses = Some(false);
                true
            }
            _ => return false,
        },
    };
    *own = Some(said);
    known
}

/// A term: its value and the exponent with which it takes part.
type Term = (Exact, i64);

impl Grouped {
    /// A statement's value and whether it is +0 whatever its zeros are; c and every d are words of a format.
    pub(crate) fn run(
        &self,
        pairs: &[(Value, Value)],
        c: Value,
        finish: impl Fn(&Exact) -> u64,
        format: &Format,
    ) -> u64 {
        let mut c = c;
        let mut word = 0;
        for block in pairs.chunks(self.block) {
            let groups: Vec<Term> = self.groups(block);
            word = self.total(&groups, &c, &finish);
            c = decode(format, word, "numbers");
        }
        word
    }

    fn groups(&self, pairs: &[(Value, Value)]) -> Vec<Term> {
        pairs
            .chunks(self.group)
            .map(|group| self.sum(group))
            .collect()
    }

    fn sum(&self, pairs: &[(Value, Value)]) -> Term {
        let terms: Vec<Term> = pairs.iter().flat_map(|(a, b)| self.terms(a, b)).collect();
        let exponent = terms.iter().map(|term| term.1).max().expect("a term");
        if exponent <= self.group_floor {
            return (Exact::zero(), self.group_floor);
        }
        let (bits, how) = &self.group_grid;
        let rounded: Vec<Exact> = terms
            .iter()
            .map(|(value, _)| value.rounded(exponent - bits, how))
            .collect();
        (Exact::sum(&rounded), exponent)
    }

    fn terms(&self, a: &Value, b: &Value) -> Vec<Term> {
        let zero = (Exact::zero(), self.zero);
        match self.terms.as_str() {
            "A term is a product a·b" => match (normal(a), normal(b)) {
                (Some(a), Some(b)) => {
                    let (x, e) = part_of(a, self.part_a);
                    let (y, f) = part_of(b, self.part_b);
                    vec![(x.times(&y), e + f)]
                }
                _ => vec![zero],
            },
            "Each pair gives two terms, a and b" => {
                vec![normal(a).unwrap_or(zero.clone()), normal(b).unwrap_or(zero)]
            }
            "Each pair gives two terms, a and -b" => {
                let negated = normal(b).map(|(y, f)| (y.negated(), f));
                vec![normal(a).unwrap_or(zero.clone()), negated.unwrap_or(zero)]
            }
            other => panic!("terms: {other}"),
        }
    }

    fn total(&self, groups: &[Term], c: &Value, finish: &impl Fn(&Exact) -> u64) -> u64 {
        let c = normal(c);
        let exponents = groups.iter().chain(&c).map(|term| term.1);
        let e = exponents.max().expect("a group");
        if e <= self.floor {
            return 0;
        }
        let grids: Vec<i64> = [Some(self.grid), self.coarse]
            .into_iter()
            .flatten()
            .collect();
        let round = |value: &Exact, how: &str| {
            let grids = grids.iter();
            grids.fold(value.clone(), |value, bits| value.rounded(e - bits, how))
        };
        let mut terms: Vec<Exact> = groups
            .iter()
            .map(|(value, _)| round(value, &self.align[0]))
            .collect();
        terms.extend(c.iter().map(|(value, _)| round(value, &self.align[1])));
        let sum = Exact::sum(&terms);
        let sum = match self.fault {
            Some((bits, times)) if is_equal(&sum, &Exact::new(-1, e - bits)) => {
                Exact::new(-1, e - bits + times)
            }
            _ => sum,
        };
        finish(&sum)
    }
}

fn is_equal(x: &Exact, y: &Exact) -> bool {
    x.plus(&y.negated()).is_zero()
}

/// A number whose exponent field is not 0.
fn normal(value: &Value) -> Option<Term> {
    match value {
        Value::Number(_, x, e) if !x.is_zero() && x.top() == *e => Some((x.clone(), *e)),
        Value::Number(..) => None,
        other => panic!("no number: {other:?}"),
    }
}

fn part_of((x, e): Term, part: Option<Part>) -> Term {
    let Some(part) = part else {
        return (x, e);
    };
    let toward_zero = |place: i64| x.rounded(place, "toward zero");
    let kept = part
        .last
        .map_or_else(|| x.clone(), |last| toward_zero(e - last));
    let above = toward_zero(e - part.first + 1);
    (kept.plus(&above.negated()), e - part.lower)
}

impl Semi {
    /// The word of a·b + c; `signed`: the result's zeros are those of IEEE 754.
    pub(crate) fn run(&self, [a, b, c]: [u64; 3], signed: bool) -> u64 {
        let (loses, rounds_tiny) = (self.loses.expect("said"), self.rounds_tiny.expect("said"));
        let field = |word: u64| (word >> 23 & 255) as i64;
        let fraction = |word: u64| word & 0x7f_ffff;
        let sign = |word: u64| word >> 31 & 1 == 1;
        let is_zero = |word: u64| field(word) == 0;
        let is_nan = |word: u64| field(word) == 255 && fraction(word) != 0;
        let is_infinite = |word: u64| field(word) == 255 && fraction(word) == 0;
        let value = |word: u64| match normal(&decode(&F32, word, "numbers")) {
            Some((x, _)) => x,
            None => Exact::zero(),
        };
        let negative = sign(a) != sign(b);
        let with = |negative: bool, word: u64| u64::from(negative) << 31 | word;
        const INFINITY: u64 = 0x7f80_0000;
        // Of fields: a product's exponent, biased once.
        let mut e = field(a) + field(b) - 127;
        let mut product = value(a).times(&value(b));
        let mut nan = 0;
        if [a, b, c].into_iter().any(|word| field(word) == 255) || e >= 255 {
            let invalid = is_nan(a)
                || is_nan(b)
                || is_infinite(a) && is_zero(b)
                || is_infinite(b) && is_zero(a);
            let infinite = field(a) == 255 || field(b) == 255 || self.leaks && e >= 255;
            let opposite = is_infinite(c) && infinite && sign(c) != negative;
            let is_invalid = invalid || opposite;
            if !is_invalid && !is_nan(c) {
                return if is_infinite(c) {
                    c
                } else {
                    with(negative, INFINITY)
                };
            }
            if !self.leaks {
                return 0x7fc0_0000;
            }
            nan = with(if is_invalid { negative } else { sign(c) }, 0x7f80_0001);
            if e > 255 {
                product = product.times(&Exact::new(1, 255 - e));
                e = 255;
            }
        }
        let mut own = value(c);
        let zero = with(signed && negative && sign(c), 0);
        if product.is_zero() || e < 0 {
            match (nan, is_zero(c)) {
                (0, false) => return c,
                (0, true) => return zero,
                _ => (product, e) = (Exact::zero(), 0),
            }
        }
        product = product.rounded(e - 127 - 26, "to odd");
        let larger = e.max(field(c));
        let grid = larger - 127 - 26;
        let brought = |x: &Exact| match !x.is_zero() && x.top() < grid {
            true => Exact::zero(),
            false => x.rounded(grid, "to odd"),
        };
        (product, own) = (brought(&product), brought(&own));
        let sum = product.plus(&own);
        if sum.is_zero() {
            return if nan != 0 { nan } else { zero };
        }
        let is_negative = sum.is_negative();
        let size = if is_negative { sum.negated() } else { sum };
        let top = size.top();
        if top + 127 >= 255 {
            return if nan != 0 {
                nan
            } else {
                with(is_negative, INFINITY)
            };
        }
        let small = if nan != 0 {
            nan
        } else {
            with(signed && is_negative, 0)
        };
        let too_long = top + 127 - larger;
        let low = top - 26;
        let mut size = size;
        let mut place = top - 23;
        if top + 127 <= 0 && rounds_tiny {
            size = size.times(&Exact::new(1, -127 - top));
            size = size.rounded(-127 - 25, "to odd");
            place = -126 - 23;
        } else if too_long > 0 {
            let keeps = !(loses && too_long == 2 && !odd(&size, grid));
            size = size.rounded(low, if keeps { "to odd" } else { "toward zero" });
        }
        if top + 127 < 0 && !rounds_tiny {
            return small;
        }
        let rounded = size.rounded(place, "to nearest (ties to even)");
        if rounded.is_zero() || rounded.top() < -126 {
            return small;
        }
        let bits = match rounded.top() + 127 >= 255 {
            true => INFINITY,
            false => super::number::encode(&F32, false, &rounded),
        };
        if nan != 0 {
            nan | bits
        } else {
            with(is_negative, bits)
        }
    }
}

/// Whether a number has the bit 2^place.
fn odd(x: &Exact, place: i64) -> bool {
    let above = x.rounded(place + 1, "toward zero");
    let here = x.rounded(place, "toward zero");
    !is_equal(&above, &here)
}
