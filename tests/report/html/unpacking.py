"""The packed call tree, read as the page's script reads it."""

from __future__ import annotations

from base64 import b64decode
from itertools import accumulate

__all__ = ["marks_of", "names_of", "numbers", "shown_of", "unpacked"]


def numbers(data):
    """Return the integers that LEB128 bytes hold."""
    found, value, place = [], 0, 0
    for byte in data:
        value |= (byte & 127) << place
        place += 7
        if byte < 128:
            found.append(value)
            value = place = 0
    assert place == 0
    return found


def signed(number):
    """Return what a zigzag number stands for."""
    return number // 2 if number % 2 == 0 else -(number + 1) // 2


def names_of(document):
    """Return the names, put together as JavaScript slices strings."""
    names, before = [], b""
    for units, rest in zip(
        numbers(b64decode(document["prefix"])), document["suffix"], strict=True
    ):
        before = before[: 2 * units] + rest.encode("utf-16-le")
        assert len(before) >= 2 * units
        names.append(before.decode("utf-16-le"))
    return names


def shown_of(document):
    """Return the names that people read, cut as JavaScript slices strings."""
    return [
        document["short"].get(str(i))
        or name.encode("utf-16-le")[2 * cut :].decode("utf-16-le")
        for i, (name, cut) in enumerate(
            zip(names_of(document), numbers(b64decode(document["cut"])), strict=True)
        )
    ]


def marks_of(document):
    """Return (mark, whether self is beyond noise) of all and each node, and of names."""
    nodes, functions = (
        numbers(b64decode(document[key])) for key in ("marks", "functions")
    )
    return [(mark // 2, bool(mark % 2)) for mark in nodes], functions


def name_ids(document):
    """Return the position of each node's name in `names_of`, None where several are."""
    count = document["count"]
    names = numbers(b64decode(document["nodes"]))[count : 2 * count]
    return [None if name % 2 else name // 2 for name in names]


def unpacked(document):
    """Return (depth, name, folded, base, new, category id) of each node."""
    count = document["count"]
    held = numbers(b64decode(document["nodes"]))
    assert len(held) == 5 * count
    ups, names, base, new, kinds = (held[i * count : (i + 1) * count] for i in range(5))
    depths = list(accumulate(ups, lambda depth, up: depth + 1 - up, initial=-1))[1:]
    ids = [None, *(c[0] for c in document["categories"]), "several"]
    known = names_of(document)
    return [
        (
            depth,
            None if name % 2 else known[name // 2],
            name // 2 if name % 2 else 0,
            signed(b) * document["quantum"][0],
            signed(n) * document["quantum"][1],
            ids[kind],
        )
        for depth, name, b, n, kind in zip(depths, names, base, new, kinds, strict=True)
    ]
