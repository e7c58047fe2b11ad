"""What results depend on: processor, clock, load; and throttling, which spoils them."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from glob import glob
from typing import Any, NamedTuple

from pprofdiff.measure.sides import SideName

_CPUS = "/sys/devices/system/cpu"
_GOVERNORS = f"{_CPUS}/cpu[0-9]*/cpufreq/scaling_governor"
_HEAT = f"{_CPUS}/cpu[0-9]*/thermal_throttle/core_throttle_count"
_CGROUP = "/sys/fs/cgroup/cpu.stat"


class Machine(NamedTuple):
    """The state of this machine when measuring starts.

    `governors` lists all processors'; `load` is the one-minute load average.
    """

    model: str
    cpus: int
    gomaxprocs: str
    system: str
    governors: tuple[str, ...]
    load: float | None

    def notes(self) -> dict[str, Any]:
        """Return the fields, for `measure.json`."""
        return {**self._asdict(), "governors": list(self.governors)}


class Throttled(NamedTuple):
    """How often processors were throttled for heat, and this process by its quota."""

    heat: int = 0
    quota: int = 0


def machine() -> Machine:
    """Return the current state of this machine."""
    affinity = getattr(os, "sched_getaffinity", None)
    cpus = len(affinity(0)) if affinity else os.cpu_count() or 1
    try:
        load = round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        load = None
    return Machine(
        model=_model(),
        cpus=cpus,
        gomaxprocs=os.environ.get("GOMAXPROCS", ""),
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        governors=tuple(sorted({_text(path).strip() for path in glob(_GOVERNORS)})),
        load=load,
    )


def throttled() -> Throttled:
    """Return the system's throttling counts so far."""
    heat = sum(int(text) for p in glob(_HEAT) if (text := _text(p).strip()).isdigit())
    quota = re.search(r"^nr_throttled (\d+)$", _text(_CGROUP), re.MULTILINE)
    return Throttled(heat, int(quota[1]) if quota else 0)


def warnings_of(
    here: Machine,
    toolchains: Mapping[SideName, str],
    modules: Mapping[SideName, Mapping[str, str]],
) -> list[str]:
    """Return warnings about conditions that distort results.

    `toolchains` has the Go release that builds each side, `modules` the ``go`` and
    ``toolchain`` lines of its go.mod.
    """
    notes = []
    # With half of the processors busy, what runs on the others shares caches and heat.
    if here.load is not None and here.load > here.cpus / 2:
        notes.append(
            f"the load average is {here.load:g} on {here.cpus} "
            f"CPU{'s' if here.cpus > 1 else ''}: other programs take time and make "
            "runs differ; end them, or measure longer"
        )
    if "powersave" in here.governors:
        notes.append(
            "the frequency governor is powersave: the clock, and with it every "
            "figure, follows the load; use performance"
        )
    if toolchains["base"] != toolchains["new"]:
        notes.append(
            f"base is built with {toolchains['base']}, new with {toolchains['new']}: "
            "what the compiler and the runtime changed is part of the difference"
        )
    for line in ("go", "toolchain"):
        first, last = modules["base"].get(line, ""), modules["new"].get(line, "")
        if first != last:
            notes.append(
                f"go.mod has {line} {first or '(none)'} in base, {last or '(none)'} in "
                "new: the language and the runtime's settings may differ with it"
            )
    return notes


def throttling(before: Throttled, after: Throttled) -> list[str]:
    """Return warnings about throttling between two counts."""
    notes = []
    if after.heat > before.heat:
        notes.append(
            f"the CPU was throttled for heat {after.heat - before.heat:,} times "
            "during the measurement: figures depend on temperature; cool the machine"
        )
    if after.quota > before.quota:
        notes.append(
            f"the container's CPU quota throttled it {after.quota - before.quota:,} "
            "times: times have gaps; give it more, or lower GOMAXPROCS"
        )
    return notes


def _model() -> str:
    found = re.search(
        r"^(?:model name|Model|cpu model|Hardware)\s*:\s*(.+)$",
        _text("/proc/cpuinfo"),
        re.MULTILINE,
    )
    return found[1].strip() if found else platform.processor() or platform.machine()


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(1 << 20)
    except OSError:
        return ""
