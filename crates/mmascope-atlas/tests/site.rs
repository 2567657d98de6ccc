//! The whole site: every link, anchor and title, every row of the catalogue, nothing from outside, and its size.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use mmascope::isa::Catalogue;
use mmascope_atlas::{File, Making, site, stamp, work};

/// The most that the site may take.
const MOST: usize = 30 << 20;

fn made() -> &'static [File] {
    static SITE: OnceLock<Vec<File>> = OnceLock::new();
    SITE.get_or_init(|| {
        let done = AtomicU64::new(0);
        let making = Making {
            module: Some(b"\0asm, not really"),
            texts: &[],
            progress: &|steps| {
                done.fetch_add(steps, Ordering::Relaxed);
            },
            cancel: &AtomicBool::new(false),
        };
        let catalogue = Catalogue::built_in();
        let files = site(catalogue, &making).expect("a site");
        assert_eq!(done.load(Ordering::Relaxed), work(catalogue));
        files
    })
}

/// A page taken apart by a reader of its own: what stands between the brackets of tags.
struct Parsed {
    title: String,
    headings: usize,
    ids: Vec<String>,
    /// Values of `href` and `src`.
    links: Vec<String>,
    /// Tags that are open at the end, or that were closed without being open.
    faults: Vec<String>,
    /// Pictures without words.
    silent: usize,
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

fn attributes(tag: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut rest = tag.split_once(char::is_whitespace).map_or("", |it| it.1);
    while let Some((name, after)) = rest.split_once("=\"") {
        let Some((value, after)) = after.split_once('"') else {
            break;
        };
        let name = name.split_whitespace().last().unwrap_or("");
        found.insert(name.to_owned(), unescaped(value));
        rest = after;
    }
    found
}

fn parsed(text: &str) -> Parsed {
    const EMPTY: [&str; 8] = [
        "meta", "link", "input", "img", "br", "!doctype", "rect", "path",
    ];
    let mut page = Parsed {
        title: String::new(),
        headings: 0,
        ids: Vec::new(),
        links: Vec::new(),
        faults: Vec::new(),
        silent: 0,
    };
    let mut open: Vec<String> = Vec::new();
    for part in text.split('<').skip(1) {
        let Some((tag, content)) = part.split_once('>') else {
            page.faults.push(format!("no end of <{part}"));
            continue;
        };
        let name = tag.split_whitespace().next().unwrap_or("").to_lowercase();
        if let Some(name) = name.strip_prefix('/') {
            if open.pop().as_deref() != Some(name) {
                page.faults
                    .push(format!("</{name}> closes another element"));
            }
            continue;
        }
        let attributes = attributes(tag);
        page.ids.extend(attributes.get("id").cloned());
        for key in ["href", "src"] {
            page.links.extend(attributes.get(key).cloned());
        }
        match &*name {
            "title" => page.title = unescaped(content),
            "h1" => page.headings += 1,
            "img" if attributes.get("alt").is_none_or(String::is_empty) => page.silent += 1,
            _ => {}
        }
        if !EMPTY.contains(&&*name) && !tag.ends_with('/') {
            open.push(name);
        }
    }
    page.faults.extend(open);
    page
}

fn pages() -> impl Iterator<Item = (&'static str, Parsed)> {
    let pages = made().iter().filter(|file| file.name.ends_with(".html"));
    pages.map(|file| {
        let text = std::str::from_utf8(&file.bytes).expect("UTF-8");
        (&*file.name, parsed(text))
    })
}

#[test]
fn every_link_and_anchor_leads_somewhere_and_titles_differ() {
    let files: BTreeSet<&str> = made().iter().map(|file| &*file.name).collect();
    let parsed: BTreeMap<&str, Parsed> = pages().collect();
    let ids: BTreeMap<&str, BTreeSet<&str>> = parsed
        .iter()
        .map(|(name, page)| (*name, page.ids.iter().map(String::as_str).collect()))
        .collect();
    let mut titles: BTreeMap<&str, &str> = BTreeMap::new();
    let (mut links, mut faults) = (0, Vec::new());
    for (name, page) in &parsed {
        faults.extend(page.faults.iter().map(|fault| format!("{name}: {fault}")));
        if page.headings != 1 || page.title.trim().is_empty() || page.silent > 0 {
            faults.push(format!(
                "{name}: {} headings, {} pictures without words, title '{}'",
                page.headings, page.silent, page.title
            ));
        }
        if let Some(other) = titles.insert(&page.title, name) {
            faults.push(format!(
                "{name} and {other}: the same title '{}'",
                page.title
            ));
        }
        if ids[name].len() < page.ids.len() {
            let mut seen = BTreeSet::new();
            let twice = page.ids.iter().find(|id| !seen.insert(id.as_str()));
            faults.push(format!("{name}: the id {twice:?} stands twice"));
        }
        for link in &page.links {
            links += 1;
            if link == "data:," {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let file = if file.is_empty() { name } else { file };
            if !files.contains(file) {
                faults.push(format!("{name}: {link}: there is no such file"));
            } else if file == "explorer.html" {
                faults.extend(deep_link(anchor).map(|fault| format!("{name}: {link}: {fault}")));
            } else if !anchor.is_empty() && !ids[file].contains(anchor) {
                faults.push(format!("{name}: {link}: there is no such anchor"));
            }
        }
    }
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults[..faults.len().min(20)].join("\n")
    );
    assert!(links > 5000, "{links} links");
}

/// What is wrong with a link into the explorer: units that there are not, operands of another length.
fn deep_link(anchor: &str) -> Option<String> {
    let decoded = |text: &str| {
        let mut bytes = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('%') {
            bytes.extend(before.bytes());
            bytes.extend(u8::from_str_radix(after.get(..2)?, 16));
            rest = &after[2..];
        }
        bytes.extend(rest.bytes());
        String::from_utf8(bytes).ok()
    };
    let mut parts: Vec<(String, String)> = Vec::new();
    for part in anchor.split('&').filter(|part| !part.is_empty()) {
        let (key, value) = part.split_once('=')?;
        parts.push((key.to_owned(), decoded(value)?));
    }
    let get = |key: &str| {
        parts
            .iter()
            .find(|(known, _)| known == key)
            .map(|(_, value)| value)
    };
    let catalogue = Catalogue::built_in();
    let arch = get("arch")?;
    let row = match catalogue.find(arch, get("inst").map_or("", String::as_str)) {
        Ok(row) => row,
        Err(error) => return Some(error.to_string()),
    };
    let signature = &row.signature;
    for (key, format) in [("a", signature.a), ("b", signature.b)] {
        if let Some(words) = get(key)
            && words.len() != signature.k * format.digits()
        {
            return Some(format!("{key} has {} digits", words.len()));
        }
    }
    for (_, against) in parts.iter().filter(|(key, _)| key == "against") {
        let (arch, inst) = against.split_once(':')?;
        if let Err(error) = catalogue.find(arch, inst) {
            return Some(error.to_string());
        }
    }
    None
}

#[test]
fn every_instruction_has_its_anchor() {
    let mut anchors: BTreeSet<String> = BTreeSet::new();
    for (name, page) in pages() {
        if name.starts_with("unit-") || name.starts_with("arch-") {
            anchors.extend(page.ids);
        }
    }
    let mut count = 0;
    for row in Catalogue::built_in().instructions() {
        let name = format!("{}:{}", row.architecture, row.name).to_lowercase();
        let mut anchor = String::new();
        for c in name.chars() {
            match c.is_ascii_alphanumeric() || c == '.' {
                true => anchor.push(c),
                false if !anchor.ends_with('-') => anchor.push('-'),
                false => {}
            }
        }
        let anchor = anchor.trim_matches('-');
        assert!(anchors.contains(anchor), "{name}: {anchor}");
        count += 1;
    }
    assert!(count > 3000, "{count} rows");
}

#[test]
fn nothing_is_loaded_from_outside_and_the_site_is_small() {
    let mut total = 0;
    for file in made() {
        total += file.bytes.len();
        assert!(mmascope_atlas::is_own(&file.name), "{}", file.name);
        let is_text = [".html", ".css", ".js"]
            .iter()
            .any(|end| file.name.ends_with(end));
        if !is_text {
            continue;
        }
        let text = String::from_utf8_lossy(&file.bytes);
        for mark in [
            "src=\"http",
            "href=\"http",
            "url(http",
            "@import",
            "src=\"//",
            "fetch(\"http",
        ] {
            assert!(!text.contains(mark), "{}: {mark}", file.name);
        }
    }
    println!("{} files, {total} bytes", made().len());
    assert!(total <= MOST, "{total} bytes");
}

/// The script of the explorer asks the module; numbers are its affair.
#[test]
fn the_scripts_do_no_arithmetic() {
    for file in ["atlas.js", "atlas-explorer.js"] {
        let file = made().iter().find(|it| it.name == file).expect("a script");
        let text = String::from_utf8_lossy(&file.bytes);
        for word in [
            "Math.",
            "parseFloat",
            "parseInt",
            "BigInt",
            "Float32",
            "Float64",
            "DataView",
            "toFixed",
            "toPrecision",
        ] {
            assert!(!text.contains(word), "{}: {word}", file.name);
        }
    }
}

/// What the catalogue states stands on the pages: facts that were looked up in the papers.
#[test]
fn the_published_tables_are_those_of_the_papers() {
    let file = made().iter().find(|file| file.name == "published.html");
    let text = String::from_utf8_lossy(&file.expect("the page").bytes).into_owned();
    let row = |title: &str, table: usize| -> Vec<String> {
        let table = text.split("<table>").nth(table).expect("a table");
        let line = table
            .split("<tr>")
            .find(|row| row.contains(&format!(">{title}</span></th>")));
        let line = line.unwrap_or_else(|| panic!("no row '{title}'"));
        let cells = line.split("<td>").skip(1);
        cells
            .map(|cell| cell.split("</td>").next().expect("a cell").to_owned())
            .collect()
    };
    // Fasi et al. 2021: blocks of 4 on V100 and of 8 on A100, no extra bit on V100 and one on T4 and A100.
    let title = |name: &str| {
        let unit = Catalogue::built_in()
            .find("V100", "mma.m8n8k4.f32.f16.f16.f32")
            .expect("a row")
            .unit()
            .expect("a unit")
            .clone();
        let report =
            mmascope::probe::probe(&mut mmascope::dut::ModelDut::new("x", unit)).expect("answers");
        report
            .features
            .iter()
            .find(|feature| feature.name == name)
            .expect("a feature")
            .title
            .clone()
    };
    assert_eq!(
        row(&title("bits-products"), 1)[..4],
        ["23", "23", "24", "24"]
    );
    assert_eq!(
        row(&title("products-per-step"), 1),
        ["4", "4", "8", "8", "8", "8", "4", "1"]
    );
    assert_eq!(
        row(&title("rounding-result"), 1),
        ["rz", "rne", "rz", "rz", "rne", "rz", "rz", "rne"]
    );
}

#[test]
fn a_site_says_what_it_was_made_from() {
    let catalogue = Catalogue::built_in();
    let one = stamp(catalogue, Some(b"\0asm, not really"));
    let file = made()
        .iter()
        .find(|file| file.name == "atlas.json")
        .expect("the stamp");
    assert_eq!(String::from_utf8_lossy(&file.bytes), one);
    assert_ne!(stamp(catalogue, None), one);
    let mut other = catalogue.clone();
    other
        .extend("own", "arch mine\ndot | f16 x f16 + f32 -> f32 | m8n8k4 | t-fdpa L=4 F=20 e0=-126 -> rz f32 | open")
        .expect("a text");
    assert_ne!(stamp(&other, Some(b"\0asm, not really")), one);
}

#[test]
fn facts_that_change_are_told() {
    let mut catalogue = Catalogue::built_in().clone();
    let before = catalogue.facts();
    assert!(catalogue.facts_since(&before).is_empty());
    let text = "arch mine\ndot | f16 x f16 + f32 -> f32 | m8n8k4 | t-fdpa L=4 F=20 e0=-126 -> rz f32 | open";
    catalogue.extend("own", text).expect("a text");
    let lines = catalogue.facts_since(&before);
    assert_eq!(lines.len(), 1);
    assert!(lines[0].starts_with("+ mine dot (a=f16"), "{lines:?}");
    let between = catalogue.facts();
    catalogue
        .extend("own", &text.replace("F=20", "F=21"))
        .expect("a text");
    let lines = catalogue.facts_since(&between);
    assert!(
        lines.len() == 1
            && lines[0].starts_with("~ mine dot")
            && lines[0].contains("F=20")
            && lines[0].contains("=> t-fdpa L=4 F=21"),
        "{lines:?}"
    );
    let gone = Catalogue::built_in().facts_since(&between);
    assert!(
        gone.len() == 1 && gone[0].starts_with("- mine dot"),
        "{gone:?}"
    );
}
