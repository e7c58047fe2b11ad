"""`encode` is the reverse of `decode`, for anything a `Profile` can hold."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from pprofdiff.loaders.profiles.encode import compress, encode
from pprofdiff.loaders.profiles.pprof import decode
from tests.examples import examples

from .plain import frozen, plain, read
from .strategies import profiles

CAPTURES = sorted((Path(__file__).parents[2] / "data").rglob("*.pb.gz"))


def unchanged(profile):
    """Fail unless the profile comes back, with at most new strings at the end."""
    data = encode(profile)
    found = decode(data)
    frozen(found)
    expected, got = plain(profile), plain(found)
    assert got["strings"][: len(profile.strings)] == profile.strings
    del expected["strings"], got["strings"]
    assert got == expected
    return data


@pytest.mark.slow
@settings(max_examples=examples(300), deadline=None)
@given(profiles())
def test_a_profile_survives_encode_and_decode(profile):
    data = unchanged(profile)
    assert read(data) == plain(decode(data))


@pytest.mark.slow
@settings(max_examples=examples(100), deadline=None)
@given(profiles())
def test_encoding_is_deterministic_and_settles(profile):
    data = encode(profile)
    assert encode(profile) == data
    assert encode(decode(data)) == data


@pytest.mark.slow
def test_a_large_profile_is_written_in_several_chunks():
    small = decode(gzip.decompress(CAPTURES[0].read_bytes()))
    rows = np.arange(40_000) % len(small)
    large = small.take(rows).with_values(
        np.arange(40_000 * len(small.sample_types)).reshape(40_000, -1) - 7
    )
    unchanged(large)


def test_compress_is_gzip_and_depends_on_nothing_but_the_data():
    data = bytes(range(256)) * 50
    packed = compress(data)
    assert gzip.decompress(packed) == data
    assert packed[4:8] == bytes(4)
    assert compress(data) == packed
