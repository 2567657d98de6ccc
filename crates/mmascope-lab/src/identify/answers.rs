//! Says which answers an identification has: what differs in the schedule alone stands together.

use std::collections::BTreeSet;

use super::{Candidate, Identification};

/// Answers, and schedules of each, that are named.
const SHOWN: usize = 8;
/// Rows of one answer that are named.
const ROWS: usize = 12;

impl Identification {
    /// The answers in lines, for people: for each the elements that it rests on, the arithmetic, the schedules and the
    /// rows, some of each. The candidates are all of them.
    #[must_use]
    pub fn answers(&self) -> Vec<String> {
        let groups = self.groups();
        let mut lines = Vec::new();
        if groups.len() > 1 {
            let architectures: BTreeSet<&str> = self.identified().flat_map(architectures).collect();
            lines.push(format!(
                "{} different sums, on {} architectures: these matrices do not tell them apart; D in a wider format, more \
                 elements or a longer K may",
                groups.len(),
                architectures.len()
            ));
        }
        for group in groups.iter().take(SHOWN) {
            self.answer(group, &mut lines);
        }
        lines.extend(more(groups.len(), SHOWN, "sums"));
        lines
    }

    /// Candidates that fit, by what is the same but the schedule.
    fn groups(&self) -> Vec<Vec<&Candidate>> {
        let mut groups: Vec<Vec<&Candidate>> = Vec::new();
        for candidate in self.identified() {
            let is_like = |group: &&mut Vec<&Candidate>| {
                let known = group[0];
                (known.full, known.k, known.compared)
                    == (candidate.full, candidate.k, candidate.compared)
                    && known.arithmetic == candidate.arithmetic
                    && known.rows == candidate.rows
            };
            match groups.iter_mut().find(is_like) {
                Some(group) => group.push(candidate),
                None => groups.push(vec![candidate]),
            }
        }
        groups
    }

    fn answer(&self, group: &[&Candidate], lines: &mut Vec<String>) {
        let first = group[0];
        let all = if first.full { "all" } else { "a sample of" };
        lines.push(format!(
            "identified, {all} {} elements: {}",
            first.compared, first.arithmetic
        ));
        if first.k != self.shape[2] {
            lines.push(format!("  K filled up to {} with +0", first.k));
        }
        let schedules = group.iter().take(SHOWN);
        lines.extend(schedules.map(|candidate| format!("  schedule {}", candidate.schedule)));
        let alike = "schedules that give the same bits";
        lines.extend(more(group.len(), SHOWN, alike).map(|line| format!("  {line}")));
        for row in first.rows.iter().take(ROWS) {
            let doubt = self.doubts.get(row);
            let doubt = doubt.map_or_else(String::new, |level| format!(" ({})", level.words()));
            lines.push(format!("  {row}{doubt}"));
        }
        lines.extend(more(first.rows.len(), ROWS, "rows").map(|line| format!("  {line}")));
    }
}

/// How many are not named.
fn more(count: usize, named: usize, what: &str) -> Option<String> {
    (count > named).then(|| format!("and {} more {what}", count - named))
}

/// The architectures of a candidate's rows.
fn architectures(candidate: &Candidate) -> impl Iterator<Item = &str> {
    let rows = candidate.rows.iter();
    rows.filter_map(|row| row.split_once(':').map(|(arch, _)| arch))
}
