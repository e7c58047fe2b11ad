"""The grammar of ``--fail-on``: how each kind of rule is typed, in one table."""

from __future__ import annotations

from typing import NamedTuple


class RuleForm(NamedTuple):
    """How one kind of ``--fail-on`` rule is typed.

    `subject` says what the rule names, "" for nothing; `limited` whether it ends in a
    limit, `ceiling` and `less` whether the limit may have no sign or a minus; `source`
    whether ``@`` may select a profile or log.
    """

    kind: str
    form: str
    help: str
    example: str
    subject: str = ""
    limited: bool = True
    ceiling: bool = False
    less: bool = False
    source: bool = True


# fmt: off
RULES = (
    RuleForm("cum", "cum:REGEX:LIMIT", "a function that matches, with its callees", r"cum:main\..*:+5%", "the function's pattern"),
    RuleForm("flat", "flat:REGEX:LIMIT", "the same, flat (without its callees)", "flat:encoding/json:+50ms", "the function's pattern"),
    RuleForm("package", "package:REGEX:LIMIT", "a package that matches, with its callees", "package:^main$:+5%", "the package's pattern"),
    RuleForm("group", "group:ID:LIMIT", "a group of runtime costs: gc, alloc, sched …", "group:gc:+2pp", "the group's id"),
    RuleForm("category", "category:ID:LIMIT", "one category: gc.mark.assist, chan …", "category:gc.mark.assist:+1pp", "the category's id"),
    RuleForm("total", "total:LIMIT", "the whole profile", "total:+5%"),
    RuleForm("bench", "bench:UNIT[:REGEX]:LIMIT", "a benchmark, in a unit", "bench:allocs/op:+0%", "the unit", less=True, source=False),
    RuleForm("unit", "unit:REGEX:LIMIT", "cost per op of a benchmark, or of a label's value", "unit:^Encode$:+5%", "the benchmark's pattern", source=False),
    RuleForm("load", "load:rate|failed|mean|p99|max:LIMIT", "a load generator's rate, failures or latency", "load:p99:+10%", "the figure", less=True, source=False),
    RuleForm("figure", "figure:KEY:LIMIT", "a figure of GC logs or traces, by its key in JSON", "figure:gc_cpu_share:+2pp", "the figure's key", ceiling=True, less=True),
    RuleForm("wait", "wait:REGEX|KIND:LIMIT", "waits in traces, by what ended them: timer, gc …", "wait:fdatasync:+10%", "what waits ended at", source=False),
    RuleForm("finding", "finding:major|minor", "a finding that got worse, of this severity or higher", "finding:major", "the severity", limited=False, source=False),
)
# fmt: on
