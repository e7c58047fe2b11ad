"""A real Chromium, offline, that notes every request and every complaint of a page."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from pprofdiff.cli.main import main
from pprofdiff.loaders.profiles.encode import compress, encode
from tests.building import built
from tests.traces.toolchains import digest, once, session

# Milliseconds for what a page is to show: on a busy machine it comes late, and one that
# never shows it fails.
PATIENCE = 300_000

# Without these Chromium calls home at every start.
FLAGS = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def axe():
    """Return axe-core, which finds what keeps people out."""
    module = pytest.importorskip("axe_playwright_python.sync_playwright")
    return module.Axe()


def pytest_collection_modifyitems(items):
    """All tests here start a browser."""
    here = Path(__file__).parent
    for item in items:
        if here in Path(item.path).parents:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def chromium():
    """Return a running browser; skip where there is none."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs Playwright: pip install '.[test]'"
    )
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("needs Debian's chromium: apt-get install chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


def pair_of(folder, *sides):
    """Write the CPU samples of both sides as profiles; return their paths."""
    for name, samples in zip("ab", sides, strict=True):
        (folder / name).write_bytes(compress(encode(built(list(samples)))))
    return folder / "a", folder / "b"


def stacks_of(diff, side):
    """Yield the stack of each sample of a side, root first, as the page names it."""
    profile = (diff.base, diff.new)[side].profile
    functions, lines = diff.paired_functions, profile.locations.line_offsets
    names = [functions.names[i] for i in functions.union[side]]
    ids = functions.sides[side].ids
    for start, end in pairwise(profile.stack_offsets.tolist()):
        stack = [
            names[ids[line]]
            for location in profile.stack_locations[start:end]
            for line in range(lines[location], lines[location + 1])
        ]
        yield stack[::-1]


@pytest.fixture(scope="session")
def written(data_folder):
    """Return a function: words of a command line in, the page that it writes out.

    One process of a session writes a page for all.
    """

    def write(*words):
        texts = [str(word) for word in words]

        def page(draft):
            # Of what is written the ending says the format.
            path = draft.with_suffix(".html")
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(data_folder)
                assert main([*texts, "-q", "-o", str(path)]) in (0, 1)
            path.rename(draft)

        return once(session() / f"{digest(*texts)}-page.html", page)

    return write


@pytest.fixture
def opened(chromium):
    """Return a context manager: a page's path in, the page out, open and at rest.

    It fails where the page asks for anything, breaks its policy, or complains.
    """

    @contextmanager
    def visit(path, *, fragment="", width=1280, height=800, theme="light", **more):
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme=theme,
            offline=True,
            **more,
        )
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        complaints, requests = [], []
        page.on("console", lambda said: complaints.append(f"{said.type}: {said.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        own = Path(path).as_uri()
        page.goto(own + fragment)
        yield page
        context.close()
        assert complaints == []
        assert {url.partition("#")[0] for url in requests} - {"data:,"} == {own}

    return visit
