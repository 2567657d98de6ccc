//! The special values of many units as a page (HTML).

use std::fmt::Write;

use super::{CASES, Special};
use crate::explain::escaped;

/// A page with a table: a row for each unit, a column for each case. `units` are names and cases.
#[must_use]
pub fn page(title: &str, units: &[(String, Vec<Special>)]) -> String {
    let mut out = String::new();
    // Writing to a text does not fail.
    let mut add = |text: std::fmt::Arguments<'_>| {
        out.write_fmt(text).ok();
    };
    add(format_args!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{0}</title><style>\
         :root{{color-scheme:light dark}}body{{font:14px/1.4 system-ui,sans-serif;margin:1.5rem}}\
         .wide{{overflow:auto;max-height:85vh}}table{{border-collapse:collapse}}\
         th,td{{padding:.2rem .6rem;text-align:left;white-space:nowrap;border-bottom:1px solid #8884}}\
         td{{font-family:ui-monospace,monospace}}th{{position:sticky;top:0;background:Canvas}}\
         th:first-child,td:first-child{{position:sticky;left:0;background:Canvas}}\
         small{{color:GrayText}}</style></head><body><h1>{0}</h1><ul>\n",
        escaped(title)
    ));
    for (name, what, _) in &CASES {
        add(format_args!(
            "<li><b>{}</b>: {}</li>\n",
            escaped(name),
            escaped(what)
        ));
    }
    add(format_args!(
        "</ul><div class=\"wide\"><table><thead><tr><th>unit</th>"
    ));
    for (name, ..) in &CASES {
        add(format_args!("<th>{}</th>", escaped(name)));
    }
    add(format_args!("</tr></thead><tbody>\n"));
    for (unit, specials) in units {
        add(format_args!("<tr><td>{}</td>", escaped(unit)));
        for special in specials {
            match &special.outcome {
                None => add(format_args!("<td>–</td>")),
                Some(outcome) => add(format_args!(
                    "<td>{} <small>{}</small></td>",
                    outcome.result(),
                    escaped(&outcome.value.decimal_of(6))
                )),
            }
        }
        add(format_args!("</tr>\n"));
    }
    add(format_args!("</tbody></table></div></body></html>\n"));
    out
}
