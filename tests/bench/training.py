"""How fast `train.fit` trains, against the same model in PyTorch eager: same libtorch, same threads, in turns.

The peer needs PyTorch 2.11 and transformers, about 5 GB: `BENCH_PYTHON` names an interpreter that has them,
else they are installed into `.bench/venv`.
"""

import json
import os
import pathlib
import subprocess
import sys

PACKAGES = ["torch==2.11.0", "transformers==5.24.0", "safetensors", "numpy"]


def peer(bench):
    """An interpreter with the peer's packages; None when they cannot be had."""
    named = os.environ.get("BENCH_PYTHON")
    if named:
        return named
    folder = bench.folder / "venv"
    python = folder / "bin" / "python"
    ready = folder / "ready"
    if ready.exists():
        return python
    print("bench: installing PyTorch for comparison (about 5 GB)", file=sys.stderr, flush=True)
    steps = [
        [sys.executable, "-m", "venv", folder],
        [python, "-m", "pip", "install", "--quiet", *PACKAGES],
    ]
    for step in steps:
        if subprocess.run(step).returncode != 0:
            return None
    ready.write_text("\n".join(PACKAGES))
    return python


def run(bench):
    python = peer(bench)
    if python is None:
        bench.not_shown("Training against PyTorch eager: its packages could not be installed.")
        return []
    bench.command(["cargo", "build", "--quiet", "--release", "-p", "pipe-torch", "--example", "throughput"])
    script = bench.root / "runtime" / "torch" / "bench" / "compare.py"
    ours = bench.target / "examples" / "throughput"
    rows = []
    for threads in sorted({1, min(2, os.cpu_count() or 1)}):
        command = [sys.executable, script, "--ours", ours, "--python", python, "--threads", threads, "--rounds", "15"]
        found = json.loads(bench.command(command)[2])
        low, high = found["quartiles"]
        rows.append(
            (
                f"`train.fit` against PyTorch {found['torch']} eager, 1.9 M parameters, fp32, {threads} thread"
                + ("s" if threads > 1 else ""),
                f"{found['ratio']:.2f} x ({found['ours']:,} against {found['theirs']:,} tokens/s)",
                f"quartiles {low:.2f} to {high:.2f}, {found['rounds']} rounds in turns",
                ">= 1.0 x, target 1.1 x",
            )
        )
    if not pathlib.Path("/dev/nvidia0").exists():
        bench.not_shown("Training on a GPU: there was none.")
    return rows
