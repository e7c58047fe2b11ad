"""Parse flag values according to the flag's kind."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import inf

from pprofdiff.cli.options import Flag
from pprofdiff.errors import UsageError

_SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def flag_value(flag: Flag, value: str) -> object:
    """Return a flag's value, parsed for its kind; raises UsageError."""
    try:
        return _READERS[flag.kind](value, flag)
    except ValueError as error:
        reason = str(error)
        raise UsageError(f"-{flag.name}={value}: {reason}") from None


def _bool(value: str, _flag: Flag) -> bool:
    known = {"": True, "true": True, "1": True, "t": True}
    known |= {"false": False, "0": False, "f": False}
    if value.lower() not in known:
        raise ValueError("must be true or false")
    return known[value.lower()]


def _int(value: str, _flag: Flag) -> int:
    try:
        return int(value)
    except ValueError:
        raise ValueError("must be a whole number") from None


def _float(value: str, _flag: Flag) -> float:
    try:
        return float(value.removesuffix("s"))
    except ValueError:
        raise ValueError("must be a number") from None


def _work(value: str, flag: Flag) -> tuple[float, float]:
    parts = value.split(":")
    try:
        base, new = (float(part) for part in parts)
    except ValueError:
        did = "did" if flag.name == "work" else "did in a second"
        raise ValueError(
            f"must be two numbers, the operations that base and new {did}, "
            "such as 8000:9500"
        ) from None
    return base, new


def _window(value: str, _flag: Flag) -> tuple[tuple[float | None, float | None], ...]:
    """Return one interval, or one per side: ``10:40``, ``:30,5:``."""
    try:
        spans = tuple(_span(part) for part in value.split(","))
    except ValueError:
        spans = ()
    if len(spans) not in (1, 2):
        raise ValueError(
            "must be FROM:TO, seconds since the start, one for both sides or "
            "one for each, such as 10:40 or 10:40,12:"
        )
    return spans


def _span(value: str) -> tuple[float | None, float | None]:
    start, end = (float(part) if part else None for part in value.split(":"))
    low = 0.0 if start is None else start
    if not low < (inf if end is None else end):
        raise ValueError
    return start, end


def _pair(value: str, _flag: Flag) -> str:
    key, _, suffix = value.partition("=")
    if key != "suffix" or not suffix:
        raise ValueError(
            "must be suffix=WORD: suffix=Old compares BenchmarkXOld with X"
        )
    return suffix


def _pairs(value: str, _flag: Flag) -> tuple[str, str]:
    old, _, new = value.partition("=")
    if not old or not new:
        raise ValueError(
            "must be OLD=NEW: the names of one function in base and in new"
        )
    return old, new


def _size(value: str, _flag: Flag) -> int:
    match = re.fullmatch(r"(\d+)\s*([kmgt]?)i?b?", value.strip().lower())
    if match is None:
        raise ValueError("must be a size, such as 500MB or 2GB")
    return int(match[1]) * _SIZES[match[2]]


def share(value: str, *, none: bool = False) -> float:
    """Return a percentage such as ``2%`` or ``0.5`` as a fraction.

    Raises ValueError unless it is above 0 (or 0, with `none`) and below 100.
    """
    try:
        part = float(value.strip().removesuffix("%")) / 100
    except ValueError:
        part = -1.0
    if not 0 <= part < 1 or (part == 0 and not none):
        raise ValueError("must be a percentage between 0 and 100, such as 2%")
    return part


def _duration(value: str, _flag: Flag) -> float:
    from pprofdiff.measure.goflags import seconds_of

    return seconds_of(value)


def _choice(value: str, flag: Flag) -> str:
    if value not in flag.value.split():
        raise ValueError(f"must be one of {', '.join(flag.value.split())}")
    return value


_READERS: dict[str, Callable[[str, Flag], object]] = {
    "bool": _bool,
    "set": _bool,
    "int": _int,
    "float": _float,
    "work": _work,
    "window": _window,
    "pair": _pair,
    "pairs": _pairs,
    "size": _size,
    "choice": _choice,
    "duration": _duration,
    "percent": lambda value, _flag: share(value),
    "percent or 0": lambda value, _flag: share(value, none=True),
    "str": lambda value, _flag: value,
}
