"""Parse the arguments after ``--``: flags of ``go test``, and packages."""

from __future__ import annotations

import re
from typing import NamedTuple

from pprofdiff.errors import UsageError
from pprofdiff.units import printable

# Flags of `go help build`, which `go list` takes too; the first set needs a value.
_BUILD_VALUE = frozenset(
    """asmflags buildmode compiler covermode coverpkg gccgoflags gcflags installsuffix
    ldflags mod modfile overlay p pgo pkgdir tags toolexec""".split()  # noqa: SIM905 - more compact
)
_BUILD = _BUILD_VALUE | frozenset(
    """a asan cover linkshared modcacherw msan race trimpath v work x
    """.split()  # noqa: SIM905 - likewise
)
# Flags of `go help testflag` that are passed to the test binary.
_TEST_VALUE = frozenset(
    """blockprofilerate memprofilerate mutexprofilefraction parallel shuffle skip
    timeout""".split()  # noqa: SIM905 - likewise
)
_TEST = _TEST_VALUE | {"benchmem", "failfast", "fullpath", "short"}
# Flags that pprofdiff sets itself.
_OURS = {
    "blockprofile": "the profiles are cpu and allocs",
    "c": "each side is built once, as it is",
    "count": "--rounds sets how often each side runs",
    "cpuprofile": "profiles go to -o-runs DIR",
    "memprofile": "profiles go to -o-runs DIR",
    "mutexprofile": "the profiles are cpu and allocs",
    "o": "captures go to -o-runs DIR",
    "outputdir": "captures go to -o-runs DIR",
    "run": "no tests are run, only benchmarks",
    "trace": "--trace records one of each side",
}
# Flags that are parsed and set per run.
_PARTS = frozenset({"bench", "benchtime", "cpu"})
_ITERATIONS = re.compile(r"(\d+)x")
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d*)?|\.\d+)(ms|s)?)?")


class GoTest(NamedTuple):
    """What to measure in a module, and how to build it.

    `build` are compiler flags, `test` flags of the test binary, spelt ``-test.``;
    `arguments` is what follows ``-args``, `pattern` selects benchmarks. `iterations`
    and `seconds` come from ``-benchtime``, None if not given there; `cpus` are the
    distinct values of ``-cpu``.
    """

    build: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    packages: tuple[str, ...] = (".",)
    pattern: str = "."
    iterations: int | None = None
    seconds: float | None = None
    cpus: tuple[int, ...] = ()


def go_test(words: list[str]) -> GoTest:
    """Parse arguments of ``go test``; raises UsageError for unsupported ones."""
    words = list(words)
    build: list[str] = []
    test: list[str] = []
    packages: list[str] = []
    parts: dict[str, str] = {}
    arguments: tuple[str, ...] = ()
    while words:
        word = words.pop(0)
        if not word.startswith("-") or word == "-":
            packages.append(word)
            continue
        name, equals, value = word.lstrip("-").partition("=")
        name = name.removeprefix("test.")
        if name == "args":
            arguments = tuple(words)
            break
        _refuse(name, word)
        takes = name in _BUILD_VALUE or name in _TEST_VALUE
        if (takes or name in _PARTS or name == "vet") and not equals:
            if not words:
                raise UsageError(f"-{name} needs a value: -{name}=…")
            value = words.pop(0)
            equals = "="
        if name in _PARTS:
            parts[name] = value
        elif name in _BUILD:
            build.append(f"-{name}{equals}{value}")
        elif name in _TEST:
            test.append(f"-test.{name}{equals}{value}")
    iterations, seconds = _benchtime(parts.get("benchtime"))
    return GoTest(
        tuple(build),
        tuple(test),
        arguments,
        tuple(packages) or (".",),
        parts.get("bench", "."),
        iterations,
        seconds,
        _cpus(parts.get("cpu", "")),
    )


def _refuse(name: str, word: str) -> None:
    flag = printable(word.partition("=")[0])
    if name in _OURS:
        raise UsageError(f"{flag} is not for pprofdiff measure: {_OURS[name]}")
    if name not in {*_BUILD, *_TEST, *_PARTS, "vet"}:
        raise UsageError(f"{flag}: not a go test flag that pprofdiff measure accepts")


def _cpus(value: str) -> tuple[int, ...]:
    numbers = [part.strip() for part in value.split(",") if part.strip()]
    if not all(re.fullmatch(r"0*[1-9]\d{0,5}", number) for number in numbers):
        raise UsageError(
            f"-cpu={printable(value)}: is a list of GOMAXPROCS, such as 1,2,4"
        )
    return tuple(dict.fromkeys(map(int, numbers)))


def _benchtime(value: str | None) -> tuple[int | None, float | None]:
    if value is None:
        return None, None
    count = _ITERATIONS.fullmatch(value)
    if count is not None and int(count[1]):
        return int(count[1]), None
    try:
        return None, seconds_of(value)
    except ValueError:
        raise UsageError(
            f"-benchtime={printable(value)}: is a time such as 2s, or iterations such "
            "as 500x"
        ) from None


def seconds_of(text: str) -> float:
    """Return the seconds in ``90``, ``1.5s``, ``200ms``, ``5m`` or ``1h30m``.

    Raises ValueError for anything else, and for zero.
    """
    parts = _DURATION.fullmatch(text)
    if parts is None or not text:
        raise ValueError("must be a time, such as 90s or 5m")
    hours, minutes, last, unit = parts.groups()
    seconds = 3600.0 * int(hours or 0) + 60.0 * int(minutes or 0)
    seconds += float(last or 0) * (1e-3 if unit == "ms" else 1.0)
    if not seconds > 0:
        raise ValueError("must be a time, more than 0")
    return seconds
