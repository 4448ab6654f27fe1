"""Run every example with the `pipe` that `make build` made, and close with a summary.

A second run is all cache hits: the summary says so.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PIPE = ROOT / "target" / "debug" / "pipe"
PROGRAMS = ["examples/outage/detect.pipe", "examples/pretrain/train.pipe"]


def run(program):
    """Run one program; return its exit code and its events."""
    with tempfile.TemporaryDirectory() as folder:
        events = pathlib.Path(folder) / "events.jsonl"
        print(f"\n$ pipe run {program}", flush=True)
        code = subprocess.run([PIPE, "run", program, "--events", events], cwd=ROOT).returncode
        lines = events.read_text().splitlines() if events.exists() else []
    return code, [json.loads(line) for line in lines]


def row(program, code, events):
    """One line of the summary."""
    end = next((event for event in reversed(events) if event["event"] == "run_finished"), None)
    if end is None:
        return f"  {program:<32} did not finish (exit {code})"
    checks = [event for event in events if event["event"] == "check_decided"]
    held = sum(event["passed"] for event in checks)
    return (
        f"  {program:<32} {end['ran']:>3} ran {end['cached']:>3} cached   "
        f"{held}/{len(checks)} checks hold   {end['seconds']:>6.1f} s   exit {code}"
    )


def main():
    results = [(program, *run(program)) for program in PROGRAMS]
    print("\nSummary")
    for program, code, events in results:
        print(row(program, code, events))
    outputs = [event["path"] for _, _, events in results for event in events if event["event"] == "output_written"]
    if outputs:
        print("\nOutputs")
        for path in outputs:
            print(f"  {path}")
    if any(event.get("ran") for _, _, events in results for event in events if event["event"] == "run_finished"):
        print("\nRun `make demo` again: nothing is computed twice.")
    return 1 if any(code for _, code, _ in results) else 0


if __name__ == "__main__":
    sys.exit(main())
