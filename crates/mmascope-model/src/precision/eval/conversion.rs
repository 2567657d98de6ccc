//! Conversions: what `cvt` makes of its operands is a [`Cast`]; packed ones convert each element.

use super::plan::{Plan, types};
use super::{Enclosure, Evaluator, order};
use crate::error::{Error, Result};
use crate::format::{BF16, Class, F32, Format, Kind, Rounding};
use crate::precision::cast::{Cast, CastOptions, CastPolicy, OutOfRange, Packing, RandomBits};
use crate::precision::resolve::Step;

impl Evaluator<'_> {
    /// A `cvt` on words that are known: one for each element, the uppermost first, then the random bits.
    pub(super) fn conversion(&self, step: &Step, words: &[u64]) -> Result<Enclosure> {
        let plan = Plan::of(step);
        let has = |word: &str| step.instruction.split('.').any(|part| part == word);
        let types = types(step);
        let (Some(&to), Some(&from)) = (types.first(), types.get(1)) else {
            return Err(unreadable(step));
        };
        if let [word] = words
            && let Some(nan) = nan_of_emulation(step, &from, *word)?
        {
            return Ok(Enclosure::known(nan));
        }
        let to_integral = ["rni", "rzi", "rmi", "rpi"].into_iter().any(has);
        let is_integer = |format: &Format| matches!(format.kind, Kind::Fixed { scale: 0 });
        if let ([x], true) = (words, to_integral && !is_integer(&to)) {
            return Ok(Enclosure::known(integral(
                &plan,
                &from,
                rounding(step),
                *x,
            )?));
        }
        let random = has("rs").then(|| words.last().copied()).flatten();
        let (rounding, values) = match random {
            Some(register) => {
                let bits = RandomBits::Register(register as u32).of(&to, 0).0;
                (bits.rounding(), &words[..words.len() - 1])
            }
            None => (rounding(step), words),
        };
        let options = CastOptions {
            rounding: Some(rounding),
            overflow: has("satfinite").then_some(OutOfRange::SatFinite),
            policy: Some(CastPolicy::Ptx),
            relu: has("relu"),
            sat: has("sat"),
            ftz: has("ftz"),
            pzo: has("pzo"),
        };
        let cast = Cast::new(from, to, &options)?;
        let one = |(place, &word): (usize, &u64)| {
            let Some(register) = random else {
                return Enclosure::known(cast.word(word));
            };
            let (slice, reversed) = RandomBits::Register(register as u32).of(&to, place);
            let out = cast.with_random(slice).word(word);
            match reversed.map(|slice| cast.with_random(slice).word(word)) {
                Some(other) if other != out => either(&to, out, other),
                _ => Enclosure::known(out),
            }
        };
        let elements: Vec<Enclosure> = values.iter().enumerate().map(one).collect();
        packed(step, &to, &elements)
    }
}

/// The NaN of a bf16 that other instructions round than a conversion to it; `None` for numbers and all other steps.
fn nan_of_emulation(step: &Step, from: &Format, word: u64) -> Result<Option<u64>> {
    let is_nan = from.decode(from.from_register(word)).class == Class::Nan;
    let Some(last) = step.emulation.last().filter(|_| step.format == BF16) else {
        return Ok(None);
    };
    if !is_nan {
        return Ok(None);
    }
    let options = CastOptions {
        policy: Some(CastPolicy::Ptx),
        ..CastOptions::default()
    };
    let single = Cast::new(*from, F32, &options)?.word(word);
    Ok(Some(match *last {
        // The upper half of an f32 that `or.b32` has made quiet.
        "shr.u32" => (single | 0x0040_0000) >> 16,
        _ => Cast::new(F32, BF16, &options)?.word(single),
    }))
}

/// Elements as one register, the first the uppermost.
pub(super) fn packed(step: &Step, format: &Format, elements: &[Enclosure]) -> Result<Enclosure> {
    let packing = match elements {
        [only] => return Ok(only.clone()),
        [_, _] => Packing::X2,
        [_, _, _, _] => Packing::X4,
        _ => return Err(unreadable(step)),
    };
    let register = |of: fn(&Enclosure) -> u64| {
        let words: Vec<u64> = elements.iter().map(of).collect();
        packing.pack(format, &words)
    };
    Ok(Enclosure {
        out: register(|element| element.out)?,
        lo: register(|element| element.lo)?,
        hi: register(|element| element.hi)?,
        bound: elements.iter().find_map(|element| element.bound.clone()),
    })
}

fn unreadable(step: &Step) -> Error {
    Error::Unmodelled {
        name: step.instruction.clone(),
        reason: "no value is known: its operands do not fit its name".to_owned(),
    }
}

/// Two results of which one is right.
fn either(format: &Format, out: u64, other: u64) -> Enclosure {
    let (lo, hi) = if order(format, out) <= order(format, other) {
        (out, other)
    } else {
        (other, out)
    };
    let bound = "which of two elements reads its random bits in opposite order is not established";
    Enclosure {
        out,
        lo,
        hi,
        bound: Some(bound.to_owned()),
    }
}

/// The rounding that the instruction's name asks for.
fn rounding(step: &Step) -> Rounding {
    let words = step.instruction.split('.');
    let mut found = words.filter_map(|word| match word {
        "rn" | "rni" => Some(Rounding::Rne),
        "rz" | "rzi" => Some(Rounding::Rz),
        "rm" | "rmi" => Some(Rounding::Rd),
        "rp" | "rpi" => Some(Rounding::Ru),
        "rna" => Some(Rounding::Rna),
        _ => None,
    });
    found.next().unwrap_or(Rounding::Rne)
}

/// A float rounded to an integer of the same format. Zeros keep the sign of the operand.
fn integral(plan: &Plan<'_>, format: &Format, rounding: Rounding, word: u64) -> Result<u64> {
    let style = &plan.style;
    let word = style.operand(word);
    let value = style.decode(word);
    let whole = match value.exact() {
        Some(exact) if exact.exponent < 0 => {
            // |x| is below 2^53, so that it fits.
            let wide = Format::named("int64")?;
            let plain = |rounding| CastOptions {
                rounding: Some(rounding),
                policy: Some(CastPolicy::Ptx),
                ..CastOptions::default()
            };
            let there = Cast::new(*format, wide, &plain(rounding))?.word(word);
            let back = Cast::new(wide, *format, &plain(Rounding::Rne))?.word(there);
            let is_zero = style.decode(back).class == Class::Zero;
            if is_zero {
                format.to_register(format.zero(value.negative))
            } else {
                back
            }
        }
        _ => word,
    };
    Ok(style.result(whole))
}
