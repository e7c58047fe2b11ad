"""The rules on real CPU profiles of every Go release, against the runtime's own books.

`metrics.json` next to each profile holds the change of `runtime/metrics` over the
same time. The runtime's classes are estimates of wall time, so shares are compared,
each without idle time (golang/go#19497).
"""

import gzip
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from pprofdiff.goruntime.classify import classify, compile_traits
from pprofdiff.goruntime.names import alias, canonical_user, normalise
from pprofdiff.goruntime.rules import rules
from pprofdiff.loaders.profiles.pprof import decode

DATA = Path(__file__).parent.parent / "data"
CAPTURES = sorted((DATA / "versions").glob("go1.*"))
PROFILES = sorted(DATA.glob("**/cpu.pb.gz"))
MARKING = {"runtime.gcDrain", "runtime.gcDrainN"}


@cache
def _load(path):
    """Return names, offsets, frame functions, nanoseconds and the classification."""
    profile = decode(gzip.decompress(path.read_bytes()))
    frames = profile.frames()
    functions = profile.locations.line_function[frames.line]
    names = profile.function_names()
    values = profile.values[:, profile.sample_index("cpu")]
    found = classify(compile_traits(names), frames.offsets, functions)
    return names, frames.offsets, functions, values, found


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.name)
def test_marking_is_what_the_marking_loops_take(capture):
    names, offsets, functions, values, found = _load(capture / "cpu.pb.gz")
    marks = np.array([name in MARKING for name in names])[functions]
    below = np.add.reduceat(marks.astype(np.int64), offsets[:-1]) > 0
    table = rules()
    marking = [i for i, c in enumerate(table.categories) if c.startswith("gc.mark.")]
    by_rule = np.isin(found.category, marking)
    # What workers and assists do outside the loops: bookkeeping and parking.
    assert values[below & ~by_rule].sum() <= 0.002 * values.sum()
    assert values[by_rule & ~below].sum() <= 0.005 * values.sum()


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", PROFILES, ids=lambda p: str(p.parent.relative_to(DATA))
)
def test_real_names_normalise_to_names_that_stay(path):
    for name in _load(path)[0]:
        for candidate in normalise(name):
            assert candidate in normalise(candidate)
        assert alias(alias(name)) == alias(name)
        assert canonical_user(canonical_user(name)) == canonical_user(name)
