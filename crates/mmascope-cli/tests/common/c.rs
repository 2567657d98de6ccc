//! Shared libraries from C.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A shared library of that name, which may include the header of plugins; `None`, printed, without a
/// compiler.
pub(crate) fn compiled(folder: &Path, name: &str, text: &str) -> Option<PathBuf> {
    let source = folder.join(format!("{name}.c"));
    let library = folder.join(format!("{name}.so"));
    std::fs::write(&source, text).expect("the source");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mmascope-host/include");
    let status = Command::new("cc")
        .args(["-ffp-contract=off", "-shared", "-fPIC", "-I"])
        .arg(include)
        .arg("-o")
        .args([&library, &source])
        .status();
    match status {
        Err(error) => {
            println!("skipped: no C compiler: {error}");
            None
        }
        Ok(status) => {
            assert!(status.success(), "{name} does not compile");
            Some(library)
        }
    }
}
