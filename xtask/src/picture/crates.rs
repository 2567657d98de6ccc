//! The crates of the workspace and which needs which, as `cargo metadata` says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::svg;

/// Not part of the product.
const LEFT_OUT: [&str; 1] = ["xtask"];
const BOX: (u32, u32) = (620, 84);
const GAP: u32 = 36;
const MARGIN: u32 = 24;
/// Room on the right for lines that pass by a layer.
const LANE: u32 = 28;
/// Characters of a line in a box.
const LINE: usize = 96;

struct Package {
    description: String,
    /// Crates of this workspace.
    own: BTreeSet<String>,
    /// Crates of others.
    others: BTreeSet<String>,
    forbids_unsafe: bool,
}

type Packages = BTreeMap<String, Package>;

pub(super) fn draw(root: &Path) -> Result<String, String> {
    let packages = packages(root)?;
    let layers = layers(&packages);
    let widest = layers.iter().map(Vec::len).max().unwrap_or(1) as u32;
    let inner = widest * BOX.0 + (widest - 1) * GAP;
    let head = 64;
    let height = head + layers.len() as u32 * (BOX.1 + GAP);
    let mut places: BTreeMap<&str, (u32, u32, usize)> = BTreeMap::new();
    for (row, layer) in layers.iter().enumerate() {
        let own = layer.len() as u32 * BOX.0 + (layer.len() as u32 - 1) * GAP;
        let left = MARGIN + (inner - own) / 2;
        for (column, name) in layer.iter().enumerate() {
            let x = left + column as u32 * (BOX.0 + GAP);
            places.insert(name, (x, head + row as u32 * (BOX.1 + GAP), row));
        }
    }
    let mut body = svg::text(
        MARGIN,
        30,
        18,
        "font-weight=\"600\"",
        "The crates of mmascope",
    );
    let legend = "An arrow points from a crate to one that it uses; what follows from other arrows is left out.";
    body += &svg::text(MARGIN, 50, 12, "class=\"small\"", legend);
    body += "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" \
             markerHeight=\"8\" orient=\"auto\"><path class=\"line\" d=\"M0 0 L7 4 L0 8\"/></marker></defs>\n";
    let mut lane = 0;
    for (name, package) in &packages {
        let (x, y, row) = places[name.as_str()];
        for used in direct(package, &packages) {
            let (to_x, to_y, to_row) = places[used];
            let from = (x + BOX.0 / 2, y + BOX.1);
            let path = if to_row == row + 1 {
                format!("M{} {} L{} {}", from.0, from.1, to_x + BOX.0 / 2, to_y - 1)
            } else {
                // Around the layers between, on the right.
                let side = MARGIN + inner + LANE * (lane % 3) + LANE / 2;
                lane += 1;
                let (from_y, end_y) = (y + BOX.1 / 2, to_y + BOX.1 / 2);
                format!(
                    "M{} {from_y} H{side} V{end_y} H{}",
                    x + BOX.0,
                    to_x + BOX.0 + 1
                )
            };
            body += &format!("<path class=\"line\" marker-end=\"url(#tip)\" d=\"{path}\"/>\n");
        }
    }
    for (name, package) in &packages {
        let (x, y, _) = places[name.as_str()];
        body += &boxed(x, y, name, package);
    }
    let width = 2 * MARGIN + inner + LANE * lane.min(3);
    Ok(svg::sheet(
        width,
        height,
        "The crates of mmascope and their dependencies",
        &body,
    ))
}

fn boxed(x: u32, y: u32, name: &str, package: &Package) -> String {
    let mut text = format!(
        "<rect class=\"box\" x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"6\"/>\n",
        BOX.0, BOX.1
    );
    text += &svg::text(
        x + 14,
        y + 24,
        15,
        "class=\"code\" font-weight=\"600\"",
        name,
    );
    if package.forbids_unsafe {
        let attributes = "class=\"small\" text-anchor=\"end\"";
        text += &svg::text(
            x + BOX.0 - 14,
            y + 24,
            11,
            attributes,
            "forbids unsafe code",
        );
    }
    text += &svg::text(x + 14, y + 44, 13, "", &package.description);
    let others = package
        .others
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>();
    let uses = match others[..] {
        [] => "from elsewhere: nothing".to_owned(),
        _ => format!("from elsewhere: {}", others.join(", ")),
    };
    for (line, words) in wrapped(&uses).iter().enumerate() {
        text += &svg::text(
            x + 14,
            y + 64 + 16 * line as u32,
            11,
            "class=\"small\"",
            words,
        );
    }
    text
}

/// Lines of words.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("never empty");
        if last.is_empty() {
            last.push_str(word);
        } else if last.len() + 1 + word.len() <= LINE {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// The crates that a crate uses, without those that it would reach by way of another.
fn direct<'a>(package: &'a Package, packages: &'a Packages) -> Vec<&'a str> {
    let by_way = |of: &str| {
        packages[of]
            .own
            .iter()
            .flat_map(|next| reached(next, packages))
    };
    let indirect: BTreeSet<&str> = package.own.iter().flat_map(|own| by_way(own)).collect();
    let own = package.own.iter().map(String::as_str);
    own.filter(|own| !indirect.contains(own)).collect()
}

/// A crate and all that it needs of this workspace.
fn reached<'a>(name: &'a str, packages: &'a Packages) -> BTreeSet<&'a str> {
    let own = packages[name].own.iter();
    let below = own.flat_map(|own| reached(own, packages));
    below.chain([name]).collect()
}

/// The crates in layers: those that nobody uses first, each above all that it uses.
fn layers(packages: &Packages) -> Vec<Vec<&str>> {
    fn depth(name: &str, packages: &Packages) -> usize {
        let own = packages[name].own.iter();
        own.map(|own| depth(own, packages) + 1).max().unwrap_or(0)
    }
    let mut layers: Vec<Vec<&str>> = Vec::new();
    for name in packages.keys() {
        let depth = depth(name, packages);
        layers.resize_with(layers.len().max(depth + 1), Vec::new);
        layers[depth].push(name);
    }
    layers.reverse();
    layers
}

fn packages(root: &Path) -> Result<Packages, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let metadata: Value =
        serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let all = metadata["packages"].as_array().ok_or("no packages")?;
    let names: BTreeSet<&str> = all.iter().filter_map(|own| own["name"].as_str()).collect();
    let mut found = Packages::new();
    for own in all {
        let name = own["name"].as_str().unwrap_or_default();
        if LEFT_OUT.contains(&name) {
            continue;
        }
        let dependencies = own["dependencies"].as_array().into_iter().flatten();
        // Those of tests and of build programs have a kind.
        let needed = dependencies.filter(|dependency| dependency["kind"].is_null());
        let needed = needed.filter_map(|dependency| dependency["name"].as_str());
        let (inside, outside) = needed
            .map(str::to_owned)
            .partition(|it| names.contains(&**it));
        let manifest = Path::new(own["manifest_path"].as_str().unwrap_or_default());
        let library = manifest.with_file_name("src").join("lib.rs");
        let source = std::fs::read_to_string(library).unwrap_or_default();
        found.insert(
            name.to_owned(),
            Package {
                description: own["description"].as_str().unwrap_or_default().to_owned(),
                own: inside,
                others: outside,
                forbids_unsafe: source.contains("#![forbid(unsafe_code)]"),
            },
        );
    }
    Ok(found)
}
