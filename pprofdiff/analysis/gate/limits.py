"""What a rule allows: ``+5%``, ``+2pp``, ``+50ms``, or ``1ms`` as a ceiling."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

from pprofdiff.units import comparable, scale

__all__ = ["Limit", "parse_limit"]

_FORM = re.compile(r"([+\-−]?)(\d{1,15}(?:\.\d{1,9})?) ?(%|pp|[A-Za-zµμ]+)?")


# pprof's names for powers of 1024, by their IEC names.
_STEPS = {"KiB": "kB", "MiB": "MB", "GiB": "GB", "TiB": "TB", "PiB": "PB"}


class Limit(NamedTuple):
    """How far new may go: `sign` is +1 or -1 for a change from base, 0 for a ceiling.

    `unit` is ``%`` of base, ``pp`` (points of the total), a unit of time or size, or ""
    for a bare number.
    """

    sign: int
    amount: Decimal
    unit: str

    def __str__(self) -> str:
        """Return the limit as typed."""
        return f"{'-+'[self.sign > 0] if self.sign else ''}{self.amount:f}{self.unit}"

    @property
    def relative(self) -> bool:
        """Whether the limit is a percentage of base."""
        return self.unit == "%"

    def fits(self, unit: str) -> bool:
        """Whether an absolute limit converts to this unit."""
        if self.unit:
            return comparable(_known(self.unit), unit)
        return not (comparable(unit, "ns") or comparable(unit, "B"))

    def within(self, unit: str) -> float:
        """Return an absolute amount in a unit that it `fits`."""
        size = scale(1, _known(self.unit), unit)[0] if self.unit else 1.0
        return float(self.amount) * size

    def allowed(self, base: float, unit: str) -> float:
        """Return how much new may differ from base, at least 0, in `unit`."""
        if self.relative:
            return abs(base) * float(self.amount / 100)
        return float(self.amount) if self.unit == "pp" else self.within(unit)


def _known(unit: str) -> str:
    """Return a unit in pprof's spelling."""
    return _STEPS.get(unit, unit)


def parse_limit(text: str) -> Limit:
    """Return the parsed limit; raises ValueError saying what is wrong."""
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError(f"{text or 'nothing'} is no limit")
    sign = {"": 0, "+": 1}.get(match[1], -1)
    unit = (match[3] or "").replace("µ", "u").replace("μ", "u")
    if unit not in ("", "%", "pp") and not any(
        comparable(_known(unit), known) for known in ("ns", "B")
    ):
        raise ValueError(f"{unit} is not a unit of time or size")
    if not sign and unit in ("%", "pp"):
        raise ValueError(f"{text} has no sign; type +{text} for at most so much more")
    return Limit(sign, Decimal(match[2]), unit)
