//! How long a search may compute: time of its own thread, so that a busy machine gives up no sooner.

use std::time::{Duration, Instant};

/// A limit that has begun to run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CpuLimit {
    end: Duration,
    /// What counts where the system does not tell the thread's time.
    begun: Instant,
}

impl CpuLimit {
    pub(crate) fn new(limit: Duration) -> Self {
        let begun = Instant::now();
        Self {
            end: computed(begun) + limit,
            begun,
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        computed(self.begun) > self.end
    }
}

/// Time that this thread has been running.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn computed(_: Instant) -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Time that has passed.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn computed(begun: Instant) -> Duration {
    begun.elapsed()
}
