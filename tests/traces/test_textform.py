"""The encoder of text form, against Go's own."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from . import make, oracle, textform
from .toolchains import MissingGoError

pytestmark = pytest.mark.go


def listed():
    try:
        return sorted(textform.data().glob("tests/*.test"))
    except MissingGoError:
        return []


@pytest.fixture(scope="module")
def cases():
    return {case.name: case for case in textform.upstream()}


@pytest.mark.parametrize("path", listed(), ids=lambda path: path.stem)
def test_upstream_traces_are_encoded_as_by_go(path, cases):
    text = textform.text_of(path)
    assert cases[path.stem].content == oracle.encoded(text)


@pytest.mark.parametrize("path", listed(), ids=lambda path: path.stem)
def test_go_reads_upstream_traces_as_they_say(path, cases):
    case = cases[path.stem]
    try:
        error = oracle.summary(case.content)["error"]
    except oracle.RefusedError as refused:
        error = str(refused)
    if case.failure is None:
        assert error is None
    else:
        assert re.search(case.failure, error)


@pytest.mark.parametrize(
    ("maker", "go"),
    [("tasks", "1.22.12"), ("coroutines", "1.23.12"), ("whole", "1.25.14"),
     ("sync", "1.26.8"), ("alloc", "1.27.3")],
)  # fmt: skip
def test_a_trace_is_the_same_after_text_form(maker, go):
    trace = make.trace(maker, go)
    number = trace.read_bytes()[5:7].decode()
    text = f"Trace Go1.{number}\n{oracle.wire(trace)}"
    content = textform.encode(text)
    assert content == oracle.encoded(text)
    # Only lengths are shorter: the runtime pads them.
    assert len(content) < trace.stat().st_size
    ours, theirs = oracle.summary(content), oracle.summary(trace)
    assert ours | {"bytes": 0} == theirs | {"bytes": 0}


@settings(max_examples=25)
@given(st.binary(max_size=60), st.integers(0, 2**64 - 1))
def test_any_string_and_number_is_encoded_as_by_go(data, number):
    quoted = "".join(
        chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\x{b:02x}" for b in data
    )
    text = f'Trace Go1.26\nString id={number}\n\tdata="{quoted}"\n# a comment\nEndOfGeneration\n'
    assert textform.encode(text) == oracle.encoded(text)
    assert textform.encode(text).endswith(data + b"\x34")


def test_go_s_escapes_are_undone():
    literal = r'"a\t\n\\\"\x00\377é世\u00e9\U0001F600"'
    assert textform.unquoted(literal) == b'a\t\n\\"\0\xff' + "é世é😀".encode()
    assert textform.unquoted(r"`a\n`") == rb"a\n"


def test_go_s_fuzzing_left_inputs():
    inputs = dict(textform.fuzzed())
    assert len(inputs) >= 17
    for content in inputs.values():
        assert content.startswith(b"go 1.")


@pytest.mark.parametrize("text", ["hello", "Trace Go1.22\nGoStart dt=1"])
def test_what_is_no_text_form_is_refused(text):
    with pytest.raises(ValueError, match=r"header|arguments"):
        textform.encode(text)
