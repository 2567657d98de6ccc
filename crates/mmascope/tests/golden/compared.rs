//! The evidence of the catalogue's Hopper rows and the recorded comparisons say the same.

use std::collections::BTreeSet;

use mmascope::isa::{Catalogue, Strength};

use super::file::lines;

/// `INST[+registers]` and elements, of the comparisons without a difference.
fn equal() -> Vec<(String, u64)> {
    let read = |line: String| {
        let columns: Vec<_> = line.split(" | ").collect();
        let number = |text: &str| text.parse::<u64>().expect("a number");
        (number(columns[2]) == 0).then(|| (columns[0].to_owned(), number(columns[1])))
    };
    lines("compared.txt").into_iter().filter_map(read).collect()
}

#[test]
fn every_comparison_was_equal() {
    let all = equal();
    assert_eq!(all.len(), 145);
    let elements = all.iter().map(|(_, elements)| elements).sum::<u64>();
    assert_eq!(elements, 13_841_910_656);
}

/// A row says that hardware shows its arithmetic exactly where this GPU was compared with it.
#[test]
fn evidence_is_hardware_where_a_comparison_is_recorded() {
    let compared: BTreeSet<String> = equal()
        .iter()
        .map(|(form, _)| form.trim_end_matches("+registers").to_owned())
        .collect();
    let hopper = Catalogue::built_in()
        .architecture("hopper")
        .expect("it is there");
    let claimed = hopper
        .instructions()
        .filter(|row| row.is_modelled() && row.evidence.default == Strength::Hardware)
        .map(|row| row.name.clone());
    assert_eq!(claimed.collect::<BTreeSet<_>>(), compared);
}
