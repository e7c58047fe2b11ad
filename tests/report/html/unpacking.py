"""The packed call tree, read as the page's script reads it."""

from __future__ import annotations

from base64 import b64decode
from itertools import accumulate


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
    cuts = numbers(b64decode(document["cut"]))
    return [
        document["short"].get(str(i))
        or name.encode("utf-16-le")[2 * cut :].decode("utf-16-le")
        for i, (name, cut) in enumerate(zip(names_of(document), cuts, strict=True))
    ]


def marks_of(document):
    """Return (mark, whether self is beyond noise) of all and each node, and of names."""
    nodes, functions = (
        numbers(b64decode(document[key])) for key in ("marks", "functions")
    )
    return [(mark // 2, bool(mark % 2)) for mark in nodes], functions


def hidden_of(document):
    """Return (cum, flat), each (base, new), that each name has outside the nodes."""
    count = len(document["suffix"])
    if document["hidden"] is None:
        return [((0, 0), (0, 0))] * count
    known = list(map(signed, numbers(b64decode(document["hidden"]))))
    assert len(known) == 4 * count
    columns = [
        [value * document["quantum"][i % 2] for value in known[i * count :][:count]]
        for i in range(4)
    ]
    return [((a, b), (c, d)) for a, b, c, d in zip(*columns, strict=True)]


def labelled_of(document):
    """Return {key: {value: [(base, new) of each node itself]}} of the labels."""
    known = {}
    for label in document["filters"]:
        words = numbers(b64decode(label["nodes"]))
        values, count = label["values"], document["count"]
        kinds, sums = words[:count], [signed(word) for word in words[count:]]
        several = [i for i, kind in enumerate(kinds) if kind > len(values)]
        assert len(sums) == 2 * len(several) * len(values)
        sides = sums[: len(sums) // 2], sums[len(sums) // 2 :]
        nodes = unpacked(document)
        by_value = {value: [(0, 0)] * count for value in values}
        for i, kind in enumerate(kinds):
            if 0 < kind <= len(values):
                by_value[values[kind - 1]][i] = nodes[i][3:5]
        for place, i in enumerate(several):
            for at, value in enumerate(values, place * len(values)):
                by_value[value][i] = tuple(
                    side[at] * unit
                    for side, unit in zip(sides, document["quantum"], strict=True)
                )
        known[label["key"]] = by_value
    return known


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
