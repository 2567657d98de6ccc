//! One input, a different answer on every unit: c = 2^23, products −2^23, −1/2, −1/4, −1/8, exact
//! −0.875 (conformance facts §1), and the whole text of one unit.

use mmascope::dpa::Modifiers;
use mmascope::explain::{Trace, TraceRequest, TracedInput};
use mmascope::isa::Catalogue;

pub(super) const REQUEST: TraceRequest<'_> = TraceRequest {
    a: "-2^13, -0.5, -0.25, -0.125",
    b: "2^10, 1, 1, 1",
    c: Some("2^23"),
    scale_a: None,
    scale_b: None,
    round: false,
};

pub(super) fn input(arch: &str, inst: &str, request: &TraceRequest<'_>) -> TracedInput {
    let row = Catalogue::built_in().find(arch, inst).expect("a row");
    TracedInput::read(row.unit().expect("a model").signature(), request).expect("operands")
}

pub(super) fn trace(arch: &str, inst: &str, input: &TracedInput) -> Trace {
    let row = Catalogue::built_in().find(arch, inst).expect("a row");
    let unit = row.unit().expect("a model");
    let mut trace = Trace::of(unit, &input.operands(), &Modifiers::default()).expect("fits");
    trace.notes.clone_from(&input.notes);
    trace
}

const AMPERE: &str = "\
types    a=f16 b=f16 c=f32 d=f32 k=8
does     t-fdpa L=8 F=24 e0=-132 -> rz f32 nan=7fffffff
note     a has 4 of 8 elements; the others are +0
note     b has 4 of 8 elements; the others are +0
result   bf000000 = -0.5
exact    -0.875
error    0.375 = 6291456 ulp of 2^-24

operands
  k            a    value   e     b  value   e   product   e
  0         f000    -8192  13  6400   1024  10  -8388608  23
  1         b800     -0.5  -1  3c00      1   0      -0.5  -1
  2         b400    -0.25  -2  3c00      1   0     -0.25  -2
  3         b000   -0.125  -3  3c00      1   0    -0.125  -3
  4..7      0000        0   -  0000      0   -         0   -
  c     4b000000  8388608  23

step 1: d = p0..p3 + c   t-fdpa
  zero     p4..p7
  E        23 from p0, floor -132
  cut      rz to 2^(E-24)
  bits        from 2^24
  p0       23 -0100000000000000000000....|   = -16777216*2^-1
  p1       -1 -........................01|   = -1*2^-1
  p2       -2 -.........................0|1  = 0*2^-1
  p3       -3 -..........................|01 = 0*2^-1
  c        23 +.100000000000000000000000.|   = 16777216*2^-1
  total    -0.5
  round    rz f32 at 2^-24: -100000000000000000000000| exact -> -8388608
  value    bf000000 = -0.5
  lost     -0.25 aligning p2
  lost     -0.125 aligning p3

lost     -0.375 in all = exact - result
";

#[test]
fn the_text_of_a_truncated_sum() {
    let inst = "mma.m16n8k8.f32.f16.f16.f32";
    let text = trace("ampere", inst, &input("ampere", inst, &REQUEST)).to_string();
    assert_eq!(text, AMPERE, "\n{text}");
}

/// Every loss of a trace: step, what was done, value.
fn losses(trace: &Trace) -> String {
    let losses = trace.steps.iter().flat_map(|step| {
        let name = &step.name;
        step.losses
            .iter()
            .map(move |loss| format!("{name}: {} {}", loss.value, loss.by))
    });
    losses.collect::<Vec<_>>().join("; ")
}

#[test]
fn every_unit_loses_something_else() {
    let cases = [
        (
            "volta",
            "mma.m8n8k4.f32.f16.f16.f32",
            "0",
            "d: -0.5 aligning p1; d: -0.25 aligning p2; d: -0.125 aligning p3",
        ),
        (
            "turing",
            "mma.m16n8k8.f32.f16.f16.f32",
            "-0.5",
            "d: -0.25 aligning p2; d: -0.125 aligning p3",
        ),
        (
            "ampere",
            "mma.m16n8k8.f32.bf16.bf16.f32",
            "-0.5",
            "d: -0.25 aligning p2; d: -0.125 aligning p3",
        ),
        (
            "ada",
            "mma.m16n8k32.f32.e5m2.e5m2.f32",
            "0",
            "d.1: -0.5 aligning p1; d.1: -0.25 aligning p2; d.1: -0.125 aligning p3",
        ),
        (
            "hopper",
            "mma.m16n8k16.f32.f16.f16.f32",
            "-0.75",
            "d: -0.125 aligning p3",
        ),
        ("cdna1", "v_mfma_f32_32x32x4_2b_f16", "-0.875", ""),
        (
            "cdna2",
            "v_mfma_f32_32x32x4_2b_f16",
            "0",
            "d.s0-1: -0.5 rounding; d.s0-3: -0.375 rounding",
        ),
        (
            "cdna2",
            "v_mfma_f32_32x32x4_bf16",
            "-0.375",
            "d.1.s0-1: -0.5 rounding",
        ),
        (
            "cdna3",
            "v_mfma_f32_32x32x8_f16",
            "-0.5",
            "d.T: -0.25 aligning p2; d.T: -0.125 aligning p3",
        ),
    ];
    for (arch, inst, result, lost) in cases {
        let trace = trace(arch, inst, &input(arch, inst, &REQUEST));
        assert_eq!(trace.result.value.to_string(), result, "{arch}\n{trace}");
        assert_eq!(losses(&trace), lost, "{arch}\n{trace}");
    }
}

#[test]
fn floors_drops_flushes_and_specials_are_told() {
    let text = |arch: &str, inst: &str, request: TraceRequest<'_>| {
        trace(arch, inst, &input(arch, inst, &request)).to_string()
    };
    let contains = |text: &str, parts: &[&str]| {
        parts
            .iter()
            .for_each(|part| assert!(text.contains(part), "{part}\n{text}"));
    };
    let rounded = TraceRequest {
        round: true,
        ..TraceRequest::default()
    };
    // CDNA3's floor of a tiny negative c is visible (arithmetic specification §7).
    let floors = TraceRequest {
        a: "2048, 2048",
        b: "2048, -2048",
        c: Some("-1e-6"),
        ..rounded
    };
    let text_of = text("cdna3", "v_mfma_f32_32x32x8_f16", floors);
    contains(
        &text_of,
        &["result   be800000 = -0.25", "cut      rd to", "= -1*2^-2"],
    );
    let drops = TraceRequest {
        a: "128, 1",
        b: "128, 0",
        c: Some("2^-12"),
        ..rounded
    };
    let text_of = text("cdna3", "v_mfma_f32_16x16x32_fp8_fp8", drops);
    contains(
        &text_of,
        &[
            "drop     c = 0x1p-12 counts as 0: e=-12 is below -11",
            "lost     0x1p-12 dropping c",
        ],
    );
    let flushes = TraceRequest {
        a: "0x0001",
        b: "1024",
        c: Some("0x00000001"),
        ..rounded
    };
    let text_of = text("cdna2", "v_mfma_f32_32x32x4_2b_f16", flushes);
    contains(
        &text_of,
        &[
            "flush    a0 0x1p-24 -> 0",
            "flush    c 0x1p-149 -> 0",
            "lost     0x1p-149 flushing c",
        ],
    );
    let floor = TraceRequest {
        a: "2^-100",
        b: "2^-30",
        ..rounded
    };
    let text_of = text("hopper", "mma.m16n8k16.f32.bf16.bf16.f32", floor);
    contains(&text_of, &["E        -130 from p0, floor -133"]);
    let below = TraceRequest {
        a: "2^-100",
        b: "2^-36",
        ..rounded
    };
    let text_of = text("hopper", "mma.m16n8k16.f32.bf16.bf16.f32", below);
    contains(&text_of, &["E        -133 from floor, floor -133"]);
    let two = TraceRequest {
        a: "1, 1",
        b: "1, 1",
        ..rounded
    };
    let text_of = text("hopper", "mma.m16n8k16.f32.f16.f16.f32", two);
    contains(
        &text_of,
        &["step 1: d = p0 + p1   t-fdpa\n  zero     p2..p15 c\n"],
    );
    let nan = TraceRequest {
        a: "0, inf",
        b: "inf, 1",
        c: Some("-inf"),
        ..rounded
    };
    let text_of = text("hopper", "mma.m16n8k16.f32.f16.f16.f32", nan);
    contains(
        &text_of,
        &["special  nan: p0 = 0 * inf", "value    7fffffff = nan"],
    );
    let against = TraceRequest {
        a: "0, inf",
        b: "1, 1",
        c: Some("-inf"),
        ..rounded
    };
    let text_of = text("hopper", "mma.m16n8k16.f32.f16.f16.f32", against);
    contains(&text_of, &["special  nan: p1 = inf * 1 against c = -inf"]);
    let overflows = TraceRequest {
        a: "2^100",
        b: "2^100",
        ..rounded
    };
    let text_of = text("hopper", "mma.m16n8k16.f32.bf16.bf16.f32", overflows);
    contains(
        &text_of,
        &["note     overflow: beyond the largest f32, which gives inf"],
    );
}

#[test]
fn the_table_has_the_exponents_of_widened_operands() {
    // e4m3's subnormals are normal numbers of f16: 2^-9 has the field exponent -6, and -9 as f16.
    let request = TraceRequest {
        a: "2^-9, 1",
        b: "2^8, 1",
        ..TraceRequest::default()
    };
    let inst = "mma.m16n8k32.f32.e4m3.e4m3.f32";
    let trace = trace("hopper", inst, &input("hopper", inst, &request));
    let text = trace.to_string();
    assert_eq!(trace.widened, Some("f16"));
    assert!(text.contains("\nwidened  f16\n"), "{text}");
    let pair = &trace.pairs[0];
    let exponents = (pair.a.exponent, pair.b.exponent, pair.exponent);
    assert_eq!(exponents, (Some(-9), Some(8), Some(-1)), "{text}");
    let terms = trace.steps.iter().flat_map(|step| &step.terms);
    let in_steps: Vec<i64> = terms
        .filter(|term| term.name == "p0")
        .map(|term| term.exponent)
        .collect();
    assert_eq!(in_steps, [-1], "{text}");
}

/// One product alone: the steps before it and after it are one each.
#[test]
fn steps_of_zeros_are_one() {
    let (volta, request) = (
        "wmma.m16n16k16.f32.f16.f16.f32",
        TraceRequest {
            a: "0,0,0,0,0,0,0,0,1.5",
            b: "0,0,0,0,0,0,0,0,2",
            c: None,
            ..REQUEST
        },
    );
    let text = trace("volta", volta, &input("volta", volta, &request)).to_string();
    let before = "\nsteps 1 to 2: d.2 = 0   nothing changes\n  zero     p0..p7 c\n  value    00000000 = 0\n\nstep 3: d.3 = p8 ";
    assert!(text.contains(before), "{text}");
    // A sum of zeros may change the sign of its c.
    let request = TraceRequest {
        a: "0",
        b: "0",
        c: Some("0x80000000"),
        ..request
    };
    let ampere = "mma.m16n8k16.f32.f16.f16.f32";
    let of_zeros = trace("ampere", ampere, &input("ampere", ampere, &request)).to_string();
    assert!(!of_zeros.contains("nothing changes"), "{of_zeros}");
    // What is added without being multiplied is no sum.
    let request = TraceRequest {
        a: "1.5",
        c: Some("0"),
        ..request
    };
    let adds = "tensix.elwadd.bf16.d32";
    let added = trace("blackhole", adds, &input("blackhole", adds, &request)).to_string();
    assert!(!added.contains("nothing changes"), "{added}");
    let chain = "mma.m8n8k4.f64.f64.f64.f64";
    let request = TraceRequest {
        a: "1",
        b: "1",
        c: None,
        ..request
    };
    let trace = trace("ampere", chain, &input("ampere", chain, &request));
    let after = "\nsteps 2 to 4: d = d.1   nothing changes\n  zero     p1..p3\n  value    3ff0000000000000 = 1\n\nlost";
    assert!(trace.to_string().contains(after), "{trace}");
    let html = mmascope::explain::page("ampere", &trace);
    assert!(
        html.contains("2–4</span> d = d.1 <span class=\"role\">nothing changes"),
        "{html}"
    );
}
