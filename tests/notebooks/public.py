"""What Python code uses of ours that is not public."""

from __future__ import annotations

import ast

import pprofdiff
import pprofdiff.plots

PUBLIC = {
    "pprofdiff",
    "pprofdiff.plots",
    *(f"pprofdiff.{name}" for name in pprofdiff.__all__),
    *(f"pprofdiff.plots.{name}" for name in pprofdiff.plots.__all__),
}
# Modules that have the name of a public function.
MODULES = {"pprofdiff.diff"}
# Named tuples have methods that begin with an underscore.
OF_TUPLES = {"_asdict", "_fields", "_make", "_replace"}


def imported(tree: ast.AST) -> set[str]:
    """Return the dotted names of what is imported."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{name.name}" for name in node.names}
    return found


def not_public(tree: ast.AST) -> list[str]:
    """Return, sorted, what is used of ours by other than a public name.

    What an object has counts too, if its name begins with an underscore.
    """
    known = _names(tree)
    modules = {
        name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for name in node.names
    }
    wrong = {name for name in imported(tree) if _ours(name) and name not in PUBLIC}
    wrong |= modules & MODULES
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute):
            continue
        whole = _dotted(node, known)
        if whole and _ours(whole) and not _begins_public(whole):
            wrong.add(whole)
        if node.attr.startswith("_") and node.attr not in OF_TUPLES:
            wrong.add(node.attr)
    return sorted(wrong)


def _names(tree: ast.AST) -> dict[str, str]:
    """Return what the names that imports bind stand for."""
    known = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                first = name.name.partition(".")[0]
                known[name.asname or first] = name.name if name.asname else first
        elif isinstance(node, ast.ImportFrom):
            for name in node.names:
                known[name.asname or name.name] = f"{node.module}.{name.name}"
    return known


def _dotted(node: ast.expr, known: dict[str, str]) -> str | None:
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value, known)
        return owner and f"{owner}.{node.attr}"
    return None


def _ours(name: str) -> bool:
    return name.partition(".")[0] == "pprofdiff"


def _begins_public(name: str) -> bool:
    """Tell whether a name is public, or of something public that is no module."""
    parts = name.split(".")
    depth = 3 if parts[:2] == ["pprofdiff", "plots"] else 2
    return ".".join(parts[:depth]) in PUBLIC
