"""Makes the small tables and texts that the programs in this folder read. The same seed gives the same files."""

import csv
import json
import math
import random
from datetime import datetime, timedelta
from pathlib import Path

HERE = Path(__file__).parent
START = datetime(2024, 5, 6)


def written(path, header, rows, **how):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n", **how)
        table.writerow(header)
        table.writerows(rows)


def at(minute):
    return (START + timedelta(minutes=minute)).strftime("%Y-%m-%dT%H:%M:%SZ")


def service(folder, incidents):
    """A service by the minute: cpu and latency swing slowly, and rise in its incidents."""
    rng = random.Random(1)
    rows = []
    for minute in range(480):
        bad = any(start <= minute < end for start, end, _ in incidents)
        cpu = 0.3 + 0.1 * math.sin(minute / 40) + rng.gauss(0, 0.02) + (0.5 if bad else 0.0)
        latency = 20 + 4 * math.sin(minute / 40) + rng.gauss(0, 1) + (60 if bad else 0)
        rows.append((at(minute), f"{cpu:.4f}", f"{latency:.2f}"))
    labels = [(at(start), at(end), kind, "true") for start, end, kind in incidents]
    written(HERE / folder / "metrics.csv", ("time", "cpu", "latency"), rows)
    written(HERE / folder / "labels.csv", ("start", "end", "kind", "anomalous"), labels)


def export():
    """Two machines as a German spreadsheet writes them; some cells are empty."""
    rng = random.Random(2)
    german = lambda number: f"{number:.2f}".replace(".", ",")
    rows = []
    for minute in range(0, 240, 5):
        for machine in ("Presse Süd", "Ofen 3"):
            cpu = 35 + 10 * math.sin(minute / 30) + rng.gauss(0, 3) + (45 if 150 <= minute < 180 else 0)
            memory = 11.5 - minute / 100 + rng.gauss(0, 0.1)
            empty = rng.random() < 0.05
            rows.append((at(minute), machine, "" if empty else german(cpu), german(memory), rng.choice([0, 0, 0, 1, 5])))
    header = ("Zeit (UTC)", "Maschine", "CPU (%)", "RAM frei (GB)", "Fehler/min")
    written(HERE / "features" / "export.csv", header, rows, delimiter=";")


def hosts():
    """Three hosts by the minute: one calm, one with a busy backup, one that overloads and fails requests."""
    rng = random.Random(3)
    rows = []
    for minute in range(180):
        for host in ("web-1", "web-2", "db-1"):
            backup = host == "db-1" and 60 <= minute < 75
            trouble = host == "web-2" and 120 <= minute < 135
            cpu = 0.95 if backup or trouble else 0.4 + rng.gauss(0, 0.05)
            requests = 200 + rng.randrange(50)
            errors = rng.randrange(20, 60) if trouble else rng.randrange(3)
            rows.append((at(minute), host, f"{cpu:.3f}", errors, requests, str(backup).lower()))
    written(HERE / "alerting" / "hosts.csv", ("time", "host", "cpu", "errors", "requests", "backup"), rows)


def corpus():
    """Sentences of a small grammar, enough for a small model to learn that there is one."""
    rng = random.Random(4)
    who = ["the scheduler", "a worker", "the store", "an old node", "the second run"]
    does = ["waits for", "starts", "reads", "keeps", "forgets", "finds again"]
    what = ["the table", "a key", "its result", "the last checkpoint", "nothing new"]
    lines = []
    for number in range(60):
        text = ". ".join(f"{rng.choice(who)} {rng.choice(does)} {rng.choice(what)}" for _ in range(4))
        lines.append(json.dumps({"text": f"{number}: {text}."}))
    for folder in ("refine", "sweep"):
        (HERE / folder).mkdir(parents=True, exist_ok=True)
        (HERE / folder / "corpus.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    service("folds", [(100, 112, "leak"), (200, 212, "slow disk"), (290, 302, "leak"), (400, 415, "overload")])
    service("deploy", [(60, 66, "leak"), (330, 345, "slow disk"), (420, 440, "overload")])
    export()
    hosts()
    corpus()
