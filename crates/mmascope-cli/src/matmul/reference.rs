//! Says by which method a unit's products are computed, and before it starts how long one takes that has no kernel.

use std::time::{Duration, Instant};

use crate::report::{self, Failure};
use mmascope::dpa::{Modifiers, Operands, Unit};
use mmascope::gemm;

/// A shorter product needs no warning.
const SHORT: f64 = 0.1;
/// How long the reference is timed.
const TIMED: Duration = Duration::from_millis(20);

/// A warning where the reference computes so many steps and that takes a while.
pub(super) fn warn(unit: &Unit, steps: u64) -> Result<(), Failure> {
    let Err(reason) = gemm::engine()?.plan(unit) else {
        return Ok(());
    };
    let threads = rayon::current_num_threads().max(1) as f64;
    let seconds = seconds_a_step(unit) * steps as f64 / threads;
    if seconds >= SHORT {
        report::tell(format!(
            "no kernel computes this unit ({reason}): the reference does, in about {}",
            duration(seconds)
        ));
    }
    Ok(())
}

/// By which method the engine computes a unit's products.
pub(super) fn method(unit: &Unit) -> Result<String, Failure> {
    let plan = gemm::engine()?.plan(unit);
    Ok(plan.map_or_else(|_| "the reference".to_owned(), |plan| plan.to_string()))
}

/// Seconds of a step of the reference, on operands of all bit patterns.
fn seconds_a_step(unit: &Unit) -> f64 {
    let signature = unit.signature();
    let word = |bits: u32, index: usize| {
        let mixed = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed >> (64 - bits.clamp(1, 64))
    };
    let words = |bits: u32, count: usize| (0..count).map(|at| word(bits, at)).collect::<Vec<_>>();
    let (a, b) = (
        words(signature.a.bits, signature.k),
        words(signature.b.bits, signature.k),
    );
    let scales = vec![127; signature.scales()];
    let operands = Operands {
        a: &a,
        b: &b,
        c: 0,
        scale_a: &scales,
        scale_b: &scales,
    };
    let begun = Instant::now();
    let mut count = 0_u32;
    while begun.elapsed() < TIMED {
        if unit.dot(&operands, &Modifiers::default()).is_err() {
            return 0.0;
        }
        count += 1;
    }
    begun.elapsed().as_secs_f64() / f64::from(count.max(1))
}

/// A time in the unit that people would name.
fn duration(seconds: f64) -> String {
    match seconds {
        ..90.0 => format!("{seconds:.1} s"),
        ..5400.0 => format!("{:.0} minutes", seconds / 60.0),
        _ => format!("{:.1} hours", seconds / 3600.0),
    }
}
