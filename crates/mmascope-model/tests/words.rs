//! The sentences of `show` suffice to compute a unit: a reader written from them alone gives its
//! words, for every row of the catalogue, every algorithm and every parameter.

#[path = "words/grouped.rs"]
mod grouped;
mod inputs;
#[path = "words/machine.rs"]
mod machine;
#[path = "words/number.rs"]
mod number;
#[path = "words/reader.rs"]
mod reader;

use std::collections::BTreeSet;

use inputs::{KINDS, Random, drawn, operands};
use mmascope_model::dpa::schema::{all_parameters, parameter};
use mmascope_model::dpa::{Dpa, Modifiers, Program, Signature, Unit};
use mmascope_model::isa::{Catalogue, Model};

/// Compares `count` cases of every kind; says how many results were no NaN.
fn compare(name: &str, unit: &Unit, count: usize) {
    let words = unit.words();
    let (said, statements) = reader::read(&words);
    let mut random = Random::seeded(name, 3);
    for kind in KINDS {
        for _ in 0..count {
            let case = operands(unit.signature(), kind, &mut random);
            let none = Modifiers::default();
            let own = unit.dot(&case.operands(), &none).expect("fits");
            let read = machine::run(&said, &statements, unit.signature(), &case);
            assert!(
                unit.agrees(own, read),
                "{name}: {own:x}, but its words give {read:x}\n{}\n{}\n{kind:?} {case:x?}",
                unit.program(),
                words.join("\n")
            );
        }
    }
}

#[test]
fn the_words_of_every_row_give_its_results() {
    let mut seen: Vec<&Unit> = Vec::new();
    for row in Catalogue::built_in().instructions() {
        if let Model::Known(unit) = &row.model
            && !seen.contains(&&**unit)
        {
            seen.push(unit);
            compare(&format!("{}:{}", row.architecture, row.name), unit, 12);
        }
    }
    assert!(seen.len() > 100, "{} units", seen.len());
}

#[test]
fn the_words_of_every_algorithm_and_parameter_give_its_results() {
    let signatures = [
        "a=f16 b=f16 c=f32 d=f32 k=12",
        "a=bf16 b=tf32 c=f32 d=f32 k=7",
        "a=e4m3fnuz b=e5m2 c=f32 d=f32 k=20",
        "a=f16 b=bf16 c=f16 d=f16 k=6",
        "a=int8 b=uint8 c=f32 d=f32 k=9",
        "a=mxint8 b=f16 c=f32 d=f32 k=5",
        "a=e2m1 b=e3m2 c=f32 d=f32 k=64 scale=ue4m3 block=16",
        "a=e4m3 b=e2m3 c=f32 d=f32 k=64 scale=ue8m0 block=32",
        "a=f64 b=f64 c=f64 d=f64 k=5",
    ];
    let numbers_only = [
        "a=f16 b=f16 c=f32 d=f32 k=12",
        "a=bf16 b=tf32 c=f32 d=f32 k=7",
        "a=e4m3 b=e5m2 c=f16 d=f16 k=20",
        "a=f32 b=f32 c=f32 d=f32 k=1",
    ];
    let integers = [
        "a=int8 b=uint8 c=int32 d=int32 k=12",
        "a=int4 b=int16 c=int16 d=int16 k=7",
        "a=uint1 b=uint1 c=uint16 d=uint16 k=20",
        "a=uint16 b=uint16 c=uint64 d=uint64 k=3",
    ];
    let first = (Random::seeded("words", 4), false, &signatures[..]);
    let second = (Random::seeded("numbers", 4), true, &numbers_only[..]);
    let mut said: BTreeSet<String> = BTreeSet::new();
    let third = (Random::seeded("integers", 4), false, &integers[..]);
    for (mut random, numbers, signatures) in [first, second, third] {
        for text in signatures {
            let signature: Signature = text.parse().expect("a signature");
            let sums = signature.d.float().is_none();
            let fits =
                |own: &Dpa| (own.knows_numbers_only(), own.sums_integers()) == (numbers, sums);
            for algorithm in Dpa::all().filter(fits) {
                let tries = if matches!(algorithm, Dpa::General(_)) {
                    800
                } else {
                    24
                };
                for _ in 0..tries {
                    let algorithm = drawn(&algorithm, &mut random);
                    let program = program(&algorithm, &signature, &mut random);
                    let name = format!("{signature}: {program}");
                    let Ok(unit) = Unit::new(signature, program) else {
                        continue;
                    };
                    said.insert(algorithm.name().to_owned());
                    let of_program = unit.program().parameters().into_iter();
                    said.extend(of_program.map(|own| format!("{}={}", own.name, own.value)));
                    for (parameter, value) in algorithm.parameters() {
                        said.insert(format!("{}={value}", parameter.symbol));
                    }
                    compare(&name, &unit, 3);
                }
            }
        }
    }
    // Every algorithm, every parameter and every word of a parameter has been read.
    for name in Dpa::names() {
        assert!(said.contains(name), "{name}");
    }
    for parameter in all_parameters() {
        let own = |text: &String| text.starts_with(&format!("{}=", parameter.symbol));
        assert!(said.iter().any(own), "{}: {said:?}", parameter.symbol);
        // The first word of most is the default, which is not said.
        for word in parameter.kind.words.iter().skip(1) {
            let text = format!("{}={word}", parameter.symbol);
            assert!(said.contains(&text), "{text}: {said:?}");
        }
    }
}

/// A program of one step, whose result, start and codes are drawn.
fn program(algorithm: &Dpa, signature: &Signature, random: &mut Random) -> Program {
    let mut pick = |words: &[&'static str]| words[random.below(words.len() as u64) as usize];
    let rounding = pick(&[
        "rz", "rne", "rd", "ru", "ra", "rna", "rnz", "rnu", "rnd", "rno", "odd",
    ]);
    let words = |symbol| parameter(symbol).expect("a parameter").kind.words;
    let zero = pick(words("zero"));
    let overflow = pick(words("overflow"));
    let flush = pick(&[
        "",
        "",
        " flush=plus",
        " flush=kept",
        " flush=kept tininess=before",
        " flush=plus tininess=unbounded",
    ]);
    let codes = pick(&["", "", "codes=numbers ; ", "codes=largest ; "]);
    let from = match algorithm.can_begin_with_product() {
        true => pick(&["", "", " from +0", " from product"]),
        false => pick(&["", "", " from +0"]),
    };
    let d = match signature.d.bits {
        32 if signature.d.float().is_some() => pick(&["f32", "f32", "e8m13"]),
        _ => signature.d.name,
    };
    // It rounds by itself.
    let exponents = match (algorithm.knows_numbers_only(), signature.d.bits) {
        (true, 16) => " exponents=numbers",
        _ => "",
    };
    let (rounding, zero, overflow, flush) = match algorithm.name() {
        "semi-fma" => ("rne", pick(&["plus", "common", "ieee"]), "inf", ""),
        "int-dot" => ("rz", "plus", "sat", ""),
        _ => (rounding, zero, overflow, flush),
    };
    let text = format!(
        "{codes}{algorithm}{from} -> {rounding} {d} zero={zero} overflow={overflow}{flush}{exponents}"
    );
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn the_words_of_several_statements_give_their_results() {
    for (signature, text) in [
        (
            "a=f16 b=f16 c=f32 d=f16 k=8",
            "t = fused L=4 F=20 over k%4=0,1 from +0 -> rz f32 ; u = add-mul P=2 over k=7,2,3,6 from product -> rne f32 ; v = join fused L=1 F=24 G=2 of t u c -> rz f32 ; d = convert v -> rna f16",
        ),
        (
            "a=bf16 b=bf16 c=f32 d=f32 k=4",
            "t = fma-chain over k=3,1 from product -> rne f32 ; d = join add-mul P=1 over k=0,2 of c t -> rz f32",
        ),
        (
            "a=bf16 b=tf32 c=f32 d=f32 k=4",
            "t = fused L=2 F=20 part a=0:5 b=0:7 -> rz f32 ; u = fused L=2 F=exact part a=5:5 b=0:7 from t -> rz f32 ; d = add-mul P=2 part b=7:16 over k=2,0,3,1 from u -> rne f32",
        ),
        // Formats without infinity, and without NaN, for products and for results.
        (
            "a=f16 b=f16 c=f32 d=f32 k=4",
            "add-mul P=2 products=rne:e4m3 -> rne f32",
        ),
        (
            "a=f16 b=f16 c=f32 d=f32 k=4",
            "add-mul P=2 products=rz:e2m1 -> rne f32",
        ),
        (
            "a=f16 b=f16 c=f32 d=f32 k=4",
            "fused L=2 F=20 operands=rne:e4m3 round-c=rne:e2m1 products=rne:e3m2 -> rne f32",
        ),
        (
            "a=f16 b=f16 c=f32 d=f32 k=4",
            "s = add-mul P=2 over k=0,1 from +0 -> rne e2m1 overflow=nan ; t = add-mul P=2 over k=2,3 from +0 -> rz e2m1 overflow=nanfinite ; u = add s t -> rne f32 ; d = add u c -> rne f32",
        ),
        (
            "a=f16 b=f16 c=f32 d=f32 k=4",
            "s = fused L=2 F=20 products=rne:e3m2 over k=0,1 from +0 -> ru e2m3 ; t = add-mul P=2 over k=2,3 from +0 -> rne e4m3 ; u = add s t -> rne f32 ; d = add u c -> rne f32",
        ),
        (
            "a=e4m3 b=e5m2 c=f32 d=f32 k=4",
            "t = t-fdpa L=4 F=9 e0=-20 as f16 over k=3,1 from c -> rz e8m13 ; d = tr-fdpa L=2 F=9 F2=12 over k=0,2 from t -> rne f32",
        ),
    ] {
        let signature: Signature = signature.parse().expect("a signature");
        let program = text
            .parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        let unit = Unit::new(signature, program).unwrap_or_else(|error| panic!("{error}"));
        compare(text, &unit, 300);
    }
}
