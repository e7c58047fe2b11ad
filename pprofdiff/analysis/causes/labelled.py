"""Which label's value, such as an endpoint, the code of a finding runs under.

Samples of CPU profiles and goroutines have labels (``pprof.Do``), samples of locks and
memory have none: their functions' CPU samples decide.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.finding import Finding
from pprofdiff.analysis.ledger.views import merged
from pprofdiff.analysis.policy import ENOUGH, NEARLY_ALL
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.labels import ByLabel, labelled_with
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import sums
from pprofdiff.model.profiles.profile import Profile


def with_labels(case: Case, found: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings, causes with the label's value that their code runs under.

    A cause has a value if nearly all of the change in the samples that it claims has
    it, or nearly all samples of a function that it is about, on both sides together. A
    value that nearly all labelled samples have says nothing of a cause.
    """
    by = case.comparison.by_label
    if by is None:
        return tuple(found)
    values = _Values(case, by)
    named = np.array([bool(value) for value in by.values], np.bool_)
    usual = _nearly_all(by.values, np.where(named, np.sum(merged(by.runs), axis=0), 0))
    labelled = []
    for one in found:
        finding, value = one, ""
        if finding.label[1] and finding.label[1] in by.values:
            # A task that is named as a label's value is the same unit of work.
            finding = finding._replace(label=(by.key, finding.label[1]))
        elif finding.parent is None and not finding.unit:
            value = values.of_claim(finding) or values.of_functions(finding)
        if value and value != usual:
            finding = finding._replace(label=(by.key, value))
        labelled.append(finding)
    return tuple(labelled)


class _InProfile(NamedTuple):
    """A profile, its functions' rows, the label's values, and each sample's."""

    diff: ProfileDiff
    rows: Mapping[str, list[int]]
    values: Sequence[str]
    sides: tuple[Column, Column]


class _Values(Struct, frozen=True, eq=False, dict=True):
    """The values of one label in all profiles that have it."""

    case: Case
    by: ByLabel

    def of_claim(self, finding: Finding) -> str:
        """Return the value of nearly all the change that a finding claims, or ""."""
        cpu, claim = self.case.cpu, finding.claim
        if cpu is None or claim is None or cpu.diff is not self.case.comparison.cpu:
            return ""
        if sum(np.divide(cpu.sums(claim), cpu.model.worth)) < ENOUGH:
            return ""
        base, new = (
            sums(of[kept], values[kept], len(self.by.values))
            for of, kept, values in zip(
                self.by.sides, claim.sides, cpu.diff.values, strict=True
            )
        )
        return _nearly_all(
            self.by.values, np.abs(cpu.diff.normalization.delta(base, new))
        )

    def of_functions(self, finding: Finding) -> str:
        """Return the value under which nearly all samples of a finding's functions run.

        Functions with few samples do not count; "" if the others differ.
        """
        found = {self._of_function(n) for n in {*finding.names, *finding.functions}}
        found.discard(None)
        return next(iter(found)) or "" if len(found) == 1 else ""

    def _of_function(self, name: str) -> str | None:
        """Return the value of nearly all samples of a function, "" if there is none.

        None if there are too few samples.
        """
        total: dict[str, int] = {}
        for diff, rows_of, values, sides in self._labelled:
            if name not in rows_of:
                continue
            rows = np.zeros(len(diff.paired_functions.names), np.bool_)
            rows[rows_of[name]] = True
            having = diff.having(rows)
            profiles = diff.base.profile, diff.new.profile
            for profile, of, kept in zip(profiles, sides, having, strict=True):
                counted = sums(of[kept], _counts(profile)[kept], len(values))
                for value, number in zip(values, counted.tolist(), strict=True):
                    total[value] = total.get(value, 0) + number
        if sum(total.values()) < ENOUGH:
            return None
        return _nearly_all([*total], np.array([*total.values()], np.float64))

    @cached_property
    def _labelled(self) -> list[_InProfile]:
        """Profiles that have the label."""
        found = []
        for diff in self.case.comparison.profiles:
            of_cpu = diff is self.case.comparison.cpu
            own = self.by if of_cpu else labelled_with(diff, self.by.key)
            if own is not None:
                rows: dict[str, list[int]] = defaultdict(list)
                for row, name in enumerate(diff.paired_functions.names):
                    rows[name].append(row)
                found.append(_InProfile(diff, rows, own.values, own.sides))
        return found


def _counts(profile: Profile) -> Column:
    """Return how often each stack was sampled, 0 if the profile does not count."""
    units = [counted.unit for counted in profile.sample_types]
    if "count" not in units:
        return np.zeros(len(profile), np.int64)
    return profile.values[:, units.index("count")]


def _nearly_all(values: Sequence[str], amounts: NDArray[np.float64]) -> str:
    """Return the value with nearly all of the amounts, "" without one."""
    if not len(amounts) or not amounts.any():
        return ""
    at = int(np.argmax(amounts))
    return values[at] if amounts[at] >= NEARLY_ALL * amounts.sum() else ""
