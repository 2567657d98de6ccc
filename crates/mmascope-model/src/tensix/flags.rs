//! The sticky status register (§9): its bits are documented, when each of them is set is *assumed*.
//!
//! No source says under which conditions a bit is set; the vendor's simulator does not model the register.
//! The conditions here are those that the vendor's page on special values suggests, read as follows.
//! Bits 5 and 6 are the catalogue's (`flags` lines), by the events of a result.

use std::fmt;

/// The register's name in the vendor's headers.
pub const STICKY_NAME: &str = "RISCV_DEBUG_REG_FPU_STICKY_BITS";

/// The register's address: 0xffb12000 + 0xb4. (The vendor's page prints `0xffb1200 | 0x0B4`, a digit short.)
pub const STICKY_ADDRESS: u32 = 0xffb1_20b4;

/// A bit of the register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flag {
    /// Bit 0: an integer addition of the vector unit overflowed.
    SfpuOverflow,
    /// Bit 1: a result of the vector unit was subnormal.
    SfpuDenormal,
    /// Bit 2: a result of the vector unit is an infinity.
    SfpuInfinity,
    /// Bit 3: a result of the vector unit is a NaN.
    SfpuNan,
    /// Bit 4: an integer sum of the matrix unit was limited.
    FpuSaturation,
    /// Bit 5: a result of the matrix unit overflowed.
    FpuOverflow,
    /// Bit 6: a result of the matrix unit underflowed.
    FpuUnderflow,
}

impl Flag {
    /// Every bit, lowest first.
    pub const ALL: [Self; 7] = [
        Self::SfpuOverflow,
        Self::SfpuDenormal,
        Self::SfpuInfinity,
        Self::SfpuNan,
        Self::FpuSaturation,
        Self::FpuOverflow,
        Self::FpuUnderflow,
    ];

    /// The number of the bit.
    #[must_use]
    pub fn bit(self) -> u8 {
        match self {
            Self::SfpuOverflow => 0,
            Self::SfpuDenormal => 1,
            Self::SfpuInfinity => 2,
            Self::SfpuNan => 3,
            Self::FpuSaturation => 4,
            Self::FpuOverflow => 5,
            Self::FpuUnderflow => 6,
        }
    }

    /// What the vendor documents, in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::SfpuOverflow => "any SFPU lane detected overflow (through int32 addition)",
            Self::SfpuDenormal => "any SFPU lane detected denorm",
            Self::SfpuInfinity => "any SFPU lane detected infinity",
            Self::SfpuNan => "any SFPU lane detected NaN",
            Self::FpuSaturation => "any FPU lane int32 saturation detected",
            Self::FpuOverflow => "any FPU lane infinity/overflow detected",
            Self::FpuUnderflow => "any FPU lane exponent underflow (denorm number detected)",
        }
    }

    /// The condition that this model takes. It is assumed: no source states it.
    #[must_use]
    pub fn assumed(self) -> &'static str {
        match self {
            Self::SfpuOverflow => "a signed 32-bit addition overflows",
            Self::SfpuDenormal => "a multiply-add gives a number below 2^-126, which becomes zero",
            Self::SfpuInfinity => "a multiply-add gives an infinity",
            Self::SfpuNan => "a multiply-add gives a NaN",
            Self::FpuSaturation => "an integer sum is limited to ±(2^31 - 1)",
            Self::FpuOverflow => "the rounded sum is beyond the format of Dst",
            Self::FpuUnderflow => {
                "a sum that is not zero becomes zero, being below the smallest normal number"
            }
        }
    }
}

/// The register: bits are set by operations, ORed over lanes, and stay until cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StickyFlags(u16);

impl StickyFlags {
    /// What a kernel reads.
    #[must_use]
    pub fn read(self) -> u16 {
        self.0
    }

    /// Writing 0 clears it.
    pub fn clear(&mut self) {
        self.0 = 0;
    }

    /// Whether a bit is set.
    #[must_use]
    pub fn has(self, flag: Flag) -> bool {
        self.0 >> flag.bit() & 1 == 1
    }

    /// Sets a bit.
    pub fn set(&mut self, flag: Flag) {
        self.0 |= 1 << flag.bit();
    }

    /// Sets what an operation set.
    pub fn join(&mut self, bits: u8) {
        self.0 |= u16::from(bits);
    }

    /// `get_compute_special_value_flags_fpu()`: bits 4 to 7.
    #[must_use]
    pub fn fpu(self) -> u16 {
        self.0 >> 4 & 0xf
    }

    /// `get_compute_special_value_flags_sfpu()`: bits 0 to 3.
    #[must_use]
    pub fn sfpu(self) -> u16 {
        self.0 & 0xf
    }
}

impl fmt::Display for StickyFlags {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{STICKY_NAME} = {:03x}", self.0)?;
        for flag in Flag::ALL.into_iter().filter(|flag| self.has(*flag)) {
            write!(
                out,
                "\n  bit {}: {}; assumed: {}",
                flag.bit(),
                flag.words(),
                flag.assumed()
            )?;
        }
        Ok(())
    }
}
