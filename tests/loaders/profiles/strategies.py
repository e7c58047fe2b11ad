"""Profiles for hypothesis: as messages to be spelled, and as `Profile`."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from pprofdiff.model.csr import offsets_of
from pprofdiff.model.profiles.profile import (
    Functions,
    Labels,
    Locations,
    Mapping,
    Profile,
    ValueType,
)

from .spelling import Fields, Spelling

_INT64 = st.one_of(
    st.integers(-3, 300), st.integers(-(1 << 63), (1 << 63) - 1), st.just(-(1 << 63))
)
_UINT64 = st.one_of(st.integers(0, 300), st.integers(0, (1 << 64) - 1))
_NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_ID = st.one_of(st.integers(1, 40), st.integers(1, (1 << 64) - 1))
_CHANCE = st.sampled_from((0.0, 0.3, 1.0))

spellings = st.builds(
    Spelling,
    shuffle=_CHANCE, unpack=_CHANCE, split=_CHANCE, repeat=_CHANCE,
    unknown=st.sampled_from((0.0, 0.1, 1.0)), pad=st.sampled_from((0.0, 0.2)),
)  # fmt: skip


def _often(
    good: st.SearchStrategy[int], bad: st.SearchStrategy[int]
) -> st.SearchStrategy[int]:
    """Return numbers that are good but for one in thirty or so."""
    return st.integers(0, 30).flatmap(lambda n: bad if n == 30 else good)


@st.composite
def messages(draw: st.DrawFn, *, sound: bool = False) -> Fields:
    """Draw a profile as fields; unless `sound`, some refer to what is not there."""
    strings = draw(st.lists(_NAMES, min_size=1, max_size=8))
    broken = st.integers(-2, 40) if not sound else st.integers(0, len(strings))
    text = _often(st.integers(0, len(strings)), broken)

    def ids(size: int) -> list[int]:
        distinct = st.lists(
            _ID, min_size=size, max_size=size, unique=not draw(_rarely(sound))
        )
        return draw(distinct)

    def reference(known: list[int]) -> st.SearchStrategy[int]:
        stray = st.one_of(st.just(0), _UINT64)
        return _often(st.sampled_from(known), stray) if known else stray

    mapping_ids, function_ids, location_ids = (
        ids(draw(st.integers(0, n))) for n in (2, 5, 6)
    )
    types = draw(st.integers(0, 3))
    kind = st.tuples(text, text).map(lambda t: [(1, t[0]), (2, t[1])])
    fields: Fields = [(1, draw(kind)) for _ in range(types)]
    for _ in range(draw(st.integers(0, 6))):
        fields.append((2, draw(_sample(types, location_ids, text, sound=sound))))
    for i in mapping_ids:
        body: Fields = [(1, i), *((n, draw(_UINT64)) for n in (2, 3, 4))]
        body += [(5, draw(text)), (6, draw(text))]
        body += [(n, draw(st.integers(0, 1))) for n in (7, 8, 9, 10)]
        fields.append((3, body))
    for i in location_ids:
        # A line's function must be there, unlike a location's mapping.
        function = st.sampled_from(function_ids or [1])
        if not sound:
            function = _often(function, _UINT64)
        most = 3 if function_ids else 0
        lines = draw(st.lists(st.tuples(function, _INT64, _INT64), max_size=most))
        body = [(1, i), (2, draw(reference(mapping_ids))), (3, draw(_UINT64))]
        body += [
            (4, _present([(1, f), (2, n), (3, c)], draw, keep=1)) for f, n, c in lines
        ]
        body += [(5, draw(st.integers(0, 1)))]
        fields.append((4, _present(body, draw, keep=1)))
    for i in function_ids:
        body = [(1, i), *((n, draw(text)) for n in (2, 3, 4)), (5, draw(_INT64))]
        fields.append((5, _present(body, draw, keep=1)))
    fields += [(6, s.encode()) for s in ("", *strings)]
    header: Fields = [(n, draw(text)) for n in (7, 8, 14, 15)]
    header += [(n, draw(_INT64)) for n in (9, 10, 12)]
    header += [(11, draw(kind)), (13, tuple(draw(st.lists(text, max_size=4))))]
    return fields + _present(header, draw)


def _rarely(sound: bool) -> st.SearchStrategy[bool]:
    return st.just(value=False) if sound else st.integers(0, 20).map(lambda n: n == 20)


def _present(fields: Fields, draw: Any, keep: int = 0) -> Fields:
    """Leave some fields out; the first `keep` stay."""
    return fields[:keep] + [f for f in fields[keep:] if draw(st.integers(0, 4))]


@st.composite
def _sample(
    draw: st.DrawFn, types: int, location_ids: list[int], text: Any, *, sound: bool
) -> Fields:
    stray = st.just(0) if sound else _often(st.just(0), _UINT64)
    known = st.sampled_from(location_ids) if location_ids else None
    strays = not sound and (known is None or draw(st.integers(0, 9)) == 9)
    one = stray if strays else known
    stack = () if one is None else tuple(draw(st.lists(one, max_size=5)))
    size = types if sound or draw(st.integers(0, 30)) else types + 1
    values = tuple(draw(st.lists(_INT64, min_size=size, max_size=size)))
    labels = draw(st.lists(st.tuples(text, text, _INT64, text), max_size=3))
    rows = [
        _present([(i, v) for i, v in enumerate(row, start=1)], draw) for row in labels
    ]
    return [(1, stack), (2, values), *((3, row) for row in rows)]


def _column(values: list[Any], dtype: type) -> np.ndarray:
    return np.array(values, dtype)


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    """Draw a `Profile` in which everything refers to something that is there."""
    strings = ("", *draw(st.lists(_NAMES, min_size=1, max_size=8)))
    text = st.integers(0, len(strings) - 1)
    word = st.sampled_from(strings)
    function = st.tuples(text, text, text, _INT64)
    functions = draw(st.lists(function, max_size=5))
    mappings = draw(
        st.lists(
            st.builds(
                Mapping, _UINT64, _UINT64, _UINT64, word, word, *[st.booleans()] * 4
            ),
            max_size=2,
        )
    )
    some_function = st.integers(0, max(len(functions) - 1, 0))
    line = st.tuples(some_function, _INT64, _INT64)
    bare = st.just([(-1, 0, 0)])
    known = st.lists(line, min_size=1, max_size=3)
    place = st.tuples(
        _UINT64, st.integers(-1, len(mappings) - 1), st.booleans(),
        bare | known if functions else bare,
    )  # fmt: skip
    locations = draw(st.lists(place, max_size=6))
    kind = st.builds(ValueType, word, word)
    types = draw(st.lists(kind, max_size=3))
    some = st.integers(0, max(len(locations) - 1, 0))
    row = st.tuples(
        st.lists(some, max_size=5 if locations else 0),
        st.lists(_INT64, min_size=len(types), max_size=len(types)),
        st.lists(st.tuples(text, text, _INT64, text), max_size=3),
    )
    samples = draw(st.lists(row, max_size=6))
    labels = [(i, *label) for i, (_, _, found) in enumerate(samples) for label in found]
    lines = [x for *_, found in locations for x in found]
    period = draw(st.one_of(st.none(), st.builds(ValueType, word, word)))
    number = st.none() | st.integers(1, 300) | st.integers(1, (1 << 63) - 1)
    return Profile(
        strings=strings,
        sample_types=tuple(types),
        functions=Functions(
            *(_column([f[i] for f in functions], np.int32) for i in range(3)),
            _column([f[3] for f in functions], np.int64),
        ),
        locations=Locations(
            _column([x[0] for x in locations], np.uint64),
            _column([x[1] for x in locations], np.int32),
            _column([x[2] for x in locations], np.bool_),
            offsets_of(_column([len(x[3]) for x in locations], np.int64)),
            _column([x[0] for x in lines], np.int32),
            _column([x[1] for x in lines], np.int64),
            _column([x[2] for x in lines], np.int64),
        ),
        mappings=tuple(mappings),
        stack_offsets=offsets_of(_column([len(s) for s, *_ in samples], np.int64)),
        stack_locations=_column([x for s, *_ in samples for x in s], np.int32),
        values=_column([v for _, v, _ in samples], np.int64).reshape(
            len(samples), len(types)
        ),
        labels=Labels(
            _column([x[0] for x in labels], np.int64),
            _column([x[1] for x in labels], np.int32),
            _column([x[2] for x in labels], np.int32),
            _column([x[3] for x in labels], np.int64),
            _column([x[4] for x in labels], np.int32),
        ),
        period_type=period,
        period=draw(number),
        time_ns=draw(st.one_of(st.none(), _INT64.filter(bool))),
        duration_ns=draw(number),
        default_sample_type=draw(word) or None,
        drop_frames=draw(word),
        keep_frames=draw(word),
        comments=tuple(draw(st.lists(word, max_size=3))),
        doc_url=draw(word),
    )
