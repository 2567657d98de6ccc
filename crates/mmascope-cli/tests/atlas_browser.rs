//! The explorer of the atlas in headless Chromium: it gives the program's bits, obeys keyboard, mouse, links and dropped
//! files, and says what is wrong with damaged files and unknown units.

#[path = "atlas_browser/driver.rs"]
mod driver;
#[path = "atlas_browser/pages.rs"]
mod pages;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard};

use driver::Browser;
use serde_json::{Value, json};

/// The module that `cargo xtask atlas module` builds.
fn module() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/atlas/mmascope.wasm");
    if !path.is_file() {
        println!("skipped: there is no module; `cargo xtask atlas module` builds it");
        return None;
    }
    Some(path)
}

fn mmascope(arguments: &[&str], input: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut to = child.stdin.take().expect("a pipe");
    let text = input.to_owned();
    let writer = std::thread::spawn(move || {
        let _ = to.write_all(text.as_bytes());
    });
    let output = child.wait_with_output().expect("an end");
    writer.join().expect("an end");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The program, offering the site; it is made once and kept in the tests' own folder.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(module: &Path) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("atlas-site");
        // The program takes a site for fresh whose catalogue, module and version are its own; here the pages themselves
        // may have changed.
        let changed = |path: &Path| std::fs::metadata(path).and_then(|it| it.modified()).ok();
        let program = Path::new(env!("CARGO_BIN_EXE_mmascope"));
        if changed(&folder.join("atlas.json")) < changed(program) {
            let _ = std::fs::remove_dir_all(&folder);
        }
        let mut child = Command::new(env!("CARGO_BIN_EXE_mmascope"))
            .args(["atlas", "--serve=0", "-o"])
            .arg(&folder)
            .arg("--module")
            .arg(module)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let mut line = String::new();
        let out = child.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut line).expect("a line");
        let address = line.split(' ').next().unwrap_or_default().to_owned();
        assert!(address.starts_with("http://127.0.0.1:"), "{line}");
        Self { child, address }
    }

    fn page(&self, name: &str) -> String {
        format!("{}{name}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One browser at a time: two cores are not enough for more.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A browser and a server; `None`, printed, where something is missing.
fn stage(folder: &Path) -> Option<(Browser, Server)> {
    let module = module()?;
    let browser = Browser::start(&folder.join("profile"), 1280, 900)?;
    Some((browser, Server::start(&module)))
}

/// Opens the explorer and waits until it computes.
fn explorer(browser: &mut Browser, server: &Server, fragment: &str) {
    browser.open(&server.page(&format!("explorer.html{fragment}")));
    browser.until("document.documentElement.dataset.ready === 'true'");
    let status = browser.text("document.getElementById('status').textContent");
    assert_eq!(
        status, "",
        "`cargo xtask atlas module` builds the module again"
    );
}

fn rows() -> Vec<Value> {
    let list: Value = serde_json::from_str(&mmascope(&["list", "--json"], "")).expect("JSON");
    let architectures = list["architectures"].as_array().expect("a list");
    let rows = architectures
        .iter()
        .flat_map(|it| it["instructions"].as_array().expect("a list"));
    rows.filter(|row| row["modelled"] == true)
        .cloned()
        .collect()
}

/// The results of vector lines, as the program gives them.
fn evaluated(lines: &[String]) -> Vec<String> {
    let out = mmascope(&["eval"], &(lines.join("\n") + "\n"));
    let word = |line: &str| {
        let value: Value = serde_json::from_str(line).expect("JSON");
        value["d"]
            .as_str()
            .unwrap_or_else(|| panic!("{line}"))
            .to_owned()
    };
    out.lines()
        .filter(|line| !line.is_empty())
        .map(word)
        .collect()
}

fn line(unit: &str, operands: &Value) -> String {
    let (arch, inst) = unit.split_once(':').expect("a unit");
    let mut line = json!({"arch": arch, "inst": inst});
    for key in ["a", "b", "c", "sa", "sb"] {
        if !operands[key].is_null() {
            line[key] = operands[key].clone();
        }
    }
    line.to_string()
}

#[test]
fn the_browser_gives_the_programs_bits_on_every_row() {
    const FAMILIES: [&str; 6] = ["normal", "stress", "close", "bits", "boundary", "outlier"];
    let _turn = turn();
    let folder = tempfile::tempdir().expect("a folder");
    let Some((mut browser, server)) = stage(folder.path()) else {
        return;
    };
    explorer(&mut browser, &server, "");
    let rows = rows();
    let names: Vec<String> = rows
        .iter()
        .map(|row| {
            format!(
                "{}:{}",
                row["arch"].as_str().unwrap_or(""),
                row["inst"].as_str().unwrap_or("")
            )
        })
        .collect();
    let (mut cases, mut lines, mut found) = (Vec::new(), Vec::new(), Vec::new());
    for (chunk, names) in names.chunks(100).enumerate() {
        let answers = browser.value(&format!(
            "(() => {{ const families = {}; const found = []; let at = {}; for (const unit of {}) for (let time = 0; time < 2; time++) {{ \
             const family = families[at % families.length]; const operands = atlasAsk({{do: 'draw', unit, family, seed: 7, index: at}}); at++; \
             if (operands.error) {{ found.push([unit, operands.error]); continue; }} \
             const answer = atlasAsk({{do: 'compute', units: [unit], ...operands}}); \
             found.push([unit, family, at - 1, operands, answer.error ?? answer.results[0].word ?? answer.results[0].refused]); }} return found; }})()",
            json!(FAMILIES),
            chunk * 200,
            json!(names)
        ));
        for answer in answers.as_array().expect("a list") {
            let unit = answer[0].as_str().expect("a unit");
            lines.push(line(unit, &answer[3]));
            found.push(
                answer[4]
                    .as_str()
                    .unwrap_or_else(|| panic!("{answer}"))
                    .to_owned(),
            );
            cases.push(answer.clone());
        }
    }
    assert!(cases.len() >= 2000, "{} cases", cases.len());
    let expected = evaluated(&lines);
    assert_eq!(expected.len(), found.len());
    for (at, (own, other)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(own, other, "{}", lines[at]);
    }
    // The cases are the program's own, too.
    for case in cases.iter().step_by(211) {
        let unit = case[0].as_str().expect("a unit");
        let (arch, inst) = unit.split_once(':').expect("a unit");
        let (family, index) = (case[1].as_str().expect("a family"), case[2].to_string());
        let made = mmascope(
            &[
                "gen", "--arch", arch, "--inst", inst, "--family", family, "--seed", "7",
                "--start", &index, "-n", "1",
            ],
            "",
        );
        let made: Value = serde_json::from_str(made.trim()).expect("JSON");
        assert_eq!(
            (&made["a"], &made["b"], &made["c"]),
            (&case[3]["a"], &case[3]["b"], &case[3]["c"]),
            "{unit}"
        );
    }
    println!("{} cases of {} rows agree", found.len(), names.len());
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

/// The results that the page shows: unit, word.
fn shown(browser: &mut Browser) -> Vec<(String, String)> {
    let found = browser.value(
        "[...document.querySelectorAll('#results .result')].map(it => [it.querySelector('small').textContent, it.querySelector('code')?.textContent ?? ''])",
    );
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let rows = found.as_array().expect("a list").iter();
    rows.map(|row| (text(&row[0]), text(&row[1]))).collect()
}

#[test]
fn deep_links_keyboard_and_mouse() {
    let _turn = turn();
    let folder = tempfile::tempdir().expect("a folder");
    let Some((mut browser, server)) = stage(folder.path()) else {
        return;
    };
    // A link with every operand, and two units: c = 2^23 and the products of the README's picture.
    let zeros = "0".repeat(16);
    let link = format!(
        "#arch=turing&inst=mma.m16n8k8.f32.f16.f16.f32&a=f000b800b400b000{zeros}&b=64003c003c003c00{zeros}&c=4b000000"
    );
    explorer(
        &mut browser,
        &server,
        &format!("{link}&against=hopper:mma.m16n8k8.f32.f16.f16.f32"),
    );
    let results = shown(&mut browser);
    assert_eq!(
        results[0],
        (
            "turing:mma.m16n8k8.f32.f16.f16.f32".to_owned(),
            "bf000000".to_owned()
        )
    );
    assert_eq!(results[1].1, "bf400000");
    let words = browser.text("document.querySelector('.parting-words').textContent");
    assert!(words.contains("bit 2^-2"), "{words}");
    let drawn = browser
        .value("document.getElementById('picture').shadowRoot.querySelectorAll('svg rect').length");
    assert!(drawn.as_u64().is_some_and(|count| count > 100), "{drawn}");
    // Typing a value: everything follows at once.
    browser.write("#operands [aria-label='c, value']", "0");
    assert_eq!(
        shown(&mut browser)[0].1,
        "cb000000",
        "-2^23 - 0.875 rounds to -2^23"
    );
    // The bits of the operand that has the cursor: a switch, by mouse and by keyboard.
    browser.click("#bits [data-bit='31']");
    assert_eq!(
        browser.text("document.querySelector('#operands [aria-label=\"c, word\"]').value"),
        "80000000"
    );
    browser.press("Space");
    assert_eq!(
        browser.text("document.querySelector('#operands [aria-label=\"c, word\"]').value"),
        "00000000"
    );
    browser.press("Tab");
    browser.press("Enter");
    assert_eq!(
        browser.text("document.querySelector('#operands [aria-label=\"c, word\"]').value"),
        "40000000"
    );
    // The address is the link: the same results again.
    let address = browser.text("location.href");
    let before = shown(&mut browser);
    browser.open(&address);
    browser.until("document.documentElement.dataset.ready === 'true'");
    assert_eq!(shown(&mut browser), before);
    // Views by keyboard.
    browser.value("document.getElementById('tab-dot').focus()");
    for (view, key) in [
        ("matrix", "ArrowRight"),
        ("cast", "ArrowRight"),
        ("reveal", "ArrowRight"),
        ("dot", "ArrowRight"),
    ] {
        browser.press(key);
        let selected = browser.text("document.querySelector('[role=tab][aria-selected=true]').id");
        assert_eq!(selected, format!("tab-{view}"));
        assert_eq!(
            browser.value(&format!("document.getElementById('view-{view}').hidden")),
            false
        );
    }
    // Drawn cases.
    browser.click("#draw");
    let drawn = shown(&mut browser)[0].1.clone();
    browser.click("#next");
    assert_ne!(shown(&mut browser)[0].1, drawn);
    // A third and a fourth unit, and no fifth.
    browser.click("#add-unit");
    browser.click("#add-unit");
    assert_eq!(shown(&mut browser).len(), 4);
    assert_eq!(
        browser.value("document.getElementById('add-unit').disabled"),
        true
    );
    // How long an edit takes, with four units and their pictures.
    let time = browser.value(
        "(() => { const it = document.querySelector('#operands [aria-label=\"a0, value\"]'); it.focus(); const times = []; \
         for (let n = 0; n < 9; n++) { it.value = String(n + 0.5); const begin = performance.now(); it.dispatchEvent(new Event('input')); \
         document.body.offsetHeight; times.push(performance.now() - begin); } return times.sort((x, y) => x - y)[4]; })()",
    );
    let time = time.as_f64().expect("a time");
    println!("an edit takes {time:.1} ms");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

/// A link says all that the page shows, and what it leaves out is 0 in a page that is open already, too.
#[test]
fn links_say_everything() {
    let _turn = turn();
    let folder = tempfile::tempdir().expect("a folder");
    let Some((mut browser, server)) = stage(folder.path()) else {
        return;
    };
    let unit = "#arch=ampere&inst=mma.m16n8k8.f32.f16.f16.f32&a=1,2,3&b=0.5,1,2";
    explorer(&mut browser, &server, &format!("{unit}&c=-8"));
    assert_eq!(shown(&mut browser)[0].1, "3f000000");
    for (fragment, word) in [
        (unit, "41080000"),
        ("#arch=ampere&inst=mma.m16n8k8.f32.f16.f16.f32", "00000000"),
    ] {
        browser.value(&format!("location.hash = '{fragment}'"));
        browser.until(&format!(
            "document.querySelector('#results code').textContent === '{word}'"
        ));
    }
    // One unit alone beside another, and the clamps of casts.
    explorer(
        &mut browser,
        &server,
        &format!("{unit}&against=hopper:f16,f16,f32&picture=0"),
    );
    assert_eq!(browser.value("location.hash.includes('picture=0')"), true);
    explorer(
        &mut browser,
        &server,
        "#view=cast&from=f32&to=e4m3&value=-1&flags=relu,none",
    );
    assert_eq!(
        browser.text("document.querySelectorAll('#cast-bits code')[1].textContent"),
        "00"
    );
    assert_eq!(browser.value("location.hash.includes('flags=relu')"), true);
    let problem = browser.text("document.getElementById('cast-problem').textContent");
    assert_eq!(problem, "flags=none of the link is unknown and left out");
    // A seed that is none.
    explorer(&mut browser, &server, unit);
    browser.value("document.getElementById('seed').value = '-1'");
    browser.click("#draw");
    let problem = browser.text("document.getElementById('problem').textContent");
    assert!(problem.starts_with("seed: a whole number"), "{problem}");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

#[test]
fn unknown_units_own_units_casts_and_reveal() {
    let _turn = turn();
    let folder = tempfile::tempdir().expect("a folder");
    let Some((mut browser, server)) = stage(folder.path()) else {
        return;
    };
    explorer(
        &mut browser,
        &server,
        "#arch=hoper&inst=mma.m16n8k16.f32.f16.f16.f32",
    );
    let problem = browser.text("document.getElementById('problem').textContent");
    assert!(
        problem.contains("hoper") && problem.contains("hopper"),
        "{problem}"
    );
    // An instruction that is known and has no model is refused with its reason.
    let row = "rubin";
    let refused = browser.value(&format!(
        "atlasAsk({{do: 'suggest', text: '{row}'}}).units.length > 0"
    ));
    assert_eq!(refused, true);
    browser.write(
        "#unit-0",
        "H100:mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    );
    browser.press("Tab");
    browser.until("document.getElementById('problem').hidden");
    assert_eq!(
        shown(&mut browser)[0].0,
        "hopper:mma.m16n8k16.f32.f16.f16.f32"
    );
    // A unit of one's own: an error has its place, and a right text computes.
    let text = "arch mychip\ndot.{shape}.{d}.{a} | f16 x f16 + f32 -> f32 | m8n8k12\n  | t-fdpa L=12 F=x e0=-126 -> rne f32 | open";
    browser.value(&format!("document.getElementById('own').open = true; document.getElementById('own-text').value = {}", json!(text)));
    browser.click("#own-load");
    let problem = browser.text("document.getElementById('own-error').textContent");
    assert!(problem.starts_with("line 3, column "), "{problem}");
    browser.value("document.getElementById('own-text').value = document.getElementById('own-text').value.replace('F=x', 'F=20')");
    browser.click("#own-load");
    assert_eq!(shown(&mut browser)[0].0, "mychip:dot.m8n8k12.f32.f16");
    assert_eq!(
        browser.value("document.querySelectorAll('#operands tbody tr').length"),
        13
    );
    let address = browser.text("location.href");
    explorer(
        &mut browser,
        &server,
        address.split_once("explorer.html").expect("a page").1,
    );
    assert_eq!(shown(&mut browser)[0].0, "mychip:dot.m8n8k12.f32.f16");
    // The units of the site's own texts are there beside those.
    let text = "arch mine\ndot | f16 x f16 + f32 -> f32 | m8n8k4 | t-fdpa L=4 F=20 e0=-126 -> rz f32 | open";
    let found = browser.value(&format!(
        "(() => {{ const told = atlasAsk({{do: 'base', texts: [{}]}}); return told.error ?? atlasAsk({{do: 'compute', units: ['mine:dot'], a: '1,2', b: '3,4'}}).results[0].word; }})()",
        json!(text)
    ));
    assert_eq!(found, "41300000");
    // Casts: what the program gives, bit for bit.
    explorer(
        &mut browser,
        &server,
        "#view=cast&from=f32&to=e4m3&value=0.1",
    );
    let cast: Value = serde_json::from_str(&mmascope(
        &["cast", "--json", "--from", "f32", "--to", "e4m3", "0.1"],
        "",
    ))
    .expect("JSON");
    let shown_word =
        browser.text("[...document.querySelectorAll('#cast-bits code')].at(-1).textContent");
    assert!(
        cast.to_string().contains(&format!("\"{shown_word}\"")),
        "{cast}: {shown_word}"
    );
    let bits = browser.value("document.querySelectorAll('#cast-bits .bit').length");
    assert_eq!(bits, 40);
    browser.click("#cast-bits [data-bit='31']");
    let negative =
        browser.text("[...document.querySelectorAll('#cast-bits code')].at(-1).textContent");
    assert_ne!(negative, shown_word);
    // Reveal, step by step.
    explorer(
        &mut browser,
        &server,
        "#arch=volta&inst=mma.m8n8k4.f32.f16.f16.f32&view=reveal",
    );
    browser.click("#reveal");
    browser.until("!document.getElementById('revealed').hidden");
    let facts = browser.text("document.getElementById('reveal-facts').textContent");
    assert!(
        facts.contains("0 of 100 random inputs contradict"),
        "{facts}"
    );
    let mut words = String::new();
    for step in 2..40 {
        browser.click("#step-on");
        let number = browser.text("document.getElementById('step-number').textContent");
        assert!(number.starts_with(&format!("{step} of ")), "{number}");
        words = browser.text("document.getElementById('step-words').textContent");
        if words.contains("M at p0, \u{2212}M at p1") {
            break;
        }
    }
    // One step of four products and c: nothing else is left of the sum while M is in it.
    assert!(
        words.contains("meet in a node over 5 of these leaves"),
        "{words}"
    );
    let marked = browser.value(
        "document.querySelectorAll('#step-picture rect.plus, #step-picture rect.minus').length",
    );
    assert_eq!(marked, 2);
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

#[test]
fn files_are_dropped_multiplied_and_refused() {
    let _turn = turn();
    let folder = tempfile::tempdir().expect("a folder");
    let Some((mut browser, server)) = stage(folder.path()) else {
        return;
    };
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let examples = std::fs::canonicalize(examples).expect("the examples");
    let (a, b) = (examples.join("signal.npy"), examples.join("dct.npy"));
    explorer(
        &mut browser,
        &server,
        "#arch=ampere&inst=f16,f16,f32&against=hopper:f16,f16,f32&view=matrix",
    );
    // A damaged file first: half of A.
    let damaged = folder.path().join("half.npy");
    let bytes = std::fs::read(&a).expect("a file");
    std::fs::write(&damaged, &bytes[..bytes.len() / 2]).expect("a file");
    browser.drop_files("#drop", &[&damaged]);
    browser.until("!document.getElementById('file-problem').hidden");
    let problem = browser.text("document.getElementById('file-problem').textContent");
    assert!(problem.contains("half.npy"), "{problem}");
    assert_eq!(
        browser.value("document.querySelectorAll('#arrays button').length"),
        0
    );
    browser.drop_files("#drop", &[&a, &b]);
    browser.until("document.querySelectorAll('#products table').length === 2");
    assert_eq!(
        browser.value("document.getElementById('file-problem').hidden"),
        true
    );
    // Every element is the program's.
    let d = folder.path().join("d.npy");
    let (a, b, d) = (
        a.display().to_string(),
        b.display().to_string(),
        d.display().to_string(),
    );
    mmascope(
        &[
            "matmul",
            &a,
            &b,
            "--arch",
            "ampere",
            "--types",
            "f16,f16,f32",
            "--pad",
            "-o",
            &d,
        ],
        "",
    );
    let file = std::fs::read(&d).expect("the product");
    let start = 10 + usize::from(u16::from_le_bytes([file[8], file[9]]));
    let words: Vec<String> = file[start..]
        .chunks_exact(4)
        .map(|four| {
            format!(
                "{:08x}",
                u32::from_le_bytes(four.try_into().expect("4 bytes"))
            )
        })
        .collect();
    let shown_words = browser.value("[...document.querySelectorAll('#products table')[0].querySelectorAll('button')].map(it => it.title)");
    let shown_words: Vec<String> = serde_json::from_value(shown_words).expect("words");
    assert_eq!(shown_words, words);
    // Another unit has another product.
    let other = "document.querySelector('#products h3').textContent";
    assert_eq!(browser.text(other), "ampere:mma.m16n8k16.f32.f16.f16.f32");
    let change = |unit: &str| {
        format!(
            "(() => {{ const it = document.getElementById('unit-0'); it.value = '{unit}'; it.dispatchEvent(new Event('change')); }})()"
        )
    };
    browser.value(&change("volta:f16,f16,f32"));
    assert_eq!(browser.text(other), "volta:wmma.m16n16k16.f32.f16.f16.f32");
    browser.value(&change("ampere:f16,f16,f32"));
    // The first element that differs leads to the step where the units part.
    let count = browser.value("document.querySelectorAll('#products button.differs').length");
    assert!(count.as_u64().is_some_and(|count| count > 0), "{count}");
    browser.click("#products button.differs");
    assert_eq!(
        browser.value("document.getElementById('view-dot').hidden"),
        false
    );
    let results = shown(&mut browser);
    assert_ne!(results[0].1, results[1].1, "{results:?}");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}
