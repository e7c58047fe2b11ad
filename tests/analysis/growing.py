"""Heap and goroutine profiles: built by hand, and those of a server that leaks."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.findings.rules import find
from pprofdiff.analysis.settings import DEFAULTS
from pprofdiff.model.profiles.profile import ValueType
from pprofdiff.model.side import Capture, Side
from tests.analysis.building import profile
from tests.traces.toolchains import once

SERVER = Path(__file__).parents[1] / "workloads" / "growth"
MB = 1 << 20

HEAP = tuple(
    ValueType(f"{when}_{what}", unit)
    for when in ("alloc", "inuse")
    for what, unit in (("objects", "count"), ("space", "bytes"))
)


def heap(sites, *, default="inuse_space", size=1024):
    """Return a heap profile: {stack: (MB allocated, MB in use)}, objects of one size."""
    samples = [
        (stack, (made * MB // size, made * MB, live * MB // size, live * MB))
        for stack, (made, live) in sites.items()
    ]
    built = profile(samples, types=HEAP, period=512 * 1024, duration_ns=None)
    return replace(
        built, period_type=ValueType("space", "bytes"), default_sample_type=default
    )


def goroutines(places):
    """Return a goroutine profile: {stack: number}."""
    types = (ValueType("goroutine", "count"),)
    samples = [(stack, (number,)) for stack, number in places.items()]
    return profile(samples, types=types, period=1, duration_ns=None)


def comparison(base, new, *, settings=DEFAULTS):
    """Return what comparing one profile a side, or several, gives."""
    sides = []
    for label, given in (("base", base), ("new", new)):
        many = given if isinstance(given, tuple) else (given,)
        sides.append(Side(label, tuple(Capture(label, "profile", one) for one in many)))
    return compare_sides(*sides, settings)


def findings(base, new, **how):
    """Return what is found, by id."""
    return {f.id: f for f in find(comparison(base, new, **how)).found}


def serve(folder, **words):
    """Run the server with these flags and return the folder with its profiles."""
    binary = once(folder.parent / "growth", _build)
    folder.mkdir()
    flags = [f"-{word}={value}" for word, value in words.items()]
    subprocess.run([binary, "-out", folder, *flags], check=True)
    return folder


def _build(binary):
    words = ["go", "build", "-trimpath", "-o", str(binary), "."]
    subprocess.run(words, cwd=SERVER, check=True)
