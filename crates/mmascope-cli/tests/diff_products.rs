//! `mmascope diff A B` and `mmascope explain A B --at`: whole products, from where they differ to the step that parts them.

use std::path::Path;
use std::process::{Command, Output};

use mmascope::array::{self, write_npy};
use mmascope::dpa::{Modifiers, Operands};
use mmascope::format::{F16, F32, Format};
use mmascope::isa::Catalogue;
use serde_json::Value;

const INST: &str = "mma.m16n8k16.f32.f16.f16.f32";
const K: usize = 64;
/// No multiple of the larger K of two units.
const SHORT: usize = 20;
const SHAPE: (usize, usize) = (20, 30);

struct Workplace(tempfile::TempDir);

impl Workplace {
    /// A folder with A, B and C of a product.
    fn new() -> Self {
        let place = Self(tempfile::tempdir().expect("a folder"));
        let mut state = 1_u64;
        let mut word = |format: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(99);
            let bits = state >> 33;
            match format {
                // f16 from 2^-8 to 2^7, of both signs.
                16 => (bits & 0x83ff) | (7 + bits % 16) << 10,
                _ => (bits & 0x807f_ffff) | (120 + bits % 16) << 23,
            }
        };
        let (m, n) = SHAPE;
        for (name, shape, format) in [
            ("a", [m, K], F16),
            ("b", [K, n], F16),
            ("c", [m, n], F32),
            ("short_a", [m, SHORT], F16),
            ("short_b", [SHORT, n], F16),
        ] {
            let words: Vec<u64> = (0..shape[0] * shape[1])
                .map(|_| word(u64::from(format.bits)))
                .collect();
            let file = place.path().join(format!("{name}.npy"));
            let file = file.to_str().expect("text");
            let never = std::sync::atomic::AtomicBool::new(false);
            write_npy(file, &shape, &format, &words, &never).expect("written");
        }
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn run(&self, arguments: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_mmascope"))
            .args(arguments.split_whitespace())
            .current_dir(self.path())
            .output()
            .expect("the program runs")
    }

    fn json(&self, arguments: &str, status: i32) -> Value {
        let output = self.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{error}");
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// The words of a file.
    fn words(&self, name: &str) -> Vec<u64> {
        let file = self.path().join(name);
        let array = array::read(file.to_str().expect("text")).expect("a file");
        let format = array.format().expect("numbers");
        array
            .words(&format, &array::Casting::default())
            .expect("words")
            .to_vec()
    }
}

/// Every step's result for an output, single dot products of the reference.
fn steps(place: &Workplace, arch: &str, inst: &str, row: usize, column: usize) -> Vec<u64> {
    let (a, b, c) = (
        place.words("a.npy"),
        place.words("b.npy"),
        place.words("c.npy"),
    );
    let unit = Catalogue::built_in().find(arch, inst).expect("a row");
    let k = unit.signature.k;
    let n = SHAPE.1;
    let mut sum = c[row * n + column];
    (0..K / k)
        .map(|step| {
            let range = step * k..(step + 1) * k;
            let of_a: Vec<u64> = range.clone().map(|k| a[row * K + k]).collect();
            let of_b: Vec<u64> = range.map(|k| b[k * n + column]).collect();
            let operands = Operands {
                a: &of_a,
                b: &of_b,
                c: sum,
                ..Operands::default()
            };
            sum = unit.dot(&operands, &Modifiers::default()).expect("a word");
            sum
        })
        .collect()
}

#[test]
fn products_are_compared_output_by_output() {
    let place = Workplace::new();
    let found = place.json(
        &format!("diff a.npy b.npy --c c.npy --arch ampere,hopper --inst {INST} --json"),
        1,
    );
    let pair = &found["pairs"][0];
    for arch in ["ampere", "hopper"] {
        let output = place.run(&format!(
            "matmul a.npy b.npy --c c.npy --arch {arch} --inst {INST} -o {arch}.npy"
        ));
        assert!(output.status.success());
    }
    let (left, right) = (place.words("ampere.npy"), place.words("hopper.npy"));
    let ordinal = |word: u64| {
        let magnitude = (word & 0x7fff_ffff) as i64;
        if word >> 31 == 1 {
            -magnitude
        } else {
            magnitude
        }
    };
    let steps: Vec<u64> = (left.iter().zip(&right))
        .map(|(&l, &r)| ordinal(l).abs_diff(ordinal(r)))
        .collect();
    let different = steps.iter().filter(|&&steps| steps > 0).count();
    assert!(different > 100, "{different}");
    assert_eq!(pair["different"], different);
    assert_eq!(pair["compared"], SHAPE.0 * SHAPE.1);
    let at = |index: usize| serde_json::json!([0, index / SHAPE.1, index % SHAPE.1]);
    let first = steps.iter().position(|&steps| steps > 0).expect("one");
    assert_eq!(pair["first"]["at"], at(first));
    assert_eq!(pair["first"]["ulp"], steps[first]);
    let most = steps.iter().max().expect("some");
    let worst = steps.iter().position(|steps| steps == most).expect("it");
    assert_eq!(
        (&pair["worst"]["at"], &pair["worst"]["ulp"]),
        (&at(worst), &(*most).into())
    );
    let cells = pair["map"].as_array().expect("rows").iter();
    let sum: u64 = cells
        .flat_map(|row| row.as_array().expect("cells"))
        .map(|cell| cell.as_u64().expect("a count"))
        .sum();
    assert_eq!(sum, different as u64);
    // The same of the files of results, also where they are equal.
    let results = place.json("diff --results ampere.npy hopper.npy --json", 1);
    assert_eq!(results["pairs"][0]["different"], different);
    let same = place.json("diff --results ampere.npy ampere.npy --json", 0);
    assert_eq!(same["pairs"][0]["different"], 0);
}

#[test]
fn the_step_that_parts_two_units_is_explained() {
    let place = Workplace::new();
    let other = "wgmma.m64n8k16.f32.f16.f16";
    let volta = "mma.m8n8k4.f32.f16.f16.f32";
    for (row, column) in [(0, 0), (7, 3), (19, 29)] {
        // Units of 16 and of 4 products a step: sums are compared where both have ended one.
        for (arch, inst) in [("hopper", other), ("volta", volta)] {
            let found = place.json(
                &format!(
                    "explain a.npy b.npy --c c.npy --arch ampere --inst {INST} --at {row},{column} \
                     --against {arch}:{inst} --json"
                ),
                0,
            );
            let left = steps(&place, "ampere", INST, row, column);
            let right = steps(&place, arch, inst, row, column);
            let ratio = right.len() / left.len();
            let chain: Vec<String> = left.iter().map(|word| format!("{word:08x}")).collect();
            let shown = found["chain"].as_array().expect("steps").iter();
            let shown: Vec<&str> = shown.map(|it| it["d"].as_str().expect("a word")).collect();
            assert_eq!(shown, chain);
            // The step behind the last after which the sums are equal.
            let differs = |at: &usize| left[*at] != right[(*at + 1) * ratio - 1];
            let apart = (0..left.len()).rev().take_while(differs).last();
            let first = (0..left.len()).find(differs);
            let parting = apart.or(first);
            if let Some(first) = first {
                assert_eq!(found["first_parting_step"]["k"], first * 16);
            }
            match parting {
                Some(at) => {
                    assert_eq!(found["parting_step"]["k"], at * 16);
                    assert_eq!(found["explanation"]["inst"], INST);
                    assert_eq!(found["against"]["arch"], arch);
                }
                None => assert!(found["parting_step"].is_null()),
            }
        }
    }
}

/// The cards of a chain in a page: k, state, whether it is opened, and the words of every unit.
fn cards(html: &str) -> Vec<(usize, String, bool, Vec<String>)> {
    let parts = html.split("<li class=\"").skip(1);
    let cards = parts.filter_map(|part| {
        let (class, rest) = part.split_once('"')?;
        let card = rest.split_once("</li>")?.0;
        let k = card.split_once("k = ")?.1.split(' ').next()?.parse().ok()?;
        let codes = card.split("<code>").skip(1);
        let words = codes.filter_map(|code| Some(code.split_once('<')?.0.to_owned()));
        let words: Vec<String> = words.collect();
        let state = class.trim_end_matches(" opened").to_owned();
        (!words.is_empty() && state != "closed").then_some((
            k,
            state,
            class.ends_with("opened"),
            words,
        ))
    });
    cards.collect()
}

#[test]
fn the_page_has_the_chain_and_opens_the_step_that_parts() {
    let place = Workplace::new();
    let volta = "mma.m8n8k4.f32.f16.f16.f32";
    for (row, column) in [(0, 0), (7, 3)] {
        let output = place.run(&format!(
            "explain a.npy b.npy --c c.npy --arch ampere --inst {INST} --at {row},{column} \
             --against volta:{volta} -o page.html"
        ));
        assert!(output.status.success());
        let html = std::fs::read_to_string(place.path().join("page.html")).expect("a page");
        assert!(html.contains(&format!("<h1>Output {row},{column} of a.npy · b.npy</h1>")));
        let left = steps(&place, "ampere", INST, row, column);
        let right = steps(&place, "volta", volta, row, column);
        let c = place.words("c.npy")[row * SHAPE.1 + column];
        let before = |steps: &[u64], at: usize| at.checked_sub(1).map_or(c, |at| steps[at]);
        let parting = (0..left.len()).find(|&at| left[at] != right[4 * at + 3]);
        let expected: Vec<_> = (0..left.len())
            .map(|at| {
                let words = [
                    before(&left, at),
                    left[at],
                    before(&right, 4 * at),
                    right[4 * at + 3],
                ];
                let words = words.iter().map(|word| format!("{word:08x}")).collect();
                let state = match left[at] == right[4 * at + 3] {
                    true => "equal",
                    false => "apart",
                };
                (16 * at, state.to_owned(), Some(at) == parting, words)
            })
            .collect();
        assert!(parting.is_some());
        assert_eq!(cards(&html), expected);
        assert!(html.contains("They part") && html.contains("role=\"img\""));
    }
}

#[test]
fn units_that_agree_have_a_page_too() {
    let place = Workplace::new();
    // The same arithmetic in steps of half the length.
    let half = "mma.m16n8k8.f32.f16.f16.f32";
    let output = place.run(&format!(
        "explain a.npy b.npy --c c.npy --arch ampere --inst {INST} --at 1,2 --against ampere:{half} -o page.html"
    ));
    assert!(output.status.success());
    let html = std::fs::read_to_string(place.path().join("page.html")).expect("a page");
    let cards = cards(&html);
    assert_eq!(cards.len(), K / 16);
    assert!(cards.iter().all(|(_, state, ..)| state == "equal"));
    assert!(cards[K / 16 - 1].2, "the last step is opened");
    assert!(html.contains("The units agree") && html.contains("role=\"img\""));
    // The opened step of one is compared with two steps of the other, which sum the same k.
    assert!(html.contains("They agree"), "{html}");
}

#[test]
fn steps_of_zeros_are_one_line() {
    let place = Workplace::new();
    // One product alone, in the second step of four.
    let never = std::sync::atomic::AtomicBool::new(false);
    for (name, shape, at) in [("a1.npy", [1, K], 20), ("b1.npy", [K, 1], 20)] {
        let mut words = vec![0; K];
        words[at] = 0x3c00;
        let file = place.path().join(name);
        let file = file.to_str().expect("text");
        write_npy(file, &shape, &F16, &words, &never).expect("written");
    }
    let arguments =
        format!("explain a1.npy b1.npy --arch ampere --inst {INST} --at 0,0 -o page.html");
    let output = place.run(&arguments);
    let text = String::from_utf8(output.stdout).expect("text");
    let chain = "4 steps of 16 products\n  k = 0 to 15: 00000000\n> k = 16 to 31: 3f800000\n  \
                 k = 32 to 63: 2 steps of zeros only, which change nothing\n\nampere";
    assert!(text.starts_with(chain), "{text}");
    let html = std::fs::read_to_string(place.path().join("page.html")).expect("a page");
    let states: Vec<String> = cards(&html).into_iter().map(|card| card.1).collect();
    assert_eq!(states, ["idle", "adds", "idle", "idle"]);
}

#[test]
fn comparisons_of_products_are_drawn() {
    let place = Workplace::new();
    let read = |name: &str| std::fs::read_to_string(place.path().join(name)).expect("written");
    let arguments = format!("diff a.npy b.npy --c c.npy --arch ampere,hopper --inst {INST}");
    let found = place.json(&format!("{arguments} --json"), 1);
    let pair = &found["pairs"][0];
    let cells = pair["map"].as_array().expect("rows").iter();
    let cells: Vec<&Value> = cells
        .flat_map(|row| row.as_array().expect("cells"))
        .collect();
    let differing = cells.iter().filter(|cell| cell.as_u64() > Some(0)).count();
    let words = |place: &Value| {
        ["left", "right"].map(|side| place[side].as_str().expect("a word").to_owned())
    };
    for (name, arguments) in [
        ("d.html", format!("{arguments} -o d.html")),
        ("d.svg", format!("{arguments} --svg d.svg")),
    ] {
        assert_eq!(place.run(&arguments).status.code(), Some(1));
        let text = read(name);
        assert_eq!(
            text.matches("<rect class=\"bar\"").count(),
            differing,
            "{name}"
        );
        assert_eq!(
            text.matches("<rect class=\"equal\"").count(),
            cells.len() - differing
        );
        assert_eq!(text.matches("<rect class=\"worst\"").count(), 1);
        assert!(text.contains(" of 600 outputs differ"));
        assert!(text.matches("<rect class=\"key ").count() > 1, "a legend");
    }
    // The first and the worst, each with both values and the step that parts the units.
    let page = read("d.html");
    for word in [words(&pair["first"]), words(&pair["worst"])].concat() {
        assert!(page.contains(&format!("<td>{word}</td>")), "{word}");
    }
    assert_eq!(page.matches("They part").count(), 2);
    assert_eq!(page.matches("class=\"chain\"").count(), 2);
    // Of results alone there are no steps.
    for arch in ["ampere", "hopper"] {
        place.run(&format!(
            "matmul a.npy b.npy --c c.npy --arch {arch} --inst {INST} -o {arch}.npy"
        ));
    }
    let results = place.run("diff --results ampere.npy hopper.npy -o r.html");
    assert_eq!(results.status.code(), Some(1));
    let page = read("r.html");
    assert_eq!(page.matches("<rect class=\"bar\"").count(), differing);
    assert!(page.contains("The worst: output") && !page.contains("They part"));
    // Nothing differs: counts and an empty map.
    let same = place.run("diff --results ampere.npy ampere.npy -o s.html");
    assert_eq!(same.status.code(), Some(0));
    assert!(read("s.html").contains("no output differs"));
}

#[test]
fn what_is_wrong_is_named() {
    let place = Workplace::new();
    for (arguments, message) in [
        ("diff a.npy --arch ampere,hopper", "two files"),
        (
            "diff a.npy b.npy --arch ampere",
            "at least two different units",
        ),
        ("diff --results a.npy", "the D of two units or more"),
        (
            "diff --results a.npy c.npy",
            "results of 20 × 30, and a.npy has 20 × 64",
        ),
        ("diff a.npy missing.npy --arch ampere,hopper", "missing.npy"),
        (
            "diff a.npy b.npy --arch ampere,hopper --schedule split=3",
            "--schedule",
        ),
        (
            "diff a.npy b.npy --arch ampere,hopper --family bits",
            "cannot be used with",
        ),
        ("explain a.npy b.npy --arch ampere", "--at"),
        ("explain a.npy b.npy --arch ampere --at 20,0", "(20, 0)"),
        (
            "explain a.npy b.npy --arch ampere --at 2",
            "a row and a column",
        ),
        ("explain a.npy b.npy --at 2,2", "--arch"),
    ] {
        let output = place.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {error}");
        assert!(error.contains(message), "{arguments}: {error}");
        assert!(output.stdout.is_empty(), "{arguments}");
    }
}

/// Padded to 20 and to 32, the chains of two units still end together: an output that differs parts somewhere.
#[test]
fn padded_chains_end_together() {
    let place = Workplace::new();
    let units = [
        "volta:mma.m8n8k4.f32.f16.f16.f32",
        &format!("hopper:{INST}"),
    ]
    .map(str::to_owned);
    let files = "short_a.npy short_b.npy";
    let refused = place.run(&format!("diff {files} --arch {}", units.join(",")));
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--pad"));
    let results = units.clone().map(|unit| {
        let output = place.run(&format!("matmul {files} --arch {unit} --pad -o d.npy"));
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        place.words("d.npy")
    });
    let [left, right] = &results;
    let differing = (0..left.len()).filter(|&at| left[at] != right[at]);
    let differing: Vec<usize> = differing.take(12).collect();
    assert_eq!(differing.len(), 12);
    for at in differing {
        let (row, column) = (at / SHAPE.1, at % SHAPE.1);
        let output = place.run(&format!(
            "explain {files} --arch {} --at {row},{column} --pad --against {}",
            units[0], units[1]
        ));
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(!shown.contains("are equal after every step"), "{shown}");
    }
}

#[test]
fn a_second_architecture_alone_takes_its_default_for_the_files() {
    let place = Workplace::new();
    let explain = |arguments: &str| {
        let output = place.run(&format!("explain a.npy b.npy --at 2,2 {arguments}"));
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let named = explain("--arch ampere --against cdna3:v_mfma_f32_16x16x16_f16");
    assert_eq!(explain("--arch ampere --against cdna3"), named);
    assert!(named.contains("v_mfma_f32_16x16x16_f16"), "{named}");
    // As `diff` takes them: of Hopper that is no instruction of Ampere's.
    let named = explain("--arch ampere --against hopper:wgmma.m64n8k16.f32.f16.f16");
    assert_eq!(explain("--arch ampere --against hopper"), named);
    // It takes the same name before its default.
    let short = "mma.m16n8k8.f32.f16.f16.f32";
    let named = explain(&format!("--arch turing:{short} --against ampere:{short}"));
    let alone = explain(&format!("--arch turing:{short} --against ampere"));
    assert_eq!(alone, named);
    let output = place.run("explain a.npy b.npy --at 2,2 --arch ampere --against nowhere");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("nowhere"));
}

#[test]
fn the_command_that_leads_on_runs_as_it_is_printed() {
    let place = Workplace::new();
    for (from, to) in [("a.npy", "my A.npy"), ("b.npy", "it's B.npy")] {
        std::fs::copy(place.path().join(from), place.path().join(to)).expect("copied");
    }
    let family = |name: &str, align: &str| {
        format!(
            "{name}\n  | f16 x f16 + f32 -> f32\n  | m8n8k8\n  | fused L=8 F=20 align={align} -> rz f32\n  | open\n"
        )
    };
    let own = format!(
        "arch mine\ntitle Mine\n{}{}",
        family("u.cut", "rz"),
        family("u.near", "rne")
    );
    std::fs::write(place.path().join("my units.txt"), own).expect("written");
    let run = |words: &[String]| {
        let output = Command::new(env!("CARGO_BIN_EXE_mmascope"))
            .args(words)
            .current_dir(place.path())
            .output()
            .expect("the program runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let units = "mine:u.cut,mine:u.near";
    for first in [
        format!("diff 'my A.npy' \"it's B.npy\" --arch {units} --isa 'my units.txt'"),
        format!("diff --arch {units} --isa 'my units.txt' --family normal -n 50"),
    ] {
        let (status, shown, error) = run(&shell_words::split(&first).expect("words"));
        assert_eq!(status, Some(1), "{first}: {error}");
        let command = shown
            .lines()
            .find_map(|line| line.split_once("mmascope explain "));
        let command = command.unwrap_or_else(|| panic!("{first}: {shown}")).1;
        let words = shell_words::split(&format!("explain {command}")).expect("words");
        let (status, explained, error) = run(&words);
        assert_eq!(status, Some(0), "{command}: {error}");
        assert!(explained.contains("\npart "), "{command}: {explained}");
    }
}

#[test]
fn a_schedule_leads_to_no_step_and_says_so() {
    let place = Workplace::new();
    let schedule = "\"split-k=2 reduce=ascending/f32\"";
    let arguments = format!("diff a.npy b.npy --arch ampere,hopper --schedule {schedule}");
    let output = Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .args(shell_words::split(&arguments).expect("words"))
        .current_dir(place.path())
        .output()
        .expect("the program runs");
    let shown = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(
        shown.contains("is not shown: `explain` knows products without --schedule"),
        "{shown}"
    );
    assert!(!shown.contains("mmascope explain"), "{shown}");
}

/// Codes have no types, and need none where every unit is named in full.
#[test]
fn files_of_codes_are_compared_by_units_that_are_named() {
    let place = Workplace::new();
    for name in ["a", "b"] {
        let file = place.path().join(format!("{name}.npy"));
        let bytes = std::fs::read(file).expect("a file");
        let at = bytes.windows(3).position(|three| three == b"<f2");
        let mut codes = bytes.clone();
        codes[at.expect("a type") + 1] = b'u';
        let file = place.path().join(format!("{name}_codes.npy"));
        std::fs::write(file, codes).expect("written");
    }
    let numbers = place.run("diff a.npy b.npy --arch h100:f16,a100:f16 --json");
    let codes = place.run("diff a_codes.npy b_codes.npy --arch h100:f16,a100:f16 --json");
    assert_eq!(codes.status.code(), Some(1), "{codes:?}");
    let counts = |output: &Output| {
        let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        json["pairs"][0]["different"].as_u64().expect("a number")
    };
    assert_eq!(counts(&codes), counts(&numbers));
    // Which instruction of an architecture is meant, codes do not say.
    let open = place.run("diff a_codes.npy b_codes.npy --arch h100,a100:f16");
    assert_eq!(open.status.code(), Some(2), "{open:?}");
}

/// Units that read the files in different formats multiply different numbers, and the output says so.
#[test]
fn formats_of_operands_that_differ_are_told() {
    let place = Workplace::new();
    let told = |units: &str| {
        let output = place.run(&format!("diff a.npy b.npy --arch {units}"));
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let different = told("h100:f16,h100:bf16");
    let words = "formats of their own";
    assert!(
        different.contains(words) && different.contains("as bf16 and bf16"),
        "{different}"
    );
    assert!(!told("h100:f16,a100:f16").contains(words));
}

/// Of steps of unequal length what parts two units lies somewhere between the last place where both end a step and the next.
#[test]
fn units_part_between_places_where_both_end_a_step() {
    let place = Workplace::new();
    let never = std::sync::atomic::AtomicBool::new(false);
    let write = |name: &str, shape: &[usize], format: &Format, words: &[u64]| {
        let file = place.path().join(name);
        write_npy(file.to_str().expect("text"), shape, format, words, &never).expect("written");
    };
    let (mut a, mut b) = (vec![0; 48], vec![0; 48]);
    // -2^13 · 2^10, -1/2, -1/4 and -1/8, beside c = 2^23.
    a[16..20].copy_from_slice(&[0xf000, 0xb800, 0xb400, 0xb000]);
    b[16..20].copy_from_slice(&[0x6400, 0x3c00, 0x3c00, 0x3c00]);
    write("step_a.npy", &[1, 48], &F16, &a);
    write("step_b.npy", &[48, 1], &F16, &b);
    write("step_c.npy", &[1, 1], &F32, &[0x4b00_0000]);
    let (volta, ampere) = ("volta:mma.m8n8k4.f32.f16.f16.f32", format!("ampere:{INST}"));
    for (units, step) in [([volta, &ampere], 7), ([&ampere, volta], 1)] {
        let arguments = format!(
            "step_a.npy step_b.npy --c step_c.npy --arch {}",
            units.join(",")
        );
        let found = place.json(&format!("diff {arguments} --json"), 1);
        assert_eq!(found["pairs"][0]["parting_k"], serde_json::json!([16, 31]));
        let [own, other] = units;
        let arguments = format!(
            "explain step_a.npy step_b.npy --c step_c.npy --arch {own} --against {other} --at 0,0"
        );
        let explained = place.json(&format!("{arguments} --json"), 0);
        let parting = &explained["parting_step"];
        assert_eq!(parting["parting_k"], serde_json::json!([16, 31]));
        assert_eq!(parting["step"], step);
        let said = place.run(&arguments);
        let said = String::from_utf8(said.stdout).expect("text");
        assert!(said.contains("k = 16 to 31"), "{said}");
    }
}

/// C of files with tensor scales comes in behind the chain.
#[test]
fn chains_of_quantised_files_leave_the_epilogue_out_and_say_so() {
    let place = Workplace::new();
    for arguments in [
        "quantize a.npy --format nvfp4 -o qa.safetensors",
        "quantize b.npy --format nvfp4 --axis 0 -o qb.safetensors",
    ] {
        let output = place.run(arguments);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let unit = "b200:tcgen05.mma.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3";
    let files = format!("qa.safetensors qb.safetensors --arch {unit} --pad");
    let plain = place.json(&format!("explain {files} --at 0,1 --json"), 0);
    let with_c = place.json(&format!("explain {files} --c c.npy --at 0,1 --json"), 0);
    assert_eq!(plain["chain"], with_c["chain"]);
    let behind = with_c["behind"].as_str().expect("an epilogue");
    assert!(behind.starts_with("c=epilogue/f32 alpha="), "{behind}");
    // D is the chain's result, times alpha, and C.
    let product = place.run(&format!("matmul {files} --c c.npy -o q.npy"));
    assert!(
        product.status.success(),
        "{}",
        String::from_utf8_lossy(&product.stderr)
    );
    let steps = with_c["chain"].as_array().expect("steps");
    let word = steps[steps.len() - 1]["d"].as_str().expect("a word");
    let float = |word: u64| f32::from_bits(word as u32);
    let sum = float(u64::from_str_radix(word, 16).expect("a word"));
    let alpha = place.json(&format!("matmul {files} --c c.npy --json"), 0);
    let alpha = alpha["schedule"].as_str().expect("a schedule").to_owned();
    assert_eq!(alpha, behind);
    let alpha = behind.split("alpha=").nth(1).expect("alpha");
    let alpha: f32 = alpha
        .split_whitespace()
        .next()
        .expect("alpha")
        .parse()
        .expect("a number");
    let c = float(place.words("c.npy")[1]);
    assert_eq!(float(place.words("q.npy")[1]), sum.mul_add(alpha, c));
    let said = place.run(&format!("explain {files} --c c.npy --at 0,1"));
    let said = String::from_utf8(said.stdout).expect("text");
    assert!(
        said.contains("Behind the chain, outside the unit,"),
        "{said}"
    );
}

#[test]
fn results_of_integer_units_are_compared() {
    let place = Workplace::new();
    for (name, last) in [("i.npy", 3_u64), ("j.npy", 0xffff_fffd)] {
        let never = std::sync::atomic::AtomicBool::new(false);
        let file = place.path().join(name);
        let format = Format::named("int32").expect("a format");
        write_npy(
            file.to_str().expect("text"),
            &[1, 2],
            &format,
            [7, last],
            &never,
        )
        .expect("written");
    }
    let found = place.json("diff --results i.npy j.npy --json", 1);
    assert_eq!(found["pairs"][0]["different"], 1);
    assert_eq!(found["pairs"][0]["first"]["ulp"], 6);
    assert_eq!(
        place.json("diff --results i.npy i.npy --json", 0)["pairs"][0]["different"],
        0
    );
}

#[test]
fn nans_of_unknown_payload_are_not_told_apart() {
    let place = Workplace::new();
    let never = std::sync::atomic::AtomicBool::new(false);
    for (name, shape) in [("nan_a.npy", [2, 16]), ("nan_b.npy", [16, 2])] {
        let file = place.path().join(name);
        write_npy(
            file.to_str().expect("text"),
            &shape,
            &F16,
            [0x7e00; 32],
            &never,
        )
        .expect("written");
    }
    let found = place.json("matmul nan_a.npy nan_b.npy --arch a100,mi300x --json", 0);
    assert_eq!(found["compared"][0]["different"], 0, "{found}");
}
