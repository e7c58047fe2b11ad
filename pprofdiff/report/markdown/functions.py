"""Links from a function's name: to its lines, and to its place on the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import quote

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.rows import first_lines
from pprofdiff.model.source import Sources
from pprofdiff.report.markdown.checkout import repository_path
from pprofdiff.report.markdown.links import line_url, revision


class _Declared(NamedTuple):
    """Where a build's profile says that a function is; side 0 is base, 1 is new."""

    side: int
    name: str
    file: str
    line: int


def lines_of(
    names: Iterable[str], diff: ProfileDiff, sources: Sources | None
) -> Mapping[str, str]:
    """Return the URLs of functions' first lines; functions without one are left out.

    They point to the commits that `sources` names, else to what a CI job checked out.
    """
    urls = {}
    for one in _declared(names, diff):
        url = _url(one, sources)
        if url:
            urls[one.name] = url
    return urls


def flame_url(page: str, diff: ProfileDiff, name: str) -> str:
    """Return the URL of a function in the flame graph of any run's page."""
    kind = diff.sample_type.type
    graph = diff.name if diff.name == kind else f"{diff.name}/{kind}"
    return f"{page}#{quote(graph)};f={quote(name)}"


def _declared(names: Iterable[str], diff: ProfileDiff) -> Iterable[_Declared]:
    """Yield where functions are, by new's profile if it has them, else by base's."""
    wanted = dict.fromkeys(names)
    for side, profile in ((1, diff.new.profile), (0, diff.base.profile)):
        for (name, file), line in first_lines(profile).items():
            if name in wanted:
                del wanted[name]
                yield _Declared(side, name, file, line)


def _url(one: _Declared, sources: Sources | None) -> str:
    if sources is not None and sources.revisions is not None:
        text = sources.text(one.side, one.name, one.file)
        commit = sources.revisions[one.side]
        if text is None or text.origin != "git" or not commit:
            return ""
        return line_url(commit, text.path, one.line)
    commit = revision()
    # The checkout is new: base's lines are elsewhere.
    if not commit or not one.side:
        return ""
    path = repository_path(one.file, one.name)
    return line_url(commit, path, one.line) if path else ""
