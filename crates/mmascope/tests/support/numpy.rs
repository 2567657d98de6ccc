//! The interpreter that tests ask for NumPy's answers.

use std::path::PathBuf;
use std::process::Command;

/// The interpreter, if it can import NumPy; one that `MMASCOPE_PYTHON` names must.
pub(super) fn python() -> Option<PathBuf> {
    let chosen = std::env::var_os("MMASCOPE_PYTHON");
    let python = PathBuf::from(chosen.clone().unwrap_or_else(|| "python3".into()));
    let problem = match Command::new(&python).args(["-c", "import numpy"]).output() {
        Ok(output) if output.status.success() => return Some(python),
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    assert!(
        chosen.is_none(),
        "MMASCOPE_PYTHON {}: {problem}",
        python.display()
    );
    println!("skipped: {}: {problem}", python.display());
    None
}
