//! Policies: whose choices are followed.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// Whose rules choose the instructions. None of them decides which instructions exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// The source document taken literally, with its errors, for its diagnostics.
    Seed,
    /// LLVM's NVPTX backend, 22.1.
    #[default]
    Llvm,
    /// libNVVM of CUDA 13.5.
    LibNvvm,
    /// The Tile dialect and its compiler, 13.4.
    CudaTile,
}

/// The names of the policies.
const NAMES: &[(&str, Policy)] = &[
    ("seed", Policy::Seed),
    ("llvm", Policy::Llvm),
    ("libnvvm", Policy::LibNvvm),
    ("cuda-tile", Policy::CudaTile),
];

impl Policy {
    /// Every policy.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|(_, policy)| *policy)
    }
}

impl FromStr for Policy {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = NAMES.iter().find(|(known, _)| *known == name);
        found
            .map(|(_, policy)| *policy)
            .ok_or_else(|| Error::unknown("policy", name, NAMES.iter().map(|(known, _)| *known)))
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.iter().find(|(_, policy)| policy == self);
        out.write_str(name.map_or("", |(name, _)| name))
    }
}
