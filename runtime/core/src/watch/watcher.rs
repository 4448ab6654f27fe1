//! Following folders: through the system's events, or by looking again and again where there are none.
//!
//! Looking is our own: notify's poller compares times in whole seconds, and would miss the second save of one.

use crossbeam_channel::Sender;
use notify::Watcher as _;
use notify::{Config, ErrorKind, EventKind, RecommendedWatcher, RecursiveMode};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often to look where the system gives no events.
const POLL: Duration = Duration::from_millis(500);

/// What the file system says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Something happened at these paths.
    Paths(Vec<PathBuf>),
    /// Events were lost: anything may have changed.
    Rescan,
    /// It is time to look.
    Look,
}

/// Follows a set of folders and sends [`Notice`]s.
pub struct Watcher {
    /// Nothing where events are not used.
    inner: Option<Box<dyn notify::Watcher + Send>>,
    followed: BTreeSet<PathBuf>,
    send: Sender<Notice>,
    poll: Option<Duration>,
}

impl Watcher {
    /// Use the system's events, or have everything looked at every `poll` when that is given. The text says why events
    /// cannot be used.
    #[must_use]
    pub fn new(poll: Option<Duration>, send: Sender<Notice>) -> (Self, Option<String>) {
        Self::with(poll, send, &events)
    }

    fn with(poll: Option<Duration>, send: Sender<Notice>, system: &Make) -> (Self, Option<String>) {
        let mut watcher = Self { inner: None, followed: BTreeSet::new(), send, poll: None };
        if let Some(every) = poll {
            watcher.look_every(every);
            return (watcher, None);
        }
        match system(watcher.send.clone()) {
            Ok(inner) => {
                watcher.inner = Some(inner);
                (watcher, None)
            }
            Err(error) => {
                watcher.look_every(POLL);
                (watcher, Some(reason(&error)))
            }
        }
    }

    /// How often to look, where the system's events are not used.
    #[must_use]
    pub fn polls(&self) -> Option<Duration> {
        self.poll
    }

    /// Follow these folders and no others. The text says why the system's events had to be given up.
    pub fn follow(&mut self, folders: &BTreeSet<PathBuf>) -> Option<String> {
        let new: Vec<PathBuf> = folders.difference(&self.followed).cloned().collect();
        if let Some(inner) = &mut self.inner {
            for gone in self.followed.difference(folders) {
                let _ = inner.unwatch(gone);
            }
        }
        self.followed.clone_from(folders);
        let error = new.iter().find_map(|folder| self.watch(folder))?;
        self.inner = None;
        self.look_every(POLL);
        Some(reason(&error))
    }

    /// A folder may have been replaced by another of its name: follow what is there now.
    pub fn refresh(&mut self, path: &Path) {
        if let Some(inner) = self.inner.as_mut().filter(|_| self.followed.contains(path)) {
            let _ = inner.unwatch(path);
            let _ = self.watch(path);
        }
    }

    /// Follow one folder. Gives an error that ends the use of events; a folder that is gone is followed when it is back.
    fn watch(&mut self, folder: &Path) -> Option<notify::Error> {
        let error = self.inner.as_mut()?.watch(folder, RecursiveMode::NonRecursive).err()?;
        matches!(error.kind, ErrorKind::MaxFilesWatch).then_some(error)
    }

    fn look_every(&mut self, every: Duration) {
        self.poll = Some(every);
        let send = self.send.clone();
        std::thread::spawn(move || {
            while send.send(Notice::Look).is_ok() {
                std::thread::sleep(every);
            }
        });
    }
}

type Make = dyn Fn(Sender<Notice>) -> notify::Result<Box<dyn notify::Watcher + Send>>;

fn events(send: Sender<Notice>) -> notify::Result<Box<dyn notify::Watcher + Send>> {
    Ok(Box::new(RecommendedWatcher::new(handler(send), Config::default())?))
}

fn handler(send: Sender<Notice>) -> impl FnMut(notify::Result<notify::Event>) + Send + 'static {
    move |event| {
        let notice = match event {
            // Reading is no change.
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => return,
            Ok(event) if event.need_rescan() => Notice::Rescan,
            Ok(event) => Notice::Paths(event.paths),
            Err(_) => Notice::Rescan,
        };
        let _ = send.send(notice);
    }
}

/// Why the system's events cannot be used, and what to do about it.
fn reason(error: &notify::Error) -> String {
    let looking = "so the files are looked at twice a second";
    match &error.kind {
        ErrorKind::MaxFilesWatch => format!(
            "the system watches no more folders, {looking}; raise the limit with `sysctl fs.inotify.max_user_watches=524288`"
        ),
        // EMFILE: inotify instances of this user.
        ErrorKind::Io(error) if error.raw_os_error() == Some(24) => format!(
            "the system has no watcher left, {looking}; raise the limit with `sysctl fs.inotify.max_user_instances=512`"
        ),
        _ => format!("the system's events cannot be used ({error}), {looking}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossbeam_channel::{Receiver, unbounded};
    use std::fs;

    fn heard(notices: &Receiver<Notice>, path: &Path) -> bool {
        let end = std::time::Instant::now() + Duration::from_secs(10);
        while let Ok(notice) = notices.recv_deadline(end) {
            match notice {
                Notice::Paths(paths) if paths.iter().any(|one| one == path) => return true,
                _ => {}
            }
        }
        false
    }

    #[test]
    fn saves_by_writing_and_by_renaming_are_heard() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let (file, other) = (path.join("a.csv"), path.join("a.csv.new"));
        fs::write(&file, "1").unwrap();
        let (send, notices) = unbounded();
        let (mut watcher, warning) = Watcher::new(None, send);
        assert_eq!((warning, watcher.follow(&BTreeSet::from([path]))), (None, None));
        fs::write(&file, "22").unwrap();
        assert!(heard(&notices, &file), "written");
        std::thread::sleep(Duration::from_millis(120));
        fs::write(&other, "333").unwrap();
        fs::rename(&other, &file).unwrap();
        assert!(heard(&notices, &file), "renamed over");
    }

    /// What the system says when its limits are reached.
    #[test]
    fn at_a_limit_of_the_system_files_are_looked_at_and_the_setting_is_named() {
        let folder = BTreeSet::from([tempfile::tempdir().unwrap().path().to_owned()]);
        let full = |_| Err(notify::Error::io(std::io::Error::from_raw_os_error(24)));
        let (send, notices) = unbounded();
        let (watcher, warning) = Watcher::with(None, send.clone(), &full);
        assert!(warning.unwrap().contains("max_user_instances"));
        assert_eq!(watcher.polls(), Some(POLL));
        assert_eq!(notices.recv(), Ok(Notice::Look));

        let limited = |_| Ok(Box::new(Limited) as Box<dyn notify::Watcher + Send>);
        let (mut watcher, warning) = Watcher::with(None, send, &limited);
        assert_eq!((warning, watcher.polls()), (None, None));
        assert!(watcher.follow(&folder).unwrap().contains("max_user_watches"));
        assert_eq!(watcher.polls(), Some(POLL));
    }

    /// A watcher that may follow nothing more.
    struct Limited;

    impl notify::Watcher for Limited {
        fn new<F: notify::EventHandler>(_: F, _: Config) -> notify::Result<Self> {
            Ok(Self)
        }

        fn watch(&mut self, _: &Path, _: RecursiveMode) -> notify::Result<()> {
            Err(notify::Error::new(ErrorKind::MaxFilesWatch))
        }

        fn unwatch(&mut self, _: &Path) -> notify::Result<()> {
            Ok(())
        }

        fn kind() -> notify::WatcherKind {
            notify::WatcherKind::NullWatcher
        }
    }
}
