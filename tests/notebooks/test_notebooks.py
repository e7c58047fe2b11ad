"""Every notebook in `notebooks/` runs, says again what it says, and is fit to be read.

A notebook is run from top to bottom by a kernel of its own, in the folder it is in. What
the cells tagged `answer` print must be what is committed, character by character.

Of its last text, each line that begins with ``pprofdiff`` or ``$ pprofdiff`` in a fenced
block is a command (a backslash at its end joins the next line). It is run in a folder
where both the repository's `tests/data/…` and what is in `tests/data` can be found.
"""

from __future__ import annotations

import ast
import re
import shlex
import socket
import sys
from pathlib import Path

import pytest

from tests.examples import daily
from tests.notebooks.public import imported, not_public

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MOST_BYTES = 600_000
MOST_PICTURE_BYTES = 65_000
HANG_SECONDS = 300

# What notebooks may import next to the standard library.
LIBRARIES = {"IPython", "matplotlib", "numpy", "pandas", "pprofdiff"}
PICTURE = re.compile(r"[A-Za-z0-9+/]{200,}={0,2}")
MACHINE = re.compile(
    r"(?<![\w.~)])/(?:home|root|Users|tmp|var|usr|opt|mnt|private)/|\b[A-Z]:\\\\?\w"
)

# Each takes a kernel and some seconds.
SOME = [path for path in NOTEBOOKS if path.stem[:2] == "00"]
every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
some_notebooks = pytest.mark.parametrize(
    "path", daily(NOTEBOOKS, SOME), ids=lambda path: path.stem
)
jupyter = "needs Jupyter: pip install '.[notebooks]'"


@pytest.fixture(scope="module", name="nbformat")
def reader():
    """Return what reads notebooks."""
    return pytest.importorskip("nbformat", reason=jupyter)


@pytest.fixture(name="notebook")
def committed(path, nbformat):
    """Return the notebook as it is committed."""
    return nbformat.read(path, as_version=4)


@pytest.fixture
def quiet_jupyter(monkeypatch, tmp_path):
    """Give a kernel nothing of a developer's settings, and a font cache that is there.

    Where it is missing, matplotlib makes it in the first kernel, and says so.
    """
    import matplotlib.font_manager  # noqa: F401 - for what its import does

    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))
    for name in ("MPLBACKEND", "PYTHONWARNINGS"):
        monkeypatch.delenv(name, raising=False)


def code_of(notebook):
    """Return the code cells."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def answers_of(notebook):
    """Return the cells that are tagged `answer`."""
    return [
        cell for cell in code_of(notebook) if "answer" in cell.metadata.get("tags", [])
    ]


def text_of(cell):
    """Return what a cell shows as text."""
    return "".join(
        output.get("text") or output.get("data", {}).get("text/plain", "")
        for output in cell.outputs
    )


def streams(notebook, name):
    """Return what cells write to a stream, by the cell's id."""
    return {
        cell.id: output.text
        for cell in code_of(notebook)
        for output in cell.outputs
        if output.output_type == "stream" and output.name == name
    }


@pytest.mark.slow
@some_notebooks
def test_it_runs_and_answers_as_it_did(path, notebook, nbformat, quiet_jupyter):
    nbclient = pytest.importorskip("nbclient", reason=jupyter)
    pytest.importorskip("ipykernel", reason=jupyter)
    again = nbformat.read(path, as_version=4)
    for cell in code_of(again):
        cell.outputs = []
    nbclient.NotebookClient(
        again,
        timeout=HANG_SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(FOLDER)}},
    ).execute()
    assert streams(again, "stderr") == {}
    before, after = (list(map(text_of, answers_of(n))) for n in (notebook, again))
    assert after == before


@pytest.mark.slow
@every_notebook
def test_it_was_run_from_top_to_bottom(notebook):
    code = code_of(notebook)
    counts = [cell.execution_count for cell in code]
    assert counts == list(range(1, len(code) + 1))
    assert streams(notebook, "stderr") == {}
    kinds = {output.output_type for cell in code for output in cell.outputs}
    assert "error" not in kinds
    assert answers_of(notebook)
    assert all(map(text_of, answers_of(notebook)))
    assert answers_of(notebook)[-1] is code[-1]


@every_notebook
def test_it_asks_first_and_answers_last(notebook):
    first, last = notebook.cells[0], notebook.cells[-1]
    assert (first.cell_type, last.cell_type) == ("markdown", "markdown")
    assert first.source.startswith("# ")
    assert "?" in first.source


@every_notebook
def test_it_is_small(path, notebook):
    assert path.stat().st_size <= MOST_BYTES
    pictures = [
        len(output.data["image/png"]) * 3 // 4
        for cell in code_of(notebook)
        for output in cell.outputs
        if "image/png" in output.get("data", {})
    ]
    assert all(size <= MOST_PICTURE_BYTES for size in pictures), pictures


@every_notebook
def test_its_metadata_says_nothing_of_who_ran_it(notebook, nbformat):
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.metadata.kernelspec == {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    }
    assert set(notebook.metadata.language_info) <= {"name"}
    assert all(set(cell.metadata) <= {"tags"} for cell in notebook.cells)
    ids = [cell.id for cell in notebook.cells]
    assert [int(name.partition("-")[0]) for name in ids] == list(range(1, len(ids) + 1))
    for cell in code_of(notebook):
        assert all(not output.get("metadata") for output in cell.outputs)


@pytest.mark.slow
@every_notebook
def test_nothing_in_it_names_a_machine(path):
    text = PICTURE.sub("", path.read_text("utf-8"))
    found = MACHINE.search(text)
    assert found is None, text[found.start() - 80 : found.end() + 80]
    assert not [here for here in (ROOT, sys.prefix) if str(here) in text]
    host = socket.gethostname()
    assert len(host) < 6 or host not in text


def python_of(notebook):
    """Return the code of a notebook, without what only IPython understands."""
    return "\n".join(
        re.sub(r"^[%!].*$", "", cell.source, flags=re.MULTILINE)
        for cell in code_of(notebook)
    )


@pytest.mark.slow
@every_notebook
def test_it_uses_public_names_alone(notebook):
    tree = ast.parse(python_of(notebook))
    assert not_public(tree) == []
    packages = {name.partition(".")[0] for name in imported(tree)}
    assert packages - set(sys.stdlib_module_names) <= LIBRARIES


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("import pprofdiff\npprofdiff.diff(1, 2).functions", []),
        ("import pprofdiff\npprofdiff.Diff.top", []),
        ("from pprofdiff import plots, load\nplots.waterfall(load('x'))", []),
        ("import pprofdiff.plots as p\np.drawing", ["pprofdiff.plots.drawing"]),
        ("import pprofdiff.diff", ["pprofdiff.diff"]),
        (
            "import pprofdiff.analysis.judge.samples",
            ["pprofdiff.analysis.judge.samples"],
        ),
        (
            "from pprofdiff.analysis.judge import samples as stats",
            ["pprofdiff.analysis.judge.samples"],
        ),
        ("from pprofdiff.units import scaled", ["pprofdiff.units.scaled"]),
        ("import pprofdiff as p\np.palette", ["pprofdiff.palette"]),
        ("import pprofdiff\npprofdiff.load('x')._plain", ["_plain"]),
    ],
)
def test_what_is_not_public_is_found(code, wrong):
    assert not_public(ast.parse(code)) == wrong


def commands(path):
    """Return the commands in a notebook's last text."""
    nbformat = pytest.importorskip("nbformat", reason=jupyter)
    text = nbformat.read(path, as_version=4).cells[-1].source
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    plain = [line.strip().removeprefix("$ ") for line in lines]
    return [line for line in plain if line.startswith("pprofdiff ")]


@pytest.fixture
def folder(tmp_path, data_folder, monkeypatch):
    """Stand where both `tests/data/x` and `x` are captures; what is written stays."""
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    for path in data_folder.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@some_notebooks
def test_its_commands_run(path, folder, cli):
    found = commands(path)
    assert found
    for command in found:
        _, *words = shlex.split(command, comments=True)
        done = cli(*words)
        assert (done.status, done.err) == (0, ""), command


@pytest.mark.slow
def test_there_is_one_for_each_story():
    assert [path.stem[:3] for path in NOTEBOOKS] == [f"{i:02}-" for i in range(7)]
