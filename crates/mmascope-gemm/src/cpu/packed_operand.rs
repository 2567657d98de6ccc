//! One packed operand, and the layouts that its numbers can have.

use super::aligned::Aligned;
use super::wide;

/// How values lie; groups have so many slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// As f32 and exponent bytes.
    Plain,
    /// So, for sums that round toward −∞ (`down.rs`), with signs.
    Down(usize),
    /// For sums in 64-bit lanes (`wide.rs`): as f64, with signs; A's exponents as words.
    Wide(usize),
}

impl How {
    /// Words of signs of so many slots.
    pub(super) fn signs(self, len: usize) -> usize {
        match self {
            Self::Plain => 0,
            Self::Down(slots) => len / slots,
            Self::Wide(slots) => len / slots * wide::sign_words(slots),
        }
    }

    /// Numbers that are kept as f32, and as f64.
    fn lengths(self, len: usize) -> [usize; 2] {
        match self {
            Self::Wide(_) => [0, len],
            _ => [len, 0],
        }
    }

    /// About how many bytes an element of A and one of B take.
    pub(super) fn bytes(self) -> [usize; 2] {
        match self {
            Self::Wide(_) => [12, 9],
            _ => [5, 5],
        }
    }
}

/// One operand, packed.
#[derive(Debug, Default)]
pub(super) struct Side {
    pub(super) values: Aligned<f32>,
    pub(super) exponents: Aligned<u8>,
    /// Words a group, of B a group and column, for sums that round toward −∞.
    pub(super) signs: Aligned<u32>,
    /// [`How::Wide`]: the values.
    pub(super) wide: Aligned<f64>,
    /// [`How::Wide`]: A's exponents, four equal bytes each.
    pub(super) words: Aligned<u32>,
}

impl Side {
    /// Zeros.
    pub(super) fn zeros(len: usize, room: usize, how: How, is_a: bool) -> Self {
        let with_room = |len: usize| if len == 0 { 0 } else { len + room };
        let [narrow, wide] = how.lengths(len).map(with_room);
        let words = is_a && wide != 0;
        Self {
            values: Aligned::zeros(narrow),
            exponents: Aligned::zeros(if words { 0 } else { len + room }),
            signs: Aligned::zeros(how.signs(len)),
            wide: Aligned::zeros(wide),
            words: Aligned::zeros(if words { wide } else { 0 }),
        }
    }
}
