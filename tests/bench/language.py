"""How fast text becomes syntax, and a large or a small program is checked."""

PROGRAMS = ["examples/outage/detect.pipe", "examples/pretrain/train.pipe"]


def declarations(count):
    """A program of `count` declarations that depend on each other, none of them wrong."""
    lines = ["param start: float = 1.0", ""]
    for at in range(1, count):
        before = "start" if at == 1 else f"v{at - 1}"
        kind = at % 4
        if kind == 0:
            lines.append(f"fn f{at}(x: float) -> float = x * {at}.0 + {before}\nlet v{at} = f{at}({before})")
        elif kind == 1:
            lines.append(f"let v{at} = {before} * 0.5 + {at}.0")
        elif kind == 2:
            lines.append(f"let v{at} = if {before} > {at}.0 {{ {before} }} else {{ {at}.0 }}")
        else:
            lines.append(f"let v{at} = math.max({before}, {at}.0) / 2.0")
    lines.append(f"check last = v{count - 1} > 0.0")
    return "\n".join(lines) + "\n"


def run(bench):
    program = bench.folder / "large.pipe"
    program.write_text(declarations(10_000), encoding="utf-8")
    size = program.stat().st_size / 1e6
    command = ["cargo", "run", "--quiet", "--release", "-p", "pipe-grammar", "--example", "parse_speed", "--", program]
    bench.command(command)
    speeds = sorted(float(bench.command(command)[2]) for _ in range(5))
    rows = [
        (
            f"Source to Ast, {size:.1f} MB of 10,000 declarations",
            f"{speeds[2]:.1f} MB/s",
            f"{speeds[0]:.1f} to {speeds[-1]:.1f}",
            ">= 2 MB/s",
        )
    ]
    middle, least, most, peak = bench.repeat(7, [bench.pipe, "check", program])
    rows.append(
        (
            "`pipe check`, 10,000 declarations",
            f"{middle * 1e3:.0f} ms, {peak / 1e6:.0f} MB",
            f"{least * 1e3:.0f} to {most * 1e3:.0f} ms",
            "<= 600 ms",
        )
    )
    for path in PROGRAMS:
        middle, least, most, peak = bench.repeat(15, [bench.pipe, "check", path])
        rows.append(
            (
                f"`pipe check {path}`, from start to exit",
                f"{middle * 1e3:.1f} ms, {peak / 1e6:.0f} MB",
                f"{least * 1e3:.1f} to {most * 1e3:.1f} ms",
                "<= 20 ms, <= 40 MB",
            )
        )
    return rows
