//! Codes of the store and of the folder for outputs.

use super::{Code, page};

pub(super) const CODES: &[Code] = &[
    page(
        "output::full",
        "no space for an output",
        "Outputs are copies of what the store holds. The disk of the output folder has no room for this one.

  pipe run program.pipe --out /small/disk

Free some space, or choose another folder with `--out`. Everything that was computed is in the store, so the next run
only writes.",
    ),
    page(
        "output::unwritable",
        "an output that cannot be written",
        "The system refuses to write in the output folder: it belongs to somebody else, is read-only, or a file stands
where a folder is needed.

  pipe run program.pipe --out /etc

Choose another folder with `--out`, or make this one writable. Everything that was computed is in the store, so the
next run only writes.",
    ),
    page(
        "store::busy",
        "another process keeps the store locked",
        "Several runs may use one store at once; each locks its database for moments only. Here the lock was held for
much longer, usually by a program that was suspended or by a tool that has the database open.

  sqlite3 .pipe/store.db

Wait for the other process or end it, then run again.",
    ),
    page(
        "store::damaged",
        "a store whose database is damaged",
        "The file `store.db` is no longer a valid database. A run that is killed does not cause this; a failing disk,
or a copy of the store made while it was in use, may.

  cp -r running/.pipe backup/.pipe

Remove the folder `.pipe`. Nothing is lost for good: everything in it can be computed again.",
    ),
    page(
        "store::database",
        "a failure of the store's database",
        "The database of the store answered with an error that has no page of its own. The message has its words.

  pipe run program.pipe

Look whether the disk works and has space. If the error comes back, remove the folder `.pipe`; everything in it can be
computed again.",
    ),
    page(
        "store::disk",
        "a failure of the disk that holds the store",
        "Reading or writing a file of the store failed for a reason that only the system knows. The message has its
words.

  pipe run program.pipe

Look into the system's log for errors of the disk. Another folder can be named with `PIPE_STORE`.",
    ),
    page(
        "store::format",
        "a store of another version",
        "The store was made by a version of `pipe` that writes another format. It is left alone, because reading it
wrongly would be worse than computing again.

  pipe run program.pipe

after `pipe` was replaced by an older one. Use the version that made the store, remove the folder, or set `PIPE_STORE`
to another one.",
    ),
    page(
        "store::full",
        "no space left for the store",
        "The disk that holds the store is full. What was complete before is kept; what was being written is not.

  pipe store gc --budget 20GiB

removes the results that were of use least recently and can be computed again. Free some space with it or by other
means, then run again: the run goes on where it was.",
    ),
    page(
        "store::in_use",
        "cleaning a store that is in use",
        "Cleaning removes files, so it needs the store for itself. Another process uses it now, and nothing was
removed.

  pipe store gc

while a run is going on. Wait until the run has ended, then clean again.",
    ),
    page(
        "store::lost",
        "content that the store has lost",
        "A result is recorded, but its file is missing or was changed. `pipe` treats that as a result that was never
there and computes it again; this error is seen when the content went away repeatedly while it was needed.

  rm -r .pipe/blobs

during a run. Leave the store alone, and run again. `pipe store verify` reads everything back and says what is broken.",
    ),
    page(
        "store::network",
        "a store on a network file system",
        "The database of the store relies on file locks that network file systems (NFS, SMB, Lustre and others) do not
keep. It would work for a while and then be damaged.

  cd /home/on/nfs && pipe run program.pipe

Keep the program where it is, and the store on a local disk:

  PIPE_STORE=/var/tmp/store pipe run program.pipe",
    ),
    page(
        "store::not_a_folder",
        "something else where the store should be",
        "The store is a folder. At its place lies a file, or something else that cannot hold files.

  touch .pipe && pipe run program.pipe

Move it away, or set `PIPE_STORE` to another folder.",
    ),
    page(
        "store::unwritable",
        "a store that cannot be written",
        "The system refuses to write in the store's folder: it belongs to another user, or its disk is read-only.

  sudo pipe run program.pipe

leaves a store that only the administrator may write. Make the folder writable, or set `PIPE_STORE` to another one.",
    ),
];
