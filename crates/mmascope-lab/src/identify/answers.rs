//! Says which answers an identification has: what differs in the schedule alone stands together.

use std::collections::BTreeSet;

use super::{Candidate, Identification};

/// Answers, and schedules of each, that are named.
const SHOWN: usize = 8;
/// Rows of one answer that are named.
const ROWS: usize = 12;

/// Candidates of the same rows, one for each schedule.
type Group<'a> = Vec<&'a Candidate>;

impl Identification {
    /// The answers in lines, for people: for each the elements that it rests on, the arithmetic, the schedules and the
    /// rows, some of each. The candidates are all of them.
    #[must_use]
    pub fn answers(&self) -> Vec<String> {
        let answers = self.sums();
        let mut lines = Vec::new();
        if answers.len() > 1 {
            let architectures: BTreeSet<&str> = self.identified().flat_map(architectures).collect();
            lines.push(format!(
                "{} different sums, on {} architectures: these matrices do not tell them apart; D in a wider format, more \
                 elements or a longer K may",
                answers.len(),
                architectures.len()
            ));
        }
        for answer in answers.iter().take(SHOWN) {
            self.answer(answer, &mut lines);
        }
        lines.extend(more(answers.len(), SHOWN, "sums"));
        lines
    }

    /// Candidates that fit, by what is the same but the schedule; rows that compute the same sums from whatever matrices stand
    /// together.
    fn sums(&self) -> Vec<Vec<Group<'_>>> {
        let mut sums: Vec<Vec<Group<'_>>> = Vec::new();
        for candidate in self.identified() {
            let is_like = |group: &Group<'_>| {
                let known = group[0];
                (known.full, known.k, known.compared)
                    == (candidate.full, candidate.k, candidate.compared)
                    && known.arithmetic == candidate.arithmetic
                    && known.rows == candidate.rows
            };
            if let Some(group) = sums.iter_mut().flatten().find(|group| is_like(group)) {
                group.push(candidate);
                continue;
            }
            let is_same = |sum: &&mut Vec<Group<'_>>| {
                let mut known = sum.iter().flatten();
                known.any(|known| known.sum == candidate.sum)
            };
            match sums.iter_mut().find(is_same) {
                Some(sum) => sum.push(vec![candidate]),
                None => sums.push(vec![vec![candidate]]),
            }
        }
        sums
    }

    fn answer(&self, groups: &[Group<'_>], lines: &mut Vec<String>) {
        let first = groups[0][0];
        let all = if first.full { "all" } else { "a sample of" };
        lines.push(format!(
            "identified, {all} {} elements: {}",
            first.compared, first.arithmetic
        ));
        // Rows that take the same schedules, and of which the same is said, stand below them together.
        let mut alike: Vec<(&Candidate, Vec<&str>, Vec<&str>)> = Vec::new();
        for group in groups {
            let own: Vec<&str> = group.iter().map(|it| it.schedule.as_str()).collect();
            let rows = group[0].rows.iter().map(String::as_str);
            let is_like = |(known, schedules, _): &(&Candidate, Vec<&str>, _)| {
                (&known.arithmetic, known.k, schedules) == (&group[0].arithmetic, group[0].k, &own)
            };
            match alike.iter_mut().find(|known| is_like(known)) {
                Some((_, _, known)) => known.extend(rows),
                None => alike.push((group[0], own, rows.collect())),
            }
        }
        alike.sort_by_key(|(own, ..)| (own.arithmetic != first.arithmetic, &own.arithmetic));
        for (own, schedules, rows) in alike {
            if own.arithmetic != first.arithmetic {
                lines.push(format!("  the same sum: {}", own.arithmetic));
            }
            if own.k != self.shape[2] {
                lines.push(format!("  K filled up to {} with +0", own.k));
            }
            let shown = schedules.iter().take(SHOWN);
            lines.extend(shown.map(|schedule| format!("  schedule {schedule}")));
            let alike = "schedules that give the same bits";
            lines.extend(more(schedules.len(), SHOWN, alike).map(|line| format!("  {line}")));
            for row in rows.iter().take(ROWS) {
                let doubt = self.doubts.get(*row);
                let doubt = doubt.map_or_else(String::new, |level| format!(" ({})", level.words()));
                lines.push(format!("  {row}{doubt}"));
            }
            lines.extend(more(rows.len(), ROWS, "rows").map(|line| format!("  {line}")));
        }
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
