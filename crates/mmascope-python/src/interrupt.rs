//! Runs long work without the interpreter's lock, so that other threads go on and Ctrl-C ends it.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pyo3::prelude::*;

use crate::error::Raised;
use mmascope::gemm::{Watch, on_threads};

/// How often signals are looked for and progress is told.
const TICK: Duration = Duration::from_millis(50);

/// Work of fewer steps than this ends sooner than anybody could stop it.
const SHORT: u64 = 1 << 22;

/// How much work there is, and who is told about it.
#[derive(Default)]
pub(crate) struct Work<'p> {
    /// Steps in all; 0 where nobody knows.
    pub(crate) steps: u64,
    /// Threads; all where nobody says.
    pub(crate) threads: Option<NonZeroUsize>,
    /// A callable that takes the steps done.
    pub(crate) progress: Option<&'p Bound<'p, PyAny>>,
}

/// Runs work that can be watched; products below a limit on the caller's thread.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    work: &Work<'_>,
    body: impl FnOnce(&Watch<'_>) -> mmascope::Result<T> + Send,
) -> PyResult<T> {
    let cancel = AtomicBool::new(false);
    let done = AtomicU64::new(0);
    let advance = |steps: u64| {
        done.fetch_add(steps, Ordering::Relaxed);
    };
    let watch = Watch {
        progress: &advance,
        cancel: &cancel,
    };
    if work.steps > 0 && work.steps < SHORT && work.threads.is_none() {
        alone();
        return py.detach(|| body(&watch)).raised();
    }
    let threads = work.threads;
    let on_pool = || match threads {
        Some(threads) => on_threads(threads, || body(&watch)).and_then(|result| result),
        None => in_pool(|| body(&watch)),
    };
    std::thread::scope(|scope| {
        let (send, ended) = channel();
        let worker = scope.spawn(move || {
            let result = on_pool();
            // The receiver is there until the result is.
            let _ = send.send(());
            result
        });
        // Only this thread receives; the lock says so to the compiler.
        let ended = Mutex::new(ended);
        let mut raised = None;
        loop {
            let ended = py.detach(|| {
                let ended = ended.lock().map(|ended| ended.recv_timeout(TICK));
                !matches!(ended, Ok(Err(RecvTimeoutError::Timeout)))
            });
            if ended {
                break;
            }
            if raised.is_some() {
                continue;
            }
            let told = match work.progress {
                Some(progress) => progress.call1((done.load(Ordering::Relaxed),)).map(|_| ()),
                None => Ok(()),
            };
            if let Err(error) = py.check_signals().and(told) {
                cancel.store(true, Ordering::Relaxed);
                raised = Some(error);
            }
        }
        let result = py.detach(|| worker.join());
        match (raised, result) {
            (Some(error), _) => Err(error),
            (None, Ok(result)) => result.raised(),
            (None, Err(panic)) => std::panic::resume_unwind(panic),
        }
    })
}

/// The most threads that get a pool of their own, which lasts as long as the process.
const ALONE: usize = 64;

/// Makes the caller's thread a pool of itself: short work then wakes no other threads, which would take longer
/// than the work.
fn alone() {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static IS_ALONE: Cell<bool> = const { Cell::new(false) };
    }
    if IS_ALONE.replace(true) || COUNT.fetch_add(1, Ordering::Relaxed) >= ALONE {
        return;
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread()
        .build();
    // A thread that is in a pool already stays there.
    if let Ok(pool) = pool {
        std::mem::forget(pool);
    }
}

/// Runs work in a pool of this process: a child that `fork` made has the parent's pool in memory, but
/// none of its threads.
fn in_pool<T: Send>(body: impl FnOnce() -> mmascope::Result<T> + Send) -> mmascope::Result<T> {
    type Pool = Option<(u32, Arc<rayon::ThreadPool>)>;
    static POOL: Mutex<Pool> = Mutex::new(None);
    let own = std::process::id();
    let pool = {
        let mut known = match POOL.lock() {
            Ok(known) => known,
            Err(poisoned) => poisoned.into_inner(),
        };
        match &*known {
            Some((process, pool)) if *process == own => pool.clone(),
            _ => {
                let builder =
                    rayon::ThreadPoolBuilder::new().stack_size(mmascope::gemm::THREAD_STACK);
                let pool = builder.build().map_err(|error| {
                    mmascope::Error::Argument(format!("no threads can be started: {error}"))
                })?;
                let pool = Arc::new(pool);
                if let Some((_, parents)) = known.replace((own, pool.clone())) {
                    // Its threads are not here to end.
                    std::mem::forget(parents);
                }
                pool
            }
        }
    };
    pool.install(body)
}
