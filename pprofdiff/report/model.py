"""`ReportModel`: everything a writer may show, so that writers cannot disagree."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from pprofdiff.analysis.account.building import account
from pprofdiff.analysis.account.gc import GCAccount, gc_account
from pprofdiff.analysis.account.model import Account
from pprofdiff.analysis.causes.finding import CHANGED_ALONE, Finding, Findings
from pprofdiff.analysis.causes.table import find
from pprofdiff.analysis.causes.wording import listed
from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.gate.model import Ruling, Verdict
from pprofdiff.analysis.outcome.deciding import outcome
from pprofdiff.analysis.outcome.model import Outcome
from pprofdiff.analysis.policy import NAMED
from pprofdiff.analysis.profiles.builds import flags_unknown
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.rows import Granularity
from pprofdiff.analysis.run_order import one_after_the_other
from pprofdiff.analysis.runs.headline import outlying_runs
from pprofdiff.kinds import KINDS, resolve
from pprofdiff.model.side import Fleet, Side
from pprofdiff.units import many

if TYPE_CHECKING:
    from pprofdiff.analysis.bisection.result import Bisection
    from pprofdiff.analysis.causes.carriers import Code
    from pprofdiff.analysis.causes.sources import Behind
    from pprofdiff.analysis.gate.rules import Gate
    from pprofdiff.analysis.source.model import ChangedLines
    from pprofdiff.model.source import Sources


class Input(NamedTuple):
    """One input file; fields that it does not state are None.

    `amount` says in words how much it holds. `counts` are numbers specific to its kind,
    by their names in JSON. `when` says which time it covers. `within` says that a
    longer input of the same run is compared in its place.
    """

    path: str
    kind: str
    go_version: str | None = None
    build_id: str | None = None
    duration_ns: int | None = None
    time_ns: int | None = None
    period: int | None = None
    saved_to: str | None = None
    amount: str = ""
    counts: Mapping[str, float] = MappingProxyType({})
    when: str = ""
    within: bool = False


def by_kind(entries: Iterable[Input]) -> dict[str, list[Input]]:
    """Return inputs by kind, in order."""
    kinds: dict[str, list[Input]] = {}
    for entry in entries:
        kinds.setdefault(entry.kind, []).append(entry)
    return kinds


class ReportModel(NamedTuple):
    """A finished comparison: inputs, what changed, and what to know about it.

    Pairs are (base, new). `filters` are the options that differ from the defaults, as
    typed. `sources` are for listings. `changed` are the changed lines whose cost
    changed most, `unchanged` the functions whose cost changed although their source did
    not. `gc` says what GC CPU per op is made of. `bisection` led to these builds.
    """

    labels: tuple[str, str]
    inputs: tuple[tuple[Input, ...], tuple[Input, ...]]
    comparison: Comparison
    warnings: tuple[Caveat, ...]
    filters: tuple[str, ...]
    outcome: Outcome
    account: Account | None
    findings: Findings
    verdict: Verdict = Verdict()
    sources: Sources | None = None
    changed: tuple[ChangedLines, ...] = ()
    unchanged: tuple[str, ...] = ()
    page_url: str = ""
    gc: GCAccount | None = None
    bisection: Bisection | None = None

    @property
    def profiles(self) -> tuple[ProfileDiff, ...]:
        """The comparisons, most informative first."""
        return self.comparison.profiles

    def profiles_of(self, finding: Finding) -> tuple[ProfileDiff, ...]:
        """Return the comparisons of the samples that a finding's amounts are of."""
        return self.comparison_of(finding).profiles

    def comparison_of(self, finding: Finding) -> Comparison:
        """Return the comparison that a finding is of.

        That of a unit of work is of its own samples, per op of it.
        """
        if not finding.unit:
            return self.comparison
        from pprofdiff.analysis.causes.by_unit import unit_named

        unit = unit_named(self.comparison, self.outcome.units, finding.unit)
        return self.comparison if unit is None else unit


class Scope(Struct, frozen=True):
    """How much of a report to show.

    `granularity` is what the rows are. `joined` lists functions paired under two names.
    Tables of functions and call sites get up to `rows` rows, None for a screenful.
    """

    granularity: Granularity = "functions"
    joined: bool = False
    rows: int | None = None
    full: bool = False


# Caveats about captures that were taken by hand.
_OF_CAPTURES = frozenset(
    (
        "merged-input",
        "short",
        "since-start",
        "few-samples",
        "duration",
        "source",
        "trace-short",
    )
)

_SAME_SOURCE = (
    "comments and local names aside, the code of all packages with samples is the same "
    "in both builds"
)

_FLAGS = (
    "whether -cover, GOAMD64 or -gcflags differ is unknown: put each program next to "
    "its profiles"
)

SCREEN = Scope()
"""What fits a screen."""


def report_of(
    comparison: Comparison,
    *,
    filters: Sequence[str] = (),
    warnings: Sequence[Caveat] = (),
    gate: Gate | None = None,
    unread: Sequence[str] = (),
    sources: Sources | None = None,
) -> ReportModel:
    """Return the report of a comparison, judged by the gate if there is one.

    `unread` has a line for each input that could not be read. With `sources`, findings
    name the changed lines behind them.
    """
    lost = (Caveat("unread", line) for line in unread)
    of_sides = [*comparison.caveats()]
    if comparison.of_fleets:
        # The total profiling time of a fleet says nothing: shares are compared.
        of_sides = [one for one in of_sides if one.id != "duration"]
    if comparison.measured:
        # Not actionable: the measurement itself decides how long and how often.
        of_sides = [one for one in of_sides if one.id not in _OF_CAPTURES]
    caveats = [*lost, *warnings, *of_sides, *_of_runs(comparison)]
    decided = outcome(comparison)
    if comparison.measured:
        # Most reports are not measured and need not load how benchmarks are compared.
        from pprofdiff.analysis.outcome.by_unit import judged_in_turns

        comparison = judged_in_turns(comparison, decided)
    if comparison.measured and comparison.profiles and decided.verdict == "unknown":
        comparison = comparison.undecided()
    given = comparison.given
    # Lines of the program may not be why benchmarks that differ cost more.
    code = None if comparison.rewritten else _code(sources)
    findings = find(
        comparison, decided.verdict, decided.moved, decided.allocating, code
    )
    changed: tuple[ChangedLines, ...] = ()
    unchanged: tuple[str, ...] = ()
    if code is not None:
        comparison, decided, behind = _looked_up(comparison, decided, findings, code)
        findings, changed, unchanged = behind[:3]
        caveats += () if comparison.measured else behind.caveats
    report = ReportModel(
        labels=(comparison.base.label, comparison.new.label),
        inputs=(_inputs(given[0]), _inputs(given[1], _paired(comparison))),
        comparison=comparison,
        warnings=_unique((*caveats, *_of_builds(comparison, findings))),
        filters=tuple(filters),
        outcome=decided,
        account=account(comparison),
        findings=findings,
        verdict=Verdict(unread=tuple(unread)),
        sources=sources,
        changed=changed,
        unchanged=unchanged,
        gc=gc_account(comparison),
    )
    _check(report)
    return report if gate is None else judged(report, gate)


def _code(sources: Sources | None) -> Code | None:
    if sources is None:
        return None
    # Imported only where there are sources.
    from pprofdiff.analysis.causes.carriers import Code

    return Code(sources)


def _looked_up(
    comparison: Comparison, decided: Outcome, findings: Findings, code: Code
) -> tuple[Comparison, Outcome, Behind]:
    """Return what the source shows; nothing is decided if builds have the same code."""
    from pprofdiff.analysis.causes.sources import with_source

    whole = comparison.measured or not decided.decided
    behind = with_source(comparison, findings, code, decided.units, whole=whole)
    if behind.same is None:
        counts = any(one.base != one.new and not one.noise for one in decided.counted)
        if not (decided.decided or decided.allocating or counts) and _none_ran(behind):
            decided = replace(decided, needs="")
        return comparison, decided, behind
    needs, few = _SAME_SOURCE, len(behind.same) <= NAMED
    if behind.same:
        tests = listed(behind.same) if few else many(len(behind.same), "test file")
        needs = f"{needs}, except for {tests}"
    if decided.decided and not decided.builds:
        decided = replace(decided, verdict="unknown", contrary=(), needs=needs)
        if comparison.profiles:
            comparison = comparison.undecided()
        findings = find(comparison, decided.verdict, (), decided.allocating, code)
        behind = with_source(comparison, findings, code, whole=True)
    elif decided.needs:
        decided = replace(decided, needs=needs)
    return comparison, decided, behind


def _none_ran(behind: Behind) -> bool:
    """Return whether no function with samples changed: more time would show nothing."""
    found = behind.findings.found
    return any(one.id == CHANGED_ALONE and not one.functions for one in found)


def _check(report: ReportModel, rulings: Sequence[Ruling] = ()) -> None:
    """Raise ContradictionError for a contradiction, if ``PPROFDIFF_CHECK`` is set."""
    if os.environ.get("PPROFDIFF_CHECK"):
        from pprofdiff.report.checking import check, contradictions

        check(contradictions(report.outcome, report.findings, report.gc, rulings))


def judged(report: ReportModel, gate: Gate) -> ReportModel:
    """Return the report with the gate's verdict; its findings stay the same."""
    if not gate.rules:
        return report
    from pprofdiff.analysis.gate.judging import judge, verdict_caveats
    from pprofdiff.analysis.gate.measures import Judged

    verdict = judge(gate, Judged(report.comparison, report.findings))
    unread = report.verdict.unread
    if unread:
        outcome = "none" if verdict.outcome == "pass" else verdict.outcome
        verdict = verdict._replace(outcome=outcome, unread=unread)
    _check(report, verdict.rules)
    warnings = _unique((*report.warnings, *verdict_caveats(verdict)))
    return report._replace(verdict=verdict, warnings=warnings)


def _unique(caveats: Iterable[Caveat]) -> tuple[Caveat, ...]:
    """Return the first caveat of each text."""
    unique: dict[str, Caveat] = {}
    for caveat in caveats:
        unique.setdefault(caveat.text, caveat)
    return tuple(unique.values())


def _of_builds(comparison: Comparison, findings: Findings) -> Iterator[Caveat]:
    """Yield a caveat where no cause is known, and flags of the builds may differ."""
    if comparison.measured or any(one.severity != "info" for one in findings.found):
        return
    if flags_unknown(comparison.base, comparison.new, comparison.cpu):
        yield Caveat("flags-unknown", _FLAGS)


def _of_runs(comparison: Comparison) -> Iterator[Caveat]:
    base, new = comparison.base, comparison.new
    if comparison.of_fleets:
        from pprofdiff.analysis.run_order import fleet_caveats

        yield from fleet_caveats(base, new)
    else:
        # There are many interleaved runs, and the interval covers their spread.
        if not comparison.measured:
            yield from outlying_runs(comparison)
        yield from one_after_the_other(base, new)


def _inputs(side: Side, paired: str = "") -> tuple[Input, ...]:
    """Return a side's files, kind by kind; for a fleet, one entry per kind."""
    entries = tuple(
        entry
        for kind in KINDS.values()
        if kind.inputs and (captures := side.of(kind.id))
        for entry in resolve(kind.inputs)(captures)
    )
    if side.fleet is None:
        return entries
    kinds = by_kind(entries).values()
    return tuple(_added(several, side.fleet, paired) for several in kinds)


def _paired(comparison: Comparison) -> str:
    """Return which of new's hosts are compared with themselves, "" for none."""
    fleet, both = comparison.new.fleet, comparison.same_hosts
    if fleet is None or not both:
        return ""
    which = "all" if both == len(fleet.names) else f"{both:,}"
    return f", {which} paired with themselves in {comparison.base.label}"


def _added(several: Sequence[Input], fleet: Fleet, paired: str) -> Input:
    hosts = fleet.of(several[0].kind)
    profiles = sum(sums.profiles for sums in hosts)
    spans = [entry.duration_ns for entry in several if entry.duration_ns]
    times = [entry.time_ns for entry in several if entry.time_ns]
    builds = {entry.build_id for entry in several}
    samples = sum(entry.counts["samples"] for entry in several)
    amount = f"{many(profiles, 'profile')} of {many(len(hosts), 'host')}{paired}"
    if several[0].amount:
        amount += f", {samples:,} samples"
    return several[0]._replace(
        path=fleet.place,
        build_id=builds.pop() if len(builds) == 1 else None,
        duration_ns=sum(spans) or None,
        time_ns=min(times, default=None),
        amount=amount,
        counts={"samples": samples, "profiles": profiles, "hosts": len(hosts)},
    )
