"""The faults that live inside the service, each with a deadline after which it is gone by itself.

They act where the real thing would: a pattern that backtracks holds the interpreter, a commit waits before its sync, a
query names a column that is not there, sessions are kept and never dropped. `crash_loop` is a damaged journal that
the service trips over at every start; `slow_dependency` lives in rates.py.
"""
from __future__ import annotations

import random
import re
import subprocess
import sys
import threading
import time
from os import path

HERE = path.dirname(path.abspath(__file__))
BLOCK = 160 * 1024


class Faults:
    """What is broken right now."""

    def __init__(self, log):
        self.log = log
        self.until = {}
        self.variant = {}
        self.held = []
        self.warned = 0
        self.rng = random.Random(7)

    def begin(self, kind: str, seconds: float, variant: str) -> None:
        """Switches a fault on for a bounded time."""
        self.variant[kind] = variant
        self.until[kind] = time.monotonic() + seconds
        runner = {"cpu_hog": self._hog, "memory_leak": self._leak}.get(kind)
        if runner is not None:
            threading.Thread(target=runner, args=(seconds, variant), daemon=True).start()

    def active(self, kind: str) -> bool:
        return time.monotonic() < self.until.get(kind, 0.0)

    def before_sync(self) -> None:
        """A device that answers late: the commit waits here while it holds the write lock."""
        if self.active("disk_stall"):
            low, high = (0.25, 0.9) if self.variant["disk_stall"] == "strong" else (0.08, 0.24)
            time.sleep(self.rng.uniform(low, high))

    def price_column(self) -> str:
        """A roll-out in which part of the queries ask for a column that does not exist."""
        share = 0.35 if self.variant.get("error_burst") == "strong" else 0.12
        if self.active("error_burst") and self.rng.random() < share:
            return "discount"
        return "price"

    def _hog(self, seconds: float, variant: str) -> None:
        if variant == "strong":
            pattern, subject = re.compile(r"(a+)+$"), "a" * 16 + "b"
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                pattern.match(subject)
                time.sleep(0)
            return
        child = subprocess.Popen([sys.executable, path.join(HERE, "jobs.py"), "spin", "%.2f" % seconds])
        if seconds > 12:
            time.sleep(10)
            self.log.write("WARN", "watchdog", "job recommend pid %d still running after 10 s" % child.pid)
        child.wait()

    def _leak(self, seconds: float, variant: str) -> None:
        pause = 0.08 if variant == "strong" else 0.2
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.held.append(bytearray(b"s" * BLOCK))
            size = len(self.held) * BLOCK / 1e6
            if variant == "strong" and size > self.warned + 25:
                self.warned += 25
                self.log.write("WARN", "memory", "session store holds %d entries, %.0f MB" % (len(self.held), size))
            time.sleep(pause * self.rng.uniform(0.6, 1.4))
        entries, self.held, self.warned = len(self.held), [], 0
        level = "WARN" if variant == "strong" else "INFO"
        self.log.write(level, "memory", "session store swept, %d entries dropped" % entries)
