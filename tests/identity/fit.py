"""Fit the weights of `pprofdiff.identity.matching`: ``python -m tests.identity.fit``.

Candidate pairs of the oracle's edits are examples: one function or two, which the
oracle knows. A part of the hidden functions is paired beforehand, as in later rounds.
What the words of names say is not fitted, since hidden names have none in common with
the true ones; and programs that are kept aside are left out.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from pprofdiff.identity import deciding
from pprofdiff.identity.features import FEATURES
from pprofdiff.identity.matching import Matched, Matcher
from tests.identity.captures import ASIDE, PAIRS, Pair
from tests.identity.edits import VARIANTS, edited
from tests.identity.oracle import Case, case_of

# Set by hand, or looked at apart from the score.
FIXED = {"same name": 1.5, "words": 1.5}
UNUSED = {"closure", "other package", "lines in common"}
OF_CLOSURES = {"number expected"}
OF_FUNCTIONS = {"same receiver", *FIXED}
PENALTY = 1.0

Rows = NDArray[np.float64]


class Examples(NamedTuple):
    """Features of candidate pairs, and which of them are one function."""

    features: Rows
    same: NDArray[np.bool_]


def matcher_of(base, new) -> Matcher | None:
    """Return the matcher as it is when two sides' rules have decided."""
    made: list[Matcher] = []

    def stop(*args, **_: object) -> Matched:
        made.append(Matcher(*args[:4]))
        return Matched([], {}, [])

    with patch.object(deciding, "match", stop):
        deciding.identify(base, new)
    return made[0] if made else None


def examples(case: Case, variant: str, seed: int) -> Iterator[Examples]:
    """Yield the candidates of one edit whose truth is known."""
    subject, chance = case.subject, random.Random(f"fit {case.pair.name} {seed}")
    edits = VARIANTS[variant](subject, chance)
    matcher = matcher_of(edited(subject.base, edits[0]), edited(subject.new, edits[1]))
    if matcher is None:
        return
    old_names = matcher.sides[0].names
    before = {edits[1].names.get(n, n): n for n in subject.names[1] - edits[1].gone}
    new_names = [before.get(name, name) for name in matcher.sides[1].names]
    known = (subject.names[0] & subject.names[1]) - subject.uncertain
    rows = {name: row for row, name in enumerate(old_names)}
    got = chance.choice((0.0, 0.0, 0.4, 0.8))
    early = [
        (rows[name], row)
        for row, name in enumerate(new_names)
        if name in known
        and name in rows
        and matcher.lone[0][rows[name]]
        and matcher.lone[1][row]
        and chance.random() < got
    ]
    for pair in early:
        matcher.accept(*pair)
    candidates = matcher.candidates(numbers=chance.random() < 0.5)
    names = [
        (old_names[i], new_names[j])
        for i, j in zip(*(side.tolist() for side in candidates.rows), strict=True)
    ]
    judged = np.array([old in known or now in known for old, now in names], np.bool_)
    same = np.array([old == now for old, now in names], np.bool_)
    if judged.any():
        yield Examples(candidates.features[judged], same[judged])


def drawn(pairs: list[Pair], seeds: int) -> Examples:
    """Return the examples of all pairs and variants."""
    parts = [
        part
        for pair in pairs
        for case in [case_of(pair, deciding.identify)]
        for variant in VARIANTS
        for seed in range(seeds)
        for part in examples(case, variant, seed)
    ]
    return Examples(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def fitted(examples: Examples, names: list[str]) -> dict[str, float]:
    """Return the weights of a logistic regression, by Newton's method."""
    x = examples.features[:, [FEATURES.index(name) for name in names]]
    weights = np.zeros(len(names))
    for _ in range(30):
        chance = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (examples.same - chance) - PENALTY * weights
        curve = (x.T * (chance * (1 - chance))) @ x + PENALTY * np.eye(len(names))
        weights += np.linalg.solve(curve, slope)
    return dict(zip(names, weights.tolist(), strict=True))


def main() -> None:
    """Print the weights as `matching` has them."""
    both = drawn([pair for pair in PAIRS if pair.program not in ASIDE], 2)
    closure = both.features[:, FEATURES.index("closure")] > 0
    weights = []
    for chosen, others in ((~closure, OF_CLOSURES), (closure, OF_FUNCTIONS)):
        names = [n for n in FEATURES if n not in UNUSED | others | FIXED.keys()]
        part = Examples(both.features[chosen], both.same[chosen])
        weights.append(fitted(part, names))
        print(f"# {len(part.same)} examples, {int(part.same.sum())} of one function")
    functions, closures = weights
    for name in FEATURES:
        pair = functions.get(name, FIXED.get(name, 0.0)), closures.get(name, 0.0)
        print(f'    "{name}": ({pair[0]:.2f}, {pair[1]:.2f}),')


if __name__ == "__main__":
    main()
