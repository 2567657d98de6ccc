//! Which of the valid names are most alike to a wrong one.

use super::LONGEST_NAME;

/// How many names are suggested.
const SUGGESTED: usize = 3;
/// How many names are compared letter for letter; a file of wrong lines pays for it in each of them.
const COMPARED: usize = 24;

/// The names that are most alike to `wanted`, the best first: those whose Jaro-Winkler similarity is above `least`.
///
/// Only the names that share most letters with `wanted`, and those that begin with it, are compared at all.
pub(super) fn most_alike<'a>(
    wanted: &str,
    candidates: impl Iterator<Item = &'a str>,
    least: f64,
) -> Vec<String> {
    // No valid name is that long, and comparing it with every candidate would take long.
    if wanted.len() > LONGEST_NAME {
        return Vec::new();
    }
    let wanted = wanted.to_lowercase();
    let letters = Letters::of(&wanted);
    let mut near: Vec<(u32, &str)> = candidates
        .map(|name| (letters.shared_with(&Letters::of(name)), name))
        .collect();
    near.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    near.dedup();
    // Names that begin with the wanted one, too: it may have been cut short.
    let begin_so = |name: &str| name.to_lowercase().starts_with(&wanted);
    let compared = near.into_iter().enumerate();
    let compared = compared.filter(|(index, (_, name))| *index < COMPARED || begin_so(name));
    let score = |name: &str| strsim::jaro_winkler(&wanted, &name.to_lowercase());
    let mut scored: Vec<(f64, &str)> = compared
        .map(|(_, (_, name))| (score(name), name))
        .filter(|(score, _)| *score > least)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored.truncate(SUGGESTED);
    scored
        .into_iter()
        .map(|(_, name)| name.to_owned())
        .collect()
}

/// How often each letter stands in a name, whatever its case.
struct Letters([u8; 256]);

impl Letters {
    fn of(name: &str) -> Self {
        let mut counts = [0_u8; 256];
        for byte in name.bytes() {
            let count = &mut counts[usize::from(byte.to_ascii_lowercase())];
            *count = count.saturating_add(1);
        }
        Self(counts)
    }

    /// How much of the two names they have in common, in thousandths of each: what the similarity is at most, but for the
    /// letters' places.
    fn shared_with(&self, other: &Self) -> u32 {
        let all = |counts: &[u8; 256]| counts.iter().map(|count| u32::from(*count)).sum::<u32>();
        let pairs = self.0.iter().zip(&other.0);
        let common: u32 = pairs.map(|(a, b)| u32::from(*a.min(b))).sum();
        1000 * common / all(&self.0).max(1) + 1000 * common / all(&other.0).max(1)
    }
}
