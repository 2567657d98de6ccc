//! The integers of the exact numbers.

use num_bigint::BigInt;

use super::integer::Integer::{Big, Small};

/// The machine word must never change a value: each operation again with big integers alone.
#[test]
fn small_integers_are_big_integers() {
    let mut random = super::random::Random::new(1, 0);
    for _ in 0..100_000 {
        let mut draw = || {
            let wide = i128::from(random.next() as i64) << 64 | i128::from(random.next());
            wide >> random.below(128)
        };
        let (x, y) = (draw(), draw());
        let n = random.below(200) as u32;
        let (big_x, big_y) = (BigInt::from(x), BigInt::from(y));
        assert_eq!(Small(x).add(&Small(y)).big(), &big_x + &big_y);
        assert_eq!(Small(x).multiply(&Small(y)).big(), &big_x * &big_y);
        assert_eq!(Small(x).double(n).big(), &big_x << n);
        assert_eq!(u64::from(Small(x).length()), big_x.bits());
        let (quotient, place) = Small(x).halve(n);
        let (wanted, wanted_place) = Big(Box::new(big_x)).halve(n);
        assert_eq!((quotient.big(), place), (wanted.big(), wanted_place));
    }
}
