"""Shapes of JSON: what a report's fields hold, checked place by place."""

from __future__ import annotations

import math

INT, FLOAT, SHARE, NUMBER = "int", "float", "share", "number"
TEXT, FLAG, ANY = "text", "flag", "any"
_TYPES = {
    INT: (int,), FLOAT: (float,), SHARE: (float,), NUMBER: (int, float),
    TEXT: (str,), FLAG: (bool,),
}  # fmt: skip

INPUT = {
    "path": TEXT, "kind": TEXT, "samples": "int?", "go_version": "text?", "build_id": "text?",
    "duration_ns": "int?", "time_ns": "int?", "period": "int?", "saved_to": "text?",
    "cycles": "int?", "expected": "int?", "results": "int?", "events": "int?", "per_second": "float?",
}  # fmt: skip


def check(value, shape, at="report"):
    """Check that a value has a shape: a word, fields, [shape of each], or (shape,) or null.

    A word that ends in ? may be null, a field that does may be missing; {} is any object.
    """
    if isinstance(shape, tuple) or str(shape).endswith("?"):
        if value is not None:
            check(value, shape[0] if isinstance(shape, tuple) else shape[:-1], at)
    elif isinstance(shape, list):
        assert isinstance(value, list), at
        for i, one in enumerate(value):
            check(one, shape[0], f"{at}[{i}]")
    elif isinstance(shape, dict):
        assert isinstance(value, dict), at
        fields = {name.removesuffix("?"): own for name, own in shape.items()}
        needed = {name for name in shape if not name.endswith("?")}
        assert not shape or needed <= set(value) <= set(fields), (at, set(value))
        for name in fields.keys() & value.keys():
            check(value[name], fields[name], f"{at}.{name}")
    elif shape != ANY:
        # True and 1 are not the same thing.
        assert type(value) in _TYPES[shape], (at, value)
        assert not isinstance(value, float) or math.isfinite(value), at
        assert shape != SHARE or value >= 0, (at, value)
