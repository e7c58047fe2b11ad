"""Who calls a function and what it calls: every stack counts, the nearest call is shown."""

import numpy as np
import pytest

from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.lines.costs import on_stacks
from pprofdiff.analysis.settings import DEFAULTS
from pprofdiff.model.side import Capture, Side
from tests.analysis.building import profile


def compared(*sides):
    """Return the comparison of the CPU of two lists of stacks, leaf first."""
    captures = [
        Side(name, (Capture(f"{name}.pb.gz", "profile", profile([(s, 1) for s in stacks])),))
        for name, stacks in zip(("base", "new"), sides, strict=True)
    ]  # fmt: skip
    return compare_sides(*captures, DEFAULTS).profiles[0]


def calls_of(diff, name, wanted):
    """Return what is said of the wanted functions, by name."""
    names = list(diff.paired_functions.names)
    marked = np.array([one in wanted for one in names])
    return {
        names[one.row]: (one.calls, one.steps, names[one.through] if one.through >= 0 else "")
        for one in on_stacks(diff, names.index(name), marked)
    }  # fmt: skip


def by_hand(stacks, name, wanted):
    """Return the same of each wanted function's nearest frames, one by one."""
    found = {}
    for stack in stacks:
        own = [i for i, one in enumerate(stack) if one == name]
        for i, one in enumerate(stack) if own else ():
            if one in wanted and one != name and not own[0] < i < own[-1]:
                steps = i - own[-1] if i > own[-1] else own[0] - i
                found.setdefault(one, set()).add((steps, i > own[-1], stack, i))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_random_stacks(seed):
    random = np.random.default_rng(seed)
    names = [f"m.{c}" for c in "ABCDEFG"]
    sides = [
        [
            tuple(random.choice(names, random.integers(1, 8)).tolist())
            for _ in range(random.integers(1, 12))
        ]
        for _ in range(2)
    ]
    sides[0].append(("m.A",))
    diff = compared(*sides)
    wanted = set(random.choice(names[1:], 3).tolist())
    expected = by_hand([*sides[0], *sides[1]], "m.A", wanted)
    found = calls_of(diff, "m.A", wanted)
    assert found.keys() == expected.keys()
    nearest_first = [steps for _, steps, _ in found.values()]
    assert nearest_first == sorted(nearest_first)
    for name, (calls, steps, through) in found.items():
        nearest = min(one[0] for one in expected[name])
        ways = [one for one in expected[name] if one[0] == nearest]
        assert steps == nearest
        assert calls in {one[1] for one in ways}
        between = {
            stack[i - 1 if above else i + 1]
            for _, above, stack, i in ways
            if above == calls
        }
        assert through in (between if steps == 2 else {""})
