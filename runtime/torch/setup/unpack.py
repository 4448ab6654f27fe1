"""Unpacks the wanted part of a wheel, each file checked against the wheel's own record."""
import base64
import csv
import fnmatch
import hashlib
import io
import os
import zipfile

from parts import contents, entry, remove, survey
from problem import Problem


def record(archive):
    """What the wheel itself says about its files: {name: hex sha256}."""
    name = next(n for n in archive.namelist() if n.endswith(".dist-info/RECORD"))
    rows = csv.reader(io.StringIO(archive.read(name).decode("utf-8")))
    hashes = {}
    for row in rows:
        if len(row) == 3 and row[1].startswith("sha256="):
            text = row[1][7:]
            hashes[row[0]] = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).hex()
    return hashes


def extract(archive, member, target, hashes):
    """Writes one member, checked against the wheel's record; returns its sha256."""
    total = hashlib.sha256()
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with archive.open(member) as source, open(target, "wb") as file:
        for piece in iter(lambda: source.read(1 << 20), b""):
            total.update(piece)
            file.write(piece)
    if hashes.get(member.filename, total.hexdigest()) != total.hexdigest():
        raise Problem("wrong-hash", "%s inside the wheel is damaged." % member.filename,
                      "run `make setup` again; if it stays, check memory and disk.")
    return total.hexdigest()


def matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def inside(name):
    """The name as a relative path that cannot leave its folder."""
    parts = name.split("/")
    if name.startswith("/") or ".." in parts or "\\" in name:
        raise Problem("wrong-hash", "the wheel holds a path that leaves its folder: %s." % name,
                      "use another mirror; this is not the published file.")
    return os.path.join(*parts)


def place(name, wanted):
    """Where a member of the wheel goes, relative to the destination; None if it is not wanted."""
    if matches(name, wanted.drop):
        return None
    if matches(name, wanted.keep):
        return "lib/" + name.rsplit("/", 1)[1]
    if wanted.headers and "/include/" in name:
        return wanted.headers + "/" + name.split("/include/", 1)[1]
    for prefix, folder in wanted.folders.items():
        if name.startswith(prefix):
            return folder + "/" + name[len(prefix):]
    return None


def wheel(path, wanted, dest, work):
    """Unpacks `wanted` from `path` into `dest` through `work`; returns the part."""
    remove(work)
    hashes_of = {}
    try:
        with zipfile.ZipFile(path) as archive:
            hashes = record(archive)
            for member in archive.infolist():
                target = None if member.is_dir() else place(member.filename, wanted)
                if target:
                    hashes_of[target] = extract(archive, member, os.path.join(work, inside(target)), hashes)
    except (zipfile.BadZipFile, StopIteration, EOFError) as error:
        raise Problem("wrong-hash", "%s cannot be unpacked: %s." % (wanted.file, error),
                      "run `make setup` again; if it stays, check memory and disk.")
    part = {"files": {}, "folders": {}}
    folders = tuple(wanted.folders.values())
    for name, sha256 in sorted(hashes_of.items()):
        if name.split("/", 1)[0] in folders:
            continue
        target = os.path.join(dest, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.replace(os.path.join(work, name), target)
        part["files"][name] = entry(target, sha256)
    for folder in folders:
        target = os.path.join(dest, folder)
        swap(os.path.join(work, folder), target, work)
        part["folders"][folder] = list(survey(target)) + [contents(target)]
    remove(work)
    return part


def swap(new, target, work):
    """Replaces a folder by two renames."""
    if os.path.lexists(target):
        os.makedirs(work, exist_ok=True)
        os.rename(target, os.path.join(work, "replaced"))
    os.makedirs(os.path.dirname(target), exist_ok=True)
    os.rename(new, target)
    remove(os.path.join(work, "replaced"))
