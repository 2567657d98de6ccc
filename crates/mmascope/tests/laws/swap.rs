//! a and b may be exchanged, together with their formats and their scales.

use mmascope::dpa::{Signature, Unit};

use super::operands::Case;
use super::rows::for_every_row;

#[test]
fn a_and_b_are_alike() {
    for_every_row(10, 12, |row, case, kind, _| {
        let Signature { a, b, .. } = *row.signature();
        let signature = Signature {
            a: b,
            b: a,
            ..*row.signature()
        };
        let unit = Unit::new(signature, row.program().clone()).expect("it still fits");
        let Case {
            a,
            b,
            c,
            scale_a,
            scale_b,
        } = case.clone();
        let swapped = Case {
            a: b,
            b: a,
            c,
            scale_a: scale_b,
            scale_b: scale_a,
        };
        let (d, other) = (case.run(&row.unit), swapped.run(&unit));
        assert_eq!(d, other, "{} {kind:?} {case:?}", row.name);
    });
}
