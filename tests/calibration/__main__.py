"""How right reports are of runs that were captured: ``python -m tests.calibration``.

FOLDER is from `tests.calibration.capture`. Of each workload and machine, random
splits of the runs of one build show false alarms, those with a planted build what is
found; both show whether 95 % intervals have the truth in them. Everything is asked of
the library as a report asks it. Splits of one set of runs share runs, so that rates of
different numbers of runs are not independent of each other.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from tests.calibration.capture import CACHE, SIZES, UNCHANGED, added
from tests.calibration.judging import Key, loaded, remembered
from tests.calibration.rates import Rates
from tests.calibration.spread import Spread, grown, spread
from tests.calibration.table import markdown
from tests.calibration.workloads import CONDITIONS, WORKLOADS

RUNS = (1, 3, 5, 10)
"""Runs a side."""


def true_share(folder: Path, workload: str) -> float:
    """Return the part of the CPU that one more round of the planted function adds.

    Its share shows it, in the runs of all builds together, the pilot's among them: what
    is added is in proportion to the rounds.
    """
    own: Counter[int] = Counter()
    whole: Counter[int] = Counter()
    for condition in ("pilot", *CONDITIONS):
        runs = loaded(folder / workload / condition)
        if not runs.runs:
            continue
        # With what stands in its place in a sample: runtime.asyncPreempt.
        row = runs.counts.names.index(WORKLOADS[workload].planted)
        for at, run in enumerate(runs.runs):
            own[run.rounds] += int(runs.counts.cum[row, at])
            whole[run.rounds] += int(runs.counts.totals[at])
    rounds = np.array(sorted(whole))
    shares = np.array([own[r] / whole[r] for r in rounds.tolist()])
    weights = np.array([whole[r] for r in rounds.tolist()])
    parts = added(shares[0], shares)
    return float((weights * rounds) @ parts / ((weights * rounds) @ rounds))


def truth(folder: Path, key: Key, added_part: float) -> dict[str, float | None]:
    """Return the true new / base of each figure, None where it is not known."""
    cpu = 1 + added_part
    if not key.size:
        return {"time": cpu, "cpu": cpu, "control": cpu}
    path = loaded(folder / key.workload / key.condition).path_share(UNCHANGED)
    time = None if path is None else 1 + added_part / path
    return {"time": time, "cpu": cpu, "control": cpu}


def _keys(folder: Path, asked: argparse.Namespace) -> Iterator[tuple[Key, float]]:
    """Yield what there are runs for, and the true part that is added."""
    for workload in asked.workloads:
        each = true_share(folder, workload)
        for condition in asked.conditions:
            runs = loaded(folder / workload / condition)
            for size in (0, *SIZES):
                build = f"+{size:g}" if size else UNCHANGED
                at = runs.of_build(build)
                for count in RUNS:
                    if len(at) >= count * (1 if size else 2):
                        true = each * runs.runs[at[0]].rounds
                        yield Key(workload, condition, size, count), true


def _share(key: Key, splits: int) -> int:
    """Return how many splits to take: a frequent finding needs fewer than a rare one."""
    return splits // 2 if key.size else splits


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=CACHE)
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--workloads", nargs="+", default=list(WORKLOADS))
    parser.add_argument("--conditions", nargs="+", default=list(CONDITIONS))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path, help="write the table here")
    asked = parser.parse_args(arguments)
    keys = dict(_keys(asked.folder, asked))
    with ProcessPoolExecutor(asked.processes) as pool:
        made = {
            key: pool.submit(remembered, asked.folder, key, _share(key, asked.splits))
            for key in keys
        }
        rates = {
            key: Rates(future.result(), truth(asked.folder, key, keys[key]))
            for key, future in made.items()
        }
    spreads: dict[tuple[str, str], Spread] = {
        name: spread(loaded(asked.folder / name[0] / name[1]), UNCHANGED)
        for name in dict.fromkeys((key.workload, key.condition) for key in keys)
    }
    sizes = {
        key: (
            true,
            grown(loaded(asked.folder / key[0] / key[1]), UNCHANGED, f"+{key.size:g}"),
        )
        for key, true in keys.items()
        if key.size
    }
    table = markdown(rates, spreads, sizes)
    if asked.output:
        asked.output.write_text(table, "utf-8")
    else:
        print(table)


if __name__ == "__main__":
    main()
