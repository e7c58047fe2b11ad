"""Made fleets: profiles of hosts that differ, resampled from real captures.

A host has more or less load than others, spends more or less of its CPU in collecting
and allocating, and more or less in each function; its profiles are Poisson counts of
the stacks of a real program with those shares.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from pprofdiff.fleets.hosts import HostRule
from pprofdiff.fleets.partial import Task
from pprofdiff.fleets.sources import source_of
from pprofdiff.inputs.decompression import decompress
from pprofdiff.loaders.profiles.encode import compress, encode
from pprofdiff.loaders.profiles.pprof import decode
from pprofdiff.model.profiles.merge import merge
from pprofdiff.model.profiles.profile import Labels

DATA = Path(__file__).parents[1] / "data"
PERIOD = 10_000_000
PLANTED = "example.com/workloads/syncpool/tsdb.(*Shard).Write"
"""A function that has 2 % of the program's CPU."""


@dataclass(frozen=True)
class Nature:
    """How far hosts differ: deviations of logarithms.

    `load` of all CPU, `group` of what the collector and the allocator have, `function`
    of each function by itself.
    """

    load: float = 0.5
    group: float = 0.15
    function: float = 0.15


@cache
def program():
    """Return the profile that hosts resample: eight runs of one program, merged."""
    files = sorted(DATA.glob("unchanged/run*/cpu.pb.gz"))
    assert len(files) == 8
    return merge([read(file) for file in files])


def read(file):
    return decode(decompress(Path(file).read_bytes(), str(file), 1 << 30), str(file))


@cache
def _leaves():
    """Return (leaf function of each sample, which samples are of each group)."""
    profile = program()
    frames = profile.frames()
    functions = profile.locations.line_function[frames.line]
    leaf = functions[frames.offsets[:-1]]
    names = np.array(profile.function_names(), object)[functions]
    groups = []
    for word in ("runtime.gcBgMarkWorker", "runtime.mallocgc"):
        hits = np.add.reduceat(names == word, frames.offsets[:-1]) > 0
        groups.append(hits)
    return leaf, groups


def planted_share():
    """Return the share of the program's CPU that `PLANTED` has by itself."""
    profile, (leaf, _) = program(), _leaves()
    own = leaf == profile.function_names().index(PLANTED)
    return own, float(profile.values[own, 1].sum() / profile.values[:, 1].sum())


def profiles_of(
    seed, *, count=1, samples=2000, planted=0.0, nature=Nature(), again=None, start_s=0
):
    """Yield `count` profiles of one host, one a minute.

    `planted` is how much of all CPU `PLANTED` has more than in the program. `again` is
    a seed for other counts of the same host; `start_s` is when the first one begins.
    """
    rng = np.random.default_rng(seed)
    profile, (leaf, groups) = program(), _leaves()
    shares = profile.values[:, 0].astype(float)
    if planted:
        own, share = planted_share()
        shares[own] *= (share + planted) / share
    shares *= np.exp(nature.function * rng.standard_normal(leaf.max() + 1))[leaf]
    for group in groups:
        shares[group] *= np.exp(nature.group * rng.standard_normal())
    load = np.exp(nature.load * rng.standard_normal())
    if again is not None:
        rng = np.random.default_rng((again, *np.atleast_1d(seed)))
    for number in range(count):
        counts = rng.poisson(shares / shares.sum() * samples * load)
        some = np.flatnonzero(counts)
        values = np.stack((counts[some], counts[some] * PERIOD), axis=1)
        yield replace(
            profile.take(some).with_values(values),
            time_ns=(1_700_000_000 + start_s + 60 * number) * 1_000_000_000,
            duration_ns=10_000_000_000,
            period=PERIOD,
        )


def write(folder, hosts, *, seed=0, **how):
    """Write profiles of so many hosts: `folder`/host=h00012/0.pb.gz; return the files.

    `hosts` are numbers, by which one host is the same wherever it is asked for.
    """
    files = []
    for host in hosts:
        place = Path(folder) / f"host=h{host:05}"
        place.mkdir(parents=True, exist_ok=True)
        for number, profile in enumerate(profiles_of((seed, host), **how)):
            files.append(put(place / f"{number}.pb.gz", profile))
    return files


def put(path, profile):
    """Write a profile to a file."""
    path.write_bytes(compress(encode(profile)))
    return path


def labelled(profile, **texts):
    """Return a profile whose samples have these labels, each its texts in turn."""
    size, strings, columns = len(profile), list(profile.strings), []
    for key, values in texts.items():
        first = len(strings)
        strings += [key, *values]
        text = first + 1 + np.arange(size) % len(values)
        columns.append((np.arange(size), np.full(size, first), text))
    sample, key, text = np.concatenate(columns, axis=1)
    order = np.argsort(sample, kind="stable")
    key, text = (column[order].astype(np.int32) for column in (key, text))
    none = np.zeros(len(order), np.int64)
    labels = Labels(sample[order], key, text, none, none.astype(np.int32))
    return replace(profile, strings=strings, labels=labels)


def objects_in(place):
    """Return the objects that an argument names, which are of one store."""
    (objects,) = source_of((str(place),), "base").objects
    return objects


def task(store, paths, max_size=1 << 30):
    """Return the task to read some objects, whose paths show the host."""
    return Task(store, tuple(paths), HostRule(("host",)), False, max_size)
