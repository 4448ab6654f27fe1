//! What a compilation looked at, and whether it is still so.

use crate::content;
use crate::store::{settled, signature};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// Files, patterns and folders that a compilation looked at, with what it saw there.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// What was there, by path. Paths are whole.
    files: BTreeMap<PathBuf, Look>,
    /// What a pattern stood for.
    patterns: BTreeMap<String, Vec<String>>,
    /// Folders that patterns were looked up in.
    listed: BTreeSet<PathBuf>,
    /// Where the links among the files lead, and which file each is.
    links: BTreeMap<PathBuf, PathBuf>,
    /// Where folders are once links are followed.
    places: BTreeMap<PathBuf, PathBuf>,
}

/// Content by digest, and what tells without reading that it is still the same.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Content {
    digest: String,
    signature: String,
    /// When it was looked at, in nanoseconds since 1970.
    at: i64,
}

impl Content {
    /// What had this digest a moment ago. A file that was written since then is too young to be trusted by its signature.
    fn now(path: &Path, digest: String) -> Self {
        let at = signature::now();
        Self { digest, signature: signature::of_file(path).unwrap_or_default(), at }
    }

    /// Whether the file is as it was, and was not written just then.
    fn stands(&self, path: &Path) -> bool {
        settled(&self.signature, self.at)
            && signature::of_file(path).is_ok_and(|now| now == self.signature)
    }
}

/// What was seen of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Look {
    /// Its content.
    Content(Content),
    /// That it is there.
    There,
    /// That it is not there.
    Missing,
}

impl Seen {
    /// A file was read, or its digest taken.
    pub fn file(&mut self, path: &Path, digest: String) {
        let path = whole(path);
        if let Some(target) = self.target(&path).filter(|target| *target != path) {
            self.links.insert(target, path.clone());
        }
        let content = Content::now(&path, digest);
        self.files.insert(path, Look::Content(content));
    }

    /// A file was looked at, but for its content.
    pub fn there(&mut self, path: &Path) {
        self.files.entry(whole(path)).or_insert(Look::There);
    }

    /// A file was looked for and is not there. One that was there before has gone meanwhile, which is a change.
    pub fn missing(&mut self, path: &Path) {
        self.files.entry(whole(path)).or_insert(Look::Missing);
    }

    /// The compilation has ended: of what it only looked at, the content is what it is now.
    pub fn settle(&mut self, digest: &dyn Fn(&Path) -> Option<String>) {
        let there = self.files.iter().filter(|(_, look)| **look == Look::There);
        let paths: Vec<PathBuf> = there.map(|(path, _)| path.clone()).collect();
        for path in paths {
            match digest(&path).filter(|_| path.is_file()) {
                Some(digest) => self.file(&path, digest),
                // Of a folder it counts what lies in it.
                None => drop(self.files.remove(&path)),
            }
        }
    }

    /// Where a file is once links are followed. Folders are looked up once.
    fn target(&mut self, path: &Path) -> Option<PathBuf> {
        if path.is_symlink() {
            return path.canonicalize().ok();
        }
        let (folder, name) = (path.parent()?, path.file_name()?);
        if !self.places.contains_key(folder) {
            self.places.insert(folder.to_owned(), folder.canonicalize().ok()?);
        }
        self.places.get(folder).map(|place| place.join(name))
    }

    /// A pattern was looked up in these folders, and stands for these files.
    pub fn pattern(&mut self, pattern: &str, folders: Vec<PathBuf>, found: Vec<String>) {
        self.listed.extend(folders.iter().map(|folder| whole(folder)));
        self.patterns.insert(pattern.to_owned(), found);
    }

    /// Look no more at these files.
    pub fn forget(&mut self, files: &BTreeSet<PathBuf>) {
        self.files.retain(|path, _| !files.contains(path));
    }

    /// How many files are watched.
    #[must_use]
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether nothing was looked at.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.patterns.is_empty()
    }

    /// Keep what an earlier compilation looked at, where this one did not get as far. That these files have changed since
    /// is known.
    pub fn and_before(&mut self, earlier: &Self, changed: &BTreeSet<PathBuf>) {
        for (path, look) in &earlier.files {
            if self.files.contains_key(path) {
                continue;
            }
            let now = content::file_digest(path).ok().filter(|_| changed.contains(path));
            match now {
                Some((digest, _)) => self.file(path, digest),
                None if changed.contains(path) => self.missing(path),
                None => drop(self.files.insert(path.clone(), look.clone())),
            }
        }
        for (pattern, found) in &earlier.patterns {
            self.patterns.entry(pattern.clone()).or_insert_with(|| found.clone());
        }
        self.listed.extend(earlier.listed.iter().cloned());
        self.links.extend(earlier.links.iter().map(|(to, from)| (to.clone(), from.clone())));
    }

    /// Files of the program that lie below `folder`.
    pub fn below<'s>(&'s self, folder: &Path) -> impl Iterator<Item = &'s Path> {
        let folder = whole(folder);
        let inside = self.files.range(folder.clone()..).map(|(path, _)| path.as_path());
        inside.take_while(move |path| path.starts_with(&folder))
    }

    /// Folders to follow: those of the files and of what links lead to, those that were listed, and the ones above them
    /// as far as `root`, since a folder can be replaced as a whole. A folder that is not there is waited for in the
    /// nearest one that is.
    #[must_use]
    pub fn folders(&self, root: &Path) -> BTreeSet<PathBuf> {
        let root = whole(root);
        let parents = self.files.keys().chain(self.links.keys()).filter_map(|path| path.parent());
        let mut found = BTreeSet::new();
        for folder in parents.chain(self.listed.iter().map(PathBuf::as_path)) {
            for above in folder.ancestors() {
                if above.is_dir() && !found.insert(above.to_owned()) {
                    break;
                }
                if above.is_dir() && (above == root || !above.starts_with(&root)) {
                    break;
                }
            }
        }
        found
    }

    /// The files and patterns that a change at `path` may have changed; nothing when the program does not read there.
    pub fn suspects(&self, path: &Path, found: &mut Suspects) {
        if self.files.contains_key(path) {
            found.files.insert(path.to_owned());
        } else if let Some(link) = self.links.get(path) {
            found.files.insert(link.clone());
        }
        // A folder that came, went or was replaced.
        let below = self.files.range(path.to_owned()..).map(|(below, _)| below);
        found.files.extend(below.take_while(|below| below.starts_with(path)).cloned());
        let listed = |folder: &PathBuf| path.parent() == Some(folder) || folder.starts_with(path);
        if self.listed.iter().any(listed) {
            found.patterns = true;
        }
    }

    /// All that the program reads.
    pub fn all(&self, found: &mut Suspects) {
        found.files.extend(self.files.keys().cloned());
        found.patterns = true;
    }

    /// The suspects that are not as they were. `glob` says what a pattern stands for now.
    pub fn changed(
        &mut self,
        suspects: &Suspects,
        glob: &dyn Fn(&str) -> Vec<String>,
    ) -> BTreeSet<PathBuf> {
        let mut changed = BTreeSet::new();
        for path in &suspects.files {
            let Some(before) = self.files.get_mut(path) else { continue };
            let same = match before {
                Look::Content(before) if before.stands(path) => true,
                Look::Content(before) => {
                    let signature = signature::of_file(path).unwrap_or_default();
                    let at = signature::now();
                    let now = content::file_digest(path).map(|(digest, _)| digest);
                    let same = now.is_ok_and(|now| now == before.digest);
                    if same {
                        (before.signature, before.at) = (signature, at);
                    }
                    same
                }
                Look::There => true,
                Look::Missing => !path.exists(),
            };
            if !same {
                changed.insert(path.clone());
            }
        }
        if suspects.patterns {
            for (pattern, before) in &self.patterns {
                let now = glob(pattern);
                let differs = |path: &&String| now.contains(path) != before.contains(path);
                let all = now.iter().chain(before);
                changed.extend(all.filter(differs).map(|path| whole(Path::new(path))));
            }
        }
        changed
    }
}

/// Where something may have changed.
#[derive(Clone, Debug, Default)]
pub struct Suspects {
    files: BTreeSet<PathBuf>,
    patterns: bool,
}

impl Suspects {
    /// Whether nothing is suspected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && !self.patterns
    }
}

/// `path` from the file system's root, with `.` and `..` resolved by name (it need not exist).
#[must_use]
pub fn whole(path: &Path) -> PathBuf {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn digest(path: &Path) -> String {
        content::file_digest(path).unwrap().0
    }

    fn changed(seen: &mut Seen, at: &[PathBuf]) -> Vec<PathBuf> {
        let mut suspects = Suspects::default();
        at.iter().for_each(|path| seen.suspects(path, &mut suspects));
        seen.changed(&suspects, &|_| Vec::new()).into_iter().collect()
    }

    #[test]
    fn content_decides_and_other_files_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("a.csv"), folder.path().join("b.csv"));
        fs::write(&file, "1").unwrap();
        let mut seen = Seen::default();
        seen.file(&file, digest(&file));
        fs::write(&file, "1").unwrap();
        fs::write(&other, "2").unwrap();
        assert!(changed(&mut seen, &[file.clone(), other]).is_empty(), "saved as it was");
        fs::write(&file, "2").unwrap();
        let all = std::slice::from_ref(&file);
        assert_eq!(changed(&mut seen, all), all);
        fs::remove_file(&file).unwrap();
        assert_eq!(changed(&mut seen, all), all);
    }

    #[test]
    fn a_folder_that_comes_back_brings_its_files_into_suspicion() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("data");
        let file = inner.join("a.csv");
        fs::create_dir(&inner).unwrap();
        fs::write(&file, "1").unwrap();
        let mut seen = Seen::default();
        seen.file(&file, digest(&file));
        fs::remove_dir_all(&inner).unwrap();
        fs::create_dir(&inner).unwrap();
        fs::write(&file, "2").unwrap();
        assert_eq!(changed(&mut seen, std::slice::from_ref(&inner)), [file]);
        assert_eq!(seen.folders(folder.path()), BTreeSet::from([folder.path().into(), inner]));
    }

    #[test]
    fn a_file_that_was_missing_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("later/a.csv");
        let mut seen = Seen::default();
        seen.missing(&file);
        assert_eq!(seen.folders(folder.path()), BTreeSet::from([folder.path().into()]));
        assert!(changed(&mut seen, std::slice::from_ref(&file)).is_empty());
        fs::create_dir(folder.path().join("later")).unwrap();
        fs::write(&file, "1").unwrap();
        assert_eq!(changed(&mut seen, &[folder.path().join("later")]), [file]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_at_both_ends() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().canonicalize().unwrap();
        let (one, link) = (inner.join("versions/one.csv"), inner.join("data.csv"));
        fs::create_dir(inner.join("versions")).unwrap();
        fs::write(&one, "1").unwrap();
        std::os::unix::fs::symlink(&one, &link).unwrap();
        let mut seen = Seen::default();
        seen.file(&link, digest(&link));
        assert!(seen.folders(&inner).contains(&inner.join("versions")));
        fs::write(&one, "2").unwrap();
        assert_eq!(changed(&mut seen, &[one]), [link]);
    }

    #[test]
    fn patterns_see_what_comes_and_goes() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a.csv"), folder.path().join("b.csv"));
        let name = |path: &Path| path.to_string_lossy().into_owned();
        let mut seen = Seen::default();
        seen.pattern("*.csv", vec![folder.path().into()], vec![name(&a)]);
        let mut suspects = Suspects::default();
        seen.suspects(&b, &mut suspects);
        let now = [name(&b)];
        let changed = seen.changed(&suspects, &|_| now.to_vec());
        assert_eq!(changed, BTreeSet::from([a, b]));
    }
}
