//! Keys that are pressed while a program is watched.

use console::Term;
use crossbeam_channel::{Receiver, never, unbounded};

/// A wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// Run again now.
    Run,
    /// End.
    Quit,
}

/// The wishes of whoever sits at the terminal; never one when there is no terminal.
pub(crate) fn keys(live: bool) -> Receiver<Key> {
    let term = Term::stderr();
    if !live || !term.features().is_attended() {
        return never();
    }
    let (send, keys) = unbounded();
    std::thread::spawn(move || {
        loop {
            let key = match term.read_key() {
                Ok(console::Key::Char('q')) => Key::Quit,
                Ok(console::Key::Char('r')) => Key::Run,
                Ok(_) => continue,
                Err(_) => return,
            };
            if send.send(key).is_err() {
                return;
            }
        }
    });
    keys
}
