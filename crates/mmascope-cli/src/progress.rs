//! Progress of long work: a line on the terminal, or with `--progress` a line now and then where there is none.

use std::io::{self, IsTerminal};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressState, ProgressStyle};

use crate::report;

/// How long it takes until the time that is left can be told from what is done.
const TELLING: Duration = Duration::from_secs(2);
/// How often the end of work is looked for while lines are printed.
const STEP: Duration = Duration::from_millis(100);

/// Seconds between two lines where there is no terminal, if lines are asked for.
static LINES: OnceLock<Option<Duration>> = OnceLock::new();

/// Takes what `--progress` says.
pub(crate) fn set_lines(seconds: Option<u16>) {
    let every = seconds.map(|seconds| Duration::from_secs(seconds.into()));
    // The first command of a process says it.
    let _ = LINES.set(every);
}

/// A counter of things whose number is not known; `one` is the name of one of them.
pub(crate) fn counter(one: &'static str) -> ProgressBar {
    let counted = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        // A terminal that takes nothing more is no error of ours.
        let _ = write!(out, "{}", counted(state.pos(), one));
    };
    let style = ProgressStyle::with_template("{spinner} {counted}{rate}  {msg}");
    let style = style.map(|style| style.with_key("counted", counted).with_key("rate", rate));
    let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
    shown(ProgressBar::new_spinner(), style, one)
}

/// The same of a number that is known.
pub(crate) fn counter_to(count: u64, one: &'static str) -> ProgressBar {
    let counted = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        let of = HumanCount(state.len().unwrap_or(0));
        let _ = write!(out, "{} of {of} {}", HumanCount(state.pos()), plural(one));
    };
    let style = ProgressStyle::with_template("{spinner} {counted}{rate}  {msg}");
    let style = style.map(|style| style.with_key("counted", counted).with_key("rate", rate));
    let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
    shown(ProgressBar::new(count), style, one)
}

/// A bar of work whose size is known.
pub(crate) fn bar(count: u64, what: &'static str) -> ProgressBar {
    // What is left is told once some of it is done; before, nothing is known.
    let left = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        if let Some(left) = left(state.pos(), state.len().unwrap_or(0), state.elapsed()) {
            let _ = write!(out, ", {:#} left", HumanDuration(left));
        }
    };
    let style = ProgressStyle::with_template("{msg} {wide_bar} {percent} %{left}");
    let style = style.map(|style| style.with_key("left", left));
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    shown(ProgressBar::new(count).with_message(what), style, "step")
}

/// `1 row`, `2 rows`, `1,234 queries`.
pub(crate) fn counted(count: u64, one: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        many => format!("{} {}", HumanCount(many), plural(one)),
    }
}

fn plural(one: &str) -> String {
    match one.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{one}s"),
    }
}

/// A whole number a second.
fn rate(state: &ProgressState, out: &mut dyn std::fmt::Write) {
    let rate = state.per_sec();
    if rate >= 1.0 {
        let _ = write!(out, ", {}/s", HumanCount(rate as u64));
    }
}

fn left(done: u64, all: u64, elapsed: Duration) -> Option<Duration> {
    if done == 0 || elapsed < TELLING {
        return None;
    }
    let share = done as f64 / all.max(1) as f64;
    Some(elapsed.mul_f64((1.0 / share - 1.0).max(0.0)))
}

fn shown(bar: ProgressBar, style: ProgressStyle, one: &'static str) -> ProgressBar {
    if io::stderr().is_terminal() {
        return bar.with_style(style);
    }
    bar.set_draw_target(indicatif::ProgressDrawTarget::hidden());
    if let Some(Some(every)) = LINES.get() {
        print_lines(&bar, *every, one);
    }
    bar
}

/// Prints a line now and then for as long as the work goes on.
fn print_lines(bar: &ProgressBar, every: Duration, one: &'static str) {
    let (weak, begun) = (bar.downgrade(), Instant::now());
    let print = move || {
        let mut next = every;
        while let Some(bar) = weak.upgrade().filter(|bar| !bar.is_finished()) {
            if begun.elapsed() >= next {
                next += every;
                report::tell(line(&bar, begun.elapsed(), one));
            }
            drop(bar);
            thread::sleep(STEP);
        }
    };
    // A machine that starts no thread has no lines either: the work is what counts.
    let _ = thread::Builder::new().spawn(print);
}

fn line(bar: &ProgressBar, elapsed: Duration, one: &str) -> String {
    let seconds = elapsed.as_secs();
    match bar.length() {
        Some(all) => {
            let percent = 100 * bar.position() / all.max(1);
            let left = left(bar.position(), all, elapsed);
            let left = left.map_or_else(String::new, |left| {
                format!(", {:#} left", HumanDuration(left))
            });
            let all = counted(all, one);
            format!(
                "after {seconds} s: {} of {all}, {percent} %{left}",
                HumanCount(bar.position())
            )
        }
        None => format!("after {seconds} s: {}", counted(bar.position(), one)),
    }
}

#[cfg(test)]
mod tests {
    use super::{counted, left};
    use std::time::Duration;

    #[test]
    fn numbers_are_whole_and_one_is_singular() {
        assert_eq!(counted(1, "row"), "1 row");
        assert_eq!(counted(0, "row"), "0 rows");
        assert_eq!(counted(1_073_320, "query"), "1,073,320 queries");
    }

    #[test]
    fn the_time_that_is_left_is_not_told_from_the_first_moment() {
        assert_eq!(left(1, 10_000, Duration::from_millis(1100)), None);
        assert_eq!(left(0, 10, Duration::from_secs(60)), None);
        assert_eq!(
            left(5, 10, Duration::from_secs(4)),
            Some(Duration::from_secs(4))
        );
    }
}
