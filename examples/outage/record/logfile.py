"""The log: one line an event, `TIME LEVEL component message`, appended whole so that several writers can share it."""
from __future__ import annotations

import os
import threading
from datetime import datetime, timezone


def stamp(seconds: float) -> str:
    """ISO 8601 in UTC with milliseconds."""
    moment = datetime.fromtimestamp(seconds, timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (moment.microsecond // 1000)


class Log:
    """Appends lines; `rotate` moves the file aside and starts a new one."""

    def __init__(self, path: str, clock):
        self.path, self.clock = path, clock
        self.lock = threading.Lock()
        self.handle = self._open()

    def _open(self):
        return os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def write(self, level: str, component: str, message: str) -> None:
        line = "%s %s %s %s\n" % (stamp(self.clock()), level, component, message)
        with self.lock:
            os.write(self.handle, line.encode("utf-8"))

    def rotate(self, target: str) -> int:
        """Moves the file to `target` and returns its size."""
        with self.lock:
            size = os.fstat(self.handle).st_size
            os.replace(self.path, target)
            os.close(self.handle)
            self.handle = self._open()
        return size

    def close(self) -> None:
        with self.lock:
            os.close(self.handle)
