"""One picture of everything: what the inputs have is in it, the same bytes each time."""

from __future__ import annotations

from xml.etree.ElementTree import fromstring

import pytest

import pprofdiff
from pprofdiff import plots
from tests.plots.captured import DATA, HOSTILE

KINDS = {
    "cpu": (
        "syncpool/{}/cpu.pb.gz",
        ["by group of runtime costs", "what changed most", "stacks"],
    ),
    "mutex": ("node-pool/{}/mutex.pb.gz", ["by package", "stacks"]),
    "log": (
        "syncpool/{}/gctrace.log",
        ["Heap, base", "Heap, new", "Stop-the-world pauses"],
    ),
    "trace": (
        "health-check/{}/trace.out",
        ["Scheduling latency", "MMU", "Goroutine time"],
    ),
}


def compared(kind, label="base"):
    """Return a comparison of a kind."""
    base, new = (DATA / KINDS[kind][0].format(side) for side in ("base", "new"))
    return pprofdiff.diff(
        pprofdiff.load(base, label=label), pprofdiff.load(new, label="new")
    )


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_there_is_is_in_it(kind):
    data = plots.picture(compared(kind).comparison, "svg", answer="It is the answer.")
    top = fromstring(data)  # noqa: S314 - our own
    words = " ".join("".join(text.itertext()) for text in top.findall(".//{*}text"))
    assert "It is the answer." in words
    for title in KINDS[kind][1]:
        assert title in words
    assert top.find("{*}title").text.startswith("base → new. It is the answer.")


@pytest.mark.whole
@pytest.mark.parametrize("label", HOSTILE)
@pytest.mark.parametrize("kind", KINDS)
def test_hostile_labels(kind, label):
    data = plots.picture(compared(kind, label).comparison, "svg", answer=label)
    assert fromstring(data) is not None  # noqa: S314 - our own
    assert b"</script>" not in data


def test_nothing_to_draw_is_said():
    d = pprofdiff.diff(DATA / "zstd/base/bench.txt", DATA / "zstd/new/bench.txt")
    with pytest.raises(pprofdiff.UsageError, match="nothing to draw"):
        plots.picture(d.comparison, "png")
