//! Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011):
//! a counter and a key in, four random words out.

/// What two of the words are multiplied by in a round.
pub(crate) const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
/// What the key gains from round to round.
pub(crate) const KEY_STEPS: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];
/// Rounds.
pub(crate) const ROUNDS: usize = 10;

/// The four words of a counter under a key.
#[must_use]
pub fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let (mut words, mut key) = (counter, key);
    for _ in 0..ROUNDS {
        let (low0, high0) = multiply(MULTIPLIERS[0], words[0]);
        let (low1, high1) = multiply(MULTIPLIERS[1], words[2]);
        words = [
            high1 ^ words[1] ^ key[0],
            low1,
            high0 ^ words[3] ^ key[1],
            low0,
        ];
        key = [
            key[0].wrapping_add(KEY_STEPS[0]),
            key[1].wrapping_add(KEY_STEPS[1]),
        ];
    }
    words
}

/// `philox([index, first + i], key)` for every `i` of `out`, counter after counter.
pub(crate) fn fill(index: [u32; 2], first: u32, key: [u32; 2], out: &mut [[u32; 4]]) {
    for (i, words) in out.iter_mut().enumerate() {
        let lane = first.wrapping_add(i as u32);
        *words = philox([index[0], index[1], lane, 0], key);
    }
}

/// Lower and upper half of a product.
fn multiply(x: u32, y: u32) -> (u32, u32) {
    let product = u64::from(x) * u64::from(y);
    (product as u32, (product >> 32) as u32)
}
