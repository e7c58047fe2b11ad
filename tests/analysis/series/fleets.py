"""Series of hosts that differ, resampled from the functions of a real capture."""

from functools import cache

import numpy as np

from pprofdiff.model.csr import offsets_of
from pprofdiff.model.profiles.profile import ValueType
from pprofdiff.model.series import Measured, Series, Step
from tests.fleets import making


@cache
def shares():
    """Return (names, shares of samples) of the program's leaf functions."""
    profile, (leaf, _) = making.program(), making._leaves()
    counts = np.bincount(leaf, profile.values[:, 0])
    names = profile.function_names()
    some = np.flatnonzero(counts)
    return [names[i] for i in some.tolist()], counts[some] / counts.sum()


def series(rng, hosts, steps, *, same_hosts=True, planted=(), samples=2000, drift=0.0):
    """Return a series of so many hosts and steps.

    `planted` has (function, first step, share of all CPU that it has more from there).
    With `same_hosts`, a host is measured at every step; `drift` is how far each of its
    functions then goes by itself from one step to the next (deviation of logarithms).
    """
    names, plain = shares()
    level = np.tile(plain, (steps, 1))
    for function, first, more in planted:
        level[first:, names.index(function)] += more
    units = hosts if same_hosts else hosts * steps
    nature = making.Nature()
    own = np.exp(nature.function * rng.standard_normal((units, 1, len(plain))))
    load = np.exp(nature.load * rng.standard_normal((units, 1)))
    if drift:
        walk = rng.standard_normal((units, steps, len(plain))).cumsum(axis=1)
        own = own * np.exp(drift * walk)
    wanted = own * level
    wanted /= wanted.sum(axis=2, keepdims=True)
    counts = rng.poisson(wanted * (samples * load)[:, :, None])
    if not same_hosts:
        at = np.repeat(np.arange(steps), hosts)
        counts[at[:, None] != np.arange(steps)] = 0
    return of_counts(names, counts)


def of_counts(names, counts):
    """Return the series of int64 `counts` of shape (units, steps, functions)."""
    units, steps, functions = counts.shape
    flat = counts.reshape(units * steps, functions).T
    row, place = np.nonzero(flat)
    values = flat[row, place].astype(np.int64)
    offsets = offsets_of(np.bincount(row, minlength=functions))
    measured = Measured(
        "cpu", ValueType("samples", "count"), tuple(f"h{i}" for i in range(units)),
        counts.sum(axis=2), tuple(names), offsets, place, values, values, None,
    )  # fmt: skip
    each = tuple(Step(str(i + 1), units, units) for i in range(steps))
    return Series("made", "build", each, 0, (measured,), units, {})
