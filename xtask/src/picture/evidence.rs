//! The tables of docs/evidence, from the golden files of what GPUs answered.

use std::collections::BTreeMap;
use std::path::Path;

use super::marks;

/// The page of Hopper's evidence.
pub(super) const HOPPER: &str = "docs/evidence/hopper.md";
const GOLDEN: &str = "crates/mmascope/golden/hopper";

type Lines = Vec<String>;

/// The page with the tables of today.
pub(super) fn hopper(root: &Path) -> Result<String, String> {
    let read = |name: &str| lines(&root.join(GOLDEN).join(name));
    let [compared, points, conversions] =
        ["compared.txt", "points.txt", "conversions.txt"].map(read);
    let [functions, vectors, packs] = ["functions.txt", "vectors.txt", "packs.txt"].map(read);
    let (compared, points, conversions) = (compared?, points?, conversions?);
    let (functions, vectors, packs) = (functions?, vectors?, packs?);
    let parts = [
        (
            "totals",
            totals(&compared, &points, &conversions, &vectors, &packs)?,
        ),
        ("points", of_points(&points)),
        (
            "comparisons",
            table(
                "instruction | elements | differences | machine instructions",
                compared.iter().map(|line| without(line, 3)),
            ),
        ),
        (
            "vectors",
            table(
                "instruction | rows recorded on an H100 and an H200 | rows of public models | rows on which this GPU differs",
                vectors.iter().cloned(),
            ),
        ),
        (
            "conversions",
            table(
                "conversion | inputs | differences | the first one: input, GPU, model",
                conversions.iter().cloned(),
            ),
        ),
        (
            "functions",
            table(
                "function | hash of all 2^32 inputs | every output of: first input, stride, how many",
                functions.iter().cloned(),
            ),
        ),
    ];
    let page = marks::page(&root.join(HOPPER))?;
    parts
        .iter()
        .try_fold(page, |page, (name, part)| marks::filled(&page, name, part))
}

/// A golden file without its head.
fn lines(path: &Path) -> Result<Lines, String> {
    let text = marks::page(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    Ok(lines.map(str::to_owned).collect())
}

/// A table in Markdown; columns stand between `|`. Names of instructions and functions are code.
fn table(head: &str, rows: impl Iterator<Item = String>) -> String {
    let columns = head.split(" | ").count();
    let mut text = format!("\n| {head} |\n|{}\n", "---|".repeat(columns));
    for row in rows {
        let mut cells: Vec<&str> = row.split('|').map(str::trim).collect();
        cells.resize(columns, "");
        text += &format!("| `{}` | {} |\n", cells[0], cells[1..].join(" | "));
    }
    text + "\n"
}

/// A line without one of its columns.
fn without(line: &str, column: usize) -> String {
    let mut cells: Vec<&str> = line.split(" | ").collect();
    cells.remove(column);
    cells.join(" | ")
}

/// The sum of a column.
fn sum(lines: &Lines, column: usize) -> Result<u64, String> {
    let number = |line: &String| {
        let cell = line.split('|').nth(column).unwrap_or_default().trim();
        cell.parse::<u64>()
            .map_err(|_| format!("'{line}': column {column} is no number"))
    };
    lines.iter().map(number).sum()
}

/// What was compared, in sums.
fn totals(
    compared: &Lines,
    points: &Lines,
    conversions: &Lines,
    vectors: &Lines,
    packs: &Lines,
) -> Result<String, String> {
    let questions = points.iter().filter(|line| line.starts_with("point "));
    let cases = points.iter().filter(|line| line.contains('\t')).count();
    let rows = [
        (
            "elements, by the GPU itself",
            format!("{} instruction forms", compared.len()),
            grouped(sum(compared, 1)?),
            sum(compared, 2)?.to_string(),
        ),
        (
            "directed inputs",
            format!("{} questions to instructions", questions.count()),
            grouped(cases as u64),
            "none: `cargo test -p mmascope --test golden`".to_owned(),
        ),
        (
            "discriminating packs",
            format!("{} instructions", packs.len()),
            format!("{} lines", sum(packs, 1)? + sum(packs, 2)?),
            sum(packs, 2)?.to_string(),
        ),
        (
            "rows recorded by others on an H100 and an H200, and of public models",
            format!("{} instructions", vectors.len()),
            format!(
                "{} and {}",
                grouped(sum(vectors, 1)?),
                grouped(sum(vectors, 2)?)
            ),
            sum(vectors, 3)?.to_string(),
        ),
        (
            "conversions",
            format!("{} forms", conversions.len()),
            grouped(sum(conversions, 1)?),
            sum(conversions, 2)?.to_string(),
        ),
    ];
    let mut text = "\n| what | of | compared | differences |\n|---|---|---|---|\n".to_owned();
    for (what, of, number, differences) in rows {
        text += &format!("| {what} | {of} | {number} | {differences} |\n");
    }
    Ok(text + "\n")
}

/// A number with commas.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups.map(String::from_utf8_lossy).collect();
    groups.join(",")
}

/// The directed questions: instructions of one answer together.
fn of_points(points: &Lines) -> String {
    // Name and conclusion, in order of the file: instructions and inputs.
    let mut order = Vec::new();
    let mut found: BTreeMap<(String, String), (Vec<&str>, usize)> = BTreeMap::new();
    for question in points.chunk_by(|_, next| !next.starts_with("point ")) {
        let mut words = question[0].split(' ').skip(1);
        let (name, instruction) = (words.next().unwrap_or("-"), words.next().unwrap_or("-"));
        let said = question.iter().find_map(|line| line.strip_prefix("= "));
        let key = (name.to_owned(), said.unwrap_or("as the rows").to_owned());
        if !found.contains_key(&key) {
            order.push(key.clone());
        }
        let (instructions, inputs) = found.entry(key).or_default();
        instructions.push(instruction);
        *inputs += question.iter().filter(|line| line.contains('\t')).count();
    }
    order.sort_by_key(|(name, _)| order_of(points, name));
    let mut text =
        "\n| question | what the answers say | inputs | instructions |\n|---|---|---|---|\n"
            .to_owned();
    for key in order {
        let (instructions, inputs) = &found[&key];
        let names: Vec<String> = instructions.iter().map(|it| format!("`{it}`")).collect();
        let names = match names.len() {
            0..=4 => names.join(", "),
            all => format!("{all}: {}, …", names[..2].join(", ")),
        };
        text += &format!("| {} | {} | {inputs} | {names} |\n", key.0, key.1);
    }
    text + "\n"
}

/// Where a question first stands in the file.
fn order_of(points: &Lines, name: &str) -> usize {
    let head = format!("point {name} ");
    points
        .iter()
        .position(|line| line.starts_with(&head))
        .unwrap_or(points.len())
}
