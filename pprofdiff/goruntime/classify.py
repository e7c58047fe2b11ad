"""Classify CPU stacks: each gets exactly one category, and the frame that decided it.

Rules are looked up once per function name; stacks are classified by array operations.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.goruntime.names import is_of_c, lookup, may_be_of_c
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.arrays import Codes, Column, Integers, Mask
from pprofdiff.model.csr import chunks

if TYPE_CHECKING:
    from collections.abc import Sequence

_CHUNK_FRAMES = 1 << 19
_NAMES_CACHED = 1 << 16
_TRANSPARENT, _DROPPED, _PROGRAM = 0, 254, 255

Int8 = NDArray[np.int8]
Int16 = NDArray[np.int16]


class FunctionTraits(Struct, frozen=True, eq=False):
    """What the rules say about function names, one element per name.

    - `code` (uint8): 0 for names without meaning for a stack, 1 + position in
      `Rules.tiers` for runtime functions, 254 for frames that are dropped at the leaf,
      255 for functions of the program.
    - `rule` (int16): position in `Rules.rules`, -1 if no rule knows the name.
    - `leaf_kind` (int8): position in `Rules.leaf_kinds`, 0 for none.
    """

    code: Codes
    rule: Int16
    leaf_kind: Int8


class Classification(Struct, frozen=True, eq=False):
    """The classification of stacks, one element per stack.

    `category` (int16) is a position in `Rules.categories`, `rule` (int16) in
    `Rules.rules`, `leaf_kind` (int8) in `Rules.leaf_kinds`. `anchor` and `payer` are
    positions in the classified `frame_functions` (int64), -1 for none: the frame whose
    rule decided, and the call site, the non-runtime frame nearest the leaf.
    """

    category: Int16
    rule: Int16
    anchor: Column
    leaf_kind: Int8
    payer: Column


def compile_traits(names: Sequence[str]) -> FunctionTraits:
    """Return what the rules say about each of `names`, in order."""
    code = np.full(len(names), _PROGRAM, dtype=np.uint8)
    rule = np.full(len(names), -1, dtype=np.int16)
    leaf_kind = np.zeros(len(names), dtype=np.int8)
    table = rules()
    code[[row for row, name in enumerate(names) if "." not in name]] = _TRANSPARENT
    if may_be_of_c("\n".join(names)):
        code[list(map(is_of_c, names))] = _TRANSPARENT
    for row, name in table.heads.matching(names):
        if name not in table.program:
            code[row], rule[row], leaf_kind[row] = _traits_of(name)
    return FunctionTraits(code, rule, leaf_kind)


@lru_cache(_NAMES_CACHED)
def _traits_of(name: str) -> tuple[int, int, int]:
    table = rules()
    candidate, rule = lookup(name)
    code = _PROGRAM
    if candidate in table.dropped_leaves:
        code = _DROPPED
    elif rule >= 0:
        code = 1 + table.tiers.index(table.rules[rule].tier)
    elif "." not in name or table.transparent.find(candidate) >= 0:
        code = _TRANSPARENT
    return code, rule, max(table.leaf_kind_table.find(candidate), 0)


def classify(
    traits: FunctionTraits, stack_offsets: Column, frame_functions: Integers
) -> Classification:
    """Return the classification of S stacks.

    A stack without frames, or with only dropped ones, gets rule ``rt.other``; a stack
    with only meaningless names gets rule ``user``. Stack i is rows
    ``stack_offsets[i]:stack_offsets[i+1]`` of `frame_functions`: the function of each
    frame, leaf first, inlined functions included, as positions in the names that
    `traits` was made from, -1 for none.
    """
    arrays = _RuleArrays.of_rules()
    # With a neutral last row, for index -1.
    traits = FunctionTraits(
        np.append(traits.code, np.uint8(_TRANSPARENT)),
        np.append(traits.rule, np.int16(-1)),
        np.append(traits.leaf_kind, np.int8(0)),
    )
    parts = []
    for first, last in chunks(stack_offsets, _CHUNK_FRAMES):
        base, top = int(stack_offsets[first]), int(stack_offsets[last])
        frames = _Frames.of(traits, arrays, frame_functions[base:top])
        offsets = stack_offsets[first : last + 1] - base
        parts.append(_classify_chunk(frames, offsets[:-1], offsets[1:], base))
    if not parts:
        none = np.empty(0, dtype=np.int64)
        small = none.astype(np.int16)
        return Classification(small, small, none, none.astype(np.int8), none)
    return Classification(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in Classification.__struct_fields__
        )
    )


class _RuleArrays(Struct, frozen=True, eq=False):
    """The rules as arrays over their positions.

    `by_leaf_kind` (rules × kinds) holds the rule that takes over; `yields` pairs a rule
    with a mask of the rules it yields to, ordered so that one pass suffices.
    """

    category: Int16
    by_leaf_kind: Int16
    yields: tuple[tuple[int, Mask], ...]
    tiers: int
    user: int
    other: int

    @classmethod
    @cache  # as stacks come in dozens of batches
    def of_rules(cls) -> _RuleArrays:
        table = rules()
        index = {rule.id: i for i, rule in enumerate(table.rules)}
        kinds = {kind.id: i for i, kind in enumerate(table.leaf_kinds)}
        categories = [table.categories.index(rule.category) for rule in table.rules]
        same = np.arange(len(index), dtype=np.int16)
        by_kind = np.repeat(same[:, None], len(kinds), axis=1)
        for rule in table.rules:
            for kind, target in rule.by_leaf_kind:
                by_kind[index[rule.id], kinds[kind]] = index[target]
        yields = tuple(
            (index[rule.id], np.array([r.id in rule.yields_to for r in table.rules]))
            for rule in table.rules
            if rule.yields_to
        )
        return cls(
            category=np.array(categories, dtype=np.int16),
            by_leaf_kind=by_kind,
            yields=yields,
            tiers=len(table.tiers),
            user=index["user"],
            other=index["rt.other"],
        )


class _Frames(Struct, frozen=True, eq=False):
    """The frames of a chunk of stacks that fits the CPU caches.

    `code` is the trait of every frame; `known` lists the positions of frames in a tier,
    `known_code` and `known_rule` their tier and rule.
    """

    traits: FunctionTraits
    arrays: _RuleArrays
    functions: Integers
    code: Codes
    known: Column
    known_code: Codes
    known_rule: Int16

    @classmethod
    def of(
        cls, traits: FunctionTraits, arrays: _RuleArrays, functions: Integers
    ) -> _Frames:
        code = traits.code[functions]
        known = np.flatnonzero(code - np.uint8(1) < arrays.tiers)
        return cls(
            traits=traits,
            arrays=arrays,
            functions=functions,
            code=code,
            known=known,
            known_code=code[known],
            known_rule=traits.rule[functions[known]],
        )


def _classify_chunk(
    frames: _Frames, starts: Column, ends: Column, base: int
) -> Classification:
    """Classify the stacks `starts[i]:ends[i]` of `frames`; `base` is added back."""
    leaf = _leaves(frames, starts, ends)
    payer = _first_in_range(np.flatnonzero(frames.code == _PROGRAM), starts, ends)
    anchor, rule = _decide(frames, leaf, payer, ends)
    leaf_kind = np.zeros(len(starts), dtype=np.int8)
    present = np.flatnonzero(leaf >= 0)
    leaf_kind[present] = frames.traits.leaf_kind[frames.functions[leaf[present]]]
    rule = frames.arrays.by_leaf_kind[rule, leaf_kind]
    for positions in (anchor, payer):
        positions[positions >= 0] += base
    category = frames.arrays.category[rule]
    return Classification(category, rule, anchor, leaf_kind, payer)


def _leaves(frames: _Frames, starts: Column, ends: Column) -> Column:
    leaf = np.where(starts < ends, starts, -1)
    present = np.flatnonzero(leaf >= 0)
    rows = present[frames.code[leaf[present]] == _DROPPED]
    if len(rows):
        kept = np.flatnonzero(frames.code != _DROPPED)
        leaf[rows] = _first_in_range(kept, starts[rows], ends[rows])
    return leaf


def _decide(
    frames: _Frames, leaf: Column, payer: Column, ends: Column
) -> tuple[Column, Int16]:
    anchor = np.full(len(leaf), -1, dtype=np.int64)
    rule = np.full(len(leaf), frames.arrays.other, dtype=np.int16)
    rows = np.flatnonzero(leaf >= 0)
    limits = ends
    for tier in range(1, frames.arrays.tiers + 1):
        frame, frame_rule = _search(frames, tier, leaf[rows], limits[rows])
        hit = frame >= 0
        anchor[rows[hit]] = frame[hit]
        rule[rows[hit]] = frame_rule[hit]
        rows = rows[~hit]
        if tier == 1:
            limits = np.where(payer < 0, ends, payer)
    rule[rows] = frames.arrays.user
    anchor[rows] = np.where(payer[rows] < 0, leaf[rows], payer[rows])
    return anchor, rule


def _search(
    frames: _Frames, tier: int, low: Column, high: Column
) -> tuple[Column, Int16]:
    """Return the frame that decides in each range [low, high), and its rule.

    That is the range's first frame in `tier` or, if its rule yields to others, the
    first later frame with such a rule. The position is -1 for none.
    """
    mine = frames.known_code == tier
    positions, position_rules = frames.known[mine], frames.known_rule[mine]
    first = _first_in_range(positions, low, high)
    rule = frames.traits.rule[frames.functions[first]]
    for yielding, accepts in frames.arrays.yields:
        asked = np.flatnonzero((rule == yielding) & (first >= 0))
        if len(asked):
            heirs = positions[accepts[position_rules]]
            heir = _first_in_range(heirs, first[asked] + 1, high[asked])
            asked, heir = asked[heir >= 0], heir[heir >= 0]
            first[asked] = heir
            rule[asked] = frames.traits.rule[frames.functions[heir]]
    return first, rule


def _first_in_range(positions: Column, low: Column, high: Column) -> Column:
    if not len(positions):
        return np.full(len(low), -1, dtype=np.int64)
    place = np.searchsorted(positions, low)
    first = positions[np.minimum(place, len(positions) - 1)]
    inside = (place < len(positions)) & (first < high)
    return np.where(inside, first, -1)
