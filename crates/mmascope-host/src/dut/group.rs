//! Process groups: a process and everything that it starts end together.
//!
//! A device may be a script that starts others. The group is its own and not the terminal's, so Ctrl-C
//! does not reach it: whoever takes Ctrl-C calls [`end_all`].

use std::io;
use std::process::{Child as Process, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// What a process gets to end by itself: at the end of its input, and when it is asked to.
const GRACE: Duration = Duration::from_millis(100);
/// Between two looks at a process that is about to end.
const PAUSE: Duration = Duration::from_millis(5);

/// The groups that run, by the numbers of their first processes. A number is taken out before its process
/// is waited for: until then no other process can have it.
static LIVE: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn live() -> MutexGuard<'static, Vec<u32>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Holds every device still; see [`end_all`].
#[derive(Debug)]
pub struct Ended(#[allow(dead_code)] MutexGuard<'static, Vec<u32>>); // held, never read

/// Ends every device that runs as a process, with all that it started, for a program that is about to
/// exit. While the result is held no device starts, and none that was ended is reported as failed.
#[must_use]
pub fn end_all() -> Ended {
    let live = live();
    for &leader in live.iter() {
        system::ask_to_end(leader);
    }
    let deadline = Instant::now() + GRACE;
    while live.iter().any(|&leader| !system::has_ended(leader)) && Instant::now() < deadline {
        thread::sleep(PAUSE);
    }
    for &leader in live.iter() {
        system::kill(leader);
    }
    Ended(live)
}

/// A running process with all that it started.
#[derive(Debug)]
pub(super) struct Group {
    leader: Process,
    status: Option<ExitStatus>,
}

impl Group {
    /// Starts a program.
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        system::in_own_group(command);
        // Held while it starts, so that `end_all` misses none.
        let mut live = live();
        let leader = command.spawn()?;
        live.push(leader.id());
        Ok(Self {
            leader,
            status: None,
        })
    }

    /// The process that was started.
    pub(super) fn leader(&mut self) -> &mut Process {
        &mut self.leader
    }

    /// Ends everything. How the first process ended, if it did so by itself within a moment.
    pub(super) fn end(&mut self) -> Option<ExitStatus> {
        if self.status.is_some() {
            return None;
        }
        let by_itself = self.ends_soon();
        if !by_itself {
            system::ask_to_end(self.leader.id());
            self.ends_soon();
        }
        let mut live = live();
        system::kill(self.leader.id());
        live.retain(|&leader| leader != self.leader.id());
        drop(live);
        // Where there are no groups this is what ends it.
        let _ = self.leader.kill();
        self.status = self.leader.wait().ok();
        self.status.filter(|_| by_itself)
    }

    fn ends_soon(&mut self) -> bool {
        let deadline = Instant::now() + GRACE;
        loop {
            if system::is_over(&mut self.leader) {
                return true;
            }
            if Instant::now() >= deadline {
                return false;
            }
            thread::sleep(PAUSE);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod system {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

    pub(super) fn in_own_group(command: &mut Command) {
        command.process_group(0);
    }

    /// Whether the first process has ended; it stays to be waited for.
    pub(super) fn has_ended(leader: u32) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        pid(leader).is_none_or(|pid| !matches!(waitid(WaitId::Pid(pid), options), Ok(None)))
    }

    pub(super) fn is_over(leader: &mut Child) -> bool {
        has_ended(leader.id())
    }

    pub(super) fn ask_to_end(leader: u32) {
        signal(leader, Signal::TERM);
    }

    pub(super) fn kill(leader: u32) {
        signal(leader, Signal::KILL);
    }

    fn signal(leader: u32, signal: Signal) {
        if let Some(pid) = pid(leader) {
            // Where all have ended there is nobody to tell.
            let _ = kill_process_group(pid, signal);
        }
    }

    fn pid(leader: u32) -> Option<Pid> {
        Pid::from_raw(i32::try_from(leader).ok()?)
    }
}

/// Where there are no groups the first process alone is ended, by the standard library.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod system {
    use std::process::{Child, Command};

    pub(super) fn in_own_group(_: &mut Command) {}

    /// There is nothing to wait for.
    pub(super) fn has_ended(_: u32) -> bool {
        true
    }

    pub(super) fn is_over(leader: &mut Child) -> bool {
        matches!(leader.try_wait(), Ok(Some(_)))
    }

    pub(super) fn ask_to_end(_: u32) {}

    pub(super) fn kill(_: u32) {}
}
