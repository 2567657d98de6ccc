//! The program `mmascope`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(mmascope_cli::run(std::env::args_os(), None))
}
