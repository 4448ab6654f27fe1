"""Record traces for the comparison of evictions: people edit a program and run it, again and again.

    python3 tests/bench/record.py outage pretrain

Each session below is a list of edits of a copy of an example. After each edit `pipe run` really runs; then its nodes are read
from the store with what they took, their sizes and what they were made from, and written to `tests/bench/traces/NAME.jsonl`.
Needs `pipe` (and `pipe-torch` for `pretrain`) in `target/release`, or in the folder that PIPE_BIN names.
"""

import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARIES = pathlib.Path(os.environ.get("PIPE_BIN", ROOT / "target" / "release"))
TRACES = ROOT / "tests" / "bench" / "traces"


def swap(old, new):
    """An edit that replaces a text that stands in the program."""

    def edit(text):
        if old not in text:
            raise ValueError(f"`{old}` is not in the program")
        return text.replace(old, new)

    return edit


def same(text):
    """No edit: it is run again."""
    return text


# Each step is (edit of the program, params). Edits stay; params are of that run alone.

OUTAGE = [
    (same, {}),
    (same, {}),
    # The threshold first, there and back.
    (same, {"quantile": "0.98"}),
    (same, {"quantile": "0.97"}),
    (same, {"quantile": "0.995"}),
    (same, {}),
    (swap("merge: 10s", "merge: 20s"), {}),
    (swap("merge: 20s", "merge: 15s"), {}),
    (swap("merge: 15s", "merge: 10s"), {}),
    # The detector of shapes.
    (same, {"window": "30s"}),
    (same, {"window": "40s"}),
    (same, {"window": "60s"}),
    (same, {"window": "30s"}),
    (swap("window: duration = 20s", "window: duration = 30s"), {}),
    (same, {"quantile": "0.98"}),
    # The step, from which everything follows.
    (same, {"step": "1s"}),
    (same, {"step": "4s"}),
    (same, {}),
    (same, {"step": "4s", "window": "60s"}),
    # Signals.
    (swap('  "complaints",\n', ""), {}),
    (swap('  "rss",\n', ""), {}),
    (same, {"quantile": "0.98"}),
    (swap('  "cpu",\n', '  "cpu",\n  "rss",\n  "complaints",\n'), {}),
    (swap("(row.log_errors ?? 0) + (row.log_warnings ?? 0)", "(row.log_errors ?? 0) * 3 + (row.log_warnings ?? 0)"), {}),
    (same, {"quantile": "0.98"}),
    (same, {"quantile": "0.97"}),
    # How rows are shared between learning and judging.
    (swap("train: 0.25, calib: 0.15, test: 0.6", "train: 0.3, calib: 0.2, test: 0.5"), {}),
    (same, {"quantile": "0.98"}),
    (swap("train: 0.3, calib: 0.2, test: 0.5", "train: 0.25, calib: 0.15, test: 0.6"), {}),
    (same, {"window": "40s"}),
    (same, {"window": "60s"}),
    (same, {"step": "1s"}),
    (same, {"step": "1s", "quantile": "0.995"}),
    # Words of the report alone.
    (swap("Outage: shape of windows", "Outage: the shape of windows"), {}),
    (swap("Outage: distance from the usual", "Outage: how far from the usual"), {}),
    (same, {}),
]

PRETRAIN = [
    (same, {}),
    (same, {}),
    # The rate.
    (same, {"lr": "1e-3"}),
    (same, {"lr": "4e-3"}),
    (same, {"lr": "3e-3"}),
    (same, {"lr": "2e-3"}),
    # The report.
    (swap('title: "A small decoder"', 'title: "A decoder"'), {}),
    (swap("scores: { decoder: decoder, bigram: bigram }", "scores: { decoder: decoder }"), {}),
    (swap("scores: { decoder: decoder }", "scores: { decoder: decoder, bigram: bigram }"), {}),
    # The schedule, and more of the same.
    (swap("warmup: 50", "warmup: 20"), {}),
    (swap("warmup: 20", "warmup: 100"), {}),
    (swap("warmup: 100", "warmup: 50"), {}),
    (same, {"tokens": "16_000"}),
    (same, {"tokens": "24_000"}),
    (same, {"tokens": "16_000", "lr": "3e-3"}),
    # The model.
    (swap("layers: 4", "layers: 2"), {}),
    (swap("layers: 2", "layers: 3"), {}),
    (same, {"lr": "3e-3"}),
    (swap("width: 160", "width: 96"), {}),
    (swap("width: 96", "width: 160"), {}),
    (swap("layers: 3", "layers: 4"), {}),
    # Another tokenizer: all that is learned follows from it.
    (swap("vocab: 4096", "vocab: 2048"), {}),
    (same, {"lr": "3e-3"}),
    (swap("vocab: 2048", "vocab: 4096"), {}),
    # Seeds.
    (swap("seed: 17", "seed: 18"), {}),
    (swap("seed: 18", "seed: 19"), {}),
    (swap("seed: 19", "seed: 17"), {}),
    # More context, then back to where it began.
    (swap("context: 128", "context: 64"), {}),
    (swap("context: 64", "context: 128"), {}),
    (same, {"lr": "1e-3"}),
    (same, {"lr": "1e-3", "tokens": "16_000"}),
    (same, {}),
]

SESSIONS = {
    "outage": ("detect.pipe", OUTAGE, {}),
    # Short trainings: what counts is how times and sizes compare.
    "pretrain": ("train.pipe", PRETRAIN, {"tokens": "8_000"}),
}


def run(folder, program, params):
    """Run; gives the number of the run. A check that is false is no failure here."""
    events = folder / "events.jsonl"
    words = [word for name, value in params.items() for word in ("--set", f"{name}={value}")]
    command = [BINARIES / "pipe", "run", program, "--events", events, *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    lines = [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]
    if done.returncode not in (0, 3) or lines[-1]["failed"]:
        raise RuntimeError(f"{command} ended with {done.returncode}:\n{done.stderr}")
    return lines[0]["run"]


def nodes(folder, number):
    """The results that a run had, inputs before their readers."""
    store = folder / ".pipe"
    with sqlite3.connect(f"file:{store / 'store.db'}?mode=ro", uri=True) as db:
        key_of_plan = dict(db.execute("SELECT plan_key, action_key FROM plan_index"))
        rows = db.execute(
            "SELECT plan_key, action_key, op FROM nodes WHERE run = ? ORDER BY name", [number]
        ).fetchall()
        inputs = {key: list(json.loads(text)["inputs"].values()) for key, text in db.execute("SELECT * FROM key_fields")}
        costs = {key: (seconds, parents) for key, seconds, parents in db.execute("SELECT action_key, seconds, parents FROM costs")}
        sizes = dict(
            db.execute(
                "SELECT r.action_key, sum(b.bytes) FROM result_blobs r JOIN blobs b ON b.digest = r.digest GROUP BY r.action_key"
            )
        )
        outputs = {key for (text,) in db.execute("SELECT results FROM programs") for key in text.split(",")}
    found = {}
    for plan_key, action_key, op in rows:
        key = action_key or key_of_plan.get(plan_key)
        if key not in costs:
            continue
        seconds, parents = costs[key]
        made_from = {key_of_plan.get(plan) for plan in inputs.get(plan_key, [])} | set(parents.split(","))
        found[key] = {"op": op, "seconds": seconds, "bytes": sizes.get(key, 0), "parents": made_from, "output": key in outputs}
    for node in found.values():
        node["parents"] = sorted(node["parents"] & found.keys())
    return in_order(found)


def in_order(found):
    """Inputs before their readers, else as they came."""
    ordered = {}

    def visit(key, above):
        if key in ordered or key in above:
            return
        for parent in found[key]["parents"]:
            visit(parent, above | {key})
        found[key]["parents"] = [parent for parent in found[key]["parents"] if parent in ordered]
        ordered[key] = found[key]

    for key in found:
        visit(key, frozenset())
    return ordered


def record(name):
    program, session, settings = SESSIONS[name]
    lines = []
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place) / name
        ignore = shutil.ignore_patterns("out", ".pipe", "record", "__pycache__")
        shutil.copytree(ROOT / "examples" / name, folder, ignore=ignore)
        path = folder / program
        for step, (edit, params) in enumerate(session, 1):
            path.write_text(edit(path.read_text(encoding="utf-8")), encoding="utf-8")
            number = run(folder, program, {**settings, **params})
            for key, node in nodes(folder, number).items():
                line = {
                    "run": step,
                    "key": key[:10],
                    "op": node["op"],
                    "seconds": float(f"{node['seconds']:.3g}"),
                    "bytes": node["bytes"],
                    "parents": [parent[:10] for parent in node["parents"]],
                    "user": "one",
                }
                if node["output"]:
                    line["output"] = True
                lines.append(json.dumps(line, separators=(",", ":")))
            print(f"{name}: {step} of {len(session)}", file=sys.stderr, flush=True)
    TRACES.mkdir(exist_ok=True)
    target = TRACES / f"{name}.jsonl"
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"wrote {target.relative_to(ROOT)}: {len(session)} runs, {len(lines)} lines", file=sys.stderr)


if __name__ == "__main__":
    for name in sys.argv[1:] or SESSIONS:
        record(name)
