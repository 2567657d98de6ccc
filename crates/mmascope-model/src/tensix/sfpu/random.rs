//! The vector unit's random bits: one generator a lane (§7.2).

/// The generator of one lane. It steps with every use, also in modes that do not use the bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomBits {
    /// What the next use gives.
    pub state: u32,
}

impl RandomBits {
    /// The bits of one use.
    pub fn step(&mut self) -> u32 {
        let bits = self.state;
        let taps = (bits & 0x8020_0003).count_ones();
        self.state = (!taps << 31) | bits >> 1;
        bits
    }
}
