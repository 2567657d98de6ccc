//! The vendor's page on special values, claim by claim, beside what the model answers: `docs/tensix-specials.md` is
//! made here, and this test fails when it is stale.

use std::fmt::Write;
use std::path::Path;

use crate::support::{fpu, machines, phase, source};
use mmascope_model::tensix::{
    Core, CoreSetting, Early, Fidelity, Flag, Machine, STICKY_ADDRESS, STICKY_NAME, SourceFormat,
    StickyFlags, Tile, Width, accumulate_f32, add_integers, f32_to_bf16, int8_to_source,
    integer_add,
};

const INFINITY: u32 = 0x7f80_0000;
const MINUS: u32 = 0xff80_0000;
const NAN: u32 = 0x7fff_ffff;

/// One case of a claim: what is asked, what the two machines answer, and what the claim says.
struct Case {
    asked: String,
    answers: [u32; 2],
    claimed: fn(u32) -> bool,
}

struct Claim {
    says: &'static str,
    cases: Vec<Case>,
    remark: &'static str,
}

impl Claim {
    fn new(says: &'static str, remark: &'static str) -> Self {
        Self {
            says,
            cases: Vec::new(),
            remark,
        }
    }

    fn case(mut self, asked: &str, claimed: fn(u32) -> bool, of: impl Fn(&Machine) -> u32) -> Self {
        let machines = machines();
        self.cases.push(Case {
            asked: asked.to_owned(),
            answers: [of(&machines[0]), of(&machines[1])],
            claimed,
        });
        self
    }

    fn verdict(&self) -> &'static str {
        let held: Vec<bool> = (self.cases.iter())
            .flat_map(|case| case.answers.map(|answer| (case.claimed)(answer)))
            .collect();
        match (held.contains(&true), held.contains(&false)) {
            (true, false) => "holds",
            (false, true) => "does not hold",
            _ => "holds in part",
        }
    }
}

/// One phase (LoFi).
fn product(machine: &Machine, x: u32, y: u32) -> u32 {
    let fpu = fpu(machine, SourceFormat::Tf32, Width::Bits32);
    fpu.multiply(
        phase(0),
        SourceFormat::of_f32(x),
        SourceFormat::of_f32(y),
        0,
    )
    .0
}

/// Four phases (HiFi4).
fn product_of_four(machine: &Machine, x: u32, y: u32) -> u32 {
    let fpu = fpu(machine, SourceFormat::Tf32, Width::Bits32);
    let (a, b) = (SourceFormat::of_f32(x), SourceFormat::of_f32(y));
    let phases = [0, 1, 2, 3].map(phase).into_iter();
    phases.fold(0, |dst, phase| fpu.multiply(phase, a, b, dst).0)
}

fn sum(machine: &Machine, x: u32, y: u32) -> u32 {
    let fpu = fpu(machine, SourceFormat::Tf32, Width::Bits32);
    fpu.add(SourceFormat::of_f32(x), SourceFormat::of_f32(y), 0)
        .0
}

fn is_infinite(word: u32) -> bool {
    word == INFINITY
}

fn is_minus(word: u32) -> bool {
    word == MINUS
}

fn is_nan(word: u32) -> bool {
    word & !(1 << 31) > INFINITY
}

fn is_zero(word: u32) -> bool {
    word == 0
}

fn bits(x: f32) -> u32 {
    x.to_bits()
}

/// A product of two f16 numbers, one phase, in an f16 Dst.
fn f16_product(machine: &Machine, x: u16, y: u16) -> u32 {
    let fpu = fpu(machine, SourceFormat::F16, Width::Bits16);
    let (x, y) = (SourceFormat::of_f16(x), SourceFormat::of_f16(y));
    let word = fpu.multiply(phase(0), x, y, 0).0;
    word >> 16 & 0x8000 | word >> 13 & 0x7fff
}

fn patterns() -> Vec<Claim> {
    vec![
        Claim::new(
            "f32 and bf16: +NaN is 7fffffff / 7fff",
            "No unit makes that word. The matrix unit makes no NaN at all; the vector unit has NaNs of its own.",
        )
        .case("sfpu: 0 · inf + 0", |word| word == NAN, |m| m.multiply_add(0, INFINITY, 0))
        .case("packer: NaN of f32 to bf16", |word| word == 0x7fff, |m| {
            Early::F32ToBf16.convert(m, NAN).unwrap().into()
        })
        .case("L1 accumulation: inf + -inf", |word| word == NAN, |_| {
            accumulate_f32(INFINITY, MINUS).unwrap()
        }),
        Claim::new(
            "f32 and bf16: -NaN is ffffffff / ffff",
            "Wormhole's vector unit gives its NaN the sign of the product; no unit makes the word of the page.",
        )
        .case("sfpu: -0 · inf + 0", |word| word == 0xffff_ffff, |m| m.multiply_add(1 << 31, INFINITY, 0))
        .case("packer: -NaN of f32 to bf16", |word| word == 0xffff, |m| {
            Early::F32ToBf16.convert(m, 0xffff_ffff).unwrap().into()
        }),
        Claim::new("f32 and bf16: +Inf is 7f800000 / 7f80, -Inf ff800000 / ff80", "")
            .case("fpu: 2^127 · 2", is_infinite, |m| product(m, bits(2_f32.powi(127)), bits(2.0)))
            .case("fpu: -2^127 · 2", is_minus, |m| product(m, bits(-2_f32.powi(127)), bits(2.0)))
            .case("sfpu: 2^127 · 2 + 0", is_infinite, |m| {
                m.multiply_add(bits(2_f32.powi(127)), bits(2.0), 0)
            }),
        Claim::new(
            "f16: +Inf is 7c00",
            "7c00 is 65536, an ordinary number; what overflows is 7fff, and f16 has no NaN.",
        )
        .case("fpu, f16 Dst: 65504 · 8", |word| word == 0x7c00, |m| {
            let fpu = fpu(m, SourceFormat::F16, Width::Bits16);
            let word = fpu.multiply(phase(0), SourceFormat::of_f16(0x7bff), SourceFormat::of_f16(0x4800), 0).0;
            word >> 16 & 0x8000 | word >> 13 & 0x7fff
        }),
        Claim::new(
            "f16: -Inf is fc00",
            "fc00 is -65536, an ordinary number; what overflows is ffff.",
        )
        .case("fpu, f16 Dst: -65504 · 8", |word| word == 0xfc00, |m| f16_product(m, 0xfbff, 0x4800)),
        Claim::new(
            "f16: +NaN is 7fff, -NaN is ffff",
            "These words are what overflows; they are read as the numbers 131008 and -131008, of which the half is finite.",
        )
        .case("fpu, f16 Dst: 7fff · 0.5", |word| word == 0x7fff, |m| {
            f16_product(m, 0x7fff, 0x3800)
        })
        .case("fpu, f16 Dst: ffff · 0.5", |word| word == 0xffff, |m| {
            f16_product(m, 0xffff, 0x3800)
        }),
        Claim::new(
            "denormals are 0x0 in all formats",
            "The matrix unit and Wormhole's vector unit make +0; Blackhole's vector unit, and conversions to bf16 in the unpacker, make a zero of the number's sign. Unpackers and loads keep the bits of subnormal bf16 and f16.",
        )
        .case("fpu: -2^-126 · 0.5", is_zero, |m| product(m, bits(-2_f32.powi(-126)), bits(0.5)))
        .case("sfpu: -2^-126 · 0.5 + 0", is_zero, |m| {
            m.multiply_add(bits(-2_f32.powi(-126)), bits(0.5), 0)
        })
        .case("unpacker: 807fffff to bf16", is_zero, |_| f32_to_bf16(0x807f_ffff).into()),
    ]
}

fn operations() -> Vec<Claim> {
    let fma = |x, y, z| move |m: &Machine| m.multiply_add(x, y, z);
    vec![
        Claim::new(
            "FPU: ±Inf × ±Inf = ±Inf",
            "With one phase. A later phase adds a product of lower parts, which may be zero but keeps its exponent, 5 or 7 below; far above Dst, that exponent pushes Dst out of the sum, and the result is +0. Ordinary products far beyond the range vanish in the same way: with two phases or more 2^100 · 2^100 is 0.",
        )
        .case("inf · inf, four phases", is_infinite, |m| {
            product_of_four(m, INFINITY, INFINITY)
        })
        .case("2^100 · 2^100, four phases", is_infinite, |m| {
            product_of_four(m, bits(2_f32.powi(100)), bits(2_f32.powi(100)))
        })
            .case("inf · inf", is_infinite, |m| product(m, INFINITY, INFINITY))
            .case("-inf · inf", is_minus, |m| product(m, MINUS, INFINITY)),
        Claim::new(
            "FPU: ±finite × ±Inf = ±Inf",
            "Only for numbers of at least 1: infinity is read as 2^128. Zero and subnormal numbers give +0; so do large numbers with several phases.",
        )
        .case("1 · inf", is_infinite, |m| product(m, bits(1.0), INFINITY))
        .case("-3 · inf", is_minus, |m| product(m, bits(-3.0), INFINITY))
        .case("0.5 · inf", is_infinite, |m| product(m, bits(0.5), INFINITY))
        .case("0 · inf", is_infinite, |m| product(m, 0, INFINITY)),
        Claim::new("FPU: Inf + Inf = +Inf, -Inf - Inf = -Inf", "")
            .case("inf + inf", is_infinite, |m| sum(m, INFINITY, INFINITY))
            .case("-inf + -inf", is_minus, |m| sum(m, MINUS, MINUS)),
        Claim::new(
            "FPU: operations that are not listed treat NaN and Inf as ordinary numbers",
            "The claim is tested by what numbers would give: 2^128 - 2^128 = 0, 1.5 · 2^128 - 2^128 = 2^127.",
        )
        .case("inf - inf", is_zero, |m| sum(m, INFINITY, MINUS))
        .case("7fc00000 - inf", |word| word == bits(2_f32.powi(127)), |m| sum(m, 0x7fc0_0000, MINUS))
        .case("7fc00000 · 0.5", |word| word == 0x7f40_0000, |m| product(m, 0x7fc0_0000, bits(0.5))),
        Claim::new(
            "Inf or NaN + a normal finite number gives a really big number",
            "The infinity is read as 2^128. A finite number of its sign, or a small one, leaves 2^128 or more, which is written as an infinity; a large one of the other sign leaves a finite sum.",
        )
        .case("inf - 2^127", |word| word == bits(2_f32.powi(127)), |m| {
            sum(m, INFINITY, bits(-2_f32.powi(127)))
        })
        .case("inf + 1", |word| !is_infinite(word), |m| sum(m, INFINITY, bits(1.0))),
        Claim::new(
            "Inf or NaN + a really big finite number could be entirely cancelled",
            "The largest tf32 number is rounded to 2^128 on the grid of the larger exponent, and nothing is left of either.",
        )
        .case("inf - (2 - 2^-10) · 2^127", is_zero, |m| {
            sum(m, INFINITY, 0xff7f_e000)
        })
        .case("inf + -inf", is_zero, |m| sum(m, INFINITY, MINUS)),
        Claim::new("SFPU: ±Inf × ±Inf = ±Inf", "")
            .case("inf · inf + 0", is_infinite, fma(INFINITY, INFINITY, 0))
            .case("-inf · inf + 0", is_minus, fma(MINUS, INFINITY, 0)),
        Claim::new(
            "SFPU: ±finite × ±Inf = ±Inf",
            "Zero is the exception that the page lists itself; a subnormal number is one more, since it counts as zero.",
        )
        .case("0.5 · inf + 0", is_infinite, fma(bits(0.5), INFINITY, 0))
        .case("-3 · inf + 0", is_minus, fma(bits(-3.0), INFINITY, 0))
        .case("2^-127 · inf + 0", is_infinite, fma(0x0040_0000, INFINITY, 0)),
        Claim::new("SFPU: Inf + Inf = +Inf, -Inf - Inf = -Inf", "")
            .case("1 · inf + inf", is_infinite, fma(bits(1.0), INFINITY, INFINITY))
            .case("1 · -inf + -inf", is_minus, fma(bits(1.0), MINUS, MINUS)),
        Claim::new("SFPU: 0 × Inf = NaN, +Inf - Inf = NaN", "Which NaN differs between the machines.")
            .case("0 · inf + 0", is_nan, fma(0, INFINITY, 0))
            .case("1 · inf - inf", is_nan, fma(bits(1.0), INFINITY, MINUS)),
        Claim::new(
            "SFPU: operations that are not listed treat NaN as an ordinary number",
            "NaN operands give NaN, as IEEE 754 says.",
        )
        .case("7fc00000 · 0.5 + 0", |word| !is_nan(word), fma(0x7fc0_0000, bits(0.5), 0))
        .case("1 · 1 + 7fc00000", |word| !is_nan(word), fma(bits(1.0), bits(1.0), 0x7fc0_0000)),
    ]
}

/// The status bits after an operation on tiles.
fn flags_of(machine: &Machine, operation: impl Fn(&mut Core<'_>)) -> u32 {
    let setting = CoreSetting {
        a: SourceFormat::Tf32,
        b: SourceFormat::Tf32,
        width: Width::Bits32,
        fidelity: Fidelity::LoFi,
    };
    let mut core = Core::new(machine, setting).unwrap();
    operation(&mut core);
    core.sticky().read().into()
}

fn of_lanes(machine: &Machine, words: [u32; 3]) -> u32 {
    let mut sticky = StickyFlags::default();
    machine.multiply_add_lanes(&[words], &mut sticky);
    sticky.read().into()
}

fn detections() -> Vec<Claim> {
    let tile = |x: f32| Tile::filled(source(x));
    let has = |flag: Flag| 1_u32 << flag.bit();
    assert_eq!(
        [
            has(Flag::FpuOverflow),
            has(Flag::FpuUnderflow),
            has(Flag::SfpuNan)
        ],
        [32, 64, 8]
    );
    vec![
        Claim::new(
            "Infinity and overflow at the output of the FPU set bit 5",
            "When exactly is assumed.",
        )
        .case(
            "2^127 · 2",
            |flags| flags == 32,
            |m| {
                flags_of(m, |core| {
                    core.mul_tiles(&tile(2_f32.powi(127)), &tile(2.0), 0)
                        .unwrap()
                })
            },
        ),
        Claim::new(
            "NaN is detected at the output of the FPU",
            "The FPU makes no NaN and takes NaN for a number: what a NaN operand leaves is seen only where it overflows.",
        )
        .case("7fc00000 · 1", |flags| flags == 32, |m| {
            flags_of(m, |core| {
                core.mul_tiles(&Tile::filled(0x7fc0_0000 >> 13), &tile(1.0), 0).unwrap()
            })
        })
        .case("7fc00000 · 0.5", |flags| flags != 0, |m| {
            flags_of(m, |core| {
                core.mul_tiles(&Tile::filled(0x7fc0_0000 >> 13), &tile(0.5), 0).unwrap()
            })
        }),
        Claim::new(
            "Exponent underflow at the output of the FPU sets bit 6",
            "When exactly is assumed.",
        )
        .case(
            "2^-126 · 0.5",
            |flags| flags == 64,
            |m| {
                flags_of(m, |core| {
                    core.mul_tiles(&tile(2_f32.powi(-126)), &tile(0.5), 0)
                        .unwrap()
                })
            },
        ),
        Claim::new(
            "Saturation of an int32 sum at the FPU sets bit 4",
            "When exactly is assumed.",
        )
        .case(
            "2^31 - 1 + (1 + 1)",
            |flags| flags == 16,
            |_| {
                let one = int8_to_source(1, false);
                u32::from(integer_add(one, one, 0x7fff_ffff).saturated) << Flag::FpuSaturation.bit()
            },
        ),
        Claim::new(
            "Overflow of an int32 addition at the SFPU sets bit 0",
            "When exactly is assumed.",
        )
        .case(
            "7fffffff + 1",
            |flags| flags == 1,
            |_| {
                let mut sticky = StickyFlags::default();
                add_integers(0x7fff_ffff, 1, &mut sticky);
                sticky.read().into()
            },
        ),
        Claim::new("Bits are ORed between all lanes", "").case(
            "one lane 0 · inf + 0, one 2^127 · 2 + 0, one 1 · 1 + 0",
            |flags| flags == 12,
            |m| {
                let mut sticky = StickyFlags::default();
                let two = [bits(2_f32.powi(127)), bits(2.0), 0];
                let lanes = [[0, INFINITY, 0], two, [bits(1.0), bits(1.0), 0]];
                m.multiply_add_lanes(&lanes, &mut sticky);
                sticky.read().into()
            },
        ),
        Claim::new("Bits are sticky until they are cleared explicitly", "")
            .case(
                "2^127 · 2, then 1 · 1",
                |flags| flags == 32,
                |m| {
                    flags_of(m, |core| {
                        core.mul_tiles(&tile(2_f32.powi(127)), &tile(2.0), 0).unwrap();
                        core.mul_tiles(&tile(1.0), &tile(1.0), 1).unwrap();
                    })
                },
            )
            .case(
                "the same, then 0 is written",
                |flags| flags == 0,
                |m| {
                    let mut sticky = StickyFlags::default();
                    m.multiply_add_lanes(&[[bits(2_f32.powi(127)), bits(2.0), 0]], &mut sticky);
                    sticky.clear();
                    sticky.read().into()
                },
            ),
        Claim::new(
            "If inputs are filtered, specials were already caught at the outputs of earlier operations",
            "An overflow is, at the output that made it; what a later operation makes of that infinity may leave no further trace.",
        )
        .case(
            "2^127 · 2",
            |flags| flags == 32,
            |m| {
                flags_of(m, |core| {
                    core.mul_tiles(&tile(2_f32.powi(127)), &tile(2.0), 0)
                        .unwrap()
                })
            },
        ),
        Claim::new(
            "NaN, infinity and denormals at the output of the SFPU set bits 3, 2, 1",
            "When exactly is assumed.",
        )
        .case(
            "0 · inf + 0",
            |flags| flags == 8,
            |m| of_lanes(m, [0, INFINITY, 0]),
        )
        .case(
            "2^127 · 2 + 0",
            |flags| flags == 4,
            |m| of_lanes(m, [bits(2_f32.powi(127)), bits(2.0), 0]),
        )
        .case(
            "2^-126 · 0.5 + 0",
            |flags| flags == 2,
            |m| of_lanes(m, [0x0080_0000, bits(0.5), 0]),
        ),
        Claim::new(
            "Special numbers that are operands only are not detected",
            "",
        )
        .case(
            "0.5 · inf on the FPU",
            |flags| flags == 0,
            |m| {
                flags_of(m, |core| {
                    core.mul_tiles(&tile(0.5), &tile(f32::INFINITY), 0).unwrap()
                })
            },
        ),
        Claim::new(
            "Special intermediate results that do not reach the output are not detected",
            "",
        )
        .case(
            "inf - inf on the FPU",
            |flags| flags == 0,
            |m| {
                flags_of(m, |core| {
                    core.sub_tiles(&tile(f32::INFINITY), &tile(f32::INFINITY), 0, false)
                        .unwrap();
                })
            },
        ),
    ]
}

fn write(page: &mut String, claims: &[Claim], width: usize) {
    page.push_str(
        "\n| the page says | asked | Wormhole | Blackhole | verdict |\n|---|---|---|---|---|\n",
    );
    for claim in claims {
        for (index, case) in claim.cases.iter().enumerate() {
            let [first, second] = case.answers.map(|word| format!("`{word:0width$x}`"));
            let (says, verdict) = match index {
                0 => (claim.says, format!("**{}**", claim.verdict())),
                _ => ("", String::new()),
            };
            writeln!(
                page,
                "| {says} | {} | {first} | {second} | {verdict} |",
                case.asked
            )
            .unwrap();
        }
    }
    for claim in claims.iter().filter(|claim| !claim.remark.is_empty()) {
        writeln!(page, "\n* *{}:* {}", claim.says, claim.remark).unwrap();
    }
}

fn page() -> String {
    let mut page = String::from(
        "# Tensix: special values, the vendor's page and the model

The vendor's page on special values (tt-metal, `tech_reports/Handling_Special_Value`) says what Tensix does with
NaN, infinities and subnormal numbers. Below is every claim of it, what the model of this project answers, and
whether the claim holds. The model is bit-exact to the vendor's simulator (ttsim v1.10.0), not to silicon. Words are
hexadecimal; products on the FPU have one phase (LoFi), sources are tf32, Dst is f32 where nothing else is said.

This file is generated by `cargo test -p mmascope-model --test tensix specials` (with `MMASCOPE_WRITE=1` it is
written); the test fails when it is stale.

## Bit patterns
",
    );
    write(&mut page, &patterns(), 8);
    page.push_str("\n## Operations\n");
    write(&mut page, &operations(), 8);
    page.push_str(
        "\n## Detection\n\nThe answers are the sticky register after the operation. No source says under which conditions a
bit is set, and the vendor's simulator does not model the register: the conditions are **assumed**.\n",
    );
    write(&mut page, &detections(), 3);
    writeln!(
        page,
        "\n| bit | the page says | assumed here |\n|---|---|---|"
    )
    .unwrap();
    for flag in Flag::ALL {
        writeln!(
            page,
            "| {} | {} | {} |",
            flag.bit(),
            flag.words(),
            flag.assumed()
        )
        .unwrap();
    }
    writeln!(
        page,
        "
* *Address:* the page has `0xffb1200 | 0x0B4`, which lacks a digit. `{STICKY_NAME}` is at `{STICKY_ADDRESS:#010x}`.
* *Order of bits 5 and 6:* another report (tt-metal issue 11239) reads as overflow in bit 6 and underflow in bit 5.
  The page's order is used here.
* *More bits:* the same report has bits 7 to 10 (accumulation in L1, integer saturation). The page does not, and no
  condition is known; they are not modelled.
* *Not known:* whether zero operands count as underflow, whether events inside a sum count, which operations of
  the SFPU are watched beside the multiply-add, whether disabled lanes count, whether a result whose exponent field
  is 255 counts where nothing overflowed (the model sets bit 5: a Dst that is infinity, plus 0).

## What the page does not say

Rounding, the order of sums, fidelity phases, block formats, integer modes, what packers do, and differences between
the chips. `docs/tensix.md` has them. The simulator and the vendor's other documents differ on these points, and the
model follows the simulator: whether SFPSTORE flushes subnormal f32 numbers (it does), whose format masks the low
bits of SrcB (its own), and whether sums for a Dst of 16 bits are truncated (they are rounded twice). The vendor's page
on its matrix engine says that HiFi2 and HiFi4 take \"the hidden bit and the next 4 bits\" of SrcA and 6 bits of SrcB; the
instruction set's documents, the kernels and the simulator say the next 5 bits, without the hidden one, and the next 4, and so
does the model. GMPOOL compares with \"at least\" in one and with \"more than\" in the other, which gives the same value."
    )
    .unwrap();
    page
}

#[test]
fn the_page_on_special_values_is_not_stale() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tensix-specials.md");
    let page = page();
    if std::env::var_os("MMASCOPE_WRITE").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == page,
        "docs/tensix-specials.md is stale: run with MMASCOPE_WRITE=1"
    );
}

/// §11 of the specification: which claims hold.
#[test]
fn verdicts() {
    let of = |claims: &[Claim], says: &str| {
        let claim = claims
            .iter()
            .find(|claim| claim.says.starts_with(says))
            .unwrap();
        claim.verdict()
    };
    let (patterns, operations) = (patterns(), operations());
    assert_eq!(of(&patterns, "f32 and bf16: +Inf"), "holds");
    assert_eq!(of(&patterns, "f32 and bf16: +NaN"), "does not hold");
    assert_eq!(of(&patterns, "f16: +Inf"), "does not hold");
    assert_eq!(of(&patterns, "denormals"), "holds in part");
    assert_eq!(of(&operations, "FPU: ±Inf"), "holds in part");
    for held in [
        "FPU: Inf + Inf",
        "FPU: operations",
        "SFPU: ±Inf",
        "SFPU: Inf + Inf",
        "SFPU: 0",
    ] {
        assert_eq!(of(&operations, held), "holds", "{held}");
    }
    assert_eq!(of(&operations, "FPU: ±finite"), "holds in part");
    assert_eq!(of(&operations, "SFPU: ±finite"), "holds in part");
    assert_eq!(of(&operations, "SFPU: operations"), "does not hold");
    assert_eq!(of(&patterns, "f32 and bf16: -NaN"), "does not hold");
    assert_eq!(of(&patterns, "f16: -Inf"), "does not hold");
    assert_eq!(of(&patterns, "f16: +NaN"), "does not hold");
    assert_eq!(of(&operations, "Inf or NaN + a normal"), "holds in part");
    assert_eq!(of(&operations, "Inf or NaN + a really"), "holds");
    for claim in detections() {
        let expected = match claim.says.starts_with("NaN is detected") {
            true => "holds in part",
            false => "holds",
        };
        assert_eq!(claim.verdict(), expected, "{}", claim.says);
    }
}
