//! `mmascope gen --format readmemh`: its files hold the words of the vector lines, and folders are replaced with care.

mod common;

use std::fs;
use std::path::Path;

use common::mmascope;
use serde_json::Value;

const VOLTA: &str = "--arch volta --inst mma.m8n8k4.f32.f16.f16.f32";
/// Block scales, operands of 4 bits.
const SCALED: &str =
    "--arch rtx-blackwell --inst mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3";
/// Words of 32 bits for formats of 19.
const WIDE: &str = "--arch hopper --inst mma.m16n8k8.f32.tf32.tf32.f32";
/// Any NaN is right.
const ANY_NAN: &str = "--arch cdna3 --inst v_mfma_f32_32x32x8_f16";

fn run(arguments: &str) -> String {
    let run = mmascope(arguments);
    assert_eq!(run.status, 0, "{arguments}: {}", run.err);
    run.out
}

/// The words of a file as `$readmemh` reads them: hexadecimal numbers with blanks between, whatever the lines.
fn words(folder: &Path, name: &str) -> Vec<u64> {
    let text = fs::read_to_string(folder.join(name)).expect(name);
    let parse = |word: &str| u64::from_str_radix(word, 16).expect("a hexadecimal word");
    text.split_ascii_whitespace().map(parse).collect()
}

fn manifest(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("manifest.json")).expect("the manifest");
    serde_json::from_str(&text).expect("JSON")
}

/// Every file of a folder holds, in order, what the lines hold.
fn holds(folder: &Path, lines: &str) {
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let manifest = manifest(folder);
    assert_eq!(manifest["format"], "readmemh");
    assert_eq!(manifest["cases"], lines.len());
    assert_eq!(manifest["any_nan"], "any_nan.hex");
    assert_eq!(manifest["count"], "count.hex");
    assert_eq!(words(folder, "count.hex"), [lines.len() as u64]);
    let keys = [
        ("a", "a"),
        ("b", "b"),
        ("c", "c"),
        ("scale_a", "sa"),
        ("scale_b", "sb"),
        ("d", "d"),
    ];
    let mut listed = manifest["files"].as_array().expect("a list").iter();
    let mut names = vec![
        "any_nan.hex".to_owned(),
        "count.hex".into(),
        "manifest.json".into(),
    ];
    let any_nan = words(folder, "any_nan.hex");
    for (name, key) in keys {
        let file = format!("{name}.hex");
        if lines[0].get(key).is_none() {
            assert!(!folder.join(&file).exists(), "{file}");
            continue;
        }
        let entry = listed.next().expect("an entry");
        assert_eq!(entry["file"], file.as_str());
        let digits = entry["bits"].as_u64().expect("a number") as usize / 4;
        let count = entry["words"].as_u64().expect("a number") as usize;
        let text = fs::read_to_string(folder.join(&file)).expect("the file");
        assert_eq!(
            text.lines().count(),
            lines.len(),
            "{file}: a line for each case"
        );
        assert_eq!(words(folder, &file).len(), lines.len() * count, "{file}");
        for (index, (found, line)) in text.lines().zip(&lines).enumerate() {
            let expected = line[key].as_str().expect("digits");
            let is_any = expected == "nan";
            if key == "d" {
                assert_eq!(any_nan[index], u64::from(is_any), "{file}: line {index}");
            }
            for word in found.split(' ') {
                assert_eq!(word.len(), digits, "{file}: {found}");
            }
            if !is_any {
                assert_eq!(found.replace(' ', ""), expected, "{file}: line {index}");
            }
        }
        names.push(file);
    }
    assert!(listed.next().is_none(), "{manifest}");
    assert_eq!(any_nan.len(), lines.len());
    names.sort();
    assert_eq!(entries(folder), names);
}

fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
    let mut names: Vec<String> = entries
        .map(|entry| name(entry).into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

#[test]
fn the_files_hold_the_words_of_the_lines() {
    let place = tempfile::tempdir().expect("a folder");
    let mut nans = 0;
    for (number, row) in [VOLTA, SCALED, WIDE, ANY_NAN].into_iter().enumerate() {
        let folder = place.path().join(number.to_string());
        let cases = format!("gen {row} --family bits,boundary,stress --seed 5 --start 3 -n 70");
        let told = run(&format!(
            "{cases} --format readmemh -o {}",
            folder.display()
        ));
        assert_eq!(told, format!("210 cases in {}\n", folder.display()));
        let lines = run(&format!("{cases} --with-results"));
        holds(&folder, &lines);
        let manifest = manifest(&folder);
        let first: Value =
            serde_json::from_str(lines.lines().next().expect("a line")).expect("JSON");
        assert_eq!(
            (&manifest["arch"], &manifest["inst"]),
            (&first["arch"], &first["inst"])
        );
        let shown = run(&format!("show {row} --json"));
        let shown: Value = serde_json::from_str(&shown).expect("JSON");
        assert_eq!(manifest["arithmetic"], shown["arithmetic"]);
        let types = manifest["signature"].as_str().expect("a text");
        assert!(run(&format!("show {row}")).contains(&format!("types       {types}\n")));
        assert_eq!(manifest["catalogue"], shown["catalogue"]);
        assert_eq!(manifest["source"]["seed"], 5);
        let families = &manifest["source"]["families"];
        assert_eq!(families[1]["family"], "boundary");
        assert_eq!(
            (&families[1]["start"], &families[1]["count"]),
            (&3.into(), &70.into())
        );
        nans += words(&folder, "any_nan.hex").iter().sum::<u64>();
    }
    assert!(nans > 10, "{nans}");
}

#[test]
fn discriminating_lines_are_the_same_in_both_forms() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path().join("pack");
    let cases = format!("gen {VOLTA} --discriminating --seed 2");
    run(&format!(
        "{cases} --format readmemh -o {}",
        folder.display()
    ));
    holds(&folder, &run(&cases));
    let source = &manifest(&folder)["source"];
    assert_eq!(
        (&source["kind"], &source["seed"]),
        (&"discriminating".into(), &2.into())
    );
}

#[test]
fn lines_of_a_file_become_files() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path().join("memories");
    for row in [VOLTA, SCALED, ANY_NAN] {
        let file = place.path().join("lines.jsonl.gz");
        let cases = format!("gen {row} --family bits,stress --seed 1 -n 40");
        let lines = run(&format!("{cases} --with-results"));
        run(&format!("{cases} --with-results -o {}", file.display()));
        let taken = format!(
            "gen --vectors {} --format readmemh -o {}",
            file.display(),
            folder.display()
        );
        run(&taken);
        holds(&folder, &lines);
        assert_eq!(manifest(&folder)["source"]["kind"], "vectors");
        // Lines without a result get the model's.
        run(&format!("{cases} -o {}", file.display()));
        run(&taken);
        holds(&folder, &lines);
    }
    // A line's own result stands, right or wrong, and any NaN may be asked for; names may be left out.
    let file = place.path().join("own.jsonl");
    let line = |d: &str| {
        format!(
            "{{\"a\":\"3c00000000000000\",\"b\":\"3c00000000000000\",\"c\":\"00000000\",\"d\":\"{d}\"}}\n"
        )
    };
    let text = [line("3f800001"), "\n".to_owned(), line("nan")].concat();
    fs::write(&file, &text).expect("the file");
    let taken = format!(
        "gen {VOLTA} --vectors {} --format readmemh -o {}",
        file.display(),
        folder.display()
    );
    run(&taken);
    holds(&folder, &text.replace("\n\n", "\n"));
    assert_eq!(words(&folder, "d.hex")[0], 0x3f80_0001);
}

#[test]
fn an_older_folder_is_replaced_and_foreign_files_are_kept() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path().join("memories");
    let into = |name: &Path, count: u32| {
        mmascope(&format!(
            "gen {VOLTA} --family normal -n {count} --format readmemh -o {}",
            name.display()
        ))
    };
    assert_eq!(into(&folder, 3).status, 0);
    // A separator at the end, an empty folder and a link are the same folder.
    assert_eq!(into(&folder.join(""), 4).status, 0);
    assert_eq!(words(&folder, "count.hex"), [4]);
    fs::create_dir(place.path().join("empty")).expect("a folder");
    assert_eq!(into(&place.path().join("empty"), 2).status, 0);
    assert_eq!(into(&place.path().join("new").join(""), 2).status, 0);
    #[cfg(unix)]
    {
        let link = place.path().join("link");
        std::os::unix::fs::symlink(&folder, &link).expect("a link");
        assert_eq!(into(&link, 5).status, 0);
        assert_eq!(words(&folder, "count.hex"), [5]);
        assert!(fs::symlink_metadata(&link).is_ok_and(|link| link.is_symlink()));
        fs::remove_file(link).expect("the link");
    }
    // A failure leaves it as it was.
    let failing = format!(
        "gen {VOLTA} --family exhaustive --format readmemh -o {}",
        folder.display()
    );
    assert_eq!(mmascope(&failing).status, 2);
    assert_eq!(words(&folder, "count.hex"), [5]);
    fs::write(folder.join("notes.txt"), "mine").expect("a file");
    let refused = into(&folder, 6);
    assert_eq!(refused.status, 2);
    let words_of_it = "the folder holds 'notes.txt', which would be lost; name another folder";
    assert!(refused.err.contains(words_of_it), "{}", refused.err);
    assert_eq!(words(&folder, "count.hex"), [5]);
    let file = place.path().join("file");
    fs::write(&file, "mine").expect("a file");
    for (name, said) in [
        (file.clone(), "this is a file; a folder is written here"),
        (place.path().join("none/new"), "there is no folder"),
        (
            Path::new("-").to_owned(),
            "a folder is written, not standard output",
        ),
    ] {
        let refused = into(&name, 1);
        assert_eq!((refused.status, refused.out.as_str()), (2, ""));
        let named = format!("-o {}: {said}", name.display());
        assert!(refused.err.contains(&named), "{}", refused.err);
    }
    assert_eq!(fs::read_to_string(file).expect("the file"), "mine");
    assert_eq!(entries(place.path()), ["empty", "file", "memories", "new"]);
}

#[test]
fn wrong_input_ends_with_2_says_why_and_leaves_nothing() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path().join("out").display().to_string();
    let file = place.path().join("lines.jsonl");
    let question = |arch: &str, inst: &str, more: &str| {
        format!(
            "{{\"arch\":\"{arch}\",\"inst\":\"{inst}\",\"a\":\"3c003c003c003c00\",\"b\":\"3c003c003c003c00\",\"c\":\"00000000\"{more}}}\n"
        )
    };
    let good = question("volta", "mma.m8n8k4.f32.f16.f16.f32", "");
    let named = format!(
        "gen --vectors {} --format readmemh -o {folder}",
        file.display()
    );
    let in_file = |text: &str| {
        fs::write(&file, text).expect("the file");
        named.clone()
    };
    let long = |arch: &str, inst: &str, products: usize, more: &str| {
        let words = "3c00".repeat(products);
        format!(
            "{{\"arch\":\"{arch}\",\"inst\":\"{inst}\",\"a\":\"{words}\",\"b\":\"{words}\",\"c\":\"00000000\"{more}}}\n"
        )
    };
    let modified = long(
        "hopper",
        "wgmma.m64n8k16.f32.f16.f16",
        16,
        ",\"mods\":[\"negA\"]",
    );
    let chained = long("arm", "bfdot", 6, "");
    for (text, said) in [
        (String::new(), "there is no line in it"),
        (format!("{good}x\n"), "line 2: column 1"),
        (
            good.clone() + &question("turing", "mma.m8n8k4.f32.f16.f16.f32", ""),
            "line 2: turing:mma.m8n8k4.f32.f16.f16.f32 after volta:mma.m8n8k4.f32.f16.f16.f32",
        ),
        (
            question("volta", "mma.m8n8k4.f32.f16.f16.f32", ",\"d\":\"00\""),
            "\"d\" has 2 digits",
        ),
        (
            modified,
            "line 1: modifiers negA have no place in files for $readmemh",
        ),
        (chained, "line 1: 6 products; one instruction has 2"),
    ] {
        let run = mmascope(&in_file(&text));
        assert_eq!((run.status, run.out.as_str()), (2, ""), "{text}");
        assert!(run.err.contains(said), "{text}: {}", run.err);
    }
    in_file(&good);
    let file = file.display();
    for (arguments, said) in [
        (
            format!("gen --vectors {file}"),
            "--format readmemh takes them",
        ),
        (format!("{named} --family bits"), "cannot be used with"),
        (format!("{named} --seed 1"), "cannot be used with"),
        (format!("{named} --discriminating"), "cannot be used with"),
        (
            format!("gen --vectors {file} --format readmemh"),
            "a folder is written",
        ),
        (
            format!("gen {VOLTA} --family bits --format hex -o {folder}"),
            "readmemh",
        ),
        (
            format!("gen --family bits --format readmemh -o {folder}"),
            "--arch",
        ),
        (
            format!("gen {VOLTA} --format readmemh -o {folder}"),
            "--family is missing",
        ),
        (
            format!("gen {VOLTA} --discriminating --format readmemh -o {folder} --cuda {folder}"),
            "are the same file",
        ),
    ] {
        let run = mmascope(&arguments);
        assert_eq!((run.status, run.out.as_str()), (2, ""), "{arguments}");
        assert!(run.err.contains(said), "{arguments}: {}", run.err);
    }
    assert_eq!(entries(place.path()), ["lines.jsonl"]);
}
