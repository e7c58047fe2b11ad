"""The house: imports point one way, none in a circle; tests stand where code does."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import get_args

import pytest

from pprofdiff.kinds import KINDS, KindId, resolve

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "pprofdiff"
MODULES = sorted(PACKAGE.rglob("*.py"))

# What each part may import of the others, itself apart: only what is below it.
_BOTTOM = {"errors", "units", "_version", "parallel", "palette", "kinds"}
_BOTTOM |= {"unused_memory"}
_MODEL = _BOTTOM | {"model"}
_GORUNTIME = _MODEL | {"goruntime"}
_IDENTITY = _GORUNTIME | {"identity"}
_ANALYSIS = _IDENTITY | {"analysis"}
_PLOTS = _ANALYSIS | {"plots"}
_REPORT = _PLOTS | {"report"}
_INPUTS = _GORUNTIME | {"loaders", "inputs"}
MAY = {
    "errors": set(),
    "kinds": set(),
    "units": set(),
    "_version": set(),
    "parallel": set(),
    "palette": set(),
    "unused_memory": set(),
    "demo": set(),
    "ci": set(),
    "model": _BOTTOM,
    "loaders": _MODEL,
    "goruntime": _MODEL,
    "identity": _GORUNTIME,
    "analysis": _IDENTITY,
    "inputs": _INPUTS,
    "plots": _ANALYSIS,
    "report": _PLOTS | {"loaders"},
    "notebook": _REPORT,
    "api": _REPORT | _INPUTS | {"notebook", "fleets", "measure"},
    "measure": _ANALYSIS | _INPUTS,
    "fleets": _ANALYSIS | _INPUTS,
    "mcp": _INPUTS,
    "cli": _REPORT | _INPUTS | {"demo", "ci", "api", "measure", "fleets", "mcp"},
    "__init__": {"api", "errors", "_version"},
    "__main__": {"cli"},
}


def part(module):
    """Return which part of the house a module's dotted name (or path) is of."""
    if isinstance(module, Path):
        return module.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return module.split(".")[1] if "." in module else "__init__"


@cache
def parsed(path):
    """Return the syntax tree of a module."""
    return ast.parse(path.read_text("utf-8"))


@cache
def nodes(path):
    """Return all nodes of a module."""
    return tuple(ast.walk(parsed(path)))


@cache
def imports(path):
    """Return (line, dotted name) of every import of ours, wherever it stands."""
    found = []
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found += [(node.lineno, name.name) for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            whole = (
                [f"{node.module}.{name.name}" for name in node.names]
                if node.module == "pprofdiff"
                else [node.module]
            )
            found += [(node.lineno, name) for name in whole]
    return [(line, name) for line, name in found if name.split(".")[0] == "pprofdiff"]


def test_the_map_is_of_this_house():
    assert {part(path) for path in MODULES} == set(MAY)


def test_arrows_point_down():
    upward = [
        f"{path}:{line}: {part(path)} imports {name}"
        for path in MODULES
        for line, name in imports(path)
        if part(name) not in MAY[part(path)] | {part(path)}
    ]
    assert upward == []


def test_no_import_goes_in_a_circle():
    """All imports count: at the top, within functions, for types alone."""
    names = {dotted(path): path for path in MODULES}
    graph = {
        name: {target for _, target in targets(path, names)} - {name}
        for name, path in names.items()
    }
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" → ".join(reversed(error.args[1])))


def dotted(path):
    """Return a module's dotted name; a package has its folder's."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def targets(path, names):
    """Return (line, module) of what a module imports, names of modules resolved."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            wanted = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            inside = [f"{node.module}.{name.name}" for name in node.names]
            wanted = [name if name in names else node.module for name in inside]
        else:
            continue
        yield from ((node.lineno, name) for name in wanted if name in names)


REFERENCES = [
    (kind.id, name, getattr(kind, name))
    for kind in KINDS.values()
    for name in kind.__struct_fields__
    if re.fullmatch(r"pprofdiff[\w.]+:\w+", str(getattr(kind, name)))
]
# Which part of the house has what a kind refers to.
REFERRED = {
    "looks": "inputs",
    "decode": "loaders",
    "condense": "analysis",
    "scanner": "loaders",
    "anonymous": "inputs",
    "measures": "analysis",
    "compare": "analysis",
    "caveats": "analysis",
    "loaded": "api",
    "diff": "api",
    "inputs": "report",
    "sections": "report",
    "tiles": "report",
    "charts": "plots",
    "json_row": "report",
    "card": "notebook",
    "diff_card": "notebook",
}


@pytest.mark.parametrize(("kind", "field", "reference"), REFERENCES)
def test_what_a_kind_refers_to_is_there(kind, field, reference):
    assert part(reference.partition(":")[0]) == REFERRED[field]
    assert callable(resolve(reference))


def test_kinds_refer_to_something_in_every_way():
    assert {field for _, field, _ in REFERENCES} == set(REFERRED)
    assert set(KINDS) == set(get_args(KindId)) == {kind.id for kind in KINDS.values()}


def test_every_module_says_what_lives_there():
    assert [path for path in MODULES if not ast.get_docstring(parsed(path))] == []


def test_only_the_command_line_prints():
    printing = {
        path
        for path in MODULES
        for node in nodes(path)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    }
    assert printing == {PACKAGE / "cli" / "main.py"}


def test_arrays_are_held_by_dataclasses():
    """A named tuple with arrays compares them, and unpacks in silence."""
    classes = [
        (path, node)
        for path in MODULES
        for node in nodes(path)
        if isinstance(node, ast.ClassDef)
        and any(ast.unparse(base) == "NamedTuple" for base in node.bases)
    ]
    fields = [
        f"{path}:{field.lineno} {node.name}.{ast.unparse(field.target)}"
        for path, node in classes
        for field in node.body
        if isinstance(field, ast.AnnAssign)
        and {"NDArray", "ndarray", "Floats", "Offsets"}
        & set(re.findall(r"\w+", ast.unparse(field.annotation)))
    ]
    assert fields == []


def test_there_is_no_drawer_for_odds_and_ends():
    assert not {p.stem for p in MODULES} & {
        "utils",
        "util",
        "helpers",
        "common",
        "misc",
    }


def test_tests_stand_where_the_code_does():
    folders = {
        p.parent.relative_to(ROOT / "tests")
        for p in (ROOT / "tests").rglob("test_*.py")
    }
    parts = {p.parent.relative_to(PACKAGE) for p in MODULES}
    # parity compares the whole program with go tool pprof; traces makes and judges them;
    # browser opens pages; notebooks runs those of the folder notebooks; field judges
    # whole reports by pairs of real programs, calibration by splits of runs.
    names = "browser", "calibration", "field", "notebooks", "parity", "traces"
    others = {Path(name) for name in names}
    assert folders - parts <= others
    with_code = {p.parent for p in MODULES if p.name != "__init__.py"}
    assert {p.relative_to(PACKAGE) for p in with_code} - folders <= {
        Path("model/traces")
    }


# The rooms of analysis from the bottom, each line importing only lines above it.
ROOMS = """
judge policy caveat side source
bisection figures work
normalization settings
benchmarks gclogs
ledger
inferred_work profiles
control lines series traces run_order windows
call_tree derived
chain_tree
comparison
busy runs
outcome
causes
account gate
"""


def test_rooms_of_analysis_import_one_way():
    floor = {
        room: number
        for number, line in enumerate(ROOMS.split("\n"))
        for room in line.split()
    }
    rooms = {path.relative_to(PACKAGE / "analysis").parts[0] for path in of_analysis()}
    assert {room.removesuffix(".py") for room in rooms} - {"__init__"} == set(floor)
    upward = [
        f"{path}:{line} imports {name}"
        for path in of_analysis()
        for line, name in imports(path)
        if name.startswith("pprofdiff.analysis.")
        and (other := name.split(".")[2]) != (own := room(path))
        and floor[other] >= floor[own]
    ]
    assert upward == []


def of_analysis():
    """Return the modules of analysis."""
    return [path for path in MODULES if part(path) == "analysis"]


def room(path):
    """Return which room of analysis a module is in."""
    return path.relative_to(PACKAGE / "analysis").parts[0].removesuffix(".py")


def test_statistics_know_numbers_only():
    known = {
        name
        for path in of_analysis()
        if room(path) == "judge"
        for _, name in imports(path)
    }
    ours = "pprofdiff.analysis.judge", "pprofdiff.model.csr", "pprofdiff.errors"
    assert [name for name in known if not name.startswith(ours)] == []
