"""One build's benchmarks as two sides: what ``--pair suffix=Old`` compares."""

from __future__ import annotations

from pprofdiff.errors import UsageError
from pprofdiff.model.benchmarks import Benchmarks

__all__ = ["pair_by_suffix"]


def pair_by_suffix(
    benchmarks: Benchmarks, suffix: str
) -> tuple[Benchmarks, Benchmarks]:
    """Split one output into (base, new) by a suffix of benchmark functions.

    With the suffix ``Old``, ``CompressOld/size=1k`` is in base, named like its partner
    ``Compress/size=1k``, which is in new. Functions without a partner are dropped.

    Parameters
    ----------
    benchmarks
        The output of one build.
    suffix
        What functions of the base end in, before the names of sub-benchmarks.

    Raises
    ------
    UsageError
        The suffix is empty, or no function has a partner.

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
    first = ", ".join(f"Benchmark{name}" for name in sorted(functions)[:3]) or "none"
    more = f" and {len(functions) - 3} more" if len(functions) > 3 else ""
    return (
        f"--pair suffix={suffix}: no benchmark has a partner named BenchmarkX{suffix} "
        f"for BenchmarkX; there are {first}{more}"
    )
