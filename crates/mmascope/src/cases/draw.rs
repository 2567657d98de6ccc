//! Draws: which random words belong to which operand of which case.

use super::philox::philox;

/// What a draw is for; its number is part of the counter.
#[derive(Clone, Copy)]
pub(super) enum Role {
    Case = 0,
    A = 1,
    B = 2,
    C = 3,
    ScaleA = 4,
    ScaleB = 5,
}

/// The draws of one case.
#[derive(Clone, Copy)]
pub(super) struct Draws {
    key: [u32; 2],
    index: [u32; 2],
}

impl Draws {
    pub(super) fn new(seed: u64, index: u64) -> Self {
        let halves = |word: u64| [word as u32, (word >> 32) as u32];
        Self {
            key: halves(seed),
            index: halves(index),
        }
    }

    /// Four words. Positions are below 2^16: K is at most 4,096.
    pub(super) fn at(&self, role: Role, position: usize) -> [u32; 4] {
        let lane = ((role as u32) << 16) + position as u32;
        philox([self.index[0], self.index[1], lane, 0], self.key)
    }
}

/// A choice from 0 … n−1.
pub(super) fn below(n: u32, word: u32) -> u32 {
    ((u64::from(n) * u64::from(word)) >> 32) as u32
}

/// As [`below`], for exponents.
pub(super) fn step(n: u32, word: u32) -> i32 {
    below(n, word) as i32
}

/// A choice from `from ..= to`.
pub(super) fn between(from: i32, to: i32, word: u32) -> i32 {
    from + step((to - from + 1) as u32, word)
}

pub(super) fn bit(word: u32, place: u32) -> bool {
    (word >> place) & 1 == 1
}
