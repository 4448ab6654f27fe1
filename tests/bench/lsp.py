"""How long an editor waits for the problems of a 2,000-line program after a key, through the whole server."""

COMMAND = ["cargo", "run", "--quiet", "--release", "-p", "pipe-lsp", "--example", "keystrokes"]


def run(bench):
    bench.command(COMMAND)
    medians, tails = [], []
    for _ in range(5):
        median, tail = bench.command(COMMAND)[2].split()
        medians.append(float(median))
        tails.append(float(tail))
    rows = []
    for what, times, goal in [("median", medians, "<= 15 ms"), ("99th percentile", tails, "<= 40 ms")]:
        times.sort()
        rows.append(
            (
                f"Problems after a key in 2,000 lines, {what} of 300 keys",
                f"{times[2]:.1f} ms",
                f"{times[0]:.1f} to {times[-1]:.1f}",
                goal,
            )
        )
    return rows
