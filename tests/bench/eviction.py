"""What recorded traces would have cost under each policy and budget. Replayed, so nothing is timed and each run gives the same."""

import json
import os
import pathlib

TIMED = False
HEADER = ("trace and budget", "value", "gdsf", "lru", "fifo", "paper", "all")
TRACES = {
    "outage": "one person at examples/outage, recorded",
    "pretrain": "one person at examples/pretrain, recorded",
    "week": "five people on one store, seven days, made from a seed",
}


def run(bench):
    bench.command(["cargo", "build", "--quiet", "--example", "evict_replay"])
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", bench.root / "target"))
    folder = bench.root / "tests" / "bench" / "traces"
    paths = [folder / f"{name}.jsonl" for name in TRACES]
    out = bench.command([target / "debug" / "examples" / "evict_replay", *paths])[2]
    cases = {}
    for line in out.splitlines():
        found = json.loads(line)
        cases.setdefault((found["trace"], found["share"]), {})[found["policy"]] = found
    bench.say(
        "Seconds that did not have to run, as a share of what keeping everything saves, and for each MB that was kept. "
        "Budgets are shares of the bytes of all results; `all` has none. Differences under 0.05 % are not told."
    )
    for (name, share), found in cases.items():
        for words, key, scale in (("of the seconds", "saved", 100 / found["all"]["saved"]), ("s/MB", "saved_per_byte", 1e6)):
            best = max(("gdsf", "lru", "fifo", "paper"), key=lambda policy: found[policy][key])
            theirs, ours = (found[policy][key] * scale for policy in (best, "value"))
            if theirs > ours * 1.0005:
                unit = f" % {words}" if key == "saved" else f" {words}"
                bench.say(f"`value` is not the best for {name} at {share} %: `{best}` {theirs:.4g}{unit}, `value` {ours:.4g}.")
    over = max(cases.values(), key=excess)
    bench.say(
        "`paper` asks for room before it adds, whatever the size, so it breaks its budget: by up to "
        f"{excess(over) * 100 - 100:.0f} % ({over['paper']['trace']} at {over['paper']['share']} %). The others never do."
    )
    return [row(name, share, found) for (name, share), found in cases.items()]


def excess(found):
    """The most bytes that `paper` kept, as a multiple of its budget."""
    return found["paper"]["peak"] / (found["paper"]["bytes"] * found["paper"]["share"] / 100)


def row(name, share, found):
    everything = found["all"]
    words = f"{name}, {share} % of {everything['bytes'] / 1e6:,.0f} MB"
    if share == 10:
        words += f" ({TRACES[name]}; {everything['runs']} runs, {found['none']['paid']:,.0f} s)"
    cells = (
        f"{found[policy]['saved'] / everything['saved'] * 100:.1f} %, {found[policy]['saved_per_byte'] * 1e6:.3g} s/MB"
        for policy in HEADER[1:]
    )
    return (words, *cells)
