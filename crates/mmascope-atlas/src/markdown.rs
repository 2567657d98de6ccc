//! Turns the project's own documents into HTML: paragraphs, tables, lists, headings, code. Links become their words,
//! because they lead to files that the site does not have.

use std::fmt::Write;

use crate::html::{escaped, slug, table};

/// The part of a document below a heading, up to the next one of the same or a higher level.
pub(crate) fn section<'t>(text: &'t str, heading: &str) -> &'t str {
    let level = heading.chars().take_while(|c| *c == '#').count();
    let Some(at) = text.find(&format!("{heading}\n")) else {
        return "";
    };
    let rest = &text[at + heading.len() + 1..];
    let mut offset = 0;
    for line in rest.split_inclusive('\n') {
        let hashes = line.chars().take_while(|c| *c == '#').count();
        if (1..=level).contains(&hashes) {
            return &rest[..offset];
        }
        offset += line.len();
    }
    rest
}

/// The rows of the first table of a text, without its head.
pub(crate) fn rows(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines().skip_while(|line| !line.starts_with('|'));
    lines
        .take_while(|line| line.starts_with('|'))
        .skip(2)
        .map(cells)
        .collect()
}

/// The cells of a line of a table.
fn cells(line: &str) -> Vec<String> {
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
    inner
        .replace("\\|", "\u{1}")
        .split('|')
        .map(|cell| cell.trim().replace('\u{1}', "|"))
        .collect()
}

/// A text as HTML; its headings become those from `h2` on. `caption` names its tables.
pub(crate) fn html(text: &str, caption: &str) -> String {
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    let mut paragraph: Vec<&str> = Vec::new();
    let mut items: Vec<String> = Vec::new();
    let mut tables = 0;
    while let Some(line) = lines.next() {
        let is_text = !line.trim().is_empty()
            && !line.starts_with(['#', '|', '*'])
            && !line.starts_with("```");
        if is_text && line.starts_with("  ") && !items.is_empty() {
            if let Some(item) = items.last_mut() {
                write!(item, " {}", line.trim()).ok();
            }
            continue;
        }
        if !items.is_empty() && !line.starts_with("* ") {
            let list = items.drain(..).map(|item| inline(&item));
            out.push_str(&crate::html::list(list));
        }
        if is_text || line.starts_with("**") {
            paragraph.push(line);
            continue;
        }
        if !paragraph.is_empty() {
            write!(out, "<p>{}</p>", inline(&paragraph.join(" "))).ok();
            paragraph.clear();
        }
        if let Some(item) = line.strip_prefix("* ") {
            items.push(item.to_owned());
        } else if line.starts_with('#') {
            let level = line.chars().take_while(|c| *c == '#').count().clamp(2, 4);
            let words = line.trim_start_matches('#').trim();
            write!(
                out,
                "<h{level} id=\"{}\">{}</h{level}>",
                slug(words),
                inline(words)
            )
            .ok();
        } else if line.starts_with("```") {
            let code: Vec<&str> = lines
                .by_ref()
                .take_while(|line| !line.starts_with("```"))
                .collect();
            write!(
                out,
                "<pre tabindex=\"0\"><code>{}</code></pre>",
                escaped(&code.join("\n"))
            )
            .ok();
        } else if line.starts_with('|') {
            let heads = cells(line);
            lines.next();
            let mut body = Vec::new();
            while let Some(line) = lines.next_if(|line| line.starts_with('|')) {
                body.push(cells(line).iter().map(|cell| inline(cell)).collect());
            }
            tables += 1;
            let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
            let caption = match tables {
                1 => caption.to_owned(),
                _ => format!("{caption}, {tables}"),
            };
            out.push_str(&table(&caption, &heads, body));
        }
    }
    if !items.is_empty() {
        out.push_str(&crate::html::list(
            items.drain(..).map(|item| inline(&item)),
        ));
    }
    if !paragraph.is_empty() {
        write!(out, "<p>{}</p>", inline(&paragraph.join(" "))).ok();
    }
    out
}

/// Code, emphasis and links within a line.
pub(crate) fn inline(text: &str) -> String {
    let mut out = String::new();
    for (index, part) in text.split('`').enumerate() {
        if index % 2 == 1 {
            write!(out, "<code>{}</code>", escaped(part)).ok();
            continue;
        }
        let mut words = String::new();
        let mut rest = part;
        while let Some((before, after)) = rest.split_once('[') {
            words.push_str(before);
            match after
                .split_once("](")
                .and_then(|(name, end)| Some((name, end.split_once(')')?.1)))
            {
                Some((name, end)) => {
                    words.push_str(name);
                    rest = end;
                }
                None => {
                    words.push('[');
                    rest = after;
                }
            }
        }
        words.push_str(rest);
        let strong = words.split("**").enumerate();
        for (index, part) in strong {
            let mut text = String::new();
            for (index, part) in part.split('*').enumerate() {
                match index % 2 {
                    1 => write!(text, "<em>{}</em>", escaped(part)).ok(),
                    _ => write!(text, "{}", escaped(part)).ok(),
                };
            }
            match index % 2 {
                1 => write!(out, "<strong>{text}</strong>").ok(),
                _ => write!(out, "{text}").ok(),
            };
        }
    }
    out
}
