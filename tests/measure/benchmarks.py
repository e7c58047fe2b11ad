"""Packages of benchmarks that tests compile and run."""

from __future__ import annotations

import os
import subprocess


def write(folder, text):
    """Write package p, of the benchmarks in a text."""
    (folder / "go.mod").write_text("module example.com/p\n\ngo 1.24\n")
    (folder / "p_test.go").write_text(text, "utf-8")


def build(folder, *flags, binary="p.test"):
    """Compile the package in a folder."""
    subprocess.run(
        ["go", "test", "-c", "-vet=off", *flags, "-o", binary, "."],
        cwd=folder, check=True, capture_output=True, env={**os.environ, "GOWORK": "off"},
    )  # fmt: skip


def bench(folder, pattern, times, *flags, binary="p.test"):
    """Run benchmarks so many times; return what they print."""
    return subprocess.run(
        [f"./{binary}", "-test.run=^$", f"-test.bench={pattern}",
         f"-test.benchtime={times}x", *flags],
        cwd=folder, check=True, capture_output=True,
    ).stdout  # fmt: skip
