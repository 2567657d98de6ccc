//! C and C++ programs against the library, as `install.sh` installs it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn has(program: &str) -> bool {
    let output = Command::new(program).arg("--version").output();
    let found = output.is_ok_and(|output| output.status.success());
    if !found {
        println!("skipped: {program} is not installed");
    }
    found
}

/// Where the library is installed, once for all tests.
fn prefix() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        // A folder of cargo's: nothing is left behind elsewhere.
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("installed");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("install.sh");
        let output = Command::new("sh")
            .arg(script)
            .arg(&folder)
            .env("PROFILE", "dev")
            .output()
            .expect("a shell");
        expect_success(&output);
        folder
    })
}

fn expect_success(output: &Output) -> String {
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}{message}");
    printed
}

/// Compiles a program against the library and runs it.
fn run(compiler: &str, source: &Path, flags: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("program");
    let library = prefix().join("lib");
    let output = Command::new(compiler)
        .args(["-Wall", "-Wextra", "-Werror", "-O1", "-I"])
        .arg(prefix().join("include"))
        .args(flags)
        .arg(source)
        .arg("-L")
        .arg(&library)
        .args(["-lmmascope", "-lm", "-o"])
        .arg(&program)
        .output()
        .expect("the compiler runs");
    expect_success(&output);
    let output = Command::new(program)
        .env("LD_LIBRARY_PATH", library)
        .output()
        .expect("the program runs");
    expect_success(&output)
}

#[test]
fn every_function_answers_and_refuses() {
    if !has("cc") {
        return;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/calls.c");
    let printed = run("cc", &source, &["-std=c11"]);
    assert_eq!(printed, "shape 56, options 40\n0 failures\n");
    let checked = run("cc", &source, &["-std=c11", "-fsanitize=address,undefined"]);
    assert_eq!(checked, printed);
}

#[test]
fn the_examples_print_what_the_documents_say() {
    if has("cc") {
        let printed = run("cc", &root().join("examples/c/parts.c"), &["-std=c11"]);
        assert_eq!(
            printed,
            "turing   bf000000\nhopper   bf400000\nMI100    bf600000\n"
        );
    }
    if has("c++") {
        let printed = run("c++", &root().join("examples/c/parts.cpp"), &["-std=c++17"]);
        assert_eq!(printed, "40000000\n");
    }
}

#[test]
fn cmake_and_pkg_config_find_it() {
    if has("pkg-config") {
        let output = Command::new("pkg-config")
            .args(["--cflags", "--libs", "mmascope"])
            .env("PKG_CONFIG_PATH", prefix().join("lib/pkgconfig"))
            .output()
            .expect("pkg-config runs");
        assert!(expect_success(&output).contains("-lmmascope"));
    }
    if has("cmake") {
        let build = tempfile::tempdir().expect("a folder");
        let configured = Command::new("cmake")
            .arg("-S")
            .arg(root().join("examples/c"))
            .arg("-B")
            .arg(build.path())
            .arg(format!("-DCMAKE_PREFIX_PATH={}", prefix().display()))
            .output()
            .expect("cmake runs");
        expect_success(&configured);
        let built = Command::new("cmake")
            .arg("--build")
            .arg(build.path())
            .output()
            .expect("cmake runs");
        expect_success(&built);
        let output = Command::new(build.path().join("parts")).output();
        assert!(expect_success(&output.expect("the program runs")).contains("bf400000"));
    }
}

/// The functions that compiled programs may call: none goes away, and none comes without being recorded.
#[test]
fn the_exported_functions_are_those_recorded() {
    if !has("nm") || !cfg!(target_os = "linux") {
        return;
    }
    let output = Command::new("nm")
        .args(["-D", "--defined-only", "--format=posix"])
        .arg(prefix().join("lib/libmmascope.so"))
        .output()
        .expect("nm runs");
    let printed = expect_success(&output);
    let mut names: Vec<&str> = printed
        .lines()
        .filter_map(|line| line.split(' ').next())
        .filter(|name| name.starts_with("mmascope_"))
        .collect();
    names.sort_unstable();
    let recorded = include_str!("functions.txt");
    assert_eq!(names, recorded.lines().collect::<Vec<_>>());
}
