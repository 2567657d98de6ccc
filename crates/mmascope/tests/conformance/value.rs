//! Exact dyadic numbers written as text: `1+2^-22`, `-(1+2^-23)`, `1.5*2^15`, `0x1.6p-146`.

use mmascope::format::{Exact, Format, Overflow, Rounding};

/// `mantissa · 2^exponent`; the mantissa is odd, or the number is 0 · 2^0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dyadic {
    pub(crate) mantissa: i128,
    pub(crate) exponent: i32,
}

impl Dyadic {
    pub(crate) fn new(mantissa: i128, exponent: i32) -> Self {
        if mantissa == 0 {
            return Self {
                mantissa,
                exponent: 0,
            };
        }
        let zeros = mantissa.trailing_zeros();
        Self {
            mantissa: mantissa >> zeros,
            exponent: exponent + zeros as i32,
        }
    }

    /// Reads an expression of `+ - * ^`, parentheses, decimals that are exact and hexadecimal
    /// floats. Panics on anything else: the text is part of a test.
    pub(crate) fn parse(text: &str) -> Self {
        let letters: Vec<char> = text.chars().filter(|letter| *letter != ' ').collect();
        let mut parser = Parser {
            text,
            letters: &letters,
            at: 0,
        };
        let value = parser.sum();
        assert!(parser.peek().is_none(), "{}", parser.complaint());
        value
    }

    /// The register word that has this value.
    pub(crate) fn encode(self, format: &Format) -> Option<u64> {
        let exact = Exact {
            negative: self.mantissa < 0,
            magnitude: self.mantissa.unsigned_abs(),
            exponent: self.exponent,
            sticky: false,
        };
        let code = format.round(&exact, Rounding::Rne, Overflow::Infinity);
        let back = format.decode(code).exact()?;
        let magnitude = i128::try_from(back.magnitude).expect("a significand is small");
        let sign = if back.negative { -1 } else { 1 };
        let same = Self::new(sign * magnitude, back.exponent) == self;
        same.then(|| format.to_register(code))
    }

    pub(crate) fn times_power_of_two(self, power: i32) -> Self {
        Self::new(self.mantissa, self.exponent + power)
    }

    fn plus(self, other: Self) -> Self {
        let low = match (self.mantissa, other.mantissa) {
            (0, _) => return other,
            (_, 0) => return self,
            _ => self.exponent.min(other.exponent),
        };
        let raised = |value: Self| {
            let shift = value.exponent - low;
            assert!(shift < 100, "{self:?} + {other:?} spans too many bits");
            value.mantissa.checked_mul(1 << shift).expect("a short sum")
        };
        Self::new(raised(self) + raised(other), low)
    }

    fn times(self, other: Self) -> Self {
        let mantissa = self.mantissa.checked_mul(other.mantissa);
        Self::new(
            mantissa.expect("a short product"),
            self.exponent + other.exponent,
        )
    }

    fn negated(self) -> Self {
        Self::new(-self.mantissa, self.exponent)
    }

    fn to_the(self, power: i32) -> Self {
        match u32::try_from(power) {
            Ok(power) => (0..power).fold(Self::new(1, 0), |value, _| value.times(self)),
            Err(_) => {
                assert_eq!(self.mantissa, 1, "only 2^n has a negative power");
                Self::new(1, self.exponent * power)
            }
        }
    }

    fn to_integer(self) -> i32 {
        assert!(self.exponent >= 0, "an exponent must be a whole number");
        i32::try_from(self.mantissa << self.exponent).expect("a small exponent")
    }
}

struct Parser<'a> {
    text: &'a str,
    letters: &'a [char],
    at: usize,
}

impl Parser<'_> {
    fn complaint(&self) -> String {
        format!("'{}' is no value, at letter {}", self.text, self.at + 1)
    }

    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn take(&mut self, letter: char) -> bool {
        let found = self.peek() == Some(letter);
        self.at += usize::from(found);
        found
    }

    fn sum(&mut self) -> Dyadic {
        let mut value = self.product();
        loop {
            if self.take('+') {
                value = value.plus(self.product());
            } else if self.take('-') {
                value = value.plus(self.product().negated());
            } else {
                return value;
            }
        }
    }

    fn product(&mut self) -> Dyadic {
        let mut value = self.factor();
        while self.take('*') {
            value = value.times(self.factor());
        }
        value
    }

    fn factor(&mut self) -> Dyadic {
        if self.take('-') {
            return self.factor().negated();
        }
        let base = self.atom();
        if !self.take('^') {
            return base;
        }
        let negative = self.take('-');
        let power = self.atom().to_integer();
        base.to_the(if negative { -power } else { power })
    }

    fn atom(&mut self) -> Dyadic {
        if self.take('(') {
            let value = self.sum();
            assert!(self.take(')'), "{}", self.complaint());
            return value;
        }
        if self.letters[self.at..].starts_with(&['0', 'x']) {
            self.at += 2;
            let (mantissa, places) = self.digits(16);
            assert!(self.take('p'), "{}", self.complaint());
            let negative = self.take('-');
            let (power, _) = self.digits(10);
            let power = i32::try_from(power).expect("a small exponent");
            let exponent = if negative { -power } else { power };
            return Dyadic::new(mantissa, exponent - 4 * places as i32);
        }
        // digits / 10^places = (digits / 5^places) · 2^-places
        let (digits, places) = self.digits(10);
        let fives = 5_i128.pow(places);
        assert_eq!(digits % fives, 0, "'{}' has an inexact decimal", self.text);
        Dyadic::new(digits / fives, -(places as i32))
    }

    /// Digits with an optional point: their integer, and how many stand after the point.
    fn digits(&mut self, radix: u32) -> (i128, u32) {
        let (mut value, mut places, mut count, mut point) = (0_i128, 0, 0, false);
        while let Some(letter) = self.peek() {
            match letter.to_digit(radix) {
                Some(digit) => {
                    value = value * i128::from(radix) + i128::from(digit);
                    places += u32::from(point);
                    count += 1;
                }
                None if letter == '.' && !point => point = true,
                None => break,
            }
            self.at += 1;
        }
        assert!(count > 0, "{}", self.complaint());
        (value, places)
    }
}

#[test]
fn values_are_read_exactly() {
    let cases = [
        ("1+2^-22", (1 << 22) + 1, -22),
        ("-(1+2^-23)", -(1 << 23) - 1, -23),
        ("1.5*2^15", 3, 14),
        ("0x1.6p-146", 11, -149),
        ("4*(1-2^-10+2^-22)", (1 << 22) - (1 << 12) + 1, -20),
        ("(1-2^-2)^2", 9, -4),
        ("2^-(24+3)", 1, -27),
        ("-2^13", -1, 13),
        ("0", 0, 0),
        ("1.9990234375", 2047, -10),
    ];
    for (text, mantissa, exponent) in cases {
        assert_eq!(Dyadic::parse(text), Dyadic { mantissa, exponent }, "{text}");
    }
    for wrong in ["0.1", "", "1+", "2^", "1(2)", "3^-1"] {
        let outcome = std::panic::catch_unwind(|| Dyadic::parse(wrong));
        assert!(outcome.is_err(), "'{wrong}' was read as {outcome:?}");
    }
}
