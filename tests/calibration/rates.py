"""Rates over many pairs of sides whose truth is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from scipy import stats

from tests.calibration.said import Figure, Said

ALARMS = 0.05
"""The part of unchanged pairs that may be reported as changed."""
_WAYS = ("slower", "faster")


def too_many(rate: float, pairs: int) -> bool:
    """Return whether a rate of alarms, over independent pairs, is above `ALARMS`.

    One in a thousand rates is called so that is not.
    """
    return round(rate * pairs) > stats.binom.ppf(0.999, pairs, ALARMS)


@dataclass(frozen=True)
class Rates:
    """What was said of pairs of sides, and the true new / base by id of the figure.

    A rate is a part of 1, None where nothing shows it.
    """

    said: Sequence[Said]
    truth: Mapping[str, float | None]

    def part(self, true: Callable[[Said], bool]) -> float | None:
        """Return the part for which something is true."""
        return float(np.mean([true(one) for one in self.said])) if self.said else None

    @property
    def decided(self) -> float | None:
        """How often the outcome is slower or faster."""
        return self.part(lambda one: one.verdict in _WAYS)

    @property
    def slower(self) -> float | None:
        """How often the outcome is slower."""
        return self.part(lambda one: one.verdict == "slower")

    @property
    def wrong(self) -> float | None:
        """How often the outcome is faster."""
        return self.part(lambda one: one.verdict == "faster")

    @property
    def findings(self) -> float | None:
        """How often there is a finding above info."""
        return self.part(lambda one: one.findings > 0)

    def marked(self, table: str) -> float | None:
        """How often any row of a table is marked."""
        return self.part(lambda one: one.tables[table].rows > 0)

    def planted(self, table: str) -> float | None:
        """How often the planted row is marked."""
        return self.part(lambda one: one.tables[table].planted)

    def discoveries(self, table: str) -> float | None:
        """How many rows but the planted one are marked, on average."""
        if not self.said:
            return None
        return float(np.mean([one.tables[table].others for one in self.said]))

    def false_part(self, table: str) -> float | None:
        """Which part of the marked rows is not the planted one, 0 where none is."""
        if not self.said:
            return None
        marks = [one.tables[table] for one in self.said]
        return float(np.mean([mark.others / max(mark.rows, 1) for mark in marks]))

    def trips(self, rule: str) -> float | None:
        """How often a rule of the gate trips."""
        return self.part(lambda one: rule in one.tripped)

    def _figures(self, figure: str) -> list[Figure]:
        """Return a figure of all pairs that have it; "" is the headline."""
        names = [figure or one.headline for one in self.said]
        pairs = zip(self.said, names, strict=True)
        return [one.figures[name] for one, name in pairs if name in one.figures]

    def there(self, figure: str) -> float | None:
        """How often there is such a figure."""
        return len(self._figures(figure)) / len(self.said) if self.said else None

    def coverage(self, figure: str = "") -> float | None:
        """How often the 95 % interval of a figure has the truth in it."""
        inside = [
            one.figures[name].low <= true <= one.figures[name].high
            for one in self.said
            for name in [figure or one.headline]
            if name in one.figures and (true := self.truth.get(name)) is not None
        ]
        return float(np.mean(inside)) if inside else None

    def found(self, figure: str) -> float | None:
        """How often a figure's interval is above 1, of all pairs."""
        if not self.said:
            return None
        return sum(f.low > 1 for f in self._figures(figure)) / len(self.said)

    def wrong_sign(self, figure: str) -> float | None:
        """How often a figure's interval is wholly below 1, of all pairs.

        Where nothing changed: above or below.
        """
        if not self.said:
            return None
        got = self._figures(figure)
        same = self.truth.get(figure) == 1
        return sum(f.high < 1 or (same and f.low > 1) for f in got) / len(self.said)

    def width(self, figure: str) -> float | None:
        """Return the median of half the intervals' width, as a part of the figure."""
        got = [log(f.high / f.low) / 2 for f in self._figures(figure)]
        return float(np.median(got)) if got else None

    def error(self, figure: str) -> float | None:
        """Return the mean of log (estimate / truth)."""
        true = self.truth.get(figure)
        got = self._figures(figure)
        if true is None or not got:
            return None
        return float(np.mean([log(f.ratio / true) for f in got]))
