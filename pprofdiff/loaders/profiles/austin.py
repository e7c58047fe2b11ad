"""Decode what austin writes, folded stacks with a header, into `Profile`.

Its lines are ``P<process>;T<thread>;<file>:<function>:<line>;… TIME`` below lines such
as ``# mode: wall``; times are in microseconds
(https://github.com/P403n1x87/austin#native-frame-stack-and-output-format).
"""

from __future__ import annotations

import re

import numpy as np
from msgspec.structs import replace

from pprofdiff.errors import DamagedError
from pprofdiff.loaders.profiles import folded
from pprofdiff.model.profiles.profile import Profile, ValueType

_FACT = re.compile(rb"^# (\w+): (\S+)[ \t]*\r?$", re.MULTILINE)
_COMMENT = re.compile(rb"^#.*\n?", re.MULTILINE)
_OWNERS = re.compile(rb"^P[\w:.]+;T[\w:.]+;?", re.MULTILINE)
# A frame in a file, and one in a module that is frozen into the interpreter.
_IN_FILE = re.compile(
    rb"(?:^|(?<=;))([^;\n]*\.py[xi]?):([^:;\n]+):(\d+)(?=;| +\d)", re.MULTILINE
)
_FROZEN = re.compile(rb"(?:^|(?<=;))<[^;\n]*>:([^:;\n]+):\d+(?=;| +\d)", re.MULTILINE)
_CLOCKS = {b"wall": "wall", b"cpu": "cpu"}
_NS = 1000


def decode(data: bytes, name: str = "austin's stacks") -> Profile:
    """Return the profile: samples, and their wall or CPU time in nanoseconds.

    A line is a sample, or several that were added up: as many as the interval is long.
    Frames have a file and a line. Raises DamagedError as `folded.decode` does, and for
    the modes that do not count time.
    """
    facts = dict(_FACT.findall(data))
    clock = _CLOCKS.get(facts.get(b"mode", b""))
    if clock is None:
        mode = facts.get(b"mode", b"an unknown one").decode("utf-8", "replace")
        raise DamagedError(
            f"{name}: austin's mode {mode} is not read; sample wall time, or CPU time "
            "(austin -s)"
        )
    text = _OWNERS.sub(b"", _COMMENT.sub(b"", data))
    text = _FROZEN.sub(rb"\1", _IN_FILE.sub(rb"\2 (\1:\3)", text))
    profile = folded.decode(text, name)
    kind, every = ValueType(clock, "nanoseconds"), _ns(facts, b"interval")
    ns = profile.values[:, 0] * _NS
    samples = np.maximum(ns // (every or 1), 1) if every else np.ones_like(ns)
    return replace(
        profile,
        sample_types=(ValueType("samples", "count"), kind),
        values=np.column_stack((samples * (ns > 0), ns)),
        period_type=kind,
        period=every,
        duration_ns=_ns(facts, b"duration"),
    )


def _ns(facts: dict[bytes, bytes], key: bytes) -> int | None:
    value = facts.get(key, b"")
    return int(value) * _NS or None if value.isdigit() else None
