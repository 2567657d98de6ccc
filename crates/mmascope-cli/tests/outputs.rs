//! Output files: a wrong name is refused before any work, naming the argument; links are followed.

mod common;

use std::fs;

use common::mmascope;

const GEN: &str = "gen --arch hopper --inst mma.m16n8k16.f32.f16.f16.f32 --family bits -n 3 -o";
const EXPLAIN: &str =
    "explain --arch hopper --inst mma.m16n8k16.f32.f16.f16.f32 --a 1 --b 1 --html";
const DIFF: &str =
    "diff --arch hopper,ampere --inst mma.m16n8k16.f32.f16.f16.f32 --family bits -n 3 --html";
const DRAWING: &str =
    "diff --arch hopper,ampere --inst mma.m16n8k16.f32.f16.f16.f32 --family bits -n 3 --svg";

#[test]
fn a_folder_that_is_not_there_is_named_with_the_argument() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = folder.path().join("missing");
    let file = missing.join("x.html");
    let matmul = "matmul --arch hopper --inst mma.m16n8k16.f32.f16.f16.f32 a.npy b.npy -o";
    for (command, argument) in [
        (GEN, "-o"),
        (EXPLAIN, "--html"),
        (DIFF, "--html"),
        (DRAWING, "--svg"),
        (matmul, "-o"),
    ] {
        let run = mmascope(&format!("{command} {}", file.display()));
        assert_eq!(run.status, 2, "{command}: {}", run.err);
        let words = format!(
            "error: {argument} {}: there is no folder '{}' to write it to\n",
            file.display(),
            missing.display()
        );
        assert_eq!(run.err, words, "{command}");
        assert_eq!(run.out, "", "{command}: refused before any work");
        // A folder is no file.
        let run = mmascope(&format!("{command} {}", folder.path().display()));
        assert_eq!(run.status, 2, "{command}: {}", run.err);
        assert!(
            run.err
                .contains(&format!("{argument} {}", folder.path().display()))
        );
        assert!(run.err.contains("this is a folder"), "{}", run.err);
    }
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
}

/// As with a shell's `>`: what the link points to is made, and the link stays.
#[cfg(unix)]
#[test]
fn a_link_to_a_file_that_is_not_there_makes_that_file() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name);
    fs::create_dir(place("there")).expect("a folder");
    for (command, name) in [(GEN, "gen"), (EXPLAIN, "explain"), (DIFF, "diff")] {
        let (link, second, file) = (
            place(name),
            place(&format!("{name}.2")),
            place(&format!("there/{name}")),
        );
        symlink(&second, &link).expect("a link");
        // From here relative to the link's own folder.
        symlink(format!("there/{name}"), &second).expect("a link");
        let run = mmascope(&format!("{command} {}", link.display()));
        assert!(run.status < 2, "{command}: {}", run.err);
        assert!(fs::metadata(&file).expect("made").len() > 100, "{command}");
        for link in [&link, &second] {
            assert!(
                fs::symlink_metadata(link).expect("a link").is_symlink(),
                "{command}"
            );
        }
    }
    assert_eq!(
        fs::read_dir(place("there")).expect("the folder").count(),
        3,
        "nothing unfinished"
    );
    // A link into a folder that is not there, and one that leads to itself.
    symlink("nowhere/x", place("lost")).expect("a link");
    symlink("round", place("round")).expect("a link");
    for (name, words) in [
        ("lost", "there is no folder"),
        ("round", "leads back to itself"),
    ] {
        let run = mmascope(&format!("{GEN} {}", place(name).display()));
        assert_eq!(run.status, 2, "{name}");
        assert!(run.err.contains(words), "{name}: {}", run.err);
    }
}

#[test]
fn no_file_is_named_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name).display().to_string();
    let (x, same) = (place("x"), format!("{}/./x", folder.path().display()));
    fs::write(place("in.jsonl"), "{}\n").expect("an input");
    fs::write(place("tree.txt"), "(add 0 1)\n").expect("an input");
    let row = "--arch hopper --inst mma.m16n8k16.f32.f16.f16.f32";
    let input = place("in.jsonl");
    let twice = |first: &str, second: &str| format!("error: {first} {x} and {second} {same} are");
    let cases = [
        (
            format!("{DRAWING} {x} --html {same}"),
            twice("--svg", "--html"),
        ),
        (
            format!("gen {row} --discriminating -o {x} --cuda {same}"),
            twice("-o", "--cuda"),
        ),
        (
            format!("gen {row} --discriminating --cuda {x} --hip {same}"),
            twice("--cuda", "--hip"),
        ),
        (
            format!("validate model:a:b --against a:b --state {x} -o {same}"),
            twice("--state", "-o"),
        ),
        (
            format!("diff {row} --arch ampere --vectors {input} --html {input}"),
            format!("error: --html {input} would replace the input --vectors {input}\n"),
        ),
        (
            format!("--isa {input} infer model:a:b -o {input}"),
            format!("error: -o {input} would replace the input --isa {input}\n"),
        ),
        (
            format!("--isa {input} matmul {row} a.npy b.npy -o {input}"),
            format!("error: -o {input} would replace the input --isa {input}\n"),
        ),
        (
            format!("tree show {0} -o {0}", place("tree.txt")),
            format!(
                "error: -o {0} would replace the input {0}\n",
                place("tree.txt")
            ),
        ),
        (
            format!("error {row} {input} {input} -o {input}"),
            format!("error: -o {input} would replace the input {input}\n"),
        ),
    ];
    for (command, words) in cases {
        let run = mmascope(&command);
        assert_eq!(run.status, 2, "{command}: {}", run.err);
        assert!(run.err.starts_with(&words), "{command}: {}", run.err);
        assert_eq!(run.out, "", "{command}: refused before any work");
    }
    assert!(!folder.path().join("x").exists());
    assert_eq!(fs::read(place("in.jsonl")).expect("kept"), b"{}\n");
    // A link to an input is that input.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&input, &x).expect("a link");
        let run = mmascope(&format!(
            "diff {row} --arch ampere --vectors {input} --html {x}"
        ));
        assert!(run.err.contains("would replace the input"), "{}", run.err);
        // Devices take several outputs.
        let run = mmascope(&format!("{DRAWING} /dev/null --html /dev/null"));
        assert!(run.status < 2, "{}", run.err);
    }
}

/// Long work does not end in a name that cannot be written.
#[test]
fn every_command_looks_at_its_outputs_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = folder.path().join("missing/x.svg").display().to_string();
    let row = "hopper:mma.m16n8k16.f32.f16.f16.f32";
    let arch = "--arch hopper --inst mma.m16n8k16.f32.f16.f16.f32";
    for (command, argument) in [
        (format!("reveal model:{row} -o"), "-o"),
        (format!("probe model:{row} --html"), "--html"),
        (format!("infer model:{row} -o"), "-o"),
        (format!("validate model:{row} --against {row} -o"), "-o"),
        (
            format!("validate model:{row} --against {row} --state"),
            "--state",
        ),
        (format!("error {arch} --shape 999x999x99904 -o"), "-o"),
        (format!("gen {arch} --discriminating --cuda"), "--cuda"),
        (format!("gen {arch} --discriminating --hip"), "--hip"),
        ("tree export - -o".to_owned(), "-o"),
    ] {
        // What draws nothing refuses the name of a drawing first.
        let writes_text = ["infer", "validate"]
            .iter()
            .any(|it| command.starts_with(it));
        let missing = match writes_text {
            true => missing.replace(".svg", ".txt"),
            false => missing.clone(),
        };
        let run = mmascope(&format!("{command} {missing}"));
        assert_eq!((run.status, &*run.out), (2, ""), "{command}: {}", run.err);
        let words = format!("error: {argument} {missing}: there is no folder");
        assert!(run.err.starts_with(&words), "{command}: {}", run.err);
    }
}
