//! Checks the limits of parameters, wherever a program comes from: text or code.

use super::{Modifiers, Operation, Program, Source};

impl Program {
    /// Checks that there is a statement, that each reads only earlier ones, that parameters are in
    /// range and results are signed floats.
    pub fn check_limits(&self) -> Result<(), String> {
        if self.statements.is_empty() {
            return Err("the program has no statement".to_owned());
        }
        for (index, statement) in self.statements.iter().enumerate() {
            let name = &statement.name;
            let known = |source: Source| match source {
                Source::Statement(read) if read >= index => Err(format!(
                    "statement '{name}' reads one that is not before it"
                )),
                _ => Ok(()),
            };
            match &statement.operation {
                Operation::Dot {
                    algorithm,
                    operands,
                    from,
                    ..
                } => {
                    if !operands.a.is_possible() || !operands.b.is_possible() {
                        return Err(format!(
                            "no such part of a significand, in statement '{name}'"
                        ));
                    }
                    algorithm.check_limits()?;
                    match from.source() {
                        Some(source) => known(source)?,
                        None if algorithm.can_begin_with_product() => {}
                        None => {
                            return Err(format!(
                                "{algorithm} cannot begin with a product, in statement '{name}'"
                            ));
                        }
                    }
                }
                Operation::Add(left, right) => known(*left).and_then(|()| known(*right))?,
                Operation::Convert(source) | Operation::Negate(source) => known(*source)?,
                Operation::Join { algorithm, of, .. } => {
                    algorithm.check_limits()?;
                    if of.is_empty() {
                        return Err(format!("statement '{name}' joins no values"));
                    }
                    of.iter().try_for_each(|&source| known(source))?;
                }
            }
            statement.output.check_limits()?;
            let format = statement.output.format;
            if sums_integers(&statement.operation) {
                continue;
            }
            if format.float().is_none() || !format.signed {
                return Err(format!(
                    "{format} cannot be a result format: it is no signed float"
                ));
            }
        }
        self.checked_signs().map(|_| ())
    }
}

/// Whether a statement is an exact sum of integers, which checks its formats itself.
fn sums_integers(operation: &Operation) -> bool {
    matches!(operation, Operation::Dot { algorithm, .. } if algorithm.sums_integers())
}

impl Modifiers {
    /// Says which modifier is out of its range.
    pub fn check_limits(&self) -> Result<(), String> {
        match self.scale_d {
            -15..=0 => Ok(()),
            scale => Err(format!(
                "scaleD={scale}: a whole number from -15 to 0 is needed"
            )),
        }
    }
}
