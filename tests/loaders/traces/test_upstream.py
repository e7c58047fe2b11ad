"""Go's own test data of internal/trace: what its reader takes, and what broke it once."""

from __future__ import annotations

import re
import resource
import shutil
import sys

import pytest

from pprofdiff.errors import FormatError
from pprofdiff.loaders.traces import decode
from tests.traces import upstream

from . import parsed
from .ours import Plain

pytestmark = pytest.mark.go

GO = shutil.which("go") is not None
CASES = list(upstream.cases()) if GO else []
FUZZED = list(upstream.fuzzed()) if GO else []
# What Go says, and what we say.
FAULTS = {"expected a proc but didn't have one": "on a thread that has none"}


def named(cases):
    """Return parameters that are called as Go calls them."""
    return [pytest.param(case, id=case[0]) for case in cases]


@pytest.mark.matrix
@pytest.mark.parametrize("case", named(c for c in CASES if c.failure is None))
def test_what_go_reads_is_read_the_same(case, tmp_path):
    path = tmp_path / "trace"
    path.write_bytes(case.content)
    events, fault = parsed.events_of(path)
    assert not fault
    found = decode(case.content)
    assert found.missing is None
    ours = Plain(found)
    parsed.assert_same(ours.goroutines(), parsed.goroutines(events))
    parsed.assert_processors(ours.processors(), parsed.processors(events))
    parsed.assert_same(ours.ranges(), parsed.ranges(events))
    assert ours.names() == parsed.names(events)


@pytest.mark.parametrize("case", named(c for c in CASES if c.failure is not None))
def test_what_go_refuses_is_refused(case):
    (ours,) = [ours for go, ours in FAULTS.items() if re.search(case.failure, go)]
    with pytest.raises(FormatError, match=ours):
        decode(case.content)


def test_there_are_cases_of_both_kinds():
    failures = [case.failure for case in CASES]
    assert failures.count(None) >= 20
    assert len(failures) - failures.count(None) >= 2
    assert len(FUZZED) >= 17


@pytest.mark.parametrize("case", named(FUZZED))
def test_what_broke_go_once_ends_in_a_trace_or_one_line(case):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        said = f"fuzzed: {decode(case[1], 'fuzzed').events} events were read"
    except FormatError as error:
        said = str(error)
    assert re.fullmatch(r"fuzzed: [ -~]{15,180}", said)
    unit = 1 if sys.platform == "darwin" else 1024
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert more * unit < 20 << 20


def test_go_s_escapes_are_undone():
    literal = r'"a\t\n\\\"\x00\377é世\u00e9\U0001F600"'
    assert upstream.unquoted(literal) == b'a\t\n\\"\0\xff' + "é世é😀".encode()
    assert upstream.unquoted(r"`a\n`") == rb"a\n"
