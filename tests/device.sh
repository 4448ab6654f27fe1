#!/usr/bin/env bash
# Runs the torch tests on an NVIDIA GPU where there is one (at most 8 minutes), and says plainly when it does not.
set -u
cd "$(dirname "$0")/.."

skip() {
    echo "device tests skipped: $1"
    exit 0
}

command -v nvidia-smi >/dev/null 2>&1 || skip "this machine has no NVIDIA driver, so nothing was tested on a GPU."
nvidia-smi -L 2>/dev/null | grep -q '^GPU' || skip "the NVIDIA driver sees no GPU, so nothing was tested on one."
ls .libtorch/lib/libtorch_cuda.so >/dev/null 2>&1 ||
    skip "libtorch was set up for the CPU; run \`make setup DEVICE=cuda\` and again."

nvidia-smi -L
PIPE_DEVICE=cuda:0 timeout 480 cargo test -p pipe-torch --test device -- --nocapture --test-threads 1
code=$?
[ "$code" -eq 124 ] && echo "device tests were stopped after 8 minutes"
exit "$code"
