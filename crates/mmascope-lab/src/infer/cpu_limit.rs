//! Limits the computing time of a search. It counts the time of all its threads, so a busy machine gives up no sooner,
//! and one with many threads no later.

use std::time::{Duration, Instant};

use super::parallel;

/// A limit that is running.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CpuLimit {
    end: Duration,
    limit: Duration,
    /// Used where the system does not tell the thread's time.
    begun: Instant,
}

impl CpuLimit {
    pub(crate) fn new(limit: Duration) -> Self {
        let begun = Instant::now();
        Self {
            end: computed(begun) + limit,
            limit,
            begun,
        }
    }

    /// The time now, for [`CpuLimit::go_on_from`].
    pub(crate) fn stopped_at(&self) -> Duration {
        computed(self.begun)
    }

    /// Moves the end by the time since then, which was no search's.
    pub(crate) fn go_on_from(&mut self, stopped: Duration) {
        self.end += computed(self.begun).saturating_sub(stopped);
    }

    pub(crate) fn is_over(&self) -> bool {
        computed(self.begun) > self.end
    }

    /// Whether so many parts of a hundred are used.
    pub(crate) fn is_past(&self, percent: u32) -> bool {
        computed(self.begun) + self.limit / 100 * (100 - percent) > self.end
    }
}

/// Time that was spent on the search; where the system does not tell a thread's time, time that has passed.
fn computed(begun: Instant) -> Duration {
    parallel::computed().unwrap_or_else(|| begun.elapsed())
}
