"""Rules on goroutines and the live heap: growth trips them, an instant does not."""

import pytest

from tests.analysis.gate.test_intervals import rulings
from tests.analysis.growing import comparison, goroutines, served

# A dozen samples are base's heap: its interval is wide, and the leak's far above it.
RULES = (
    "total@goroutine:+50%",
    "total@goroutine:+100",
    "total@heap:+10%",
    "total@inuse_space:+10%",
    "total@inuse_space:+5MB",
    "cum@heap:main.*open:+50%",
)


def outcomes(compared, *rules, strict=False):
    """Return the outcome of each rule."""
    return {r.rule: r.outcome for r in rulings(compared, *rules, strict=strict)}


@pytest.mark.parametrize(
    ("base", "new", "outcome"),
    [(26, 17_458, "fail"), (26, 160, "fail"), (26, 130, "cannot tell"),
     (26, 90, "cannot tell"), (1000, 2900, "cannot tell"), (17_458, 26, "pass"),
     (2, 16, "cannot tell"), (26, 30, "cannot tell")],
)  # fmt: skip
def test_goroutines_trip_beyond_what_comes_and_goes(base, new, outcome):
    stack = ("runtime.gopark", "a.com/s.Wait")
    compared = comparison(goroutines({stack: base}), goroutines({stack: new}))
    rules = "total@goroutine:+50%", "cum@goroutine:Wait:+50%", "flat:gopark:+50%"
    assert set(outcomes(compared, *rules).values()) == {outcome}
    strictly = "pass" if outcome == "pass" else "fail"
    assert set(outcomes(compared, *rules, strict=True).values()) == {strictly}


@pytest.mark.parametrize(
    ("leak", "tripped"), [("heap", RULES[2:]), ("goroutines", RULES[:2]), ("again", ())]
)
def test_leaks_trip(load_capture, leak, tripped):
    base, new = (
        tuple(load_capture(served(s) / f"{k}.pb.gz") for k in ("heap", "goroutine"))
        for s in ("none", leak)
    )
    # What new alone has is on no side of these rules of the other leak.
    got = outcomes(comparison(base, new), *RULES)
    assert {rule for rule, outcome in got.items() if outcome == "fail"} == {*tripped}
    assert got["total@goroutine:+50%"] != "no data"
    assert got["total@heap:+10%"] != "no data"
