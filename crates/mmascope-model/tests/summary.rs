//! The two sentences that `show` begins with agree with the unit's program.

use mmascope_model::dpa::Unit;
use mmascope_model::isa::Catalogue;

fn rows() -> impl Iterator<Item = (String, String, String)> {
    let all = Catalogue::built_in()
        .architectures()
        .iter()
        .flat_map(|it| it.instructions());
    all.filter_map(|row| {
        let unit = row.unit().ok()?;
        let name = format!("{}:{}", row.architecture, row.name);
        Some((name, unit.program().to_string(), unit.summary().join(" ")))
    })
}

/// The numbers behind a word in a text.
fn after(text: &str, word: &str) -> Vec<String> {
    let parts = text.split(word).skip(1);
    parts
        .map(|rest| {
            rest.chars()
                .take_while(char::is_ascii_digit)
                .collect::<String>()
        })
        .filter(|digits| !digits.is_empty())
        .collect()
}

#[test]
fn summaries_say_what_programs_say() {
    let mut count = 0;
    for (name, program, said) in rows() {
        count += 1;
        let statements = program
            .split(" ; ")
            .filter(|part| part.contains("->"))
            .count();
        for steps in after(&said, "The sum is made in ") {
            assert_eq!(steps, statements.to_string(), "{name}: {said}\n{program}");
        }
        for bits in after(&said, "cut to ")
            .into_iter()
            .chain(after(&said, "kept to "))
        {
            let found = [" F=", " Fg=", " F2="]
                .iter()
                .any(|key| after(&program, key).contains(&bits));
            // A floor or a plain step may name its width by position.
            assert!(found, "{name}: {bits} bits in\n{said}\n{program}");
        }
        let truncates = !after(&program, " F=").is_empty();
        assert!(
            !(truncates && said.contains("without any loss")),
            "{name}: {said}\n{program}"
        );
        if program.contains("tr-fdpa") {
            // Products are joined at F, their sum meets c at F2 + 1, and the result keeps F2.
            let number = |key| after(&program, key)[0].parse::<u32>().expect("a number");
            let (f, f2) = (number(" F="), number(" F2="));
            let parts = [
                format!(" to {f} bits below its exponent"),
                format!("their sum is rounded (down) to {} bits", f2 + 1),
                format!("c rounded (down) to {f} bits"),
                format!("to {f2} bits of its own"),
            ];
            for part in parts {
                assert!(
                    said.contains(&part),
                    "{name}: no '{part}' in\n{said}\n{program}"
                );
            }
            assert!(!said.contains("and c are aligned"), "{name}: {said}");
        }
        let is_integer = program.contains("int-dot");
        let ends = said.contains("wraps around") || said.contains("nearest one that it holds");
        assert_eq!(is_integer, ends, "{name}: {said}\n{program}");
        assert_eq!(
            program.contains("saturates"),
            said.contains("nearest one that it holds"),
            "{name}"
        );
        let flushes = program.contains("flush-in") || program.contains("ftz-addmul");
        assert_eq!(
            flushes,
            said.contains("Subnormal numbers count as 0."),
            "{name}: {said}\n{program}"
        );
        assert!(
            !said.contains("said below") && !said.contains("  "),
            "{name}: {said}"
        );
    }
    assert!(count > 800, "{count}");
}

/// Typed from the vendors' documents and the measured rows.
#[test]
fn the_sentences_of_some_rows() {
    let of = |wanted: &str| {
        let found = rows().find(|(name, _, _)| name == wanted);
        found.unwrap_or_else(|| panic!("no {wanted}")).2
    };
    let cases = [
        (
            "turing:mma.m8n8k16.s32.s8.s8.s32",
            "a sum that int32 does not hold wraps around in two's complement",
        ),
        (
            "turing:mma.m8n8k128.s32.b1.b1.s32.xor.popc",
            "the number of k, of 128, at which a and b differ",
        ),
        (
            "arm:fmmla.f32",
            "Every product is rounded, 2 at a time are added in pairs, and every sum is rounded: to f32",
        ),
        (
            "turing:wmma.m16n16k16.f32.f16.f16.f16",
            "each sum is rounded to f32, toward zero.",
        ),
        (
            "turing:wmma.m16n16k16.f16.f16.f16.f32",
            "The result is rounded once more, to f16, to nearest",
        ),
        (
            "x86:tdpbf8ps",
            "every product is rounded, 2 at a time are added in pairs",
        ),
        (
            "cdna3:v_mfma_f32_16x16x32_fp8_fp8",
            "groups of 8 (every other one)",
        ),
        (
            "ampere:mma.m8n8k4.f32.f16.f16.f32",
            "c is added with a rounding of its own",
        ),
        ("arm:bfdot.ebf1", "c is added with a rounding of its own"),
        ("power10:xvf32gernp", "d = c - a·b"),
        ("power10:xvbf16ger2nn", "d = -c - Σ a_k·b_k"),
        (
            "hopper:wgmma.m64n8k16.f32.f16.f16",
            "all 16 products and c are aligned to the largest of them and cut to 25 bits",
        ),
        (
            "wormhole:tensix.elwadd.bf16.d16",
            "a and b are added on a grid 10 bits below the larger of them",
        ),
        (
            "blackhole:tensix.sfpmad",
            "Some results differ from the fused multiply-add of IEEE 754",
        ),
    ];
    for (name, wanted) in cases {
        let said = of(name);
        assert!(said.contains(wanted), "{name}: {said}");
    }
}

/// Sums that no row of the catalogue makes.
#[test]
fn own_units_are_told_as_they_are() {
    let said = |program: &str| {
        let signature = "a=f16 b=f16 c=f32 d=f32 k=8".parse().expect("a signature");
        let unit = Unit::new(signature, program.parse().expect("a program")).expect("a unit");
        unit.summary().join(" ")
    };
    let outside = said("fused L=8 F=24 grid=products Fc=64 -> rz f32");
    assert!(
        outside.contains("all 8 products and c are aligned to the largest product"),
        "{outside}"
    );
    let twice = said("s = fused L=8 F=24 -> rz f32 ; d = add s s -> rne f32");
    assert!(
        !twice.contains("d = c +") && !twice.contains("c is added"),
        "{twice}"
    );
    assert!(twice.contains("is added to itself"), "{twice}");
    assert!(twice.contains("made of c and 8 products"), "{twice}");
    let without = said("s = fused L=8 F=24 from +0 -> rz f32 ; d = add s s -> rne f32");
    assert!(
        without.contains("made of 8 products") && without.contains("c in f32 is not read"),
        "{without}"
    );
}
