//! The parts that all pictures are made of: the sheet, and text.

/// Colours follow the reader's light or dark setting.
const STYLE: &str = "\
text { font-family: system-ui, sans-serif; fill: #1f2328 }
.sheet { fill: #ffffff; stroke: #d1d9e0 }
.box { fill: #f6f8fa; stroke: #818b98 }
.line { stroke: #818b98; fill: none }
.faint { stroke: #d1d9e0; fill: none }
.accent { fill: #0969da; stroke: none }
.exact { stroke: #1a7f37; fill: none }
.small { fill: #59636e }
.code { font-family: ui-monospace, monospace }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc }
.sheet { fill: #0d1117; stroke: #3d444d }
.box { fill: #151b23; stroke: #9198a1 }
.line { stroke: #9198a1 }
.faint { stroke: #3d444d }
.accent { fill: #4493f8 }
.exact { stroke: #3fb950 }
.small { fill: #9198a1 }
}
";

/// A whole drawing; `title` is read to those who do not see it.
pub(super) fn sheet(width: u32, height: u32, title: &str, body: &str) -> String {
    let (title, inner) = (escape(title), (width - 1, height - 1));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n<rect class=\"sheet\" x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" \
         rx=\"8\"/>\n{body}</svg>\n",
        inner.0, inner.1
    )
}

/// One line of text; `attributes` such as `class="small"`.
pub(super) fn text(x: u32, y: u32, size: u32, attributes: &str, words: &str) -> String {
    let space = if attributes.is_empty() { "" } else { " " };
    format!(
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{space}{attributes}>{}</text>\n",
        escape(words)
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
