"""What lines cost is what ``go tool pprof -list`` says, of each build by itself."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from pprofdiff import api
from pprofdiff.analysis.lines.costs import side_lines
from pprofdiff.analysis.lines.listing import BothSides, listing, places_of
from pprofdiff.inputs.sources.lookup import sources_of
from tests.repository import go_env

ROUTINE = re.compile(r"ROUTINE =+ (.*) in (.*)")
LINE = re.compile(r"\s*(\S+)\s+(\S+)\s+(\d+):(.*)")


def value(text):
    """Return a number of nanoseconds, 0 for a dot."""
    return 0 if text == "." else int(text.removesuffix("ns"))


MODULE = "example.com/shop/"


def trimmed(repo):
    """Return what pprof needs to list a build with ``-trimpath`` of a repository.

    Files of the module are called by their path in it then.
    """
    folders = f"{repo.folder}{os.pathsep}{Path(go_env('GOROOT')) / 'src'}"
    return f"-trim_path={MODULE}", f"-source_path={folders}"


def pprof_list(profile, pattern, *flags):
    """Return (flat, cum, text) by (function, file, line) as pprof lists them."""
    done = subprocess.run(
        ["go", "tool", "pprof", "-symbolize=none", "-unit=ns", *flags, f"-list={pattern}", profile],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found, routine = {}, None
    for line in done.stdout.splitlines():
        if head := ROUTINE.match(line):
            routine = head.groups()
        elif routine and (got := LINE.fullmatch(line)):
            flat, cum, number, text = got.groups()
            found[(*routine, int(number))] = value(flat), value(cum), text
    return found


@pytest.fixture(scope="module")
def diff(planted_repo):
    """Return the comparison of two real captures, raw."""
    return api.diff(planted_repo.base, planted_repo.new).comparison.profiles[0]


@pytest.mark.go
@pytest.mark.parametrize("side", [0, 1])
def test_sums_by_line_match_pprof(planted_repo, diff, side):
    profile = (planted_repo.base, planted_repo.new)[side]
    theirs = pprof_list(profile, ".", *trimmed(planted_repo.repo))
    costly = {key: got[:2] for key, got in theirs.items() if got[:2] != (0, 0)}
    ours = {
        (one.function, one.file.removeprefix(MODULE), line): (flat, cum)
        for functions in side_lines(diff, side).functions.values()
        for one in functions
        for line, flat, cum in zip(
            one.line.tolist(), one.flat.tolist(), one.cum.tolist(), strict=True
        )
        if flat or cum
    }
    assert len(ours) > 5
    assert ours == costly


@pytest.mark.go
def test_the_text_of_new_is_what_pprof_prints(planted_repo, diff):
    """The work tree is at new: pprof's listing of it has the same lines of text."""
    theirs = pprof_list(
        planted_repo.new, r"store\.Price|main\.r", *trimmed(planted_repo.repo)
    )
    sources = sources_of(
        "..".join(planted_repo.refs), str(planted_repo.repo.folder), ""
    )
    both = BothSides(diff, (side_lines(diff, 0), side_lines(diff, 1)))
    seen = 0
    for _, base, new in both.pairs():
        for old, now in both.parts(base, new):
            if now is None or not re.search(r"store\.Price|main\.r", now.function):
                continue
            got = listing(sources, places_of(sources, old, now))
            assert got.why == ""
            for line in got.lines:
                key = now.function, now.file.removeprefix(MODULE), line.new
                if key in theirs:
                    flat, cum, text = theirs[key]
                    costs = line.costs
                    assert (costs.new_flat, costs.new_cum, line.text) == (
                        flat,
                        cum,
                        text,
                    )
                    seen += 1
    assert seen > 20
