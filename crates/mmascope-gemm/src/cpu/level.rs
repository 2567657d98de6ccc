//! Chooses the instruction set of the kernels, once, at run time.

use std::sync::OnceLock;

use crate::error::{Error, Result};

/// A set of vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Level {
    /// Plain Rust: every machine.
    Scalar,
    /// Arm NEON: every aarch64.
    Neon,
    /// x86 AVX2, FMA and F16C.
    Avx2,
    /// x86 AVX-512 F, BW, DQ and VL.
    Avx512,
    /// The same with VNNI, for sums of bytes.
    Vnni,
}

/// The environment variable that forces a level.
pub const VARIABLE: &str = "MMASCOPE_SIMD";

impl Level {
    /// Every level, slowest first.
    pub const ALL: [Self; 5] = [
        Self::Scalar,
        Self::Neon,
        Self::Avx2,
        Self::Avx512,
        Self::Vnni,
    ];

    /// The name, as the environment variable has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Neon => "neon",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Vnni => "avx512vnni",
        }
    }

    /// The level of that name.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the nearest names.
    pub fn named(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|level| level.name() == name)
            .ok_or_else(|| Error::unknown("SIMD level", name, Self::ALL.map(Self::name)))
    }

    /// Whether this machine has the instructions.
    #[must_use]
    pub fn is_there(self) -> bool {
        match self {
            Self::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("f16c")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.is_there()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Vnni => Self::Avx512.is_there() && is_x86_feature_detected!("avx512vnni"),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => cfg!(target_endian = "little"),
            #[allow(unreachable_patterns)]
            _ => false,
        }
    }

    /// The levels that this machine has, slowest first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|level| level.is_there())
    }

    /// The level in use: what `MMASCOPE_SIMD` says, else the best that is there. Decided once. All have been compared
    /// with the reference (`docs/measured/kernel-coverage.md`). Where the crate is compiled without optimisation, the
    /// variable alone chooses another than [`Level::Scalar`]: the frames of the kernels for AVX-512 are larger than stacks are there.
    ///
    /// # Errors
    /// [`Error::Argument`] or [`Error::Unknown`] when the variable names a level that is unknown or
    /// that this machine does not have.
    pub fn current() -> Result<Self> {
        static CURRENT: OnceLock<std::result::Result<Level, String>> = OnceLock::new();
        CURRENT
            .get_or_init(|| Self::choose().map_err(|error| error.to_string()))
            .clone()
            .map_err(Error::Argument)
    }

    fn choose() -> Result<Self> {
        let best = Self::available().last().filter(|_| !cfg!(unoptimised));
        let best = best.unwrap_or(Self::Scalar);
        let Some(asked) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) else {
            return Ok(best);
        };
        let wrong = |what: String| Error::Argument(format!("{VARIABLE}: {what}"));
        let asked = asked.to_string_lossy();
        let there: Vec<&str> = Self::available().map(Self::name).collect();
        let there = there.join(", ");
        let level = Self::named(&asked)
            .map_err(|error| wrong(format!("{error}; this machine has {there}")))?;
        if level.is_there() {
            return Ok(level);
        }
        Err(wrong(format!(
            "this machine has no {level}; it has {there}"
        )))
    }
}

/// Whether there are four vector pipes beside AVX-512, and a second cache that feeds them: then sums are faster by
/// conversion than in 64-bit lanes, more rows at a time are faster, and panels need not stay in the first cache (measured
/// on a Zen 5 and on a Zen 4). Processors with two pipes of 512 bits lack SSE4A. What is computed is the same.
pub(super) fn has_four_pipes() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        Level::Avx512.is_there() && is_x86_feature_detected!("sse4a")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.pad(self.name())
    }
}
