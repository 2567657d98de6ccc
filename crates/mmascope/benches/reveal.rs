//! Revealing beside FPRev's algorithm 4: calls, measurements and time, as a table in Markdown.
//!
//! `cargo bench --bench reveal`; with OpenBLAS: `MMASCOPE_BLAS=libopenblas.so.0`.

use std::time::{Duration, Instant};

use mmascope::reveal::{Algorithm, Blas, RevealOptions, SliceSum, Summation, reveal};

/// Points whose algorithm 4 would take longer are extrapolated from one measurement's time.
const CAP: Duration = Duration::from_secs(60);

fn sequential(x: &[f32]) -> f32 {
    x.iter().fold(0.0, |sum, x| sum + x)
}

fn right_to_left(x: &[f32]) -> f32 {
    x.iter().rev().fold(0.0, |sum, x| sum + x)
}

fn pairwise(x: &[f32]) -> f32 {
    match x {
        [] => 0.0,
        [one] => *one,
        _ => {
            let (left, right) = x.split_at(x.len() / 2);
            pairwise(left) + pairwise(right)
        }
    }
}

fn strided(x: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 8];
    for chunk in x.chunks(8) {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane += x;
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

fn run(subject: &mut dyn Summation, algorithm: Algorithm) -> (u64, u64, Duration) {
    let options = RevealOptions {
        algorithm,
        verify: false,
        ..RevealOptions::default()
    };
    let start = Instant::now();
    let report = reveal(subject, &options).expect("the subject works");
    assert!(report.holds(), "{}: {}", report.subject, report.verdict());
    (report.calls, report.measurements, start.elapsed())
}

/// Time of one masked input.
fn one(subject: &mut dyn Summation) -> Duration {
    let units = vec![1.0; subject.leaves()];
    let query = mmascope::reveal::Query {
        plus: Some(0),
        minus: Some(1),
        only: None,
    };
    let count = 64;
    let start = Instant::now();
    subject
        .measure(&units, &vec![query; count])
        .expect("the subject works");
    start.elapsed() / count as u32
}

/// Measurements of algorithm 4 when known beforehand.
fn row(subject: &mut dyn Summation, known: Option<u64>) {
    let n = subject.leaves();
    let (calls, measurements, time) = run(subject, Algorithm::Pivot);
    let each = one(subject) * u32::try_from(subject.capacity()).unwrap_or(1);
    let expected = known.map(|count| each.as_secs_f64() * count as f64);
    let (theirs, theirs_time, note) = match (known, expected) {
        (Some(count), Some(expected)) if expected > CAP.as_secs_f64() / 3.0 => {
            (count, expected, " (extrapolated)")
        }
        _ => {
            let (calls, _, time) = run(subject, Algorithm::Fprev);
            (calls, time.as_secs_f64(), "")
        }
    };
    println!(
        "| {} | {n} | {calls} | {measurements} | {:.4} | {theirs} | {theirs_time:.4}{note} | {:.1} |",
        subject.name(),
        time.as_secs_f64(),
        theirs as f64 / calls as f64
    );
}

fn main() {
    println!(
        "| subject | n | calls | measurements | s | FPRev 4: calls | s | calls saved, times |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    type Sum = fn(&[f32]) -> f32;
    let sums: [(&str, Sum); 4] = [
        ("sequential", sequential),
        ("pairwise", pairwise),
        ("8-way strided", strided),
        ("right to left", right_to_left),
    ];
    for (name, sum) in sums {
        for n in [64, 256, 1024, 4096, 16384] {
            let known = (name == "right to left").then(|| (n * (n - 1) / 2) as u64);
            row(&mut SliceSum::new(name, n, sum), known);
        }
    }
    if let Ok(path) = std::env::var("MMASCOPE_BLAS") {
        for symbol in ["cblas_sgemm", "cblas_dgemm", "cblas_sgemv"] {
            for n in [64, 256, 512, 1024, 4096] {
                let mut blas = Blas::load(&path, symbol, n).expect("the library");
                row(&mut blas, None);
            }
        }
    }
    // The target: at most 5 times as long as n plain evaluations.
    let n = 16384;
    let input = vec![1.0_f32; n];
    let start = Instant::now();
    for _ in 0..n {
        std::hint::black_box(sequential(std::hint::black_box(&input)));
    }
    let plain = start.elapsed();
    let (_, _, time) = run(
        &mut SliceSum::new("sequential", n, sequential),
        Algorithm::Pivot,
    );
    println!(
        "\nsequential, n = {n}: {:.3} s; {n} plain evaluations {:.3} s; ratio {:.2}",
        time.as_secs_f64(),
        plain.as_secs_f64(),
        time.as_secs_f64() / plain.as_secs_f64()
    );
}
