//! Spreads work over the pool's threads. Results are those of one thread, and the time of all threads counts as the search's.

use std::cell::Cell;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use rayon::prelude::*;

/// So many items are looked at before other threads are woken for the rest: most searches end among them.
const ALONE: usize = 256;
/// Items that one thread takes at a time; so few are not worth another thread.
pub(super) const PIECE: usize = 64;
/// The fewest items of a piece of long work.
const FEWEST: usize = 4;
/// Items that all threads take before it is seen whether they found enough.
const TOGETHER: usize = 4096;

thread_local! {
    /// Whether this thread is doing a piece of shared work. It shares none of that with others.
    static SHARES: Cell<bool> = const { Cell::new(false) };
    /// Nanoseconds that others have worked for this thread, less those that it has worked for others or waited for them.
    static OF_OTHERS: Cell<i64> = const { Cell::new(0) };
}

/// Computing time of all work for this thread's search, where the system tells a thread's time.
pub(super) fn computed() -> Option<Duration> {
    let nanoseconds = own_time() + OF_OTHERS.get();
    IS_TOLD.then(|| Duration::from_nanos(nanoseconds.max(0) as u64))
}

/// Whether the system tells a thread's time.
const IS_TOLD: bool = cfg!(any(target_os = "linux", target_os = "macos"));

/// Nanoseconds that this thread has been running.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn own_time() -> i64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as i64 * 1_000_000_000 + time.tv_nsec as i64
}

/// Not known.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn own_time() -> i64 {
    0
}

/// The pieces of some work.
struct Pieces {
    /// Nanoseconds of the search before.
    before: i64,
    /// Nanoseconds of all pieces that are done.
    spent: AtomicI64,
}

impl Pieces {
    /// Does a piece. The time of the search goes on in it.
    fn of<R>(&self, piece: impl FnOnce() -> R) -> R {
        let begun = own_time();
        let _sharing = Sharing::begin();
        OF_OTHERS.set(self.before + self.spent.load(Ordering::Relaxed) - begun);
        let result = piece();
        self.spent.fetch_add(own_time() - begun, Ordering::Relaxed);
        result
    }
}

/// What a thread in a piece was before. It is that again afterwards, after a panic too.
struct Sharing {
    shares: bool,
    of_others: i64,
}

impl Sharing {
    fn begin() -> Self {
        Self {
            shares: SHARES.replace(true),
            of_others: OF_OTHERS.get(),
        }
    }
}

impl Drop for Sharing {
    fn drop(&mut self) {
        SHARES.set(self.shares);
        OF_OTHERS.set(self.of_others);
    }
}

/// Leaves all work to this thread until the value is dropped.
pub(super) fn alone() -> impl Drop {
    Sharing::begin()
}

/// Does work in pieces. While this thread waits, it may do pieces of another search, whose time is not this one's.
fn shared<R>(work: impl FnOnce(&Pieces) -> R) -> R {
    let before = own_time() + OF_OTHERS.get();
    let pieces = Pieces {
        before,
        spent: AtomicI64::new(0),
    };
    let result = work(&pieces);
    OF_OTHERS.set(before + pieces.spent.into_inner() - own_time());
    result
}

/// Whether other threads help.
fn is_shared() -> bool {
    !SHARES.get() && rayon::current_num_threads() > 1
}

/// The index of the first item for which `is` holds.
pub(super) fn position<T: Sync>(items: &[T], is: impl Fn(&T) -> bool + Sync) -> Option<usize> {
    let mut from = items.len().min(ALONE);
    if let Some(place) = items[..from].iter().position(&is) {
        return Some(place);
    }
    while from < items.len() {
        // Work behind the first one is wasted; it is at most as much as was done before.
        let to = items.len().min(from * 2);
        let some = &items[from..to];
        let found = match some.len() > PIECE && is_shared() {
            false => some.iter().position(&is),
            true => shared(|pieces| {
                let chunks = some.par_chunks(PIECE).enumerate();
                chunks.find_map_first(|(index, piece)| {
                    let place = pieces.of(|| piece.iter().position(&is))?;
                    Some(index * PIECE + place)
                })
            }),
        };
        if let Some(place) = found {
            return Some(from + place);
        }
        from = to;
    }
    None
}

/// The items for which `is` holds, in order. It may stop once there are `enough`, and may give more.
pub(super) fn matching<T: Copy + Send + Sync>(
    items: &[T],
    enough: usize,
    is: impl Fn(&T) -> bool + Sync,
) -> Vec<T> {
    let mut found = Vec::new();
    let mut rest = items;
    while !rest.is_empty() && found.len() < enough {
        let alone = rest.len() == items.len() || rest.len() <= PIECE || !is_shared();
        let (some, others) = rest.split_at(rest.len().min(if alone { ALONE } else { TOGETHER }));
        rest = others;
        match alone {
            true => {
                let is_so = some.iter().copied().filter(|item| is(item));
                found.extend(is_so.take(enough - found.len()));
            }
            false => found.extend(shared(|pieces| {
                let of_piece = |piece: &[T]| -> Vec<T> {
                    let is_so = piece.iter().copied().filter(|item| is(item));
                    pieces.of(|| is_so.collect())
                };
                let found: Vec<Vec<T>> = some.par_chunks(PIECE).map(of_piece).collect();
                found.concat()
            })),
        }
    }
    found
}

/// The items in as many pieces as it takes to keep all threads busy: in one where no other thread helps.
pub(super) fn pieces<T>(items: Vec<T>) -> Vec<Vec<T>> {
    let pieces = if is_shared() {
        4 * rayon::current_num_threads()
    } else {
        1
    };
    let length = items.len().div_ceil(pieces).max(FEWEST);
    let mut items = items.into_iter();
    std::iter::from_fn(|| {
        let piece: Vec<T> = items.by_ref().take(length).collect();
        (!piece.is_empty()).then_some(piece)
    })
    .collect()
}

/// What becomes of each item, in order. A thread takes some `at_once`.
pub(super) fn each<T: Send, R: Send>(
    items: Vec<T>,
    at_once: usize,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    if items.len() <= at_once || !is_shared() {
        return items.into_iter().map(work).collect();
    }
    shared(|pieces| {
        let of_piece =
            |piece: Vec<T>| -> Vec<R> { pieces.of(|| piece.into_iter().map(&work).collect()) };
        let results = items.into_par_iter().chunks(at_once).map(of_piece);
        results.collect::<Vec<_>>().into_iter().flatten().collect()
    })
}
