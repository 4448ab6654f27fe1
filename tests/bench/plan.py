"""What a plan costs from source to keys, and how it grows. CPU time of one thread, apart from reading the text."""

import json

PROGRAMS = [
    ("fan", 1_000, "1,000 nodes of a loop over two ops", ""),
    ("fan", 10_000, "10,000 nodes of a loop over two ops", "<= 30 ms, <= 1 KB a node"),
    ("fan", 100_000, "100,000 nodes of a loop over two ops", "<= 350 ms, <= 1 KB a node"),
    ("sweep", 10_000, "10,000 trainings of a sweep of four settings", "<= 1 KB a node"),
]


def run(bench):
    bench.command(["cargo", "build", "--quiet", "--release", "-p", "pipe-compiler", "--example", "plan_speed"])
    speed = bench.target / "examples" / "plan_speed"
    rows = []
    for kind, size, words, goal in PROGRAMS:
        runs = [json.loads(bench.command([speed, kind, size, 3])[2]) for _ in range(5)]
        times = sorted(run["rest_ms"] for run in runs)
        rows.append(
            (
                f"{words}, source to keyed plan",
                f"{times[2]:.1f} ms, {runs[0]['bytes_per_node']} bytes a node",
                f"{times[0]:.1f} to {times[-1]:.1f} ms, the least of 3 in each of 5 runs",
                goal,
            )
        )
    runs = [json.loads(bench.command([speed, "lines", 2_000, 5])[2]) for _ in range(5)]
    check = sorted(run["check_ms"] for run in runs)
    parse = sorted(run["parse_ms"] for run in runs)
    rows.append(
        (
            f"check of a program of {runs[0]['lines']:,} lines, of which reading the text {parse[2]:.1f} ms",
            f"{check[2]:.1f} ms",
            f"{check[0]:.1f} to {check[-1]:.1f} ms, the least of 5 in each of 5 runs",
            "",
        )
    )
    return rows
