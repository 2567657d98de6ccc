//! Speed of the reference: dot products a second, one thread, by algorithm.
#![allow(missing_docs)] // the macros of criterion make undocumented items

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mmascope::cases::{Family, Generator};
use mmascope::dpa::Modifiers;
use mmascope::dpa::OperandWords;
use mmascope::isa::Catalogue;

/// One row for each algorithm, and a lowered one of several statements.
const ROWS: [(&str, &str); 10] = [
    ("hopper", "mma.m16n8k16.f32.f16.f16.f32"),
    ("hopper", "wgmma.m64n8k32.f32.e4m3.e4m3"),
    (
        "blackwell",
        "tcgen05.mma.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
    ),
    ("cdna1", "v_mfma_f32_16x16x16_f16"),
    ("cdna1", "v_mfma_f32_16x16x8_bf16"),
    ("cdna2", "v_mfma_f32_16x16x16_f16"),
    ("cdna3", "v_mfma_f32_16x16x16_f16"),
    ("cdna3", "v_mfma_f32_32x32x16_fp8_fp8"),
    ("hopper", "mma.m16n8k16.f64.f64.f64.f64"),
    ("hopper", "mma.m16n8k32.f32.e4m3.e4m3.f32"),
];

/// Different inputs, so that no processor learns their branches by heart.
const INPUTS: u64 = 256;

fn reference(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("reference");
    for (arch, inst) in ROWS {
        let row = Catalogue::built_in()
            .find(arch, inst)
            .expect("a row of the catalogue");
        let unit = row.unit().expect("a modelled row");
        let generator = Generator::for_unit(Family::Normal, 1, unit).expect("a family of the unit");
        let cases: Vec<OperandWords> = (0..INPUTS).map(|index| generator.case(index)).collect();
        let mut next = cases.iter().cycle();
        // Elements are products: 16 million of them a second are 1 million K=16 dot products.
        group.throughput(Throughput::Elements(row.signature.k as u64));
        group.bench_function(format!("{arch} {inst}"), |bencher| {
            bencher.iter(|| {
                let case = next.next().expect("a cycle has no end");
                unit.dot(black_box(&case.operands()), &Modifiers::default())
            });
        });
    }
    group.finish();
}

criterion_group!(benches, reference);
criterion_main!(benches);
