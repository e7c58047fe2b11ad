"""The house: imports point one way, none in a circle; tests stand where code does."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "pprofdiff"
MODULES = sorted(PACKAGE.rglob("*.py"))

# What each part may import of the others, itself apart: only what is below it.
_BOTTOM = {"errors", "units", "_version", "parallel", "palette"}
_MODEL = _BOTTOM | {"model"}
_GORUNTIME = _MODEL | {"goruntime"}
_IDENTITY = _GORUNTIME | {"identity"}
_ANALYSIS = _IDENTITY | {"analysis"}
_PLOTS = _ANALYSIS | {"plots"}
_REPORT = _PLOTS | {"report"}
_INPUTS = _ANALYSIS | {"loaders", "inputs"}
MAY = {
    "errors": set(),
    "units": set(),
    "_version": set(),
    "parallel": set(),
    "palette": set(),
    "demo": set(),
    "model": _BOTTOM,
    "loaders": _MODEL,
    "goruntime": _MODEL,
    "identity": _GORUNTIME,
    "analysis": _IDENTITY | {"cli"},
    "inputs": _INPUTS | {"cli"},
    "plots": _ANALYSIS,
    "report": _PLOTS | {"loaders"},
    "notebook": _REPORT,
    "api": _REPORT | _INPUTS | {"notebook", "cli"},
    "cli": _REPORT | _INPUTS | {"demo", "api"},
    "__init__": {"api", "errors", "_version"},
    "__main__": {"cli"},
}


def part(module):
    """Return which part of the house a module's dotted name (or path) is of."""
    if isinstance(module, Path):
        return module.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return module.split(".")[1] if "." in module else "__init__"


def imports(path):
    """Return (line, dotted name) of every import of ours, wherever it stands."""
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
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


@pytest.mark.parametrize(
    "path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_arrows_point_down(path):
    own = part(path)
    upward = [
        f"{path}:{line}: {own} imports {name}"
        for line, name in imports(path)
        if part(name) not in MAY[own] | {own}
    ]
    assert upward == []


@pytest.mark.parametrize(
    "path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_every_module_says_what_lives_there(path):
    assert ast.get_docstring(ast.parse(path.read_text("utf-8")))


@pytest.mark.parametrize(
    "path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_only_the_command_line_prints(path):
    calls = [
        n
        for n in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(n, ast.Call)
    ]
    printing = [
        n.lineno for n in calls if isinstance(n.func, ast.Name) and n.func.id == "print"
    ]
    assert not printing or path == PACKAGE / "cli" / "main.py"


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
    # browser opens pages; notebooks runs those of the folder notebooks.
    others = {Path("browser"), Path("notebooks"), Path("parity"), Path("traces")}
    assert folders - parts <= others
    with_code = {p.parent for p in MODULES if p.name != "__init__.py"}
    assert {p.relative_to(PACKAGE) for p in with_code} - folders <= {
        Path("model/traces")
    }
