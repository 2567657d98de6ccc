//! Assigns random words to the operands of a case.

use mmascope_gemm::random::{fill, philox};

/// The purpose of a draw; its number is part of the counter.
#[derive(Clone, Copy)]
pub(super) enum Role {
    Case = 0,
    A = 1,
    B = 2,
    C = 3,
    ScaleA = 4,
    ScaleB = 5,
}

/// The draws of one case; those of a and b, which almost every case needs all of, are made at once.
#[derive(Clone, Copy)]
pub(super) struct Draws<'a> {
    key: [u32; 2],
    index: [u32; 2],
    a: &'a [[u32; 4]],
    b: &'a [[u32; 4]],
}

impl<'a> Draws<'a> {
    /// `words`: memory for them.
    pub(crate) fn new(seed: u64, index: u64, k: usize, words: &'a mut Vec<[u32; 4]>) -> Self {
        let halves = |word: u64| [word as u32, (word >> 32) as u32];
        let (key, index) = (halves(seed), halves(index));
        words.resize(2 * k, [0; 4]);
        let (a, b) = words.split_at_mut(k);
        fill(index, lane(Role::A, 0), key, a);
        fill(index, lane(Role::B, 0), key, b);
        Self { key, index, a, b }
    }

    /// Four words.
    pub(super) fn at(&self, role: Role, position: usize) -> [u32; 4] {
        match role {
            Role::A => self.a[position],
            Role::B => self.b[position],
            _ => philox(
                [self.index[0], self.index[1], lane(role, position), 0],
                self.key,
            ),
        }
    }
}

/// The counter's third word. Positions are below 2^16: K is at most 4,096.
fn lane(role: Role, position: usize) -> u32 {
    ((role as u32) << 16) + position as u32
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
