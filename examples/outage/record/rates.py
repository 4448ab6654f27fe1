"""The dependency of the service: answers a price factor in a few milliseconds, or late while `/slow` says so."""
from __future__ import annotations

import json
import os
import random
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

STATE = {"until": 0.0, "low": 0.0, "high": 0.0}
RNG = random.Random(11)


class Handler(BaseHTTPRequestHandler):
    """`/rate` answers, `/slow?low=&high=&seconds=` makes answers late for a bounded time (milliseconds)."""

    def do_GET(self):
        url = urlsplit(self.path)
        if url.path == "/slow":
            query = {key: float(values[0]) for key, values in parse_qs(url.query).items()}
            STATE.update(until=time.monotonic() + query["seconds"], low=query["low"], high=query["high"])
            return self.answer(200, {})
        wait = RNG.gammavariate(4, 1.4)
        if RNG.random() < 0.003:
            wait += RNG.uniform(80, 220)
        if time.monotonic() < STATE["until"]:
            wait += RNG.uniform(STATE["low"], STATE["high"])
        time.sleep(wait / 1000)
        if RNG.random() < 0.002:
            return self.answer(500, {"error": "no rate"})
        return self.answer(200, {"rate": round(RNG.uniform(0.9, 1.1), 4)})

    def answer(self, status, content):
        body = json.dumps(content).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            pass

    def log_message(self, *_args):
        pass


def main() -> None:
    seconds = float(sys.argv[1])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    parent, end = os.getppid(), time.monotonic() + seconds
    threading.Thread(target=server.serve_forever, daemon=True).start()
    while time.monotonic() < end and os.getppid() == parent:
        time.sleep(0.5)


if __name__ == "__main__":
    main()
