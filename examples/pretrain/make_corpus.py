#!/usr/bin/env python3
"""Makes `corpus.jsonl`: this project's own sources and documents, one a line, with `path` and `text`.

    python3 examples/pretrain/make_corpus.py

The corpus is frozen: it was made once and is kept with the example, so that results stay comparable.
Only files that git tracks count. When they are more than fits, files are left out in the order of
a digest of their paths, so that no folder is favoured.
"""
import hashlib
import json
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
KINDS = (".md", ".rs", ".pipe", ".py")
MOST = 980_000


def documents():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    for name in sorted(listed.decode().split("\0")):
        path = ROOT / name
        if name.endswith(KINDS) and path.is_file() and not path.is_symlink():
            text = path.read_text(encoding="utf-8")
            if len(text) >= 200:
                yield {"path": name, "text": text}


def main():
    def chance(line):
        return hashlib.sha256(line["path"].encode()).digest()

    kept, size = [], 0
    for line in sorted(documents(), key=chance):
        written = json.dumps(line, ensure_ascii=False) + "\n"
        if size + len(written.encode()) <= MOST:
            kept.append((line["path"], written))
            size += len(written.encode())
    (HERE / "corpus.jsonl").write_text("".join(written for _, written in sorted(kept)), encoding="utf-8")
    print(f"{len(kept)} documents, {size} bytes")


if __name__ == "__main__":
    main()
