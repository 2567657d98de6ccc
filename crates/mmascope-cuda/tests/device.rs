//! Device code on a chip in C++: the generator of cases makes the same bits, instructions are devices like any other, trials
//! find one wrong bit, and a layout that is another reports nothing.

mod emulated;

use emulated::{EmulatedChip, has_compiler};
use mmascope_cuda::chip::{Argument, Chip};
use mmascope_cuda::dut::CudaDut;
use mmascope_cuda::trial::{Trial, compare_row};
use mmascope_io::vector::Answer;
use mmascope_lab::cases::{Family, Generator};
use mmascope_lab::device_code::OperandSource;
use mmascope_lab::dut::{Batch, Dut, ModelDut};
use mmascope_lab::validate::{State, ValidationPlan, validate};
use mmascope_model::dpa::Unit;
use mmascope_model::isa::{Catalogue, Instruction};

fn row(arch: &str, inst: &str) -> &'static Instruction {
    Catalogue::built_in().find(arch, inst).expect("a row")
}

fn unit(arch: &str, inst: &str) -> &'static Unit {
    row(arch, inst).unit().expect("a unit")
}

/// One unit of every kind of format and scale.
const UNITS: [(&str, &str); 9] = [
    ("hopper", "mma.m16n8k16.f32.f16.f16.f32"),
    ("hopper", "mma.m16n8k8.f32.tf32.tf32.f32"),
    ("ampere", "mma.m16n8k16.f16.f16.f16.f16"),
    ("hopper", "mma.m16n8k16.f64.f64.f64.f64"),
    ("ada", "mma.m16n8k32.f32.e4m3.e5m2.f32"),
    ("cdna3", "v_mfma_f32_32x32x16_fp8_bf8"),
    (
        "rtx-blackwell",
        "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e3m2.e2m1.f32.ue8m0",
    ),
    (
        "rtx-blackwell",
        "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
    ),
    ("ampere", "mma.m16n8k32.s32.s8.u8.s32"),
];

const DUMP: &str = "
extern \"C\" __global__ void dump(word family, word seed, word first, word count, word *to) {
  const word t = (word)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= count) return;
  Case own;
  make_case((int)family, seed, first + t, own);
  to += t * (2 * PRODUCTS + 1 + 2 * SCALE_COUNT);
  for (int k = 0; k < PRODUCTS; k++) *to++ = own.a[k];
  for (int k = 0; k < PRODUCTS; k++) *to++ = own.b[k];
  *to++ = own.c;
  for (int j = 0; j < SCALE_COUNT; j++) *to++ = own.scale_a[j];
  for (int j = 0; j < SCALE_COUNT; j++) *to++ = own.scale_b[j];
}
";

/// The third implementation of docs/generator.md: every family, also far out, and with the last bits of seeds and indices.
#[test]
fn the_chip_makes_the_same_cases() {
    if !has_compiler() {
        return;
    }
    for (arch, inst) in UNITS {
        let unit = unit(arch, inst);
        let source = Generator::for_unit(Family::Bits, 0, unit)
            .expect("a generator")
            .device_source();
        let chip = EmulatedChip::new(80);
        let text = format!("typedef unsigned long long word;\n{source}{DUMP}");
        let mut loaded = chip.load(&text, false).expect("compiles");
        let (k, scales) = (unit.signature().k, unit.signature().scales());
        let (count, wide) = (4000, 2 * k + 1 + 2 * scales);
        let memory = loaded.allocate(count * wide * 8).expect("memory");
        for (number, family) in Family::ALL.into_iter().enumerate() {
            for (seed, first) in [
                (1, 0),
                (u64::MAX - 5, u64::MAX / 3),
                (0x1234_5678_9abc_def0, (1 << 32) - 100),
            ] {
                let Ok(generator) = Generator::for_unit(family, seed, unit) else {
                    continue;
                };
                let arguments = [
                    Argument::Word(number as u64),
                    Argument::Word(seed),
                    Argument::Word(first),
                    Argument::Word(count as u64),
                    Argument::Memory(memory),
                ];
                loaded
                    .launch("dump", (count as u32).div_ceil(64), 64, &arguments)
                    .expect("runs");
                let mut bytes = vec![0; count * wide * 8];
                loaded.read(memory, &mut bytes).expect("reads");
                for (at, own) in bytes.chunks(wide * 8).enumerate() {
                    let words = |range: std::ops::Range<usize>| -> Vec<u64> {
                        own[range.start * 8..range.end * 8]
                            .chunks(8)
                            .map(|word| u64::from_le_bytes(word.try_into().expect("eight")))
                            .collect()
                    };
                    let case = generator.case(first.wrapping_add(at as u64));
                    let where_ = format!("{arch} {inst} {family} seed {seed} index {first} + {at}");
                    assert_eq!(words(0..k), case.a, "a of {where_}");
                    assert_eq!(words(k..2 * k), case.b, "b of {where_}");
                    assert_eq!(words(2 * k..2 * k + 1), [case.c], "c of {where_}");
                    assert_eq!(
                        words(2 * k + 1..2 * k + 1 + scales),
                        case.scale_a,
                        "scales of a of {where_}"
                    );
                    assert_eq!(
                        words(2 * k + 1 + scales..wide),
                        case.scale_b,
                        "scales of b of {where_}"
                    );
                }
            }
        }
    }
}

/// Instructions of every family with their registers, memory and scales.
const INSTRUCTIONS: [(&str, u32, &str, OperandSource); 14] = [
    (
        "hopper",
        90,
        "mma.m16n8k16.f32.f16.f16.f32",
        OperandSource::Shared,
    ),
    (
        "ampere",
        80,
        "mma.m16n8k16.f16.f16.f16.f16",
        OperandSource::Shared,
    ),
    (
        "hopper",
        90,
        "mma.m16n8k8.rz.f64.f64.f64.f64",
        OperandSource::Shared,
    ),
    (
        "volta",
        70,
        "mma.m8n8k4.f32.f16.f16.f32",
        OperandSource::Shared,
    ),
    (
        "ada",
        89,
        "mma.m16n8k32.f32.e4m3.e5m2.f32",
        OperandSource::Shared,
    ),
    (
        "rtx-blackwell",
        120,
        "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
        OperandSource::Shared,
    ),
    (
        "ampere",
        80,
        "mma.m16n8k32.satfinite.s32.s8.u8.s32",
        OperandSource::Shared,
    ),
    (
        "turing",
        75,
        "mma.m8n8k128.s32.b1.b1.s32.xor.popc",
        OperandSource::Shared,
    ),
    (
        "ampere",
        80,
        "wmma.m16n16k16.f32.bf16.bf16.f32",
        OperandSource::Shared,
    ),
    (
        "turing",
        75,
        "wmma.m8n8k32.s32.u4.u4.s32",
        OperandSource::Shared,
    ),
    (
        "hopper",
        90,
        "wgmma.m64n8k32.f32.e4m3.e5m2",
        OperandSource::Shared,
    ),
    (
        "hopper",
        90,
        "wgmma.m64n8k16.f32.f16.f16",
        OperandSource::Registers,
    ),
    (
        "blackwell",
        100,
        "tcgen05.mma.m128n16k32.kind::i8.satfinite.s32.s8.u8",
        OperandSource::Shared,
    ),
    ("volta", 70, "dp4a.s32.u32", OperandSource::Shared),
];

/// A device of each: answers single dot products and tiles as its model does, and validates.
#[test]
fn instructions_are_devices() {
    if !has_compiler() {
        return;
    }
    for (arch, sm, inst, from) in INSTRUCTIONS {
        let row = row(arch, inst);
        let unit = row.unit().expect("a unit");
        let chip = EmulatedChip::new(sm).with_model(unit).unchecked();
        let mut device = CudaDut::new("cuda:0", &chip, row, from)
            .unwrap_or_else(|error| panic!("{inst}: {error}"));
        let mut batch = Batch::new(*unit.signature());
        for family in [Family::Bits, Family::Stress, Family::Close] {
            let generator = Generator::for_unit(family, 3, unit).expect("a generator");
            for index in 0..25 {
                batch.push(&generator.case(index).operands()).expect("fits");
            }
        }
        let answers = device
            .run(&batch)
            .unwrap_or_else(|error| panic!("{inst}: {error}"));
        let expected = ModelDut::new("model", unit.clone())
            .run(&batch)
            .expect("answers");
        assert_eq!(answers.len(), expected.len());
        for (at, (got, expected)) in answers.iter().zip(&expected).enumerate() {
            let Answer::Word(got) = *got else {
                panic!("a chip gives words");
            };
            let agrees = match *expected {
                Answer::Word(expected) => unit.agrees(expected, got),
                Answer::AnyNan => unit.is_nan(got),
            };
            assert!(agrees, "{inst} {at}: {got:x}, the model {expected}");
        }
        let plan = ValidationPlan {
            families: vec![Family::Normal],
            seed: 1,
        };
        let mut state = State::new(&plan, unit).expect("a state");
        validate(&mut device, unit, &mut state, 500, &mut |_| true).expect("validates");
        assert_eq!((state.trials(), state.mismatches()), (500, 0), "{inst}");
    }
}

/// A tile whose sides are no multiples of the instruction's.
#[test]
fn tiles_of_any_size() {
    use mmascope_gemm::array::Words;
    use mmascope_gemm::gemm::{Matrices, Matrix};
    if !has_compiler() {
        return;
    }
    let row = row(
        "rtx-blackwell",
        "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
    );
    let unit = row.unit().expect("a unit");
    let signature = unit.signature();
    let generator = Generator::for_unit(Family::Normal, 5, unit).expect("a generator");
    let (m, n) = (21, 13);
    let cases: Vec<_> = (0..m).map(|index| generator.case(index as u64)).collect();
    let matrix = |rows: usize, columns: usize, format, words: Vec<u64>| {
        Matrix::row_major(rows, columns, Words::of(format, words).expect("words"))
            .expect("a matrix")
    };
    let scale = signature.scale.expect("scales");
    let a = matrix(
        m,
        64,
        &signature.a,
        cases.iter().flat_map(|case| case.a.clone()).collect(),
    );
    let b = matrix(
        n,
        64,
        &signature.b,
        cases[..n].iter().flat_map(|case| case.b.clone()).collect(),
    )
    .transposed();
    let c: Vec<u64> = (0..m * n).map(|at| cases[(at * 7) % m].c).collect();
    let tile = Matrices::new(a, b)
        .expect("operands")
        .with_c(matrix(m, n, &signature.c, c))
        .expect("operands");
    let of_a = matrix(
        m,
        4,
        &scale.format,
        cases.iter().flat_map(|case| case.scale_a.clone()).collect(),
    );
    let of_b = matrix(
        n,
        4,
        &scale.format,
        cases[..n]
            .iter()
            .flat_map(|case| case.scale_b.clone())
            .collect(),
    );
    let tile = tile.with_scales(of_a, of_b.transposed()).expect("operands");
    let chip = EmulatedChip::new(120).with_model(unit).unchecked();
    let mut device = CudaDut::new("cuda:0", &chip, row, OperandSource::Shared).expect("a device");
    let got = device.tile(&tile).expect("answers");
    let expected = ModelDut::new("model", unit.clone())
        .by_reference()
        .tile(&tile)
        .expect("answers");
    assert_eq!(got.len(), expected.len());
    for at in 0..got.len() {
        assert_eq!(got.get(at), expected.get(at), "element {at}");
    }
}

/// Nothing is reported of a chip whose layout is another.
#[test]
fn a_wrong_layout_reports_nothing() {
    if !has_compiler() {
        return;
    }
    for (inst, wrong) in [
        ("mma.m16n8k16.f32.f16.f16.f32", "transposed"),
        ("wgmma.m64n8k8.f32.tf32.tf32", "descriptor"),
    ] {
        let row = row("hopper", inst);
        let chip = EmulatedChip::new(90).wrong(wrong).unchecked();
        let Err(error) = CudaDut::new("cuda:0", &chip, row, OperandSource::Shared) else {
            panic!("{inst}: the layout was believed");
        };
        assert!(
            error.to_string().contains("does not hold on this chip"),
            "{error}"
        );
    }
}

/// A chip with the row's own arithmetic has no difference in any family; one with another's has, and each is a case by numbers.
#[test]
fn trials_compare_on_the_chip() {
    if !has_compiler() {
        return;
    }
    for (arch, sm, inst, from) in [
        (
            "hopper",
            90,
            "mma.m16n8k8.f32.f16.f16.f32",
            OperandSource::Shared,
        ),
        (
            "hopper",
            90,
            "wgmma.m64n8k16.f32.bf16.bf16",
            OperandSource::Registers,
        ),
        (
            "rtx-blackwell",
            120,
            "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e5m2.f32.ue8m0",
            OperandSource::Shared,
        ),
        (
            "ampere",
            80,
            "mma.m8n8k16.s32.s8.s8.s32",
            OperandSource::Shared,
        ),
        ("volta", 70, "dp4a.u32.s32", OperandSource::Shared),
    ] {
        let row = row(arch, inst);
        let chip = EmulatedChip::new(sm).with_model(row.unit().expect("a unit"));
        let mut trial = Trial::new("cuda:0", &chip, row, from)
            .unwrap_or_else(|error| panic!("{inst}: {error}"));
        for family in Family::ALL {
            let Ok(compared) = trial.compare(family, 7, 3, 2) else {
                assert!(family == Family::Exhaustive, "{inst} {family}");
                continue;
            };
            assert_eq!(compared.elements, 2 * trial.tile_elements());
            assert_eq!(
                compared.differences, 0,
                "{inst} {family}: {:?}",
                compared.examples
            );
        }
    }
    let row = row("hopper", "mma.m16n8k16.f32.f16.f16.f32");
    let chip = EmulatedChip::new(90)
        .with_model(row.unit().expect("a unit"))
        .unchecked();
    let mut told = 0;
    let report = compare_row(
        "cuda:0",
        &chip,
        row,
        OperandSource::Shared,
        [3_000, 1],
        &mut |elements| {
            told += elements;
            true
        },
    );
    let report = report.expect("compares");
    // 16-bit operands have too many pairs for all of them.
    assert_eq!((report.families.len(), report.left_out.len()), (7, 1));
    assert_eq!((report.elements(), report.differences()), (told, 0));
    assert!((3_000..5_000).contains(&told), "{told}");
    // Ampere's unit keeps one bit less.
    let own = Catalogue::built_in()
        .find("hopper", "mma.m16n8k8.f32.f16.f16.f32")
        .expect("a row");
    let chip = EmulatedChip::new(90).with_model(unit("ampere", "mma.m16n8k8.f32.f16.f16.f32"));
    let mut trial = Trial::new("cuda:0", &chip, own, OperandSource::Shared).expect("a trial");
    let compared = trial.compare(Family::Boundary, 1, 0, 8).expect("compares");
    assert!(compared.differences > 0 && !compared.examples.is_empty());
    let generator =
        Generator::for_unit(Family::Boundary, 1, own.unit().expect("a unit")).expect("a generator");
    for example in &compared.examples {
        let case = generator.crossed(example.row, example.column);
        let dot = |unit: &Unit| {
            unit.dot(&case.operands(), &Default::default())
                .expect("a dot")
        };
        assert_eq!(dot(own.unit().expect("a unit")), example.model);
        assert_eq!(
            dot(unit("ampere", "mma.m16n8k8.f32.f16.f16.f32")),
            example.device
        );
    }
}
