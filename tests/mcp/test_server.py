"""Answers of the server are the report's own, and its work can be followed and ended."""

from __future__ import annotations

import json
import re
from pathlib import Path
from zipfile import ZipFile

import anyio
import pytest

from tests.conftest import DATA
from tests.mcp.client import answer, answers, connected
from tests.mcp.test_answer import LINES
from tests.measure.shop import shop, state

pytestmark = pytest.mark.slow
README = Path(__file__).parents[2] / "README.md"
AMPLE = 50_000


def test_an_answer_is_the_report_and_its_resources_are_the_outputs(cli, tmp_path):
    sides = [str(DATA / "syncpool" / side) for side in ("base", "new")]
    files = [tmp_path / f"x.{ending}" for ending in ("brief.json", "json", "html")]
    rules = ["--fail-on=group:gc:+1pp"]
    made = cli(*sides, *rules, "-q", *(f"-o={file}" for file in files))
    assert made.status in (0, 1)

    async def ask():
        async with connected(DATA) as client:
            given = {"base": "syncpool/base", "new": "syncpool/new"}
            given |= {"fail_on": ["group:gc:+1pp"], "max_tokens": AMPLE}
            result = await client.call_tool("compare", given)
            links = [link.uri for link in result.content[1:]]
            listed = (await client.list_resources()).resources
            assert [one.uri for one in listed] == links
            texts = [
                (await client.read_resource(uri)).contents[0].text for uri in links
            ]
            return result, dict(zip(links, texts, strict=True))

    result, resources = anyio.run(ask)
    answered = result.structured_content
    assert json.loads(result.content[0].text) == answered
    brief = json.loads(files[0].read_text("utf-8"))
    causes = [
        {n: v for n, v in one.items() if v or n == "lines"} for one in brief["causes"]
    ]
    assert answered["causes"] == causes
    for name in ("verdict", "labels"):
        assert answered[name] == brief[name]
    for name in LINES:
        assert answered.get(name, []) == brief[name]
    assert "left_out" not in answered
    assert resources[answered["resources"]["json"]] == files[1].read_text("utf-8")
    assert resources[answered["resources"]["page"]] == files[2].read_text("utf-8")


@pytest.mark.parametrize(
    ("tool", "words", "given"),
    [
        ("explain", ["--explain=gc.mark.assist"], {"function": "gc.mark.assist"}),
        (
            "list_lines",
            ["--list=codec.Compress", f"--source={DATA.parent / 'workloads'}"],
            {"function": "codec.Compress", "source": str(DATA.parent / "workloads")},
        ),
    ],
)
def test_lines_and_stacks_are_what_the_command_prints(cli, tool, words, given):
    sides = [str(DATA / "zstd" / side / "cpu.pb.gz") for side in ("base", "new")]
    shown = [line for line in cli(*sides, *words).out.splitlines() if line]
    paths = dict(zip(("base", "new"), sides, strict=True))
    folders = [DATA, DATA.parent / "workloads"]
    assert answer(folders, tool, **paths, **given, max_tokens=AMPLE)["lines"] == shown
    short = answer(folders, tool, **paths, **given, max_tokens=300)
    assert short["lines"] == shown[: len(short["lines"])]
    assert short["left_out"] == {"lines": len(shown) - len(short["lines"])}


def test_a_fleet_says_at_which_build_a_function_changed(tmp_path):
    with ZipFile(DATA / "fleet.zip") as archive:
        archive.extractall(tmp_path)
    answered = answer([tmp_path], "fleet_steps", profiles=["build=*/**"])
    assert "1 function changed, at 44" in answered["lines"][0]
    assert set(answered["resources"]) == {"page", "json"}


@pytest.mark.go
def test_a_cause_has_the_lines_and_the_commit(planted_repo):
    base, new, span, work = planted_repo.words
    folders = [Path(base).parents[0], planted_repo.repo.folder]
    given = {"base": base, "new": new, "repository": str(planted_repo.repo.folder)}
    git = {"git": span.removeprefix("--git="), "flags": [work]}
    answered = answer(folders, "compare", **given, **git)
    assert answered["verdict"] == "slower"
    (first, *_) = answered["causes"]
    assert first["lines"] == ["store/price.go:17-19"]
    assert planted_repo.culprit[:9] in first["title"]
    answered = answer(folders, "list_lines", **given, git=git["git"], function="Price")
    assert any(re.search(r"17 \+ .*for i := range", line) for line in answered["lines"])


def test_mistakes_read_as_on_the_command_line(tmp_path):
    pair = {"base": "syncpool/base", "new": "syncpool/new"}
    mistakes = (
        ({"fail_on": ["total:5"]}, "total:5"),
        ({"flags": ["--work=1:x"]}, "-work=1:x: must be"),
        ({"flags": ["--output=x.html"]}, "none of the flags"),
        ({"flags": ["--window"]}, "--window needs a value"),
        ({"save": ["x.pdf"]}, "the ending says what to write"),
        ({"max_tokens": 10}, "greater than or equal to 300"),
    )
    refused(DATA, "compare", [(pair | given, said) for given, said in mistakes])
    saved = tmp_path / "x.md"
    assert answer([DATA, tmp_path], "compare", **pair, save=[str(saved)])["verdict"]
    assert "base → new" in saved.read_text("utf-8")


@pytest.mark.go
def test_refs_are_checked_before_anything_is_built(tmp_path):
    repo = shop(tmp_path / "repo")
    mistakes = (
        ({"base": "nowhere"}, "no commit nowhere"),
        ({"base": "--cmd=sh"}, "neither a ref nor"),
        ({"base": "HEAD", "packages": ["-exec=sh"]}, "neither a ref nor"),
        ({"new": "HEAD"}, "give base too"),
        ({"base": "HEAD", "time": "soon"}, "-time=soon: must be"),
    )
    refused(repo.folder, "measure", mistakes)


def refused(folder, tool, mistakes):
    """Check that each of a tool's arguments is refused in the words that go with it."""
    results = answers([folder], *((tool, given) for given, _ in mistakes))
    for result, (_, said) in zip(results, mistakes, strict=True):
        assert result.is_error
        assert said in result.content[0].text


@pytest.mark.go
def test_a_bisection_names_the_commit(tmp_path):
    repo = shop(tmp_path / "repo")
    repo.commit("readme: begin", {"README": "a shop"})
    given = {"good": "HEAD~2", "bad": "HEAD", "packages": ["./store"], "bench": "Price"}
    answered = answer([repo.folder], "bisect", **given, time="15m", max_tokens=AMPLE)
    culprit = repo.run("rev-parse", "HEAD~1")[:9]
    assert any(culprit in line for line in answered["bisection"])
    assert answered["verdict"] == "slower"
    assert culprit in answered["causes"][0]["title"]


@pytest.mark.go
def test_a_measurement_reports_progress_and_is_cancelled(tmp_path):
    """Of what it started and wrote nothing is left; the server goes on."""
    repo, temporary = shop(tmp_path / "repo"), tmp_path / "tmp"
    temporary.mkdir()
    before, steps = state(repo.folder), []

    async def ask():
        async with connected(repo.folder, TMPDIR=str(temporary)) as client:
            async with anyio.create_task_group() as group:

                async def follow(number, _total, message):
                    steps.append((number, message))
                    if message.startswith("round 1"):
                        assert running(temporary)
                        group.cancel_scope.cancel()

                given = {"base": "HEAD~1", "new": "HEAD", "packages": ["./store"]}
                given |= {"time": "5m", "bench": "Price"}
                await client.call_tool("measure", given, progress_callback=follow)
            with anyio.fail_after(60):
                while running(temporary):
                    await anyio.sleep(0.1)
            (scratch,) = temporary.iterdir()
            assert [one.name for one in scratch.iterdir()] == ["1"]
            assert len((await client.list_tools()).tools) == 6

    anyio.run(ask)
    assert [number for number, _ in steps] == list(range(1, len(steps) + 1))
    assert any("building new" in message for _, message in steps)
    assert list(temporary.iterdir()) == []
    assert state(repo.folder) == before


def running(folder):
    """Return which processes other than servers have a folder in their command."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().decode("utf-8", "replace").split("\0")
        except OSError:
            continue
        if any(str(folder) in word for word in words):
            found.append(words)
    return found


def test_the_transcript_of_the_readme():
    text = README.read_text("utf-8")
    ((call, shown),) = re.findall(r"```text\n→ (.+)\n← ([^`]+)\n```", text)
    tool, given = call.split(" ", 1)
    said = json.dumps(answer([DATA], tool, **json.loads(given)), ensure_ascii=False)
    parts = (part.strip().replace("\n", " ") for part in shown.split("…"))
    assert re.fullmatch(".*".join(map(re.escape, parts)), said), said
