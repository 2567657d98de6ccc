//! POWER10's outer products of bf16: results of IBM's simulator of the machine, and signs of zeros by the Power ISA.
//!
//! Source: qemu-devel, "target/ppc: Implemented xvbf16ger*", May 2022, where three elements are given that QEMU computes
//! otherwise; Power ISA 3.1, pseudocode of the instructions.

use mmascope::dpa::Operands;
use mmascope::isa::Catalogue;

fn d(name: &str, a: &[u64], b: &[u64], c: u64) -> u64 {
    let row = Catalogue::built_in().find("power10", name).expect("a row");
    let operands = Operands {
        a,
        b,
        c,
        ..Operands::default()
    };
    row.dot(&operands, &mmascope::dpa::Modifiers::default())
        .expect("a result")
}

#[test]
fn a_sum_of_bf16_products_is_rounded_to_24_bits_first_and_to_f32_later() {
    let elements = [
        ([0x0009, 0x23da], [0x9d08, 0x0000], 0x8000_0000),
        // 21.5 places, and a little less: a tie once it has 24 bits. One rounding gives 80000015.
        ([0x28c3, 0x1f00], [0x000f, 0x97ac], 0x8000_0016),
        ([0x0001, 0x8540], [0xb709, 0x2f00], 0x8000_0001),
    ];
    for (a, b, wanted) in elements {
        // Without a suffix the accumulator is not read, which is -0 in the form pp.
        let found = d("xvbf16ger2pp", &a, &b, 0x8000_0000);
        assert_eq!(found, wanted, "{a:x?} {b:x?}: {found:08x}");
    }
    // 2^127·2 is beyond f32, and back within it once the accumulator is added.
    let (a, b) = ([0x7f00, 0], [0x4000, 0]);
    assert_eq!(d("xvbf16ger2pp", &a, &b, 0x8000_0000), 0x7f80_0000);
    assert_eq!(d("xvbf16ger2pp", &a, &b, 0xff00_0000), 0x7f00_0000);
    assert_eq!(d("xvbf16ger2nn", &a, &b, 0xff00_0000), 0xff00_0000);
}

#[test]
fn negative_forms_negate_what_their_pseudocode_negates() {
    let (one, minus) = (0x3f80_0000, 0xbf80_0000);
    // c - 1·1 and -(c + 1·1), which are 0: the sign is what is negated last.
    for (name, c, wanted) in [
        ("xvf32gerpp", minus, 0),
        ("xvf32gerpn", one, 0),
        ("xvf32gernp", one, 0x8000_0000),
        ("xvf32gernn", minus, 0x8000_0000),
    ] {
        let found = d(name, &[one], &[one], c);
        assert_eq!(found, wanted, "{name}: {found:08x}");
    }
    let (bf16, f16) = (([0x3f80, 0], [0x3f80, 0]), ([0x3c00, 0], [0x3c00, 0]));
    for (kind, (a, b)) in [("bf16", bf16), ("f16", f16)] {
        for (form, c, wanted) in [
            ("pp", minus, 0),
            ("pn", one, 0),
            ("np", one, 0),
            ("nn", minus, 0),
            ("nn", one, 0xc000_0000),
        ] {
            let name = format!("xv{kind}ger2{form}");
            let found = d(&name, &a, &b, c);
            assert_eq!(found, wanted, "{name}: {found:08x}");
        }
        // The sum of the products is +0 and -0 when it is negated.
        let name = format!("xv{kind}ger2np");
        assert_eq!(d(&name, &[0, 0], &b, 0x8000_0000), 0x8000_0000, "{name}");
    }
}
