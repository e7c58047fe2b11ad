"""Functions that really got another name, against a truth read from the sources."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pprofdiff.goruntime.names import package_end
from pprofdiff.model.profiles.profile import Profile
from tests.identity.captures import TESTS, load


class Check(NamedTuple):
    """A function of new, the one of base that it is, and what was said (None: none)."""

    name: str
    truth: str | None
    chosen: str | None


class RealCase(NamedTuple):
    """The checks of one pair; `paired` counts functions paired with other names."""

    pair: str
    paired: int
    checks: list[Check]

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many checks are right, wrong and missed."""
        right = sum(check.chosen == check.truth for check in self.checks)
        missed = sum(c.chosen is None and c.truth is not None for c in self.checks)
        return right, len(self.checks) - right - missed, missed


def real_cases(
    identify: Callable[[Sequence[Profile], Sequence[Profile]], Any],
) -> Iterator[RealCase]:
    """Yield the cases of `truths.toml`, and how an engine pairs them.

    Raises
    ------
    ValueError
        The table names a function that the captures do not have.

    """
    cases = tomllib.loads((Path(__file__).parent / "truths.toml").read_text("utf-8"))
    for case in cases["case"]:
        folder = TESTS / "field" / "pairs" / case["pair"]
        base, new = load(folder / "base"), load(folder / "new")
        names = [
            {name for profile in side for name in profile.function_names()}
            for side in (base, new)
        ]
        truths = _truths(case, *names)
        unknown = [n for n in truths if n not in names[1]]
        unknown += [n for n in truths.values() if n and n not in names[0]]
        if unknown:
            raise ValueError(f"{case['pair']}: no profile has {unknown[0]}")
        identity = identify(base, new)
        other = sum(identity.base_of(name) not in (None, name) for name in names[1])
        checks = [
            Check(name, truth, identity.base_of(name))
            for name, truth in sorted(truths.items())
        ]
        yield RealCase(case["pair"], other, checks)


def _truths(
    case: dict[str, Any], base: set[str], new: set[str]
) -> dict[str, str | None]:
    got = {name: truth or None for name, truth in case.get("functions", {}).items()}
    alone = tuple(case.get("alone", ()))
    packages = case.get("packages", {})
    for name in new - base:
        end = package_end(name)
        if name[:end] in packages:
            same = packages[name[:end]] + name[end:]
            got.setdefault(name, same if same in base else None)
        elif alone and name.startswith(alone):
            got.setdefault(name, None)
    return got
