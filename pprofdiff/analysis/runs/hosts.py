"""What to know of two fleets before one believes their difference."""

from __future__ import annotations

from collections.abc import Iterator

from pprofdiff.analysis.profiles.caveats import Caveat
from pprofdiff.analysis.runs.turns import starts_of
from pprofdiff.model.side import Fleet, Side

__all__ = ["fleet_caveats"]

# Of fewer hosts a side, t reaches 7 % further than the normal distribution, and one
# host that is unlike all others is a tenth of its side.
_FEW = 10
_SEVERAL = 2


def fleet_caveats(base: Side, new: Side) -> Iterator[Caveat]:
    """Yield doubts about sides that are fleets; nothing of sides that are not."""
    if base.fleet is None or new.fleet is None:
        return
    for side, fleet in ((base, base.fleet), (new, new.fleet)):
        yield from _few(side, fleet)
    yield from _one_hour_and_another(base, new)


def _few(side: Side, fleet: Fleet) -> Iterator[Caveat]:
    count = len(fleet.names)
    if count == 1:
        yield Caveat(
            "one-host",
            f"{side.label} is one host: nothing shows how far hosts of one build "
            "differ, so that another host looks like a change",
        )
    elif count < _FEW:
        yield Caveat(
            "few-hosts",
            f"{side.label} has {count} hosts, which hardly show how far hosts of one "
            f"build differ; {_FEW} or more do",
        )


def _one_hour_and_another(base: Side, new: Side) -> Iterator[Caveat]:
    """Yield a doubt where one build's hosts were all profiled before the other's."""
    starts = [sorted(starts_of(side).values()) for side in (base, new)]
    if min(map(len, starts)) < _SEVERAL:
        return
    for number, side in enumerate((base, new)):
        if starts[number][-1] < starts[1 - number][0]:
            yield Caveat(
                "one_after_the_other",
                f"profiles of all hosts of {side.label} began first: another hour has "
                "another load, which looks like a change; compare builds that ran at "
                "the same time",
            )
