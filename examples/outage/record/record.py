"""Records an outage data set: `record.py --minutes 29 --seed 1 --out ../data`.

Starts the price service, the shop and the load, plays the schedule, samples every second, and writes metrics.csv,
service.log and labels.csv. Everything talks over 127.0.0.1, ends by itself, and leaves only those three files.
"""
from __future__ import annotations

import argparse
import glob
import http.client
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from urllib.parse import quote

import schedule
from logfile import Log, stamp
from sample import COLUMNS, Sampler, ask
from storage import create

HERE = os.path.dirname(os.path.abspath(__file__))
NOTES = {
    "cpu_hog": {"strong": "a pattern that backtracks keeps the interpreter busy",
                "mild": "a job that never ends takes a core"},
    "memory_leak": {"strong": "sessions are kept, about 2 MB/s", "mild": "sessions are kept, about 0.8 MB/s"},
    "disk_stall": {"strong": "a commit waits 250-900 ms before its sync",
                   "mild": "a commit waits 80-240 ms before its sync"},
    "error_burst": {"strong": "35 % of item reads ask for a missing column",
                    "mild": "12 % of item reads ask for a missing column"},
    "slow_dependency": {"strong": "prices take 350-1300 ms, the limit is 1000 ms",
                        "mild": "prices take 120-450 ms"},
    "crash_loop": {"strong": "a damaged journal ends the service after each start"},
    "backup": {"strong": "online copy of the database"},
    "vacuum": {"strong": "old orders dropped, pages given back, file rebuilt"},
    "log_rotation": {"strong": "logs moved aside and compressed"},
    "load_ramp": {"strong": "a peer drains, its requests come here, rate x 2.6", "mild": "a peer drains, rate x 1.9"},
}
PEAK = {"strong": 2.6, "mild": 1.9}
BACK_OFF = (1.0, 2.0, 4.0, 4.0)


def prefer(pid: int) -> None:
    """Asks for a raised priority, so that busy neighbours disturb the recording less; goes on without."""
    try:
        os.setpriority(os.PRIO_PROCESS, pid, -15)
    except OSError:
        pass


class Supervisor:
    """Keeps the service running: a new start after each end, with growing pauses."""

    def __init__(self, folder, seconds, rates_port):
        self.folder, self.rates_port = folder, rates_port
        self.end = time.monotonic() + seconds
        self.child, self.started, self.fails, self.stopping = None, 0.0, 0, False
        self.start()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def start(self):
        left = max(1.0, self.end - time.monotonic())
        self.started = time.monotonic()
        self.child = subprocess.Popen([sys.executable, os.path.join(HERE, "service.py"), self.folder, "%.1f" % left,
                                       str(self.rates_port)])

    def watch(self):
        while not self.stopping:
            code = self.child.poll()
            if code is None:
                time.sleep(0.05)
                continue
            if self.stopping or time.monotonic() > self.end - 1:
                return
            self.fails = self.fails + 1 if time.monotonic() - self.started < 12 else 1
            pause = BACK_OFF[min(self.fails, len(BACK_OFF)) - 1]
            self.note("ERROR", "service ended with status %d after %.1f s, restart %d in %.0f s" % (
                code, time.monotonic() - self.started, self.fails, pause))
            time.sleep(pause)
            if not self.stopping:
                self.start()

    def note(self, level, text):
        log = Log(os.path.join(self.folder, "service.log"), time.time)
        log.write(level, "supervisor", text)
        log.close()

    def pid(self):
        return self.child.pid if self.child.poll() is None else None

    def control_port(self):
        try:
            with open(os.path.join(self.folder, "port"), encoding="utf-8") as file:
                return int(file.read().split()[1])
        except (OSError, ValueError, IndexError):
            return None

    def stop(self):
        self.stopping = True
        end_process(self.child)
        self.thread.join(6)
        end_process(self.child)


def end_process(child):
    if child is not None and child.poll() is None:
        child.terminate()
        try:
            child.wait(3)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait(3)


class Recording:
    """One recording in a folder of its own that is removed at the end."""

    def __init__(self, seconds, seed, rate, windows=None):
        self.seconds, self.seed, self.rate = seconds, seed, rate
        self.windows = schedule.plan(seconds, seed) if windows is None else windows
        self.labels, self.labels_lock = [], threading.Lock()
        self.folder = tempfile.mkdtemp(prefix="outage-record-")
        self.rates = self.load = self.supervisor = None
        self.rates_port, self.start = 0, 0.0

    def launch(self):
        prefer(0)
        create(os.path.join(self.folder, "shop.db"), 60000 if self.seconds > 60 else 4000)
        bound = self.seconds + 20
        self.rates = subprocess.Popen([sys.executable, os.path.join(HERE, "rates.py"), "%.1f" % bound],
                                      stdout=subprocess.PIPE)
        self.rates_port = int(self.rates.stdout.readline())
        self.supervisor = Supervisor(self.folder, bound, self.rates_port)
        limit = time.monotonic() + 10
        while self.supervisor.control_port() is None and time.monotonic() < limit:
            time.sleep(0.02)
        ramps = ",".join("%.2f:%.2f:%.2f" % (w.start, w.length, PEAK[w.variant])
                         for w in self.windows if w.kind == "load_ramp")
        self.start = time.monotonic()
        self.load = subprocess.Popen([sys.executable, os.path.join(HERE, "load.py"), os.path.join(self.folder, "port"),
                                      "%.1f" % self.seconds, str(self.seed), "%.2f" % self.rate, ramps])

    def control(self, path):
        return ask(self.supervisor.control_port(), path, 3.0)

    def note(self, component, text):
        self.control("/note?component=%s&text=%s" % (component, quote(text)))

    def play(self, window):
        """One event from begin to end, and its label with the times that were really kept."""
        begin = time.time()
        if window.anomalous:
            self.break_something(window)
        elif window.kind == "load_ramp":
            self.note("balancer", "peer shop-2 draining for maintenance, taking over its traffic")
            time.sleep(window.length)
            self.note("balancer", "peer shop-2 is back, traffic share as before")
        else:
            self.routine(window)
        with self.labels_lock:
            self.labels.append((begin, time.time(), window))

    def routine(self, window):
        """A job of the service; its end is the log line that says so."""
        self.control("/job?kind=%s&seconds=%.2f" % (window.kind, window.length))
        mark = {"backup": " backup backup finished", "vacuum": " vacuum vacuum finished",
                "log_rotation": " logrotate rotated log"}[window.kind]
        limit = time.monotonic() + window.length * 1.6 + 5
        began = stamp(time.time())
        while time.monotonic() < limit:
            if any(mark in line and line[:24] >= began for line in self.current_log()):
                return
            time.sleep(0.1)

    def current_log(self):
        """The lines since the last rotation; none in the moment of a rotation, when there is no file."""
        try:
            with open(os.path.join(self.folder, "service.log"), encoding="utf-8") as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def break_something(self, window):
        if window.kind == "slow_dependency":
            low, high = (350, 1300) if window.variant == "strong" else (120, 450)
            connection = http.client.HTTPConnection("127.0.0.1", self.rates_port, timeout=3)
            connection.request("GET", "/slow?low=%d&high=%d&seconds=%.2f" % (low, high, window.length))
            connection.getresponse().read()
            connection.close()
            time.sleep(window.length)
        elif window.kind == "crash_loop":
            journal = os.path.join(self.folder, "journal.jsonl")
            with open(journal, "w", encoding="utf-8") as file:
                file.write('{"order": 48213, "item": 17, "cou')
            os.kill(self.supervisor.child.pid, signal.SIGKILL)
            time.sleep(window.length)
            os.remove(journal)
            limit = time.monotonic() + 12
            while time.monotonic() < limit and not (
                    self.supervisor.pid() and time.monotonic() - self.supervisor.started > 2.5):
                time.sleep(0.1)
        else:
            self.control("/fault?kind=%s&seconds=%.2f&variant=%s" % (window.kind, window.length, window.variant))
            time.sleep(window.length)

    def sample(self, path):
        """Rows until the time is up, on a fixed one-second grid."""
        sampler, due = Sampler(), self.start
        pending = list(self.windows)
        with open(path, "w", encoding="utf-8") as file:
            file.write(",".join(COLUMNS) + "\n")
            while time.monotonic() - self.start < self.seconds:
                while pending and time.monotonic() - self.start >= pending[0].start:
                    threading.Thread(target=self.play, args=(pending.pop(0),), daemon=True).start()
                row = sampler.row(self.supervisor.pid(), self.supervisor.control_port())
                file.write(",".join(str(row.get(name, "")) for name in COLUMNS) + "\n")
                file.flush()
                now = time.monotonic()
                due += 1.0
                while due < now:
                    due += 1.0
                time.sleep(due - now)

    def write_labels(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("start,end,kind,anomalous,note\n")
            for begin, end, window in sorted(self.labels, key=lambda label: label[0]):
                note = NOTES[window.kind][window.variant]
                file.write('%s,%s,%s,%s,"%s"\n' % (stamp(begin), stamp(end), window.kind,
                                                  "true" if window.anomalous else "false", note))

    def write_log(self, path):
        """The rotated parts and the current log, oldest first."""
        parts = sorted(glob.glob(os.path.join(self.folder, "service.log.*")))
        with open(path, "wb") as target:
            for part in parts + [os.path.join(self.folder, "service.log")]:
                with open(part, "rb") as source:
                    shutil.copyfileobj(source, target)

    def close(self):
        end_process(self.load)
        if self.supervisor is not None:
            self.supervisor.stop()
        end_process(self.rates)
        if self.rates is not None:
            self.rates.stdout.close()

    def clean(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def record(seconds, seed, rate, out, windows=None):
    """Records and writes the three files into `out`; `windows` replaces the schedule."""
    os.makedirs(out, exist_ok=True)
    recording = Recording(seconds, seed, rate, windows)
    try:
        recording.launch()
        recording.sample(os.path.join(out, "metrics.csv"))
        limit = time.monotonic() + 8
        while len(recording.labels) < len(recording.windows) and time.monotonic() < limit:
            time.sleep(0.1)
        recording.close()
        recording.write_log(os.path.join(out, "service.log"))
        recording.write_labels(os.path.join(out, "labels.csv"))
    finally:
        recording.close()
        recording.clean()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=29.0, help="length; under ten each kind comes once")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=30.0, help="requests per second on average")
    parser.add_argument("--out", default=os.path.join(HERE, "..", "data"))
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    record(options.minutes * 60, options.seed, options.rate, options.out)


if __name__ == "__main__":
    main()
