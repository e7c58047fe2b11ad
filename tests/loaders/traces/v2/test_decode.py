"""Large files are read by two threads: the trace is the same, whole or damaged."""

from __future__ import annotations

import threading
from dataclasses import fields

import numpy as np
import pytest
from msgspec import Struct
from msgspec.structs import astuple

from pprofdiff.errors import DamagedError
from pprofdiff.loaders.traces import decode
from pprofdiff.loaders.traces.damage import version_of
from pprofdiff.loaders.traces.v2 import decode as decoding
from pprofdiff.loaders.traces.v2.batches import generations
from pprofdiff.model.traces.trace import Trace
from tests.conftest import DATA
from tests.examples import daily

pytestmark = pytest.mark.slow

TRACE = (DATA / "node-pool/new/trace.out").read_bytes()


def flat(value):
    """Return what a trace is made of, arrays as bytes."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, Trace):
        return [flat(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, Struct):
        return list(map(flat, astuple(value)))
    return value


def read(data):
    """Return the trace in these bytes, or why there is none."""
    try:
        return flat(decode(data))
    except DamagedError as error:
        return str(error)


def damaged(places):
    """Return the trace, cut or with a wrong byte at `places` in each generation."""
    stops = [one.stop for one in generations(TRACE, version_of(TRACE))]
    assert len(stops) > 2
    yield TRACE
    for begin, end in zip([16, *stops], stops, strict=False):
        for at in np.linspace(begin, end - 1, places).astype(int).tolist():
            yield TRACE[:at]
            yield TRACE[:at] + bytes([TRACE[at] ^ 0x55]) + TRACE[at + 1 :]


@pytest.mark.whole
@pytest.mark.parametrize("places", daily((2, 12), [2]))
def test_two_threads_read_what_one_does(monkeypatch, places):
    threads, missing = threading.active_count(), 0
    for data in damaged(places):
        alone = read(data)
        with monkeypatch.context() as patch:
            patch.setattr(decoding, "_LARGE", 1)
            assert read(data) == alone
        assert threading.active_count() == threads
        missing += alone != read(TRACE)
    assert missing >= places
