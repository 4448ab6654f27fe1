//! Ctrl-C, SIGTERM and SIGUSR1: the first lets trainings save their state, the second ends at once.

use crate::commands::{Failure, exit};
use pipe_runtime::Cancel;
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;

/// Stop the run of `cancel` on signals, from a thread of its own.
pub(crate) fn stop_on_signals(cancel: &Cancel) -> Result<(), Failure> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGUSR1])
        .map_err(|error| Failure::failed(format!("cannot listen for signals: {error}")))?;
    let cancel = cancel.clone();
    std::thread::spawn(move || {
        for (count, _) in signals.forever().enumerate() {
            match count {
                0 => {
                    eprintln!("stopping; what trains saves its state first (again: stop now)");
                    cancel.stop();
                }
                1 => cancel.now(),
                _ => std::process::exit(exit::STOPPED.into()),
            }
        }
    });
    Ok(())
}
