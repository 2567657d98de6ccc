//! The items on the library's front page are those that `docs/api/mmascope.txt` records.

use std::collections::{BTreeMap, BTreeSet};

/// The names that the front page passes on, with their module in front; `*` stands for everything there.
fn named(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let (mut module, mut statement) = (String::new(), String::new());
    for line in text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
    {
        let depth = line.len() - line.trim_start().len();
        if let Some(name) = line.trim_start().strip_prefix("pub mod ") {
            module += &(name.trim_end_matches([' ', '{']).to_owned() + "::");
        } else if line.trim_start() == "}" {
            // The module around it, or none.
            let outer = module.split_inclusive("::").take(depth / 4);
            module = outer.collect();
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

/// The types that stand in two modules, because both are about them.
const TWICE: [&str; 1] = ["Watch"];

#[test]
fn every_type_has_a_name_of_its_own() {
    let page = named(include_str!("../../src/lib.rs"));
    assert!(!page.iter().any(|name| name.ends_with('*')), "no globs");
    let mut modules: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for name in &page {
        // What stands on the front page itself stands in its module too.
        if let Some((module, name)) = name.rsplit_once("::") {
            modules.entry(name).or_default().push(module);
        }
    }
    // Functions are called by their module: `diff::shrink`, `validate::shrink`.
    let is_type = |name: &str| name.starts_with(char::is_uppercase);
    let several = modules.iter().filter(|(_, modules)| modules.len() > 1);
    let several: Vec<_> = several
        .filter(|(name, _)| is_type(name) && !TWICE.contains(name))
        .collect();
    assert!(several.is_empty(), "{several:?}");
}
