"""Eight runs of one build, `tests/data/unchanged`: nothing may be called a change.

`diff.noise` promises that at most one table in twenty of an unchanged pair holds a
row called a change. There are 28 pairs of runs here, each with a table of groups, one
of functions by flat and one by cum.
"""

from itertools import combinations

import numpy as np
import pytest

from pprofdiff.analysis.judge.calibration import DISPERSION
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.goruntime.rules import rules
from pprofdiff.report.sections.profiles.headline import headline

from .building import PERIOD, compared, groups_of

LEAST = 20  # samples a side for counts to be near normal


@pytest.fixture(scope="module")
def pairs(load_capture, data_folder):
    """Return every pair of runs, compared."""
    runs = [
        load_capture(p)
        for p in sorted((data_folder / "unchanged").glob("run*/cpu.pb.gz"))
    ]
    assert len(runs) >= 4
    return [compared(a, b) for a, b in combinations(runs, 2)]


def tables(diff):
    """Yield (name, base, new) of every table that is judged."""
    groups = groups_of(diff)
    yield "groups", *(np.array([g[i] for g in groups], np.int64) for i in (1, 2))
    for column in ("flat", "cum"):
        yield column, *diff.table().raw(column)


@pytest.mark.slow
def test_hardly_a_table_holds_a_false_change(pairs):
    false = {"groups": 0, "flat": 0, "cum": 0}
    rows = 0
    for diff in pairs:
        for name, base, new in tables(diff):
            wrong = int((~diff.model.rows(Runs.single(base, new)).noise).sum())
            false[name] += wrong > 0
            rows += wrong
    print(
        f"tables with a false change, of {len(pairs)} pairs: {false}; {rows} rows in all"
    )
    assert sum(false.values()) <= 0.05 * 3 * len(pairs)
    assert rows <= len(pairs)


@pytest.mark.slow
def test_the_spread_is_what_the_model_takes_it_for(pairs):
    """The root mean square of z is 1 or a little less: the model errs to caution."""
    for name in ("groups", "flat", "cum"):
        z = np.concatenate([_large(diff, name) for diff in pairs])
        rms = float(np.sqrt((z**2).mean()))
        beyond = float((np.abs(z) > 3).mean())
        print(
            f"{name}: rms z {rms:.2f} over {len(z)} rows, {beyond:.2%} beyond 3; dispersion {DISPERSION * rms**2:.2f}"
        )
        assert rms <= 1.0
        assert beyond <= 0.005


def _large(diff, wanted):
    """Return z of the rows with enough samples on both sides."""
    _, base, new = next(t for t in tables(diff) if t[0] == wanted)
    some = np.minimum(base, new) >= LEAST * PERIOD
    return diff.model.rows(Runs.single(base[some], new[some])).z


@pytest.mark.slow
def test_the_first_sentence_says_so(pairs):
    for diff in pairs:
        assert headline(diff, noise=None) == "No group changed beyond noise on its own."


PLANTED = {"gc": "GC", "alloc": "Allocation", "user": "User code"}


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("work", [None, (1, 1)], ids=["unknown", "known"])
@pytest.mark.parametrize("group", PLANTED)
def test_a_planted_change_is_found_where_it_is(pairs, group, work):
    """Doubling a group's samples in one run names that group first, whatever the pair.

    It alone changed where the work is known. Of shares, it alone grew: the others are
    less of a larger total.
    """
    verb = ": " if work is None else " costs "
    for diff in pairs[:7]:
        place = [g[0] for g in groups_of(diff)].index(group)
        ids = np.flatnonzero(np.array(rules().group_rows) == place)
        mine = np.isin(diff.attributions[1].category, ids)
        profile = diff.new.profile
        planted = profile.with_values(profile.values * np.where(mine, 2, 1)[:, None])
        changed = compared(diff.base.profile, planted, work=work)
        assert headline(changed, noise=None).startswith(f"{PLANTED[group]}{verb}")
        sums = groups_of(changed)
        verdict = changed.judge_runs(changed.ledger.every("group").runs)
        grew = [
            s[0] for s, mark in zip(sums, verdict.mark, strict=True) if mark == "more"
        ]
        assert grew == [group]
        if work is not None:
            assert int((~verdict.noise).sum()) == 1
