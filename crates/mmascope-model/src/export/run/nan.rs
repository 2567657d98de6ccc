//! NaN operands that go on in place of a NaN result.

use super::Writer;
use crate::dpa::{Codes, Operation, Signature, Statement};
use crate::export::build::Scope;
use crate::export::ir::{Expr, Function, Ty};
use crate::export::numbers::{self, Number, reader};
use crate::format::{Format, Specials};

impl Writer<'_> {
    /// The NaN operand that goes on in place of a NaN result: the last one that was met.
    pub(super) fn passed_nan(&mut self, result: Expr) -> Result<Expr, String> {
        let output = *self.program.output();
        let to = output.format.container();
        let [
            Statement {
                operation: Operation::Dot { over, .. },
                ..
            },
        ] = &self.program.statements[..]
        else {
            return Err("it passes on a NaN of several statements".to_owned());
        };
        let mut scope = Scope::default();
        let word = scope.parameter("word", Ty::Bits(to.register.bits));
        let (read, of) = reader(&mut self.build, &to, Codes::Special);
        let number = Number::new(&of, scope.bind("number", Expr::call(&read, vec![word])));
        let is_nan = scope.function(
            "is_nan",
            "Whether a word of a result is a NaN.",
            number.nan(),
        );
        let is_nan = self.build.function(is_nan);
        self.scope
            .say("A NaN operand goes on: of the last k first, a before b, then c.");
        let Signature { a, b, c, k, .. } = *self.signature;
        let order = over.indices(k);
        let nan = self.scope.variable("passed", result.clone());
        let of_c = self.quiet(&c, &to)?;
        let c_word = Expr::name("c", Ty::Bits(c.register.bits));
        let c_nan = self.is_nan_of(&c, c_word.clone());
        let quiet_c = Expr::call(&of_c, vec![c_word]);
        self.scope.set("passed", c_nan.choose(&quiet_c, &nan));
        for &k in &order {
            for (name, format) in [("b", b), ("a", a)] {
                let quiet = self.quiet(&format, &to)?;
                let word =
                    Expr::element(name, &Ty::Bits(format.register.bits), &Expr::int(k as i32));
                let is_nan = self.is_nan_of(&format, word.clone());
                let quiet = Expr::call(&quiet, vec![word]);
                self.scope.set("passed", is_nan.choose(&quiet, &nan));
            }
        }
        let is_nan = Expr::call(&is_nan, vec![result.clone()]);
        Ok(is_nan.choose(&nan, &result))
    }

    /// Whether a word is a NaN of a format.
    fn is_nan_of(&mut self, format: &Format, word: Expr) -> Expr {
        let (read, of) = reader(&mut self.build, format, Codes::Special);
        let mut scope = Scope::default();
        let own = scope.parameter("word", Ty::Bits(format.register.bits));
        let number = Number::new(&of, scope.bind("number", Expr::call(&read, vec![own])));
        let name = format!("is_nan_{}", numbers::identifier(format.name));
        let comment = format!("Whether a word of {format} is a NaN.");
        let function = self
            .build
            .function(scope.function(&name, &comment, number.nan()));
        Expr::call(&function, vec![word])
    }

    /// The function that makes a NaN of a format a quiet one of the result's.
    fn quiet(&mut self, from: &Format, to: &Format) -> Result<Function, String> {
        let bits = to.register.bits;
        let (Some(wide), Some(narrow)) = (to.float(), from.float()) else {
            return Err("it passes on a NaN of no float".to_owned());
        };
        let mut scope = Scope::default();
        let word = scope.parameter("word", Ty::Bits(from.register.bits));
        let (read, of) = reader(&mut self.build, from, Codes::Special);
        let default = Expr::bits(to.to_register(to.nan_or_substitute()), bits);
        let value = if wide.specials == Specials::Ieee {
            let number = Number::new(
                &of,
                scope.bind("number", Expr::call(&read, vec![word.clone()])),
            );
            let code = word.right(&Expr::int(from.register.shift as i32));
            let mask = Expr::bits((1 << narrow.fraction_bits) - 1, from.register.bits);
            let fraction = code.of_bits(&mask);
            let moved = match wide.fraction_bits.checked_sub(narrow.fraction_bits) {
                Some(longer) => fraction
                    .to(&Ty::Bits(bits.max(from.register.bits)))
                    .left(&Expr::int(longer as i32)),
                None => fraction.right(&Expr::int(
                    (narrow.fraction_bits - wide.fraction_bits) as i32,
                )),
            };
            let moved = moved
                .to(&Ty::Bits(bits))
                .left(&Expr::int(to.register.shift as i32));
            let sign = to.to_register(1 << (to.bits - 1));
            let sign = number
                .negative()
                .choose(&Expr::bits(sign, bits), &Expr::bits(0, bits));
            default.with_bits(&moved).with_bits(&sign)
        } else {
            default
        };
        let name = format!("quiet_{}", numbers::identifier(from.name));
        let comment = format!("A NaN of {from} as a quiet one of {to}, with its payload.");
        Ok(self.build.function(scope.function(&name, &comment, value)))
    }
}
