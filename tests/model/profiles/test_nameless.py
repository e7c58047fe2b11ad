"""Functions that the linker placed first have no name in a profile of Go."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from pprofdiff.model.profiles.merge import with_names
from tests.building import CPU, Frame, Place, Sample, built


def profile(*names, file="/b/hash.go", line=17):
    frames = [Frame(name, file, line + 3, line) for name in names]
    return built([Sample((Place((f,), 100),), (1, 10)) for f in frames], CPU)


def names(profile):
    return profile.function_names()


def test_a_function_without_a_name_has_that_of_another_run():
    first, other = profile("m.hash"), profile("")
    assert [names(one) for one in with_names([first, other])] == [["m.hash"]] * 2
    assert names(with_names([other])[0]) == names(other)


def test_other_functions_keep_both_names():
    frames = [
        Frame(name, "/b/hash.go", line + 3, line)
        for name, line in (("", 17), ("f", 30))
    ]
    two = built([Sample((Place((f,), 100),), (1, 10)) for f in frames], CPU)
    functions = two.functions
    strings = (*two.strings, "_Zf")
    system = np.where(functions.start_line == 30, len(two.strings), 0)
    functions = replace(functions, system_name=system.astype(np.int32))
    mangled = replace(two, strings=strings, functions=functions)
    named = with_names([mangled, profile("m.hash")])[0]
    assert names(named) == ["m.hash", "f"]
    assert [named.strings[i] for i in named.functions.system_name] == ["m.hash", "_Zf"]


def test_only_one_name_at_the_same_line_is_taken():
    two = profile("m.hash[int]", "m.hash[string]")
    for others in (
        [two],
        [profile("m.hash", line=18)],
        [profile("m.hash", file="a.go")],
    ):
        assert names(with_names([profile(""), *others])[0]) != ["m.hash"]
        assert with_names([profile(""), *others])[0].strings == profile("").strings
