//! Walks a program of the library's public types and computes each statement by the oracle.

use std::cell::Cell;

use mmascope::dpa::{
    Dpa, FtzAddMul, GstFdpa, GtrFdpa, Modifiers, Operands, Operation, Program, Select, Signature,
    Source, StFdpa, Start, Statement, TFdpa, TrFdpa,
};
use mmascope::format::{F32, Format};

use super::ftz_addmul::Flush;
use super::gst_fdpa::Group;
use super::operand::{Class, Decoder, Operand, Term, decode};
use super::result::Outcome;
use super::t_fdpa::Alignment;
use super::{e_fdpa, fma_chain, ftz_addmul, gst_fdpa, gtr_fdpa, t_fdpa, tr_fdpa};

/// The operands of one dot product and how to decode them.
struct Inputs<'a> {
    operands: &'a Operands<'a>,
    decoder_a: Decoder,
    decoder_b: Decoder,
    modifiers: &'a Modifiers,
    scales: Vec<(Operand, Operand)>,
    /// Consecutive k that share a scale.
    scale_block: usize,
    c: Operand,
    /// The format that the operands of the current statement are widened to (§3).
    widened: Cell<Option<Format>>,
}

/// Whether every statement is of an algorithm that is computed here; others have oracles of their own.
pub(crate) fn knows(program: &Program) -> bool {
    program
        .statements
        .iter()
        .all(|statement| match &statement.operation {
            Operation::Dot { algorithm, .. } => !matches!(
                algorithm,
                Dpa::General(_) | Dpa::GrFdpa(_) | Dpa::SemiFma(_) | Dpa::IntDot(_)
            ),
            Operation::Join { .. } => false,
            _ => true,
        })
}

/// The element of D that the program gives by the specification.
pub(crate) fn evaluate(
    signature: &Signature,
    program: &Program,
    operands: &Operands<'_>,
    modifiers: &Modifiers,
) -> Outcome {
    let inputs = Inputs::read(signature, operands, modifiers);
    let mut outcomes: Vec<Outcome> = Vec::new();
    for statement in &program.statements {
        let outcome = run(statement, &inputs, &|source| match source {
            Source::C => Some(inputs.c.term()),
            Source::Zero => Some(Term::zero(false)),
            Source::Statement(index) => {
                Some(outcomes[index].term(&program.statements[index].output))
            }
        });
        outcomes.push(outcome);
    }
    outcomes.pop().expect("a program has a statement")
}

impl<'a> Inputs<'a> {
    fn read(signature: &Signature, operands: &'a Operands<'a>, modifiers: &'a Modifiers) -> Self {
        let scales = signature.scale.map_or_else(Vec::new, |scale| {
            let words = operands.scale_a.iter().zip(operands.scale_b);
            words
                .map(|(a, b)| (decode(&scale.format, *a), decode(&scale.format, *b)))
                .collect()
        });
        let mut c = decode(&signature.c, operands.c);
        c.scale(modifiers.scale_d);
        let c = if modifiers.no_c {
            Operand::zero(false)
        } else {
            sign(c, modifiers.negate_c)
        };
        Self {
            operands,
            decoder_a: Decoder::new(&signature.a),
            decoder_b: Decoder::new(&signature.b),
            modifiers,
            scales,
            scale_block: signature.scale.map_or(1, |scale| scale.block),
            c,
            widened: Cell::new(None),
        }
    }

    fn pair(&self, k: usize) -> (Operand, Operand) {
        let a = self.decoder_a.decode(self.operands.a[k]);
        let b = self.decoder_b.decode(self.operands.b[k]);
        let widen = |operand: Operand| match self.widened.get() {
            Some(format) => operand.widened(&format),
            None => operand,
        };
        (
            widen(sign(a, self.modifiers.negate_a)),
            widen(sign(b, self.modifiers.negate_b)),
        )
    }

    /// The product at k, its block's scales included (§2.3).
    fn product(&self, k: usize, scaled: bool) -> Term {
        let (a, b) = self.pair(k);
        let plain = a.times(&b);
        if !scaled {
            return plain;
        }
        let (scale_a, scale_b) = &self.scales[k / self.scale_block];
        if scale_a.class == Class::Nan || scale_b.class == Class::Nan {
            return Term::special(Class::Nan, false);
        }
        if plain.class != Class::Finite || plain.is_zero() {
            return plain;
        }
        Term {
            negative: plain.negative,
            ..plain.times(&scale_a.times(scale_b))
        }
    }

    /// The groups of a block, each with its scales.
    fn groups(&self, block: &[usize], g: usize) -> impl Iterator<Item = Group<'_>> {
        block.chunks(g).map(move |ks| {
            let (scale_a, scale_b) = &self.scales[ks[0] / self.scale_block];
            Group {
                pairs: ks.iter().map(|&k| self.pair(k)).collect(),
                scale_a,
                scale_b,
            }
        })
    }
}

fn sign(operand: Operand, negate: bool) -> Operand {
    if negate { operand.negated() } else { operand }
}

fn run(
    statement: &Statement,
    inputs: &Inputs<'_>,
    value: &dyn Fn(Source) -> Option<Term>,
) -> Outcome {
    let output = &statement.output;
    let term = |source: Source| value(source).expect("a value");
    match &statement.operation {
        Operation::Add(left, right) => fma_chain::step(&[term(*left), term(*right)], output),
        Operation::Convert(source) => fma_chain::step(&[term(*source)], output),
        Operation::Negate(source) => {
            let term = term(*source);
            let (negative, value) = (!term.negative, term.value.negate());
            let negated = Term {
                negative,
                value,
                ..term
            };
            fma_chain::step(&[negated], output)
        }
        Operation::Join { .. } => panic!("no shipped row has it"),
        Operation::Dot {
            algorithm,
            operands,
            over,
            from,
        } => {
            inputs.widened.set(operands.widened);
            let ks = indices(over, inputs.operands.a.len());
            let start = from.source().and_then(value);
            let pairs = || ks.iter().map(|&k| inputs.pair(k)).collect::<Vec<_>>();
            match *algorithm {
                Dpa::FmaChain(_) => fma_chain::chain(&pairs(), start, output),
                Dpa::FtzAddMul(FtzAddMul {
                    p,
                    flush_in,
                    flush_out,
                }) => {
                    assert!(output.format == F32, "§2.5 is about f32 results");
                    let flush = Flush {
                        operands: flush_in,
                        results: flush_out,
                    };
                    assert!(*from == Start::C, "§2.5 starts from the operand c");
                    ftz_addmul::run(&pairs(), &inputs.c, p as usize, &flush, output)
                }
                _ => blocks(
                    algorithm,
                    inputs,
                    &ks,
                    start.expect("an accumulator"),
                    output,
                ),
            }
        }
    }
}

/// §1: blocks of L in ascending k, each result the next block's c.
fn blocks(
    algorithm: &Dpa,
    inputs: &Inputs<'_>,
    ks: &[usize],
    start: Term,
    output: &mmascope::dpa::Output,
) -> Outcome {
    let mut c = start;
    let mut last = None;
    for ks in ks.chunks(algorithm.block()) {
        let products =
            |scaled: bool| -> Vec<Term> { ks.iter().map(|&k| inputs.product(k, scaled)).collect() };
        let outcome = match *algorithm {
            Dpa::TFdpa(TFdpa { f, e0, align, .. }) | Dpa::StFdpa(StFdpa { f, e0, align, .. }) => {
                let scaled = matches!(algorithm, Dpa::StFdpa(_));
                let alignment = Alignment {
                    f,
                    e0,
                    rounding: align,
                };
                t_fdpa::block(&products(scaled), &c, &alignment, output)
            }
            Dpa::GstFdpa(GstFdpa {
                g, f, e0, align, ..
            }) => {
                let alignment = Alignment {
                    f,
                    e0,
                    rounding: align,
                };
                gst_fdpa::block(inputs.groups(ks, g as usize), &c, &alignment, output)
            }
            Dpa::EFdpa(_) => e_fdpa::block(&products(false), &c, output),
            Dpa::TrFdpa(TrFdpa { f, f2, .. }) => {
                tr_fdpa::block(&products(false), &c, f, f2, output)
            }
            Dpa::GtrFdpa(GtrFdpa { f, f2, .. }) => {
                gtr_fdpa::block(&products(false), &c, f, f2, output)
            }
            Dpa::FmaChain(_) | Dpa::FtzAddMul(_) | Dpa::General(_) => {
                panic!("{algorithm} has no blocks")
            }
            // `crates/mmascope-model/tests/tensix.rs` has their oracle.
            Dpa::GrFdpa(_) | Dpa::SemiFma(_) | Dpa::IntDot(_) => {
                panic!("{algorithm} has an oracle of its own")
            }
        };
        c = outcome.term(output);
        last = Some(outcome);
    }
    last.expect("at least one block")
}

/// Which k a statement sums, in order.
fn indices(select: &Select, k: usize) -> Vec<usize> {
    match select {
        Select::All => (0..k).collect(),
        Select::Residues { modulus, residues } => (0..k)
            .filter(|k| residues.iter().any(|residue| k % modulus == *residue))
            .collect(),
        Select::List(list) => list.clone(),
    }
}
