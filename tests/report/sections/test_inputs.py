"""Go releases next to inputs, where both sides' compare."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from pprofdiff.loaders.profiles.encode import encode
from pprofdiff.report.model import report_of
from pprofdiff.report.sections.inputs import cautions
from tests.analysis.measuring import Unit, compared, path
from tests.building import cpu

ONE = Unit({path("F"): 600}, {path("F"): (3, 300)})

FROM_25, FROM_26, UP_TO_25 = (
    "runtime.tryDeferToSpanScan",
    "runtime.scanObject",
    "runtime.scanobject",
)


@pytest.mark.parametrize(
    ("functions", "shown"),
    [
        ((FROM_25, FROM_26), ()),
        ((FROM_26, FROM_26), ("go1.26+", "go1.26+")),
        ((UP_TO_25, FROM_26), ("go1.25 or older", "go1.26+")),
    ],
    ids=["overlapping", "equal", "apart"],
)
@pytest.mark.parametrize("full", [(), ("--full",)])
def test_releases_that_may_be_one_are_not_shown_as_two(
    cli, tmp_path, monkeypatch, functions, shown, full
):
    # A long path would leave no room for it.
    monkeypatch.chdir(tmp_path)
    for side, name in zip(("base", "new"), functions, strict=True):
        (tmp_path / f"{side}.pb").write_bytes(
            encode(cpu({"main.main;main.F": 900, f"runtime.mallocgc;{name}": 300}))
        )
    out = cli("base.pb", "new.pb", *full).out
    assert ("go1." in out) == bool(shown)
    assert all(version in out for version in shown)


def test_what_one_side_alone_has_has_its_article():
    report = report_of(compared(ONE, ONE))
    unpaired = ("allocs", "base"), ("cpu", "new"), ("trace", "new")
    alone = replace(report.comparison, unpaired=unpaired)
    said = [sentence.text for sentence in cautions(report._replace(comparison=alone))]
    assert said[:3] == [
        "Only base has an allocs profile: not compared.",
        "Only new has a cpu profile: not compared.",
        "Only new has a trace: not compared.",
    ]
