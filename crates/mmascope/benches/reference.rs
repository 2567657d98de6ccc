//! Speed of the reference: dot products a second, one thread, by algorithm.
#![allow(missing_docs)] // the macros of criterion make undocumented items

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mmascope::dpa::{Modifiers, Operands};
use mmascope::isa::Catalogue;

/// One row for each algorithm.
const ROWS: [(&str, &str); 9] = [
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
];

fn reference(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("reference");
    for (arch, inst) in ROWS {
        let row = Catalogue::built_in()
            .find(arch, inst)
            .expect("a row of the catalogue");
        let signature = &row.signature;
        // Register words of moderate, different magnitudes in every format.
        let word = |format: &mmascope::format::Format, index: usize| {
            let middle = format.mask() / 3;
            let spread = index as u64 * 2_654_435_761;
            format.to_register(middle ^ (spread & (format.mask() >> 4)))
        };
        let vector = |format: &mmascope::format::Format, n: usize| {
            (0..n).map(|i| word(format, i)).collect::<Vec<_>>()
        };
        let (a, b) = (
            vector(&signature.a, signature.k),
            vector(&signature.b, signature.k),
        );
        let scales = signature
            .scale
            .map_or(Vec::new(), |s| vector(&s.format, signature.scales()));
        let operands = Operands {
            a: &a,
            b: &b,
            c: 0,
            scale_a: &scales,
            scale_b: &scales,
        };
        group.throughput(Throughput::Elements(1));
        group.bench_function(format!("{arch} {inst}"), |bencher| {
            bencher.iter(|| row.dot(std::hint::black_box(&operands), &Modifiers::default()));
        });
    }
    group.finish();
}

criterion_group!(benches, reference);
criterion_main!(benches);
