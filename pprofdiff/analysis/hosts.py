"""What to know about two fleets before trusting their difference."""

from __future__ import annotations

from collections.abc import Iterator

from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.run_order import began_first
from pprofdiff.model.side import Fleet, Side

# With fewer hosts per side, t reaches 7% further than the normal distribution, and one
# odd host is a tenth of its side.
_FEW = 10
# With a smaller share of hosts in pairs, most host-to-host variation remains.
_MOST = 0.5


def hosts_of_both(base: Side, new: Side) -> int:
    """Return how many hosts are compared with themselves.

    0 unless half of either side's hosts are on the other side too, by name. If there
    are so many hosts that runs are groups of them, a host is in the same group on both
    sides, and groups are paired.
    """
    if base.fleet is None or new.fleet is None:
        return 0
    runs = [{capture.run for capture in side.captures} for side in (base, new)]
    names = base.fleet.names, new.fleet.names
    both = len({*names[0]} & {*names[1]})
    return both if runs[0] & runs[1] and both >= _MOST * max(map(len, names)) else 0


def fleet_caveats(base: Side, new: Side) -> Iterator[Caveat]:
    """Yield caveats about sides that are fleets; none about other sides."""
    if base.fleet is None or new.fleet is None:
        return
    if len(base.fleet.names) == len(new.fleet.names) == 1:
        yield _one("either side")
    else:
        for side, fleet in ((base, base.fleet), (new, new.fleet)):
            yield from _few(side, fleet)
    yield from _one_hour_and_another(base, new)


def _one(side: str) -> Caveat:
    return Caveat(
        "one-host",
        f"{side} is one host: nothing shows how far hosts of one build differ, so that "
        "another host looks like a change",
    )


def _few(side: Side, fleet: Fleet) -> Iterator[Caveat]:
    count = len(fleet.names)
    if count == 1:
        yield _one(side.label)
    elif count < _FEW:
        yield Caveat(
            "few-hosts",
            f"{side.label} has {count} hosts, which hardly show how far hosts of one "
            f"build differ; {_FEW} or more do",
        )


def _one_hour_and_another(base: Side, new: Side) -> Iterator[Caveat]:
    """Yield a caveat if one build's hosts were all profiled before the other's."""
    first = began_first(base, new)
    if first is not None:
        yield Caveat(
            "one_after_the_other",
            f"profiles of all hosts of {first.label} began first: another hour has "
            "another load, which looks like a change; compare builds that ran at the "
            "same time",
        )
