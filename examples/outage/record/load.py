"""Load on the service: an open loop with a rhythm like a day (one "day" lasts seven minutes) and ramps on demand.

`load.py PORT_FILE SECONDS SEED RATE RAMPS`, with RAMPS as `start:length:peak,...` in seconds from the first request.
At most 32 requests are open at once; what would exceed that is dropped, so the driver never runs away.
"""
from __future__ import annotations

import http.client
import math
import os
import queue
import random
import sys
import threading
import time

DAY = 420.0
OPEN_REQUESTS = 32
WORDS = ("lamp", "chair", "cable", "mug", "shelf", "brush", "clock", "towel")


def rate_at(t: float, base: float, ramps) -> float:
    """Requests per second wanted at second `t`."""
    rate = base * (1 + 0.35 * math.sin(2 * math.pi * t / DAY - 1.2) + 0.08 * math.sin(2 * math.pi * t / 61))
    for start, length, peak in ramps:
        if start <= t < start + length:
            part = (t - start) / length
            rate *= 1 + (peak - 1) * min(1.0, part / 0.35, (1 - part) / 0.25)
    return rate


def pick(rng: random.Random):
    """One request: method and path."""
    dice = rng.random()
    if dice < 0.55:
        number = rng.randint(1, 2000) if rng.random() > 0.004 else 9000 + rng.randint(1, 99)
        return "GET", "/items/%d" % number
    if dice < 0.70:
        return "GET", "/search?q=%s" % rng.choice(WORDS)
    if dice < 0.92:
        return "POST", "/orders?item=%d&count=%d" % (rng.randint(1, 2000), rng.randint(1, 5))
    return "GET", "/quote?item=%d" % rng.randint(1, 2000)


def worker(port_file: str, jobs: queue.Queue) -> None:
    while True:
        method, target = jobs.get()
        try:
            with open(port_file, encoding="utf-8") as file:
                port = int(file.read().split()[0])
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=3)
            connection.request(method, target, headers={"Connection": "close"})
            connection.getresponse().read()
            connection.close()
        except (OSError, ValueError, IndexError, http.client.HTTPException):
            time.sleep(0.02)


def drive(port_file: str, seconds: float, seed: int, base: float, ramps) -> None:
    """Sends requests until the time is up or the parent is gone."""
    rng = random.Random(seed)
    jobs: queue.Queue = queue.Queue(maxsize=4)
    for _ in range(OPEN_REQUESTS):
        threading.Thread(target=worker, args=(port_file, jobs), daemon=True).start()
    start, parent = time.monotonic(), os.getppid()
    due = 0.0
    while due < seconds and os.getppid() == parent:
        due += rng.expovariate(rate_at(due, base, ramps))
        wait = start + due - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        try:
            jobs.put_nowait(pick(rng))
        except queue.Full:
            pass


def main() -> None:
    port_file, seconds, seed, base = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    text = sys.argv[5] if len(sys.argv) > 5 else ""
    ramps = [tuple(float(part) for part in item.split(":")) for item in text.split(",") if item]
    drive(port_file, seconds, seed, base, ramps)


if __name__ == "__main__":
    main()
