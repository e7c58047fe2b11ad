"""GC logs of benchmarks: without the collections that ``go test`` asks for."""

from __future__ import annotations

import pytest

from pprofdiff.measure.gotest import without_forced

LINE = "gc {} @0.0{}s 1%: 0.01+0.2+0.01 ms clock, 0.02+0.1/0.2/0.3+0.02 ms cpu, 4->4->1 MB, 5 MB goal, 0 MB stacks, 0 MB globals, 2 P{}\n"  # fmt: skip


def log(*forced):
    """Return a GC log; True stands for a collection that was asked for."""
    return "".join(
        LINE.format(n, n, " (forced)" if one else "") for n, one in enumerate(forced)
    )


@pytest.mark.parametrize(
    ("given", "left"),
    [
        (log(True, True, True), None),
        ("", None),
        ("own words\n", None),
        (log(True, False, True, False), [1, 3]),
        # More than the harness asks for: the program does, and all are its own.
        (log(*[True] * 4), [0, 1, 2, 3]),
        (log(*[True] * 5, False), [0, 1, 2, 3, 4, 5]),
    ],
)
def test_what_is_left(tmp_path, given, left):
    path = tmp_path / "gctrace.log"
    path.write_text(given)
    without_forced(str(path))
    assert path.exists() == (left is not None)
    if left is not None:
        got = path.read_text().splitlines()
        assert [int(line.split()[1]) for line in got] == left
        assert all(line + "\n" in given for line in got)
