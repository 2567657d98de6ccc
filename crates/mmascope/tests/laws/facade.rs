//! The items on the library's front page are those that `docs/api/mmascope.txt` records.

use std::collections::BTreeSet;

/// The names that the front page passes on, with their module in front; `*` stands for everything there.
fn named(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let (mut module, mut statement) = (String::new(), String::new());
    for line in text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
    {
        if let Some(name) = line.strip_prefix("pub mod ") {
            module = name.trim_end_matches([' ', '{']).to_owned() + "::";
        } else if line == "}" {
            module.clear();
        } else if !statement.is_empty() || line.trim_start().starts_with("pub use ") {
            statement += line;
        }
        if let Some(path) = statement.strip_suffix(';') {
            let names = path.rsplit(['{', ':']).next().unwrap_or_default();
            let names = names.split([',', '}']).map(str::trim);
            let names = names.filter(|name| !name.is_empty());
            found.extend(names.map(|name| format!("{module}{name}")));
            statement.clear();
        }
    }
    found
}

fn recorded(list: &str) -> BTreeSet<String> {
    let names = list
        .lines()
        .filter_map(|line| line.strip_prefix("pub use mmascope::"));
    let short = |name: &str| match name.split_once("<<") {
        Some((module, _)) => format!("{module}*"),
        None => name.to_owned(),
    };
    names.map(short).collect()
}

#[test]
fn the_front_page_is_the_recorded_one() {
    let page = named(include_str!("../../src/lib.rs"));
    let list = recorded(include_str!("../../../../docs/api/mmascope.txt"));
    let gone: Vec<_> = list.difference(&page).collect();
    let new: Vec<_> = page.difference(&list).collect();
    assert!(
        gone.is_empty() && new.is_empty(),
        "gone: {gone:?}; new: {new:?}; if that is meant, `cargo xtask api` records it"
    );
    assert!(page.len() > 200, "{} names", page.len());
}
