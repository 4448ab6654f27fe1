#!/usr/bin/env python3
"""Loads a folder that `model.package` wrote with Hugging Face transformers, and says what it finds.

    load_with_transformers.py FOLDER [TOKENS.safetensors]

Prints one line of JSON: class, parameters, what a text becomes and comes back as, ten greedy tokens, and
the perplexity of packed rows when they are given. Exits with 1 when a weight is missing or unexpected.
"""
import json
import math
import sys

import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer


def perplexity(model, tokens):
    total, count = 0.0, 0
    for rows in tokens.long().split(32):
        logits = model(rows).logits[:, :-1].flatten(0, 1)
        total += torch.nn.functional.cross_entropy(logits, rows[:, 1:].flatten(), reduction="sum").item()
        count += rows[:, 1:].numel()
    return math.exp(total / count)


@torch.no_grad()
def main():
    folder = sys.argv[1]
    model, info = AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    text = "let x = data.read(\"a.csv\")  # naïve, 3 × 4"
    ids = tokenizer(text, return_tensors="pt").input_ids
    written = model.generate(ids, max_new_tokens=10, do_sample=False)
    found = {
        "class": type(model).__name__,
        "parameters": sum(p.numel() for p in model.parameters()),
        "missing": sorted(info["missing_keys"]),
        "unexpected": sorted(info["unexpected_keys"]),
        "tokens": ids.shape[1],
        "round_trip": tokenizer.decode(ids[0]) == text,
        "continues": tokenizer.decode(written[0, ids.shape[1]:]),
    }
    if len(sys.argv) > 2:
        found["perplexity"] = perplexity(model.eval(), load_file(sys.argv[2])["tokens"])
    print(json.dumps(found))
    sys.exit(bool(found["missing"] or found["unexpected"] or not found["round_trip"]))


if __name__ == "__main__":
    main()
