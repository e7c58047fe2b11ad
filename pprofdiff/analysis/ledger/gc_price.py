"""GC CPU as quantity × price: bytes allocated × CPU per byte, and the price's factors.

The change of a product is split by logarithmic mean (Törnqvist, Vartia and Vartia 1984;
LMDI in energy accounting): with L = (new − base) ÷ ln(new ÷ base), each factor's part
is L × ln(factor's ratio). The parts sum to the change, and change sign with the sides.

A cycle marks once for all the bytes allocated until the next one, so

    marking per byte = CPU per cycle ÷ (live heap × pace) × measured

where `pace` is the bytes allocated per cycle and live byte, which GOGC or a memory
limit sets, and `measured` is the ratio of the profiles to the GC log.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, log, log1p
from typing import NamedTuple

Pair = tuple[float, float]
"""The values of (base, new)."""

# Between these ratios, log1p of the relative difference is more accurate than log.
_NEAR = 0.5, 2.0


class Cycle(NamedTuple):
    """GC log figures per cycle: CPU in ns, allocated bytes, live heap in bytes.

    `live` is None if heaps are too small to measure.
    """

    cpu: Pair
    allocated: Pair
    live: Pair | None


class _Declared(NamedTuple):
    """What a factor is: its label, "" if that depends on the evidence, and its unit."""

    label: str
    unit: str


FACTORS = {
    "allocated": _Declared("bytes allocated", "bytes/op"),
    "price": _Declared("CPU per byte", "ns/byte"),
    "live": _Declared("live heap (mean)", "bytes"),
    "pace": _Declared("allocated per live byte", "ratio"),
    "per_cycle": _Declared("allocated per cycle", "bytes"),
    "cycle": _Declared("CPU per cycle", "ns"),
    "measured": _Declared("", "ratio"),
    "marking": _Declared("marking", "ns/byte"),
    "sweeping": _Declared("sweeping and barriers", "ns/byte"),
    "idle": _Declared("idle marking", "ns/byte"),
    "parked": _Declared("threads parking for a stopped world", "ns/byte"),
}
"""All factors, by id."""


class Factor(NamedTuple):
    """A factor's values, and its `part` of the change in GC CPU, in ns/op."""

    id: str
    base: float
    new: float
    part: float


class GCPrice(NamedTuple):
    """The change of GC CPU per op (`cpu`, ns) as parts that sum to it.

    `allocated` is in bytes/op, `price` in ns/B. `factors` sum to `price`, and `places`
    (bytes/op by allocating function) to `allocated`; either may be empty.
    """

    cpu: Pair
    allocated: Factor
    price: Factor
    factors: tuple[Factor, ...] = ()
    places: tuple[Factor, ...] = ()

    @property
    def delta(self) -> float:
        """New minus base, in ns/op."""
        return self.cpu[1] - self.cpu[0]


def gc_price(
    cpu: Pair,
    allocated: Pair,
    *,
    other: Mapping[str, Pair] | None = None,
    cycle: Cycle | None = None,
    places: Mapping[str, Pair] | None = None,
) -> GCPrice | None:
    """Split the change of GC CPU; None if a side has no GC or no allocations.

    `cpu` is in ns/op, `allocated` in bytes/op. Parts of `cpu` that are not costs of
    cycles (`other`, ns/op by id) are a factor each; `cycle` splits the price of the
    rest, marking. `places` are bytes/op by function, which sum to `allocated`.
    """
    if not _positive(cpu, allocated):
        return None
    mean = log_mean(*cpu)
    by_byte = mean / log_mean(*allocated)
    price = cpu[0] / allocated[0], cpu[1] / allocated[1]
    of_price = mean * _log_ratio(*price)
    # CPU per byte of marking and of the other parts adds up: each gets its share.
    by_price = mean / log_mean(*price)
    per_byte = {
        name: (own[0] / allocated[0], own[1] / allocated[1])
        for name, own in (other or {}).items()
        if any(own)
    }
    base, new = (
        whole - sum(own[side] for own in per_byte.values())
        for side, whole in enumerate(price)
    )
    factors = _of_cycles((base, new), by_price, cycle)
    factors += (Factor(k, *v, by_price * (v[1] - v[0])) for k, v in per_byte.items())
    return GCPrice(
        cpu,
        Factor("allocated", *allocated, mean * _log_ratio(*allocated)),
        Factor("price", *price, of_price),
        tuple(factors),
        tuple(
            Factor(name, base, new, by_byte * (new - base))
            for name, (base, new) in (places or {}).items()
        ),
    )


def _of_cycles(marked: Pair, by_price: float, cycle: Cycle | None) -> list[Factor]:
    """Return the factors of marking per byte, or marking itself without a log."""
    if cycle is None or not _positive(marked, cycle.cpu, cycle.allocated):
        return [Factor("marking", *marked, by_price * (marked[1] - marked[0]))]
    by_log = by_price * log_mean(*marked)
    logged = cycle.cpu[0] / cycle.allocated[0], cycle.cpu[1] / cycle.allocated[1]
    dividing = {"per_cycle": cycle.allocated}
    if cycle.live is not None and _positive(cycle.live):
        base, new = (a / b for a, b in zip(cycle.allocated, cycle.live, strict=True))
        dividing = {"live": cycle.live, "pace": (base, new)}
    measured = marked[0] / logged[0], marked[1] / logged[1]
    multiplying = {"cycle": cycle.cpu, "measured": measured}
    return [
        *(Factor(k, *v, -by_log * _log_ratio(*v)) for k, v in dividing.items()),
        *(Factor(k, *v, by_log * _log_ratio(*v)) for k, v in multiplying.items()),
    ]


def log_mean(base: float, new: float) -> float:
    """Return the logarithmic mean of two positive numbers, which lies between them."""
    change = _log_ratio(base, new)
    return (new - base) / change if change else base


def _log_ratio(base: float, new: float) -> float:
    ratio = new / base
    return log1p((new - base) / base) if _NEAR[0] < ratio < _NEAR[1] else log(ratio)


def _positive(*pairs: Pair) -> bool:
    return all(isfinite(value) and value > 0 for pair in pairs for value in pair)
