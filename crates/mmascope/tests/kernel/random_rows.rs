//! Rows that nobody wrote: formats, parameters, outputs and programs drawn at random. Whatever has a kernel
//! must give the bits of the reference. `MMASCOPE_PROVE_ROWS=n` draws more.

use mmascope::cpu::{Kernel, Level};
use mmascope::dpa::Unit;

use super::adversary::{ELEMENTS, Random, STARTS};
use super::cases::Case;
use super::prove::asked;

/// Cases of every row.
const CASES: u64 = 4;

fn one<'a>(of: &[&'a str], random: &mut Random) -> &'a str {
    of[random.below(of.len() as u64) as usize]
}

fn algorithm(k: u64, random: &mut Random) -> String {
    let l = 1 + random.below(k);
    let late = ["F=23 F2=31", "F=24 F2=31", "F=24 F2=30"];
    match random.below(14) {
        0 | 1 => "fma-chain".to_owned(),
        9 => format!("fused L={l} F=exact"),
        10 => format!(
            "fused L={l} F={}{}",
            random.between(1, 46),
            one(
                &["", " align=rne", " align=rd", " normalised", " Fc=20"],
                random
            )
        ),
        11 => format!("fused L={l} F=24 e0=-133"),
        12 | 13 => format!(
            "fused L={l} F={}{} grid=products",
            random.between(8, 37),
            one(&["", "", " align=rne", " align=rd", " align=ru"], random)
        ),
        2 => format!(
            "ftz-addmul P={}{}",
            one(&["1", "2", "4"], random),
            one(&["", " flush-in=kept", " flush-in=plus"], random)
        ),
        3 => format!("e-fdpa L={l}"),
        4 => format!("tr-fdpa L={l} {}", one(&late, random)),
        5 => format!("gtr-fdpa L={l} {}", one(&late, random)),
        _ => format!(
            "t-fdpa L={l} F={} e0={}{}",
            random.between(1, 46),
            one(&["-133", "-20", "0", "-60", "-149"], random),
            one(&["", "", " align=rne", " align=rd", " align=ru"], random)
        ),
    }
}

fn output(formats: &[&str], random: &mut Random) -> String {
    format!(
        "{} {}{}{}",
        one(&["rz", "rne", "rne", "rd", "ru"], random),
        one(formats, random),
        one(&["", "", " zero=plus", " zero=ieee", " zero=exact"], random),
        one(
            &[
                "",
                "",
                "",
                " overflow=sat",
                " overflow=nan",
                " overflow=satfinite",
                " overflow=inf",
                " overflow=ieee"
            ],
            random
        ),
    )
}

fn row(random: &mut Random) -> (String, String) {
    const OPERANDS: [&str; 9] = [
        "f16", "bf16", "tf32", "e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "f32",
    ];
    const SUMS: [&str; 8] = [
        "f32", "f32", "f16", "bf16", "tf32", "e8m13", "e5m2", "e8m21",
    ];
    let a = one(&OPERANDS, random);
    let b = if random.one_in(3) {
        one(&OPERANDS, random)
    } else {
        a
    };
    let c = one(&SUMS, random);
    let d = if random.one_in(3) {
        one(&SUMS, random)
    } else {
        c
    };
    let k = 1 + random.below(12);
    let widened = one(&["", "", "", " as f16", " as f32"], random);
    let out = output(&[d], random);
    let between = ["f32", "f32", "f16", "bf16", "tf32", "e5m2"];
    let program = match random.below(10) {
        0 => {
            let (first, inner) = (algorithm(k, random), output(&between, random));
            format!("t = {first}{widened} -> {inner} ; d = convert t -> {out}")
        }
        1 => {
            let (first, inner) = (algorithm(k, random), output(&between, random));
            let start = one(&["+0", "product"], random);
            format!("t = {first}{widened} from {start} -> {inner} ; d = add c t -> {out}")
        }
        2 => {
            let [first, second] = [algorithm(k, random), algorithm(k, random)];
            let (halves, inner) = (["k%2=0", "k%2=1"], output(&between, random));
            let start = one(&["c", "+0"], random);
            format!(
                "t = {first}{widened} over {} from {start} -> {inner} ; d = {second}{widened} over {} from t -> {out}",
                halves[0], halves[1]
            )
        }
        3 => {
            // A sum that goes on with a sum, and perhaps is the same as one chain.
            let sum = algorithm(k, random);
            let start = one(&["c", "+0"], random);
            format!(
                "t = {sum}{widened} over k%2=0 from {start} -> {out} ; d = {sum}{widened} over k%2=1 from t -> {out}"
            )
        }
        4 => {
            let (sum, inner) = (algorithm(k, random), output(&between, random));
            let starts = [one(&["c", "+0"], random), one(&["t", "t", "+0"], random)];
            let other = one(&["c", "c", "t"], random);
            format!(
                "t = {sum}{widened} over k%2=0 from {} -> {inner} ; u = {sum}{widened} over k%2=1 from {} -> {inner} ; d = add {other} u -> {out}",
                starts[0], starts[1]
            )
        }
        5 => {
            // A sum that takes what c left of another one.
            let sum = algorithm(k, random);
            format!(
                "t = {sum}{widened} over k%2=0 from +0 -> {out} ; s = add c t -> {} {d} ; d = {sum}{widened} over k%2=1 from s -> {out}",
                one(&["rne", "rne", "rz", "rd", "ru"], random)
            )
        }
        _ => format!("{}{widened} -> {out}", algorithm(k, random)),
    };
    (format!("a={a} b={b} c={c} d={d} k={k}"), program)
}

#[test]
fn rows_drawn_at_random() {
    let wanted = asked("MMASCOPE_PROVE_ROWS", 4000);
    let levels: Vec<Level> = Level::available().collect();
    let random = &mut Random::new(1);
    let (mut rows, mut drawn, mut outputs) = (0, 0, 0);
    let mut failures = Vec::new();
    while rows < wanted && drawn < 400 * wanted {
        drawn += 1;
        let (signature, program) = row(random);
        let (Ok(signature), Ok(parsed)) = (signature.parse(), program.parse()) else {
            continue;
        };
        let Ok(unit) = Unit::new(signature, parsed) else {
            continue;
        };
        if Kernel::at_level(&unit, Level::Scalar).is_err() {
            continue;
        }
        rows += 1;
        let name = format!("{signature} | {program}");
        for _ in 0..CASES {
            let style =
                |random: &mut Random| ELEMENTS[random.below(ELEMENTS.len() as u64) as usize];
            let elements = [style(random), style(random)];
            let start = STARTS[random.below(STARTS.len() as u64) as usize];
            let shape = [2, 19, 1 + random.below(4) as usize];
            let case = Case::plain(shape, elements, start, random.bits());
            if let Err(failure) = case.compare(&name, &unit, &levels) {
                failures.push(failure);
                break;
            }
            outputs += case.outputs();
        }
    }
    println!("{rows} rows with a kernel of {drawn} drawn, {outputs} outputs");
    assert_eq!(rows, wanted, "rows with a kernel");
    assert!(
        failures.is_empty(),
        "{} rows differ: {}",
        failures.len(),
        failures[..failures.len().min(12)].join("\n")
    );
}
