//! Operand modifiers: negation, an absent accumulator, a scaled accumulator (§3).

use crate::error::{Error, Result};

/// What an instruction may do to its operands before the arithmetic. Which of them a row has is
/// stated in the catalogue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Modifiers {
    /// `negA`: every a is negated.
    pub negate_a: bool,
    /// `negB`: every b is negated.
    pub negate_b: bool,
    /// `negC`: c is negated.
    pub negate_c: bool,
    /// `noC`: D = A·B (wgmma `scale-d` false, tcgen05 `enable-input-d` false).
    pub no_c: bool,
    /// `scaleD=-n`: c is multiplied by 2^-n before the sum (tcgen05 `scale-input-d`), exactly and
    /// without rounding. 0 to -15.
    pub scale_d: i32,
}

/// The names, as vectors and the command line write them.
const NAMES: [&str; 5] = ["negA", "negB", "negC", "noC", "scaleD"];

impl Modifiers {
    /// Adds a modifier given as text: `negA`, `negB`, `negC`, `noC` or `scaleD=-n`.
    ///
    /// # Errors
    /// [`Error::Unknown`] for another name, [`Error::Argument`] for a wrong n and for one that is there
    /// already: twice negated may have been meant, or a slip.
    pub fn add(&mut self, text: &str) -> Result<()> {
        let name = text.split('=').next().unwrap_or(text);
        if self.names().any(|own| own == name) {
            return Err(Error::Argument(format!("the modifier {name} stands twice")));
        }
        match text.split_once('=') {
            None if text == "negA" => self.negate_a = true,
            None if text == "negB" => self.negate_b = true,
            None if text == "negC" => self.negate_c = true,
            None if text == "noC" => self.no_c = true,
            Some(("scaleD", value)) => match value.parse() {
                Ok(scale @ -15..=0) => self.scale_d = scale,
                _ => {
                    return Err(Error::Argument(format!(
                        "scaleD={value}: the exponent must be a whole number from -15 to 0"
                    )));
                }
            },
            None if text == "scaleD" => {
                return Err(Error::Argument(
                    "scaleD: say the exponent, from -15 to 0, as in scaleD=-1".to_owned(),
                ));
            }
            _ => return Err(Error::unknown("modifier", text, NAMES)),
        }
        Ok(())
    }

    /// The modifiers in use as [`Modifiers::add`] takes them.
    ///
    /// ```
    /// let mut modifiers = mmascope_model::dpa::Modifiers::default();
    /// modifiers.add("scaleD=-3")?;
    /// assert_eq!(modifiers.words(), ["scaleD=-3"]);
    /// # Ok::<(), mmascope_model::Error>(())
    /// ```
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let word = |name| match name {
            "scaleD" => format!("scaleD={}", self.scale_d),
            name => name.to_owned(),
        };
        self.names().map(word).collect()
    }

    /// The names of the modifiers in use.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        let used = [
            self.negate_a,
            self.negate_b,
            self.negate_c,
            self.no_c,
            self.scale_d != 0,
        ];
        NAMES
            .into_iter()
            .zip(used)
            .filter_map(|(name, used)| used.then_some(name))
    }
}
