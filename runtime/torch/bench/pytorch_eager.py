#!/usr/bin/env python3
"""The same training in PyTorch eager, as one would write it: the peer of `throughput.rs`.

    pytorch_eager.py FOLDER THREADS

For each number that is read from stdin it takes that many steps and prints one line of JSON. The
model is a Llama-type decoder with fused query-key-value and gate-up projections, the attention
kernel, the cross-entropy and the fused AdamW of PyTorch; norms, rotary embedding and loss as in
transformers. Data order, initial weights and settings are those of the other side.
"""
import json
import sys
import time
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn import functional as F

MASK = (1 << 64) - 1
GAMMA = 0x9E3779B97F4A7C15


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def permutation(seed, epoch, rows):
    """The order of rows of `train.fit` (src/train/order.rs)."""
    def rotl(x, r):
        return ((x << r) | (x >> (64 - r))) & MASK
    state = mix(mix((seed + GAMMA) & MASK) ^ rotl((epoch * GAMMA) & MASK, 32))

    def below(bound):
        nonlocal state
        threshold = ((1 << 64) - bound) % bound
        while True:
            state = (state + GAMMA) & MASK
            wide = mix(state) * bound
            if wide & MASK >= threshold:
                return wide >> 64
    order = list(range(rows))
    for last in range(rows - 1, 0, -1):
        other = below(last + 1)
        order[last], order[other] = order[other], order[last]
    return order


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        h, f = c["hidden_size"], c["intermediate_size"]
        self.heads, self.kv = c["num_attention_heads"], c["num_key_value_heads"]
        self.dim = h // self.heads
        eps = c["rms_norm_eps"]
        self.norm1, self.norm2 = nn.RMSNorm(h, eps), nn.RMSNorm(h, eps)
        self.qkv = nn.Linear(h, (self.heads + 2 * self.kv) * self.dim, bias=False)
        self.out = nn.Linear(h, h, bias=False)
        self.gate_up = nn.Linear(h, 2 * f, bias=False)
        self.down = nn.Linear(f, h, bias=False)

    def forward(self, x, cos, sin):
        b, t, _ = x.shape
        sizes = [self.heads * self.dim, self.kv * self.dim, self.kv * self.dim]
        q, k, v = self.qkv(self.norm1(x)).split(sizes, dim=-1)
        q = q.view(b, t, -1, self.dim).transpose(1, 2)
        k = k.view(b, t, -1, self.dim).transpose(1, 2)
        v = v.view(b, t, -1, self.dim).transpose(1, 2)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=self.heads != self.kv)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, -1))
        gate, up = self.gate_up(self.norm2(x)).chunk(2, dim=-1)
        return x + self.down(F.silu(gate) * up)


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-b, a), dim=-1) * sin


class Decoder(nn.Module):
    def __init__(self, c, positions):
        super().__init__()
        self.embed = nn.Embedding(c["vocab_size"], c["hidden_size"])
        self.blocks = nn.ModuleList(Block(c) for _ in range(c["num_hidden_layers"]))
        self.norm = nn.RMSNorm(c["hidden_size"], c["rms_norm_eps"])
        dim = c["hidden_size"] // c["num_attention_heads"]
        inverse = 1.0 / c["rope_theta"] ** (torch.arange(0, dim, 2).float() / dim)
        angles = torch.outer(torch.arange(positions).float(), inverse)
        angles = torch.cat((angles, angles), dim=-1)
        self.cos, self.sin = angles.cos(), angles.sin()

    def forward(self, ids):
        x = self.embed(ids)
        cos, sin = self.cos[: ids.shape[1]], self.sin[: ids.shape[1]]
        for block in self.blocks:
            x = block(x, cos, sin)
        return F.linear(self.norm(x), self.embed.weight)


def load(model, tensors):
    with torch.no_grad():
        model.embed.weight.copy_(tensors["model.embed_tokens.weight"])
        model.norm.weight.copy_(tensors["model.norm.weight"])
        for i, block in enumerate(model.blocks):
            get = lambda name: tensors[f"model.layers.{i}.{name}.weight"]
            block.norm1.weight.copy_(get("input_layernorm"))
            block.norm2.weight.copy_(get("post_attention_layernorm"))
            block.qkv.weight.copy_(torch.cat([get(f"self_attn.{n}_proj") for n in "qkv"]))
            block.out.weight.copy_(get("self_attn.o_proj"))
            block.gate_up.weight.copy_(torch.cat([get("mlp.gate_proj"), get("mlp.up_proj")]))
            block.down.weight.copy_(get("mlp.down_proj"))


def main():
    folder, threads = Path(sys.argv[1]), int(sys.argv[2])
    torch.set_num_threads(threads)
    config = json.loads((folder / "model" / "config.json").read_text())
    tokens = load_file(folder / "tokens.safetensors")["tokens"].long()
    rows, length = tokens.shape
    model = Decoder(config, length)
    load(model, load_file(folder / "model" / "model.safetensors"))
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.95), eps=1e-8, fused=True)
    batch, at, epoch = 16, 0, 0
    order = permutation(0, 0, rows)
    for line in sys.stdin:
        losses, start = [], time.perf_counter()
        for _ in range(int(line)):
            picked = order[at : at + batch]
            at += batch
            if at >= rows:
                at, epoch = 0, epoch + 1
                order = permutation(0, epoch, rows)
            ids = tokens[torch.tensor(picked)]
            logits = model(ids[:, :-1])
            loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), ids[:, 1:].reshape(-1))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        seconds = time.perf_counter() - start
        print(json.dumps({"seconds": seconds, "steps": int(line), "losses": losses}), flush=True)


if __name__ == "__main__":
    main()
