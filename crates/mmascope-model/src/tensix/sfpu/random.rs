//! The vector unit's random bits: one generator a lane (§7.2).

/// Lanes of the vector unit.
const LANES: usize = 32;

/// The generator of one lane. It steps with every use, also in modes that do not use the bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensixRandomBits {
    /// What the next use gives.
    pub state: u32,
}

impl TensixRandomBits {
    /// The generators of all lanes, lane 0 first, as a write of the seed leaves them: 32 steps of the seed, then
    /// two for each lane, the last lane first.
    #[must_use]
    pub fn seeded(seed: u32) -> [Self; LANES] {
        let mut bits = Self { state: seed };
        for _ in 0..32 {
            bits.step();
        }
        let mut lanes = [bits; LANES];
        for lane in lanes.iter_mut().rev() {
            bits.step();
            bits.step();
            *lane = bits;
        }
        lanes
    }

    /// The bits of one use.
    pub fn step(&mut self) -> u32 {
        let bits = self.state;
        let taps = (bits & 0x8020_0003).count_ones();
        self.state = (!taps << 31) | bits >> 1;
        bits
    }
}
