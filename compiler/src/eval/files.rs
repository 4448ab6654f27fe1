//! Files that a plan names: that they exist, what a pattern matches, what a table's head says.

use super::Evaluator;
use crate::host::HostErrorKind;
use crate::resolve::{misspelt, near_file};
use crate::schema::{self, Reading, Schema};
use pipe_grammar::{Problem, Span};
use std::rc::Rc;

impl<'a> Evaluator<'a> {
    /// The files that a path or a pattern (`*`, `?`, `[..]`) names, sorted.
    pub(crate) fn matching(&mut self, pattern: &str, span: Span) -> Vec<String> {
        if !pattern.contains(['*', '?', '[']) {
            return vec![pattern.to_owned()];
        }
        match self.inputs.host.glob(pattern) {
            Ok(mut paths) if !paths.is_empty() => {
                paths.sort();
                paths
            }
            Ok(_) => {
                let message = format!("no file matches `{pattern}`");
                let problem = Problem::error("plan::missing_file", span, message);
                self.report(
                    problem.help(
                        "patterns are relative to the program's folder; `*` does not cross `/`",
                    ),
                );
                Vec::new()
            }
            Err(error) => {
                self.report(Problem::error(
                    "plan::file",
                    span,
                    format!("`{pattern}` cannot be looked up: {error}"),
                ));
                Vec::new()
            }
        }
    }

    /// Whether a file can be read; says what is wrong otherwise.
    pub(crate) fn exists(&mut self, path: &str, span: Span) -> bool {
        let error = match self.inputs.host.stat(path) {
            Ok(_) => return true,
            Err(error) => error,
        };
        let problem = match error.kind {
            HostErrorKind::Missing => {
                let message = format!("there is no file `{path}`");
                let problem = Problem::error("plan::missing_file", span, message);
                match near_file(self.inputs.host, path) {
                    Some(near) => {
                        let written = self.program.modules.iter().any(|m| m.file == span.file);
                        if written {
                            misspelt(problem, self.sources, path, &near)
                        } else {
                            problem
                                .label(format!("did you mean `{near}`?"))
                                .help(format!("write `{near}`"))
                        }
                    }
                    None if self.born_later => problem.help(
                        "the type of its rows is known, so `pipe check` passes without it; `plan` and `run` read it",
                    ),
                    None => problem.help("a path is relative to the program's folder; one given with `--set`, to the current folder"),
                }
            }
            HostErrorKind::Outside => {
                let message = format!("`{path}` lies outside the project");
                let folder = crate::resolve::folder_of(path);
                Problem::error("plan::outside_root", span, message).label(error.message).help(
                    format!("move it into the project, or allow it with `--allow path={folder}`"),
                )
            }
            HostErrorKind::Unreadable => {
                Problem::error("plan::file", span, format!("`{path}` cannot be read: {error}"))
            }
        };
        self.report(problem);
        false
    }

    /// Whether a file of nearly this name is there instead.
    pub(crate) fn is_misspelt(&self, path: &str) -> bool {
        near_file(self.inputs.host, path).is_some()
    }

    /// Whether a path is a folder, which is reported: ops read files.
    pub(super) fn is_folder(&mut self, path: &str, span: Span) -> bool {
        let folder = self.inputs.host.stat(path).is_ok_and(|info| info.is_dir);
        if folder {
            let message = format!("`{path}` is a folder, and a file is wanted");
            let problem = Problem::error("plan::folder", span, message);
            self.report(problem.help("name a file in it, or a pattern such as `folder/*.csv`"));
        }
        folder
    }

    /// The columns of a table file, from its first rows.
    pub(crate) fn head_schema(
        &mut self,
        path: &str,
        how: Reading,
        span: Span,
    ) -> Option<Rc<Schema>> {
        let key = (path.to_owned(), how);
        if let Some(known) = self.schemas.get(&key) {
            return known.clone();
        }
        let schema = self.read_schema(path, how, span).map(Rc::new);
        self.schemas.insert(key, schema.clone());
        schema
    }

    /// The files among `paths` that are there, without a word about the others.
    pub(crate) fn present(&self, paths: Vec<String>) -> Vec<String> {
        let there = |path: &String| self.inputs.host.stat(path).is_ok_and(|info| !info.is_dir);
        paths.into_iter().filter(there).collect()
    }

    /// The files that a path or a pattern names now, without a word when there are none.
    pub(crate) fn matching_now(&self, pattern: &str) -> Vec<String> {
        if !pattern.contains(['*', '?', '[']) {
            return self.present(vec![pattern.to_owned()]);
        }
        let mut paths = self.inputs.host.glob(pattern).unwrap_or_default();
        paths.sort();
        paths
    }

    fn read_schema(&mut self, path: &str, how: Reading, span: Span) -> Option<Schema> {
        if !self.exists(path, span) {
            return None;
        }
        if self.is_folder(path, span) {
            return None;
        }
        let host = self.inputs.host;
        let read = match schema::read(path, how, |bytes| host.head(path, bytes)) {
            Ok(read) => read,
            Err(error) => {
                self.report(Problem::error(
                    "plan::file",
                    span,
                    format!("`{path}` cannot be read: {error}"),
                ));
                return None;
            }
        };
        match read {
            Ok(schema) => Some(schema),
            Err(error) => {
                let message = format!("`{path}` cannot be read as a table: {}", error.message);
                let problem = Problem::error("plan::table_head", span, message);
                self.report(problem.help(error.help));
                None
            }
        }
    }
}
