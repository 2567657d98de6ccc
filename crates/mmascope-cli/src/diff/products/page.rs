//! Writes a comparison of whole products as one HTML page: counts, maps, and the outputs that differ with their chains.

use super::{Compared, HEADS, Side, counts, headline, map, place_text, verdict_words, walk};
use crate::args::Diff;
use crate::diff::drawing::escaped;
use crate::diff::page::{scrolled, table};
use crate::diff::text::EXPLAINED;
use crate::report::Failure;
use crate::walk::Walk;
use mmascope::diff::{Place, Verdict};
use mmascope::explain::Report;

pub(super) fn page(
    options: &Diff,
    sides: &[Side<'_>],
    pairs: &[Compared],
) -> Result<String, Failure> {
    let mut report = Report::new("Where results differ");
    let said = escaped(&headline(options, sides));
    report.html(&format!("<p>{said}</p>"));
    let rows: Vec<[String; 7]> = pairs.iter().map(|pair| counts(sides, pair)).collect();
    report.html(&table(&HEADS, &rows));
    for (index, pair) in pairs.iter().enumerate() {
        let (left, right) = (&sides[pair.left], &sides[pair.right]);
        let title = escaped(&format!("{} and {}", left.name, right.name));
        report.html(&format!("<h2 class=\"pair\">{title}</h2>"));
        report.html(&scrolled(&map::of_pair(sides, pair)));
        if index >= EXPLAINED {
            continue;
        }
        let Some((first, verdict)) = pair.outputs.first else {
            continue;
        };
        let worst = pair.outputs.worst.filter(|(at, _)| *at != first);
        let name = match worst {
            Some(_) => "The first that differs",
            None => "The first that differs, and the worst",
        };
        output(
            &mut report,
            name,
            [left, right],
            (first, verdict),
            pair.walk.as_ref(),
        );
        if let Some(worst) = worst {
            let walk = walk(left, right, worst.0)?;
            output(
                &mut report,
                "The worst",
                [left, right],
                worst,
                walk.as_ref(),
            );
        }
    }
    Ok(report.page())
}

/// An output on both sides, with its chain where there is one.
fn output(
    report: &mut Report,
    name: &str,
    sides: [&Side<'_>; 2],
    (place, verdict): (Place, Verdict),
    walk: Option<&Walk>,
) {
    let at = place_text(sides[0].shape, place);
    report.html(&format!("<h3>{name}: output {at}</h3>"));
    let rows = sides.map(|side| [side.name.clone(), side.word(place), side.decimal(place)]);
    report.html(&table(&["", "D", "value"], &rows));
    let words = escaped(&verdict_words(verdict));
    report.html(&format!("<p>Between them: {words}</p>"));
    if let Some(walk) = walk {
        walk.draw(report);
    }
}
