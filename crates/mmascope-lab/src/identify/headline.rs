//! Says in one line what an identification came to.

use std::collections::BTreeSet;

use super::{Candidate, Identification};

impl Candidate {
    /// How many of the computed elements are as given: `12 of 64`.
    #[must_use]
    pub fn share(&self) -> String {
        format!("{} of {}", self.agreeing, self.compared)
    }

    /// What it rests on, where that is less than all of D.
    fn basis(&self) -> String {
        match self.full {
            true => String::new(),
            false => format!(", on a sample of {} elements", self.compared),
        }
    }

    /// The first row, how many of `rows` are like it, and the schedule.
    fn named(&self, rows: usize) -> String {
        let like = match rows - 1 {
            0 => String::new(),
            1 => " and 1 row like it".to_owned(),
            many => format!(" and {many} rows like it"),
        };
        format!("{}{like}, schedule {}", self.rows[0], self.schedule)
    }
}

impl Identification {
    /// The conclusion in one line.
    #[must_use]
    pub fn headline(&self) -> String {
        let answers = self.answers_by_sum();
        match (&answers[..], self.candidates.first()) {
            ([], None) => {
                "none: no row takes matrices of these formats, this K and scales of these shapes"
                    .to_owned()
            }
            ([], Some(nearest)) if nearest.agreeing == 0 => {
                format!(
                    "none: no candidate gives any of the outputs that were asked ({})",
                    nearest.share()
                )
            }
            ([], Some(nearest)) => format!(
                "none, nearest {} {} ({})",
                nearest.rows[0],
                nearest.schedule,
                nearest.share()
            ),
            ([(one, rows)], _) => format!("one answer{}: {}", one.basis(), one.named(*rows)),
            ([(first, rows), ..], _) => format!(
                "{}; the simplest{}: {}",
                several(&answers),
                first.basis(),
                first.named(*rows)
            ),
        }
    }

    /// The first candidate of every sum, and how many rows compute it.
    fn answers_by_sum(&self) -> Vec<(&Candidate, usize)> {
        let mut found: Vec<(&Candidate, BTreeSet<&String>)> = Vec::new();
        for candidate in self.identified() {
            let is_same = |known: &&mut (&Candidate, _)| known.0.sum == candidate.sum;
            match found.iter_mut().find(is_same) {
                Some((_, rows)) => rows.extend(&candidate.rows),
                None => found.push((candidate, candidate.rows.iter().collect())),
            }
        }
        let counted = found.into_iter().map(|(first, rows)| (first, rows.len()));
        counted.collect()
    }
}

/// How many answers there are, and how many of them rest on all of D.
fn several(answers: &[(&Candidate, usize)]) -> String {
    let whole = answers.iter().filter(|(first, _)| first.full).count();
    match answers.len() - whole {
        0 => format!("{whole} answers give the same bits"),
        sampled if whole == 0 => format!("{sampled} answers give the bits of a sample"),
        sampled => format!("{whole} answers give the same bits, {sampled} more those of a sample"),
    }
}
