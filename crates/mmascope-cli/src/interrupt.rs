//! Ctrl-C: ends the program at once, or, while a file may be half written, asks it to stop.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::{output, report};
use mmascope::dut;

static DEFERRED: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);

/// Takes Ctrl-C over. Where that is not possible the system's way of ending a program stays.
pub(crate) fn install() {
    let _ = ctrlc::set_handler(|| {
        ASKED.store(true, Ordering::SeqCst);
        if !DEFERRED.load(Ordering::SeqCst) {
            output::remove_partial();
            // Devices are not in the terminal's process group: the signal has not reached them.
            let _ended = dut::end_all();
            std::process::exit(i32::from(report::INTERRUPTED));
        }
    });
}

/// Whether Ctrl-C has been pressed.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// Sets the flag, for callers that take Ctrl-C themselves.
pub(crate) fn ask(is_asked: bool) {
    ASKED.store(is_asked, Ordering::SeqCst);
}

/// From now on Ctrl-C only sets the flag that is returned.
pub(crate) fn deferred() -> &'static AtomicBool {
    DEFERRED.store(true, Ordering::SeqCst);
    &ASKED
}
