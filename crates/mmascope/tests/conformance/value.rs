//! Exact dyadic numbers written as text: `1+2^-22`, `-(1+2^-23)`, `1.5*2^15`, `0x1.6p-146`.

use mmascope::format::{Exact, Format, Overflow, Rounding};

use super::exact::Dyadic;

/// Reads an expression of `+ - * ^`, parentheses, decimals that are exact and hexadecimal
/// floats. Panics on anything else: the text is part of a test.
pub(crate) fn parse(text: &str) -> Dyadic {
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
pub(crate) fn encode(value: &Dyadic, format: &Format) -> Option<u64> {
    let (odd, exponent) = value.odd_part();
    let exact = Exact {
        negative: value.is_negative(),
        magnitude: odd.magnitude().try_into().ok()?,
        exponent: exponent.try_into().ok()?,
        sticky: false,
    };
    let code = format.round(&exact, Rounding::Rne, Overflow::Infinity);
    let back = format.decode(code).exact()?;
    let magnitude = Dyadic::new(back.magnitude, back.exponent);
    let same = match back.negative {
        true => magnitude.negate() == *value,
        false => magnitude == *value,
    };
    same.then(|| format.to_register(code))
}

fn to_the(base: &Dyadic, power: i32) -> Dyadic {
    match u32::try_from(power) {
        Ok(power) => (0..power).fold(Dyadic::power(0), |value, _| value.multiply(base)),
        Err(_) => {
            let (odd, exponent) = base.odd_part();
            assert_eq!(odd, 1.into(), "only 2^n has a negative power");
            Dyadic::power(exponent * i64::from(power))
        }
    }
}

fn to_integer(value: &Dyadic) -> i32 {
    let integer = value.divided_by(&Dyadic::power(0)).big();
    i32::try_from(integer).expect("a small exponent")
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
                value = value.add(&self.product());
            } else if self.take('-') {
                value = value.subtract(&self.product());
            } else {
                return value;
            }
        }
    }

    fn product(&mut self) -> Dyadic {
        let mut value = self.factor();
        while self.take('*') {
            value = value.multiply(&self.factor());
        }
        value
    }

    fn factor(&mut self) -> Dyadic {
        if self.take('-') {
            return self.factor().negate();
        }
        let base = self.atom();
        if !self.take('^') {
            return base;
        }
        let negative = self.take('-');
        let power = to_integer(&self.atom());
        to_the(&base, if negative { -power } else { power })
    }

    fn atom(&mut self) -> Dyadic {
        if self.take('(') {
            let value = self.sum();
            assert!(self.take(')'), "{}", self.complaint());
            return value;
        }
        if self.letters[self.at..].starts_with(&['0', 'x']) {
            self.at += 2;
            let (significand, places) = self.digits(16);
            assert!(self.take('p'), "{}", self.complaint());
            let negative = self.take('-');
            let (power, _) = self.digits(10);
            let power = i32::try_from(power).expect("a small exponent");
            let exponent = if negative { -power } else { power };
            return Dyadic::new(significand, exponent - 4 * places as i32);
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
        ("1+2^-22", (1_i128 << 22) + 1, -22),
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
    for (text, significand, exponent) in cases {
        assert_eq!(parse(text), Dyadic::new(significand, exponent), "{text}");
        assert_eq!(
            parse(text).odd_part(),
            (significand.into(), i64::from(exponent))
        );
    }
    for wrong in ["0.1", "", "1+", "2^", "1(2)", "3^-1"] {
        let outcome = std::panic::catch_unwind(|| parse(wrong));
        assert!(outcome.is_err(), "'{wrong}' was read as {outcome:?}");
    }
}
