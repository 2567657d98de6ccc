//! The threads that parallel work gets: as many as are asked for, or as many as the machine starts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rayon::ThreadPoolBuilder;

use crate::report::{self, Failure};
use mmascope::gemm::MOST_THREADS;

/// Starts the threads of the program: `--threads`, else `RAYON_NUM_THREADS`, else one per core. A machine
/// that cannot start as many gets fewer, and that is said; the results do not depend on it.
pub(crate) fn start(asked: Option<u16>) -> Result<(), Failure> {
    let of_environment = || std::env::var("RAYON_NUM_THREADS").ok()?.parse().ok();
    let (name, asked) = match asked {
        Some(threads) => ("--threads", usize::from(threads)),
        None => ("RAYON_NUM_THREADS", of_environment().unwrap_or(0)),
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // 0 is no number of threads.
    let wanted = if asked == 0 { cores } else { asked };
    let mut threads = wanted.min(MOST_THREADS);
    // The global pool can be tried once only, so another one is tried first.
    let mut is_alone = false;
    while !is_alone && !starts(threads, wanted > cores) {
        is_alone = threads == 1;
        threads = (threads / 2).max(1);
    }
    // What the machine's limit stopped leaves half of it: the work needs memory too.
    if threads < wanted.min(MOST_THREADS) {
        threads = (threads / 2).max(1);
    }
    // This thread does the work where no other can be started.
    let started = match is_alone {
        true => pool(1).use_current_thread().build_global(),
        false => pool(threads).build_global(),
    };
    if threads < wanted {
        let source = match asked {
            0 => "one per core".to_owned(),
            asked => format!("{name} {asked}"),
        };
        report::tell(format!(
            "{source}: {} used",
            match threads {
                1 => "1 thread is".to_owned(),
                many => format!("{many} threads are"),
            }
        ));
    }
    started.map_err(|error| Failure::Input(format!("no thread can be started: {error}")))
}

/// Whether so many threads can be started. With `waits` they have ended when it returns: a machine with room for so many
/// may have none for twice as many.
fn starts(threads: usize, waits: bool) -> bool {
    if !waits {
        return pool(threads).build().is_ok();
    }
    let counts = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let [begun, ended] = [counts.clone(), counts.clone()];
    let built = pool(threads)
        .start_handler(move |_| _ = begun[0].fetch_add(1, Ordering::SeqCst))
        .exit_handler(move |_| _ = ended[1].fetch_add(1, Ordering::SeqCst))
        .build();
    let is_built = built.is_ok();
    drop(built);
    let ended = || {
        let [begun, ended] = [&counts[0], &counts[1]].map(|count| count.load(Ordering::SeqCst));
        begun == ended && (!is_built || begun == threads)
    };
    // A thread that has said that it ends still takes its place for a moment, and one of a pool that could not be built may not have
    // said that it began.
    let mut quiet = 0;
    for _ in 0..PATIENCE {
        quiet = if ended() { quiet + 1 } else { 0 };
        if quiet == QUIET {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    is_built
}

/// Milliseconds that threads have for their end, and for which none of them is to be seen.
const PATIENCE: u32 = 5000;
const QUIET: u32 = 3;

fn pool(threads: usize) -> ThreadPoolBuilder {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .stack_size(mmascope::gemm::THREAD_STACK)
}
