"""How well renamed functions are recognised: ``python -m tests.identity.oracle``.

Two captures of one program have many functions of one name. The names, files and lines
of some are changed in new, in decoded memory, and both sides are paired again: what the
names were before is the truth. What is counted is written at `judge`.

    python -m tests.identity.oracle [--seeds N] [--pairs PATTERN] [--variants PATTERN]
                                    [--wrong] [--jobs N] [--aside]
"""

from __future__ import annotations

import argparse
import os
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, Protocol, Self

from pprofdiff.identity.deciding import identify as engine
from pprofdiff.model.profiles.profile import Profile
from tests.identity.captures import ASIDE, PAIRS, SAME_BUILD, Pair, cpu_samples, load
from tests.identity.edits import VARIANTS, Edit, Subject, edited
from tests.identity.real_cases import RealCase, real_cases


class Identity(Protocol):
    """Which function of base is which of new."""

    def base_of(self, symbol: str) -> str | None:
        """Return the symbol of base that is the function `symbol` of new, or None."""


Identify = Callable[[Sequence[Profile], Sequence[Profile]], Identity]


class Wrong(NamedTuple):
    """A pair that is wrong: `truth` and `chosen` are base's names, None for no partner.

    `samples` are new's function's and the chosen one's; `place` and
    `chosen_place` are file:line after the edit.
    """

    variant: str
    pair: str
    seed: int
    name: str
    truth: str | None
    chosen: str
    samples: tuple[int, int]
    place: str
    chosen_place: str


SIZES = ("≥ 20", "5-19", "< 5")
NOTHING = "nothing hidden, one build"


@dataclass
class Score:
    """Counts of one variant.

    Keys of `counts`: (size, ``right`` or ``hidden``), ``wrong``; ``unjudged`` pairs of
    functions that each stand on one side alone, whose truth nobody knows, and
    ``doubted`` ones: both sides of the captures have the name, but it may be another
    function (`Subject.uncertain`), or it is paired with another one there.
    """

    counts: Counter[object] = field(default_factory=Counter)
    wrong: list[Wrong] = field(default_factory=list)

    def __iadd__(self, other: Score) -> Self:
        """Add the counts of other pairs or seeds."""
        self.counts += other.counts
        self.wrong += other.wrong
        return self

    @property
    def right(self) -> int:
        """How many hidden functions were paired right."""
        return sum(self.counts[size, "right"] for size in SIZES)

    @property
    def precision(self) -> float | None:
        """The share of pairs that are right, None if there are none."""
        got = self.right + self.counts["wrong"]
        return self.right / got if got else None

    def recall(self, size: str) -> float | None:
        """Return the share of hidden functions of a size that were paired right."""
        hidden = self.counts[size, "hidden"]
        return self.counts[size, "right"] / hidden if hidden else None


# Recall wanted of functions with >= 20 samples: 90 % unless the file changed too.
BARS = {
    **dict.fromkeys(VARIANTS, 0.9),
    "+ file renamed": 0.6,
    "+ moved to another file": 0.6,
    "major version /vN": 1.0,
}
_PRECISION, _PRECISION_OVERALL, _RECALL_5 = 0.98, 0.99, 0.6


def bars(variant: str) -> tuple[float, float, float]:
    """Return the least precision, and recall from 20 and from 5 to 19 samples."""
    return _PRECISION, BARS.get(variant, 0.0), _RECALL_5


def _size(samples: int) -> str:
    return SIZES[0] if samples >= 20 else SIZES[1] if samples >= 5 else SIZES[2]


@dataclass(frozen=True)
class Case:
    """A pair of captures as it is: its functions, their samples and its pairing."""

    pair: Pair
    subject: Subject
    samples: tuple[Mapping[str, int], Mapping[str, int]]
    before: Mapping[str, str | None]


def judge(
    case: Case, edits: tuple[Edit, Edit], identity: Identity, place: tuple[str, int]
) -> Score:
    """Compare what was paired after an edit with what stands where it stood before.

    A function of new that both sides had before the edit is the one of its old name,
    unless an edit left that one out. It is right or missed if it has another name now,
    by the smaller number of its CPU samples on the two sides. Every other partner is
    wrong, and so are

    - a partner for a function whose true one the edit left out, and
    - a partner that both sides had before, given to a function of new alone.

    Pairs of functions that one side alone had before are wrong in captures of one
    build, and judged by nobody in others. A pair that stood in the captures as they
    are, with nothing hidden, says nothing of the edit and is not counted.
    """
    subject, score = case.subject, Score()
    variant, seed = place
    base = subject.names[0] - edits[0].gone
    new = subject.names[1] - edits[1].gone
    for name in sorted(new):
        now = edits[1].names.get(name, name)
        chosen = identity.base_of(now)
        both = name in subject.names[0]
        if name in subject.uncertain or (both and case.before[name] != name):
            score.counts["doubted"] += both and now != name
            continue
        truth = name if both and name in base else None
        if truth and now != name:
            least = min(side.get(name, 0) for side in case.samples)
            size = _size(least)
            score.counts[size, "hidden"] += 1
            score.counts[size, "right"] += chosen == truth
        if chosen is None or chosen == truth or chosen == case.before[name]:
            continue
        if not both and chosen not in subject.names[1] and not case.pair.same_build:
            score.counts["unjudged"] += 1
            continue
        score.counts["wrong"] += 1
        score.wrong.append(
            Wrong(
                variant,
                case.pair.name,
                seed,
                now,
                truth,
                chosen,
                (case.samples[1].get(name, 0), case.samples[0].get(chosen, 0)),
                _place(subject, name, edits[1]),
                _place(subject, chosen, edits[0]),
            )
        )
    return score


def _place(subject: Subject, name: str, edit: Edit) -> str:
    file, line = subject.places.get(name, ("", 0))
    file = edit.files.get(name, file)
    line = max(line + edit.down.get(name, 0), 1) if edit.lines else 0
    return f"{file}:{line}"


def case_of(pair: Pair, identify: Identify) -> Case:
    """Return the pair's captures and how they are paired as they are."""
    subject = Subject(load(pair.base), load(pair.new))
    identity = identify(subject.base, subject.new)
    before = {name: identity.base_of(name) for name in subject.names[1]}
    samples = cpu_samples(subject.base), cpu_samples(subject.new)
    return Case(pair, subject, samples, before)


def score_pair(
    pair: Pair,
    identify: Identify | None = None,
    seeds: int = 1,
    variants: Sequence[str] = tuple(VARIANTS),
) -> dict[str, Score]:
    """Return the scores of one pair of captures by variant."""
    identify = identify or engine
    case = case_of(pair, identify)
    subject = case.subject
    scores: dict[str, Score] = {}
    for variant in variants:
        scores[variant] = Score()
        for seed in range(seeds):
            # The variants of one seed hide the same functions.
            chance = random.Random(f"{pair.name} {seed}")
            edits = VARIANTS[variant](subject, chance)
            identity = identify(
                edited(subject.base, edits[0]), edited(subject.new, edits[1])
            )
            scores[variant] += judge(case, edits, identity, (variant, seed))
    return scores


def score_as_it_is(pair: Pair, identify: Identify | None = None) -> dict[str, Score]:
    """Return what is paired wrongly in two captures of one build: unlike names."""
    case = case_of(pair, identify or engine)
    score = Score()
    for name, chosen in case.before.items():
        if chosen is not None and chosen != name:
            score.counts["wrong"] += 1
            truth = name if name in case.subject.names[0] else None
            counts = case.samples[1].get(name, 0), case.samples[0].get(chosen, 0)
            places = [_place(case.subject, n, Edit()) for n in (name, chosen)]
            wrong = Wrong(NOTHING, pair.name, 0, name, truth, chosen, counts, *places)
            score.wrong.append(wrong)
    return {NOTHING: score}


def misses(variant: str, score: Score) -> list[str]:
    """Return which bars a variant's score is below."""
    precision, recall_20, recall_5 = bars(variant)
    got = (
        ("precision", score.precision, precision),
        ("≥ 20", score.recall("≥ 20"), recall_20),
        ("5-19", score.recall("5-19"), recall_5),
    )
    return [word for word, value, least in got if value is not None and value < least]


def _percent(value: float | None, digits: int = 0) -> str:
    return "-" if value is None else f"{value:.{digits}%}"


def _row(name: str, score: Score, below: Sequence[str]) -> str:
    cells = [
        f"{_percent(score.recall(size))} of {score.counts[size, 'hidden']}"
        for size in SIZES
    ]
    return (
        f"{name:37} {cells[0]:>12} {cells[1]:>12} {cells[2]:>12} "
        f"{score.right:>6}/{score.counts['wrong']:<5} "
        f"{_percent(score.precision, 1):>7} {score.counts['unjudged']:>6} "
        f"{score.counts['doubted']:>6}  {'below: ' + ', '.join(below) if below else ''}"
    ).rstrip()


def _table(scores: Mapping[str, Score]) -> Iterator[str]:
    yield (
        f"{'variant':37} {'≥ 20':>12} {'5-19':>12} {'< 5':>12} {'right/wrong':>12} "
        f"{'prec.':>7} {'unjdg.':>6} {'doubt':>6}"
    )
    whole = Score()
    for variant, score in scores.items():
        if variant != NOTHING:
            yield _row(variant, score, misses(variant, score))
            whole += score
    low = whole.precision is not None and whole.precision < _PRECISION_OVERALL
    yield _row("over all", whole, ["precision"] if low else [])
    if NOTHING in scores:
        wrong = scores[NOTHING].counts["wrong"]
        yield f"{NOTHING}: {wrong} functions paired with one of another name"


def _scored(
    task: tuple[Pair, bool], seeds: int, variants: Sequence[str]
) -> dict[str, Score]:
    pair, as_it_is = task
    return score_as_it_is(pair) if as_it_is else score_pair(pair, None, seeds, variants)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, and the real cases below it."""
    parser = argparse.ArgumentParser(prog="python -m tests.identity.oracle")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--pairs", default="", help="regexp of names of pairs")
    parser.add_argument("--variants", default="", help="regexp of variants")
    parser.add_argument("--wrong", action="store_true", help="print each wrong pair")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 2))
    parser.add_argument("--aside", action="store_true", help="those kept aside alone")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    pairs = [
        (pair, as_it_is)
        for known, as_it_is in ((PAIRS, False), (SAME_BUILD, True))
        for pair in known
        if (pair.program in ASIDE) == options.aside
        and re.search(options.pairs, pair.name)
    ]
    variants = [name for name in VARIANTS if re.search(options.variants, name)]
    hidden = sum(not as_it_is for _, as_it_is in pairs)
    programs = len({pair.program for pair, _ in pairs})
    kept = "these are the programs kept aside" if options.aside else "kept aside"
    print(
        f"{hidden} pairs of captures of {programs} programs, {options.seeds} seeds, "
        f"{kept}: {', '.join(ASIDE)}"
    )
    scores = {variant: Score() for variant in variants}
    task = partial(_scored, seeds=options.seeds, variants=variants)
    with ProcessPoolExecutor(options.jobs) as pool:
        for of_pair in pool.map(task, pairs):
            for variant, score in of_pair.items():
                scores.setdefault(variant, Score())
                scores[variant] += score
    if options.wrong:
        for score in scores.values():
            for wrong in score.wrong:
                _print_wrong(wrong)
    print(*_table(scores), sep="\n")
    if not options.aside and not options.pairs:
        print("\nreal cases (tests/identity/truths.toml): ", end="")
        print("functions paired with other names; checks right/wrong/missed")
        for case in real_cases(engine):
            _print_case(case, every=options.wrong)
    print(f"{time.monotonic() - began:.0f} s")


def _print_case(case: RealCase, *, every: bool) -> None:
    print(f"{case.pair:37} {case.paired:>5} {'/'.join(map(str, case.counts)):>12}")
    for check in case.checks:
        if every and check.chosen != check.truth:
            print(f"    new   {check.name}")
            print(f"    chose {check.chosen}")
            print(f"    truth {check.truth}")


def _print_wrong(wrong: Wrong) -> None:
    print(
        f"{wrong.variant} | {wrong.pair}, seed {wrong.seed}\n"
        f"    new   {wrong.name}  {wrong.samples[0]} samples  {wrong.place}\n"
        f"    chose {wrong.chosen}  {wrong.samples[1]} samples  {wrong.chosen_place}\n"
        f"    truth {wrong.truth or 'no partner'}"
    )


if __name__ == "__main__":
    main()
