"""What is said of many splits of captured runs, remembered while nothing changes it."""

from __future__ import annotations

import hashlib
import pickle
import zlib
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pprofdiff
from pprofdiff.analysis.settings import DEFAULTS, Settings
from pprofdiff.identity.model import SAME_NAMES
from tests.calibration.capture import UNCHANGED
from tests.calibration.loading import RunSet
from tests.calibration.said import Said, said
from tests.calibration.splits import of_planted, of_unchanged
from tests.calibration.workloads import WORKLOADS

_DECIDE = ("judging.py", "loading.py", "plain.py", "said.py", "splits.py")


class Key(NamedTuple):
    """Which splits: `size` is the planted per cent, 0 for none; `runs` are a side's."""

    workload: str
    condition: str
    size: float
    runs: int


@lru_cache(maxsize=4)
def loaded(folder: Path) -> RunSet:
    """Return the runs below a folder, in the order of time."""
    return RunSet.of(folder)


def judged(folder: Path, key: Key, splits: int) -> list[Said]:
    """Return what is said of one kind of split.

    Which function is which is decided anew for unchanged builds alone: of planted ones
    it is known, and half of the time.
    """
    runs = loaded(folder / key.workload / key.condition)
    # Of each kind of split its own, whichever others are asked for.
    rng = np.random.default_rng(zlib.crc32(repr(key).encode()))
    unchanged = runs.of_build(UNCHANGED)
    settings = DEFAULTS
    if not key.size:
        made = of_unchanged(unchanged.tolist(), key.runs, splits, rng)
    else:
        planted = runs.of_build(f"+{key.size:g}")
        made = of_planted(unchanged, planted, key.runs, splits, rng)
        settings = Settings(identity=SAME_NAMES)
    function = WORKLOADS[key.workload].planted
    return [said(runs, split, function, settings) for split in made]


def remembered(folder: Path, key: Key, splits: int) -> list[Said]:
    """Return what an earlier call said, where neither code nor runs differ."""
    there = sorted((folder / key.workload / key.condition).glob("*/*/run.json"))
    asked = (key, splits, _code(), [path.read_bytes() for path in there])
    name = hashlib.sha256(repr(asked).encode()).hexdigest()
    path = folder / "said" / f"{name}.pickle"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(pickle.dumps(judged(folder, key, splits)))
    said_before: list[Said] = pickle.loads(path.read_bytes())  # noqa: S301 - our own
    return said_before


@cache
def _code() -> str:
    """Return a hash of all that decides what is said of runs."""
    library = Path(pprofdiff.__file__).parent
    paths = [path for path in library.rglob("*") if path.suffix in (".py", ".toml")]
    paths += [Path(__file__).with_name(name) for name in _DECIDE]
    got = hashlib.sha256()
    for path in sorted(paths):
        got.update(path.read_bytes())
    return got.hexdigest()
