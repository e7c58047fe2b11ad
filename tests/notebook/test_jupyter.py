"""A real notebook, run by a real kernel, and what nbconvert makes of it."""

from __future__ import annotations

import re

import pytest

from tests.conftest import DATA
from tests.notebook.shown import Parsed

# A kernel's own threads and sockets, which Jupyter closes when it likes.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

CELLS = [
    "import pprofdiff\nd = pprofdiff.diff('syncpool/base/cpu.pb.gz', 'syncpool/new/cpu.pb.gz')\nd",
    "d.flamegraph()",
    "d.flamegraph(height=300)",
    "pprofdiff.diff('syncpool/base/gctrace.log', 'syncpool/new/gctrace.log')",
    "t = pprofdiff.load('health-check/base/trace.out')\nt",
    "d.functions.head(3)",
    "ax = d.plot_waterfall()",
    "print(d)",
]


def jupyter(name):
    """Return a part of Jupyter, which takes a second to import: not to collect tests."""
    return pytest.importorskip(name, reason="needs Jupyter: pip install '.[notebooks]'")


@pytest.fixture(scope="module")
def notebook():
    """Return a notebook of `CELLS`, executed in the folder of captures."""
    jupyter("ipykernel")
    nbformat, nbclient = jupyter("nbformat"), jupyter("nbclient")
    cells = [nbformat.v4.new_code_cell(code) for code in CELLS]
    held = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(
        held, timeout=600, resources={"metadata": {"path": str(DATA)}}
    ).execute()
    return held


@pytest.mark.whole
def test_outputs(notebook):
    outputs = [cell.outputs for cell in notebook.cells]
    for i in (0, 3, 4):
        (output,) = outputs[i]
        assert set(output.data) == {"text/plain", "text/html"}
        assert "<table>" in output.data["text/html"]
    for i in (1, 2):
        (output,) = outputs[i]
        assert "<iframe" in output.data["text/html"]
    assert any("image/png" in output.get("data", {}) for output in outputs[6])
    assert outputs[7][0].text.startswith("<Diff cpu/nanoseconds: ")
    assert outputs[7][0].text.count("\n") == 1


@pytest.mark.whole
def test_nbconvert_keeps_tables_and_pictures(notebook):
    body, _ = jupyter("nbconvert").HTMLExporter().from_notebook_node(notebook)
    assert body.count("<iframe") == 2
    first = notebook.cells[0].outputs[0].data["text/html"]
    assert all(row[0] in body.replace("&nbsp;", " ") for row in Parsed(first).rows[1:])
    # What the frames hold is in them: the two pages' ids are not the notebook's.
    outside = re.sub(r'srcdoc="[^"]*"', "", body)
    assert 'id="keys"' not in outside
