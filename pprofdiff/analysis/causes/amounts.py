"""Wording of a function's allocations per op, and whether they matter."""

from __future__ import annotations

from collections.abc import Iterator

from pprofdiff.analysis.benchmarks.units import ALLOCATED
from pprofdiff.analysis.causes.sites import BYTE, KNOWN, OBJECT, Allocated, Site
from pprofdiff.analysis.causes.wording import amount, arrow, numeral
from pprofdiff.analysis.policy import MINOR

__all__ = ["amounts", "is_large", "part_of_all", "share_of_change"]

_Pair = tuple[float, float]

# A function is reported if its allocations changed by this part of all allocations or
# of the whole change, and of its own. Counts are exact, but growing maps and slices
# make small differences.
_OF_ALL, _OF_CHANGE, _OF_ITSELF = 0.04, 0.25, 0.1


def is_large(totals: Allocated | None, site: Site) -> bool:
    """Return whether a function's change is worth reporting, in bytes or objects.

    A change against the total, or beyond it, may come from blocks shared with others.
    """
    for _, whole, part in _known(totals, site):
        change, of_all = part[1] - part[0], whole[1] - whole[0]
        least = min(_OF_ALL * max(whole), _OF_CHANGE * abs(of_all))
        least = max(least, _OF_ITSELF * max(part))
        if change * of_all <= 0 or abs(change) > (1 + _OF_ITSELF) * abs(of_all):
            least = max(least, site.shared)
        if abs(change) >= least > 0:
            return True
    return False


def part_of_all(totals: Allocated | None, site: Site) -> float:
    """Return a function's change as a part of all bytes or objects, 0 to 1."""
    parts = (
        abs(new - base) / max(whole)
        for _, whole, (base, new) in _known(totals, site)
        if max(whole)
    )
    return min(max(parts, default=0.0), 1.0)


def amounts(totals: Allocated | None, site: Site) -> str:
    """Return a function's allocations: ``1.8 → 0 KiB/op, 30 → 0 allocs/op``.

    Objects are omitted if profiles may miss a good part of them. A function within 1%
    of the benchmarks' counts on both sides gets those counts.
    """
    if totals is not None:
        site = site._replace(
            space=_nearly_all(totals.space, site.space),
            objects=_nearly_all(totals.objects, site.objects),
        )
    space = f"{arrow(*site.space, 'B')}/op"
    few = abs(site.objects[1] - site.objects[0]) < KNOWN * site.missing
    if (few and not site.exact) or max(site.objects) < OBJECT:
        return space
    # Bytes that stay are no part of a change.
    space = "" if site.space[0] == site.space[1] else f"{space}, "
    objects = numeral(
        " → ".join(map(_objects, site.objects)),
        "pair",
        site.objects[1],
        site.objects[0],
    )
    return f"{space}{'' if site.exact else 'about '}{objects} allocs/op"


def _nearly_all(whole: _Pair | None, part: _Pair) -> _Pair:
    """Return `part`, or `whole` if both sides agree within 1%."""
    if whole is None:
        return part
    all_of = (
        abs(own - all_) <= MINOR * all_ for all_, own in zip(whole, part, strict=True)
    )
    return whole if all(all_of) else part


def share_of_change(
    totals: Allocated | None, site: Site, *, alone: bool, mix: bool
) -> str:
    """Return a function's part of the change in allocations per op, as a sentence.

    Only a function named `alone` has the whole change. "" if the function changed the
    other way, or by more than the total. With `mix`, ops are those of several
    benchmarks.
    """
    known = list(_known(totals, site))
    changes = [(new - base, whole[1] - whole[0]) for _, whole, (base, new) in known]
    if not changes or not site.agrees:
        return ""
    largest = 1 + MINOR
    if any(not 0 <= part / change <= largest for part, change in changes if change):
        return ""
    if all(abs(part - change) <= MINOR * abs(change) for part, change in changes):
        counts = " and ".join(count for count, _, _ in known)
        return f"That is the whole change in {counts}." if alone else ""
    part, change = changes[0]
    whose = "the mix's " if mix else ""
    of_all = f"{whose}{amount(change, 'B', signed=True)}"
    clauses = [f"{amount(part, 'B', signed=True)} of {of_all}/op"]
    if site.exact:
        clauses += [f"{_signed(a)} of {_signed(b)} allocs/op" for a, b in changes[1:]]
    return f"That is {', '.join(clauses)}."


def _known(totals: Allocated | None, site: Site) -> Iterator[tuple[str, _Pair, _Pair]]:
    """Yield (unit, total per op, function's per op) of bytes, and of exact objects."""
    if totals is None:
        return
    if totals.space is not None and max(totals.space) >= BYTE:
        yield ALLOCATED["alloc_space"], totals.space, site.space
    known = site.exact or totals.space is None
    if known and totals.objects is not None and max(totals.objects) >= OBJECT:
        yield ALLOCATED["alloc_objects"], totals.objects, site.objects


def _objects(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value >= OBJECT else "0"


def _signed(value: float) -> str:
    text = f"{'−' if value < 0 else '+'}{_objects(abs(value))}"
    return numeral(text, "amount", value)
