//! Small parts of HTML: escaping, links, tables, names of pages.

use std::fmt::Write;

/// Text as HTML shows it.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

/// A text between backquotes as code, everything else as text.
pub(crate) fn prose(text: &str) -> String {
    let mut out = String::new();
    for (index, part) in text.split('`').enumerate() {
        match index % 2 {
            1 => write!(out, "<code>{}</code>", escaped(part)).ok(),
            _ => write!(out, "{}", escaped(part)).ok(),
        };
    }
    out
}

/// A name as part of a file's name or an anchor: letters, digits, points and hyphens.
pub(crate) fn slug(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        match c {
            'a'..='z' | '0'..='9' | '.' => out.push(c),
            'A'..='Z' => out.push(c.to_ascii_lowercase()),
            _ if out.ends_with('-') => {}
            _ => out.push('-'),
        }
    }
    out.trim_matches('-').to_owned()
}

/// A part of a link behind `#` or `=`: every byte that is not plain is written as `%XX`.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'*' | b',' | b':' => {
                out.push(char::from(byte));
            }
            _ => {
                write!(out, "%{byte:02X}").ok();
            }
        }
    }
    out
}

/// A table with a caption that screen readers name it by. Cells are HTML. The first cell of a row is its heading.
pub(crate) fn table(
    caption: &str,
    heads: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let mut out = format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table><caption>{0}</caption><thead><tr>",
        escaped(caption)
    );
    for head in heads {
        write!(out, "<th scope=\"col\">{}</th>", escaped(head)).ok();
    }
    out.push_str("</tr></thead><tbody>");
    for row in rows {
        out.push_str("<tr>");
        for (index, cell) in row.iter().enumerate() {
            match index {
                0 => write!(out, "<th scope=\"row\">{cell}</th>").ok(),
                _ => write!(out, "<td>{cell}</td>").ok(),
            };
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
    out
}

/// A list of paragraphs of text as `<li>`.
pub(crate) fn list(items: impl IntoIterator<Item = String>) -> String {
    let items: String = items
        .into_iter()
        .map(|item| format!("<li>{item}</li>"))
        .collect();
    format!("<ul>{items}</ul>")
}

/// `1 row`, `2 rows`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}
