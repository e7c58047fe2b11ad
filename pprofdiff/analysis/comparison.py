"""Compares whole sides: pairs captures by what they measure, subtracts each pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from pprofdiff.analysis.benchmarks.times import paired_processors
from pprofdiff.analysis.benchmarks.turns import Turns, measured_in_turns
from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.control.about_work import at_about_equal_work
from pprofdiff.analysis.inferred_work import (
    inferred_work,
    work_in_turns,
    work_of_units,
)
from pprofdiff.analysis.ledger.added_up import added_up, in_one_mix, operations_by_unit
from pprofdiff.analysis.ledger.units import (
    SplitByUnit,
    UnitOfWork,
    by_unit,
    unnamed,
    with_own_profiles,
)
from pprofdiff.analysis.policy import NAMED, SAME_WITHIN
from pprofdiff.analysis.profiles.compare import place_in_report
from pprofdiff.analysis.profiles.diff import ProfileDiff, cpu_of, of_type
from pprofdiff.analysis.profiles.labels import ByLabel, by_label
from pprofdiff.analysis.run_order import hosts_of_both, taken_in_turns
from pprofdiff.analysis.settings import DEFAULTS, Settings
from pprofdiff.analysis.side import (
    age_seconds,
    allocating,
    counted_seconds,
    cpu_seconds,
    is_whole,
    measure,
    numbered,
    stacks_of,
)
from pprofdiff.analysis.windows import joined
from pprofdiff.analysis.work import Work
from pprofdiff.errors import UsageError
from pprofdiff.identity.model import SAME_NAMES, Identity
from pprofdiff.kinds import KINDS, KindId, resolve
from pprofdiff.model.side import Side
from pprofdiff.units import first_few, printable

if TYPE_CHECKING:
    from pprofdiff.analysis.benchmarks.compare import BenchmarkDiff
    from pprofdiff.analysis.gclogs.compare import GCDiff
    from pprofdiff.analysis.traces.compare import TraceDiff

_ADDED = "merged-input"


class Comparison(Struct, frozen=True, eq=False, dict=True):
    """Every comparison that two sides allow.

    `results` has each kind's comparison by the kind's id. `unpaired` is what only one
    side measured: (measure, its label). `work` is what per-op values rest on. Builds
    are the same if the outcome's figure differs by at most `same_within`.

    `pairs` is how many pairs runs taken in turns make: run *i* of base is adjacent in
    time to run *i* of new. `same_hosts` is how many hosts are compared with themselves.
    `turns` are from ``pprofdiff measure``'s benchmarks. `split` has both sides by
    unit of work, if one profile holds several; `alone` by benchmark, if each has
    profiles of its own; `unscaled` are the sides before these were scaled to one mix,
    if they were. `by` is the key of the label that identifies units of work, "" to find
    one.
    """

    base: Side
    new: Side
    results: Mapping[KindId, Any] = field(default_factory=dict)
    unpaired: tuple[tuple[str, str], ...] = ()
    work: Work | None = None
    identity: Identity = SAME_NAMES
    same_within: float = SAME_WITHIN
    pairs: int = 0
    same_hosts: int = 0
    turns: Turns | None = None
    split: SplitByUnit | None = None
    by: str = ""
    alone: SplitByUnit | None = None
    unscaled: tuple[Side, Side] | None = None

    @property
    def given(self) -> tuple[Side, Side]:
        """Both sides with the profiles as given, before units are scaled."""
        if self.split is not None:
            return self.split.given
        return self.unscaled or (self.base, self.new)

    @property
    def of_fleets(self) -> bool:
        """Whether runs are hosts, or groups of hosts, of one build each."""
        return self.base.fleet is not None and self.new.fleet is not None

    @property
    def measured(self) -> bool:
        """Whether ``pprofdiff measure`` ran these benchmarks in turns."""
        return self.work is not None and bool(self.work.turns)

    @property
    def rewritten(self) -> str:
        """The measured benchmarks, or what they call in test files, that differ."""
        return "" if self.turns is None else self.turns.rewritten

    @property
    def profiles(self) -> tuple[ProfileDiff, ...]:
        """The profile comparisons, most important first."""
        return tuple(self.results.get("profile", ()))

    @property
    def cpu(self) -> ProfileDiff | None:
        """The comparison of CPU profiles, None if there is none to measure."""
        return cpu_of(self.profiles)

    def of_type(self, sample_type: str) -> ProfileDiff | None:
        """Return the comparison of a sample type, the first of several."""
        return of_type(self.profiles, sample_type)

    def undecided(self) -> Comparison:
        """Return the comparison with rows of profiles judged cautiously.

        If benchmarks measured in turns give no verdict, no row is known to have
        changed: samples show less than turns, and there are many rows.
        """
        cautious = tuple(replace(diff, cautious=True) for diff in self.profiles)
        return replace(self, results={**self.results, "profile": cautious})

    def of_unit(self, unit: UnitOfWork) -> Comparison | None:
        """Return one unit of work's own samples, per op of it; None without profiles.

        Raises ValueError if the sides are not split by unit.
        """
        if unit not in self._of_units:
            split = self.split or self.alone
            if split is None:
                raise ValueError("sides are not split by unit of work")
            base, new = split.of(unit)
            settings = replace(
                DEFAULTS,
                identity=self.identity,
                same_within=self.same_within,
                pairs=self.pairs,
            )
            both = base.of("profile") and new.of("profile")
            found = compare_sides(base, new, settings) if both else None
            self._of_units[unit] = found
        return self._of_units[unit]

    @cached_property
    def _of_units(self) -> dict[UnitOfWork, Comparison | None]:
        return {}

    @cached_property
    def by_label(self) -> ByLabel | None:
        """The CPU by the label that identifies units of work; None without one.

        Raises UsageError if the requested label is on no sample.
        """
        if self.cpu is None or self.split is not None or self.alone is not None:
            return None
        return by_label(self.cpu, self.by)

    @property
    def gc(self) -> GCDiff | None:
        """The comparison of GC logs, None if a side has none to compare."""
        return self.results.get("gctrace")

    @property
    def trace(self) -> TraceDiff | None:
        """The comparison of execution traces, None if a side has none."""
        return self.results.get("trace")

    @property
    def benchmarks(self) -> BenchmarkDiff | None:
        """The comparison of benchmarks, None if a side has none."""
        return self.results.get("benchmark")

    @property
    def loads(self) -> BenchmarkDiff | None:
        """The comparison of load generators' figures, None if a side has none."""
        return self.results.get("load")

    def caveats(self) -> Iterator[Caveat]:
        """Yield what to know before trusting the results, kind by kind."""
        if self.split is not None and self.split.shared:
            yield _shared(self.split.shared)
        if self.work is None and (name := unnamed(self.base) or unnamed(self.new)):
            yield Caveat(
                "unnamed-benchmarks",
                f"several benchmarks run {name}, and the profile does not say which "
                "of them a sample is of: shares are compared",
            )
        if self.turns is not None:
            yield from self.turns.outside_timer()
        for kind in KINDS.values():
            if kind.caveats and (self.base.of(kind.id) or self.new.of(kind.id)):
                result = self.results.get(kind.id)
                found = resolve(kind.caveats)(self.base, self.new, result)
                # A fleet's profiles are always merged, which needs no caveat.
                yield from (c for c in found if not self.of_fleets or c.id != _ADDED)


def compare_sides(base: Side, new: Side, settings: Settings = DEFAULTS) -> Comparison:
    """Pair the sides' captures by what they measure and subtract each pair.

    One profile per side is a pair whatever it measures. Without `settings.work`, work
    comes from a load generator or a benchmark among the inputs, unless
    `settings.normalize` is set. Raises UsageError if nothing pairs, no profile has the
    sample type, or a span of a GC log holds no cycle; IncompatibleProfilesError if
    profiles of one kind do not count the same thing.
    """
    base, new = paired_processors(numbered(joined(base)), numbered(joined(new)))
    split = None
    as_asked = settings.normalize or settings.work is not None
    if not as_asked:
        split = by_unit(base, new)
    units = () if split is None else split.units
    if split is not None:
        base, new = split.base, split.new
    each = base, new
    scaled = units or in_one_mix(base, new)
    sides = [operations_by_unit(side) for side in each]
    mix = {name: min(n, sides[1].get(name, n)) for name, n in sides[0].items()}
    base, new = added_up(base, scaled), added_up(new, scaled)
    turns = measured_in_turns(base, new)
    own = None if turns is None else with_own_profiles(*each, turns.names)
    if not as_asked:
        work = None if turns is None else work_in_turns(turns, mix)
        if work is not None:
            base, new = _without_logs(base), _without_logs(new)
        elif units:
            work = work_of_units(base, new, units)
        else:
            work = inferred_work(base, new)
        settings = replace(settings, work=work)
    if settings.work is not None:
        (base_late, base_rate), (new_late, new_rate) = map(allocating, (base, new))
        work = settings.work._replace(
            seconds=(cpu_seconds(base), cpu_seconds(new)),
            ages=(age_seconds(base), age_seconds(new)),
            counted=(counted_seconds(base), counted_seconds(new)),
            whole=is_whole(base) and is_whole(new),
            throughout=base_late and new_late,
            allocation=(base_rate, new_rate) if base_rate and new_rate else None,
        )
        settings = replace(settings, work=work)
    identity = settings.identity_of(stacks_of(base), stacks_of(new))
    pairs = taken_in_turns(base, new)
    hosts = hosts_of_both(base, new)
    settings = replace(
        settings,
        identity=identity,
        pairs=pairs,
        same_hosts=settings.same_hosts or hosts > 0,
    )
    both = [
        kind
        for kind in KINDS.values()
        if kind.compare and base.of(kind.id) and new.of(kind.id)
    ]
    results = {
        kind.id: result
        for kind in both
        if (result := resolve(kind.compare)(base, new, settings)) is not None
    }
    unpaired = _unpaired(base, new)
    if not results:
        raise UsageError(_nothing(base, new, unpaired, [kind.id for kind in both]))
    of_fleets = base.fleet is not None and new.fleet is not None
    if not as_asked and not of_fleets and "profile" in results:
        # Each host serves a different mix of work.
        results["profile"] = at_about_equal_work(results["profile"], base, new)
    compared = Comparison(
        base,
        new,
        results,
        unpaired,
        settings.work,
        identity,
        settings.same_within,
        pairs,
        hosts,
        turns,
        split,
        settings.by,
        own,
        _unscaled(*each) if scaled and split is None else None,
    )
    if settings.by and compared.by_label is None:
        raise UsageError(
            f"--by {printable(settings.by)}: it is a label of CPU samples, and there "
            "are not two CPU profiles of one program or benchmark"
        )
    return compared


def _shared(units: Sequence[UnitOfWork]) -> Caveat:
    """Return a caveat that sub-benchmarks share one unit of the profiles."""
    names = [
        f"{unit.name.rpartition(' Benchmark')[2]} ({len(unit.benchmarks)})"
        for unit in units
    ]
    return Caveat(
        "shared-units",
        f"sub-benchmarks share the samples of their function, which count in the "
        f"proportions of base: {first_few(names, NAMED)}",
    )


def _unscaled(base: Side, new: Side) -> tuple[Side, Side]:
    """Return sides of benchmarks with the profiles that `compare_sides` scales."""
    return _without_logs(added_up(base)), _without_logs(added_up(new))


def _without_logs(side: Side) -> Side:
    """Return the side without GC logs: allocation and GC work are known per op."""
    kept = tuple(capture for capture in side.captures if capture.kind != "gctrace")
    return replace(side, captures=kept)


def _nothing(
    base: Side, new: Side, unpaired: Sequence[tuple[str, str]], both: list[KindId]
) -> str:
    refused = [
        caveat.text
        for kind in both
        if KINDS[kind].caveats
        for caveat in resolve(KINDS[kind].caveats)(base, new, None)
    ]
    if refused:
        return "; ".join(refused)
    alone = "; ".join(
        f"{label} has {listed}"
        for label in (base.label, new.label)
        if (listed := ", ".join(what for what, own in unpaired if own == label))
    )
    return f"nothing to compare: {alone or 'no profiles were given'}"


def _unpaired(base: Side, new: Side) -> tuple[tuple[str, str], ...]:
    """Return (measure, label) of what only one side has, in report order."""
    alone: list[tuple[str, str]] = []
    for kind in KINDS:
        captures = base.of(kind), new.of(kind)
        if len(captures[0]) == len(captures[1]) == 1:
            continue
        measured = [dict.fromkeys(map(measure, side)) for side in captures]
        alone += [(what, base.label) for what in measured[0] if what not in measured[1]]
        alone += [(what, new.label) for what in measured[1] if what not in measured[0]]
    return tuple(sorted(alone, key=lambda one: place_in_report(one[0])))
