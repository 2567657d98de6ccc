//! Units drawn at random: what a probe states of one is a parameter of the unit, or is said to be unknown.

use mmascope::probe::Features;

/// A small generator of numbers (splitmix64).
struct Draw(u64);

impl Draw {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % count as u64) as usize
    }

    fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }
}

/// A unit in words, and what is known of it.
struct Drawn {
    signature: String,
    program: String,
    products: usize,
    bits: i32,
    bits_of_c: Option<i32>,
    floor: Option<i32>,
    /// The exponent of the smallest result.
    lowest: i32,
    is_normalised: bool,
    rounds_products: bool,
    rounding: &'static str,
    /// What is flushed: operands, c, products, results of steps.
    flushes: [bool; 4],
}

fn drawn(seed: u64) -> Drawn {
    let mut draw = Draw(seed);
    let (a, c) = (
        draw.of(&["e4m3fn", "e5m2", "f16", "bf16"]),
        draw.of(&["f32", "f32", "f16"]),
    );
    let d = draw.of(&["f32", "f32", "f16"]);
    let k = draw.of(&[4, 8, 16, 32]);
    let lengths: Vec<usize> = [1, 2, 4, 8, 16, 32]
        .into_iter()
        .filter(|l| *l <= k)
        .collect();
    let (l, bits) = (draw.of(&lengths), draw.of(&[10, 13, 16, 21, 24, 25, 27]));
    let is_inside = draw.below(4) > 0;
    let mut words = format!("L={l} F={bits}");
    let mut bits_of_c = is_inside.then_some(bits);
    if is_inside && draw.below(3) == 0 {
        let own = draw.of(&[bits - 3, bits + 2]);
        words += &format!(" Fc={own}");
        bits_of_c = Some(own);
    }
    words += draw.of(&["", "", " align=rne", " align=rd"]);
    let floor = (draw.below(4) == 0).then(|| draw.of(&[-132, -126, -100]));
    if let Some(floor) = floor {
        words += &format!(" e0={floor}");
    }
    let products = draw.of(&["", "", "", "", " products=normalised", " products=rne:f16"]);
    words += products;
    let flushes = [(); 4].map(|()| draw.below(8) == 0);
    for (is_flushed, word) in
        flushes
            .into_iter()
            .zip([" flush-in=plus", " flush-c=plus", " flush-products=plus"])
    {
        let is_possible = match word {
            " flush-c=plus" => is_inside,
            " flush-products=plus" => products == " products=rne:f16",
            _ => true,
        };
        if is_flushed && is_possible {
            words += word;
        }
    }
    let flushed = if flushes[3] { " flush=plus" } else { "" };
    if draw.below(3) == 0 && l < k {
        let steps = k / l;
        let places = (0..steps).flat_map(|step| (0..l).map(move |at| step + at * steps));
        let places: Vec<String> = places.map(|place| place.to_string()).collect();
        words += &format!(" over k={}", places.join(","));
    }
    let rounding = draw.of(&["rz", "rne"]);
    let program = if is_inside {
        format!("fused {words} -> {rounding} {d}{flushed}")
    } else {
        format!("s = fused {words} from +0 -> {rounding} f32{flushed} ; d = add s c -> rne {d}")
    };
    Drawn {
        signature: format!("a={a} b={a} c={c} d={d} k={k}"),
        program,
        products: l,
        bits,
        bits_of_c,
        floor,
        lowest: if d == "f32" { -149 } else { -24 },
        is_normalised: products == " products=normalised",
        rounds_products: products == " products=rne:f16",
        rounding: if is_inside { rounding } else { "rne" },
        flushes,
    }
}

/// What a report states that is not so.
fn wrong(unit: &Drawn, report: &Features) -> Vec<String> {
    let mut found = Vec::new();
    let mut look = |name: &str, is_right: &dyn Fn(&str) -> bool| {
        let value = report.value(name).unwrap_or("none");
        if !is_right(value) {
            found.push(format!("{name} {value}"));
        }
    };
    let number = |value: &str| value.parse::<i32>().ok();
    let is_or = |wanted: i32| move |value: &str| number(value).is_none_or(|it| it == wanted);
    // Steps of one product have no alignment but that with what was summed before.
    if unit.products > 1 && !unit.rounds_products {
        look("bits-products", &is_or(unit.bits));
        look("bits-products-c", &is_or(unit.bits));
        look("normalised-products", &|value| {
            value != if unit.is_normalised { "no" } else { "yes" }
        });
        look("products", &|value| value != "rounded");
    }
    look("bits-c", &|value| {
        number(value).is_none_or(|it| Some(it) == unit.bits_of_c)
    });
    // A sum that starts with nothing may take its first two products in one step.
    look("products-per-step", &|value| {
        number(value)
            .is_none_or(|it| it == (unit.products as i32).max(2) || it == unit.products as i32)
    });
    look("e0", &|value| {
        number(value).is_none_or(|it| Some(it) == unit.floor)
            && (value != "none" || unit.floor.is_none_or(|floor| floor <= unit.lowest))
    });
    let names = [
        ("subnormal-a", unit.flushes[0]),
        ("subnormal-b", unit.flushes[0]),
        ("subnormal-c", unit.flushes[1]),
        ("subnormal-product", unit.flushes[2]),
        ("subnormal-sum", unit.flushes[3]),
        ("subnormal-result", unit.flushes[3]),
    ];
    for (name, is_flushed) in names {
        look(name, &|value| is_flushed || value != "flushed");
    }
    look("product-overflow", &|value| {
        unit.rounds_products || value != "overflows"
    });
    look("rounding-result", &|value| {
        let is_stated = value != "unknown" && value != "not reachable";
        !is_stated || unit.products == 1 || value.split(" or ").any(|it| it == unit.rounding)
    });
    found
}

/// Seeds of units of which something wrong was said once: a subnormal c that is flushed.
const ONCE_WRONG: [u64; 1] = [51_221];

/// Units from seed `MMASCOPE_PROVE_SEED` (1) on, so many as `MMASCOPE_PROVE_COUNT` says.
#[test]
fn statements_about_drawn_units_are_right() {
    let number = |name: &str, otherwise: u64| {
        std::env::var(name).map_or(otherwise, |value| value.parse().expect("a number"))
    };
    let from = number("MMASCOPE_PROVE_SEED", 1);
    let count = number("MMASCOPE_PROVE_COUNT", 200);
    let mut failures = Vec::new();
    // How many units had a number of bits, of bits of c, and a word about normalisation: what is never said is never
    // wrong.
    let mut said = [0; 4];
    for seed in (from..from + count).chain(ONCE_WRONG) {
        let unit = drawn(seed);
        let report = super::own(&unit.signature, &unit.program);
        for (count, name) in said.iter_mut().zip([
            "bits-products",
            "bits-c",
            "normalised-products",
            "rounding-result",
        ]) {
            let value = report.value(name).unwrap_or("unknown");
            let words = [
                "unknown",
                "not reachable",
                "not applicable",
                "one rounding a step",
            ];
            *count += u64::from(!words.contains(&value));
        }
        for wrong in wrong(&unit, &report) {
            failures.push(format!(
                "{seed}: {} | {}: {wrong}",
                unit.signature, unit.program
            ));
        }
    }
    println!("{count} units; said of {said:?}");
    // (Four of ten at least, where there are enough of them.)
    let is_silent = |said: &u64| count >= 100 && said * 10 < count * 4;
    assert!(!said.iter().any(is_silent), "of {count} units: {said:?}");
    assert!(
        failures.is_empty(),
        "{}\n{}",
        failures.len(),
        failures.join("\n")
    );
}
