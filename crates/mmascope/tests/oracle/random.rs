//! Splitmix64, seeded: the same numbers on every machine and in every run.

pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// A stream of its own for every (seed, index).
    pub(crate) fn new(seed: u64, index: u64) -> Self {
        let mut mixer = Self { state: seed };
        mixer.state = mixer.next() ^ index.wrapping_mul(0xd134_2543_de82_ef95);
        Self {
            state: mixer.next(),
        }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// 0 to `n - 1`. The bias is far below what a test could see.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        (u128::from(self.next()) * u128::from(n) >> 64) as u64
    }

    /// `low` to `high`, both included; `low` when the range is empty.
    pub(crate) fn between(&mut self, low: i32, high: i32) -> i32 {
        low + self.below((i64::from(high) - i64::from(low) + 1).max(1) as u64) as i32
    }

    /// True once in `n`.
    pub(crate) fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn coin(&mut self) -> bool {
        self.once_in(2)
    }
}
