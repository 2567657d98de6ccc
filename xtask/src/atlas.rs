//! Builds the atlas: the module of its explorer in WebAssembly, then the site.

use std::path::{Path, PathBuf};

use crate::{is_there, run};

/// Where the module lies for the program: `mmascope atlas` of `target/release` and `target/debug` looks there.
const MODULE: &str = "target/atlas/mmascope.wasm";
/// Where the site is written.
const SITE: &str = "target/atlas/site";
/// What the module may be as a web server sends it.
const LONGEST: usize = 1_500_000;

const TARGET: &str = "wasm32-unknown-unknown";

/// Whether rustup's compiler has the target.
const OF_RUSTUP: [&str; 3] = [
    "sh",
    "-c",
    "test -d \"$(rustc --print target-libdir --target wasm32-unknown-unknown)\"",
];
/// Whether Debian's compiler for WebAssembly is there.
const OF_DEBIAN: [&str; 3] = [
    "sh",
    "-c",
    "dpkg --status rustc-web cargo-web rust-web-src >/dev/null 2>&1",
];

fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_owned()
}

/// Builds module and site.
pub(crate) fn site() -> bool {
    let program = [
        "cargo",
        "run",
        "--release",
        "--quiet",
        "--package",
        "mmascope-cli",
        "--",
    ];
    let folder = root().join(SITE);
    module()
        && run(&[
            &program[..],
            &["atlas", "-o", &folder.display().to_string()],
        ]
        .concat())
}

/// Builds the module where some compiler for it is there; that none is, is said and is no failure.
pub(crate) fn module_if_possible() -> bool {
    let possible = is_there(&OF_RUSTUP) || is_there(&OF_DEBIAN);
    if !possible {
        println!("skipped: the explorer's module: no compiler for WebAssembly is here");
    }
    !possible || module()
}

/// Builds the module, by rustup's compiler or by Debian's.
pub(crate) fn module() -> bool {
    let built = if is_there(&OF_RUSTUP) {
        let build = ["cargo", "build", "--quiet", "--package", "mmascope-wasm"];
        let how = ["--profile", "web", "--target", TARGET];
        run(&[&build[..], &how].concat()).then_some("target")
    } else if is_there(&OF_DEBIAN) {
        run(&["xtask/web.sh", "build"]).then_some("target/web")
    } else {
        eprintln!(
            "no compiler for WebAssembly: `rustup target add {TARGET}`, or Debian's packages rustc-web, cargo-web and rust-web-src"
        );
        None
    };
    let Some(folder) = built else { return false };
    let from = root()
        .join(folder)
        .join(TARGET)
        .join("web/mmascope_wasm.wasm");
    let to = root().join(MODULE);
    match placed(&from, &to) {
        Ok(()) => true,
        Err(message) => {
            eprintln!("{MODULE}: {message}");
            false
        }
    }
}

/// Copies the module and says how long it is.
fn placed(from: &Path, to: &Path) -> Result<(), String> {
    let bytes = std::fs::read(from).map_err(|error| format!("{}: {error}", from.display()))?;
    let folder = to.parent().ok_or("no folder")?;
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    std::fs::write(to, &bytes).map_err(|error| error.to_string())?;
    let zipped = std::process::Command::new("gzip")
        .arg("-9c")
        .arg(to)
        .output();
    match zipped {
        Ok(output) if output.status.success() => {
            let length = output.stdout.len();
            println!(
                "written: {MODULE}, {} bytes, {length} with gzip",
                bytes.len()
            );
            match length <= LONGEST {
                true => Ok(()),
                false => Err(format!("more than {LONGEST} bytes with gzip")),
            }
        }
        _ => {
            println!(
                "written: {MODULE}, {} bytes; gzip, which measures it, does not run here",
                bytes.len()
            );
            Ok(())
        }
    }
}
