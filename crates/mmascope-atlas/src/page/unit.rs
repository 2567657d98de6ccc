//! A page for each different unit, and with it for every instruction that it computes.

use std::collections::BTreeMap;
use std::fmt::Write;

use mmascope::accuracy;
use mmascope::dpa::Signature;
use mmascope::isa::Strength;
use mmascope::vector;

use super::{badge, types};
use crate::File;
use crate::html::{counted, encoded, escaped, list, prose, slug, table};
use crate::separate::{Separation, Shown};
use crate::shell::Page;
use crate::study::{Entry, Findings, Place, Study, algorithm};

/// Values of an operand that are shown one by one; runs of zeros behind them are left out.
const DIGITS: usize = 9;

/// Every unit's page and its pictures.
pub(crate) fn pages(study: &Study<'_>) -> Vec<File> {
    let mut files = Vec::new();
    for (index, (entry, findings)) in study.entries.iter().zip(&study.findings).enumerate() {
        files.push(page(study, index, entry, findings));
        files.extend(pictures(study, entry, findings));
    }
    files
}

fn leaves(signature: &Signature) -> Vec<String> {
    let products = (0..signature.k).map(|k| format!("p{k}"));
    products.chain(["c".to_owned()]).collect()
}

/// The drawings of the summation tree and of the errors.
fn pictures(study: &Study<'_>, entry: &Entry<'_>, findings: &Findings) -> Vec<File> {
    let mut files = Vec::new();
    if let Some(tree) = &findings.tree {
        let svg = tree.svg(&entry.places[0].row.name, &leaves(entry.unit.signature()));
        files.push(File::text(format!("unit-{}-tree.svg", entry.id), svg));
    }
    if let Some(curve) = &findings.curve {
        let mut curves = vec![curve.clone()];
        let others = findings.separations.iter();
        curves.extend(others.filter_map(|(other, _)| study.findings[*other].curve.clone()));
        let svg = accuracy::chart(&curves, "Error against K, normal deviates, 16 × 16 outputs");
        files.push(File::text(format!("unit-{}-error.svg", entry.id), svg));
    }
    files
}

fn page(study: &Study<'_>, index: usize, entry: &Entry<'_>, findings: &Findings) -> File {
    let unit = entry.unit;
    let first = &entry.places[0];
    let [element, how] = unit.summary();
    let others = entry.places.len() - 1;
    let title = match others {
        0 => first.name(),
        _ => format!(
            "{} and {}",
            first.name(),
            counted(others, "more instruction")
        ),
    };
    let mut page = Page::new(format!("unit-{}.html", entry.id), title, &element);
    let body = &mut page.body;
    write!(
        body,
        "<p class=\"lead\">{} {}</p><p><a class=\"button\" href=\"explorer.html#arch={}&amp;inst={}\">Compute with it</a></p>",
        escaped(&element),
        escaped(&how),
        encoded(&first.architecture.name),
        encoded(&first.row.name)
    )
    .ok();
    body.push_str(
        "<p class=\"jump\"><a href=\"#instructions\">Instructions</a> <a href=\"#arithmetic\">Arithmetic</a> \
         <a href=\"#tree\">Summation tree</a> <a href=\"#evidence\">Evidence</a> <a href=\"#features\">Features</a> \
         <a href=\"#specials\">Special values</a> <a href=\"#neighbours\">Neighbours</a> <a href=\"#errors\">Errors</a> \
         <a href=\"#open\">Open points</a></p>",
    );
    instructions(body, entry);
    arithmetic(body, entry);
    tree(body, entry, findings);
    evidence(body, entry);
    features(body, findings);
    specials(body, findings);
    elsewhere(body, study, index);
    neighbours(body, study, entry, findings);
    errors(body, entry, findings);
    open_points(body, entry);
    page.finish(&study.hash())
}

/// Every instruction with its anchor, by architecture.
fn instructions(body: &mut String, entry: &Entry<'_>) {
    body.push_str("<h2 id=\"instructions\">Instructions</h2>");
    let rows = entry.places.iter().map(|place| {
        let row = place.row;
        let shapes: Vec<String> = row.shapes.iter().map(ToString::to_string).collect();
        let default = match row.is_default {
            true => " <small>default of its types</small>",
            false => "",
        };
        let mut more = row.modifiers.clone();
        let flags: Vec<String> = row
            .flags
            .each()
            .map(|(event, bit)| format!("bit {bit}: {event}"))
            .collect();
        more.extend(flags);
        vec![
            format!(
                "<a id=\"{}\" href=\"arch-{}.html#{}\">{}</a>",
                place.anchor(),
                slug(&place.architecture.name),
                slug(&crate::class::of(&row.signature).id),
                escaped(&place.architecture.name)
            ),
            format!("<code>{}</code>{default}", escaped(&row.name)),
            escaped(&shapes.join(" ")),
            escaped(&more.join(", ")),
            badge(row.evidence.default),
            format!("<small>{}</small>", escaped(&row.position.to_string())),
        ]
    });
    body.push_str(&table(
        "Instructions that this unit computes",
        &[
            "architecture",
            "instruction",
            "shapes",
            "modifiers, flags",
            "evidence",
            "catalogue",
        ],
        rows,
    ));
}

fn arithmetic(body: &mut String, entry: &Entry<'_>) {
    let unit = entry.unit;
    let name = algorithm(unit);
    write!(
        body,
        "<h2 id=\"arithmetic\">Arithmetic</h2><p class=\"notation\"><code>{}</code></p><p>Operands: {}. K = {}: an output sums {}. \
         Algorithm: <a href=\"algorithm-{}.html\">{name}</a>.</p><div class=\"words\">",
        escaped(&unit.program().to_string()),
        escaped(&types(entry.places[0].row)),
        unit.signature().k,
        counted(unit.signature().k, "product"),
        slug(name),
    )
    .ok();
    for line in unit.words() {
        let indent = (line.len() - line.trim_start().len()) / 2;
        let class = if indent > 0 { " class=\"in\"" } else { "" };
        write!(body, "<p{class}>{}</p>", escaped(line.trim())).ok();
    }
    body.push_str("</div>");
}

fn tree(body: &mut String, entry: &Entry<'_>, findings: &Findings) {
    body.push_str("<h2 id=\"tree\">Summation tree</h2>");
    match &findings.tree {
        Some(tree) => {
            write!(
                body,
                "<p>p<sub>k</sub> is what a<sub>k</sub> and b<sub>k</sub> give to the sum. Pattern: {}.</p>\
                 <div class=\"picture\" tabindex=\"0\" role=\"region\" aria-label=\"Summation tree\"><img src=\"unit-{}-tree.svg\" \
                 loading=\"lazy\" alt=\"Summation tree over {}: {}\"></div>",
                escaped(&tree.pattern()),
                entry.id,
                counted(tree.leaves(), "term"),
                escaped(&tree.pattern())
            )
            .ok();
        }
        None => body.push_str("<p>The order of this unit is no tree over its products and c.</p>"),
    }
}

/// Every parameter with its value, and who has which evidence for it.
fn evidence(body: &mut String, entry: &Entry<'_>) {
    body.push_str("<h2 id=\"evidence\">Parameters and evidence</h2>");
    let parameters = entry.unit.program().parameters();
    let rows = parameters.iter().map(|parameter| {
        let mut levels: BTreeMap<Strength, Vec<&str>> = BTreeMap::new();
        for place in &entry.places {
            let names = levels
                .entry(place.row.evidence.of(parameter.name))
                .or_default();
            if !names.contains(&&*place.architecture.name) {
                names.push(&place.architecture.name);
            }
        }
        let only = levels.len() == 1;
        let cells: Vec<String> = levels
            .iter()
            .map(|(level, names)| match only {
                true => badge(*level),
                false => format!("{} {}", badge(*level), escaped(&names.join(", "))),
            })
            .collect();
        let name = match &*parameter.statement {
            "" => parameter.name.to_owned(),
            statement => format!("{statement}: {}", parameter.name),
        };
        vec![
            format!("<code>{}</code>", escaped(&name)),
            format!("<code>{}</code>", escaped(&parameter.value)),
            escaped(meaning(parameter.name)),
            cells.join("<br>"),
        ]
    });
    body.push_str(&table(
        "Parameters and evidence",
        &["parameter", "value", "what it is", "evidence"],
        rows,
    ));
    let mut sources: Vec<&str> = Vec::new();
    for place in &entry.places {
        for source in place.row.sources.iter().chain(&place.architecture.sources) {
            if !sources.contains(&&**source) {
                sources.push(source);
            }
        }
    }
    if !sources.is_empty() {
        write!(
            body,
            "<h3>Sources</h3>{}",
            list(sources.into_iter().map(prose))
        )
        .ok();
    }
}

/// What a parameter is, from the schema; what the notation says without a name has its words here.
pub(crate) fn meaning(name: &str) -> &'static str {
    match mmascope::dpa::schema::parameter(name) {
        Some(parameter) => parameter.meaning,
        None => match name {
            "rounding" => "rounding and format of the result",
            "order" => "which k, in which order",
            "c" => "where c enters",
            "widened" => "the format that a and b are widened to first",
            "part-a" => "the part of a that is taken",
            "part-b" => "the part of b that is taken",
            _ => "",
        },
    }
}

fn features(body: &mut String, findings: &Findings) {
    body.push_str("<h2 id=\"features\">Features, as probe finds them</h2>");
    let features = match &findings.features {
        Ok(features) => features,
        Err(reason) => {
            write!(body, "<p>Not probed: {}.</p>", escaped(reason)).ok();
            return;
        }
    };
    write!(
        body,
        "<p><code>mmascope probe model:{}</code> asked the model {} and concluded from its answers alone:</p>",
        escaped(&features.subject),
        counted(features.queries as usize, "question")
    )
    .ok();
    let rows = features.features.iter().map(|feature| {
        vec![
            escaped(&feature.title),
            format!("<b>{}</b>", escaped(&feature.value)),
            escaped(&feature.conclusion),
            feature.tests.len().to_string(),
        ]
    });
    body.push_str(&table(
        "Features",
        &["feature", "value", "conclusion", "tests"],
        rows,
    ));
}

fn specials(body: &mut String, findings: &Findings) {
    body.push_str("<h2 id=\"specials\">Special values</h2>");
    let rows = findings.specials.iter().filter_map(|special| {
        let outcome = special.outcome.as_ref()?;
        Some(vec![
            format!("<code>{}</code>", escaped(special.name)),
            escaped(special.what),
            format!("<code>{}</code>", escaped(&outcome.result())),
            escaped(&outcome.value.decimal_of(6)),
        ])
    });
    let rows: Vec<_> = rows.collect();
    match rows.is_empty() {
        true => body.push_str("<p>Its formats have no special values.</p>"),
        false => body.push_str(&table(
            "Special values",
            &["case", "operands", "result", "value"],
            rows,
        )),
    }
}

/// Units with the same arithmetic on other types or another K.
fn elsewhere(body: &mut String, study: &Study<'_>, index: usize) {
    let own = study.entries[index].unit;
    body.push_str("<h2 id=\"elsewhere\">Equal elsewhere</h2>");
    let mut architectures: Vec<&str> = Vec::new();
    for place in &study.entries[index].places {
        if !architectures.contains(&&*place.architecture.name) {
            architectures.push(&place.architecture.name);
        }
    }
    write!(
        body,
        "<p>The instructions of this page, of {}, give the same bits for the same operands.</p>",
        escaped(&architectures.join(", "))
    )
    .ok();
    let same = study
        .entries
        .iter()
        .enumerate()
        .filter(|(other, entry)| *other != index && entry.unit.program() == own.program());
    let items: Vec<String> = same
        .map(|(_, entry)| {
            format!(
                "<a href=\"unit-{}.html\"><code>{}</code></a>: {}, K = {}",
                entry.id,
                escaped(&entry.places[0].name()),
                escaped(&types(entry.places[0].row)),
                entry.unit.signature().k
            )
        })
        .collect();
    if !items.is_empty() {
        write!(
            body,
            "<p>The same arithmetic on other types, or with another K:</p>{}",
            list(items)
        )
        .ok();
    }
}

fn neighbours(body: &mut String, study: &Study<'_>, entry: &Entry<'_>, findings: &Findings) {
    body.push_str("<h2 id=\"neighbours\">What differs from its neighbours</h2>");
    if findings.separations.is_empty() {
        body.push_str("<p>No other unit of the catalogue takes these operand types.</p>");
        return;
    }
    body.push_str(
        "<p>The units with the same operand types whose arithmetic is nearest, each with the smallest input found on which \
         the two differ.</p>",
    );
    for (other, separation) in &findings.separations {
        let other = &study.entries[*other];
        write!(
            body,
            "<section class=\"neighbour\"><h3><a href=\"unit-{}.html\">{}</a></h3>",
            other.id,
            escaped(&other.places[0].name())
        )
        .ok();
        let changed = differing(entry, other);
        if !changed.is_empty() {
            body.push_str(&table(
                &format!("Parameters that differ from {}", other.places[0].name()),
                &["parameter", "here", "there"],
                changed,
            ));
        }
        match separation {
            Separation::Input(shown) => input(body, entry, other, shown),
            Separation::None(count) => {
                write!(
                    body,
                    "<p>{} gave no difference: what differs may show nowhere.</p>",
                    counted(*count as usize, "input")
                )
                .ok();
            }
            Separation::Apart => body.push_str("<p>No input that was tried fits both.</p>"),
        }
        body.push_str("</section>");
    }
}

/// The parameters of two units that have other values.
fn differing(one: &Entry<'_>, other: &Entry<'_>) -> Vec<Vec<String>> {
    let (here, there) = (
        one.unit.program().parameters(),
        other.unit.program().parameters(),
    );
    let key = |it: &mmascope::dpa::ProgramParameter| (it.statement.clone(), it.name);
    let mut keys: Vec<_> = here.iter().chain(&there).map(key).collect();
    let mut seen = Vec::new();
    keys.retain(|it| {
        let is_new = !seen.contains(it);
        seen.push(it.clone());
        is_new
    });
    let mut rows = Vec::new();
    let types = (
        format!("K={}", one.unit.signature().k),
        format!("K={}", other.unit.signature().k),
    );
    if types.0 != types.1 {
        rows.push(vec!["K".to_owned(), types.0, types.1]);
    }
    for wanted in keys {
        let value = |among: &[mmascope::dpa::ProgramParameter]| {
            let found = among.iter().find(|it| key(it) == wanted);
            found.map_or("–".to_owned(), |it| it.value.clone())
        };
        let (left, right) = (value(&here), value(&there));
        if left != right {
            let name = match &*wanted.0 {
                "" => wanted.1.to_owned(),
                statement => format!("{statement}: {}", wanted.1),
            };
            rows.push(vec![
                format!("<code>{}</code>", escaped(&name)),
                format!("<code>{}</code>", escaped(&left)),
                format!("<code>{}</code>", escaped(&right)),
            ]);
        }
    }
    rows
}

/// An input that separates two units, explained.
fn input(body: &mut String, entry: &Entry<'_>, other: &Entry<'_>, shown: &Shown) {
    let operands = &shown.explanation.operands;
    let mut products: Vec<String> = Vec::new();
    for pair in &operands.pairs {
        let is_zero = |operand: &mmascope::explain::TracedOperand| operand.class == "zero";
        if !is_zero(&pair.a) || !is_zero(&pair.b) {
            products.push(format!(
                "a<sub>{0}</sub> = {1}, b<sub>{0}</sub> = {2}",
                pair.k,
                escaped(&pair.a.value.decimal_of(DIGITS)),
                escaped(&pair.b.value.decimal_of(DIGITS))
            ));
        }
    }
    write!(
        body,
        "<p>c = {}{}{}; all other operands are 0. The exact sum is {}.</p>",
        escaped(&operands.c.value.decimal_of(DIGITS)),
        if products.is_empty() { "" } else { "; " },
        products.join("; "),
        escaped(&operands.exact.decimal_of(DIGITS))
    )
    .ok();
    let mut results = Vec::new();
    for (letter, side) in ["A", "B"].iter().zip(&shown.explanation.sides) {
        if let Some((trace, word)) = &side.trace {
            results.push(format!(
                "{letter}, {}, gives <code>{}</code> = {}",
                escaped(&side.name),
                escaped(word),
                escaped(&trace.result.value.decimal_of(DIGITS))
            ));
        }
    }
    write!(body, "<p>{}.</p>", results.join("; ")).ok();
    if !shown.explanation.words.is_empty() {
        write!(
            body,
            "<p class=\"parting\">They part {}.</p>",
            escaped(&shown.explanation.words)
        )
        .ok();
    }
    write!(
        body,
        "<p><a href=\"explorer.html#{}\">See every step of both</a></p>",
        escaped(&fragment(&entry.places[0], &other.places[0], shown))
    )
    .ok();
}

/// The explorer's state for an input on two units.
fn fragment(own: &Place<'_>, other: &Place<'_>, shown: &Shown) -> String {
    let (signature, case) = (&shown.input.signature, &shown.input.case);
    let mut text = format!(
        "arch={}&inst={}&a={}&b={}&c={}",
        encoded(&own.architecture.name),
        encoded(&own.row.name),
        vector::hex(&case.a, &signature.a),
        vector::hex(&case.b, &signature.b),
        vector::hex(&[case.c], &signature.c)
    );
    if let Some(scale) = signature.scale {
        write!(
            text,
            "&sa={}&sb={}",
            vector::hex(&case.scale_a, &scale.format),
            vector::hex(&case.scale_b, &scale.format)
        )
        .ok();
    }
    write!(text, "&against={}", encoded(&other.name())).ok();
    text
}

fn errors(body: &mut String, entry: &Entry<'_>, findings: &Findings) {
    body.push_str("<h2 id=\"errors\">How errors grow with K</h2>");
    let Some(curve) = &findings.curve else {
        let reason = match entry.unit.signature().d.float() {
            None => "Sums of integers that the accumulator holds are exact.",
            Some(_) => {
                "Instructions of this unit are not chained: the result of one is no c of the next."
            }
        };
        write!(body, "<p>{reason}</p>").ok();
        return;
    };
    write!(
        body,
        "<p>Products of normal deviates, chained over ascending K, against the exact product; the nearest units beside it.</p>\
         <div class=\"picture\" tabindex=\"0\" role=\"region\" aria-label=\"Errors\"><img src=\"unit-{}-error.svg\" loading=\"lazy\" \
         alt=\"Curves of the mean error and of the bias over K; the table below has this unit's numbers\"></div>",
        entry.id
    )
    .ok();
    let rows = curve.points.iter().map(|point| {
        let it = &point.statistics;
        vec![
            point.k.to_string(),
            format!("{:.3e}", it.relative_to_products.mean),
            format!("{:.3e}", it.relative_to_products.max),
            format!("{:+.2e} ± {:.0e}", it.bias, it.bias_error),
            format!("{:.3}", it.ulps.mean),
            it.vanished.to_string(),
        ]
    });
    body.push_str(&table(
        "Errors by K",
        &[
            "K",
            "mean error / Σ|a·b|",
            "largest",
            "bias",
            "mean ulp",
            "vanished",
        ],
        rows,
    ));
}

/// What is disputed, unknown or assumed, and every remark.
fn open_points(body: &mut String, entry: &Entry<'_>) {
    body.push_str("<h2 id=\"open\">Disputes and open points</h2>");
    let mut items: Vec<String> = Vec::new();
    for parameter in entry.unit.program().parameters() {
        for level in [Strength::Open, Strength::Assumed] {
            let mut names: Vec<&str> = Vec::new();
            for place in &entry.places {
                let is_open = place.row.evidence.of(parameter.name) == level;
                if is_open && !names.contains(&&*place.architecture.name) {
                    names.push(&place.architecture.name);
                }
            }
            if names.is_empty() {
                continue;
            }
            let item = format!(
                "<code>{}={}</code> ({}): {}, on {}",
                escaped(parameter.name),
                escaped(&parameter.value),
                escaped(meaning(parameter.name)),
                escaped(
                    level
                        .words()
                        .split_once(": ")
                        .map_or(level.words(), |(_, rest)| rest)
                ),
                escaped(&names.join(", "))
            );
            if !items.contains(&item) {
                items.push(item);
            }
        }
    }
    match items.is_empty() {
        true => body.push_str("<p>No parameter is marked as disputed or assumed.</p>"),
        false => body.push_str(&list(items)),
    }
    let mut notes: Vec<(&str, Vec<&str>)> = Vec::new();
    for place in &entry.places {
        for note in place.row.notes.iter().chain(&place.architecture.notes) {
            let name = &*place.architecture.name;
            match notes.iter_mut().find(|(known, _)| known == note) {
                Some((_, names)) if names.contains(&name) => {}
                Some((_, names)) => names.push(name),
                None => notes.push((note, vec![name])),
            }
        }
    }
    if !notes.is_empty() {
        let items = notes.into_iter().map(|(note, names)| {
            format!(
                "{} <small>{}</small>",
                prose(note),
                escaped(&names.join(", "))
            )
        });
        write!(body, "<h3>Remarks</h3>{}", list(items)).ok();
    }
}
