"""Heap and goroutine profiles: built by hand, and from a server that leaks.

``python -m tests.analysis.growing`` makes the server's profiles again.
"""

import subprocess
import tempfile
from pathlib import Path

from msgspec.structs import replace

from pprofdiff.analysis.causes.table import find
from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.settings import DEFAULTS
from pprofdiff.model.profiles.profile import ValueType
from pprofdiff.model.side import Capture, Side
from tests.analysis.building import profile

SERVER = Path(__file__).parents[1] / "workloads" / "growth"
CAPTURES = Path(__file__).parent / "captures"
MB = 1 << 20

HEAP = tuple(
    ValueType(f"{when}_{what}", unit)
    for when in ("alloc", "inuse")
    for what, unit in (("objects", "count"), ("space", "bytes"))
)


def heap(sites, *, default="inuse_space", size=1024):
    """Return a heap profile: {stack: (MB allocated, MB in use)}.

    All objects are of one size, or a stack's of its own size: {stack: size}.
    """
    sizes = size if isinstance(size, dict) else dict.fromkeys(sites, size)
    samples = []
    for stack, (made, live) in sites.items():
        one = sizes.get(stack, 1024)
        samples.append(
            (stack, (made * MB // one, made * MB, live * MB // one, live * MB))
        )
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
    """Return what comparing one profile a side, or several, gives; or other captures."""
    sides = []
    for label, given in (("base", base), ("new", new)):
        many = given if isinstance(given, tuple) else (given,)
        captures = (
            one if isinstance(one, Capture) else Capture(label, "profile", one)
            for one in many
        )
        sides.append(Side(label, tuple(captures)))
    return compare_sides(*sides, settings)


def findings(base, new, **how):
    """Return what is found, by id."""
    found = find(comparison(base, new, **how)).found
    assert len({f.id for f in found}) == len(found)
    return {f.id: f for f in found}


# What the server leaks, and words of its command line. ``again`` is as ``none``.
SERVED = {
    "none": (),
    "again": (),
    "idle": ("-requests=2500",),
    "heap": ("-leak=heap",),
    "goroutines": ("-leak=goroutines",),
}


def served(kind):
    """Return the folder of profiles of the server that leaks this, or nothing."""
    return CAPTURES / kind


def main():
    """Make all profiles again; how many goroutines wait depends on the machine."""
    with tempfile.TemporaryDirectory() as name:
        program = Path(name) / "growth"
        build = ["go", "build", "-trimpath", "-o", str(program), "."]
        subprocess.run(build, cwd=SERVER, check=True)
        for kind, words in SERVED.items():
            served(kind).mkdir(parents=True, exist_ok=True)
            subprocess.run([program, "-out", served(kind), *words], check=True)


if __name__ == "__main__":
    main()
