"""A tree of both sides for the page's script: few bytes, exact integers.

Columns of integers are LEB128 varints (7 bits per byte, lowest first, top bit set on
all but the last) in base64. Signed ones are zigzag: 0, -1, 1, -2 become 0, 1, 2, 3.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup
from numpy.typing import NDArray

from pprofdiff.analysis.call_tree import NO_CATEGORY, SEVERAL, CallTree
from pprofdiff.analysis.judge.scaling import Normalization
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import distinct
from pprofdiff.units import Scale


class Category(NamedTuple):
    """A category of nodes: its id, its label, its row in the list of groups."""

    id: str
    label: str
    group: int


class Drawn(NamedTuple):
    """What a tree is of: its address, title, sides, and what its numbers mean.

    `mode` says how numbers are scaled; `totals` are the raw sums of base and new.
    `groups` are (id, label); an id names a fill.
    """

    id: str
    title: str
    labels: tuple[str, str]
    mode: str
    scale: Scale
    normalization: Normalization
    totals: tuple[int, int]
    groups: Sequence[tuple[str, str]]
    categories: Sequence[Category]


def document(
    of: Drawn,
    tree: CallTree,
    place: Column,
    names: Sequence[str],
    texts: Sequence[str],
    quantum: Sequence[int],
) -> dict[str, Any]:
    """Return a tree as a JSON document; see `flame.packed`.

    `place` is the row in `names` of each of the tree's names, `texts` are what people
    read.
    """
    category, categories = _categories(of, tree)
    columns = (
        np.append(-1, tree.depth[:-1]) + 1 - tree.depth,
        np.where(
            tree.name < 0, 2 * tree.folded.astype(np.int64) + 1, 2 * place[tree.name]
        ),
        zigzag(tree.base_self // quantum[0]),
        zigzag(tree.new_self // quantum[1]),
        category,
    )
    return {
        "id": of.id,
        "title": of.title,
        "mode": of.mode,
        "scale": of.scale._asdict(),
        "factor": list(of.normalization.factors),
        "totals": list(of.totals),
        "quantum": list(quantum),
        "labels": list(of.labels),
        **_front_coded(names),
        **_short_names(names, texts),
        **categories,
        "count": len(tree),
        "nodes": base64(b"".join(varints(column) for column in columns)),
    }


def quantum_of(columns: Sequence[Column]) -> int:
    """Return the largest unit that all numbers are multiples of, at least 1."""
    return max(int(np.gcd.reduce(np.concatenate(columns))), 1)


def embedded(document: dict[str, Any]) -> Markup:
    """Return ASCII JSON that cannot end or comment out its script element."""
    return htmlsafe_json_dumps(document, separators=(",", ":"), allow_nan=False)


def varints(numbers: NDArray[np.integer]) -> bytes:
    """Return integers from 0 to 2**64 - 1 as LEB128."""
    rest = numbers.astype(np.uint64)
    # The bytes of each number, one row per number, and which of them are written.
    groups = np.empty((len(rest), 10), np.uint8)
    written = np.zeros((len(rest), 10), np.bool_)
    written[:, 0] = True
    for i in range(10):
        groups[:, i] = rest & np.uint64(0x7F)
        rest = rest >> np.uint64(7)
        written[:, i + 1 : i + 2] = (rest != 0)[:, None]
        groups[:, i] |= (rest != 0).astype(np.uint8) << 7
    return groups[written].tobytes()


def _categories(of: Drawn, tree: CallTree) -> tuple[Column, dict[str, Any]]:
    used = distinct(tree.category[tree.category >= 0])
    column = np.searchsorted(used, tree.category) + 1
    column[tree.category == NO_CATEGORY] = 0
    column[tree.category == SEVERAL] = len(used) + 1
    return column, {
        "groups": [list(group) for group in of.groups] if len(used) else [],
        "categories": [list(of.categories[i]) for i in used.tolist()],
    }


def _short_names(names: Sequence[str], texts: Sequence[str]) -> dict[str, Any]:
    """Return how names are shown: most without their package's path."""
    ends = [name.endswith(text) for name, text in zip(names, texts, strict=True)]
    cut = [
        _units(name[: len(name) - len(text)]) if end else 0
        for name, text, end in zip(names, texts, ends, strict=True)
    ]
    return {
        "cut": base64(varints(np.array(cut, np.int64))),
        "short": {str(i): texts[i] for i, end in enumerate(ends) if not end},
    }


def _front_coded(names: Sequence[str]) -> dict[str, Any]:
    """Return sorted names, each without the prefix it shares with the one before."""
    shared = [_shared(a, b) for a, b in pairwise(["", *names])]
    suffixes = [name[n:] for name, n in zip(names, shared, strict=True)]
    units = [_units(name[:n]) for name, n in zip(names, shared, strict=True)]
    return {"prefix": base64(varints(np.array(units, np.int64))), "suffix": suffixes}


def _units(text: str) -> int:
    """Return a text's length in JavaScript, in UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _shared(one: str, other: str) -> int:
    known, most = 0, min(len(one), len(other))
    while known < most:
        middle = (known + most + 1) // 2
        if one[known:middle] == other[known:middle]:
            known = middle
        else:
            most = middle - 1
    return known


def zigzag(numbers: Column) -> NDArray[np.uint64]:
    """Return signed integers as unsigned ones that are small near 0."""
    return ((numbers << 1) ^ (numbers >> 63)).view(np.uint64)


def base64(data: bytes) -> str:
    """Return bytes as base64 text."""
    return b64encode(data).decode("ascii")
