//! Every row against exact numbers: random data of several kinds, specials and subnormals among them.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::exact::{self, Kind, Layout};
use crate::support::{ARCHITECTURES, Xorshift};
use mmascope_model::dpa::{Modifiers, Operands};
use mmascope_model::isa::{Catalogue, Instruction};

/// A case: words of a, of b, and c.
type Case = (Vec<u64>, Vec<u64>, u64);

/// A code of a layout: any bits, near one, or something special.
fn code(random: &mut Xorshift, layout: Layout, kind: u32) -> u64 {
    let bits = layout.exponent_bits + layout.fraction_bits + 1;
    let any = u64::from(random.word()) & ((1 << bits) - 1);
    let bias = (1_u64 << (layout.exponent_bits - 1)) - 1;
    let with_field = |field: u64| {
        let others = any & !(((1 << layout.exponent_bits) - 1) << layout.fraction_bits);
        others | field << layout.fraction_bits
    };
    let ones = (1 << layout.exponent_bits) - 1;
    match kind {
        0 => any,
        1 => with_field(bias - 6 + u64::from(random.below(12))),
        // Products of many bits around one exponent: cancellation, ties.
        2 => with_field(bias - 1 + u64::from(random.below(3))) & !0x7,
        _ => match random.below(8) {
            0 => with_field(0),
            1 => with_field(1),
            2 => with_field(ones),
            3 => with_field(ones - 1),
            4 => with_field(ones) & !((1 << layout.fraction_bits) - 1),
            5 => any & 1 << (bits - 1),
            6 => with_field(bias) & !((1 << layout.fraction_bits) - 1),
            _ => any,
        },
    }
}

/// A row by the parts of its name.
struct Row {
    instruction: &'static Instruction,
    kind: Kind,
    operation: &'static str,
    phases: u32,
}

impl Row {
    fn all(operation: &'static str) -> Vec<Self> {
        let mut rows = Vec::new();
        for (architecture, faulty) in ARCHITECTURES.into_iter().zip([true, false]) {
            for (name, operands) in [
                ("bf16", exact::BF16),
                ("tf32", exact::TF32),
                ("f16", exact::F16),
            ] {
                for (suffix, wide) in [("d16", false), ("d32", true)] {
                    let dst = match (wide, name) {
                        (true, _) => exact::F32,
                        (false, "f16") => exact::F16,
                        (false, _) => exact::BF16,
                    };
                    let tails: &[(&str, u32)] = match operation {
                        "matmul" => &[(".lofi", 1), (".hifi2", 2), (".hifi3", 3), (".hifi4", 4)],
                        "elwadd" | "elwsub" => &[("", 0)],
                        _ => &[
                            (".phase0", 0),
                            (".phase1", 1),
                            (".phase2", 2),
                            (".phase3", 3),
                        ],
                    };
                    for (tail, number) in tails {
                        let name = format!("tensix.{operation}.{name}.{suffix}{tail}");
                        let instruction = Catalogue::built_in().find(architecture, &name).unwrap();
                        let is_matmul = operation == "matmul";
                        rows.push(Self {
                            instruction,
                            kind: Kind {
                                operands,
                                dst,
                                wide,
                                phase: if is_matmul { 0 } else { *number },
                                faulty,
                            },
                            operation,
                            phases: *number,
                        });
                    }
                }
            }
        }
        rows
    }

    /// The code of a register word: tf32 is the upper part of an f32 word.
    fn code(&self, word: u64) -> u64 {
        match self.kind.operands == exact::TF32 {
            true => word >> 13,
            false => word,
        }
    }

    fn case(&self, random: &mut Xorshift) -> Case {
        let family = random.below(4);
        let k = match self.operation {
            "matmul" => 32 * (1 + random.below(2) as usize),
            _ => self.instruction.signature.k,
        };
        let word = |random: &mut Xorshift| {
            let code = code(random, self.kind.operands, family);
            match self.kind.operands == exact::TF32 {
                true => code << 13 | u64::from(random.word() & 0x1fff),
                false => code,
            }
        };
        let (a, b): (Vec<u64>, Vec<u64>) = (0..k).map(|_| (word(random), word(random))).unzip();
        let mut c = code(random, self.kind.dst, family);
        // A Dst that nearly cancels a product: the fault shows itself there.
        if family == 2 && random.below(4) == 0 {
            let sum = self.expected(&(a.clone(), b.clone(), 0));
            let flipped = sum ^ 1 << (self.kind.dst.exponent_bits + self.kind.dst.fraction_bits);
            c = flipped
                .wrapping_add(u64::from(random.below(3)))
                .wrapping_sub(1)
                & ((1 << (1 + self.kind.dst.exponent_bits + self.kind.dst.fraction_bits)) - 1);
        }
        (a, b, c)
    }

    fn expected(&self, (a, b, c): &Case) -> u64 {
        let [a, b] = [a, b].map(|words| words.iter().map(|w| self.code(*w)).collect::<Vec<_>>());
        match self.operation {
            "mvmul" => self.kind.mvmul(&a, &b, *c),
            "elwmul" => self.kind.multiply(a[0], b[0], *c),
            "elwadd" => self.kind.add(a[0], b[0], false, *c),
            "elwsub" => self.kind.add(a[0], b[0], true, *c),
            _ => {
                let mut dst = *c;
                for tile in (0..a.len()).step_by(32) {
                    for phase in 0..self.phases {
                        for k in [tile, tile + 16] {
                            let kind = Kind { phase, ..self.kind };
                            dst = kind.mvmul(&a[k..k + 16], &b[k..k + 16], dst);
                        }
                    }
                }
                dst
            }
        }
    }

    fn check(&self, random: &mut Xorshift, cases: u32) {
        for _ in 0..cases {
            let case = self.case(random);
            let operands = Operands {
                a: &case.0,
                b: &case.1,
                c: case.2,
                ..Operands::default()
            };
            let got = self
                .instruction
                .dot(&operands, &Modifiers::default())
                .unwrap();
            let expected = self.expected(&case);
            assert_eq!(
                got, expected,
                "{} {}: {got:x}, exact numbers give {expected:x} for {case:x?}",
                self.instruction.architecture, self.instruction.name
            );
        }
    }
}

/// So many cases of every row of an operation, on every thread of the machine.
fn check(operation: &'static str, each: u32) {
    let rows = Row::all(operation);
    let next = AtomicUsize::new(0);
    let run = || {
        while let Some((index, row)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            rows.get(index).map(|row| (index, row))
        } {
            row.check(&mut Xorshift(0x9e37_79b9 ^ index as u32), each);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(run);
        }
    });
    println!("{operation}: {} rows, {each} cases each", rows.len());
}

fn check_multiply_add(cases: u32) {
    for (architecture, first) in ARCHITECTURES.into_iter().zip([true, false]) {
        let row = Catalogue::built_in()
            .find(architecture, "tensix.sfpmad")
            .unwrap();
        let mut random = Xorshift(0x2545_f491);
        for _ in 0..cases {
            let family = random.below(5);
            let [x, y, mut z] =
                std::array::from_fn(|_| code(&mut random, exact::F32, family.min(3)) as u32);
            if family == 4 {
                // Near cancellation, and exponents near the product's.
                let field = |w: u32| (w >> 23 & 255) as i32;
                let e = field(x) + field(y) - 127 + random.below(61) as i32 - 30;
                z = z & 0x807f_ffff | (e.clamp(0, 255) as u32) << 23;
            }
            let operands = Operands {
                a: &[x.into()],
                b: &[y.into()],
                c: z.into(),
                ..Operands::default()
            };
            let got = row.dot(&operands, &Modifiers::default()).unwrap();
            let expected = exact::multiply_add(first, x, y, z);
            assert_eq!(
                got,
                u64::from(expected),
                "{architecture}: {x:08x} · {y:08x} + {z:08x}"
            );
        }
    }
    println!("sfpmad: {cases} cases on each machine");
}

#[test]
fn rows_against_exact_numbers() {
    for operation in ["mvmul", "elwmul", "elwadd", "elwsub", "matmul"] {
        check(operation, 150);
    }
    check_multiply_add(20_000);
}

#[test]
#[ignore = "an hour: cargo xtask prove tensix"]
fn prove_tensix() {
    check_multiply_add(1_000_000);
    for operation in ["elwadd", "elwsub", "elwmul", "mvmul", "matmul"] {
        check(operation, 1_000_000);
    }
}
