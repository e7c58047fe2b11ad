"""One profile by itself: flat and cum by function, stacks, runtime categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pprofdiff.analysis.ledger.codes import Attribution
from pprofdiff.analysis.profiles.filters import pruned_frames
from pprofdiff.analysis.profiles.kinds import is_cpu, is_state
from pprofdiff.analysis.profiles.rows import NO_STACK, SampleValues, summed_rows
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import sums
from pprofdiff.model.profiles.profile import Profile, stack_names

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ProfileSums:
    """One profile's flat and cum by function, and its sums by category, in `unit`.

    The last function is for samples without a stack. `categories` has one element per
    entry of ``rules().categories`` and adds up to `total`; None if stacks have no
    runtime categories.
    """

    names: list[str]
    files: list[str]
    flat: Column
    cum: Column
    categories: Column | None
    unit: str
    total: int

    def of_groups(self) -> Column:
        """Return the sums by group of ``rules().groups``, zeros without categories."""
        known = rules()
        rows = np.asarray(known.group_rows, np.int64)
        if self.categories is None:
            return np.zeros(len(known.groups), np.int64)
        return sums(rows, self.categories, len(known.groups))

    def functions_frame(self) -> pd.DataFrame:
        """Return the functions with a value, by descending flat, cum, then name."""
        import pandas as pd

        place = sorted(range(len(self.names)), key=self.names.__getitem__)
        rank = np.empty(len(place), np.int64)
        rank[place] = np.arange(len(place))
        order = np.lexsort((rank, -np.abs(self.cum), -np.abs(self.flat)))
        order = order[(self.flat[order] != 0) | (self.cum[order] != 0)]
        rows = order.tolist()
        names = [self.names[i] for i in rows]
        return pd.DataFrame(
            {
                "flat": self.flat[order],
                "cum": self.cum[order],
                "file": [self.files[i] for i in rows],
            },
            index=pd.Index(names, name="function", dtype=object),
        )

    def categories_frame(self) -> pd.DataFrame:
        """Return one row per category with a value: group, value, share of total."""
        import pandas as pd

        known = rules()
        values = np.zeros(0, np.int64) if self.categories is None else self.categories
        rows = np.flatnonzero(values)
        ids = [known.categories[i] for i in rows.tolist()]
        groups = [known.groups[known.group_rows[i]].id for i in rows.tolist()]
        return pd.DataFrame(
            {
                "group": pd.Series(groups, dtype="str").to_numpy(),
                "value": values[rows],
                "share": values[rows] / max(self.total, 1),
            },
            index=pd.Index(ids, name="category", dtype=object),
        )


def profile_sums(profile: Profile, sample_type: str | int | None = None) -> ProfileSums:
    """Return the cost of a profile's functions and categories in one sample type.

    Raises UsageError for none, as `Profile.sample_index`. Frames that the profile says
    to drop are left out.
    """
    column = profile.sample_index(sample_type)
    plain = pruned_frames(profile) if profile.drop_frames else profile
    values = plain.values[:, column]
    classified = is_cpu(profile) or is_state(profile)
    side = SampleValues(plain, values[:, None])
    summed = summed_rows(side, "functions", classified=classified)
    categories = None
    if isinstance(summed.ends, Attribution):
        count = len(rules().categories)
        categories = sums(summed.ends.category, values, count)
    return ProfileSums(
        summed.rows.names,
        summed.rows.files,
        summed.flat[:, 0],
        summed.cum[:, 0],
        categories,
        profile.sample_types[column].unit,
        int(values.sum()),
    )


def stacks_frame(profile: Profile) -> pd.DataFrame:
    """Return one row per distinct stack, and one int64 column per sample type.

    Index: functions joined with ``;``, root first. Rows are sorted by the default
    sample type, largest first.
    """
    import pandas as pd

    stacks = [stack or NO_STACK for stack in stack_names(profile)[0]]
    columns = {k.type: profile.values[:, i] for i, k in enumerate(profile.sample_types)}
    index = pd.Index(stacks, name="stack", dtype=object)
    frame = pd.DataFrame(columns, index).groupby(level=0).sum()
    by = profile.sample_types[profile.sample_index()].type
    return frame.sort_values(by, ascending=False, kind="stable")
