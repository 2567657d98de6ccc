//! Texts that must be refused: where, and with which words. `§` marks the place.

use std::time::Duration;

use mmascope::Error;
use mmascope::dpa::Program;
use mmascope::isa::Catalogue;

/// Text with a mark at the expected line and column, and what the message must contain.
const TEXTS: &[(&str, &str)] = &[
    ("§title x", "expected 'arch NAME = ALIAS …' first"),
    ("  §foo", "expected 'arch NAME = ALIAS …' first"),
    ("# only\n\n§| f16", "the first line cannot begin with '|'"),
    (
        "§x | f16 x f16 + f32 -> f32 | m1n1k1 | e-fdpa L=1 -> rne f32 | hw",
        "expected 'arch NAME",
    ),
    ("arch§", "expected 'arch NAME = ALIAS …'"),
    ("arch a b§", "expected 'arch NAME = ALIAS …'"),
    ("arch a,§", "expected 'arch NAME = ALIAS …'"),
    ("arch a, b = c§", "expected 'arch NAME = ALIAS …'"),
    ("arch a, b\nlet x = f16 §f17", "unknown format 'f17'"),
    ("arch a\n§archh b", "unknown line 'archh'; nearest: arch"),
    (
        "arch a\n  §🦀 é",
        "a family is written: name | types | shapes | arithmetic | evidence",
    ),
    ("arch a\nnote§", "'note' needs a text"),
    ("arch a\nlet§", "'let' needs a text"),
    ("arch a\nlet x§", "expected 'let NAME = TYPE …'"),
    ("arch a\nlet x §=", "expected 'let NAME = TYPE …'"),
    ("arch a\nlet x §is f16", "expected 'let NAME = TYPE …'"),
    (
        "arch a\nlet x = f16 §f17",
        "unknown format 'f17'; nearest: f16",
    ),
    ("arch a\nlet x = §x", "unknown format 'x'"),
    ("arch a\nlet x = §y\nlet y = x", "unknown format 'y'"),
    ("arch a\n§mods negA", "'mods' must follow a family line"),
    (
        "arch a\n{x} | {t} | {s} | {m} | hw\nmods noC §negD",
        "unknown modifier 'negD'; nearest: negA",
    ),
    (
        "arch a\n§x | f16 x f16 + f32 -> f32",
        "expected 5 columns: name | types | shapes",
    ),
    (
        "arch a\n§x | {t} | {s} | {m} | hw | more",
        "expected 5 columns",
    ),
    (
        "arch a\nx | §f16 f16 + f32 -> f32 | {s} | {m} | hw",
        "expected 'A x B + C -> D'",
    ),
    (
        "arch a\nx | f16 §* f16 + f32 -> f32 | {s} | {m} | hw",
        "found '*'",
    ),
    (
        "arch a\nx | f16 x f16 + f32 §=> f32 | {s} | {m} | hw",
        "found '=>'",
    ),
    (
        "arch a\nx | {t}, §f16 | {s} | {m} | hw",
        "expected 'A x B + C -> D'",
    ),
    (
        "arch a\nx | {t},§| {s} | {m} | hw",
        "expected 'A x B + C -> D'",
    ),
    (
        "arch a\nx | f16 x §é + f32 -> f32 | {s} | {m} | hw",
        "unknown format 'é'",
    ),
    (
        "arch a\nlet s = f16 bf16\nx | s x s + §s -> f32 | {s} | {m} | hw",
        "'s' is a set; one type is needed",
    ),
    (
        "arch a\nx | {t} scale §ue8m0 | {s} | {m} | hw",
        "'ue8m0': expected FORMAT/BLOCK",
    ),
    (
        "arch a\nx | {t} scale §ue8m0/0 | {s} | {m} | hw",
        "expected FORMAT/BLOCK",
    ),
    (
        "arch a\nx | {t} scale §e8m1/4 | {s} | {m} | hw",
        "unknown format 'e8m1'",
    ),
    (
        "arch a\nx | {t} |§| {m} | hw",
        "expected at least one shape",
    ),
    (
        "arch a\nx | {t} | §m8n8 | {m} | hw",
        "'m8n8': expected a shape like m16n8k16",
    ),
    (
        "arch a\nx | {t} | m8n8k4 §m8n{8..}k4 | {m} | hw",
        "expected a shape",
    ),
    (
        "arch a\nx | {t} | §m8n{1..4294967296/1}k4 | {m} | hw",
        "expected a shape",
    ),
    (
        "arch a\nx | {t} | §m8n{1..9/0}k4 | {m} | hw",
        "expected a shape",
    ),
    (
        "arch a\nx | {t} | §m8n{9..1/1}k4 | {m} | hw",
        "expected a shape",
    ),
    (
        "arch a\nx | {t} | §m99999999999n8k4 | {m} | hw",
        "expected a shape",
    ),
    ("arch a\nx | {t} | §8x8x0 | {m} | hw", "expected a shape"),
    ("arch a\nx | {t} | §4x4x4_2 | {m} | hw", "expected a shape"),
    (
        "arch a\nx | {t} | {s} |§| hw",
        "expected an algorithm, 'add', 'convert' or 'negate', found the end",
    ),
    (
        "arch a\nx | {t} | {s} | §t-fpda L=4 -> rz f32 | hw",
        "unknown algorithm 't-fpda'; nearest: t-fdpa",
    ),
    (
        "arch a\nx | {t} | {s} | §t-fdpa L=4 F=23 -> rz f32 | hw",
        "t-fdpa needs e0=…",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa §L=0 -> rz f32 | hw",
        "L=0: expected a whole number 1 to 256",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa §L=257 -> rz f32 | hw",
        "expected a whole number 1 to 256",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa §L=99999999999999999999 -> rz f32 | hw",
        "expected a whole number",
    ),
    (
        "arch a\nx | {t} | {s} | t-fdpa L=4 §F=65 e0=0 -> rz f32 | hw",
        "F=65: expected a whole number 1 to 64",
    ),
    (
        "arch a\nx | {t} | {s} | t-fdpa L=4 F=6 §e0=-9999 -> rz f32 | hw",
        "whole number -2000 to 2000",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa L=4 §L=4 -> rz f32 | hw",
        "parameter L is given twice",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa L=4 §F=4 -> rz f32 | hw",
        "unknown parameter 'F'",
    ),
    (
        "arch a\nx | {t} | {s} | t-fdpa L=4 F=4 e0=0 §align=up -> rz f32 | hw",
        "unknown rounding 'up'",
    ),
    (
        "arch a\nx | {t} | {s} | §ftz-addmul P=3 -> rne f32 | hw",
        "P=3 is not a power of two",
    ),
    (
        "arch a\nx | {t} | {s} | §gst-fdpa L=4 G=3 F=4 e0=0 -> rne f32 | hw",
        "G=3 does not divide L=4",
    ),
    (
        "arch a\nx | {t} | {s} | ftz-addmul P=4 §flush-in=no -> rne f32 | hw",
        "expected 'plus' or 'kept'",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa L=4 §rz f32 | hw",
        "expected '->', found 'rz'",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa L=4 ->§| hw",
        "expected a rounding, found the end",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa L=4 -> §rx f32 | hw",
        "unknown rounding 'rx'",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa L=4 -> rz §f33 | hw",
        "unknown format 'f33'; nearest: f32",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa L=4 -> rz §int8 | hw",
        "int8 cannot be a result format",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa L=4 -> rz f32 §nan=7f800000 | hw",
        "that word is not a NaN of f32",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa L=4 -> rz f32 §nan=7fff | hw",
        "nan=7fff: a word of f32 has 8 digits",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa L=4 -> rz f32 §nan=+fffffff | hw",
        "nan=+fffffff: expected 'any' or 'own' or WORD or operand:WORD, in hexadecimal digits",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa L=4 -> rz f32 §zero=odd | hw",
        "zero=odd: expected 'plus' or 'exact' or 'ieee' or 'minus' or 'exact-minus' or 'common' or 'common-minus'",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa L=4 -> rz f32 §overflow=up | hw",
        "overflow=up: expected 'inf' or 'ieee' or 'sat' or 'satfinite' or 'nan' or 'nanfinite'",
    ),
    (
        "arch a\nx | {t} | {s} | fused L=4 F=exact §sticky=1 -> rz f32 | hw",
        "sticky=1 remembers what the alignment drops: F=exact drops nothing",
    ),
    (
        "arch a\nx | {t} | {s} | fused L=4 F=exact §align=rd -> rz f32 | hw",
        "align=rd is of the alignment: F=exact has none",
    ),
    (
        "arch a\nx | {t} | {s} | fused L=4 F=exact §align-c=rz -> rz f32 | hw",
        "align-c=rz is of the alignment: F=exact has none",
    ),
    (
        "arch a\nx | {t} | {s} | fused L=4 F=exact §e0=-133 -> rz f32 | hw",
        "e0=-133 is of the alignment: F=exact has none",
    ),
    (
        "arch a\nx | {t} | {s} | fused L=4 F=exact §grid=products -> rz f32 | hw",
        "grid=products is of the alignment: F=exact has none",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa L=4 -> rz f32 §tininess=before | hw",
        "tininess=before says which results are flushed: it needs flush=plus, for example",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa L=4 -> rz f32 flush=plus §tininess=soon | hw",
        "tininess=soon: expected 'before' or 'unbounded'",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa L=4 -> rz f32 zero=plus §zero=minus | hw",
        "output parameter zero is given twice",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa L=4 -> rz f32 §nil=plus | hw",
        "unknown output parameter 'nil'",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa L=4 -> rz f32 §more | hw",
        "expected ';' or the end, found 'more'",
    ),
    (
        "arch a\nx | {t} | {s} | {m} ;§| hw",
        "expected an algorithm, 'add', 'convert' or 'negate', found the end",
    ),
    (
        "arch a\nx | {t} | {s} | §c = {m} | hw",
        "'c' cannot name a statement here",
    ),
    (
        "arch a\nx | {t} | {s} | §é! = {m} | hw",
        "'é!' cannot name a statement here",
    ),
    (
        "arch a\nx | {t} | {s} | §t = {m} | hw",
        "the last statement, and only the last, is d",
    ),
    (
        "arch a\nx | {t} | {s} | t = {m} ; d = add t §u -> rne f32 | hw",
        "unknown value 'u'",
    ),
    (
        "arch a\nx | {t} | {s} | t = {m} ; §t = {m} | hw",
        "'t' cannot name a statement here",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa L=4 over §k=0,x -> rz f32 | hw",
        "expected 'k=0,1,…', 'k=0..15' or 'k%n=0,1,…'",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa L=4 over §k%0=0 -> rz f32 | hw",
        "expected 'k=0,1,…'",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa L=4 over §k%2=2 -> rz f32 | hw",
        "residues must be below 2",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa L=4 over §k=0,0 -> rz f32 | hw",
        "stand only once",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa L=4 over §k=9999999 -> rz f32 | hw",
        "below 4096",
    ),
    (
        "arch a\nx | {t} | {s} | §e-fdpa L=4 over k=0,1 -> rz f32 | hw",
        "k=2 is not summed",
    ),
    (
        "arch a\nx | {t} | {s} | §e-fdpa L=4 over k=0,1,2,7 -> rz f32 | hw",
        "k=7 is summed twice or is not below",
    ),
    (
        "arch a\nx | {t} | {s} | e-fdpa L=4 §from product -> rz f32 | hw",
        "only fma-chain, fused and add-mul can start 'from product'",
    ),
    (
        "arch a\nx | f64 x f64 + f64 -> f64 | {s} | §e-fdpa L=4 -> rz f64 | hw",
        "at most 32-bit formats, not f64",
    ),
    (
        "arch a\nx | {t} | {s} | §e-fdpa L=4 -> rz f16 | hw",
        "the program gives f16, but d is f32",
    ),
    (
        "arch a\nx | bf16 x bf16 + f32 -> f32 | {s} | §e-fdpa L=4 as f16 -> rz f32 | hw",
        "bf16 cannot be widened to f16",
    ),
    (
        "arch a\nx | e5m2fnuz x e5m2fnuz + f32 -> f32 | {s} | §e-fdpa L=4 as f16 -> rz f32 | hw",
        "whose smallest normal number is larger",
    ),
    (
        "arch a\nx | f16 x f16 + int8 -> f32 | {s} | §{m} | hw",
        "c is int8: signed floats are supported",
    ),
    (
        "arch a\nx | {t} | {s} | §st-fdpa L=4 F=4 e0=0 -> rz f32 | hw",
        "block scales are needed",
    ),
    (
        "arch a\nx | {t} scale ue8m0/4 | {s} | §{m} | hw",
        "the block scales are not used",
    ),
    (
        "arch a\nx | {t} scale ue8m0/3 | {s} | §{m} | hw",
        "a scale block of 3 does not divide K=4",
    ),
    (
        "arch a\nx | {t} scale f16/4 | {s} | §{m} | hw",
        "f16 is no format of block scales",
    ),
    (
        "arch a\nx | {t} scale ue4m3/4 | {s} | §st-fdpa L=4 F=4 e0=0 -> rz f32 | hw",
        "scales that are powers of two",
    ),
    (
        "arch a\nx | {t} | {s} | {m}§",
        "expected '| evidence' behind the arithmetic",
    ),
    (
        "arch a\nx | {t} | {s} | {m} |§",
        "expected evidence: hw, 2team, 1team, sim, doc, open or assumed",
    ),
    (
        "arch a\nx | {t} | {s} | {m} | §sure",
        "2team, 1team, sim, doc, open or assumed; found 'sure'",
    ),
    (
        "arch a\n§evidence a hw",
        "'evidence' must follow a family line",
    ),
    (
        "arch ab, cd\nx | {t} | {s} | {m} | doc\nevidence §ac hw",
        "unknown architecture of this block 'ac'; allowed: ab, cd",
    ),
    (
        "arch a\nx | {t} | {s} | {m} | doc\nevidence a§",
        "expected evidence: hw, 2team",
    ),
    (
        "arch a\nx | {t} | {s} | unmodelled why\n§evidence a hw",
        "an unmodelled family has no evidence",
    ),
    (
        "arch a\nx | {t} | {s} | {m} | hw §L",
        "'L': expected PARAMETER=LEVEL",
    ),
    (
        "arch a\nx | {t} | {s} | {m} | hw §X=hw",
        "unknown parameter 'X'",
    ),
    (
        "arch a\nx | {t} | {s} | {m} | hw §L=maybe",
        "unknown evidence 'maybe'",
    ),
    (
        "arch a\nx | {t} | {s} | unmodelled why |§ hw",
        "an unmodelled family has 4 columns",
    ),
    (
        "arch a\nx | {t} | {s} | {m} | hw\n§x | {t} | {s} | {m} | hw",
        "x is described twice in this block",
    ),
    (
        "arch a\n§x | {t} | m8n8k4 m8n8k8 | {m} | hw",
        "x is described twice in this block",
    ),
    (
        "arch a\n§x.{q} | {t} | {s} | {m} | hw",
        "the marks are {shape} {a} {b} {c} {d}",
    ),
    ("arch a\n§x.{s} | {t} | {s} | {m} | hw", "the marks are"),
    // Continuation lines and wide characters keep the place.
    (
        "arch é = ü\nx\n  | {t}\n  | {s} | {m}\n   | hw §Ω=hw",
        "unknown parameter 'Ω'",
    ),
    (
        "arch a\n# c\n\nxé👩‍👩‍👧 | {t} | §mé | {m} | hw",
        "expected a shape",
    ),
    (
        "arch a\r\nx | {t} | {s} | {m} | §no\r\n",
        "2team, 1team, sim, doc, open or assumed; found 'no'",
    ),
];

/// The text with its marks filled in, and the place of `§`.
fn marked(text: &str) -> (String, usize, usize) {
    let shape = if text.contains("x.{s}") {
        "x.{s} | f16 x f16 + f32 -> f32 | m8n8k4"
    } else {
        ""
    };
    let text = text
        .replace("x.{s} | {t} | {s}", shape)
        .replace("{x}", "x")
        .replace("{t}", "f16 x f16 + f32 -> f32")
        .replace(" {s} ", " m8n8k4 ")
        .replace("{m}", "e-fdpa L=4 -> rne f32");
    let before = text.split('§').next().expect("a part");
    let line = before.matches('\n').count() + 1;
    let last = before.rsplit('\n').next().expect("a part");
    (text.replace('§', ""), line, last.chars().count() + 1)
}

fn refusal(text: &str) -> (usize, usize, String) {
    let mut catalogue = Catalogue::empty();
    match catalogue.extend("bad.txt", text) {
        Err(Error::Text { position, message }) => {
            assert_eq!(position.file, "bad.txt");
            (position.line, position.column, message)
        }
        other => panic!("{text}\n{other:?}"),
    }
}

#[test]
fn malformed_texts_are_refused_at_the_right_place() {
    let mut wrong = Vec::new();
    for (text, expected) in TEXTS {
        let (text, line, column) = marked(text);
        let (found_line, found_column, message) = refusal(&text);
        if (found_line, found_column) != (line, column) || !message.contains(expected) {
            wrong.push(format!(
                "{text}\n  {found_line}:{found_column}: {message}\n  {line}:{column}: {expected}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The texts above are malformed only in what they are about: without it they are read.
#[test]
fn the_frame_of_the_malformed_texts_is_good() {
    let (text, ..) = marked("arch a\nx | {t} | {s} | {m} | hw\n");
    Catalogue::empty()
        .extend("good.txt", &text)
        .expect("a good text");
    Catalogue::empty()
        .extend("empty.txt", "")
        .expect("an empty text");
}

#[test]
fn malformed_programs_say_the_column() {
    for (text, column, expected) in [
        ("", 1, "expected an algorithm"),
        ("   ", 4, "expected an algorithm"),
        ("é", 1, "unknown algorithm 'é'"),
        ("fma-chain -> rne", 17, "expected a format"),
        ("fma-chain over", 15, "expected 'k=…' or 'k%n=…'"),
        ("add c", 6, "expected a value"),
        (
            "fma-chain -> rne f64 ; ; d = add c c -> rne f64",
            48,
            "expected an algorithm",
        ),
    ] {
        match text.parse::<Program>() {
            Err(Error::Text { position, message }) => {
                assert_eq!(
                    (position.line, position.column),
                    (1, column),
                    "{text}: {message}"
                );
                assert!(message.contains(expected), "{text}: {message}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

/// What this thread has computed, where that can be asked: a busy machine changes nothing.
fn busy() -> Duration {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    {
        static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        START.get_or_init(std::time::Instant::now).elapsed()
    }
}

/// Texts that try to take time or memory: refused (or read) within a second or so.
#[test]
fn hostile_texts_are_cheap() {
    let family = |types: &str, shapes: &str, arithmetic: &str| {
        format!("arch a\n{{a}}{{b}}{{c}}.{{shape}} | {types} | {shapes} | {arithmetic} | hw\n")
    };
    let small = "f16 x f16 + f32 -> f32";
    let exact = "e-fdpa L=4 -> rne f32";
    let many = |text: &str, separator: &str, count: usize| vec![text; count].join(separator);
    let formats = "f16 ".repeat(64);
    let huge_set = "m{1..4096/1}n{1..4096/1}k4096";
    let mut rows = String::from("arch a\n");
    for k in 1..=60_000 {
        rows += &format!("x{k}.{{shape}} | {small} | m1n1k1 | {exact} | hw\n");
    }
    let doubling: String = (0..40)
        .map(|i| format!("let s{} = s{i} s{i}\n", i + 1))
        .collect();
    let texts = [
        family(small, huge_set, exact),
        family(small, &many(huge_set, " ", 3000), exact),
        family(&many(small, ", ", 200_000), "m1n1k1", exact),
        format!(
            "arch a\nlet s = {formats}\nlet t = {}\n",
            many("s", " ", 64)
        ),
        format!(
            "arch a\nlet s = {formats}\n{{a}}{{b}} | {} | {} | {exact} | hw\n",
            many("s x s + f32 -> f32", ", ", 500),
            (1..=4096).map(|k| format!("m1n1k{k} ")).collect::<String>(),
        ),
        format!(
            "arch a\nlet s = {formats}\n{{a}}{{b}} | s x s + f32 -> f32 | {huge_set} | {exact} | hw\n"
        ),
        format!("arch a\nlet s0 = f16 f16\n{doubling}"),
        family(
            small,
            "m1n1k4",
            &many("t = add c c -> rne f32", " ; ", 300_000),
        ),
        family(
            small,
            "m1n1k4",
            &format!("t = {exact} ; {}", many("d = add c c -> rne f32", " ; ", 9)),
        ),
        family(
            small,
            "m1n1k4096",
            &format!("e-fdpa L=4 over k%4096={} -> rz f32", many("1", ",", 4096)),
        ),
        family(
            small,
            "m1n1k4",
            &format!("e-fdpa L=4 over k={} -> rz f32", many("1", ",", 1 << 20)),
        ),
        family(
            small,
            "m1n1k4",
            &format!("{} -> rz f32", "é".repeat(1 << 20)),
        ),
        family(&"a".repeat(1 << 20), "m1n1k4", exact),
        format!("arch {}\n{} x\n", "a ".repeat(1 << 19), "n".repeat(1 << 20)),
        format!("arch a\n{}", "|".repeat(1 << 20)),
        format!("arch a\n{}", "| x\n".repeat(1 << 18)),
        format!("arch {}", "\u{202e}\u{0}\u{feff}".repeat(1000)),
        "arch a\n".repeat(100_000),
        rows,
    ];
    for text in texts {
        let start = busy();
        let mut catalogue = Catalogue::empty();
        let result = catalogue.extend("hostile.txt", &text);
        let begin = text.chars().take(300).collect::<String>();
        let took = busy().saturating_sub(start);
        if let Err(error) = result {
            assert!(error.to_string().len() < 2000, "{begin}");
        }
        assert!(took < Duration::from_secs(3), "{took:?} for {begin}");
    }
    let too_long = "#".repeat((16 << 20) + 1);
    let (line, column, message) = refusal(&too_long);
    assert_eq!((line, column), (1, 1));
    assert_eq!(message, "the text has more than 16777216 bytes");
}
