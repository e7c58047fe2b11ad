"""Every pair of real evidence that tests hold true.

They are the field's pairs that are not kept aside, the stories of `tests/data` with and
without their work, and its Go releases, each against the next.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, permutations
from pathlib import Path
from typing import NamedTuple

import pytest

from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import counted, rated
from pprofdiff.api.comparison import Comparison, compare_paths
from pprofdiff.report.model import ReportModel
from tests.field.__main__ import kept_aside
from tests.field.capture import PAIRS

DATA = PAIRS.parents[1] / "data"
# By its place among all pairs: the README's run has every third, which are of all kinds,
# the daily run one in 21.
_THIRD, _DAILY = 3, 21
_STORIES = ("syncpool", "rss-search", "zstd", "health-check", "node-pool")

Pair = tuple[float, float]


class Case(NamedTuple):
    """Two folders or files to compare, and the operations of each where they are known.

    `counts` are operations done while profiled, `rates` operations a second.
    """

    name: str
    base: Path
    new: Path
    counts: Pair | None = None
    rates: Pair | None = None

    @property
    def pair(self) -> str:
        """The name that both orders of its sides share."""
        return self.name.removesuffix("-swapped")

    @property
    def swapped(self) -> Case:
        """The same with base for new."""
        counts, rates = (
            None if pair is None else pair[::-1] for pair in (self.counts, self.rates)
        )
        return Case(f"{self.name}-swapped", self.new, self.base, counts, rates)


@lru_cache(maxsize=4)
def compared(case: Case) -> Comparison:
    """Return both sides compared, which the tests of a pair share: see conftest.py."""
    work = None
    if case.counts is not None:
        work = counted(case.counts)
    elif case.rates is not None:
        work = rated(case.rates)
    return compare_paths(case.base, case.new, Settings(work=work))


def report(case: Case) -> ReportModel:
    """Return the report, whose findings are drawn once."""
    return compared(case).report()


def _of_field() -> Iterator[tuple[Case, bool]]:
    """Yield the field's pairs, and whether both sides are one build."""
    for path in sorted(PAIRS.glob("*/pair.toml")):
        folder = path.parent
        if kept_aside(folder.name):
            continue
        pair = tomllib.loads(path.read_text("utf-8"))
        known = _options(pair.get("options", ()))
        case = Case(folder.name, folder / "base", folder / "new", **known)
        yield case, pair.get("unchanged", False)


def _options(words: list[str]) -> dict[str, Pair]:
    """Return the work that a pair's command line gives."""
    if not words:
        return {}
    name, value = " ".join(words).replace("=", " ").lstrip("-").split()
    base, new = map(float, value.split(":"))
    return {{"work": "counts", "rps": "rates"}[name]: (base, new)}


def _of_data() -> Iterator[Case]:
    for name in _STORIES:
        sides = DATA / name / "base", DATA / name / "new"
        yield Case(name, *sides)
        rates = [_rate(side) for side in sides]
        yield Case(f"{name}-known", *sides, rates=(rates[0], rates[1]))
    for old, new in pairwise(sorted((DATA / "versions").iterdir())):
        yield Case(f"{old.name}-{new.name}", old, new, rates=(_rate(old), _rate(new)))
    logs = DATA / "sync-pool-gctrace"
    yield Case("logs", logs / "none-pool.log", logs / "sync-pool.log")


def _rate(folder: Path) -> float:
    done = json.loads((folder / "work.json").read_text("utf-8"))
    return float(done["operations"] / done["seconds"])


def _unchanged() -> Iterator[Case]:
    """Yield one build's runs in both orders, as they are and with equal work."""
    runs = sorted((DATA / "unchanged").iterdir())
    for base, new in permutations(runs, 2):
        name = f"{base.name}-{new.name}"
        yield Case(name, base, new)
        yield Case(f"{name}-known", base, new, counts=(1.0, 1.0))
    for case, same in _of_field():
        if same:
            yield case
            yield case.swapped


def each(cases: Sequence[Case]) -> pytest.MarkDecorator:
    """Parametrize a test with cases: of every day, of the README's run, or whole."""
    return pytest.mark.parametrize(
        "case",
        [pytest.param(case, marks=_marks(case)) for case in cases],
        ids=lambda case: case.name,
    )


def _marks(case: Case) -> list[pytest.MarkDecorator]:
    """Return when a case runs; both orders of its sides run together."""
    place = _PLACES[case.pair]
    if place % _THIRD:
        return [pytest.mark.whole, pytest.mark.slow]
    return [pytest.mark.slow] if place % _DAILY else []


CASES = (*(case for case, _ in _of_field()), *_of_data())
UNCHANGED = tuple(_unchanged())
_PLACES = {
    name: place
    for place, name in enumerate(dict.fromkeys(c.pair for c in (*CASES, *UNCHANGED)))
}
