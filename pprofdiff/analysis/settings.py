"""How two sides are compared: the settings that all kinds of evidence share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from pprofdiff.analysis.policy import SAME_WITHIN
from pprofdiff.analysis.work import Work
from pprofdiff.identity.deciding import identify
from pprofdiff.identity.evidence import Stacks
from pprofdiff.identity.model import Identity
from pprofdiff.model.profiles.profile import Profile

if TYPE_CHECKING:
    from pprofdiff.model.source import Sources


class Span(NamedTuple):
    """Seconds since process start, as asked for; None leaves an end open."""

    start: float | None
    end: float | None


class Settings(Struct, frozen=True):
    """The settings of a comparison; by default work is inferred from the inputs.

    `sample_type` selects the values of profiles, by name or position; None for the
    default. `normalize` scales new to base's total, so that shares are compared. `work`
    is the operations that each side did. `spans` are the seconds of each side's GC log
    to compare, None for its steady window. `by` is the key of the sample label that
    identifies units of work, such as endpoint; "" to find one. Builds are the same if
    the outcome's figure is known to differ by at most `same_within` of base.

    `pair_names` are (base, new) names, or patterns of names, of functions that are the
    same; `pairing` says whether functions with different names may otherwise be.
    `sources` has the source of both builds, if given: which functions are in both
    decides before samples do. `identity` replaces all of this: which function of base
    is which of new.

    `pairs` is how many pairs both sides' runs make that were taken in turns;
    `same_hosts` says whether runs with equal numbers are of one host and compared in
    pairs (`analysis.run_order.hosts_of_both`).
    """

    sample_type: str | int | None = None
    normalize: bool = False
    work: Work | None = None
    spans: tuple[Span | None, Span | None] = (None, None)
    pair_names: tuple[tuple[str, str], ...] = ()
    pairing: bool = True
    sources: Sources | None = None
    identity: Identity | None = None
    same_within: float = SAME_WITHIN
    pairs: int = 0
    same_hosts: bool = False
    by: str = ""

    def identity_of(
        self, base: Sequence[Profile | Stacks], new: Sequence[Profile | Stacks]
    ) -> Identity:
        """Return which function of base is which of new, decided from these captures.

        Raises UsageError if a name in `pair_names` does not match one function.
        """
        if self.identity is not None:
            return self.identity
        trees = None
        if self.sources is not None:
            from pprofdiff.analysis.source.declarations import trees_of

            trees = partial(trees_of, self.sources)
        return identify(base, new, self.pair_names, pairing=self.pairing, trees=trees)


DEFAULTS = Settings()
"""Work inferred from the inputs, steady windows."""
