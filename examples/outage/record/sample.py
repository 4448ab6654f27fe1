"""One row a second: what /proc says about the service and its children, what the machine does, what the service counts.

A value that cannot be had (the process is down, it did not answer in time, nothing was requested) is an empty cell;
a second that the sampler missed is a missing row.
"""
from __future__ import annotations

import http.client
import json
import os
import time

from logfile import stamp

COLUMNS = ("time", "cpu", "rss", "threads", "open_files", "read_bytes", "write_bytes", "requests", "errors",
           "latency_p50", "latency_p99", "queue", "dependency_ms", "commit_ms", "host_cpu", "host_mem", "host_disk",
           "load1")
TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def slurp(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def family(pid):
    """The process and its children."""
    pids = [pid]
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if int(slurp("/proc/%s/stat" % name).rpartition(")")[2].split()[1]) == pid:
                    pids.append(int(name))
            except (OSError, IndexError, ValueError):
                pass
    return pids


def process(pid):
    """Running totals of one process; raises OSError when it is gone."""
    fields = slurp("/proc/%d/stat" % pid).rpartition(")")[2].split()
    if fields[0] == "Z":
        raise ProcessLookupError(pid)
    io = dict(line.split(": ") for line in slurp("/proc/%d/io" % pid).splitlines())
    return {"cpu": (int(fields[11]) + int(fields[12])) / TICK, "threads": int(fields[17]),
            "rss": int(fields[21]) * PAGE, "open_files": len(os.listdir("/proc/%d/fd" % pid)),
            "read_bytes": int(io["rchar"]), "write_bytes": int(io["wchar"])}


def host():
    """Totals of the machine: busy and all jiffies, used memory in MB, milliseconds of disk activity, load."""
    cpu = [int(v) for v in slurp("/proc/stat").splitlines()[0].split()[1:9]]
    memory = {line.split(":")[0]: int(line.split()[1]) for line in slurp("/proc/meminfo").splitlines()}
    used = (memory["MemTotal"] - memory.get("MemAvailable", memory["MemFree"])) / 1024
    disk = 0
    for line in slurp("/proc/diskstats").splitlines():
        fields = line.split()
        if len(fields) > 12 and fields[2].startswith(("vd", "sd", "nvme", "xvd")):
            disk = max(disk, int(fields[12]))
    return {"busy": sum(cpu) - cpu[3] - cpu[4], "all": sum(cpu), "mem": used, "disk": disk,
            "load1": float(slurp("/proc/loadavg").split()[0])}


def ask(port, path, seconds=0.8):
    """A request to the control port; None when nobody answers in time."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request("GET", path)
        return json.loads(connection.getresponse().read())
    except (OSError, ValueError, http.client.HTTPException):
        return None
    finally:
        connection.close()


class Sampler:
    """Keeps the totals of the last second, to turn them into rates."""

    def __init__(self):
        self.totals, self.at = {}, None
        self.machine = host()

    def row(self, pid, control_port):
        """The values of this second by column name."""
        now, wall = time.monotonic(), time.time()
        elapsed = now - self.at if self.at is not None else None
        values = {"time": stamp(wall)}
        values.update(self.of_process(pid, elapsed))
        values.update(self.of_host(elapsed))
        self.at = now
        stats = ask(control_port, "/stats") if control_port else None
        for name, value in (stats or {}).items():
            if value is not None:
                values[name] = value if isinstance(value, int) else round(value, 1)
        return values

    def of_process(self, pid, elapsed):
        fresh = {}
        try:
            for member in family(pid) if pid else []:
                try:
                    fresh[member] = process(member)
                except (OSError, ValueError, KeyError, IndexError):
                    pass
        finally:
            previous, self.totals = self.totals, fresh
        if pid not in fresh:
            return {}
        values = {"rss": round(sum(p["rss"] for p in fresh.values()) / 1e6, 2)}
        for name in ("threads", "open_files"):
            values[name] = sum(p[name] for p in fresh.values())
        if elapsed and pid in previous:
            def rate(name):
                return sum(p[name] - previous.get(m, {name: 0})[name] for m, p in fresh.items()) / elapsed
            values["cpu"] = round(100 * rate("cpu"), 1)
            values["read_bytes"], values["write_bytes"] = round(rate("read_bytes")), round(rate("write_bytes"))
        return values

    def of_host(self, elapsed):
        before, after = self.machine, host()
        self.machine = after
        values = {"host_mem": round(after["mem"]), "load1": after["load1"]}
        if elapsed and after["all"] > before["all"]:
            values["host_cpu"] = round(100 * (after["busy"] - before["busy"]) / (after["all"] - before["all"]), 1)
            values["host_disk"] = round(min(100.0, (after["disk"] - before["disk"]) / (10 * elapsed)), 1)
        return values
