//! Values to round: on, between and beyond the rungs of a ladder, written in several ways.

use mmascope::format::Exact;

use crate::ladder::Ladder;

fn exact(magnitude: u128, exponent: i64, sticky: bool) -> Exact {
    Exact {
        negative: false,
        magnitude,
        exponent: exponent.try_into().unwrap(),
        sticky,
    }
}

/// The same value with other splits into magnitude and exponent, chosen by `choice`.
fn rewritten(value: Exact, choice: u64) -> Exact {
    let shift = |left: i64| Exact {
        magnitude: if left >= 0 {
            value.magnitude << left
        } else {
            value.magnitude >> -left
        },
        exponent: value.exponent - left as i32,
        ..value
    };
    match choice % 3 {
        _ if value.magnitude == 0 || value.sticky => value,
        0 => value,
        1 => shift(i64::from(value.magnitude.leading_zeros())),
        _ => shift(-i64::from(value.magnitude.trailing_zeros())),
    }
}

/// Points from rung k up to, but without, rung k + 1.
pub(crate) fn between(ladder: &Ladder, k: u64) -> Vec<Exact> {
    let (low, high) = (ladder.rung(k), ladder.rung(k + 1));
    let width = high.subtract(&low);
    let (_, width_exponent) = width.odd_part();
    let steps: u128 = low.divided_by(&width).big().try_into().unwrap();
    // The point at `part / 2^below` of the gap.
    let at = |part: u128, below: u32, sticky| {
        exact(
            (steps << below) + part,
            width_exponent - i64::from(below),
            sticky,
        )
    };
    const TINY: u32 = 62;
    let quarter = 1_u128 << (TINY - 2);
    let offsets = [
        0,
        1,
        quarter - 1,
        quarter,
        2 * quarter - 1,
        2 * quarter,
        2 * quarter + 1,
        3 * quarter,
        4 * quarter - 1,
    ];
    let plain = offsets
        .into_iter()
        .zip(k..)
        .map(|(part, n)| rewritten(at(part, TINY, false), n));
    let sticky = [(0, 1), (1, 1), (0, 2), (1, 2), (2, 2), (3, 2)];
    let deep = [0, (1 << 69) - 1, 1 << 69, (1 << 70) - 1].map(|part| (part, 70));
    let sticky = sticky
        .into_iter()
        .chain(deep)
        .map(|(part, below)| at(part, below, true));
    plain.chain(sticky).collect()
}

/// Points that no gap of the ladder has: zero, far below, far beyond, extremes of the fields.
pub(crate) fn outside(ladder: &Ladder) -> Vec<Exact> {
    let lowest = i64::from(ladder.fact.first);
    let top = ladder.rung(ladder.fact.max);
    // int1 has no positive number.
    let top = match top.is_zero() {
        true => 0,
        false => i64::from(top.logarithm()) + 1,
    };
    let (least, greatest) = (i64::from(i32::MIN), i64::from(i32::MAX));
    let mut points = Vec::new();
    for magnitude in [0, 1, 3, 1 << 64, u128::MAX - 1, u128::MAX] {
        for exponent in [
            least,
            least + 1,
            greatest,
            greatest - 200,
            lowest - 400,
            lowest - 129,
        ] {
            points.push(exact(magnitude, exponent, false));
        }
        for exponent in (lowest - 140..=lowest + 4).chain(top - 140..=top + 12) {
            points.push(exact(magnitude, exponent, false));
        }
        for exponent in [least, least + 1].into_iter().chain(lowest - 140..lowest) {
            points.push(exact(magnitude, exponent, true));
        }
    }
    points
}
