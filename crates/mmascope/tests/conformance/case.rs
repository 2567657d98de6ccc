//! Directed cases: products and an accumulator by value, the expected result by value or word.

use mmascope::dpa::{Modifiers, Operands, Signature};
use mmascope::format::{Format, Overflow};

use super::exact::Dyadic;
use super::subject::Subject;
use super::value::{encode, parse};

/// The operands of one dot product, by value. Products that are not given are 0 · 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Case {
    products: Vec<(usize, String)>,
    c: Option<String>,
    scale_a: Vec<String>,
    scale_b: Vec<String>,
    negated: bool,
}

/// Products at k = 0, 1, … . A product is a value, split into two normal operands one of which is
/// a power of two, or two operands `x x y`, taken as they are. `#3f80` is a register word.
pub(crate) fn products<S: ToString>(list: impl IntoIterator<Item = S>) -> Case {
    let texts = list.into_iter().map(|text| text.to_string());
    Case {
        products: texts.enumerate().collect(),
        ..Case::default()
    }
}

/// No product but those that [`Case::at`] adds.
pub(crate) fn only_c(c: &str) -> Case {
    Case::default().c(c)
}

impl Case {
    /// Puts a product at k, instead of what was there.
    pub(crate) fn at(mut self, k: usize, product: impl ToString) -> Self {
        self.products.retain(|(index, _)| *index != k);
        self.products.push((k, product.to_string()));
        self
    }

    /// The accumulator; +0 otherwise.
    pub(crate) fn c(mut self, c: impl ToString) -> Self {
        self.c = Some(c.to_string());
        self
    }

    /// Block scales; 1 otherwise.
    pub(crate) fn scales(mut self, a: &[&str], b: &[&str]) -> Self {
        let own = |list: &[&str]| list.iter().map(ToString::to_string).collect();
        (self.scale_a, self.scale_b) = (own(a), own(b));
        self
    }

    /// Every product and the accumulator with the other sign; zeros stay as they are.
    pub(crate) fn negated(mut self) -> Self {
        self.negated = !self.negated;
        self
    }

    /// The register words for an instruction.
    pub(crate) fn encode(&self, signature: &Signature) -> Words {
        let Signature { a, b, c, k, .. } = signature;
        let mut words = Words {
            a: vec![0; *k],
            b: vec![0; *k],
            c: self.c.as_deref().map_or(0, |text| word(text, c)),
            scale_a: Vec::new(),
            scale_b: Vec::new(),
        };
        for (index, text) in &self.products {
            assert!(index < k, "k={index} in {self:?} for {signature}");
            (words.a[*index], words.b[*index]) = operands_of(text, a, b);
        }
        if let Some(scale) = signature.scale {
            let encode = |list: &[String]| match list {
                [] => vec![word("1", &scale.format); signature.scales()],
                list => list.iter().map(|text| word(text, &scale.format)).collect(),
            };
            (words.scale_a, words.scale_b) = (encode(&self.scale_a), encode(&self.scale_b));
        }
        if self.negated {
            // Zeros stay: the formats without −0 have a NaN there.
            let flip = |word: &mut u64, format: &Format| {
                if *word != 0 {
                    *word ^= sign_bit(format);
                }
            };
            words.a.iter_mut().for_each(|word| flip(word, a));
            flip(&mut words.c, c);
        }
        words
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(if self.negated { "negated: p =" } else { "p =" })?;
        for (k, text) in &self.products {
            write!(out, " [{k}] {text}")?;
        }
        write!(out, "; c = {}", self.c.as_deref().unwrap_or("+0"))
    }
}

/// The operands of one dot product as register words.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    pub(crate) a: Vec<u64>,
    pub(crate) b: Vec<u64>,
    pub(crate) c: u64,
    pub(crate) scale_a: Vec<u64>,
    pub(crate) scale_b: Vec<u64>,
}

impl Words {
    pub(crate) fn compute(&self, subject: &Subject) -> u64 {
        let operands = Operands {
            a: &self.a,
            b: &self.b,
            c: self.c,
            scale_a: &self.scale_a,
            scale_b: &self.scale_b,
        };
        let result = subject.unit().dot(&operands, &Modifiers::default());
        result.unwrap_or_else(|error| panic!("{subject}: {error}"))
    }

    fn text(&self, signature: &Signature) -> String {
        let hex = |words: &[u64], format: &Format| -> String {
            let width = format.digits();
            words
                .iter()
                .map(|word| format!("{word:0width$x}"))
                .collect()
        };
        let Signature { a, b, c, .. } = signature;
        let mut text = format!(
            "a={} b={} c={}",
            hex(&self.a, a),
            hex(&self.b, b),
            hex(&[self.c], c)
        );
        if let Some(scale) = signature.scale {
            let (a, b) = (&self.scale_a, &self.scale_b);
            let (a, b) = (hex(a, &scale.format), hex(b, &scale.format));
            text += &format!(" sa={a} sb={b}");
        }
        text
    }
}

pub(crate) fn sign_bit(format: &Format) -> u64 {
    format.to_register(1 << (format.bits - 1))
}

/// A register word from a value, a word `#…`, `-0`, `inf` or `-inf`.
pub(crate) fn word(text: &str, format: &Format) -> u64 {
    if let Some(hex) = text.strip_prefix('#') {
        assert_eq!(hex.len(), format.digits(), "'{text}' as {format}");
        return u64::from_str_radix(hex, 16).expect("hex digits");
    }
    match text {
        "-0" => sign_bit(format),
        "inf" => format.to_register(format.infinity(false, Overflow::Infinity)),
        "-inf" => format.to_register(format.infinity(true, Overflow::Infinity)),
        _ => encode(&parse(text), format)
            .unwrap_or_else(|| panic!("'{text}' is not exact in {format}")),
    }
}

/// A product's two operands; see [`products`].
fn operands_of(text: &str, a: &Format, b: &Format) -> (u64, u64) {
    if let Some((left, right)) = text.split_once(" x ") {
        return (word(left, a), word(right, b));
    }
    let value = parse(text);
    if value.is_zero() {
        return (0, 0);
    }
    split(&value, a, b).unwrap_or_else(|| panic!("'{text}' has no normal split in {a} x {b}"))
}

/// Two normal operands, one a power of two, whose product is the value.
fn split(value: &Dyadic, a: &Format, b: &Format) -> Option<(u64, u64)> {
    let normal = |value: &Dyadic, format: &Format| {
        let word = encode(value, format)?;
        let unpacked = format.decode(format.from_register(word));
        (unpacked.significand >> unpacked.fraction_bits == 1).then_some(word)
    };
    // The power of two is as near to 1 as it can be.
    let powers = || (0..160).flat_map(|power| [power, -power]);
    let pair = |wide: &Format, power_of: &Format| {
        powers().find_map(|power| {
            let power_of_two = normal(&Dyadic::power(power), power_of)?;
            Some((
                normal(&value.times_power_of_two(-power), wide)?,
                power_of_two,
            ))
        })
    };
    pair(a, b).or_else(|| pair(b, a).map(|(b, a)| (a, b)))
}

/// Cases of one subject matter; every failure is collected, and all are reported at the end.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub(crate) cases: usize,
    pub(crate) failures: Vec<String>,
}

/// Runs a group and asserts that nothing failed.
pub(crate) fn group(title: &str, cases: impl FnOnce(&mut Group)) {
    let mut group = Group::default();
    cases(&mut group);
    println!("{title}: {} cases", group.cases);
    assert!(group.cases > 0, "{title}: no cases");
    assert!(
        group.failures.is_empty(),
        "{title}: {} of {} cases failed\n{}",
        group.failures.len(),
        group.cases,
        group.failures.join("\n")
    );
}

impl Group {
    /// One case. The result is a value, a word `#…`, or `nan` for any NaN.
    pub(crate) fn check(&mut self, subject: &Subject, case: &Case, expected: &str) {
        self.chain(subject, case, 1, expected);
    }

    /// As `check`, the instruction repeated, each result being the next one's accumulator.
    pub(crate) fn chain(&mut self, subject: &Subject, case: &Case, times: u32, expected: &str) {
        let signature = subject.unit().signature();
        let words = case.encode(signature);
        let mut link = words.clone();
        for _ in 0..times {
            link.c = link.compute(subject);
        }
        let got = link.c;
        let right = match expected {
            "nan" => subject.unit().is_nan(got),
            text => got == word(text, &signature.d),
        };
        self.record(right, || {
            let width = signature.d.digits();
            let wanted = match expected {
                "nan" => "a NaN".to_owned(),
                text => format!("{:0width$x} = {text}", word(text, &signature.d)),
            };
            let repeated = if times == 1 {
                String::new()
            } else {
                format!(", {times} times")
            };
            format!(
                "  {subject}: {case}{repeated}\n    {}\n    expected {wanted}, got {got:0width$x}",
                words.text(signature)
            )
        });
    }

    /// One case that is no comparison of words.
    pub(crate) fn record(&mut self, right: bool, describe: impl FnOnce() -> String) {
        self.cases += 1;
        if !right {
            self.failures.push(describe());
        }
    }
}

#[test]
fn products_are_split_into_normal_operands() {
    use mmascope::format::{BF16, E4M3FN, F16};
    // 2^-24 is subnormal in f16, so no operand may be it.
    assert_eq!(
        split(&Dyadic::new(1_i128, -24), &F16, &F16),
        Some((0x0400, 0x1400))
    );
    assert_eq!(
        split(&Dyadic::new(-3_i128, -2), &F16, &F16),
        Some((0xba00, 0x3c00))
    );
    assert_eq!(
        split(&Dyadic::new(3_i128, 130), &BF16, &BF16),
        Some((0x7f40, 0x4180))
    );
    // Too many significant bits, and beyond the range of normal operands.
    assert_eq!(split(&Dyadic::new(0x101_i128, 0), &BF16, &BF16), None);
    assert_eq!(split(&Dyadic::new(1_i128, -13), &E4M3FN, &E4M3FN), None);
}
