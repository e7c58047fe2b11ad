"""How often runs are named as outliers: ``python -m tests.calibration.outliers``.

FOLDER is from `tests.calibration.capture`. Runs of one build are split at random
into two sides; the rate is how many splits have a named run. Next to it stands
how often a run of base is that took 1.38 × as much.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.runs.headline import headline_runs, outliers
from pprofdiff.inputs.sides import load_sides
from tests.calibration.capture import CACHE, UNCHANGED

RUNS = (3, 5, 10)
SPLITS, PLANTED, SEED = 300, 1.38, 7


def values(folder: Path) -> Iterator[tuple[str, list[float]]]:
    """Yield (figure, value of each run) of a folder of runs."""
    loaded = load_sides([str(folder)], [str(folder)])
    assert loaded.base is not None
    for figure in headline_runs(compare_sides(loaded.base, loaded.new)):
        yield figure.id, list(figure.base.values())


def rates(runs: list[float], count: int) -> tuple[float, float]:
    """Return how often any run is named, and how often one that costs more is."""
    random = np.random.default_rng(SEED)
    named = planted = 0
    for _ in range(SPLITS):
        drawn = random.permutation(runs)[: 2 * count]
        sides = [dict(enumerate(side)) for side in (drawn[:count], drawn[count:])]
        named += bool(outliers(sides))
        sides[0][0] *= PLANTED
        planted += any((one.side, one.run) == (0, 0) for one in outliers(sides))
    return named / SPLITS, planted / SPLITS


def main() -> None:
    """Print a line for each set of runs, figure and number of runs a side."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=CACHE)
    folder = parser.parse_args().folder
    for place in sorted(folder.glob(f"*/*/{UNCHANGED}")):
        name = "/".join(place.parts[-3:-1])
        for figure, runs in values(place):
            spread = np.log(runs).std(ddof=1)
            for count in RUNS:
                if len(runs) >= 2 * count:
                    named, found = rates(runs, count)
                    print(
                        f"{name:20} {figure:5} {count:3} runs a side of {len(runs)}, "
                        f"deviation {spread:4.0%}: named {named:4.0%}, "
                        f"of {PLANTED} × {found:4.0%}"
                    )


if __name__ == "__main__":
    main()
