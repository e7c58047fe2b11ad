"""On every pair: the account adds up, and no two findings claim one sample."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import isclose, sqrt

import pytest

from pprofdiff.analysis.causes.case import Case as Evidence
from pprofdiff.analysis.causes.finding import Claim
from pprofdiff.analysis.traces.workers import workers
from pprofdiff.report.json.document import render
from tests.field.cases import CASES, each, report

cases = each(CASES)
# A nanosecond of a second is lost where a figure is a float.
_FLOAT = 1e-12
# A sum of samples is off by more than this in one of 370 cases.
_DEVIATIONS = 3


def reported(case):
    """Return the report and its account, without which there is nothing to test."""
    got = report(case)
    if got.account is None:
        pytest.skip("nothing adds up to the change")
    return got, got.account


def measured(got):
    """Return what an account's total has to be, by its inputs and not by its parts."""
    account = got.account
    if account.of == "shares of CPU":
        return Fraction(100), Fraction(100)
    if account.of in ("CPU per op", "CPU at about equal work"):
        diff = got.comparison.cpu
        factors = diff.normalization.factors
        return tuple(
            total * Fraction(by) for total, by in zip(diff.totals, factors, strict=True)
        )
    assert account.of == "goroutines' time per op"
    trace = got.comparison.trace
    names = workers(trace)
    return tuple(
        Fraction(by)
        * sum(
            int(total)
            for name, total in zip(
                side.groups.names,
                # Until tracing started nobody's state is known.
                side.groups.total_ns - side.groups.unknown_ns,
                strict=True,
            )
            if name in names
        )
        for side, by in zip(trace.sides, trace.factors, strict=True)
    )


@pytest.mark.matrix
@cases
def test_parts_add_up_to_what_was_measured(case):
    got, account = reported(case)
    sums = [sum(part.amount[side] for part in account.parts) for side in (0, 1)]
    assert all(type(one) is Fraction for part in account.parts for one in part.amount)
    assert (account.total.base, account.total.new) == tuple(sums)
    assert account.total.delta == sum(part.amount.delta for part in account.parts)
    if account.of.startswith("mean time per op"):
        # The mean of all operations; the outcome's figure may be a median of them.
        means = [total / 10**9 for total in (account.total.base, account.total.new)]
        rates = got.comparison.work.rates
        each = [mean * Fraction(rate) for mean, rate in zip(means, rates, strict=True)]
        assert isclose(each[0], each[1], rel_tol=_FLOAT)
        assert isclose(each[0], round(each[0]), rel_tol=_FLOAT)
    else:
        assert (account.total.base, account.total.new) == measured(got)


@cases
def test_no_two_parts_are_called_alike(case):
    _, account = reported(case)
    for rows in (account.parts, account.within, account.outside):
        labels = Counter(part.label for part in rows)
        assert [label for label, number in labels.items() if number > 1] == []
    ids = Counter(p.id for p in (*account.parts, *account.within, *account.outside))
    assert [id_ for id_, number in ids.items() if number > 1] == []


@cases
def test_what_is_measured_is_never_negative(case):
    """Time less CPU samples is below 0 by chance at most."""
    got, account = reported(case)
    measured_ones = [p for p in account.parts if p.id != "off-cpu"]
    for part in (*measured_ones, *account.within, *account.outside):
        assert min(part.amount) >= 0, part
    for part in account.parts:
        if part.id != "off-cpu" or min(part.amount) >= 0:
            continue
        assert " less " in part.source
        model = got.comparison.cpu.model
        inside = [p.amount for p in account.parts if p.id.startswith("cpu.")]
        for side, step in enumerate((model.base_step, model.new_step)):
            cpu = float(sum(amount[side] for amount in inside))
            assert part.amount[side] >= -_DEVIATIONS * sqrt(cpu * step)


@cases
def test_the_account_has_the_sign_of_its_figure(case):
    got = report(case)
    same = {
        "mean time per op": "time",
        "mean time per op, of the benchmark's goroutines": "time",
        "goroutines' time per op": "",
        "CPU per op": "cpu",
        "shares of CPU": "",
        "CPU at about equal work": "",
    }
    wanted = "" if got.account is None else same[got.account.of]
    figures = [m for m in got.outcome.measures if wanted and m.id == wanted]
    for figure in figures:
        delta = got.account.total.delta
        assert (delta > 0, delta < 0) == (
            figure.judged.ratio > 1,
            figure.judged.ratio < 1,
        )


@pytest.mark.matrix
@cases
def test_the_json_account_adds_up(case):
    account = json.loads(render(reported(case)[0]))["account"]
    for field in ("base", "new", "delta"):
        parts = [part[field] for part in account["parts"]]
        # Each number is rounded once, and a sum of n of them n times.
        reach = 2**-52 * sum(map(abs, parts)) * (len(parts) + 1)
        reach += 2**-52 * (account["total"]["base"] + account["total"]["new"])
        assert abs(sum(parts) - account["total"][field]) <= reach


def apart(one: Claim, other: Claim) -> bool:
    """Return whether two claims share no sample."""
    return not any(side.any() for side in one.within(other).sides)


def inside(part: Claim, whole: Claim) -> bool:
    """Return whether all samples of a claim are in another."""
    return not any(side.any() for side in part.without(whole).sides)


@cases
def test_no_sample_is_claimed_twice(case):
    findings = report(case).findings
    ids = Counter(finding.id for finding in findings.found)
    assert [id_ for id_, number in ids.items() if number > 1] == []
    by_id = {finding.id: finding for finding in findings.found}
    below: dict[str | None, list] = {}
    for finding in findings.found:
        below.setdefault(finding.parent, []).append(finding)
    for siblings in below.values():
        claims = [(f.id, f.claim) for f in siblings if f.claim is not None]
        for (one, first), (other, second) in combinations(claims, 2):
            assert apart(first, second), (one, other)
    for finding in findings.found:
        if finding.parent is not None and finding.claim is not None:
            whole = by_id[finding.parent].claim
            assert whole is not None, finding.id
            assert inside(finding.claim, whole), finding.id


@cases
def test_what_causes_explain_is_what_is_reported_together(case):
    got = report(case)
    cpu, findings = Evidence(got.comparison).cpu, got.findings
    for finding in findings.found:
        assert (finding.claim is None) == (finding.explains is None), finding.id
        if finding.claim is not None:
            assert finding.explains == cpu.delta(finding.claim)
    if cpu is None:
        assert findings.explained is None
        return
    sums = [cpu.sums(f.claim) for f in findings.causes if f.claim is not None]
    together = sum(base for base, _ in sums), sum(new for _, new in sums)
    assert findings.explained.explained == cpu.scaled_delta(*together)
    assert findings.explained.total == cpu.scaled_delta(*cpu.diff.totals)


@cases
def test_a_consequence_stands_below_its_cause_and_goes_its_way(case):
    findings = report(case).findings
    seen: dict[str, str] = {}
    for finding in findings.found:
        if finding.parent is not None:
            assert finding.parent in seen, finding.id
            ways = {finding.direction, seen[finding.parent]}
            assert ways != {"worse", "better"}, (finding.id, finding.parent)
        seen[finding.id] = finding.direction
