"""Places in the program's code whose CPU changed."""

from __future__ import annotations

from collections.abc import Iterator

from pprofdiff.analysis.causes import place_words
from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.cpu import CPUComparison
from pprofdiff.analysis.causes.finding import Finding
from pprofdiff.analysis.causes.places import Place


def code(case: Case) -> Iterator[Finding]:
    """Yield the places that changed, largest change first."""
    if case.cpu is not None:
        yield from (_finding(case.cpu, place) for place in case.places)


def _finding(cpu: CPUComparison, place: Place) -> Finding:
    name, delta = cpu.names[place.row], place.delta(cpu)
    others = (*place.gone, *place.added, *place.others)
    return Finding(
        "place",
        place_words.title(cpu, place),
        " ".join(f"{one}." for one in place_words.sentences(cpu, place)),
        (*place_words.facts(cpu, place), *cpu.facts(others, "cum")),
        direction=cpu.way(delta),
        rises=delta > 0,
        claim=place.claim,
        names=frozenset([name, *(cpu.names[row] for row in others)]),
        line=place_words.line(cpu, place),
        functions=(name, *(cpu.names[row] for row in place.others)),
    )
