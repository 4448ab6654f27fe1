"""The set-up with a pip that is a small script and wheels of a few bytes: no network."""
import base64
import collections
import contextlib
import hashlib
import io
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest
import zipfile
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import fetch
import libtorch
import unpack
import wheels
from problem import Problem

FAKE_PIP = r"""
import os, shutil, sys
words = sys.argv[1:]
dest = words[words.index("--dest") + 1]
with open(words[words.index("--requirement") + 1]) as file:
    name = file.read().split("==")[0]
shelf = os.environ["FAKE_PIP_SHELF"]
with open(os.path.join(shelf, "calls"), "a") as file:
    file.write(name + "\n")
mode_path = os.path.join(shelf, "mode-" + name)
modes = open(mode_path).read().split("|") if os.path.exists(mode_path) else []
mode = modes.pop(0) if modes else "ok"
if modes or mode != "ok":
    with open(mode_path, "w") as file:
        file.write("|".join(modes or [mode]))
file = next(f for f in os.listdir(shelf) if f.startswith(name.replace("-", "_") + "-"))
if mode == "ok":
    shutil.copy(os.path.join(shelf, file), dest)
elif mode == "altered":
    with open(os.path.join(dest, file), "wb") as out:
        out.write(b"something else")
else:
    with open(os.path.join(dest, file), "wb") as out:
        out.write(b"half")
    sys.exit(mode)
"""


def without_site(command):
    """The same pip call with a Python that starts faster."""
    def faster(*arguments):
        words = command(*arguments)
        return words[:1] + ["-S"] + words[1:]
    return faster


def make_wheel(folder, name, version, members, tag="py3-none-any", lie=None):
    """Writes a wheel with a RECORD; returns its file name."""
    file = "%s-%s-%s.whl" % (name.replace("-", "_"), version, tag)
    lines = []
    with zipfile.ZipFile(os.path.join(folder, file), "w") as archive:
        for path, data in members.items():
            archive.writestr(path, data)
            kept = lie if path == lie else data
            digest = base64.urlsafe_b64encode(hashlib.sha256(kept.encode()).digest()).rstrip(b"=").decode()
            lines.append("%s,sha256=%s,%d" % (path, digest, len(data)))
        archive.writestr("%s-%s.dist-info/RECORD" % (name, version), "\n".join(lines) + "\n")
    return file


def describe(folder, file, name, version, **more):
    path = os.path.join(folder, file)
    fields = {"keep": (), "drop": (), "headers": None, "folders": {}}
    fields.update(more)
    return wheels.Wheel(name, version, "any", file, fetch.digest(path), os.path.getsize(path), 100, **fields)


class Workbench(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = holder.name
        self.dest = os.path.join(self.root, "libtorch")
        self.shelf = os.path.join(self.root, "shelf")
        for folder in ("shelf", "python/pip"):
            os.makedirs(os.path.join(self.root, folder))
        self.write("python/pip/__init__.py", "")
        self.write("python/pip/__main__.py", FAKE_PIP)
        cupti = make_wheel(self.shelf, "nvidia-cuda-cupti", "13.0", {
            "nvidia/cu13/lib/libcupti.so.13": "cupti", "nvidia/cu13/lib/libnvperf.so": "unused",
            "nvidia/cu13/include/cupti.h": "header"})
        torch = make_wheel(self.shelf, "torch", "2.11.0", {
            "torch/lib/libtorch_cpu.so": "cpu", "torch/lib/libc10.so": "c10", "torch/lib/libgomp.so.1": "gomp",
            "torch/lib/libtorch.so": "real", "torch/lib/libtorch_cuda.so": "cuda",
            "torch/lib/libtorch_python.so": "python", "torch/include/c10/a.h": "a", "torch/include/torch/b.h": "b"})
        self.wheels = {
            "cpu": [describe(self.shelf, cupti, "nvidia-cuda-cupti", "13.0", keep=("*/libcupti.so.13",)),
                    describe(self.shelf, torch, "torch", "2.11.0", folders={"torch/include/": "include"},
                             keep=("torch/lib/libtorch_cpu.so", "torch/lib/libc10.so", "torch/lib/libgomp.so.1"))],
            "cuda": [describe(self.shelf, cupti, "nvidia-cuda-cupti", "13.0", keep=("nvidia/*/lib/*.so*",),
                              headers="cuda/include"),
                     describe(self.shelf, torch, "torch", "2.11.0", folders={"torch/include/": "include"},
                              keep=("torch/lib/*.so*",), drop=("*/libtorch_python.so",))],
        }
        path = os.pathsep.join(filter(None, [os.path.join(self.root, "python"), os.environ.get("PYTHONPATH")]))
        self.patch(mock.patch.dict(os.environ, {"PYTHONPATH": path, "FAKE_PIP_SHELF": self.shelf}))
        self.patch(mock.patch.object(wheels, "recipe", lambda platform, device: self.wheels[device]))
        self.patch(mock.patch.object(libtorch, "this_platform", lambda: "linux-x86_64"))
        self.patch(mock.patch.object(libtorch, "require_glibc", lambda: None))
        self.patch(mock.patch.object(fetch, "require_pip", lambda: None))
        self.patch(mock.patch.object(fetch, "command", without_site(fetch.command)))

    def patch(self, patcher):
        patcher.start()
        self.addCleanup(patcher.stop)

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def read(self, name):
        with open(os.path.join(self.dest, name), encoding="utf-8") as file:
            return file.read()

    def calls(self):
        """Names that pip was asked for since the last question."""
        path = os.path.join(self.shelf, "calls")
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as file:
            names = file.read().split()
        os.remove(path)
        return names

    def run_setup(self, *arguments):
        """Exit code and stderr of one run."""
        words = ["--dest", self.dest] + (list(arguments) or ["--device", "cpu"])
        with contextlib.redirect_stderr(io.StringIO()) as said:
            code = libtorch.main(words)
        self.assertNotIn("Traceback", said.getvalue())
        return code, said.getvalue()

    def mode(self, name, text):
        self.write("shelf/mode-" + name, text)

    def assert_ready(self):
        self.assertEqual(self.run_setup("--device", "cpu", "--check")[0], 0)


class Fresh(Workbench):
    def test_fills_the_folder_and_then_does_nothing(self):
        self.assertEqual(self.run_setup()[0], 0)
        self.assertEqual(self.calls(), ["nvidia-cuda-cupti", "torch"])
        lib = sorted(os.listdir(os.path.join(self.dest, "lib")))
        self.assertEqual(lib, ["libc10.so", "libcupti.so.13", "libgomp.so", "libgomp.so.1", "libtorch.so",
                               "libtorch_cpu.so"])
        self.assertEqual(self.read("lib/libtorch.so"), "INPUT(libtorch_cpu.so)\n")
        self.assertEqual(self.read("lib/libgomp.so"), "gomp")
        self.assertEqual(self.read("include/torch/b.h"), "b")
        self.assertEqual(self.read("build-version"), "2.11.0\n")
        self.assertEqual(sorted(os.listdir(self.dest)), ["build-version", "include", "lib", "lock", "stamp.json"])
        self.assertEqual(self.run_setup(), (0, ""))
        self.assertEqual(self.calls(), [])

    def test_cuda_takes_everything_and_keeps_the_real_library(self):
        self.assertEqual(self.run_setup("--device", "cuda")[0], 0)
        self.assertEqual(self.read("lib/libtorch.so"), "real")
        self.assertEqual(self.read("lib/libnvperf.so"), "unused")
        self.assertEqual(self.read("cuda/include/cupti.h"), "header")
        self.assertFalse(os.path.exists(os.path.join(self.dest, "lib/libtorch_python.so")))

    def test_another_device_starts_over(self):
        self.run_setup("--device", "cuda")
        self.calls()
        self.assertEqual(self.run_setup()[0], 0)
        self.assertEqual(self.calls(), ["nvidia-cuda-cupti", "torch"])
        self.assertFalse(os.path.exists(os.path.join(self.dest, "lib/libtorch_cuda.so")))
        self.assertFalse(os.path.exists(os.path.join(self.dest, "cuda")))

    def test_auto_follows_the_driver(self):
        for driver, device in ((True, "cuda"), (False, "cpu")):
            with mock.patch.object(libtorch, "has_nvidia_driver", lambda: driver):
                self.assertEqual(libtorch.choose_recipe("auto", None)["device"], device)

    def test_two_at_once_fetch_once(self):
        with contextlib.redirect_stderr(io.StringIO()):
            threads = [threading.Thread(target=libtorch.setup, args=(self.dest, "cpu")) for _ in range(2)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
        self.assertEqual(self.calls(), ["nvidia-cuda-cupti", "torch"])
        self.assert_ready()


class Repair(Workbench):
    def setUp(self):
        super().setUp()
        self.run_setup()
        self.calls()

    def damage(self, name, text):
        with open(os.path.join(self.dest, name), "w", encoding="utf-8") as file:
            file.write(text)

    def test_same_size_but_other_bytes(self):
        self.damage("lib/libcupti.so.13", "CUPTI")
        code, said = self.run_setup()
        self.assertEqual((code, self.calls()), (0, ["nvidia-cuda-cupti"]))
        self.assertIn("libcupti.so.13 is damaged", said)
        self.assertEqual(self.read("lib/libcupti.so.13"), "cupti")

    def test_missing_header(self):
        os.remove(os.path.join(self.dest, "include/c10/a.h"))
        self.assertEqual((self.run_setup()[0], self.calls()), (0, ["torch"]))
        self.assertEqual(self.read("include/c10/a.h"), "a")

    def test_linker_script_needs_no_download(self):
        os.remove(os.path.join(self.dest, "lib/libtorch.so"))
        self.assertEqual((self.run_setup()[0], self.calls()), (0, []))
        self.assertEqual(self.read("lib/libtorch.so"), "INPUT(libtorch_cpu.so)\n")

    def test_a_changed_time_is_only_looked_at_once(self):
        os.utime(os.path.join(self.dest, "lib/libtorch_cpu.so"), (1, 1))
        self.assertEqual(self.run_setup(), (0, ""))
        with mock.patch("parts.digest", side_effect=AssertionError("read again")):
            self.assertEqual(self.run_setup(), (0, ""))

    def test_a_broken_stamp_means_start_over(self):
        self.damage("stamp.json", "{")
        self.assertEqual((self.run_setup()[0], self.calls()), (0, ["nvidia-cuda-cupti", "torch"]))

    def test_check_tells_and_changes_nothing(self):
        os.utime(os.path.join(self.dest, "include/c10/a.h"), (1, 1))
        self.damage("include/c10/a.h", "z")
        code, said = self.run_setup("--device", "cpu", "--check")
        self.assertEqual(code, 1)
        self.assertIn("include/ is damaged", said)
        self.assertEqual((self.read("include/c10/a.h"), self.calls()), ("z", []))


class Trouble(Workbench):
    def fails(self, code, *arguments):
        exit_code, said = self.run_setup(*arguments)
        self.assertEqual(exit_code, 1)
        self.assertIn("error[setup/%s]" % code, said)
        self.assertIn("help: ", said)
        return said

    def test_network_lost_between_wheels_goes_on_from_there(self):
        self.mode("torch", "NewConnectionError: Failed to establish a new connection")
        said = self.fails("no-network")
        self.assertIn(self.wheels["cpu"][1].sha256, said)
        self.calls()
        self.mode("torch", "ok")
        self.assertEqual((self.run_setup()[0], self.calls()), (0, ["torch"]))
        self.assert_ready()

    def test_broken_connection_is_tried_again(self):
        self.mode("torch", "IncompleteRead(5 bytes read)|Read timed out.|ok")
        self.assertEqual(self.run_setup()[0], 0)
        self.assertEqual(self.calls().count("torch"), 3)

    def test_wrong_bytes_once_and_always(self):
        self.mode("torch", "altered|ok")
        self.assertEqual(self.run_setup()[0], 0)
        self.mode("nvidia-cuda-cupti", "altered")
        os.remove(os.path.join(self.dest, "lib/libcupti.so.13"))
        self.fails("wrong-hash")
        self.assertEqual(os.listdir(os.path.join(self.dest, "download")), [])

    def test_wheels_put_there_by_hand_need_no_pip(self):
        os.makedirs(os.path.join(self.dest, "download"))
        for wheel in self.wheels["cpu"]:
            os.link(os.path.join(self.shelf, wheel.file), os.path.join(self.dest, "download", wheel.file))
        self.assertEqual((self.run_setup()[0], self.calls()), (0, []))

    def test_half_a_wheel_is_fetched_again(self):
        self.write("libtorch/download/" + self.wheels["cpu"][1].file, "half")
        self.assertEqual(self.run_setup()[0], 0)
        self.assertIn("torch", self.calls())

    def test_names_of_what_pip_says(self):
        for words, code in (("OSError: [Errno 28] No space left on device", "disk-full"),
                            ("ERROR: No matching distribution found for torch==2.11.0", "not-offered"),
                            ("SSLError: CERTIFICATE_VERIFY_FAILED", "certificate"),
                            ("Temporary failure in name resolution\nERROR: No matching distribution", "no-network"),
                            ("PermissionError: [Errno 13] Permission denied: '/x'", "not-writable"),
                            ("some new sentence", "pip-failed")):
            problem = fetch.explain(self.wheels["cpu"][1], self.dest, words)
            self.assertEqual(problem.code, "setup/" + code, words)

    def test_little_space_is_seen_before_the_download(self):
        usage = collections.namedtuple("usage", "total used free")
        with mock.patch("shutil.disk_usage", return_value=usage(10, 9, 1 << 20)):
            self.fails("disk-full")
        self.assertEqual(self.calls(), [])

    def test_full_disk_while_unpacking(self):
        with mock.patch.object(unpack, "extract", side_effect=OSError(28, "No space left on device", "x")):
            self.fails("disk-full")

    def test_destination_is_a_file(self):
        self.write("libtorch", "")
        self.fails("system")

    def test_no_pip(self):
        with mock.patch("importlib.util.find_spec", return_value=None):
            with self.assertRaises(Problem) as caught:
                ORIGINAL_REQUIRE_PIP()
        self.assertEqual(caught.exception.code, "setup/no-pip")

    def test_a_wheel_that_lies_or_leaves_its_folder(self):
        cases = (({"torch/lib/libc10.so": "x"}, "torch/lib/libc10.so"), ({"torch/include/../../x": "x"}, None))
        for members, lie in cases:
            file = make_wheel(self.shelf, "torch", "9", members, lie=lie)
            wanted = describe(self.shelf, file, "torch", "9", keep=("*.so",), folders={"torch/include/": "include"})
            with self.assertRaises(Problem):
                unpack.wheel(os.path.join(self.shelf, file), wanted, self.dest, os.path.join(self.root, "work"))
            self.assertFalse(os.path.exists(self.dest))

    def test_old_python_is_named(self):
        code = "import sys; sys.version_info = (3, 6, 0); exec(open(%r).read())" % os.path.join(HERE, "libtorch.py")
        done = subprocess.run([sys.executable, "-S", "-c", code], stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("error[setup/old-python]: Python 3.6", done.stderr)


class InstalledTorch(Workbench):
    def torch(self, version):
        self.write("python/torch/version.py", "__version__ = '%s'\n" % version)
        self.write("python/torch/__init__.py", "raise SystemExit('must not be imported')\n")
        for name in ("libtorch.so", "libtorch_cpu.so", "libtorch_cuda.so", "libc10.so"):
            self.write("python/torch/lib/" + name, name)
        self.write("python/torch/include/c10/a.h", "a")
        self.write("python/nvidia/cublas/lib/libcublas.so.13", "cublas")
        self.write("python/nvidia/cublas/include/cublas.h", "cublas")

    def test_is_linked_and_relinked_when_it_changes(self):
        self.torch("2.11.0+cu130")
        self.assertEqual(self.run_setup("--torch", sys.executable)[0], 0)
        self.assertEqual(self.read("lib/libtorch.so"), "libtorch.so")
        self.assertEqual(self.read("lib/libcublas.so.13"), "cublas")
        self.assertEqual(self.read("cuda/include/cublas.h"), "cublas")
        self.assertEqual(self.read("include/c10/a.h"), "a")
        self.assertEqual(self.read("build-version"), "2.11.0+cu130\n")
        self.assertEqual(self.run_setup("--torch", sys.executable), (0, ""))
        self.torch("2.11.1")
        self.write("python/torch/lib/libc10.so", "longer than before")
        self.assertEqual(self.run_setup("--torch", sys.executable)[0], 0)
        self.assertFalse(os.path.exists(os.path.join(self.dest, "build-version")))
        self.assertEqual(self.calls(), [])

    def test_wrong_version_and_no_interpreter(self):
        self.torch("2.10.0")
        code, said = self.run_setup("--torch", sys.executable)
        self.assertEqual(code, 1)
        self.assertIn("error[setup/wrong-torch]", said)
        code, said = self.run_setup("--torch", "/nowhere/python")
        self.assertEqual(code, 1)
        self.assertIn("error[setup/no-torch]", said)


class Table(unittest.TestCase):
    def test_platforms(self):
        for system, machine, found in (("Linux", "x86_64", "linux-x86_64"), ("Linux", "aarch64", "linux-aarch64"),
                                       ("Darwin", "arm64", "darwin-aarch64"), ("Darwin", "x86_64", None),
                                       ("Windows", "AMD64", None), ("Linux", "riscv64", None)):
            with mock.patch.multiple("platform", system=lambda: system, machine=lambda: machine):
                if found:
                    self.assertEqual(libtorch.this_platform(), found)
                else:
                    self.assertRaises(Problem, libtorch.this_platform)

    def test_no_cuda_on_a_mac(self):
        with mock.patch.object(libtorch, "this_platform", lambda: "darwin-aarch64"):
            self.assertRaises(Problem, libtorch.choose_recipe, "cuda", None)
            self.assertEqual(libtorch.choose_recipe("auto", None)["device"], "cpu")

    def test_musl_and_old_glibc_are_named(self):
        for libc in (("", ""), ("glibc", "2.27")):
            with mock.patch.multiple("platform", system=lambda: "Linux", libc_ver=lambda: libc):
                self.assertRaises(Problem, libtorch.require_glibc)

    def test_rows_are_whole(self):
        for platform in wheels.TABLE:
            for device in ("cpu", "cuda"):
                chosen = wheels.recipe(platform, device) or []
                self.assertEqual(len(chosen), len({w.file for w in chosen}))
                for wheel in chosen:
                    self.assertTrue(re.fullmatch("[0-9a-f]{64}", wheel.sha256), wheel.file)
                    self.assertIn(wheel.tag, wheel.file)
                    self.assertGreater(wheel.size, 100000)
                    self.assertGreater(wheel.unpacked, 0)

    def test_command_fixes_the_tags(self):
        wheel = wheels.recipe("linux-x86_64", "cpu")[-1]
        words = " ".join(fetch.command("d", wheel, "r", use_cache=False))
        self.assertIn("--no-deps --only-binary=:all: --python-version 3.11 --implementation cp --abi cp311 "
                      "--platform manylinux_2_28_x86_64", words)
        self.assertIn("--no-cache-dir", words)


ORIGINAL_REQUIRE_PIP = fetch.require_pip

if __name__ == "__main__":
    unittest.main()
