#!/usr/bin/env python3
"""Measures `train.fit` against PyTorch eager in turns, on the same model, data, threads and libtorch.

    compare.py --ours PROGRAM --python PYTHON [--threads 2] [--rounds 9] [--steps 10] [--folder DIR]

Prints one line of JSON: tokens per second of both, the ratio with its quartiles, the largest
difference of a loss in the first 50 steps, and the circumstances. Exits with 1 when the losses
differ: a speed of something else is worth nothing.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

MAKE = """
import json, sys, torch
from pathlib import Path
from safetensors.torch import save_file
folder = Path(sys.argv[1]); (folder / "model").mkdir(parents=True, exist_ok=True)
c = dict(architectures=["LlamaForCausalLM"], hidden_act="silu", hidden_size=160, intermediate_size=448,
         max_position_embeddings=128, model_type="llama", num_attention_heads=4, num_hidden_layers=4,
         num_key_value_heads=4, rms_norm_eps=1e-5, rope_theta=10000.0, tie_word_embeddings=True, vocab_size=4096)
torch.manual_seed(0)
n = lambda *s: torch.randn(*s) * 0.02
t = {"model.embed_tokens.weight": n(4096, 160), "model.norm.weight": torch.ones(160)}
for i in range(4):
    p = f"model.layers.{i}."
    for name in ("input_layernorm", "post_attention_layernorm"): t[p + name + ".weight"] = torch.ones(160)
    for name in "qkvo": t[p + f"self_attn.{name}_proj.weight"] = n(160, 160)
    for name in ("gate", "up"): t[p + f"mlp.{name}_proj.weight"] = n(448, 160)
    t[p + "mlp.down_proj.weight"] = n(160, 448)
(folder / "model" / "config.json").write_text(json.dumps(c))
save_file(t, folder / "model" / "model.safetensors")
weights = 1.0 / torch.arange(1, 4097)
save_file({"tokens": torch.multinomial(weights, 512 * 128, True).view(512, 128).int()}, folder / "tokens.safetensors")
print(torch.__version__)
"""


# Steps whose losses must agree within 1e-4.
COMPARED = 50


def ask(process, steps):
    process.stdin.write(f"{steps}\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        sys.exit(f"{process.args[0]} ended")
    return json.loads(line)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ours", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--folder")
    given = parser.parse_args()
    folder = Path(given.folder or tempfile.mkdtemp())
    made = subprocess.run([given.python, "-c", MAKE, str(folder)], check=True, capture_output=True, text=True)
    peer = str(Path(__file__).with_name("pytorch_eager.py"))
    # As `pipe` starts its worker, for both sides: threads that wait sleep soon.
    env = {"GOMP_SPINCOUNT": "2000", **os.environ}
    start = lambda *argv: subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
    ours = start(given.ours, str(folder), str(given.threads))
    theirs = start(given.python, peer, str(folder), str(given.threads))
    tokens = 16 * 127 * given.steps
    rates, difference = ([], []), 0.0
    for turn in range(given.rounds + 1):
        a, b = ask(ours, given.steps), ask(theirs, given.steps)
        # Rounding grows with every step until two trainings part, so the beginning is what must agree.
        if turn * given.steps < COMPARED:
            difference = max([difference] + [abs(x - y) for x, y in zip(a["losses"], b["losses"])])
        if turn:
            rates[0].append(tokens / a["seconds"])
            rates[1].append(tokens / b["seconds"])
    ratios = sorted(x / y for x, y in zip(*rates))
    low, middle, high = statistics.quantiles(ratios, n=4)
    print(json.dumps({
        "what": "train.fit against PyTorch eager, tokens/s",
        "ours": round(statistics.median(rates[0])), "theirs": round(statistics.median(rates[1])),
        "ratio": round(middle, 3), "quartiles": [round(low, 3), round(high, 3)], "rounds": given.rounds,
        "largest_loss_difference": difference, "torch": made.stdout.strip(), "threads": given.threads,
        "load": os.getloadavg()[0],
    }))
    for process in (ours, theirs):
        process.stdin.close()
        process.wait()
    sys.exit(difference > 1e-4)


if __name__ == "__main__":
    main()
