//! Where the store is, and whether a database can live there.

use crate::op::OpError;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// File systems that give no guarantee on locks or shared memory, which the database needs.
const NETWORK: [&str; 17] = [
    "nfs",
    "nfs4",
    "lustre",
    "gpfs",
    "cifs",
    "smb2",
    "smb3",
    "smbfs",
    "9p",
    "afs",
    "ceph",
    "beegfs",
    "glusterfs",
    "pvfs2",
    "orangefs",
    "ocfs2",
    "gfs2",
];

/// The store's folder: `PIPE_STORE` when set, else `.pipe` beside the nearest `pipe.toml` above the
/// program, else `.pipe` beside the program.
#[must_use]
pub fn place(program: &Path, setting: Option<&OsStr>) -> PathBuf {
    if let Some(folder) = setting.filter(|folder| !folder.is_empty()) {
        return PathBuf::from(folder);
    }
    let beside = match program.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let whole = std::path::absolute(beside).unwrap_or_else(|_| beside.to_owned());
    let root = whole.ancestors().find(|folder| folder.join("pipe.toml").is_file());
    root.unwrap_or(beside).join(".pipe")
}

/// Refuse folders on network file systems. `mounts` is the text of `/proc/self/mountinfo`.
///
/// # Errors
/// When `folder` lies on one.
pub fn refuse_network(folder: &Path, mounts: &str) -> Result<(), OpError> {
    let Some(kind) = file_system(folder, mounts) else { return Ok(()) };
    let fuse = kind.starts_with("fuse") && kind != "fuse.fuse-overlayfs" && kind != "fuseblk";
    if !fuse && !NETWORK.contains(&kind.as_str()) {
        return Ok(());
    }
    Err(OpError::new(
        "store::network",
        format!("The store {} lies on a network file system ({kind}), where its database could be damaged.", folder.display()),
    )
    .help("Set PIPE_STORE to a folder on a local disk."))
}

/// Type of the file system that holds `folder`: the mount with the longest matching path, the last
/// one when several are mounted over each other.
fn file_system(folder: &Path, mounts: &str) -> Option<String> {
    let mut best: Option<(usize, &str)> = None;
    for line in mounts.lines() {
        let Some((before, after)) = line.split_once(" - ") else { continue };
        let Some(point) = before.split(' ').nth(4).map(unescape) else { continue };
        let Some(kind) = after.split(' ').next() else { continue };
        let depth = Path::new(&point).components().count();
        if folder.starts_with(&point) && best.is_none_or(|(deepest, _)| depth >= deepest) {
            best = Some((depth, kind));
        }
    }
    best.map(|(_, kind)| kind.to_owned())
}

/// Mount points have `\040` for a space.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let code = tail
            .get(..3)
            .filter(|_| *first == b'\\')
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { tail.get(3..).unwrap_or_default() } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 27 0:21 / /proc rw - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
40 27 0:50 / /home rw,relatime shared:1 - nfs4 server:/home rw
41 40 0:51 / /home/my\\040disk rw - xfs /dev/vdb rw
42 27 0:52 / /media/s3 rw - fuse.s3fs s3fs rw
";

    #[test]
    fn network_file_systems_are_refused_by_name() {
        let refused = |path: &str| refuse_network(Path::new(path), MOUNTS);
        assert!(refused("/var/x/.pipe").is_ok());
        assert!(refused("/home/my disk/.pipe").is_ok());
        assert!(refused("/homework/.pipe").is_ok());
        let error = refused("/home/user/.pipe").unwrap_err();
        assert_eq!(error.code, "store::network");
        assert!(error.message.contains("nfs4"), "{error}");
        assert!(error.help.unwrap().contains("PIPE_STORE"));
        assert!(refused("/media/s3/.pipe").is_err());
    }

    #[test]
    fn the_nearest_project_holds_the_store() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        assert_eq!(place(&inner.join("p.pipe"), None), inner.join(".pipe"));
        std::fs::write(folder.path().join("pipe.toml"), "").unwrap();
        assert_eq!(place(&inner.join("p.pipe"), None), folder.path().join(".pipe"));
        assert_eq!(place(&inner.join("p.pipe"), Some(OsStr::new("/s"))), PathBuf::from("/s"));
    }
}
