//! `--events`: one JSON object a line, each with the time it was written.

use crate::commands::Failure;
use chrono::{SecondsFormat, Utc};
use pipe_runtime::events::Event;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Where events are written.
pub(crate) struct EventsFile {
    path: PathBuf,
    to: Box<dyn Write>,
    broken: Option<io::Error>,
}

impl EventsFile {
    /// Open `path`, or stdout for `-`.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let to: Box<dyn Write> = if path == Path::new("-") {
            Box::new(io::stdout())
        } else {
            let file = File::create(path).map_err(|error| {
                Failure::usage(format!("cannot write {}: {error}", path.display()))
            })?;
            Box::new(BufWriter::new(file))
        };
        Ok(Self { path: path.to_owned(), to, broken: None })
    }

    /// Write one event. A failure is kept for [`EventsFile::close`]; it must not end the run.
    pub(crate) fn write(&mut self, event: &Event) {
        if self.broken.is_none()
            && let Err(error) = self.line(event)
        {
            self.broken = Some(error);
        }
    }

    fn line(&mut self, event: &Event) -> io::Result<()> {
        let mut value = serde_json::to_value(event)?;
        if let Some(fields) = value.as_object_mut() {
            let time = Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true);
            fields.insert("time".to_owned(), time.into());
        }
        writeln!(self.to, "{value}")?;
        self.to.flush()
    }

    /// Say whether everything was written.
    pub(crate) fn close(mut self) -> Result<(), Failure> {
        let flushed = self.to.flush();
        match self.broken.take().map_or(flushed, Err) {
            Ok(()) => Ok(()),
            Err(error) => {
                Err(Failure::failed(format!("cannot write {}: {error}", self.path.display())))
            }
        }
    }
}
