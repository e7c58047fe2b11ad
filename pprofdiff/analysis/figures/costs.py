"""The figures that an outcome may rest on: each is declared here once."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Cost(NamedTuple):
    """One figure for the whole change, such as time per op.

    `id` is stable, `figure` its name in JSON, in `unit`, and `noun` its name in
    sentences and tables. `more_is` says what a larger value means, "" for neither.
    `printed` is the unit in which benchmarks print it, "" if they do not. A `clock`
    figure depends on what else the machine does, and an `estimate` on operations that
    were not counted.
    """

    id: str
    figure: str
    noun: str
    unit: str
    more_is: Literal["slower", "faster", ""] = "slower"
    printed: str = ""
    clock: bool = False
    estimate: bool = False


# fmt: off
TIME = Cost("time", "time per op", "time/op", "s", printed="ns/op", clock=True)
CPU = Cost("cpu", "CPU per op", "CPU/op", "s", printed="cpu-ns/op")
WALL = Cost("wall", "wall time per op", "time/op", "s")
TASK = Cost("task", "time per task", "time per task", "s", clock=True)
THROUGHPUT = Cost("throughput", "operations per second", "ops/s", "1/s", "faster", clock=True)
ABOUT = Cost("about", "CPU per op, for about as many ops as allocations", "CPU/op", "", estimate=True)
CONTROL = Cost("control", "CPU against the code that did not change", "CPU against the code that did not change", "", estimate=True)
# fmt: on

COSTS = {one.id: one for one in (TIME, CPU, WALL, TASK, THROUGHPUT, ABOUT, CONTROL)}
"""All of them, by id."""
