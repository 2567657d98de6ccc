//! Searches groups of arbitrary products by swaps, where no single change explains more.

use super::search::{Candidate, Search};
use super::settings::{ALIGNMENTS, Setting};
use crate::dpa::{Dpa, Fused, General, Groups, Operation, Program};
use crate::format::Rounding;

/// The most products for which swaps are tried; more have too many swaps.
const MOST: usize = 16;

impl Search<'_> {
    /// The candidate with groups of other products, if it fails less often. The size of the groups alone explains little,
    /// and so does a single swap.
    pub(super) fn regrouped(&self, best: &Candidate) -> Option<Candidate> {
        let k = self.signature.k;
        if self.usual || k > MOST {
            return None;
        }
        let mut found: Option<Candidate> = None;
        for g in (2..=k / 2).filter(|g| k.is_multiple_of(*g)) {
            for f in alignments(best.unit.program()) {
                let program =
                    groups(g, f, Rounding::Rz).apply(best.unit.program(), &self.signature);
                let start = program.and_then(|program| self.candidate(&program));
                let Some(reached) = start.map(|start| self.swapped(start, g)) else {
                    continue;
                };
                if reached.failing.len() < found.as_ref().unwrap_or(best).failing.len() {
                    found = Some(reached);
                }
            }
        }
        found
    }

    /// The best candidate reached by swapping products of different groups of a given size, one swap after the other, with
    /// the groups' own alignment adjusted in between.
    fn swapped(&self, mut best: Candidate, g: usize) -> Candidate {
        let k = self.signature.k;
        let pairs = (0..k).flat_map(|i| (i + 1..k).map(move |j| (i, j)));
        let swaps = pairs.filter(|(i, j)| i / g != j / g);
        let swaps = swaps.map(|(i, j)| Setting::Swap(i, j));
        let aligned = (8..=40).flat_map(|f| {
            ALIGNMENTS[..4]
                .iter()
                .map(move |&align| groups(g, Some(f), align))
        });
        let settings: Vec<Setting> = swaps.chain(aligned).collect();
        while !best.failing.is_empty() && !self.cpu_limit.is_over() {
            let program = best.unit.program();
            let variants = settings.iter();
            let variants = variants.filter_map(|setting| setting.apply(program, &self.signature));
            match self.better(&best, variants.collect()) {
                Some(better) => best = better,
                None => break,
            }
        }
        best
    }
}

/// Groups of neighbours, of a given size, in the order of the program.
fn groups(g: usize, f: Option<u32>, align: Rounding) -> Setting {
    Setting::Groups(Some(Groups {
        f,
        align,
        ..Groups::exact(g as u32)
    }))
}

/// The bits to which groups may be aligned: all, those of the sums, and the current ones.
fn alignments(program: &Program) -> Vec<Option<u32>> {
    let mut found = vec![None];
    for statement in &program.statements {
        if let Operation::Dot {
            algorithm: Dpa::General(General::Fused(Fused { f, groups, .. })),
            ..
        } = statement.operation
        {
            let own = groups.and_then(|groups| groups.f);
            for bits in [f, own] {
                if !found.contains(&bits) {
                    found.push(bits);
                }
            }
        }
    }
    found
}
