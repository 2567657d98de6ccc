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
