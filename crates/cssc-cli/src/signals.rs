//! What happens when the command is asked to end: Ctrl-C, SIGTERM, SIGHUP.
//!
//! A command that has called [`listen`] is asked to stop at a place of its choice; a second signal ends it at once.
//! Any other command ends at once. In every case the temporary files of outputs are removed, and the exit code is
//! 128 and the number of the signal.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

static LISTENING: AtomicBool = AtomicBool::new(false);
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// From now on signals are handled as described above.
pub(crate) fn handle() {
    #[cfg(unix)]
    {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        // Without handlers signals end the program, as they always do.
        if let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]) {
            std::thread::spawn(move || signals.forever().for_each(received));
        }
    }
    #[cfg(not(unix))]
    let _ = ctrlc::set_handler(|| received(2));
}

/// From now on the first signal only asks to stop.
pub(crate) fn listen() {
    LISTENING.store(true, Ordering::SeqCst);
}

/// The signal that asked to stop.
pub(crate) fn stopped_by() -> Option<i32> {
    Some(SIGNAL.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
}

fn received(signal: i32) {
    let first = SIGNAL.swap(signal, Ordering::SeqCst) == 0;
    if first && LISTENING.load(Ordering::SeqCst) {
        let text = "\nstopping as soon as possible; press Ctrl-C again to end at once.";
        let _ = writeln!(std::io::stderr(), "{text}");
        return;
    }
    cssc::io::exit(128 + signal);
}
