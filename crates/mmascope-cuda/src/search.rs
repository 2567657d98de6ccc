//! Where the parts of CUDA may lie: libraries and programs of a toolkit, of Python packages, of the system.

use std::env;
use std::path::{Path, PathBuf};

/// Folders with a toolkit, or with a Python package that has parts of one.
fn roots() -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = ["CUDA_PATH", "CUDA_HOME", "CUDA_ROOT"]
        .iter()
        .filter_map(env::var_os)
        .map(PathBuf::from)
        .collect();
    roots.extend(children(Path::new("/usr/local"), "cuda"));
    let mut pythons: Vec<PathBuf> = env::var_os("VIRTUAL_ENV")
        .map(PathBuf::from)
        .into_iter()
        .collect();
    // The interpreter lies in the environment's folder `bin`.
    if let Some(python) = env::var_os("MMASCOPE_PYTHON").map(PathBuf::from)
        && let Some(root) = python.parent().and_then(Path::parent)
    {
        pythons.push(root.to_path_buf());
    }
    for python in pythons {
        for version in children(&python.join("lib"), "python") {
            roots.extend(children(&version.join("site-packages/nvidia"), ""));
        }
    }
    roots
}

/// What lies in a folder and begins like this, in the order of names.
fn children(folder: &Path, start: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(start))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

/// Files that may be a library, most wanted first: the one that the variable names, then those of toolkits and packages, then
/// the names with which the system is asked.
pub(crate) fn libraries(variable: &str, name: &str, versions: &[&str]) -> Vec<PathBuf> {
    if let Some(path) = env::var_os(variable) {
        return vec![path.into()];
    }
    let file = format!("lib{name}.so");
    let mut found = Vec::new();
    for root in roots() {
        for folder in ["lib", "lib64"] {
            let mut own = children(&root.join(folder), &file);
            // A newer version first; other libraries' names begin alike (`libnvrtc.alt.so`) but do not get here.
            own.reverse();
            found.extend(own);
        }
    }
    found.extend(
        versions
            .iter()
            .map(|version| PathBuf::from(format!("{file}.{version}"))),
    );
    found.push(file.into());
    found
}

/// The program of that name: the one that the variable names, of the search path, of a toolkit or package.
pub(crate) fn program(variable: &str, name: &str) -> Option<PathBuf> {
    if let Some(path) = env::var_os(variable) {
        return Some(path.into());
    }
    let paths = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&paths).chain(roots().into_iter().map(|root| root.join("bin")));
    let mut files = folders.map(|folder| folder.join(name));
    files.find(|file| file.is_file())
}
