//! Every link of the documents leads to a file of the project, and to a heading where it names one.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The Markdown files at the root and below the folders of documents and examples.
fn pages() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("docs"), root().join("examples")];
    let mut entries: Vec<PathBuf> = listed(&root());
    while let Some(folder) = folders.pop() {
        entries.extend(listed(&folder));
        folders.extend(listed(&folder).into_iter().filter(|path| path.is_dir()));
    }
    found.extend(
        entries
            .into_iter()
            .filter(|path| path.extension().is_some_and(|it| it == "md")),
    );
    found
}

fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    entries
        .map(|entry| entry.expect("an entry").path())
        .collect()
}

/// The targets of the links of a text, without code.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        in_block ^= line.trim_start().starts_with("```");
        if in_block {
            continue;
        }
        let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("code");
        let targets = plain.split("](").skip(1);
        found.extend(targets.filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())));
    }
    found
}

/// The name that a heading has in a link.
fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = words
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().replace(' ', "-")
}

/// What is wrong with a link of a page.
fn fault(page: &Path, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (file, heading) = link.split_once('#').unwrap_or((link, ""));
    let target = match file {
        "" => page.to_owned(),
        _ => page.parent().expect("a folder").join(file),
    };
    if !target.exists() {
        return Some(format!("{}: {link}: there is no such file", page.display()));
    }
    if heading.is_empty() {
        return None;
    }
    let text = std::fs::read_to_string(&target).expect("a page");
    let mut headings = text.lines().filter(|line| line.starts_with('#'));
    let known = headings.any(|line| anchor(line) == heading);
    (!known).then(|| format!("{}: {link}: there is no such heading", page.display()))
}

#[test]
fn every_link_leads_somewhere() {
    let mut count = 0;
    let mut faults = Vec::new();
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("a page");
        for link in links(&text) {
            faults.extend(fault(&page, &link));
            count += 1;
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 50, "only {count} links were found");
}

#[test]
fn a_wrong_link_is_found() {
    let page = root().join("README.md");
    assert!(fault(&page, "docs/nothing.md").is_some());
    assert!(fault(&page, "docs/reveal.md#nothing").is_some());
    assert!(fault(&page, "docs/reveal.md#subjects").is_none());
    assert_eq!(links("see [this](a.md#b) and `[not](c.md)`"), ["a.md#b"]);
}
