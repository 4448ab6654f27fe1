"""Training speed against PyTorch eager, and whether Hugging Face transformers loads what we write."""

import json
import subprocess
import sys

NEEDS = ["torch==2.11.0", "transformers==5.24.0", "safetensors", "numpy"]


def peer(bench):
    """A Python with the peers, made once in `.bench/`; nothing when that is not possible."""
    python = bench.folder / "python" / "bin" / "python"
    ready = bench.folder / "python" / "ready"
    if not ready.exists():
        subprocess.run([sys.executable, "-m", "venv", bench.folder / "python"], check=True)
        print("bench: installing PyTorch and transformers into .bench/ (once, about 5 GB)", file=sys.stderr, flush=True)
        installed = subprocess.run([python, "-m", "pip", "install", "--quiet", *NEEDS])
        if installed.returncode != 0:
            return None
        ready.touch()
    return python


def speed(bench, python, threads):
    program = bench.target / "examples" / "throughput"
    compare = bench.root / "runtime" / "torch" / "bench" / "compare.py"
    command = [python, compare, "--ours", program, "--python", python, "--threads", threads]
    found = json.loads(bench.command(command)[2])
    if found["load"] > threads + 1:
        bench.not_shown(f"Training speed on a quiet machine: the load was {found['load']:.1f}.")
    low, high = found["quartiles"]
    return (
        f"`train.fit` against PyTorch {found['torch']} eager, 1.9 M parameters, {threads} threads, {found['rounds']} rounds in turn "
        f"({found['ours']:,} and {found['theirs']:,} tokens/s; losses differ by at most {found['largest_loss_difference']:.0e})",
        f"{found['ratio']:.2f} times",
        f"{low:.2f} to {high:.2f}",
        ">= 1.0, aim 1.1",
    )


def loads(bench, python):
    command = [bench.pipe, "run", "train.pipe", "--tokens", "20000", "--out", bench.folder / "pretrain"]
    bench.command(command, bench.root / "examples" / "pretrain", expect=None)
    script = bench.root / "runtime" / "torch" / "bench" / "load_with_transformers.py"
    found = json.loads(bench.command([python, script, bench.folder / "pretrain" / "model"])[2].splitlines()[-1])
    return ("`model.package` read by transformers 5.24", found["class"], f"{found['parameters']:,} parameters", "loads")


def run(bench):
    build = ["cargo", "build", "--quiet", "--release", "-p", "pipe-torch", "--example", "throughput"]
    bench.command(build)
    python = peer(bench)
    if python is None:
        bench.not_shown("Training speed against PyTorch: pip could not install the peers.")
        return []
    return [speed(bench, python, 2), speed(bench, python, 1), loads(bench, python)]
