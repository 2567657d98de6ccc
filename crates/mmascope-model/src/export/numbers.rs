//! Operands as numbers: decoding, flushes, numbers of other formats.

use std::rc::Rc;

use super::build::{Build, Scope};
use super::ir::{Expr, Function, Record, Ty};
use super::result;
use crate::dpa::{Codes, FlushSign, Nan, Output, Part, Tininess, ZeroSign};
use crate::format::{Class, Format, Kind, Overflow, Rounding, Specials, Unpacked};

/// What is known of numbers of one format without their values.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    /// Bits of the significand, and how many of them are fraction bits.
    pub(super) bits: u32,
    pub(super) fraction: u32,
    /// The least and the greatest exponent.
    pub(super) low: i32,
    pub(super) high: i32,
    pub(super) record: Rc<Record>,
}

/// A number under a name.
#[derive(Clone, Debug)]
pub(super) struct Number {
    pub(super) of: Numbers,
    pub(super) expr: Expr,
}

impl Numbers {
    fn new(build: &mut Build, bits: u32, fraction: u32, low: i32, high: i32) -> Self {
        let record = build.record(
            &format!("number{bits}"),
            &format!(
                "A decoded number with a significand of {bits} bits; subnormal numbers are not normalised."
            ),
            vec![
                ("nan", Ty::Bool),
                ("infinite", Ty::Bool),
                ("zero", Ty::Bool),
                ("negative", Ty::Bool),
                ("exponent", Ty::Int),
                ("significand", Ty::Bits(bits)),
            ],
        );
        Self {
            bits,
            fraction,
            low,
            high,
            record,
        }
    }

    /// The numbers of a format.
    pub(super) fn of(build: &mut Build, format: &Format) -> Self {
        match format.kind {
            Kind::Float(float) => {
                let fraction = float.fraction_bits;
                let high = (1 << float.exponent_bits) - 1 - float.bias;
                Self::new(build, fraction + 1, fraction, float.emin(), high)
            }
            Kind::Fixed { scale } => Self::new(build, format.bits, 0, scale, scale),
        }
    }

    pub(super) fn ty(&self) -> Ty {
        Ty::Record(self.record.clone())
    }

    /// Numbers that have all of both: with the longer fraction.
    pub(super) fn with(&self, build: &mut Build, other: &Self) -> Self {
        let fraction = self.fraction.max(other.fraction);
        let above = |of: &Self| of.bits - of.fraction;
        let bits = fraction + above(self).max(above(other));
        let (low, high) = (self.low.min(other.low), self.high.max(other.high));
        Self::new(build, bits, fraction, low, high)
    }

    /// Bits above the place of the exponent, itself included.
    pub(super) fn above(&self) -> u32 {
        self.bits - self.fraction
    }

    /// A zero of that sign.
    pub(super) fn zero(&self, negative: &Expr) -> Expr {
        self.made(
            [&Expr::truth(false), &Expr::truth(false), &Expr::truth(true)],
            negative,
            &Expr::int(self.low),
            &Expr::bits(0, self.bits),
        )
    }

    fn made(
        &self,
        [nan, infinite, zero]: [&Expr; 3],
        negative: &Expr,
        exponent: &Expr,
        significand: &Expr,
    ) -> Expr {
        let fields = [nan, infinite, zero, negative, exponent, significand];
        Expr::made(&self.record, fields.map(Expr::clone).to_vec())
    }
}

impl Number {
    pub(super) fn new(of: &Numbers, expr: Expr) -> Self {
        Self {
            of: of.clone(),
            expr,
        }
    }

    pub(super) fn nan(&self) -> Expr {
        self.expr.field("nan")
    }

    pub(super) fn infinite(&self) -> Expr {
        self.expr.field("infinite")
    }

    pub(super) fn zero(&self) -> Expr {
        self.expr.field("zero")
    }

    pub(super) fn negative(&self) -> Expr {
        self.expr.field("negative")
    }

    pub(super) fn exponent(&self) -> Expr {
        self.expr.field("exponent")
    }

    pub(super) fn significand(&self) -> Expr {
        self.expr.field("significand")
    }

    /// The same number with the other sign.
    pub(super) fn negated(&self) -> Self {
        let negative = !&self.negative();
        let expr = self.changed(&self.zero(), &negative, &self.significand());
        Self::new(&self.of, expr)
    }

    /// Neither zero nor infinite nor NaN.
    fn is_finite(&self) -> Expr {
        (!&self.nan()).and(&!&self.infinite()).and(&!&self.zero())
    }

    fn changed(&self, zero: &Expr, negative: &Expr, significand: &Expr) -> Expr {
        let (nan, infinite) = (self.nan(), self.infinite());
        self.of.made(
            [&nan, &infinite, zero],
            negative,
            &self.exponent(),
            significand,
        )
    }
}

/// A name as languages take it.
pub(super) fn identifier(name: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    name.chars().map(fit).collect::<String>().to_lowercase()
}

/// The code in a word of a format.
pub(super) fn code(scope: &mut Scope, format: &Format, word: Expr) -> Expr {
    let is_whole = format.bits == format.register.bits && format.register.shift == 0;
    if is_whole {
        return word;
    }
    let shifted = word.right(&Expr::int(format.register.shift as i32));
    let mask = Expr::bits(format.mask(), format.register.bits);
    let code = shifted.of_bits(&mask).to(&Ty::Bits(format.bits));
    scope.bind("code", code)
}

/// The function that decodes a word of a format, whose codes mean what `codes` says.
pub(super) fn reader(build: &mut Build, format: &Format, codes: Codes) -> (Function, Numbers) {
    let of = Numbers::of(build, format);
    let mut scope = Scope::default();
    let word = scope.parameter("word", Ty::Bits(format.register.bits));
    let code = code(&mut scope, format, word);
    let value = match format.kind {
        Kind::Float(_) => float(&mut scope, format, codes, &of, &code),
        Kind::Fixed { scale } => fixed(&mut scope, format, scale, &of, &code),
    };
    let suffix = match codes {
        Codes::Special => "",
        Codes::Numbers => "_numbers",
        Codes::Largest => "_largest",
    };
    let meaning = match codes {
        Codes::Special => "",
        Codes::Numbers => "; every code is a number",
        Codes::Largest => "; infinity counts as the largest number",
    };
    let name = format!("read_{}{suffix}", identifier(format.name));
    let comment = format!("Decodes a word of {format}{meaning}.");
    let function = scope.function(&name, &comment, value);
    (build.function(function), of)
}

fn bit(code: &Expr, place: u32) -> Expr {
    let Ty::Bits(width) = code.ty else {
        return Expr::truth(false);
    };
    let mask = Expr::bits(1 << place, width);
    code.of_bits(&mask).is_something()
}

fn float(scope: &mut Scope, format: &Format, codes: Codes, of: &Numbers, code: &Expr) -> Expr {
    let Some(float) = format.float() else {
        return of.zero(&Expr::truth(false));
    };
    let (fraction_bits, exponent_bits) = (float.fraction_bits, float.exponent_bits);
    let sign = match format.signed {
        true => bit(code, format.bits - 1),
        false => Expr::truth(false),
    };
    let ones = (1_u64 << exponent_bits) - 1;
    let moved = code.right(&Expr::int(fraction_bits as i32));
    let field = match format.signed {
        true => moved.of_bits(&Expr::bits(ones, format.bits)),
        false => moved,
    };
    let field = scope.bind("field", field);
    let fraction_mask = (1_u64 << fraction_bits) - 1;
    let fraction = match fraction_bits {
        0 => Expr::bits(0, format.bits),
        _ => scope.bind(
            "fraction",
            code.of_bits(&Expr::bits(fraction_mask, format.bits)),
        ),
    };
    let top = field.is(&Expr::bits(ones, format.bits));
    let specials = match codes {
        Codes::Numbers => Specials::None,
        _ => float.specials,
    };
    let no = Expr::truth(false);
    let (nan, infinite) = match specials {
        Specials::Ieee if fraction_bits == 0 => (no.clone(), top),
        Specials::Ieee => (
            top.and(&fraction.is_something()),
            top.and(&fraction.is_zero()),
        ),
        Specials::AllOnesNan if fraction_bits == 0 => (top, no.clone()),
        Specials::AllOnesNan => {
            let all = fraction.is(&Expr::bits(fraction_mask, format.bits));
            (top.and(&all), no.clone())
        }
        Specials::NegativeZeroNan => {
            let nothing = code.is(&Expr::bits(1 << (format.bits - 1), format.bits));
            (nothing, no.clone())
        }
        Specials::None => (no.clone(), no.clone()),
    };
    let mut named = |name: &str, value: Expr| match *value.node {
        super::ir::Node::Truth(_) => value,
        _ => scope.bind(name, value),
    };
    let nan = named("nan", nan);
    let infinite = named("infinite", infinite);
    // The code of −0 that is NaN has no sign.
    let sign = match specials {
        Specials::NegativeZeroNan => sign.and(&!&nan),
        _ => sign,
    };
    let negative = named("negative", sign);
    let field_int = field.to(&Ty::Int);
    let hidden = Expr::bits(1 << fraction_bits, of.bits);
    let low = fraction.to(&Ty::Bits(of.bits));
    let (mut exponent, mut significand) = if float.subnormals {
        let is_low = scope.bind("is_subnormal", field.is_zero());
        let exponent = is_low.choose(&Expr::int(1), &field_int);
        let exponent = &exponent - &Expr::int(float.bias);
        let significand = is_low.choose(&low, &low.with_bits(&hidden));
        (exponent, significand)
    } else {
        let significand = match fraction_bits {
            0 => hidden.clone(),
            _ => low.with_bits(&hidden),
        };
        (&field_int - &Expr::int(float.bias), significand)
    };
    let mut infinite = infinite;
    if codes == Codes::Largest && specials == Specials::Ieee {
        let most = format.decode(format.max_finite(false));
        exponent = infinite.choose(&Expr::int(most.exponent), &exponent);
        significand = infinite.choose(&Expr::bits(most.significand, of.bits), &significand);
        infinite = no.clone();
    }
    let exponent = scope.bind("exponent", exponent);
    let significand = match fraction_bits == 0 && !float.subnormals {
        true => significand,
        false => scope.bind("significand", significand),
    };
    let zero = match float.subnormals {
        true => significand.is_zero().and(&!&nan),
        false => no.clone(),
    };
    of.made([&nan, &infinite, &zero], &negative, &exponent, &significand)
}

fn fixed(scope: &mut Scope, format: &Format, scale: i32, of: &Numbers, code: &Expr) -> Expr {
    let no = Expr::truth(false);
    let (negative, significand) = if format.signed {
        let negative = scope.bind("negative", bit(code, format.bits - 1));
        let wide = Ty::Bits(format.bits + 1);
        let span = match format.bits {
            64.. => Expr::bits(1, format.bits + 1).left(&Expr::int(64)),
            bits => Expr::bits(1 << bits, bits + 1),
        };
        let below = (&span - &code.to(&wide)).to(&Ty::Bits(format.bits));
        let significand = negative.choose(&below, code);
        (negative, scope.bind("significand", significand))
    } else {
        (no.clone(), code.clone())
    };
    let zero = significand.is_zero();
    of.made(
        [&no, &no, &zero],
        &negative,
        &Expr::int(scale),
        &significand,
    )
}

/// A subnormal number as a zero.
pub(super) fn flushed(build: &mut Build, number: Expr, of: &Numbers, sign: FlushSign) -> Expr {
    if of.fraction + 1 != of.bits {
        return number;
    }
    let mut scope = Scope::default();
    let x = Number::new(of, scope.parameter("x", of.ty()));
    let hidden = Expr::bits(1 << of.fraction, of.bits);
    let subnormal = x.is_finite().and(&x.significand().less(&hidden));
    let subnormal = scope.bind("is_subnormal", subnormal);
    let zero = x.zero().or(&subnormal);
    let negative = match sign {
        FlushSign::Kept => x.negative(),
        FlushSign::Plus => x.negative().and(&!&subnormal),
    };
    let significand = subnormal.choose(&Expr::bits(0, of.bits), &x.significand());
    let value = x.changed(&zero, &negative, &significand);
    let name = format!("flushed_{}", sign.word());
    let comment = match sign {
        FlushSign::Kept => "A subnormal number becomes a zero of its sign.",
        FlushSign::Plus => "A subnormal number becomes +0.",
    };
    let function = build.function(scope.function(&name, comment, value));
    Expr::call(&function, vec![number])
}

/// A zero as +0.
pub(super) fn plus_zero(build: &mut Build, number: Expr, of: &Numbers) -> Expr {
    let mut scope = Scope::default();
    let x = Number::new(of, scope.parameter("x", of.ty()));
    let negative = x.negative().and(&!&x.zero());
    let value = x.changed(&x.zero(), &negative, &x.significand());
    let function = build.function(scope.function("plus_zero", "A zero becomes +0.", value));
    Expr::call(&function, vec![number])
}

/// A part of the significand.
pub(super) fn part(build: &mut Build, number: Expr, of: &Numbers, part: Part) -> Expr {
    let Part::Bits { .. } = part else {
        return number;
    };
    let mut scope = Scope::default();
    let x = Number::new(of, scope.parameter("x", of.ty()));
    // Which bits they are is what the model makes of a number whose bits are all set.
    let ones = Unpacked {
        negative: false,
        class: Class::Finite,
        exponent: 0,
        significand: u64::MAX >> (64 - of.bits),
        fraction_bits: of.fraction,
    };
    let reading = crate::dpa::Reading {
        a: part,
        ..crate::dpa::Reading::WHOLE
    };
    let (taken, _) = reading.parts(ones, ones);
    let mask = Expr::bits(taken.significand, of.bits);
    let significand = scope.bind("significand", x.significand().of_bits(&mask));
    let is_special = x.nan().or(&x.infinite());
    let zero = significand.is_zero().and(&!&is_special);
    let value = x.changed(&zero, &x.negative(), &significand);
    let name = format!("part_{}", identifier(&part.to_string()));
    let comment = format!("The bits {part} of the significand, counted from the hidden bit, 0.");
    let function = build.function(scope.function(&name, &comment, value));
    Expr::call(&function, vec![number])
}

/// The number as one of a wider format: a subnormal number moves up as far as the format's exponents reach.
pub(super) fn widened(
    build: &mut Build,
    number: Expr,
    of: &Numbers,
    format: &Format,
) -> (Expr, Numbers) {
    let emin = format.float().map_or(0, |float| float.emin());
    let wide = Numbers {
        low: emin.min(of.low).max(of.low - of.fraction as i32),
        ..of.clone()
    };
    let mut scope = Scope::default();
    let x = Number::new(of, scope.parameter("x", of.ty()));
    let full = Expr::int(of.fraction as i32 + 1);
    let missing = scope.bind("missing", &full - &x.significand().length());
    let room = &x.exponent() - &Expr::int(emin);
    let room = scope.bind("room", room);
    let up = missing.less(&room).choose(&missing, &room);
    let nothing = missing
        .at_most(&Expr::int(0))
        .or(&x.significand().is_zero());
    let up = scope.bind("up", nothing.choose(&Expr::int(0), &up));
    let fields = [&x.nan(), &x.infinite(), &x.zero()];
    let exponent = &x.exponent() - &up;
    let significand = x.significand().left(&up);
    let value = wide.made(fields, &x.negative(), &exponent, &significand);
    let name = format!("widened_to_{}", identifier(format.name));
    let comment = format!(
        "The number as one of {format}: a subnormal number moves up as far as the exponents of {format} reach."
    );
    let function = build.function(scope.function(&name, &comment, value));
    (Expr::call(&function, vec![number]), wide)
}

/// The number with a longer fraction.
pub(super) fn promoted(build: &mut Build, number: Expr, from: &Numbers, to: &Numbers) -> Expr {
    if from.record == to.record {
        return number;
    }
    let mut scope = Scope::default();
    let x = Number::new(from, scope.parameter("x", from.ty()));
    let longer = x.significand().to(&Ty::Bits(to.bits));
    let significand = longer.left(&Expr::int((to.fraction - from.fraction) as i32));
    let fields = [&x.nan(), &x.infinite(), &x.zero()];
    let value = to.made(fields, &x.negative(), &x.exponent(), &significand);
    let name = format!("number{}_of_{}", to.bits, from.bits);
    let comment = "The same number with a longer significand.";
    let function = build.function(scope.function(&name, comment, value));
    Expr::call(&function, vec![number])
}

/// A finite number rounded to a format; others stay.
pub(super) fn narrowed(
    build: &mut Build,
    number: Expr,
    of: &Numbers,
    (rounding, format): (Rounding, Format),
) -> Result<(Expr, Numbers), String> {
    if format.float().is_none() || !format.signed {
        return Err(format!(
            "it rounds operands to {format}, which is no signed float"
        ));
    }
    let output = Output {
        format,
        rounding,
        overflow: Overflow::Ieee,
        nan: Nan::Any,
        zero: ZeroSign::Exact,
        flush: None,
        tininess: Tininess::After,
    };
    let round = result::rounder(build, &output, of.bits, result::Options::default())?;
    let (read, to) = reader(build, &format, Codes::Special);
    let mut scope = Scope::default();
    let x = Number::new(of, scope.parameter("x", of.ty()));
    let place = &x.exponent() - &Expr::int(of.fraction as i32);
    let word = Expr::call(&round, vec![x.negative(), x.significand(), place]);
    let rounded = scope.bind("rounded", Expr::call(&read, vec![word]));
    let fields = [&x.nan(), &x.infinite(), &x.zero()];
    let nothing = Expr::bits(0, to.bits);
    let kept = to.made(fields, &x.negative(), &Expr::int(to.low), &nothing);
    let other = scope.bind("other", kept);
    let value = x.is_finite().choose(&rounded, &other);
    let name = format!("to_{}_{rounding}", identifier(format.name));
    let comment = format!("A finite number rounded to {format}; zeros, infinities and NaN stay.");
    let function = build.function(scope.function(&name, &comment, value));
    Ok((Expr::call(&function, vec![number]), to))
}
