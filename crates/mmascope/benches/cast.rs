//! Casts of slices, one thread: f32 to narrow formats and back, beside a copy of the source.
//!
//! `cargo bench -p mmascope --bench cast`; the table of `docs/precision.md` is from here.

#![allow(missing_docs)] // the macros of criterion make undocumented items

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mmascope::array::Words;
use mmascope::cast;
use mmascope::format::{F32, Format};
use mmascope::precision::cast::{Cast, CastOptions, OutOfRange};

/// Elements: source and target stay in the second cache.
const COUNT: usize = 1 << 15;

/// Numbers of an N(0, 1)-like spread, and one in 64 any word.
fn singles() -> Vec<u32> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..COUNT)
        .map(|index| match index % 64 {
            0 => next() as u32,
            _ => (next() as i32 as f32 / 1e9).to_bits(),
        })
        .collect()
}

fn casts(c: &mut Criterion) {
    let singles = singles();
    let mut group = c.benchmark_group("cast");
    group.throughput(Throughput::Elements(COUNT as u64));
    let mut copy = vec![0_u32; COUNT];
    group.bench_function("copy of f32", |bench| {
        bench.iter(|| copy.copy_from_slice(black_box(&singles)));
    });
    let words = Words::from(singles);
    for name in ["e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "f16", "bf16"] {
        let format = Format::named(name).unwrap_or(F32);
        let options = CastOptions {
            overflow: Some(OutOfRange::SatFinite),
            ..CastOptions::default()
        };
        let (Ok(to), Ok(back)) = (
            Cast::new(F32, format, &options),
            Cast::new(format, F32, &CastOptions::default()),
        ) else {
            continue;
        };
        let Ok(codes) = cast::words(&to, &words) else {
            continue;
        };
        group.bench_function(format!("f32 -> {name}"), |bench| {
            match (&words, codes.clone()) {
                (Words::U32(from), Words::U8(mut to_words)) => {
                    bench.iter(|| cast::slice(&to, black_box(from), &mut to_words));
                }
                (Words::U32(from), Words::U16(mut to_words)) => {
                    bench.iter(|| cast::slice(&to, black_box(from), &mut to_words));
                }
                _ => {}
            }
        });
        let mut singles = vec![0_u32; COUNT];
        group.bench_function(format!("{name} -> f32"), |bench| match &codes {
            Words::U8(from) => bench.iter(|| cast::slice(&back, black_box(from), &mut singles)),
            Words::U16(from) => bench.iter(|| cast::slice(&back, black_box(from), &mut singles)),
            _ => {}
        });
    }
    group.finish();
}

criterion_group!(benches, casts);
criterion_main!(benches);
