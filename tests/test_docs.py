"""Every command that README.md and ``--help`` show runs, and prints what is shown.

In a fenced block marked ``console`` a line that begins with ``$ pprofdiff`` is a
command. It is run in a folder like `tests/data` and must succeed. The lines up to the
next ``$`` or the end of the block are its output:

- no lines: whatever it prints is fine;
- a line ``…`` stands for any number of lines that are left out;
- every other line must be there as it stands, in this order; unless a ``…`` stands
  at that end, the first line shown is the first and the last one the last.

A fenced block marked ``python`` is run as it stands, in the same folder. In ``--help``
the lines under *Examples* are commands, run in a folder like `tests/data/syncpool` that
has a `bench.txt` too.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from zipfile import ZipFile

import pytest

from pprofdiff.cli.arguments import help_text
from pprofdiff.cli.options import BISECT_FLAGS, FLAGS, MEASURE_FLAGS

pytestmark = pytest.mark.slow

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def shown(language):
    """Return the fenced blocks of a language."""
    return [body for kind, body in BLOCK.findall(README) if kind == language]


def commands():
    """Return (command, lines shown below it) of every console block."""
    found = []
    for body in shown("console"):
        for line in body.splitlines():
            if line.startswith("$ "):
                found.append((line.removeprefix("$ "), []))
            else:
                found[-1][1].append(line)
    return found


@pytest.fixture
def folder(tmp_path, data_folder, monkeypatch):
    """Stand in a folder like `tests/data`; what is written there stays there.

    `src` is the source of the programs that the captures are of.
    """
    (tmp_path / "src").symlink_to(data_folder.parent / "workloads")
    for path in data_folder.rglob("*"):
        place = tmp_path / path.relative_to(data_folder)
        if path.is_dir():
            place.mkdir()
        else:
            place.symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def as_pattern(lines):
    """Return the regular expression that the shown lines stand for."""
    return "".join(
        "(?s:.*)" if line.strip() in ("…", "...") else re.escape(line) + "\n"
        for line in lines
    )


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("command", "lines"),
    commands(),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_command_of_the_readme(folder, cli, command, lines):
    program, *words = shlex.split(command, comments=True)
    assert program == "pprofdiff"
    done = cli(*words)
    assert (done.status, done.err) == (0, "")
    assert not lines or re.fullmatch(as_pattern(lines), done.out), done.out


def test_the_python_of_the_readme(folder):
    """Its pieces go on from each other, as the cells of a notebook do."""
    from matplotlib import pyplot as plt

    names = {}
    for code in shown("python"):
        exec(compile(code, "README.md", "exec"), names)  # noqa: S102 - our own readme
    plt.close("all")
    assert len(names["d"].functions)


def examples():
    """Return the commands at the end of ``--help``."""
    return [
        line.strip()
        for line in help_text().partition("Examples:\n")[2].splitlines()
        if line.strip()
    ]


@pytest.mark.matrix
@pytest.mark.parametrize("command", examples())
def test_an_example_of_the_help(folder, cli, monkeypatch, command):
    monkeypatch.chdir(folder / "syncpool")
    Path("bench.txt").symlink_to(folder / "zstd" / "new" / "bench.txt")
    with ZipFile(folder / "fleet.zip") as archive:
        archive.extractall("fleet")
    program, *words = shlex.split(command)
    assert program == "pprofdiff"
    done = cli(*words)
    assert (done.status, done.err) == (0, "")
    outputs = [words[i + 1] for i, word in enumerate(words) if word == "-o"]
    assert all(Path(path).stat().st_size for path in outputs)


def test_there_is_something_to_run():
    assert len(commands()) >= 4
    assert len(examples()) >= 4
    assert shown("python")


def test_every_flag_that_is_named_is_there():
    text = BLOCK.sub("", README)
    prose = "\n".join(line for line in text.splitlines() if not line.startswith("|"))
    named = set(re.findall(r"(?<=`)--?([a-z][\w-]+)", prose)) | {
        word.lstrip("-").partition("=")[0]
        for command, _ in commands()
        for word in shlex.split(command)
        if re.match("--?[a-z]", word)
    }
    known = {flag.name for flag in (*FLAGS, *MEASURE_FLAGS, *BISECT_FLAGS)} | {
        "o",
        "q",
        "help",
        "version",
    }
    assert named
    assert {name.replace("-", "_") for name in named} <= known


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", BLOCK.sub("", README)):
        assert (
            target.startswith("http") or (Path(__file__).parents[1] / target).exists()
        ), target
