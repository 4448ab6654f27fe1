"""Row expressions over a million rows of floats, one thread: ours, a loop in Rust, Polars, numexpr and numpy in turn."""

import json
import os
import statistics
import subprocess
import sys
import venv

PACKAGES = ["numpy==2.4.6", "numexpr==2.14.2", "polars==2.1.0"]
ROWS = 1_000_000
ROUNDS = 9

# Run by the Python of the peers: nanoseconds a row of every expression, round by round.
PEERS = '''
import json, sys, time
import numexpr, numpy as np, polars as pl
rows, rounds = int(sys.argv[1]), int(sys.argv[2])
numexpr.set_num_threads(1)
rng = np.random.default_rng(1)
a, b, c, d = (rng.random(rows) * 4.0 for _ in range(4))
frame = pl.DataFrame({"a": a, "b": b, "c": c, "d": d})
A, B, C, D = (pl.col(name) for name in "abcd")
cases = {
    "arithmetic": (
        lambda: (a - b) / np.maximum(c, 1.0) * 0.5 + d,
        "(a - b) / where(c > 1.0, c, 1.0) * 0.5 + d",
        (A - B) / C.clip(1.0) * 0.5 + D,
    ),
    "filter": (
        lambda: (a > 3.0 * b) & (c < 0.9) | (d * d + a > 17.9),
        "(a > 3.0 * b) & (c < 0.9) | (d * d + a > 17.9)",
        (A > 3.0 * B) & (C < 0.9) | (D * D + A > 17.9),
    ),
    "transcendental": (
        lambda: np.exp(-(a * a)) + np.log1p(np.abs(b)),
        "exp(-(a * a)) + log1p(abs(b))",
        (-(A * A)).exp() + B.abs().log1p(),
    ),
    "length": (
        lambda: np.sqrt(a * a + b * b + c * c),
        "sqrt(a * a + b * b + c * c)",
        (A * A + B * B + C * C).sqrt(),
    ),
    "branches": (
        lambda: np.where(a > b, (a - b) / a, c * d),
        "where(a > b, (a - b) / a, c * d)",
        pl.when(A > B).then((A - B) / A).otherwise(C * D),
    ),
    "band": (
        lambda: (np.abs(a - b) > 0.5) & (c >= 1.0) & (c <= 3.0),
        "(abs(a - b) > 0.5) & (c >= 1.0) & (c <= 3.0)",
        ((A - B).abs() > 0.5) & (C >= 1.0) & (C <= 3.0),
    ),
}
def nanos(work):
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) / rows * 1e9
report = {name: {"numpy": [], "numexpr": [], "polars": []} for name in cases}
rules = [
    ((A > 3.0 * B) & (C < 0.1 * n) | (D * D + A > 17.0 + 0.1 * n)).alias(f"r{n}") for n in range(10)
]
report["ten rules"] = {"polars": []}
for _ in range(rounds):
    for name, (numpy_, text, polars_) in cases.items():
        report[name]["numpy"].append(nanos(numpy_))
        report[name]["numexpr"].append(nanos(lambda: numexpr.evaluate(text)))
        report[name]["polars"].append(nanos(lambda: frame.select(polars_)))
    report["ten rules"]["polars"].append(nanos(lambda: frame.select(rules)))
print(json.dumps(report))
'''

# Run by the Python of the peers: nanoseconds a row of windows, the fastest of three rounds; one series, then a hundred.
WINDOWS = '''
import json, time
import numpy as np, polars as pl
rows = 1_000_000
times = pl.Series("t", np.arange(rows, dtype=np.int64) * 1_000_000_000).cast(pl.Datetime("ns"))
hosts = [f"host{row % 100}" for row in range(rows)]
frame = pl.DataFrame({"x": np.random.default_rng(1).random(rows), "t": times, "host": hosts})
X = pl.col("x")
windows = {
    "lag 1": X.shift(1),
    "sum 60": X.rolling_sum(60, min_samples=1),
    "mean 5m": X.rolling_mean_by("t", "5m"),
    "mean 10000": X.rolling_mean(10_000, min_samples=1),
    "std 5m": X.rolling_std_by("t", "5m"),
    "max 5m": X.rolling_max_by("t", "5m"),
    "median 60": X.rolling_median(60, min_samples=1),
    "median 10000": X.rolling_median(10_000, min_samples=1),
    "ewma": X.ewm_mean(alpha=0.1, adjust=False),
    "ewma by time": X.ewm_mean_by("t", half_life="60s"),
}
def fastest(window):
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        frame.select(window)
        best = min(best, time.perf_counter() - start)
    return best / rows * 1e9
print(json.dumps({name: [fastest(window), fastest(window.over("host"))] for name, window in windows.items()}))
'''


def python(bench):
    """The Python of the peers, set up once; none where the packages cannot be had."""
    folder = bench.folder / "rows"
    program = folder / "bin" / "python"
    if not program.exists():
        venv.create(folder, with_pip=True)
    done = subprocess.run([program, "-m", "pip", "install", "--quiet", *PACKAGES], capture_output=True, text=True)
    if done.returncode:
        bench.not_shown(f"Row expressions against Polars, numexpr and numpy: pip failed ({done.stderr.strip()[-200:]}).")
        return None
    return program


def merged(reports):
    """Rounds of several runs of one side together."""
    all_rounds = {}
    for report in reports:
        for name, sides in report.items():
            for side, rounds in sides.items():
                all_rounds.setdefault(name, {}).setdefault(side, []).extend(rounds)
    return all_rounds


def spread(rounds):
    ordered = sorted(rounds)
    return f"{ordered[len(ordered) // 10]:.2f} to {ordered[-1 - len(ordered) // 10]:.2f}"


def asked(peer, program, *arguments):
    """What a program of the peers prints, on one thread."""
    environment = {**os.environ, "POLARS_MAX_THREADS": "1", "NUMEXPR_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([peer, "-c", program, *arguments], env=environment, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        raise RuntimeError("the peers of `rows` failed")
    return json.loads(done.stdout)


def windows(bench, peer):
    """Windows over one series and over a hundred, against the rolling functions of Polars."""
    command = ["cargo", "run", "--quiet", "--release", "-p", "pipe-row", "--features", "jit", "--example", "window_speed"]
    lines = [json.loads(line) for line in bench.command(command)[2].splitlines()]
    theirs = asked(peer, WINDOWS) if peer else {}
    rows = []
    for line in lines:
        if "window" not in line:
            continue
        mine = [line["one series"], line["100 series"]]
        other = theirs.get(line["window"])
        told = ", ".join(f"{value:.1f}" for value in mine)
        if other:
            told += f"; Polars {', '.join(f'{value:.1f}' for value in other)}"
        ratio = ", ".join(f"Polars {b / a:.1f}x" for a, b in zip(mine, other)) if other else ""
        rows.append((f"window {line['window']}, ns a row, one series and 100: {told}", ratio, "fastest of 3", "Polars >= 1x"))
    return rows


def run(bench):
    ours = ["cargo", "run", "--quiet", "--release", "-p", "pipe-row", "--features", "jit", "--example", "row_speed"]
    peer = python(bench)
    mine, theirs = [], []
    # Both sides in turn, three times, so that a slow minute of the machine meets both.
    for _ in range(3):
        mine.append(json.loads(bench.command([*ours, "--", ROWS, ROUNDS])[2]))
        if peer:
            theirs.append(asked(peer, PEERS, str(ROWS), str(ROUNDS)))
    speeds = merged([{s["name"]: {k: v for k, v in s.items() if k != "name"} for s in one["speeds"]} for one in mine])
    others = merged(theirs)
    rows = []
    for name, sides in speeds.items():
        sides = {**sides, **others.get(name, {})}
        middle = {side: statistics.median(rounds) for side, rounds in sides.items()}
        kernel = middle["kernel"]
        told = ", ".join(f"{side} {value:.2f}" for side, value in middle.items())
        ratios = [f"Polars {middle['polars'] / kernel:.1f}x" if "polars" in middle else ""]
        ratios += [f"Rust {middle['rust'] / kernel:.2f}x"] if "rust" in middle else []
        goal = "Polars >= 2x" if name == "ten rules" else "all slower; Polars >= 2x; Rust >= 0.9x"
        rows.append(
            (f"{name}, ns a row: {told}", ", ".join(filter(None, ratios)), f"kernel {spread(sides['kernel'])}", goal)
        )
    micros = merged([{c["name"]: {"micros": c["micros"]} for c in one["compiling"]} for one in mine])
    for name, sides in micros.items():
        rows.append(
            (
                f"{name}: check, compile, run two rows",
                f"{statistics.median(sides['micros']):.0f} us",
                f"{spread(sides['micros'])} us",
                "<= 150 us",
            )
        )
    rows.append(loss(mine))
    return rows + windows(bench, peer)


def loss(reports):
    """The largest time that the choice loses against the better engine, over all sizes and expressions."""
    worst, where, count = 0.0, "", 0
    cells = {}
    for report in reports:
        for one in report["choices"]:
            cell = cells.setdefault((one["name"], one["rows"]), {"chosen": [], "kernel": [], "interpreter": []})
            for side, rounds in cell.items():
                rounds.extend(one[side])
    for (name, size), cell in cells.items():
        count += 1
        # The fastest rounds: what differs between engines is tens of microseconds, less than a busy machine adds.
        best = {side: min(rounds) for side, rounds in cell.items()}
        lost = best["chosen"] / min(best["kernel"], best["interpreter"]) - 1.0
        if lost > worst:
            worst, where = lost, f"{name}, {size} rows"
    return (
        f"engine chosen over the better one, {count} pairs of expression and size from 100 to 1,000,000 rows",
        f"at most {worst:.0%} slower ({where})" if where else "never slower",
        "fastest rounds",
        "<= 10 %",
    )
