//! Says in one line what an identification came to.

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

    /// The first row, how many are like it, and the schedule.
    fn named(&self) -> String {
        let like = match self.rows.len() - 1 {
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
        let identified: Vec<&Candidate> = self.identified().collect();
        match (&identified[..], self.candidates.first()) {
            ([], None) => "none: no row takes these formats and this K".to_owned(),
            ([], Some(nearest)) => format!(
                "none, nearest {} {} ({})",
                nearest.rows[0],
                nearest.schedule,
                nearest.share()
            ),
            ([one], _) => format!("one answer{}: {}", one.basis(), one.named()),
            ([first, ..], _) => format!(
                "{}; the simplest{}: {}",
                several(&identified),
                first.basis(),
                first.named()
            ),
        }
    }
}

/// How many answers there are, and how many of them rest on all of D.
fn several(identified: &[&Candidate]) -> String {
    let whole = identified.iter().filter(|candidate| candidate.full).count();
    match identified.len() - whole {
        0 => format!("{whole} answers give the same bits"),
        sampled if whole == 0 => format!("{sampled} answers give the bits of a sample"),
        sampled => format!("{whole} answers give the same bits, {sampled} more those of a sample"),
    }
}
