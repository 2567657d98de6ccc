//! Stochastic rounding over all its random numbers: how often it goes up is the discarded part.

use mmascope::format::{BF16, E2M1FN, E4M3FN, Exact, F16, Overflow, Rounding};

#[test]
fn the_share_of_increments_is_the_discarded_part() {
    for (format, code) in [(F16, 0x3c00), (BF16, 0x0001), (E4M3FN, 0x08), (E2M1FN, 0x0)] {
        let here = format.decode(code).exact().unwrap();
        for bits in [1, 2, 5, 8] {
            for below in 0..=9 {
                for part in 0..1_u128 << below {
                    for negative in [false, true] {
                        let value = Exact {
                            negative,
                            magnitude: (here.magnitude << below) + part,
                            exponent: here.exponent - below,
                            sticky: false,
                        };
                        let ups = (0..1_u64 << bits).filter(|&random| {
                            let mode = Rounding::Stochastic { bits, random };
                            let got = format.round(&value, mode, Overflow::Ieee);
                            let up = format.with_sign_of(negative, code + 1);
                            let down = format.with_sign_of(negative, code);
                            assert!(got == up || got == down, "{format} {value:x?} {mode:?}");
                            got == up
                        });
                        // Bits beyond the first `bits` are dropped.
                        let expected = (part << bits) >> below;
                        assert_eq!(ups.count() as u128, expected, "{format} {value:x?} {bits}");
                    }
                }
            }
        }
    }
}

trait WithSign {
    fn with_sign_of(&self, negative: bool, code: u64) -> u64;
}

impl WithSign for mmascope::format::Format {
    fn with_sign_of(&self, negative: bool, code: u64) -> u64 {
        if negative {
            code | 1 << (self.bits - 1)
        } else {
            code
        }
    }
}
