//! With which signs a program adds its products and c.

use super::{Operation, Program, Source, Statement};

/// The signs of the products and of c in a value: 1, −1, or 0 where they are not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signs {
    /// Of every product.
    pub products: i8,
    /// Of the accumulator.
    pub c: i8,
}

impl Signs {
    /// What is in one of the two, with its sign there; what is in both with different signs is an error.
    fn with(self, other: Self) -> Result<Self, &'static str> {
        let one = |name, own: i8, other: i8| match own * other {
            -1 => Err(name),
            _ => Ok(if own == 0 { other } else { own }),
        };
        Ok(Self {
            products: one("products", self.products, other.products)?,
            c: one("c", self.c, other.c)?,
        })
    }

    fn negated(self) -> Self {
        Self {
            products: -self.products,
            c: -self.c,
        }
    }
}

impl Program {
    /// With which signs d is made of the products and c: both are 1 in almost every program.
    ///
    /// ```
    /// use mmascope_model::dpa::{Program, Signs};
    /// let program: Program = "s = fma-chain -> rne f32 ; d = negate s -> rne f32".parse()?;
    /// assert_eq!(program.signs(), Signs { products: -1, c: -1 });
    /// # Ok::<(), mmascope_model::Error>(())
    /// ```
    #[must_use]
    pub fn signs(&self) -> Signs {
        self.checked_signs().unwrap_or_default()
    }

    /// The same; says where products, or c, would be added with both signs: what such a program computes is no sum
    /// of products.
    pub(super) fn checked_signs(&self) -> Result<Signs, String> {
        let mut values: Vec<Signs> = Vec::new();
        for statement in &self.statements {
            let (mut sum, sources) = statement.addends();
            for source in sources {
                let other = match source {
                    Source::C => Signs { products: 0, c: 1 },
                    Source::Zero => Signs::default(),
                    Source::Statement(index) => values.get(index).copied().unwrap_or_default(),
                };
                sum = sum.with(other).map_err(|both| {
                    format!(
                        "statement '{}' adds {both} of both signs; all must have one",
                        statement.name
                    )
                })?;
            }
            values.push(match statement.operation {
                Operation::Negate(_) => sum.negated(),
                _ => sum,
            });
        }
        Ok(values.last().copied().unwrap_or_default())
    }

    /// The sign with which d has the value of each statement: −1 where that is negated later.
    pub(crate) fn signs_of_statements(&self) -> Vec<i8> {
        let mut signs = vec![1; self.statements.len()];
        for (index, statement) in self.statements.iter().enumerate().rev() {
            let own: i8 = signs[index];
            let sign = match statement.operation {
                Operation::Negate(_) => -own,
                _ => own,
            };
            let (_, sources) = statement.addends();
            for source in sources {
                if let Source::Statement(read) = source {
                    signs[read] = sign;
                }
            }
        }
        signs
    }
}

impl Statement {
    /// What a statement adds: whether products of its own, and the values that it reads.
    fn addends(&self) -> (Signs, Vec<Source>) {
        let own = Signs { products: 1, c: 0 };
        match &self.operation {
            Operation::Dot { from, .. } => (own, from.source().into_iter().collect()),
            Operation::Add(left, right) => (Signs::default(), vec![*left, *right]),
            Operation::Convert(source) | Operation::Negate(source) => {
                (Signs::default(), vec![*source])
            }
            Operation::Join { over, of, .. } if over.is_empty() => (Signs::default(), of.clone()),
            Operation::Join { of, .. } => (own, of.clone()),
        }
    }
}
