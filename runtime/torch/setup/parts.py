"""What was installed, remembered well enough to notice damage.

A part is {"files": {path: [size, mtime, sha256]}, "folders": {path: [count, bytes, digest]}}:
libraries one by one, header folders as a whole. A quick look compares sizes and times and
reads a file only where its time changed; a full look reads everything.
"""
import hashlib
import os
import shutil


def digest(path):
    """SHA-256 of a file, read in pieces."""
    total = hashlib.sha256()
    with open(path, "rb") as file:
        for piece in iter(lambda: file.read(1 << 20), b""):
            total.update(piece)
    return total.hexdigest()


def remove(path):
    """Deletes a file, link or folder if it is there."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)


def entry(path, sha256):
    state = os.stat(path)
    return [state.st_size, state.st_mtime_ns, sha256]


def survey(folder):
    """Number of files and bytes below a folder, without reading them."""
    count = size = 0
    waiting = [folder]
    while waiting:
        with os.scandir(waiting.pop()) as listing:
            for item in listing:
                if item.is_dir(follow_symlinks=False):
                    waiting.append(item.path)
                else:
                    count += 1
                    size += item.stat(follow_symlinks=False).st_size
    return count, size


def contents(folder):
    """One digest over the names and bytes of all files below a folder."""
    total = hashlib.sha256()
    for base, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(base, name)
            total.update(("%s\0%s\n" % (os.path.relpath(path, folder), digest(path))).encode("utf-8"))
    return total.hexdigest()


def differs(dest, part, full=False):
    """None if the part is as it was written, else a sentence that says what is not."""
    for name, (size, time, sha256) in list(part["files"].items()):
        path = os.path.join(dest, name)
        try:
            state = os.stat(path)
        except OSError:
            return "%s is missing" % name
        if state.st_size != size:
            return "%s has %d bytes instead of %d" % (name, state.st_size, size)
        touched = state.st_mtime_ns != time
        if sha256 is None and touched:
            return "%s was replaced" % name
        if sha256 and (full or touched) and digest(path) != sha256:
            return "%s is damaged" % name
        if touched:
            part["files"][name][1] = state.st_mtime_ns
    for name, (count, size, sha256) in part["folders"].items():
        path = os.path.join(dest, name)
        try:
            now = survey(path)
        except OSError:
            return "%s/ is missing" % name
        if now != (count, size):
            return "%s/ holds %d files and %d bytes instead of %d and %d" % ((name,) + now + (count, size))
        if full and contents(path) != sha256:
            return "%s/ is damaged" % name
    return None
