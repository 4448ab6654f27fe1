"""`make bench`: measure, both sides in one run and interleaved, and write spec/benchmarks.md.

Peers are set up in `.bench/` (a Python virtual environment); the product never depends on them.
Each suite is a module with `run(bench) -> list[Row]`; `--only NAME` runs one and leaves the others' figures.
"""

import argparse
import datetime
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

import eviction
import language
import lsp
import plan
import rerun
import rows
import training

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUITES = {
    "language": language,
    "lsp": lsp,
    "plan": plan,
    "rows": rows,
    "rerun": rerun,
    "eviction": eviction,
    "training": training,
}


class Bench:
    """What suites share: paths, and running a command with its wall time and peak memory."""

    def __init__(self, folder):
        self.root = ROOT
        self.folder = folder
        self.target = ROOT / "target" / "release"
        self.pipe = self.target / "pipe"
        self.missing = []
        self.said = []

    def command(self, argv, cwd=None, expect=0):
        """Run to the end: (seconds, peak resident bytes, stdout)."""
        start = time.perf_counter()
        child = subprocess.Popen(
            [str(word) for word in argv], cwd=cwd or self.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        out, err = child.stdout.read(), child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - start
        if expect is not None and child.returncode != expect:
            raise RuntimeError(f"{argv} ended with {child.returncode}:\n{err.decode(errors='replace')}")
        return seconds, usage.ru_maxrss * 1024, out.decode()

    def repeat(self, times, argv, cwd=None, expect=0):
        """Run `times` times: (median seconds, least, largest, peak bytes)."""
        runs = [self.command(argv, cwd, expect)[:2] for _ in range(times)]
        seconds = [run[0] for run in runs]
        return statistics.median(seconds), min(seconds), max(seconds), max(run[1] for run in runs)

    def say(self, sentence):
        """Something that has to be known to read the figures."""
        self.said.append(sentence)

    def not_shown(self, sentence):
        """Something that this run could not show, for the report."""
        self.missing.append(sentence)


def machine():
    """The machine, in words."""
    model = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return f"{model}, {os.cpu_count()} threads, {platform.system()} {platform.machine()}"


def circumstances():
    """When and where a suite ran, in words."""
    rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.split()
    return f"{datetime.date.today().isoformat()}, {machine()}, rustc {rustc[1]}, profile `release`."


def section(name, suite, bench):
    """One section of spec/benchmarks.md. A suite may have columns of its own, and may have timed nothing."""
    rows = suite.run(bench)
    header = getattr(suite, "HEADER", ("what", "measured", "spread", "goal"))
    timed = getattr(suite, "TIMED", True)
    lines = [f"## {name}", "", circumstances() if timed else "Replayed and counted: the same on every machine.", ""]
    lines += [f"| {' | '.join(header)} |", "|---" * len(header) + "|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    lines += [""] + [f"* {sentence}" for sentence in bench.said] if bench.said else []
    lines += ["", f"Again: `make bench ONLY={name}`. Not shown:", ""]
    lines += [f"* {sentence}" for sentence in bench.missing] or ["* Nothing was left out."]
    return "\n".join(lines) + "\n"


def known_sections(text):
    """The sections of an earlier report by their names."""
    parts = text.split("\n## ")[1:]
    return {part.split("\n", 1)[0]: f"## {part.rstrip()}\n" for part in parts}


HEAD = """# Benchmarks

Written by `make bench`; the figures of a section are of one run on one machine and no more than that.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=sorted(SUITES), help="run one suite and write its section alone")
    only = parser.parse_args().only
    folder = ROOT / ".bench"
    folder.mkdir(exist_ok=True)
    path = ROOT / "spec" / "benchmarks.md"
    sections = known_sections(path.read_text(encoding="utf-8"))
    for name, suite in SUITES.items():
        if only in (None, name):
            print(f"bench: {name}", file=sys.stderr, flush=True)
            bench = Bench(folder)
            sections[name] = section(name, suite, bench)
            print(sections[name], flush=True)
    texts = [sections[name] for name in SUITES if name in sections]
    path.write_text("\n".join([HEAD, *texts]), encoding="utf-8")
    print("wrote spec/benchmarks.md", file=sys.stderr)


if __name__ == "__main__":
    main()
