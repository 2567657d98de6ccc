//! Ctrl-C for a program that is at work.

use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// Whether a process has a handler for SIGINT: the mask of caught signals of proc(5).
/// Without such a file it is taken to have one after a second.
fn listens(process: u32, started: Instant) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{process}/status")) else {
        return started.elapsed() > Duration::from_secs(1);
    };
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 2 != 0))
}

/// Interrupts a program that works for many seconds, half a second after it listens for that.
pub(crate) fn interrupt(mut child: Child) -> ExitStatus {
    let started = Instant::now();
    while !listens(child.id(), started) {
        assert!(child.try_wait().expect("a child").is_none(), "it ended");
        assert!(started.elapsed() < Duration::from_secs(60), "never listens");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(500));
    assert!(child.try_wait().expect("a child").is_none(), "it ended");
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.is_ok_and(|status| status.success()), "kill is there");
    child.wait().expect("it ends")
}
