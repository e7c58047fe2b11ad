"""Sides derived from inputs: traces as profiles, and two sides from one input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from pprofdiff.analysis.profiles.side import halves
from pprofdiff.errors import UsageError
from pprofdiff.model.benchmarks import Benchmarks
from pprofdiff.model.profiles.merge import is_diff
from pprofdiff.model.side import Capture, Side
from pprofdiff.units import first_few

if TYPE_CHECKING:
    from pprofdiff.model.profiles.profile import Profile
    from pprofdiff.model.traces.trace import Trace

State = Literal["running", "runnable", "blocked", "syscall", "cpu"]
"""A state of goroutines, or the CPU samples in a trace."""


def by_state(side: Side, state: State) -> Side:
    """Return a side whose captures are its traces, as profiles of time in one state.

    State cpu is the CPU samples in a trace. Raises UsageError if the side has no trace,
    or a trace has no CPU samples.
    """
    traces = side.of("trace")
    if not traces:
        raise UsageError(
            f"{side.label}: --state {state} needs execution traces: there is "
            "none on this side"
        )
    return replace(side, captures=tuple(_by_stack(trace, state) for trace in traces))


def _by_stack(trace: Capture[Trace], state: State) -> Capture[Profile]:
    """Return a trace's time in one state as a profile, with values named after it."""
    profile: Profile | None
    if state == "cpu":
        from pprofdiff.analysis.traces.profiles import cpu_profile

        profile = cpu_profile(trace.content)
        if profile is None:
            raise UsageError(
                f"{trace.path}: no CPU samples in this trace: run a CPU profile while "
                "it is traced (Go 1.19 or later), or ask for another --state"
            )
    else:
        from pprofdiff.analysis.traces.profiles import named_for_state

        profile = named_for_state(trace.content, state)
    return Capture(
        trace.path, "profile", profile, trace.run, trace.run_known, trace.saved_to
    )


def of_diff(side: Side, name: str) -> tuple[Side, Side]:
    """Return (base, new) of a side whose only profile is a diff containing both.

    `name` is what the user typed. Raises UsageError for any other side.
    """
    profiles = side.of("profile")
    if len(profiles) != 1 or not is_diff(profiles[0].content):
        path = profiles[0].path if profiles else name
        pairs = "; benchmarks of one file: --pair suffix=Old"
        hint = pairs if side.of("benchmark") else ""
        alone = "; one alone: add -top" if profiles else hint
        raise UsageError(f"{path}: compared with what? pprofdiff BASE NEW{alone}")
    base, new = (
        replace(profiles[0], content=half) for half in halves(profiles[0].content)
    )
    return Side("base", (base,)), Side("new", (new,))


def of_suffix(side: Side, suffix: str) -> tuple[Side, Side]:
    """Return benchmarks with a suffix as base, those without it as new.

    Raises UsageError if the side has no benchmarks, or none has the suffix.
    """
    captures = side.of("benchmark")
    if not captures:
        raise UsageError("--pair compares benchmarks: there are none in this input")
    pairs = [(one, *pair_by_suffix(one.content, suffix)) for one in captures]
    base = tuple(replace(one, content=old) for one, old, _ in pairs)
    new = tuple(replace(one, content=current) for one, _, current in pairs)
    return Side("base", base), Side("new", new)


def pair_by_suffix(
    benchmarks: Benchmarks, suffix: str
) -> tuple[Benchmarks, Benchmarks]:
    """Split one output into (base, new) by a suffix of benchmark functions.

    With the suffix ``Old``, ``CompressOld/size=1k`` is in base, named like its partner
    ``Compress/size=1k``, which is in new. Functions without a partner are dropped.
    Raises UsageError if the suffix is empty, or no function has a partner.
    """
    functions = {result.name.partition("/")[0] for result in benchmarks.results}
    pairs = {
        name: name.removesuffix(suffix)
        for name in functions
        if suffix and name.endswith(suffix) and name.removesuffix(suffix) in functions
    }
    if not pairs:
        raise UsageError(_no_pairs(functions, suffix))
    base, new = [], []
    for result in benchmarks.results:
        function, slash, rest = result.name.partition("/")
        if function in pairs:
            base.append(result._replace(name=f"{pairs[function]}{slash}{rest}"))
        # XOldOld is the base of XOld, which is the base of X.
        if function in pairs.values():
            new.append(result)
    return Benchmarks(tuple(base), benchmarks.torn), Benchmarks(tuple(new), 0)


def _no_pairs(functions: set[str], suffix: str) -> str:
    """Return the error message if no function has a partner."""
    if not suffix:
        return "--pair suffix= needs a suffix: --pair suffix=Old compares XOld with X"
    names = first_few([f"Benchmark{name}" for name in sorted(functions)], 3)
    return (
        f"--pair suffix={suffix}: no benchmark has a partner named BenchmarkX{suffix} "
        f"for BenchmarkX; there are {names or 'none'}"
    )
