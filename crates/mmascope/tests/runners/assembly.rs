//! Turns the inline assembly of device code into calls, for a chip in C++ (`device.hpp`).

/// The arguments of inline assembly: `"r"(x), "l"(y)` is x and y.
fn arguments(text: &str, before: &str, after: &str) -> String {
    let (mut all, mut depth, mut current) = (Vec::new(), 0, String::new());
    for c in text.chars().chain([',']) {
        depth += i32::from("([".contains(c)) - i32::from(")]".contains(c));
        if c == ',' && depth == 0 {
            let inner = current
                .split_once('(')
                .and_then(|(_, rest)| rest.trim_end().strip_suffix(')'));
            all.extend(inner.map(|inner| format!("{before}({inner}){after}")));
            current.clear();
        } else {
            current.push(c);
        }
    }
    all.join(", ")
}

/// Inline assembly becomes a call: `instruction(text, {outs}, {ins})`.
pub(crate) fn without_assembly(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("asm volatile(") {
        out += before;
        let (mut parts, mut depth, mut in_string, mut end) = (vec![String::new()], 0, false, 0);
        let mut escaped = false;
        for (at, c) in after.char_indices() {
            end = at;
            if in_string {
                in_string = c != '"' || escaped;
                escaped = c == '\\' && !escaped;
            } else if c == ')' && depth == 0 {
                break;
            } else if c == ':' && depth == 0 {
                parts.push(String::new());
                continue;
            } else {
                depth += i32::from(c == '(') - i32::from(c == ')');
                in_string = c == '"';
            }
            parts.last_mut().expect("never empty").push(c);
        }
        let part = |at: usize| parts.get(at).map_or("", String::as_str);
        let (outs, ins) = (
            arguments(part(1), "&", ""),
            arguments(part(2), "bits_of", ""),
        );
        out += &format!("instruction({}, {{{outs}}}, {{{ins}}})", part(0));
        rest = &after[end + 1..];
    }
    out + rest
}
