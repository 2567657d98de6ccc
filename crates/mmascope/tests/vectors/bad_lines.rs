//! Lines that must be refused. `§` marks the column that the message must name.

use std::time::{Duration, Instant};

use mmascope::isa::Catalogue;
use mmascope::vector::Reader;

/// A line with a mark at the expected column, and what the message must contain. `{v}` is a good
/// start of a line of Volta's m8n8k4, `{s}` of a block-scaled one without its scales.
const LINES: &[(&str, &str)] = &[
    // No JSON object.
    ("§", "not a vector line: EOF while parsing a value"),
    (
        "§[]",
        "not a vector line: invalid type: sequence, expected a JSON object",
    ),
    ("nul§l", "expected a JSON object"),
    ("{§x", "not a vector line: key must be a string"),
    ("{\"é\": §x}", "not a vector line: expected value"),
    ("{}§x", "not a vector line: trailing characters"),
    (
        "{\"a\":§1",
        "not a vector line: EOF while parsing an object",
    ),
    // Keys.
    ("§{}", "key \"arch\" is missing"),
    ("§{\"arch\":\"volta\"}", "key \"inst\" is missing"),
    ("§{{v}}", "key \"a\" is missing"),
    ("§{{v},\"a\":\"3c003c003c003c00\"}", "key \"b\" is missing"),
    (
        "§{{v},\"a\":\"3c003c003c003c00\",\"b\":\"3c003c003c003c00\"}",
        "key \"c\" is missing",
    ),
    (
        "{{g},\"note\":\"é\",\"c\":§\"00000000\"}",
        "key \"c\" stands twice",
    ),
    ("{{g},\"kind\":1,\"kind\":§2}", "key \"kind\" stands twice"),
    (
        "{{g},\"kind\":1,\"k\\u0069nd\":§2}",
        "key \"kind\" stands twice",
    ),
    // Types of values.
    ("{\"arch\":§7,\"inst\":\"x\"}", "\"arch\" must be a string"),
    (
        "{\"arch\":\"volta\",\"inst\":§null}",
        "\"inst\" must be a string",
    ),
    (
        "{{v},\"a\":§[1],\"b\":\"\",\"c\":\"\"}",
        "\"a\" must be a string",
    ),
    ("{{g},\"d\":§1}", "\"d\" must be a string"),
    ("{{g},\"id\":§\"x\"}", "\"id\" must be a whole number"),
    ("{{g},\"id\":§1.5}", "\"id\" must be a whole number"),
    (
        "{{g},\"mods\":§\"negA\"}",
        "mma.m8n8k4.f32.f16.f16.f32 has no modifier negA; it has: none",
    ),
    ("{{g},\"mods\":§[1]}", "\"mods\" must be a list of strings"),
    (
        "{{g},\"mods\":§[\"nega\"]}",
        "unknown modifier 'nega'; nearest: negA",
    ),
    (
        "{{g},\"mods\":§[\"negA\"]}",
        "mma.m8n8k4.f32.f16.f16.f32 has no modifier negA; it has: none",
    ),
    (
        "{{g},\"mods\":§[\"scaleD=-99\"]}",
        "the exponent must be a whole number from -15 to 0",
    ),
    // Names.
    (
        "{\"arch\":\"§volt\",\"inst\":\"x\"}",
        "unknown architecture 'volt'; nearest: volta",
    ),
    (
        "{\"arch\":\"volta\",\"inst\":\"§mma.m8n8k4.f32.f16.f16.f3\"}",
        "nearest: mma.m8n8k4.f32.f16.f16.f32",
    ),
    (
        "{\"inst\":\"§x\",\"arch\":\"volta\"}",
        "unknown instruction 'x' of 'volta'",
    ),
    (
        "{\"arch\":\"hopper\",\"inst\":\"§wgmma.m64n12k16.f32.f16.f16\"}",
        "legal with K=16: m64n{8..256/8}k16",
    ),
    (
        "{\"arch\":\"sm_103\",\"inst\":\"§mma.m16n8k16.f32.f16.f16.f32\"}",
        "is known but not modelled",
    ),
    (
        "{\"arch\":\"gfx950\",\"inst\":\"§v_mfma_anything\"}",
        "is known but not modelled",
    ),
    // Elements.
    (
        "{{v},\"a\":\"§3c003c003c003c0\",\"b\":\"\",\"c\":\"\"}",
        "\"a\" has 15 digits; 4 × 4 are needed (4 of f16)",
    ),
    (
        "{{v},\"a\":\"§\",\"b\":\"\",\"c\":\"\"}",
        "\"a\" has 0 digits; 4 × 4 are needed",
    ),
    (
        "{{v},\"a\":\"3c003c003c00§xc00\",\"b\":\"\",\"c\":\"\"}",
        "\"a\": 'x' is no hexadecimal digit",
    ),
    (
        "{{v},\"a\":\"3c003c§ 03c003c00\",\"b\":\"\",\"c\":\"\"}",
        "\"a\": ' ' is no hexadecimal digit",
    ),
    (
        "{{v},\"a\":\"3c003c003c003c00\",\"b\":\"3c0§é3c003c003c00\",\"c\":\"\"}",
        "\"b\": 'é' is no hexadecimal digit",
    ),
    (
        "{\"note\":\"é👩‍👩‍👧\",{v},\"a\":\"§+c003c003c003c00\",\"b\":\"\",\"c\":\"\"}",
        "\"a\": '+' is no hexadecimal digit",
    ),
    (
        "{{v},\"a\":\"3c003c003c003c00\",\"b\":\"3c003c003c003c00\",\"c\":\"§3c00\"}",
        "\"c\" has 4 digits; 1 × 8 are needed (1 of f32)",
    ),
    (
        "{{g},\"d\":\"§3c00\"}",
        "\"d\" has 4 digits; 1 × 8 are needed",
    ),
    ("{{g},\"d\":\"§NaN\"}", "\"d\": 'N' is no hexadecimal digit"),
    // Scales.
    (
        "{{g},\"sa\":§\"7f\"}",
        "\"sa\": mma.m8n8k4.f32.f16.f16.f32 has no block scales",
    ),
    (
        "{{g},\"sb\":§null}",
        "\"sb\": mma.m8n8k4.f32.f16.f16.f32 has no block scales",
    ),
    ("§{{s}}", "key \"sa\" is missing"),
    ("§{{s},\"sa\":\"7f\"}", "key \"sb\" is missing"),
    (
        "{{s},\"sa\":\"§7f7f\",\"sb\":\"7f\"}",
        "\"sa\" has 4 digits; 1 × 2 are needed (1 of ue8m0)",
    ),
    (
        "{{s},\"sa\":\"7f\",\"sb\":\"§\"}",
        "\"sb\" has 0 digits; 1 × 2 are needed",
    ),
    (
        "{{s},\"sa\":\"7§g\",\"sb\":\"7f\"}",
        "\"sa\": 'g' is no hexadecimal digit",
    ),
];

const MX: &str =
    r#""arch":"sm_120","inst":"mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m3.f32.ue8m0""#;

fn marked(line: &str) -> (String, usize) {
    let v = r#""arch":"volta","inst":"mma.m8n8k4.f32.f16.f16.f32""#;
    let ones = r#""a":"3c003c003c003c00","b":"3c003c003c003c00","c":"00000000""#;
    let scaled = format!(
        r#"{MX},"a":"{}","b":"{}","c":"00000000""#,
        "38".repeat(32),
        "08".repeat(32)
    );
    let line = line
        .replace("{g}", &format!("{v},{ones}"))
        .replace("{v}", v)
        .replace("{s}", &scaled);
    let before = line.split('§').next().expect("a part").chars().count();
    (line.replace('§', ""), before + 1)
}

#[test]
fn bad_lines_are_refused_at_the_right_column() {
    let mut reader = Reader::new(Catalogue::built_in());
    let mut wrong = Vec::new();
    for (line, expected) in LINES {
        let (line, column) = marked(line);
        match reader.read(&line) {
            Ok(_) => wrong.push(format!("{line}\n  was read")),
            Err(bad) if bad.column == column && bad.message.contains(expected) => {
                let unmodelled = expected.contains("not modelled");
                assert_eq!(bad.unmodelled, unmodelled, "{line}");
            }
            Err(bad) => wrong.push(format!(
                "{line}\n  {}: {}\n  {column}: {expected}",
                bad.column, bad.message
            )),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    // What the lines have in common is good.
    for good in [
        "{{g}}",
        "{{s},\"sa\":\"7f\",\"sb\":\"80\"}",
        " {{g}, \"d\" : \"nan\", \"x\": [{}]} ",
    ] {
        let (line, _) = marked(good);
        reader
            .read(&line)
            .unwrap_or_else(|bad| panic!("{line}: {bad:?}"));
    }
}

/// A code that does not fit its format: 6-bit formats have two digits, and the top bits are 0.
#[test]
fn codes_that_are_too_wide() {
    let line = |b: &str| {
        let (a, b) = ("38".repeat(32), format!("{}{b}", "08".repeat(31)));
        format!(r#"{{{MX},"a":"{a}","b":"{b}","c":"00000000","sa":"7f","sb":"7f"}}"#)
    };
    let mut reader = Reader::new(Catalogue::built_in());
    assert!(reader.read(&line("3f")).is_ok());
    for wide in ["40", "80", "ff"] {
        let text = line(wide);
        let bad = reader.read(&text).expect_err("too wide");
        assert_eq!(
            bad.message,
            format!("\"b\": {wide} does not fit the 6 bits of e2m3fn")
        );
        assert_eq!(bad.column, text.find("\",\"c\"").expect("c") - 1);
    }
}

/// A bad line carries its id, whatever is wrong with it, so that a peer can tell which it was.
#[test]
fn bad_lines_keep_their_id() {
    let mut reader = Reader::new(Catalogue::built_in());
    let id = |line: &str, reader: &mut Reader<'_>| reader.read(line).expect_err("bad").id;
    assert_eq!(
        id(r#"{"id":17,"arch":"volta"}"#, &mut reader).as_deref(),
        Some("17")
    );
    assert_eq!(
        id(r#"{"arch":"no","inst":"x","id":-3}"#, &mut reader).as_deref(),
        Some("-3")
    );
    assert_eq!(id(r#"{"arch":"volta"}"#, &mut reader), None);
    assert_eq!(id(r#"{"id":17,"#, &mut reader), None);
}

/// Lines at the limit of length that try to take time.
#[test]
fn hostile_lines_are_cheap() {
    let mut reader = Reader::new(Catalogue::built_in());
    let size = 1 << 20;
    let many_keys: String = (0..size / 10).map(|i| format!("\"{i:x}\":0,")).collect();
    let lines = [
        format!("{{{many_keys}\"z\":0}}"),
        "[".repeat(size),
        format!("{{\"x\":{}", "[".repeat(size)),
        format!("{{\"x\":{}{}}}", "[".repeat(size / 2), "]".repeat(size / 2)),
        format!("{{\"arch\":\"{}\",\"inst\":\"x\"}}", "h".repeat(size)),
        format!(
            "{{\"arch\":\"blackwell\",\"inst\":\"{}\"}}",
            "m".repeat(size)
        ),
        format!(
            "{{\"arch\":\"blackwell\",\"inst\":\"v_{}\"}}",
            "1_".repeat(size / 2)
        ),
        format!(
            "{{{},\"a\":\"{}\"}}",
            r#""arch":"volta","inst":"mma.m8n8k4.f32.f16.f16.f32""#,
            "0".repeat(size)
        ),
        format!(
            "{{{},\"a\":\"{}\"}}",
            r#""arch":"volta","inst":"mma.m8n8k4.f32.f16.f16.f32""#,
            "é".repeat(size / 2)
        ),
        format!("{{\"arch\":\"{}\"}}", "\\u0041".repeat(size / 6)),
        format!("{{\"arch\":\"{}\"}}", "\\ud83d".repeat(size / 6)),
    ];
    for line in lines {
        let start = Instant::now();
        let bad = reader.read(&line).expect_err("bad");
        let (took, begin) = (start.elapsed(), line.chars().take(60).collect::<String>());
        assert!(took < Duration::from_secs(1), "{took:?} {begin}");
        assert!(bad.message.len() < 4000, "{begin}: {}", bad.message.len());
    }
}
