"""Work that the service hands to a child process: `backup SOURCE TARGET SECONDS`, `compress SOURCE TARGET SECONDS`,
`spin SECONDS`. Each is paced to take about the given time and ends by itself."""
from __future__ import annotations

import lzma
import os
import sqlite3
import sys
import time


def backup(source: str, target: str, seconds: float) -> None:
    """Copies the database page by page while it is in use."""
    with open(source, "rb") as file:
        size = os.fstat(file.fileno()).st_size
    origin, copy = sqlite3.connect(source, timeout=5), sqlite3.connect(target)
    pages = max(1, size // 4096)
    step = max(16, int(pages / max(1.0, seconds / 0.05)))
    end = time.monotonic() + seconds * 1.5

    def pace(_status, _remaining, _total):
        if time.monotonic() > end:
            raise RuntimeError("backup took too long")
        time.sleep(0.05)

    # A copy restarts whenever the source is written by somebody else, so the pages come from one read snapshot.
    origin.execute("BEGIN")
    origin.execute("SELECT count(*) FROM items").fetchone()
    origin.backup(copy, pages=step, progress=pace)
    copy.execute("PRAGMA quick_check").fetchone()
    copy.close()
    origin.rollback()
    origin.close()


def compress(source: str, target: str, seconds: float) -> None:
    """Packs a file in pieces, resting between them so as not to disturb the service."""
    size = max(1, os.path.getsize(source))
    piece = max(4096, size // 24 + 1)
    packer = lzma.LZMACompressor(preset=6)
    pause = seconds / 24
    with open(source, "rb") as reader, open(target, "wb") as writer:
        while True:
            began = time.monotonic()
            block = reader.read(piece)
            if not block:
                break
            writer.write(packer.compress(block))
            writer.flush()
            os.fsync(writer.fileno())
            time.sleep(max(0.0, pause - (time.monotonic() - began)))
        writer.write(packer.flush())


def spin(seconds: float) -> None:
    """Computes and never yields: a job without an end, but for the deadline."""
    end = time.monotonic() + seconds
    total = 0
    while time.monotonic() < end:
        for number in range(20000):
            total = (total * 31 + number) & 0xFFFFFFFF


def main() -> int:
    name, rest = sys.argv[1], sys.argv[2:]
    if name == "spin":
        spin(min(600.0, float(rest[0])))
    elif name in ("backup", "compress"):
        work = backup if name == "backup" else compress
        work(rest[0], rest[1], min(600.0, float(rest[2])))
    else:
        print("unknown job %s" % name, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
