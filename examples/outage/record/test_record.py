"""Tests of the recorder: `python3 -m unittest` in this folder; a few seconds."""
from __future__ import annotations

import csv
import os
import re
import tempfile
import unittest
from collections import Counter
from datetime import datetime

import record
import schedule
from load import rate_at
from sample import COLUMNS
from schedule import FAULTS, LOOK_ALIKES, Window

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "data")
LINE = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (DEBUG|INFO|WARN|ERROR) [a-z]+ \S.*$")


def moment(text):
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").timestamp()


def read(folder):
    with open(os.path.join(folder, "metrics.csv"), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with open(os.path.join(folder, "labels.csv"), encoding="utf-8", newline="") as file:
        labels = list(csv.DictReader(file))
    with open(os.path.join(folder, "service.log"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    return rows, labels, lines


class Schedule(unittest.TestCase):
    def test_faults_come_only_after_training_and_calibration(self):
        seconds = 1740
        for seed in range(50):
            windows = schedule.plan(seconds, seed)
            quiet = (schedule.TRAIN_SHARE + schedule.CALIBRATION_SHARE) * seconds
            self.assertTrue(all(w.start > quiet for w in windows if w.anomalous))
            train = Counter(w.kind for w in windows if w.start + w.length <= schedule.TRAIN_SHARE * seconds)
            self.assertTrue(all(train[kind] >= 1 for kind in LOOK_ALIKES), train)

    def test_windows_do_not_overlap_and_keep_their_share(self):
        for seed in range(50):
            windows = schedule.plan(1740, seed)
            for before, after in zip(windows, windows[1:]):
                self.assertGreater(after.start, before.start + before.length + 5)
            faulty = [w for w in windows if w.anomalous]
            self.assertGreaterEqual(len(faulty), 8)
            self.assertGreaterEqual(len(windows) - len(faulty), 6)
            self.assertEqual({w.kind for w in faulty}, set(FAULTS))
            self.assertTrue(all(20 <= w.length <= 60 for w in faulty), faulty)
            share = sum(w.length for w in faulty) / (0.6 * 1740)
            self.assertTrue(0.20 < share < 0.35, share)

    def test_a_short_plan_has_each_kind_once(self):
        windows = schedule.plan(90, 1)
        self.assertEqual(sorted(w.kind for w in windows), sorted(FAULTS + LOOK_ALIKES))
        self.assertLess(windows[-1].start + windows[-1].length, 90)

    def test_a_ramp_raises_the_rate_and_ends(self):
        ramps = [(10.0, 20.0, 2.6)]
        self.assertAlmostEqual(rate_at(20, 30, ramps), 2.6 * rate_at(20, 30, []))
        self.assertEqual(rate_at(31, 30, ramps), rate_at(31, 30, []))


class Micro(unittest.TestCase):
    def test_five_seconds_give_metrics_log_and_labels(self):
        windows = [Window("backup", 0.5, 0.6, "strong"), Window("cpu_hog", 1.6, 0.8, "strong"),
                   Window("error_burst", 2.6, 1.2, "strong")]
        with tempfile.TemporaryDirectory() as out:
            record.record(5, 1, 40, out, windows)
            rows, labels, lines = read(out)
        self.assertEqual(tuple(rows[0]), COLUMNS)
        self.assertGreaterEqual(len(rows), 2)
        self.assertEqual([label["kind"] for label in labels], ["backup", "cpu_hog", "error_burst"])
        self.assertEqual([label["anomalous"] for label in labels], ["false", "true", "true"])
        self.assertTrue(all(LINE.match(line) for line in lines), lines)
        self.assertTrue(any("backup started" in line for line in lines))
        self.assertTrue(any("backup finished" in line for line in lines))


class Committed(unittest.TestCase):
    """The recording that is kept in ../data."""

    @classmethod
    def setUpClass(cls):
        cls.rows, cls.labels, cls.lines = read(DATA)

    def test_it_is_long_enough_and_small_enough(self):
        times = [moment(row["time"]) for row in self.rows]
        self.assertEqual(times, sorted(set(times)))
        self.assertGreaterEqual(times[-1] - times[0], 20 * 60)
        size = sum(os.path.getsize(os.path.join(DATA, name)) for name in ("metrics.csv", "labels.csv", "service.log"))
        self.assertLess(size, 1_000_000)

    def test_cells_are_numbers_or_empty_and_lines_have_the_form(self):
        for row in self.rows:
            self.assertEqual(tuple(row), COLUMNS)
            for name in COLUMNS[1:]:
                self.assertTrue(row[name] == "" or float(row[name]) >= 0, (row["time"], name, row[name]))
        self.assertEqual([line for line in self.lines if not LINE.match(line)], [])

    def test_it_holds_the_promised_windows(self):
        times = [moment(row["time"]) for row in self.rows]
        quiet = times[0] + 0.4 * (times[-1] - times[0])
        kinds = Counter(label["kind"] for label in self.labels)
        self.assertEqual(set(kinds), set(FAULTS + LOOK_ALIKES))
        for label in self.labels:
            start, end = moment(label["start"]), moment(label["end"])
            self.assertLess(start, end)
            self.assertEqual(label["anomalous"], "true" if label["kind"] in FAULTS else "false")
            if label["kind"] in FAULTS:
                self.assertGreater(start, quiet)
                self.assertTrue(20 <= end - start <= 60, label)

    def test_the_log_tells_the_look_alikes_apart(self):
        marks = {"backup": ("backup started", "backup finished"), "vacuum": ("vacuum started", "vacuum finished"),
                 "log_rotation": ("rotating log", "rotated log"), "load_ramp": ("draining", "is back")}
        stamped = [(moment(line[:24]), line) for line in self.lines]
        for label in self.labels:
            start, end = moment(label["start"]) - 1, moment(label["end"]) + 1
            inside = [line for at, line in stamped if start <= at <= end]
            for mark in marks.get(label["kind"], ()):
                self.assertTrue(any(mark in line for line in inside), (label, mark))


if __name__ == "__main__":
    unittest.main()
