"""What a second run costs, and what an edit makes run again."""

import json
import shutil


def finished(folder):
    """Names of nodes that ran, and the counts of the run, from the last event file."""
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    ran = [e["node"] for e in events if e["event"] == "node_finished" and e["state"] == "ran"]
    return ran, events[-1]


def run(bench):
    folder = bench.folder / "outage"
    shutil.rmtree(folder, ignore_errors=True)
    ignore = shutil.ignore_patterns("out", ".pipe", "record", "__pycache__")
    shutil.copytree(bench.root / "examples" / "outage", folder, ignore=ignore)
    command = [bench.pipe, "run", "detect.pipe", "--events", "events.jsonl"]
    first, _, _ = bench.command(command, folder)
    middle, least, most, peak = bench.repeat(15, command, folder)
    ran, counts = finished(folder)
    rows = [
        ("first `pipe run` of examples/outage", f"{first:.2f} s", "one run", ""),
        (
            f"second run, unchanged ({counts['cached']} nodes cached)",
            f"{middle * 1e3:.0f} ms, {peak / 1e6:.0f} MB, {len(ran)} ran",
            f"{least * 1e3:.0f} to {most * 1e3:.0f} ms",
            "<= 100 ms, none runs",
        ),
    ]
    program = folder / "detect.pipe"
    text = program.read_text()
    program.write_text("# a comment more\n" + text)
    seconds, _, _ = bench.command(command, folder)
    ran, counts = finished(folder)
    rows.append(("after an edit of a comment", f"{seconds * 1e3:.0f} ms, {len(ran)} ran", "one run", "none runs"))
    program.write_text(text)
    seconds, _, _ = bench.command([*command, "--set", "quantile=0.97"], folder, expect=None)
    ran, counts = finished(folder)
    rows.append(
        (
            "after a change of one threshold (`quantile` from 0.99 to 0.97)",
            f"{seconds * 1e3:.0f} ms, ran: {', '.join(ran) or 'nothing'}; {counts['cached']} cached",
            "one run",
            "only what depends on it",
        )
    )
    return rows
