"""Measure commits, one at a time, in turns with the good end of a search.

A machine that is busier for a while slows both alike.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from pprofdiff.inputs.model import silent
from pprofdiff.inputs.sources.git import Repository
from pprofdiff.measure.figures import Figures
from pprofdiff.measure.gobuild import environment
from pprofdiff.measure.goflags import GoTest
from pprofdiff.measure.gotest import GoBenchmarks
from pprofdiff.measure.layouts import Layouts, can_vary
from pprofdiff.measure.planning import planned
from pprofdiff.measure.rounds import one_round
from pprofdiff.measure.search_state import Built, KeptBuilds, SearchState
from pprofdiff.measure.sides import SideName

# Numbers of function orders that one commit, and one run of the command, may use.
_ORDERS, _ORDERS_OF_ROUND = 10_000, 100


class AgainstGood:
    """Builds commits and measures them in turns with `good`.

    `profile_s` is the length of a profiled run, if `figures` need profiles.
    """

    def __init__(
        self,
        repository: Repository,
        good: str,
        figures: Figures,
        state: SearchState,
        listener: tuple[Callable[[str], None], Callable[[str], None]],
    ) -> None:
        self._repository = repository
        self._good = good
        self._figures = figures
        self._state = state
        self._doing, self._warn = listener
        own = os.path.join(state.work, "go")
        os.makedirs(own, exist_ok=True)
        # A go command killed by a signal leaves files here, removed with the rest.
        self._variables: Mapping[str, str] = {**environment(), "GOTMPDIR": own}
        self._workloads: dict[str, GoBenchmarks] = {}
        self._seconds = {"build": [0.0], "round": [0.0]}
        self.vary = True
        """Whether function orders vary from turn to turn."""

    def ask(self, asked: GoTest, profile_s: float) -> None:
        """Set what is built and run from now on."""
        self.asked = asked
        self._profile_s = profile_s
        self._workloads.clear()
        self._builds = KeptBuilds(
            self._repository, asked, self._state.builds, self._variables, self._warn
        )

    def measure(self, commit: str) -> None:
        """Measure a commit for one round.

        Raises MeasureError if it does not compile or run, UsageError if it lacks the
        benchmarks.
        """
        workload = self._workload(commit)
        run = workload.round if self._figures.profiled else workload.timed_round
        with self._timing("round"):
            one_round(run, self._state.out(commit), self._state.rounds(commit))

    def pair(self, base: str, new: str) -> dict[SideName, Built]:
        """Return the builds of two commits, their binaries in a temporary folder."""
        # Equal lengths, so a path embedded in a binary shifts nothing on one side only.
        place = tempfile.mkdtemp(dir=self._state.work)
        return {
            "base": self._built(base).linked_to(os.path.join(place, "old")),
            "new": self._built(new).linked_to(os.path.join(place, "new")),
        }

    def build_rounds(self) -> float:
        """Return how many rounds take as long as a build, 1 if that is not known."""
        build, one = (sum(s) / max(len(s) - 1, 1) for s in self._seconds.values())
        return build / one if one else 1.0

    def _workload(self, commit: str) -> GoBenchmarks:
        if commit not in self._workloads:
            pair = self.pair(self._good, commit)
            trees = {side: built.tree for side, built in pair.items()}
            self.vary = self.vary and can_vary(trees)
            # Each commit has orders of its own: what one order of the good end costs
            # would else be in all readings.
            first = (int(commit[:4], 16) * _ORDERS) + (
                self._state.rounds(commit) * _ORDERS_OF_ROUND
            )
            layouts = Layouts(
                self.asked,
                trees,
                {side: built.binaries for side, built in pair.items()},
                first,
            )
            # The first pair, of both ends, has given the warnings.
            warn = silent if self._workloads else self._warn
            self._workloads[commit] = planned(
                layouts, self._profile_s, warn, self._figures.needs
            )
        return self._workloads[commit]

    def _built(self, commit: str) -> Built:
        if self._builds.has(commit):
            return self._builds.built(commit)
        self._doing(f"building {commit[:9]}")
        with self._timing("build"):
            return self._builds.built(commit)

    @contextmanager
    def _timing(self, what: str) -> Iterator[None]:
        began = time.monotonic()
        yield
        self._seconds[what].append(time.monotonic() - began)
