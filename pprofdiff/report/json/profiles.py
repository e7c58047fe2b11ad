"""Profiles in the JSON report: every function, category and call site, raw."""

from __future__ import annotations

import numpy as np

from pprofdiff.analysis.judge.judgement import Judgement
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.dimensions import paid_by_site
from pprofdiff.analysis.profiles.tables import STATUSES, Status, Table
from pprofdiff.goruntime.rules import rules
from pprofdiff.identity.model import Identity, PairedBy
from pprofdiff.report.json import Row, scaled_row


def profile_row(diff: ProfileDiff) -> Row:
    """Return a comparison of profiles as one entry of ``comparisons``."""
    by = diff.normalization
    return {
        "kind": "profile",
        "name": diff.name,
        "sample_type": diff.sample_type.type,
        "unit": diff.unit,
        "normalization": {
            "mode": by.mode,
            "base_factor": by.base_factor,
            "new_factor": by.new_factor,
            "reason": by.reason,
            "inferred_work": None if by.inferred is None else by.inferred._asdict(),
        },
        "total": _raw(*diff.totals),
        "groups": _groups(diff) if diff.classified else [],
        "categories": _categories(diff) if diff.classified else [],
        "leaf_kinds": _leaf_kinds(diff) if diff.classified else [],
        "functions": _functions(diff),
        "blame": _blame(diff) if diff.classified else [],
    }


def _raw(base: int, new: int) -> Row:
    return {"base": base, "new": new, "delta": new - base}


def _groups(diff: ProfileDiff) -> list[Row]:
    sums = diff.ledger.every("group")
    return [
        {"id": group.id, "label": group.label, **_raw(base, new)}
        for group, base, new in zip(
            rules().groups, sums.base.tolist(), sums.new.tolist(), strict=True
        )
    ]


def _categories(diff: ProfileDiff) -> list[Row]:
    sums = diff.ledger.every("category")
    ids, by = rules().categories, diff.normalization
    judged = diff.judge_runs(sums.runs)
    return [
        {
            "id": name,
            **_raw(base, new),
            **scaled_row(by, base, new),
            "significance": _significance(judged, i),
        }
        for i, (name, base, new) in enumerate(
            zip(ids, sums.base.tolist(), sums.new.tolist(), strict=True)
        )
    ]


def _leaf_kinds(diff: ProfileDiff) -> list[Row]:
    ids, kinds = rules().categories, rules().leaf_kinds
    sums = diff.ledger.by("category", "leaf_kind")
    cells = (sums["category"], sums["leaf_kind"], sums.base, sums.new)
    return [
        {"category": ids[category], "kind": kinds[kind].id, **_raw(base, new)}
        for category, kind, base, new in zip(
            *(column.tolist() for column in cells), strict=True
        )
    ]


def _functions(diff: ProfileDiff) -> list[Row]:
    table = diff.table("functions")
    rows = table.take(table.order("flat", "cum"))
    status = [STATUSES[i] for i in rows.status().tolist()]
    flat, cum = rows.judge("flat"), rows.judge("cum")
    columns = rows.columns()
    values = zip(*columns.values(), strict=True)
    out = []
    for i, row in enumerate(values):
        entry: Row = {"name": rows.names[i]}
        if rows.base_names[i] is not None:
            entry["base_name"] = rows.base_names[i]
        entry |= {"file": rows.files[i] or None, "status": status[i]}
        entry |= _pairing(rows, i, status[i], diff.identity)
        entry |= dict(zip(columns, row, strict=True))
        entry["significance"] = (
            None
            if flat is None
            else {"flat": _significance(flat, i), "cum": _significance(cum, i)}
        )
        out.append(entry)
    return out


def _pairing(rows: Table, row: int, status: Status, identity: Identity) -> Row:
    """Return how a function was paired, None if only one side has it."""
    name = rows.names[row]
    before = rows.base_names[row]
    if before is None and status != "both":
        return {"paired_by": None}
    pair = identity.pair(before or name, name)
    by: PairedBy = pair.by
    known: Row = {"paired_by": by}
    if pair.probability < 1:
        known["paired_probability"] = round(pair.probability, 3)
    return known


def _significance(judged: Judgement | None, row: int) -> Row | None:
    """Return one row's significance, or None without a noise model."""
    if judged is None:
        return None
    return {
        "z": float(np.round(judged.z[row], 4)),
        "q": float(judged.q[row]),
        "noise": bool(judged.noise[row]),
    }


def _blame(diff: ProfileDiff) -> list[Row]:
    sums = paid_by_site(diff.ledger)
    ids, names = rules().categories, diff.paired_functions.names
    delta = diff.normalization.delta(sums.base, sums.new)
    order = np.argsort(-np.abs(delta), kind="stable").tolist()
    columns = [
        column.tolist() for column in (*sums.codes.values(), sums.base, sums.new)
    ]
    return [
        {
            "category": ids[columns[0][i]],
            "function": names[columns[1][i]],
            "caller": names[columns[2][i]] if columns[2][i] >= 0 else None,
            **_raw(columns[3][i], columns[4][i]),
        }
        for i in order
    ]
