//! With which signs a program adds its products and c.

use super::{Operation, Program, Source};

/// The signs of the products and of c in a value: 1, −1, or 0 where they are not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signs {
    /// Of every product.
    pub products: i8,
    /// Of the accumulator.
    pub c: i8,
}

impl Signs {
    /// What is in one of the two, with its sign there.
    fn or(self, other: Self) -> Self {
        let first = |own: i8, other: i8| if own == 0 { other } else { own };
        Self {
            products: first(self.products, other.products),
            c: first(self.c, other.c),
        }
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
        let own = Signs { products: 1, c: 0 };
        let mut values: Vec<Signs> = Vec::new();
        for statement in &self.statements {
            let read = |source: Source| match source {
                Source::C => Signs { products: 0, c: 1 },
                Source::Zero => Signs::default(),
                Source::Statement(index) => values[index],
            };
            let value = match &statement.operation {
                Operation::Dot { from, .. } => own.or(from.source().map_or(own, read)),
                Operation::Add(left, right) => read(*left).or(read(*right)),
                Operation::Convert(source) => read(*source),
                Operation::Negate(source) => read(*source).negated(),
                Operation::Join { over, of, .. } => {
                    let products = match over.is_empty() {
                        true => Signs::default(),
                        false => own,
                    };
                    let values = of.iter().map(|&source| read(source));
                    values.fold(products, Signs::or)
                }
            };
            values.push(value);
        }
        values.last().copied().unwrap_or_default()
    }

    /// The sign with which d has the value of each statement: −1 where that is negated later.
    pub(crate) fn signs_of_statements(&self) -> Vec<i8> {
        let mut signs = vec![1; self.statements.len()];
        for (index, statement) in self.statements.iter().enumerate().rev() {
            let own: i8 = signs[index];
            let (sources, sign) = match &statement.operation {
                Operation::Dot { from, .. } => (from.source().into_iter().collect(), own),
                Operation::Add(left, right) => (vec![*left, *right], own),
                Operation::Convert(source) => (vec![*source], own),
                Operation::Negate(source) => (vec![*source], -own),
                Operation::Join { of, .. } => (of.clone(), own),
            };
            for source in sources {
                if let Source::Statement(read) = source {
                    signs[read] = sign;
                }
            }
        }
        signs
    }
}
