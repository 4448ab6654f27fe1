#!/usr/bin/env python3
"""Puts libtorch where the build looks for it: `.libtorch/` with `lib/` and `include/`.

The idea: Python wheels hold everything, and pip is the one downloader that every machine
has. Each wheel of the recipe (see wheels.py) is fetched, checked against its committed
size and SHA-256, and only what a Rust program needs is unpacked from it. stamp.json says
what was unpacked; a second run compares the folder with the stamp and does nothing when
they agree, and fetches again only the wheels whose files are damaged.

    libtorch.py [--dest .libtorch] [--device auto|cpu|cuda] [--torch PYTHON] [--check]
"""
import sys

if sys.version_info < (3, 9):
    sys.stderr.write(
        "setup: error[setup/old-python]: Python %d.%d is too old.\n"
        "  help: run the set-up with Python 3.9 or newer, for example "
        "`make setup PYTHON=python3.11`.\n" % sys.version_info[:2]
    )
    sys.exit(1)

import argparse
import contextlib
import errno
import fcntl
import json
import os
import platform
import shutil

import parts
import wheels
from problem import Problem

FORMAT = 1
MIB = 1 << 20


def say(text):
    sys.stderr.write("setup: " + text + "\n")
    sys.stderr.flush()


def has_nvidia_driver():
    """True where the kernel driver is loaded or its command is installed."""
    return os.path.exists("/proc/driver/nvidia/version") or shutil.which("nvidia-smi") is not None


def this_platform():
    """The key of this machine in wheels.TABLE, or a Problem that says why there is none."""
    system, machine = platform.system(), platform.machine().lower()
    if system == "Windows":
        raise Problem("unsupported-platform", "libtorch is not set up on Windows itself.",
                      "run everything inside WSL2, where this works as on Linux.")
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    key = system.lower() + "-" + machine
    if key not in wheels.TABLE:
        raise Problem("unsupported-platform", "there is no libtorch 2.11 wheel for %s on %s." % (system, machine),
                      "use Linux on x86_64 or arm64, or macOS on Apple silicon; "
                      "or build PyTorch 2.11 yourself and pass --torch PYTHON.")
    return key


def require_glibc():
    """Stops on a Linux whose C library the wheels were not built for."""
    if platform.system() != "Linux":
        return
    libc, version = platform.libc_ver()
    parts_of = tuple(int(p) for p in version.split(".")[:2] if p.isdigit())
    if libc != "glibc" or parts_of < (2, 28):
        raise Problem("unsupported-platform", "libtorch needs glibc 2.28 or newer; this system has %s %s."
                      % (libc or "another C library", version),
                      "use a distribution from 2019 or later that is based on glibc "
                      "(Debian 10, Ubuntu 20.04, RHEL 8 and newer all are).")


def choose_recipe(device, torch_python):
    """What to install: a plain record that is compared with the stamp's."""
    if torch_python:
        return {"source": "installed", "torch": os.path.abspath(shutil.which(torch_python) or torch_python)}
    key = this_platform()
    if device == "auto":
        device = "cuda" if key.startswith("linux") and has_nvidia_driver() else "cpu"
    chosen = wheels.recipe(key, device)
    if chosen is None:
        raise Problem("unsupported-platform", "there is no CUDA build of libtorch for %s." % key,
                      "use DEVICE=cpu here, or Linux with an NVIDIA driver.")
    return {"source": "wheels", "platform": key, "device": device, "version": wheels.TORCH_VERSION,
            "wheels": [w.file for w in chosen]}


class Tree:
    """The destination folder and its stamp."""

    def __init__(self, dest):
        self.dest = os.path.abspath(dest)
        self.download = os.path.join(self.dest, "download")
        self.work = os.path.join(self.dest, "unpack")
        self.stamp_path = os.path.join(self.dest, "stamp.json")
        self.stamp = self.read()

    def read(self):
        """The stamp on disk, or None where there is none that this script wrote."""
        try:
            with open(self.stamp_path, encoding="utf-8") as file:
                stamp = json.load(file)
        except (OSError, ValueError):
            return None
        known = isinstance(stamp, dict) and stamp.get("format") == FORMAT
        return stamp if known and isinstance(stamp.get("parts"), dict) else None

    def write(self):
        temporary = self.stamp_path + ".part"
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(self.stamp, file, indent=1, sort_keys=True)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, self.stamp_path)

    def begin(self, recipe):
        """Keeps the tree if it was made for this recipe, else empties it."""
        if self.stamp and self.stamp.get("recipe") == recipe:
            return
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.stamp_path)
        for name in ("lib", "include", "cuda"):
            parts.remove(os.path.join(self.dest, name))
        self.stamp = {"format": FORMAT, "recipe": recipe, "parts": {}}

    def damage(self, recipe, full=False):
        """What differs from the stamp: a list of (part, sentence); empty when all is well."""
        if not self.stamp or self.stamp.get("recipe") != recipe:
            return [(None, "nothing is set up yet for this choice of device and version")]
        names = recipe.get("wheels", ["installed"]) + ["glue"]
        found = []
        for name in names:
            part = self.stamp["parts"].get(name)
            reason = "not unpacked yet" if part is None else parts.differs(self.dest, part, full)
            if reason:
                found.append((name, reason))
        return found


@contextlib.contextmanager
def locked(dest):
    """One set-up at a time per folder; a second one waits for the first."""
    os.makedirs(dest, exist_ok=True)
    with open(os.path.join(dest, "lock"), "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                say("waiting for another set-up of %s" % dest)
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


def require_space(dest, missing, to_fetch):
    """Stops before the first download if the disk cannot hold what comes; True if it is tight.

    Wheels come one by one, and pip holds each twice for a moment (and once more in its cache).
    """
    largest = max((w.size for w in to_fetch), default=0)
    have = shutil.disk_usage(dest).free
    need = sum(w.unpacked for w in missing) + 2 * largest + 64 * MIB
    if have < need:
        raise Problem("disk-full", "%s has %d MiB free, and the set-up needs %d MiB while it works."
                      % (dest, have // MIB, need // MIB),
                      "free some space, or put the folder elsewhere with --dest and a symbolic link.")
    return have < need + largest


def install_wheels(tree, recipe):
    import fetch
    import link
    import unpack

    require_glibc()
    tree.begin(recipe)
    parts.remove(tree.work)
    table = {w.file: w for w in wheels.recipe(recipe["platform"], recipe["device"])}
    broken = dict(tree.damage(recipe))
    missing = [w for w in wheels.recipe(recipe["platform"], recipe["device"]) if w.file in broken]
    to_fetch = [w for w in missing if not fetch.is_good(tree.download, w)]
    if to_fetch:
        fetch.require_pip()
    tight = bool(missing) and require_space(tree.dest, missing, to_fetch)
    for number, wheel in enumerate(missing, 1):
        if broken[wheel.file] != "not unpacked yet":
            say("repairing: " + broken[wheel.file])
        say("%d/%d %s %s (%d MB)" % (number, len(missing), wheel.name, wheel.version, wheel.size // 1000000))
        path = fetch.wheel(tree.download, wheel, use_cache=not tight, say=say)
        tree.stamp["parts"][wheel.file] = unpack.wheel(path, wheel, tree.dest, tree.work)
        tree.write()
        os.remove(path)
    tree.stamp["parts"]["glue"] = link.glue(tree.dest, wheels.TORCH_VERSION)


def install_linked(tree, recipe):
    import link

    found = link.probe(recipe["torch"])
    tree.begin(recipe)
    say("using torch %s of %s" % (found["version"], recipe["torch"]))
    tree.stamp["parts"]["installed"] = link.installed(found, tree.dest)
    tree.stamp["parts"]["glue"] = link.glue(tree.dest, found["version"])


def setup(dest, device="auto", torch_python=None, check=False):
    """Brings `dest` into the wanted state and returns the exit code."""
    recipe = choose_recipe(device, torch_python)
    tree = Tree(dest)
    found = tree.damage(recipe, full=check)
    if check:
        for _, reason in found:
            say("not in order: " + reason)
        say("%s is in order" % tree.dest if not found else "run `make setup` to repair it")
        return 1 if found else 0
    if not found:
        if tree.stamp != tree.read():
            tree.write()
        return 0
    with locked(tree.dest):
        tree = Tree(dest)
        if not tree.damage(recipe):
            return 0
        install = install_wheels if recipe["source"] == "wheels" else install_linked
        install(tree, recipe)
        tree.write()
        for scrap in (tree.work, tree.download):
            parts.remove(scrap)
        left = tree.damage(recipe)
        if left:
            raise Problem("unpack-failed", "the folder does not hold what was written: %s." % left[0][1],
                          "check the disk, delete %s and run `make setup` again." % tree.dest)
    say("libtorch is ready in %s" % tree.dest)
    return 0


def from_os_error(error, dest):
    """A Problem for what the operating system refused."""
    where = error.filename or dest
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Problem("disk-full", "the disk is full: %s could not be written." % where,
                       "free some space and run `make setup` again; what was fetched is kept.")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return Problem("not-writable", "%s may not be written: %s." % (where, error.strerror),
                       "give yourself write access, or choose another folder with --dest.")
    return Problem("system", "%s: %s." % (where, error.strerror or error),
                   "remove the cause and run `make setup` again.")


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="libtorch.py", description="Sets up libtorch for the build.")
    parser.add_argument("--dest", default=".libtorch", help="folder to fill (default: .libtorch)")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto",
                        help="auto takes cuda where an NVIDIA driver is, else cpu")
    parser.add_argument("--torch", metavar="PYTHON", help="use this interpreter's torch 2.11, download nothing")
    parser.add_argument("--check", action="store_true", help="verify every byte, change nothing")
    chosen = parser.parse_args(arguments)
    try:
        return setup(chosen.dest, chosen.device, chosen.torch, chosen.check)
    except Problem as problem:
        sys.stderr.write(problem.render() + "\n")
    except OSError as error:
        sys.stderr.write(from_os_error(error, chosen.dest).render() + "\n")
    except KeyboardInterrupt:
        say("stopped; run it again to go on from here")
        return 130
    return 1


if __name__ == "__main__":
    sys.exit(main())
