//! Recipes: how the scale of a block is chosen.

use super::BlockFormat;
use crate::error::{Error, Result};

/// How scales are chosen and elements are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Recipe {
    /// OCP MX 1.0 §6.3: the scale is rounded down, large elements are clamped.
    Ocp,
    /// Transformer Engine's MXFP8: the scale is rounded up, nothing is clamped.
    RoundUp,
    /// Transformer Engine's NVFP4: a scale for the tensor and one for each block.
    Nvfp4,
    /// The same with 256 for 448, and each block's largest number goes to 6 or to 4, whichever gives the
    /// smaller error.
    FourOverSix,
}

/// What `four-over-six` compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Selection {
    /// The sum of squared errors.
    #[default]
    SquaredError,
    /// The sum of absolute errors.
    AbsoluteError,
}

impl Recipe {
    const NAMES: [(&'static str, Self); 4] = [
        ("ocp", Self::Ocp),
        ("round-up", Self::RoundUp),
        ("nvfp4", Self::Nvfp4),
        ("four-over-six", Self::FourOverSix),
    ];

    /// The recipe of that name: `ocp round-up nvfp4 four-over-six`.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the names that there are.
    pub fn named(name: &str) -> Result<Self> {
        let known = Self::NAMES.iter().find(|(known, _)| *known == name);
        known
            .map(|(_, recipe)| *recipe)
            .ok_or_else(|| Error::unknown("recipe", name, Self::NAMES.map(|(name, _)| name)))
    }

    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        let found = Self::NAMES.iter().find(|(_, recipe)| *recipe == self);
        found.map_or("", |(name, _)| name)
    }

    /// The recipes of a format; the first is taken unless another is asked for.
    #[must_use]
    pub fn of(format: &BlockFormat) -> &'static [Self] {
        if format.has_tensor_scale {
            &[Self::Nvfp4, Self::FourOverSix]
        } else {
            &[Self::Ocp, Self::RoundUp]
        }
    }
}

impl std::fmt::Display for Recipe {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.name())
    }
}

impl Selection {
    /// The measure of that name: `mse mae`.
    ///
    /// # Errors
    /// [`Error::Unknown`].
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "mse" => Ok(Self::SquaredError),
            "mae" => Ok(Self::AbsoluteError),
            _ => Err(Error::unknown("selection", name, ["mse", "mae"])),
        }
    }
}
