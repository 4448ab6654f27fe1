"""The few files that make an unpacked or installed torch linkable.

`glue` writes what the linker asks for and no wheel holds; `installed` fills the folder
with links to a torch that somebody installed.
"""
import glob
import json
import os
import subprocess

import parts
import wheels
from problem import Problem

PROBE = r"""
import importlib.util, json, os, re, sys
spec = importlib.util.find_spec("torch")
found = None
if spec and spec.submodule_search_locations:
    root = list(spec.submodule_search_locations)[0]
    with open(os.path.join(root, "version.py"), encoding="utf-8") as file:
        version = re.search(r"__version__ = ['\"]([^'\"]+)", file.read())
    sites = [os.path.dirname(root)] + [p for p in sys.path if p.endswith("-packages")]
    found = {"root": root, "version": version.group(1) if version else "unknown", "sites": sites}
print(json.dumps(found))
"""


def probe(python):
    """Where an interpreter's torch lies and which version it is, without importing it."""
    try:
        done = subprocess.run([python, "-c", PROBE], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, timeout=60)
        found = json.loads(done.stdout) if done.returncode == 0 else None
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise Problem("no-torch", "%s cannot be run as a Python interpreter: %s." % (python, error),
                      "pass the path of a Python 3 interpreter, for example TORCH=~/env/bin/python.")
    if found is None:
        raise Problem("no-torch", "%s has no torch." % python,
                      "install it there (`pip install torch==%s`), or leave TORCH away." % wheels.TORCH_VERSION)
    if not found["version"].startswith("2.11."):
        raise Problem("wrong-torch", "%s has torch %s; this build needs 2.11." % (python, found["version"]),
                      "install torch==%s there, or leave TORCH away." % wheels.TORCH_VERSION)
    if not glob.glob(os.path.join(found["root"], "lib", "libtorch_cpu.*")):
        raise Problem("wrong-torch", "the torch in %s holds no shared libraries." % found["root"],
                      "use a torch that was installed from a wheel, or leave TORCH away.")
    return found


def replace_link(source, target):
    temporary = target + ".part"
    parts.remove(temporary)
    os.symlink(source, temporary)
    os.replace(temporary, target)


def link_all(folder, target, part=None):
    """Links every entry of a folder into another one."""
    os.makedirs(target, exist_ok=True)
    for path in sorted(glob.glob(os.path.join(folder, "*"))):
        place = os.path.join(target, os.path.basename(path))
        if os.path.lexists(place) and not os.path.islink(place):
            continue
        replace_link(path, place)
        if part is not None and os.path.isfile(path):
            part["files"]["lib/" + os.path.basename(path)] = parts.entry(path, None)


def installed(found, dest):
    """Links an installed torch and the CUDA libraries beside it; returns the part."""
    part = {"files": {}, "folders": {}}
    for name in ("lib", "include", "cuda"):
        parts.remove(os.path.join(dest, name))
    lib = os.path.join(dest, "lib")
    for site in dict.fromkeys(found["sites"]):
        for folder in sorted(glob.glob(os.path.join(site, "nvidia", "*", "lib"))):
            link_all(folder, lib, part)
        for folder in sorted(glob.glob(os.path.join(site, "nvidia", "*", "include"))):
            link_all(folder, os.path.join(dest, "cuda", "include"))
    link_all(os.path.join(found["root"], "lib"), lib, part)
    replace_link(os.path.join(found["root"], "include"), os.path.join(dest, "include"))
    version = os.path.join(dest, "include", "torch", "csrc", "api", "include", "torch", "version.h")
    if os.path.exists(version):
        part["files"][os.path.relpath(version, dest)] = parts.entry(version, None)
    return part


def write(path, text):
    temporary = path + ".part"
    with open(temporary, "w", encoding="ascii") as file:
        file.write(text)
    os.replace(temporary, path)


def glue(dest, version):
    """Writes the files that only the linker and torch-sys read; returns the part.

    The real libtorch.so of a CUDA wheel needs the CUDA libraries, so the CPU slice has a
    linker script in its place. torch-sys links libgomp by its bare name, and compares
    build-version with exactly the version it was written for; other 2.11 releases have
    the same interface, so the file is left away for them.
    """
    lib = os.path.join(dest, "lib")
    made = []
    has = lambda name: os.path.exists(os.path.join(lib, name))
    if not has("libtorch_cuda.so") and has("libtorch_cpu.so") and not os.path.islink(os.path.join(lib, "libtorch.so")):
        write(os.path.join(lib, "libtorch.so"), "INPUT(libtorch_cpu.so)\n")
        made.append("lib/libtorch.so")
    if has("libgomp.so.1"):
        replace_link("libgomp.so.1", os.path.join(lib, "libgomp.so"))
        made.append("lib/libgomp.so")
    if version.split("+")[0] == wheels.TORCH_VERSION:
        write(os.path.join(dest, "build-version"), version + "\n")
        made.append("build-version")
    else:
        parts.remove(os.path.join(dest, "build-version"))
    return {"files": {name: parts.entry(os.path.join(dest, name), None) for name in made}, "folders": {}}
