//! Generated parts of hand-written pages: each stands between two lines that name it.

/// The page with a part written again.
pub(super) fn filled(page: &str, name: &str, part: &str) -> Result<String, String> {
    let begin = format!("<!-- {name}: written by `cargo xtask generate` -->\n");
    let end = format!("<!-- end of {name} -->");
    let (before, rest) = page
        .split_once(&begin)
        .ok_or_else(|| format!("has no mark where {name} begins"))?;
    let (_, after) = rest
        .split_once(&end)
        .ok_or_else(|| format!("has no mark where {name} ends"))?;
    Ok(format!("{before}{begin}{part}{end}{after}"))
}

/// A page as it is committed. A checkout may have turned line ends.
pub(super) fn page(path: &std::path::Path) -> Result<String, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    Ok(text.replace("\r\n", "\n"))
}
