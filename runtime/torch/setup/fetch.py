"""Fetches one wheel with pip and believes nothing but its size and SHA-256.

pip runs with fixed wheel tags, so the Python that runs it does not matter, and with the
user's own settings, so mirrors, proxies and caches work as usual.
"""
import importlib.util
import os
import re
import shutil
import subprocess
import sys

from parts import digest
from problem import Problem

ATTEMPTS = 3

DISK = re.compile(r"no space left|errno 28|disk quota exceeded", re.I)
REFUSED = re.compile(r"permission denied|read-only file system", re.I)
CERTIFICATE = re.compile(r"certificate|sslerror", re.I)
BROKEN = re.compile(r"incompleteread|reset by peer|read timed out|connection aborted|remotedisconnected"
                    r"|incomplete-download", re.I)
NETWORK = re.compile(r"failed to establish|name resolution|name or service not known|nodename nor servname"
                     r"|timed out|timeout|unreachable|connection refused|proxyerror|proxy error|max retries"
                     r"|newconnectionerror"
                     r"|could not fetch url|getaddrinfo", re.I)
WRONG_HASH = re.compile(r"do not match the hashes|hash mismatch", re.I)
NOT_OFFERED = re.compile(r"no matching distribution|could not find a version", re.I)


def require_pip():
    """Stops with the remedy where this Python has no pip."""
    if importlib.util.find_spec("pip") is None:
        raise Problem("no-pip", "Python at %s has no pip." % sys.executable,
                      "install it (`python3 -m ensurepip`, or the package python3-pip), "
                      "or pass TORCH=/path/to/python of an environment that has torch 2.11.")


def is_good(folder, wheel):
    """True if the folder already holds this wheel, complete and unchanged."""
    path = os.path.join(folder, wheel.file)
    try:
        return os.path.getsize(path) == wheel.size and digest(path) == wheel.sha256
    except OSError:
        return False


def command(folder, wheel, requirement, use_cache):
    """The pip call for one wheel."""
    words = [sys.executable, "-m", "pip", "download", "--no-input", "--disable-pip-version-check",
             "--no-deps", "--only-binary=:all:", "--python-version", "3.11", "--implementation", "cp",
             "--abi", "cp311", "--platform", wheel.tag, "--dest", folder, "--requirement", requirement]
    if not use_cache:
        words.append("--no-cache-dir")
    if not sys.stderr.isatty():
        words.append("--quiet")
    return words


def run_pip(folder, wheel, use_cache):
    """Runs pip once; returns its exit code and what it wrote to stderr."""
    temporary = os.path.join(folder, "tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    os.makedirs(temporary)
    requirement = os.path.join(temporary, "requirement.txt")
    with open(requirement, "w", encoding="utf-8") as file:
        file.write("%s==%s --hash=sha256:%s\n" % (wheel.name, wheel.version, wheel.sha256))
    environment = dict(os.environ, TMPDIR=temporary, PIP_REQUIRE_VIRTUALENV="0")
    environment.setdefault("PIP_RETRIES", "3")
    environment.setdefault("PIP_RESUME_RETRIES", "5")
    try:
        done = subprocess.run(command(folder, wheel, requirement, use_cache), env=environment, errors="replace",
                              stdin=subprocess.DEVNULL, stdout=sys.__stderr__, stderr=subprocess.PIPE, text=True)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return done.returncode, done.stderr


def explain(wheel, folder, output):
    """The Problem behind pip's words."""
    by_hand = "or put %s (sha256 %s) into %s yourself." % (wheel.file, wheel.sha256, folder)
    if DISK.search(output):
        return Problem("disk-full", "the disk became full while fetching %s." % wheel.file,
                       "free some space and run `make setup` again; wheels that are complete are kept.")
    if WRONG_HASH.search(output):
        return wrong_hash(wheel)
    if CERTIFICATE.search(output):
        return Problem("certificate", "the package registry's certificate was not accepted.",
                       "set the correct clock and certificates (pip's `cert` setting), " + by_hand)
    if NETWORK.search(output) or BROKEN.search(output):
        return Problem("no-network", "the package registry cannot be reached, or the connection broke.",
                       "check the network, the proxy and pip's index settings and run `make setup` again; " + by_hand)
    if REFUSED.search(output):
        return Problem("not-writable", "pip may not write into %s." % folder,
                       "give yourself write access, or choose another folder with --dest.")
    if NOT_OFFERED.search(output):
        return Problem("not-offered", "the package registry that pip uses does not offer %s." % wheel.file,
                       "point pip at a complete index, " + by_hand)
    last = " / ".join(line.strip() for line in output.strip().splitlines()[-3:]) or "it said nothing"
    return Problem("pip-failed", "pip could not fetch %s: %s." % (wheel.file, last.rstrip(".")),
                   "run `python3 -m pip download %s==%s` to see more, %s" % (wheel.name, wheel.version, by_hand))


def wrong_hash(wheel):
    return Problem("wrong-hash", "what the registry sent as %s is not the expected file." % wheel.file,
                   "try `python3 -m pip cache purge` and run `make setup` again; if it stays, "
                   "the mirror or proxy changes files: use another one.")


def wheel(folder, wanted, use_cache=True, say=lambda text: None):
    """Path of a verified copy of the wheel in `folder`, fetched if need be."""
    path = os.path.join(folder, wanted.file)
    if is_good(folder, wanted):
        return path
    os.makedirs(folder, exist_ok=True)
    problem = None
    for attempt in range(ATTEMPTS):
        if os.path.lexists(path):
            os.remove(path)
        if attempt:
            say("trying again: " + problem.text)
        code, output = run_pip(folder, wanted, use_cache and attempt == 0)
        if code == 0 and is_good(folder, wanted):
            return path
        problem = wrong_hash(wanted) if code == 0 else explain(wanted, folder, output)
        broke = BROKEN.search(output) and problem.code == "setup/no-network"
        if not (broke or problem.code == "setup/wrong-hash"):
            break
    if os.path.lexists(path):
        os.remove(path)
    raise problem
