//! Rewrites programs: aligned sums as rounded ones (rounded products, then rounded additions), rounded sums as exact ones, and a chain of multiply-adds
//! with the other product first.

use crate::dpa::{AddMul, Dpa, Fused, General, Operation, Output, Program, Select, Start, Terms};

/// The program with every exact sum of just two products, and every sum of two rounded ones, replaced by a rounded sum; `None` where it
/// has no such sum. Exact sums compute the same where the rounded products are the same.
pub(super) fn rounded(program: &Program, k: usize) -> Option<Program> {
    let mut changed = program.clone();
    for statement in &mut changed.statements {
        let output = statement.output;
        let Operation::Dot {
            algorithm,
            over,
            from: from @ (Start::Zero | Start::Product),
            ..
        } = &mut statement.operation
        else {
            continue;
        };
        let Dpa::General(General::Fused(fused)) = *algorithm else {
            continue;
        };
        let plain = Fused {
            terms: fused.terms,
            e0: fused.e0,
            align: fused.align,
            align_c: fused.align_c,
            ..Fused::plain(2, None)
        };
        // Of rounded products, alignment and a second rounding may only imitate what such a sum does.
        let imitates = fused.l == 2 && fused.groups.is_none() && fused.terms.products.is_some();
        if fused != plain && !imitates || over.indices(k).len() != 2 {
            continue;
        }
        *algorithm = Dpa::General(General::AddMul(AddMul {
            terms: written(fused.terms, &output),
            ..AddMul::plain(2)
        }));
        *from = Start::Product;
    }
    (changed != *program).then_some(changed)
}

/// Terms of rounded sums: a rounding of products that equals the sum's own is the default and not written.
fn written(terms: Terms, output: &Output) -> Terms {
    let is_usual = |products: &(_, _)| *products == (output.rounding, output.format);
    Terms {
        products: terms.products.filter(|products| !is_usual(products)),
        ..terms
    }
}

/// The program with every aligned sum replaced by rounded additions, of 1 to 16 products a step; nothing where it has no such sum.
pub(super) fn summed(program: &Program) -> Vec<Program> {
    let with = |p: u32, sequential: bool| {
        let mut changed = program.clone();
        for statement in &mut changed.statements {
            let output = statement.output;
            if let Operation::Dot { algorithm, .. } = &mut statement.operation
                && let Dpa::General(General::Fused(fused)) = *algorithm
            {
                *algorithm = Dpa::General(General::AddMul(AddMul {
                    terms: written(fused.terms, &output),
                    sequential,
                    ..AddMul::plain(p)
                }));
            }
        }
        changed
    };
    let mut found: Vec<Program> = Vec::new();
    for p in [1, 2, 4, 8, 16] {
        // Two products are added in one way.
        for sequential in [false, true].into_iter().take(1 + usize::from(p > 2)) {
            let changed = with(p, sequential);
            if changed != *program && !found.contains(&changed) {
                found.push(changed);
            }
        }
    }
    found
}

/// The program with every rounded sum replaced by an exact one of as many products, which has parameters that rounded sums do not have; `None`
/// where there is none.
pub(super) fn aligned(program: &Program) -> Option<Program> {
    let mut changed = program.clone();
    for statement in &mut changed.statements {
        if let Operation::Dot { algorithm, .. } = &mut statement.operation
            && let Dpa::General(General::AddMul(sum)) = *algorithm
        {
            *algorithm = Dpa::General(General::Fused(Fused {
                terms: sum.terms,
                ..Fused::plain(sum.p, None)
            }));
        }
    }
    (changed != *program).then_some(changed)
}

/// The program with the first two products of every chain of multiply-adds exchanged; `None` where there is none. The
/// first one is rounded by itself, which masks do not show.
pub(super) fn begun_otherwise(program: &Program, k: usize) -> Option<Program> {
    let mut changed = program.clone();
    for statement in &mut changed.statements {
        if let Operation::Dot {
            algorithm: Dpa::FmaChain(_),
            over,
            from: Start::Product | Start::Zero,
            ..
        } = &mut statement.operation
        {
            let mut order = over.indices(k);
            if order.len() > 1 {
                order.swap(0, 1);
                *over = Select::List(order);
            }
        }
    }
    (changed != *program).then_some(changed)
}
