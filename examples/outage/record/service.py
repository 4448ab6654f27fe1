"""A small shop: HTTP on loopback, six worker threads behind one queue, SQLite below, a price service beside it.

`service.py FOLDER SECONDS RATES_PORT` listens on two free ports and writes them to FOLDER/port (public, control).
The control port answers `/stats` (and starts a new counting interval), and begins jobs and faults.
"""
from __future__ import annotations

import http.client
import json
import os
import queue
import sqlite3
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from faults import HERE, Faults
from logfile import Log
from storage import Busy, Storage

WORKERS = 6
SLOW_MS = 250
UPSTREAM_LIMIT = 1.0
ACCESS_SAMPLE = 25


class Counters:
    """What happened since the last `/stats`."""

    def __init__(self):
        self.lock = threading.Lock()
        self.clear()

    def clear(self):
        self.latency, self.commits, self.upstream, self.errors = [], [], [], 0

    def request(self, milliseconds, status):
        with self.lock:
            self.latency.append(milliseconds)
            self.errors += status >= 500

    def commit(self, milliseconds):
        with self.lock:
            self.commits.append(milliseconds)

    def call(self, milliseconds):
        with self.lock:
            self.upstream.append(milliseconds)

    def take(self):
        with self.lock:
            latency, commits, upstream, errors = sorted(self.latency), self.commits, self.upstream, self.errors
            self.clear()

        def rank(share):
            return latency[min(len(latency) - 1, int(share * len(latency)))] if latency else None

        def mean(values):
            return sum(values) / len(values) if values else None

        return {"requests": len(latency), "errors": errors, "latency_p50": rank(0.5), "latency_p99": rank(0.99),
                "dependency_ms": mean(upstream), "commit_ms": mean(commits)}


class Shop:
    """State shared by all requests."""

    def __init__(self, folder, rates_port):
        self.folder, self.rates_port = folder, rates_port
        self.log = Log(os.path.join(folder, "service.log"), time.time)
        self.trace = Log(os.path.join(folder, "trace.log"), time.time)
        self.counters, self.faults = Counters(), Faults(self.log)
        self.storage = Storage(os.path.join(folder, "shop.db"), self.faults, self.counters)
        self.waiting = queue.Queue(maxsize=200)
        self.cache, self.cache_since, self.seen, self.rotations = {}, time.monotonic(), 0, 0
        self.cache_lock = threading.Lock()

    def rate(self):
        """Asks the price service; raises TimeoutError or ConnectionError."""
        began = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.rates_port, timeout=UPSTREAM_LIMIT)
        try:
            connection.request("GET", "/rate", headers={"Connection": "close"})
            answer = connection.getresponse()
            content = json.loads(answer.read())
        except OSError as error:
            raise TimeoutError(str(error)) from error
        finally:
            took = (time.monotonic() - began) * 1000
            self.counters.call(took)
            connection.close()
        if took > SLOW_MS:
            self.log.write("WARN", "upstream", "rates answered after %.0f ms" % took)
        if answer.status != 200:
            raise ConnectionError("rates answered %d" % answer.status)
        return content["rate"]

    def remember(self, key, body):
        """Answers are kept for a while, then all dropped at once."""
        with self.cache_lock:
            if time.monotonic() - self.cache_since > 97:
                entries = len(self.cache)
                self.cache, self.cache_since = {}, time.monotonic()
                self.log.write("INFO", "cache", "expired, %d entries dropped" % entries)
            if len(self.cache) < 700:
                self.cache[key] = body + b" " * 6000

    def answer(self, method, target):
        """Status and content of one request."""
        url = urlsplit(target)
        query = {key: values[0] for key, values in parse_qs(url.query).items()}
        if method == "POST" and url.path == "/orders":
            total = int(query["count"]) * self.rate()
            return 201, {"order": self.storage.order(int(query["item"]), int(query["count"]), total)}
        if url.path == "/quote":
            return 200, {"item": int(query["item"]), "rate": self.rate()}
        if url.path == "/search":
            return 200, {"found": self.storage.search(query["q"])}
        if url.path.startswith("/items/"):
            row = self.storage.item(int(url.path[7:]))
            return (200, {"item": row}) if row else (404, {"error": "no such item"})
        return 404, {"error": "no such page"}

    def guarded(self, method, target):
        """As `answer`, with failures logged and turned into a status."""
        try:
            return self.answer(method, target)
        except Busy as error:
            self.log.write("ERROR", "db", "%s %s: %s" % (method, urlsplit(target).path, error))
            return 503, {"error": "busy"}
        except sqlite3.Error as error:
            self.log.write("ERROR", "http", "%s %s 500 %s: %s" % (method, target, type(error).__name__, error))
            return 500, {"error": "database"}
        except TimeoutError:
            self.log.write("ERROR", "upstream", "rates timed out after %.0f ms" % (UPSTREAM_LIMIT * 1000))
            return 504, {"error": "upstream"}
        except (ConnectionError, ValueError, KeyError) as error:
            self.log.write("WARN", "upstream", "%s %s 502: %s" % (method, target, error))
            return 502, {"error": "upstream"}

    def finished(self, method, target, status, took, body):
        """Counts a request and writes what the logs want of it."""
        self.counters.request(took, status)
        self.seen += 1
        path = urlsplit(target).path
        if took > SLOW_MS:
            self.log.write("WARN", "http", "slow %s %s %d %.0fms" % (method, path, status, took))
        elif self.seen % ACCESS_SAMPLE == 0:
            self.log.write("INFO", "http", "%s %s %d %.1fms" % (method, target, status, took))
        self.trace.write("DEBUG", "trace", "%s %s %d %.3f %r" % (method, target, status, took, body[:700]))

    def child(self, *arguments):
        return subprocess.run([sys.executable, os.path.join(HERE, "jobs.py")] + list(arguments), check=False).returncode

    def job(self, kind, seconds):
        """A look-alike: ordinary work with a start and an end in the log."""
        began = time.monotonic()
        if kind == "vacuum":
            self.storage.vacuum(seconds, self.log)
        elif kind == "backup":
            target = os.path.join(self.folder, "backup.db")
            self.log.write("INFO", "backup", "backup started, shop.db -> backup.db")
            code = self.child("backup", self.storage.path, target, "%.2f" % seconds)
            size = os.path.getsize(target) if os.path.exists(target) else 0
            level = "INFO" if code == 0 else "ERROR"
            self.log.write(level, "backup", "backup finished with status %d, %.1f MB in %.1f s" % (
                code, size / 1e6, time.monotonic() - began))
            if os.path.exists(target):
                os.remove(target)
        elif kind == "log_rotation":
            self.rotate(seconds)

    def rotate(self, seconds):
        began = time.monotonic()
        self.rotations += 1
        kept = os.path.join(self.folder, "service.log.%d-%d" % (time.time() * 1000, self.rotations))
        old = os.path.join(self.folder, "trace.log.1")
        self.log.write("INFO", "logrotate", "rotating log service.log and trace.log")
        self.log.rotate(kept)
        size = self.trace.rotate(old)
        packed = old + ".xz"
        code = self.child("compress", old, packed, "%.2f" % seconds)
        after = os.path.getsize(packed) if os.path.exists(packed) else 0
        self.log.write("INFO", "logrotate", "rotated log, status %d, trace.log %.1f MB -> %.2f MB in %.1f s" % (
            code, size / 1e6, after / 1e6, time.monotonic() - began))
        for name in (old, packed):
            if os.path.exists(name):
                os.remove(name)

    def replay(self):
        """Shortly after the start, work left in the journal is done; a damaged journal ends the process."""
        time.sleep(1.6)
        name = os.path.join(self.folder, "journal.jsonl")
        if not os.path.exists(name):
            return
        with open(name, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                try:
                    json.loads(line)
                except ValueError as error:
                    self.log.write("ERROR", "journal", "cannot replay record %d: %s" % (number, error))
                    os._exit(3)


class Public(BaseHTTPRequestHandler):
    timeout = 5
    shop: Shop

    def do_GET(self):
        began = self.server.arrived.pop(id(self.request), time.monotonic())
        status, content = self.shop.guarded(self.command, self.path)
        body = json.dumps(content).encode()
        if status == 200:
            self.shop.remember(self.path, body)
        reply(self, status, body)
        self.shop.finished(self.command, self.path, status, (time.monotonic() - began) * 1000, body)

    do_POST = do_GET

    def log_message(self, *_args):
        pass


class Pool(HTTPServer):
    """Connections wait in one queue for one of the workers."""

    request_queue_size = 64

    def __init__(self, handler, shop):
        super().__init__(("127.0.0.1", 0), handler)
        self.shop, self.arrived = shop, {}
        for _ in range(WORKERS):
            threading.Thread(target=self.work, daemon=True).start()

    def process_request(self, request, client_address):
        self.arrived[id(request)] = time.monotonic()
        try:
            self.shop.waiting.put_nowait((request, client_address))
        except queue.Full:
            self.arrived.pop(id(request), None)
            self.shutdown_request(request)

    def work(self):
        while True:
            request, client_address = self.shop.waiting.get()
            try:
                self.finish_request(request, client_address)
            except OSError:
                pass
            finally:
                self.arrived.pop(id(request), None)
                self.shutdown_request(request)


class Control(BaseHTTPRequestHandler):
    shop: Shop

    def do_GET(self):
        url = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(url.query).items()}
        content = {}
        if url.path == "/stats":
            content = dict(self.shop.counters.take(), queue=self.shop.waiting.qsize())
        elif url.path == "/job":
            threading.Thread(target=self.shop.job, args=(query["kind"], float(query["seconds"])), daemon=True).start()
        elif url.path == "/fault":
            self.shop.faults.begin(query["kind"], float(query["seconds"]), query["variant"])
        elif url.path == "/note":
            self.shop.log.write("INFO", query["component"], query["text"])
        reply(self, 200, json.dumps(content).encode())

    def log_message(self, *_args):
        pass


def reply(handler, status, body):
    try:
        handler.send_response_only(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
    except OSError:
        pass


def main() -> None:
    folder, seconds, rates_port = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    shop = Shop(folder, rates_port)
    Public.shop = Control.shop = shop
    public, control = Pool(Public, shop), ThreadingHTTPServer(("127.0.0.1", 0), Control)
    control.daemon_threads = True
    shop.log.write("INFO", "service", "starting, pid %d, %d workers" % (os.getpid(), WORKERS))
    for server in (public, control):
        threading.Thread(target=server.serve_forever, daemon=True).start()
    port_file = os.path.join(folder, "port")
    with open(port_file + ".new", "w", encoding="utf-8") as file:
        file.write("%d %d" % (public.server_address[1], control.server_address[1]))
    os.replace(port_file + ".new", port_file)
    shop.log.write("INFO", "service", "ready")
    threading.Thread(target=shop.replay, daemon=True).start()
    parent, end, last = os.getppid(), time.monotonic() + seconds, time.monotonic()
    while time.monotonic() < end and os.getppid() == parent:
        time.sleep(0.5)
        if time.monotonic() - last > 60:
            last = time.monotonic()
            shop.log.write("INFO", "db", "checkpoint, file %.1f MB" % (os.path.getsize(shop.storage.path) / 1e6))


if __name__ == "__main__":
    main()
