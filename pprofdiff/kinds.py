"""The kinds of evidence: how each is recognised, decoded, compared and shown.

Code that treats all kinds alike iterates over `KINDS`. An entry refers to code in other
modules as ``module:function``; `resolve` imports that module on first use, so this
module imports nothing from the package and a run imports only what its inputs need.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any, Literal

from msgspec import Struct

KindId = Literal["profile", "gctrace", "trace", "benchmark", "load"]
"""Kind ids: stable, and visible in reports."""


class Kind(Struct, frozen=True):
    """One kind of evidence. References are ``module:function``, "" for none.

    A binary kind is recognised by its first bytes and read by `decode`. A text kind is
    found in any log by its `scanner`; one log may hold several kinds.
    """

    id: KindId
    noun: str
    """One input of this kind, as messages name it: ``a GC log``."""
    plural: str
    """Several inputs of this kind: ``GC logs``."""
    alone: str
    """Word added to the measure if one side lacks it: ``a gctrace log``; may be ""."""
    suffix: str
    """File suffix of a fetched input's copy."""
    begins: bytes = b""
    """Regular expression for the first bytes of a binary kind."""
    looks: str = ""
    """``(start: bytes, *, whole: bool) -> bool``, called when no `begins` matches."""
    decode: str = ""
    """``(data: bytes, name: str) -> content``."""
    slow: bool = False
    """Whether `decode` also takes a progress callback, ``Callable[[str], None]``."""
    condense: str = ""
    """``(content, *, full: bool) -> None``: precompute results, and free memory."""
    scanner: str = ""
    """Class with ``feed(block: bytes)`` and ``close() -> content | None``."""
    anonymous: str = ""
    """``(content) -> content`` without local file paths."""
    measures: str = ""
    """``(content) -> str``: what was measured, for kinds with several such as cpu."""
    compare: str = ""
    """``(base: Side, new: Side, settings: Settings) -> result | None``."""
    caveats: str = ""
    """``(base: Side, new: Side, result | None) -> Iterable[Caveat]``."""
    loaded: str = ""
    """Class with ``of(captures, label, name)``: what `pprofdiff.load` returns."""
    diff: str = ""
    """``(base, new, settings: Settings) -> object``: what `pprofdiff.diff` returns."""
    options: frozenset[str] = frozenset()
    """Keyword options of `pprofdiff.diff` that apply to this kind."""
    inputs: str = ""
    """``(captures) -> Iterable[Input]``: rows of the report's table of inputs."""
    sections: str = ""
    """``(result, report: ReportModel, scope: Scope) -> Iterable[Section]``."""
    tiles: str = ""
    """``(section) -> Iterable[Tile]``: the headline totals on the page."""
    charts: str = ""
    """``(result, prefix: str) -> tuple[Chart, ...]``: the charts on the page."""
    json_row: str = ""
    """``(result) -> dict``: an entry of the JSON ``comparisons``."""
    card: str = ""
    """``(data, label: str) -> Card``: one input in a notebook; "" shows its `repr`."""
    diff_card: str = ""
    """``(section, labels) -> Card``: a notebook diff; "" shows its first table."""

    @property
    def is_text(self) -> bool:
        """Whether this kind is read from logs."""
        return bool(self.scanner)


_PAIRING = ("pair_names", "pairing")
_PATTERNS = ("focus", "ignore", "hide", "show", "show_from", "tagfocus", "tagignore")

# In the order of a report's inputs and sections.
_ENTRIES = (
    Kind(
        id="profile",
        noun="a profile",
        plural="profiles",
        alone="profile",
        suffix=".pb",
        looks="pprofdiff.inputs.recognition:looks_like_profile",
        decode="pprofdiff.loaders.profiles.encodings:decode",
        anonymous="pprofdiff.inputs.trimpath:profile_without_paths",
        measures="pprofdiff.analysis.profiles.kinds:kind_name",
        compare="pprofdiff.analysis.profiles.compare:compare_sides",
        caveats="pprofdiff.analysis.profiles.compare:caveats",
        loaded="pprofdiff.api.profiles:Profile",
        diff="pprofdiff.api.profiles:subtracted",
        options=frozenset(
            ("sample_type", "normalize", "work", "rps", *_PAIRING, *_PATTERNS)
        ),
        inputs="pprofdiff.report.sections.profiles.section:profile_inputs",
        sections="pprofdiff.report.sections.profiles.section:profile_sections",
        tiles="pprofdiff.report.sections.profiles.section:profile_tiles",
        json_row="pprofdiff.report.json.profiles:profile_row",
        card="pprofdiff.notebook.cards:profile_card",
        diff_card="pprofdiff.notebook.cards:profiles_card",
    ),
    Kind(
        id="gctrace",
        noun="a GC log",
        plural="GC logs",
        alone="log",
        suffix=".log",
        scanner="pprofdiff.loaders.gclogs:GCScanner",
        compare="pprofdiff.analysis.gclogs.compare:compare_sides",
        caveats="pprofdiff.analysis.gclogs.compare:caveats",
        loaded="pprofdiff.api.gclogs:GCLog",
        diff="pprofdiff.api.gclogs:subtracted",
        options=frozenset(("work", "rps", "window")),
        inputs="pprofdiff.report.sections.gclogs:gc_inputs",
        sections="pprofdiff.report.sections.gclogs:gc_sections",
        tiles="pprofdiff.report.sections.gclogs:gc_tiles",
        charts="pprofdiff.plots.pagecharts:charts",
        json_row="pprofdiff.report.json.gclogs:gc_row",
        card="pprofdiff.notebook.cards:log_card",
        diff_card="pprofdiff.notebook.cards:logs_card",
    ),
    Kind(
        id="trace",
        noun="an execution trace",
        plural="traces",
        alone="",
        suffix=".trace",
        begins=rb"go 1\.\d{1,2} trace\0{3,4}",
        decode="pprofdiff.loaders.traces:read",
        slow=True,
        condense="pprofdiff.analysis.traces.condensing:condense",
        anonymous="pprofdiff.inputs.trimpath:trace_without_paths",
        compare="pprofdiff.analysis.traces.compare:compare_sides",
        caveats="pprofdiff.analysis.traces.compare:caveats",
        loaded="pprofdiff.api.traces:Trace",
        diff="pprofdiff.api.traces:subtracted",
        options=frozenset(("work", "rps", *_PAIRING)),
        inputs="pprofdiff.report.sections.traces.section:trace_inputs",
        sections="pprofdiff.report.sections.traces.section:trace_sections",
        tiles="pprofdiff.report.sections.traces.section:trace_tiles",
        charts="pprofdiff.plots.pagecharts:charts",
        json_row="pprofdiff.report.json.traces:trace_row",
        card="pprofdiff.notebook.cards:trace_card",
        diff_card="pprofdiff.notebook.cards:traces_card",
    ),
    Kind(
        id="benchmark",
        noun="benchmarks",
        plural="benchmarks",
        alone="output",
        suffix=".txt",
        scanner="pprofdiff.loaders.benchmarks.reader:BenchmarkScanner",
        anonymous="pprofdiff.inputs.trimpath:benchmarks_without_paths",
        compare="pprofdiff.analysis.benchmarks.compare:compare_sides",
        loaded="pprofdiff.api.benchmarks:Benchmarks",
        diff="pprofdiff.api.benchmarks:subtracted",
        inputs="pprofdiff.report.sections.benchmarks:benchmark_inputs",
        sections="pprofdiff.report.sections.benchmarks:benchmark_sections",
        tiles="pprofdiff.report.sections.benchmarks:benchmark_tiles",
        json_row="pprofdiff.report.json.benchmarks:comparison_row",
        card="pprofdiff.notebook.cards:benchmarks_card",
    ),
    Kind(
        id="load",
        noun="a load generator's summary",
        plural="load generators' summaries",
        alone="summary",
        suffix=".txt",
        scanner="pprofdiff.loaders.benchmarks.load_summary:LoadScanner",
        compare="pprofdiff.analysis.benchmarks.loads:compare_sides",
        caveats="pprofdiff.analysis.benchmarks.loads:caveats",
        loaded="pprofdiff.api.benchmarks:LoadSummary",
        diff="pprofdiff.api.benchmarks:loads_subtracted",
        inputs="pprofdiff.report.sections.loads:load_inputs",
        sections="pprofdiff.report.sections.loads:load_sections",
        tiles="pprofdiff.report.sections.loads:load_tiles",
        json_row="pprofdiff.report.json.benchmarks:load_row",
    ),
)

KINDS: dict[KindId, Kind] = {kind.id: kind for kind in _ENTRIES}
"""Kinds by id, in report order."""


def of_texts() -> Iterator[Kind]:
    """Yield the kinds that one log may hold together."""
    return (kind for kind in KINDS.values() if kind.is_text)


@cache
def resolve(reference: str) -> Any:  # noqa: ANN401 - the type depends on the reference
    """Import a reference ``module:name`` and return what it names; cached."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)
