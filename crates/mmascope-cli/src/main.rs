//! The program `mmascope`.

use std::process::ExitCode;
use std::thread;

fn main() -> ExitCode {
    let run = || ExitCode::from(mmascope_cli::run(std::env::args_os(), None));
    // Unoptimised kernels need more than what a process begins with.
    if cfg!(debug_assertions) {
        let thread = thread::Builder::new().stack_size(mmascope::gemm::THREAD_STACK);
        if let Ok(thread) = thread.spawn(run) {
            return thread.join().unwrap_or(ExitCode::from(101));
        }
    }
    run()
}
