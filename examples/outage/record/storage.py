"""The database of the service: items that are read and searched, orders that are written, each commit synced."""
from __future__ import annotations

import os
import random
import sqlite3
import threading
import time

PAYLOAD = 420
WAIT_FOR_WRITER = 2.0


class Busy(Exception):
    """The one writer kept the database for too long."""


def create(path: str, orders: int) -> None:
    """A fresh database with 2,000 items and a history of orders."""
    rng = random.Random(3)
    words = ("lamp", "chair", "cable", "mug", "shelf", "brush", "clock", "towel")
    db = sqlite3.connect(path)
    db.execute("PRAGMA auto_vacuum=INCREMENTAL")
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("CREATE TABLE items(id INTEGER PRIMARY KEY, name TEXT, price INTEGER, stock INTEGER)")
    db.execute("CREATE TABLE orders(id INTEGER PRIMARY KEY, item INTEGER, count INTEGER, total REAL, note BLOB)")
    db.execute("CREATE INDEX orders_item ON orders(item)")
    db.executemany("INSERT INTO items VALUES(?,?,?,?)", (
        (i, "%s %d" % (rng.choice(words), i), rng.randint(100, 9900), rng.randint(0, 500)) for i in range(1, 2001)))
    db.executemany("INSERT INTO orders(item,count,total,note) VALUES(?,?,?,?)", (
        (rng.randint(1, 2000), rng.randint(1, 5), rng.uniform(1, 300), os.urandom(PAYLOAD)) for _ in range(orders)))
    db.commit()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


class Storage:
    """One connection a thread, one writer at a time."""

    def __init__(self, path: str, faults, counters):
        self.path, self.faults, self.counters = path, faults, counters
        self.local = threading.local()
        self.writer = threading.Lock()

    def connection(self) -> sqlite3.Connection:
        db = getattr(self.local, "db", None)
        if db is None:
            db = sqlite3.connect(self.path, timeout=5, isolation_level=None)
            db.execute("PRAGMA synchronous=FULL")
            db.execute("PRAGMA cache_size=-1024")
            self.local.db = db
        return db

    def item(self, number: int):
        column = self.faults.price_column()
        return self.connection().execute("SELECT name,%s,stock FROM items WHERE id=?" % column, (number,)).fetchone()

    def search(self, word: str):
        sql = "SELECT id,name,price FROM items WHERE name LIKE ? ORDER BY price LIMIT 20"
        return self.connection().execute(sql, ("%" + word + "%",)).fetchall()

    def order(self, item: int, count: int, total: float) -> int:
        """Writes one order and returns its number; the commit time is counted."""
        if not self.writer.acquire(timeout=WAIT_FOR_WRITER):
            raise Busy("database is locked, waited %.0f ms" % (WAIT_FOR_WRITER * 1000))
        began = time.monotonic()
        try:
            db = self.connection()
            db.execute("BEGIN IMMEDIATE")
            cursor = db.execute("INSERT INTO orders(item,count,total,note) VALUES(?,?,?,?)",
                                (item, count, total, os.urandom(PAYLOAD)))
            db.execute("UPDATE items SET stock=max(0,stock-?) WHERE id=?", (count, item))
            self.faults.before_sync()
            db.execute("COMMIT")
        finally:
            self.writer.release()
        self.counters.commit((time.monotonic() - began) * 1000)
        return cursor.lastrowid

    def vacuum(self, seconds: float, log) -> None:
        """Drops the oldest orders, gives their pages back in passes, then rebuilds the file once."""
        db = self.connection()
        before = os.path.getsize(self.path)
        began = time.monotonic()
        log.write("INFO", "vacuum", "vacuum started, %.1f MB" % (before / 1e6))
        passes = max(1, int(seconds / 1.6))
        freed = 0
        for number in range(passes):
            with self.writer:
                db.execute("DELETE FROM orders WHERE id IN (SELECT id FROM orders ORDER BY id LIMIT 250)")
                free = db.execute("PRAGMA freelist_count").fetchone()[0]
                db.execute("PRAGMA incremental_vacuum(400)").fetchall()
                db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            freed += free
            if number % 4 == 3:
                log.write("INFO", "vacuum", "vacuum pass %d of %d, %d pages freed" % (number + 1, passes, freed))
            time.sleep(max(0.05, began + (number + 1) * seconds / (passes + 1) - time.monotonic()))
        with self.writer:
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        after = os.path.getsize(self.path)
        log.write("INFO", "vacuum", "vacuum finished, %.1f MB -> %.1f MB in %.1f s" % (
            before / 1e6, after / 1e6, time.monotonic() - began))
