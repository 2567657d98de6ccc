//! The tests can fail: units with one wrong parameter are caught by the directed vectors.

use super::case::{Group, products};
use super::subject::{Row, Subject, rows_to_f32};
use super::{cdna1, cdna2, cdna3, cdna3_fp8, fasi, gnft, recorded};

/// Failures of the vectors of §4 on a unit with a part of its notation replaced.
fn failures(row: &Row, part: &str, replacement: &str) -> usize {
    let wrong = Row {
        subject: row.subject.with(part, replacement),
        ..row.clone()
    };
    let mut group = Group::default();
    fasi::vectors(&mut group, &wrong);
    gnft::extra_bits(&mut group, &wrong);
    gnft::block_size(&mut group, &wrong);
    gnft::end(&mut group, &wrong);
    // 1 − 1 + c, as recorded in §8: the last bit of c that alignment keeps, and the next one.
    let case = products(["1", "-1"]);
    let last = format!("2^-{}", row.f);
    group.check(&wrong.subject, &case.clone().c(&last), &last);
    group.check(&wrong.subject, &case.c(format!("2^-{}", row.f + 1)), "0");
    group.failures.len()
}

#[test]
fn wrong_parameters_of_nvidia_are_caught() {
    for row in rows_to_f32() {
        let (f, l) = (row.f, row.l);
        let part = |name: &str, value: u32| format!("{name}={value}");
        let mut wrong = vec![
            (part("F", f), part("F", f - 1)),
            (part("F", f), part("F", f + 1)),
            ("rz f32".to_owned(), "rne f32".to_owned()),
        ];
        // Where K is below the unit's L, the catalogue says L, and K products are one block.
        let block = part("L", l as u32);
        let program = row.subject.unit().program().to_string();
        if program.contains(&block) {
            wrong.push((block.clone(), part("L", l as u32 / 2)));
            if row.subject.k() > l {
                wrong.push((block, part("L", 2 * l as u32)));
            }
        }
        for (part, replacement) in &wrong {
            let caught = failures(&row, part, replacement);
            assert!(caught > 0, "{} with {replacement} passes", row.subject);
        }
        assert_eq!(failures(&row, "rz f32", "rz f32"), 0, "{}", row.subject);
    }
}

/// Architecture, instruction, vectors, and the changes that they must catch.
type Unit = (
    &'static str,
    &'static str,
    fn(&mut Group, &Subject),
    &'static [(&'static str, &'static str)],
);

#[test]
fn wrong_parameters_of_amd_are_caught() {
    let units: [Unit; 5] = [
        (
            "cdna1",
            "v_mfma_f32_16x16x16f16",
            cdna1::sums_of_four,
            &[("L=4", "L=2"), ("L=4", "L=8"), ("rne f32", "rz f32")],
        ),
        (
            "cdna2",
            "v_mfma_f32_32x32x8f16",
            cdna2::sums_of_four,
            // No published vector has more than four products, so P=8 passes.
            &[("P=4", "P=2"), ("rne f32", "rz f32")],
        ),
        (
            "cdna3",
            "v_mfma_f32_16x16x16_f16",
            cdna3::vectors,
            &[
                ("L=8", "L=4"),
                ("L=8", "L=16"),
                ("F=24", "F=23"),
                ("F=24", "F=25"),
                ("F2=31", "F2=30"),
                ("F2=31", "F2=32"),
                ("rne f32", "rz f32"),
            ],
        ),
        (
            "cdna3",
            "v_mfma_f32_16x16x32_bf8_bf8",
            cdna3_fp8::vectors,
            &[("F=24", "F=23"), ("F=24", "F=25")],
        ),
        (
            "cdna3",
            "v_mfma_f32_16x16x32_fp8_fp8",
            recorded::fp8_vectors,
            &[
                ("L=16", "L=8"),
                ("F2=31", "F2=30"),
                ("F2=31", "F2=32"),
                ("rne f32", "rz f32"),
            ],
        ),
    ];
    for (architecture, instruction, vectors, changes) in units {
        let subject = Subject::new(architecture, instruction);
        for (part, replacement) in changes {
            let mut group = Group::default();
            vectors(&mut group, &subject.with(part, replacement));
            assert!(
                !group.failures.is_empty(),
                "{subject} with {replacement} passes"
            );
        }
    }
}
