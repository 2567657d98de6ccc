//! C and C++ programs against the library, as `install.sh` installs it.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{expect_success, has, prefix};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compiles a program against the library and runs it.
fn run(compiler: &str, source: &Path, flags: &[&str]) -> String {
    run_under(&[], compiler, source, flags)
}

/// The same as the last argument of another program.
fn run_under(other: &[&str], compiler: &str, source: &Path, flags: &[&str]) -> String {
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
    let program = program.to_str().expect("UTF-8");
    let words = [other, &[program]].concat();
    let output = Command::new(words[0])
        .args(&words[1..])
        .env("LD_LIBRARY_PATH", library)
        .output()
        .expect("the program runs");
    expect_success(&output)
}

/// The sizes of the structures and where their fields begin, which compiled programs rely on.
const PRINTED: &str =
    "shape 56: 0 8 16 24 32 40 48\noptions 48: 0 8 16 24 28 32 36 40\n0 failures\n";

#[test]
fn every_function_answers_and_refuses() {
    if !has("cc") {
        return;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/calls.c");
    let printed = run("cc", &source, &["-std=c11"]);
    assert_eq!(printed, PRINTED);
    if !sanitises("address,undefined") {
        return;
    }
    // An allocation that fits no memory fails, as it does without the sanitiser.
    let options = ["env", "ASAN_OPTIONS=allocator_may_return_null=1"];
    let flags = ["-std=c11", "-fsanitize=address,undefined"];
    let checked = run_under(&options, "cc", &source, &flags);
    assert_eq!(checked, printed);
}

/// No read or write beside what a caller gave, no word that nobody wrote, and every handle is freed. (The catalogue, which
/// is read once, stays.)
#[test]
fn valgrind_finds_no_error() {
    const VALGRIND: [&str; 6] = [
        "valgrind",
        "--quiet",
        "--error-exitcode=9",
        "--leak-check=full",
        "--errors-for-leak-kinds=definite,indirect",
        "--show-leak-kinds=definite,indirect",
    ];
    if !has("cc") || !has("valgrind") {
        return;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/calls.c");
    // The arrays of the library's threads are larger than what valgrind takes for one frame.
    let valgrind = [&VALGRIND[..], &["--max-stackframe=8000000"]].concat();
    let printed = run_under(&valgrind, "cc", &source, &["-std=c11", "-g"]);
    assert_eq!(printed, PRINTED);
}

/// Threads share one handle, and each has its own last error.
#[test]
fn threads_share_a_handle() {
    const PRINTED: &str = "8 threads, 0 failures\n";
    if !has("cc") {
        return;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/threads.c");
    let plain = run("cc", &source, &["-std=c11", "-pthread"]);
    assert_eq!(plain, PRINTED);
    // What the caller's threads share is watched; the library itself is not compiled with the sanitiser.
    if !sanitises("thread") {
        return;
    }
    let suppressions = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/threads.supp");
    let options = format!("TSAN_OPTIONS=suppressions={}", suppressions.display());
    let flags = ["-std=c11", "-pthread", "-g", "-fsanitize=thread"];
    let watched = run_under(&["env", &options], "cc", &source, &flags);
    assert_eq!(watched, PRINTED);
}

/// Whether programs with a sanitiser of this compiler link and run here.
fn sanitises(name: &str) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, program) = (folder.path().join("empty.c"), folder.path().join("empty"));
    std::fs::write(&source, "int main(void) { return 0; }\n").expect("a file");
    let linked = Command::new("cc")
        .arg(format!("-fsanitize={name}"))
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .output();
    let found = linked.is_ok_and(|output| output.status.success())
        && Command::new(&program)
            .output()
            .is_ok_and(|output| output.status.success());
    if !found {
        println!("skipped: programs with -fsanitize={name} do not run here");
    }
    found
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
        let printed = built_by_cmake(&root().join("examples/c"), "parts");
        assert!(printed.contains("bf400000"), "{printed}");
        let printed = built_by_cmake(&root().join("examples/c"), "parts_cpp");
        assert_eq!(printed, "40000000\n");
        // The static library, with everything that it needs.
        let folder = tempfile::tempdir().expect("a folder");
        let list = format!(
            "cmake_minimum_required(VERSION 3.16)\nproject(whole C)\nfind_package(mmascope {} REQUIRED)\n\
             add_executable(whole {})\ntarget_link_libraries(whole PRIVATE mmascope::static)\n",
            env!("CARGO_PKG_VERSION"),
            root().join("examples/c/parts.c").display()
        );
        std::fs::write(folder.path().join("CMakeLists.txt"), list).expect("a file");
        let printed = built_by_cmake(folder.path(), "whole");
        assert!(printed.contains("bf400000"), "{printed}");
    }
}

/// Configures and builds a folder's programs; what one of them prints.
fn built_by_cmake(folder: &Path, program: &str) -> String {
    let build = tempfile::tempdir().expect("a folder");
    let run = |command: &mut Command| expect_success(&command.output().expect("it runs"));
    run(Command::new("cmake")
        .arg("-S")
        .arg(folder)
        .arg("-B")
        .arg(build.path())
        .arg(format!("-DCMAKE_PREFIX_PATH={}", prefix().display())));
    run(Command::new("cmake").arg("--build").arg(build.path()));
    run(&mut Command::new(build.path().join(program)))
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
