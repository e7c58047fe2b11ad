"""Which finding follows from which: causes own their consequences.

`FOLLOWS` lists what follows from how Go's runtime works: more bytes allocated make GC
run more often, which makes goroutines that allocate assist marking.
A consequence has its cause's direction, unless one of them has none. A finding that is
not listed becomes part of one that claims the same samples.

Each sample is claimed once: by one cause and, within that, by one consequence at most.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase

from msgspec import Struct, field

from pprofdiff.analysis.causes.cpu import CPUComparison
from pprofdiff.analysis.causes.finding import (
    OF_CPU,
    SEVERITIES,
    Claim,
    Direction,
    Finding,
    severity_of,
)
from pprofdiff.analysis.policy import MINOR, MOST

# Characters that may begin a pattern.
_SIGNS = "@=%<"
_GC_WORK = ("gc-assist", "gc-capacity", "gc-cpu", "wait-gc")
_WAITS = ("wait-processor", "utilisation")
_OF_ALLOCATION = ("gc-frequency", "leaf-clear", *_GC_WORK)
_CPU_OF_ALLOCATION = ("%allocation-cpu", "%gc-tax")
_OF_ALLOCATING = (
    *_CPU_OF_ALLOCATION,
    *(f"%{one}" for one in ("gc-frequency", *_GC_WORK)),
)

_OF_LOCKS = ("locks", "scheduler", "@place*")
# Waits for other goroutines of the program.
_FOR_OTHERS = ("blocked-select", "blocked-receive", "blocked-send", "blocked-cond")
_OF_CODE = ("@allocation", "@leaf-*", *_FOR_OTHERS, *_WAITS)

_OF_NEW_CODE = ("@locks", "@scheduler", *_OF_CODE)

_OF_PROCESSORS = (
    *_WAITS, "off-cpu*", "blocked-*", "scheduler", "gc-cycle-cost", *_GC_WORK,
)  # fmt: skip

FOLLOWS: dict[str, tuple[str, ...]] = {
    "go-upgrade": (
        "gc-*",
        "leaf-*",
        "scheduler",
        "locks",
        "stack-growth",
        "place*",
    ),
    # Each GC cycle starts and parks workers.
    "gc-*": ("<scheduler",),
    "machine*": (*_WAITS, "gomaxprocs-over"),
    "gomaxprocs-over": _OF_PROCESSORS,
    "gomaxprocs": _OF_PROCESSORS,
    "goroutine-leak": ("heap-growth", "gc-cycle-cost", "scheduler", *_GC_WORK),
    "goroutine-growth": ("heap-growth", "gc-cycle-cost", "scheduler", *_GC_WORK),
    "heap-growth": ("gc-limit", "gc-cycle-cost", *_GC_WORK),
    "gc-pace": ("gc-cycle-cost", *_GC_WORK),
    "gc-limit": ("gc-frequency", "gc-cycle-cost", *_GC_WORK),
    "syscalls*": ("syscall-*", "scheduler", "locks", "blocked-*", "off-cpu*", *_WAITS),
    "contention*": ("blocked-*", "off-cpu*", *_OF_LOCKS, *_WAITS),
    "blocked-sync": (*_OF_LOCKS, *_WAITS),
    "goroutine-starts": ("scheduler", *_WAITS),
    "unit-running": _WAITS,
    "off-cpu*": ("scheduler", "locks", *_WAITS),
    "inlining": ("@place*", "@leaf-*"),
    "stack-growth": ("@place*",),
    "place*": ("=contention*", *_OF_NEW_CODE, *_OF_ALLOCATING),
    "allocation": ("=heap-growth", *_OF_ALLOCATION, "leaf-copy", *_FOR_OTHERS),
    "allocation-cpu": ("gc-tax", "leaf-clear"),
    "gc-frequency": _GC_WORK,
    "gc-cycle-cost": _GC_WORK,
    "gc-cpu": ("gc-assist", "gc-capacity", "wait-gc"),
    "gc-capacity": ("wait-gc",),
}
"""What may follow from each cause, by ids that may end in ``*``. The nearest of several
causes is the last one listed. After ``@``, a consequence follows only if most of its
samples are the cause's; after ``=``, only if both are about the same function and the
cause matters as much; after ``%``, only if most of the change in the CPU of allocation
is in the cause's functions and what they call; after ``<``, only if it changed by less.
"""

_MEMORY = ("heap-growth", "goroutine-growth")
# Caveats say how far to trust other numbers, and rank below all causes.
_CAVEATS = ("machine-busy",)
# Changes beyond what runs of one build differ by.
_SURE = ("more", "less")
# The chance at which samples show a place though the outcome shows no change: of 120
# splits of ten runs of one build, two had one by chance, at 0.0021 and 0.0022.
_CHANCE = 0.001
# Goroutines that never end are a defect also where new is faster.
_DEFECTS = ("goroutine-leak",)


class _Node(Struct, eq=False, dict=True):
    """A finding with its consequences; `said` are the samples of its own amount."""

    finding: Finding
    below: list[_Node] = field(default_factory=list)
    said: Claim | None = None

    @property
    def family(self) -> list[Finding]:
        """The finding, its consequences, and theirs."""
        return [self.finding, *(one for node in self.below for one in node.family)]


def tree(
    cpu: CPUComparison | None,
    drafts: Sequence[Finding],
    way: Direction | None = None,
) -> tuple[tuple[Finding, ...], Claim | None]:
    """Return the findings, largest cause first, and all samples that they claim.

    Causes that go the `way` of the outcome come first, if they matter. Each precedes
    its consequences. Findings with the same id are numbered: ``place``, ``place-2``.
    Without CPU profiles nothing is claimed.
    """
    found = [_weighed(cpu, draft, way) for draft in _unique(drafts)]
    nodes = {finding.id: _Node(finding) for finding in found}
    causes = []
    for finding in found:
        parent = _parent(cpu, finding, found)
        if parent is None:
            causes.append(nodes[finding.id])
        else:
            nodes[parent].below.append(nodes[finding.id])
    if cpu is None:
        causes.sort(key=lambda node: _importance(None, node, None, way), reverse=True)
        return tuple(one for node in causes for one in _listed(node, None)), None
    covered = cpu.of(())
    ordered: list[_Node] = []
    while causes:
        best = max(causes, key=lambda node: _importance(cpu, node, covered, way))
        causes.remove(best)
        owner = _owner(cpu, best, ordered, covered)
        if owner is not None:
            owner.below.append(best)
            continue
        ordered.append(best)
        covered = covered.plus(_claim(cpu, best))
    claimed = cpu.of(())
    for node in ordered:
        node.finding = _claimed(cpu, node, _claim(cpu, node).without(claimed))
        claimed = claimed.plus(_claim(cpu, node))
    by_chance = [one for node in filter(_by_chance, ordered) for one in node.family]
    chance = {one.id for one in by_chance if _of_samples(one)}
    if chance and any(_goes_along(cpu, node.finding) for node in ordered):
        # Next to a change that is not chance, one that may be reads as a second defect.
        # What it claimed is then the other causes'.
        return tree(cpu, [one for one in found if one.id not in chance], way)
    for node in ordered:
        _on_top(cpu, node, cpu.of(()))
    # What is left for a cause may matter less than all of it did.
    ordered.sort(key=lambda node: _importance(cpu, node, None, way)[:3], reverse=True)
    return tuple(one for node in ordered for one in _listed(node, None)), claimed


def _unique(drafts: Sequence[Finding]) -> list[Finding]:
    seen: Counter[str] = Counter()
    unique = []
    for draft in drafts:
        seen[draft.id] += 1
        again = seen[draft.id]
        unique.append(draft if again == 1 else draft._replace(id=f"{draft.id}-{again}"))
    return unique


def _weighed(
    cpu: CPUComparison | None, finding: Finding, way: Direction | None
) -> Finding:
    """Return the finding with what its claim explains, and how much that matters.

    A claim whose samples changed in the other direction is dropped. Where the outcome
    has no `way`, one of many places has to leave less to chance.
    """
    if finding.claim is None:
        return finding
    if cpu is None:
        return finding._replace(claim=None)
    explains = cpu.delta(finding.claim)
    if _contrary(finding, explains):
        return finding._replace(claim=None)
    mark = cpu.mark(finding.claim)
    change = cpu.change(finding.claim)
    beyond = mark not in (None, "noise") and change.significant
    if way is None and finding.id.startswith("place"):
        beyond &= change.p is None or change.p <= _CHANCE
    share = abs(explains) / cpu.whole if beyond else 0.0
    if mark == "unknown" and cpu.in_shares:
        # Any change elsewhere shifts every share, and runs differ on top of that.
        share = min(share, MINOR)
    least = finding.severity if finding.sure else "info"
    severity = max(least, severity_of(share), key=SEVERITIES.index)
    return finding._replace(explains=explains, severity=severity)


def _goes_along(cpu: CPUComparison, finding: Finding) -> bool:
    """Return whether a cause goes the way of the total, and by more than chance."""
    whole = cpu.total_delta
    surely = finding.severity == "major" and finding.mark in _SURE
    return surely and (cpu.in_shares or (finding.explains or 0.0) * whole > 0)


def _by_chance(node: _Node) -> bool:
    """Return whether a cause is CPU time that runs of one build may differ by."""
    marks = {one.mark for one in node.family}
    of_code = not node.finding.sure and _of_samples(node.finding)
    return of_code and not marks <= {None} and marks.isdisjoint(_SURE)


def _of_samples(finding: Finding) -> bool:
    """Return whether CPU samples alone show a finding."""
    return all(fact.source == OF_CPU for fact in finding.evidence)


def _contrary(finding: Finding, explains: float) -> bool:
    """Return whether samples changed against a finding's direction.

    Without one, all its samples decide: what other findings leave of them may have
    changed the other way.
    """
    way = _way(finding) or finding.explains or 0.0
    return explains * way < 0


def _parent(
    cpu: CPUComparison | None, finding: Finding, found: Sequence[Finding]
) -> str | None:
    """Return the id of the nearest listed cause of a finding, None without one."""
    nearest = None
    for cause, consequences in FOLLOWS.items():
        listed = _listing(consequences, finding.id)
        if listed is None:
            continue
        for other in found:
            if not fnmatchcase(other.id, cause) or not _fits(other, finding):
                continue
            # Other causes of GC, as a larger heap, show more than who allocates.
            if listed[0] == "%" and nearest is not None:
                continue
            if _follows(cpu, listed[0], other, finding):
                nearest = other.id
    return nearest


def _follows(
    cpu: CPUComparison | None, sign: str, cause: Finding, finding: Finding
) -> bool:
    """Return whether the condition that `sign` adds to a pattern holds."""
    if sign == "@":
        return _within(cpu, finding, cause)
    if sign == "=":
        weighs = map(SEVERITIES.index, (cause.severity, finding.severity))
        alike = not cause.names.isdisjoint(finding.names)
        return alike and operator.ge(*weighs)
    if sign == "%":
        return _allocates(cpu, cause, finding)
    if sign == "<":
        return abs(finding.explains or 0.0) < abs(cause.explains or 0.0)
    return True


def _allocates(cpu: CPUComparison | None, cause: Finding, finding: Finding) -> bool:
    """Return whether allocation changed in a cause's functions, one way with GC."""
    if cpu is None or not (cause.names or cause.functions):
        return False
    allocated = cpu.of_groups("alloc")
    below = allocated.within(cpu.under_names((*cause.names, *cause.functions)))
    part = cpu.delta(below)
    return (
        part * _way(finding) > 0
        and abs(part) >= MOST * abs(cpu.delta(allocated))
        and cpu.change(below).significant
    )


def _listing(consequences: Sequence[str], id_: str) -> str | None:
    """Return the pattern that matches an id, None if none does."""
    matching = (one for one in consequences if fnmatchcase(id_, one.lstrip(_SIGNS)))
    return next(matching, None)


def _listed_under(cause: str, consequence: str) -> bool:
    """Return whether `FOLLOWS` lists one id as a consequence of another."""
    return any(
        fnmatchcase(cause, pattern) and _listing(consequences, consequence) is not None
        for pattern, consequences in FOLLOWS.items()
    )


def _fits(cause: Finding, finding: Finding) -> bool:
    """Return whether severity and direction allow one to cause the other."""
    if cause.id == finding.id or (cause.severity == "info" != finding.severity):
        return False
    ways = _way(cause), _way(finding)
    return ways[0] * ways[1] >= 0


def _way(finding: Finding) -> int:
    """Return 1 where a finding's numbers rise, -1 where they fall, 0 for neither."""
    if finding.rises is not None:
        return 1 if finding.rises else -1
    return {"worse": 1, "better": -1}.get(finding.direction, 0)


def _within(cpu: CPUComparison | None, part: Finding, whole: Finding) -> bool:
    """Return whether most of what a finding explains lies in another's samples."""
    if cpu is None or part.claim is None or whole.claim is None:
        return False
    shared = abs(cpu.delta(part.claim.within(whole.claim)))
    return shared >= MOST * abs(part.explains or 0.0) > 0


def _claim(cpu: CPUComparison, node: _Node) -> Claim:
    """Return all samples that a finding and its consequences claim."""
    return cpu.of(()).plus_all(one.claim for one in node.family if one.claim)


def _importance(
    cpu: CPUComparison | None,
    node: _Node,
    covered: Claim | None,
    way: Direction | None,
) -> tuple[bool, bool, int, bool, bool, float, float]:
    """Return how much a cause matters: direction, severity, the share it adds."""
    severity = max(SEVERITIES.index(one.severity) for one in node.family)
    finding = node.finding
    share = min(finding.weight, 1.0) if finding.claim is None else 0.0
    if cpu is not None and covered is not None:
        added = cpu.delta(_claim(cpu, node).without(covered))
        share = max(share, abs(added) / cpu.whole)
    explains = way is None or finding.direction in (way, "neutral")
    explains = explains or (finding.id in _DEFECTS and finding.direction == "worse")
    # Memory is not time, unless samples show what it costs.
    timed = finding.id not in _MEMORY or any(one.claim for one in node.family)
    matters = severity > 0
    causes = finding.id not in _CAVEATS
    # A share also falls when other code costs more.
    grows = cpu is None or not cpu.in_shares or _way(finding) >= 0
    explains = matters and explains
    return causes, explains, severity, timed, grows, share, finding.weight


def _owner(
    cpu: CPUComparison, node: _Node, ordered: Sequence[_Node], covered: Claim
) -> _Node | None:
    """Return the cause that already claims most of a finding's samples, if any."""
    finding = node.finding
    if finding.claim is None:
        return None
    own = abs(finding.explains or 0.0)
    if abs(cpu.delta(finding.claim.without(covered))) >= MOST * own:
        return None
    best, most = None, 0.0
    for other in ordered:
        if _listed_under(finding.id, other.finding.id):
            continue
        shared = abs(cpu.delta(finding.claim.within(_claim(cpu, other))))
        if shared > most and _way(other.finding) in (_way(finding), 0):
            best, most = other, shared
    return best


def _claimed(cpu: CPUComparison, node: _Node, allowed: Claim) -> Finding:
    """Give a finding, and each consequence in turn, samples that are not claimed yet.

    A consequence that adds the other way has only what the finding says itself. If what
    is left for a finding changed the other way, it keeps only the samples of its
    consequences, if these did not.
    """
    left, itself = allowed, node.finding.claim
    for below in sorted(node.below, key=lambda one: -one.finding.weight):
        wanted = _claim(cpu, below).within(left)
        if itself and _contrary(node.finding, cpu.delta(wanted.without(itself))):
            wanted = wanted.within(itself)
        below.finding = _claimed(cpu, below, wanted)
        left = left.without(wanted)
    finding, said = node.finding, None
    if finding.claim is not None:
        said = finding.claim.within(allowed)
        own = cpu.delta(said)
        whole = finding.explains or 0.0
        shared = abs(own - whole) > MINOR * abs(whole)
        finding = finding._replace(shared=shared)
        if own and not _contrary(finding, own):
            finding = finding._replace(own=own, mark=cpu.mark(said))
            node.said = said
            if shared and not finding.sure:
                # The other causes have the rest of what made it matter.
                least = severity_of(abs(own) / cpu.whole)
                severity = min(finding.severity, least, key=SEVERITIES.index)
                finding = finding._replace(severity=severity)
    for claim in (_claim(cpu, node).within(allowed), allowed.without(left)):
        explains = cpu.delta(claim)
        if explains and not _contrary(finding, explains):
            if finding.own is None:
                finding = finding._replace(mark=cpu.mark(claim))
            return finding._replace(claim=claim, explains=explains)
    _unclaim(node)
    return node.finding


def _on_top(cpu: CPUComparison, node: _Node, above: Claim) -> None:
    """Give each consequence the amount that it adds to the causes `above` it.

    One that adds nothing, or the other way, has no mark: its amount is theirs.
    """
    if node.said is not None:
        above = above.plus(node.said)
    for below in node.below:
        finding = below.finding
        shown = finding.claim if below.said is None else below.said
        if shown is not None and any(cpu.sums(shown.within(above))):
            left = shown.without(above)
            added = cpu.delta(left)
            adds = added and not _contrary(finding, added)
            below.finding = (
                finding._replace(own=added, mark=cpu.mark(left), shared=True)
                if adds
                else finding._replace(mark=None)
            )
        _on_top(cpu, below, above)


def _unclaim(node: _Node) -> None:
    """Drop the claims of a finding and of what follows from it.

    What CPU samples alone show is then a detail of the causes that have them.
    """
    finding = node.finding
    if finding.claim is not None and _of_samples(finding):
        finding = finding._replace(severity="info")
    node.finding = finding._replace(claim=None, explains=None, own=None, mark=None)
    for below in node.below:
        _unclaim(below)


def _listed(node: _Node, parent: str | None) -> list[Finding]:
    """Return a finding and its consequences with their parents, largest first.

    Its `explains` and its severity include its consequences.
    """
    severity = max((one.severity for one in node.family), key=SEVERITIES.index)
    finding = node.finding._replace(parent=parent, severity=severity)
    below = sorted(
        node.below,
        key=lambda one: (
            -SEVERITIES.index(one.finding.severity),
            -abs(one.finding.explains or 0.0),
        ),
    )
    return [finding, *(f for one in below for f in _listed(one, finding.id))]
