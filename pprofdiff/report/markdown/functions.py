"""Links from a function's name: to its lines, and to its place on the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import quote

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.rows import first_lines
from pprofdiff.model.source import Sources
from pprofdiff.report.markdown.checkout import repository_path
from pprofdiff.report.markdown.links import line_url, revision


def lines_of(
    names: Iterable[str], diff: ProfileDiff, sources: Sources | None
) -> Mapping[str, str]:
    """Return the URLs of functions' first lines; functions without one are left out.

    They point to the commits that `sources` names, else to what a CI job checked out.
    """
    urls = {}
    wanted = set(names)
    # By new's profile if it has them, else by base's.
    for side, profile in ((1, diff.new.profile), (0, diff.base.profile)):
        for (name, file), line in first_lines(profile).items():
            if name in wanted:
                wanted.remove(name)
                if url := _url(side, name, file, line, sources):
                    urls[name] = url
    return urls


def flame_url(page: str, diff: ProfileDiff, name: str) -> str:
    """Return the URL of a function in the flame graph of any run's page."""
    kind = diff.sample_type.type
    graph = diff.name if diff.name == kind else f"{diff.name}/{kind}"
    return f"{page}#{quote(graph)};f={quote(name)}"


def _url(side: int, name: str, file: str, line: int, sources: Sources | None) -> str:
    if sources is not None and sources.revisions is not None:
        text = sources.text(side, name, file)
        commit = sources.revisions[side]
        if text is None or text.origin != "git" or not commit:
            return ""
        return line_url(commit, text.path, line)
    commit = revision()
    # The checkout is new: base's lines are elsewhere.
    if not commit or not side:
        return ""
    path = repository_path(file, name)
    return line_url(commit, path, line) if path else ""
