"""Profiles for hypothesis, of few names, so that stacks recur, recurse and collide."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from pprofdiff.model.profiles.profile import Mapping, Profile, ValueType
from tests.building import CPU, Frame, Place, Sample, built

HEAP = (
    ValueType("alloc_objects", "count"),
    ValueType("alloc_space", "bytes"),
    ValueType("inuse_objects", "count"),
    ValueType("inuse_space", "bytes"),
)
_NAMES = (
    "main.main", "main.run", "main.run.func1", "main.(*Cache[go.shape.string]).Get",
    "runtime.mallocgc", "runtime.gcBgMarkWorker", "runtime/internal/atomic.Load",
    "encoding/json.(*Decoder).Decode", "µs.Größe", "with space", "",
)  # fmt: skip
_FILES = ("", "main.go", "/src/a/main.go", "/src//b/../b/x.go", "/proc/self/cwd/y.go")
_MAPPED = (
    Mapping(0x400000, 0x600000, 0, "/bin/app", "a1b2", True, True, True, True),
    Mapping(0x500000, 0x700123, 0x1000, "/lib/libc.so.6", "", True, True, True, False),
    Mapping(0, 0, 0, "", "", True, False, False, False),
)

_frames = st.builds(
    Frame,
    st.sampled_from(_NAMES), st.sampled_from(_FILES), st.integers(0, 3),
    st.integers(0, 2), st.just(0), st.sampled_from((None, "sys")),
)  # fmt: skip
_texts = st.sampled_from(("a", "b", "true", "x y", "12"))
_numbers = st.tuples(
    st.integers(-2, 3) | st.integers(0, 1 << 40), st.sampled_from(("", "bytes", "kb"))
)
_labels = st.lists(
    st.tuples(st.sampled_from(("request", "bytes", "tenant")), _texts | _numbers),
    max_size=3,
).map(tuple)


@st.composite
def mappings(draw: st.DrawFn) -> list[Mapping]:
    """Draw one to three mappings that pprof does not merge."""
    return [_MAPPED[0], *draw(st.lists(st.sampled_from(_MAPPED[1:]), unique=True))]


@st.composite
def _places(draw: st.DrawFn, mapped: int) -> Place:
    """Draw a location; a few have no line."""
    frames = draw(
        st.lists(_frames.filter(lambda f: any(f[:4])), min_size=0, max_size=3)
    )
    at = draw(st.integers(-1, mapped - 1))
    address = draw(st.sampled_from((0x500010, 0x500020, 0x5FFF00, 0x10)))
    return Place(tuple(frames) or (Frame(""),), address, at)


@st.composite
def samples(
    draw: st.DrawFn, places: list[Place], types: int, values: st.SearchStrategy[int]
) -> Sample:
    """Draw a sample over these places; some have an empty stack."""
    stack = draw(st.lists(st.sampled_from(places), max_size=6))
    row = draw(st.lists(values, min_size=types, max_size=types))
    return Sample(tuple(stack), tuple(row), draw(_labels))


@st.composite
def profiles(
    draw: st.DrawFn,
    types: tuple[ValueType, ...] = CPU,
    values: st.SearchStrategy[int] = st.integers(-5, 5) | st.integers(0, 1 << 40),  # noqa: B008
    **header: Any,
) -> Profile:
    """Draw a profile that pprof accepts and can merge with others drawn so.

    The binaries' places are shared, so that profiles have locations in common; equal
    samples, zero samples, empty stacks and locations without lines occur.
    """
    mapped = draw(mappings())
    places = draw(st.lists(_places(len(mapped)), min_size=1, max_size=6))
    rows = draw(st.lists(samples(places, len(types), values), max_size=8))
    header = {
        "time_ns": draw(st.integers(1, 10**18)),
        "duration_ns": draw(st.none() | st.integers(1, 10**12)),
        "period": draw(st.none() | st.integers(1, 10**7)),
        "comments": tuple(draw(st.lists(st.sampled_from(("one", "#two")), max_size=2))),
        **header,
    }
    return built(rows, types, mapped, **header)
