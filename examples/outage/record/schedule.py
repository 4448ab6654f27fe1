"""When each fault and each harmless look-alike happens.

The first quarter (training) and the next 15 per cent (calibration) hold look-alikes only; all faults fall into the
rest, with normal stretches between them. A recording of another length keeps the proportions.
"""
from __future__ import annotations

import random
from typing import List, NamedTuple

FAULTS = ("cpu_hog", "memory_leak", "disk_stall", "error_burst", "slow_dependency", "crash_loop")
LOOK_ALIKES = ("backup", "vacuum", "log_rotation", "load_ramp")
TRAIN_SHARE, CALIBRATION_SHARE = 0.25, 0.15

# kind, start and length in seconds of a 29-minute recording, variant ("strong" or "mild")
FULL_SECONDS = 1740.0
FULL = (
    ("load_ramp", 60, 45, "strong"),
    ("log_rotation", 140, 14, "strong"),
    ("backup", 190, 32, "strong"),
    ("vacuum", 270, 20, "strong"),
    ("log_rotation", 335, 14, "strong"),
    ("load_ramp", 372, 40, "mild"),
    ("backup", 470, 30, "strong"),
    ("vacuum", 545, 20, "strong"),
    ("log_rotation", 600, 14, "strong"),
    ("load_ramp", 635, 45, "strong"),
    ("cpu_hog", 740, 30, "strong"),
    ("backup", 800, 30, "strong"),
    ("slow_dependency", 862, 32, "strong"),
    ("log_rotation", 918, 14, "strong"),
    ("error_burst", 955, 26, "strong"),
    ("memory_leak", 1015, 46, "strong"),
    ("load_ramp", 1095, 45, "strong"),
    ("disk_stall", 1165, 28, "strong"),
    ("vacuum", 1225, 20, "strong"),
    ("crash_loop", 1270, 36, "strong"),
    ("cpu_hog", 1345, 26, "mild"),
    ("backup", 1395, 30, "strong"),
    ("slow_dependency", 1450, 24, "mild"),
    ("error_burst", 1500, 23, "mild"),
    ("log_rotation", 1545, 14, "strong"),
    ("disk_stall", 1580, 26, "mild"),
    ("memory_leak", 1635, 42, "mild"),
    ("vacuum", 1702, 18, "strong"),
)


class Window(NamedTuple):
    """One planned event, in seconds from the start of the recording."""

    kind: str
    start: float
    length: float
    variant: str

    @property
    def anomalous(self) -> bool:
        return self.kind in FAULTS


def plan(seconds: float, seed: int) -> List[Window]:
    """The windows of a recording of this length; under ten minutes each kind comes once."""
    if seconds < 600:
        return short_plan(seconds)
    rng = random.Random(seed)
    scale = seconds / FULL_SECONDS
    windows = []
    for kind, start, length, variant in FULL:
        begin = (start + rng.uniform(-4, 4)) * scale
        windows.append(Window(kind, round(begin, 2), round(length * rng.uniform(0.96, 1.05) * scale, 2), variant))
    return windows


def short_plan(seconds: float) -> List[Window]:
    """Each kind once: a dry run to look at, not data to learn from."""
    kinds = LOOK_ALIKES + FAULTS
    slot = seconds * 0.97 / len(kinds)
    return [Window(k, round(slot * (i + 0.3), 2), round(slot * 0.6, 2), "strong") for i, k in enumerate(kinds)]
