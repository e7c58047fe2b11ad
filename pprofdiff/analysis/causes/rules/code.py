"""Places in the program's code whose CPU changed."""

from __future__ import annotations

from collections.abc import Iterator

from pprofdiff.analysis.causes import place_words
from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.changed_code import is_undecided, share_that_rose
from pprofdiff.analysis.causes.cpu import CPUComparison
from pprofdiff.analysis.causes.finding import Finding
from pprofdiff.analysis.causes.places import Place
from pprofdiff.analysis.causes.wording import joined

_OF_SHARES = "A share also changes when other code costs more or less."


def code(case: Case) -> Iterator[Finding]:
    """Yield the places that changed, largest change first.

    Else, where the work is unknown, the share that rose most: nothing else shows what
    may have changed.
    """
    cpu = case.cpu
    if cpu is None:
        return
    for place in case.places:
        say = _undecided if is_undecided(cpu, place) else _finding
        yield say(cpu, place)
    if not cpu.in_shares or case.places:
        return
    # In CPU time of Go it rose many times, and other rules find what it does.
    hint = share_that_rose(cpu)
    if hint is not None:
        finding = _finding(cpu, hint)
        yield finding._replace(
            text=f"{finding.text} {_OF_SHARES}".lstrip(),
            advice="Pass --work BASE:NEW, the operations done while profiled.",
            claim=hint.claim if cpu.of_go and cpu.diff.is_cpu else None,
            severity="minor",
            weight=hint.delta(cpu) / cpu.whole,
        )


def _undecided(cpu: CPUComparison, place: Place) -> Finding:
    """Return a place whose change is that of all, which is within noise."""
    return Finding(
        "place",
        f"{place_words.most(cpu, place)} (within noise)",
        "",
        place_words.facts(cpu, place),
        severity="info",
        functions=(cpu.names[place.row],),
    )


def _finding(cpu: CPUComparison, place: Place) -> Finding:
    name, delta = cpu.names[place.row], place.delta(cpu)
    others = (*place.gone, *place.added, *place.others)
    return Finding(
        "place",
        place_words.title(cpu, place),
        joined(place_words.sentences(cpu, place)),
        (*place_words.facts(cpu, place), *cpu.facts(others, "cum")),
        direction=cpu.way(delta),
        rises=delta > 0,
        claim=place.claim,
        names=frozenset([name, *(cpu.names[row] for row in others)]),
        line=place_words.line(cpu, place),
        functions=(name, *(cpu.names[row] for row in place.others)),
    )
