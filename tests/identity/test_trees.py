"""Two source trees decide which function is which, whatever the samples look like."""

from __future__ import annotations

import os
import re
from functools import partial

import pytest
from hypothesis import strategies as st
from msgspec.structs import replace

from pprofdiff.analysis.source.declarations import trees_of
from pprofdiff.identity.deciding import identify
from pprofdiff.inputs.sources.lookup import sources_of
from tests.analysis.building import given
from tests.identity.test_deciding import sampled
from tests.repository import repository

MODULE = "module example.com/shop\n\ngo 1.24\n"
PACKAGE = "example.com/shop"
ADD = """func Add(a, b []uint64) (sum []uint64) {
	for i := range a {
		sum = append(sum, a[i]+b[i]) // one by one
	}
	return sum
}
"""
MUL = """func Mul(a, b []uint64, most int) uint64 {
	total := uint64(1)
	for i, x := range a {
		if i > most {
			panic("too many: }")
		}
		total *= x ^ b[i]
	}
	return total
}
"""
WALK = """func (t *Tree) Walk(visit func(int) bool) {
	go t.log("walk")
	each(t.left, func(n int) {
		if visit(n) {
			t.seen++
		}
	})
	each(t.right, func(n int) {
		defer func() {
			recover()
		}()
		t.hash = t.hash*31 + n
	})
}
"""


def written(folder, files):
    """Return a folder with these files, in a module; a text is put into package p."""
    for path, text in {"go.mod": MODULE, **files}.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        named = (
            text if path == "go.mod" or "package " in text else f"package p\n\n{text}"
        )
        place.write_text(named, "utf-8")
    return folder


def begins(folder, path, text, nth=0):
    """Return the line in which a text stands in a file, from 1."""
    lines = (folder / path).read_text("utf-8").split("\n")
    return [i for i, line in enumerate(lines, 1) if text in line][nth]


class Built:
    """A build: its tree, and the functions in its profile, with file and line."""

    def __init__(self, folder, files, functions):
        self.folder = written(folder, files)
        starts, stacks, self.files = {}, [], {}
        for name, (path, text, *nth) in functions.items():
            full = f"{PACKAGE}{name}"
            starts[full] = begins(self.folder, path, text, *nth)
            stacks.append((30, "b.Hash:2", f"{full}:1", "main.main"))
            self.files[full] = f"/build/shop/{path}"
        self.profile = self._at(sampled(*stacks, starts=starts))

    def _at(self, made):
        """Return a profile with each function in its own file."""
        names, strings = made.function_names(), list(made.strings)
        for row, name in enumerate(names):
            strings.append(self.files.get(name, "/elsewhere/x.go"))
            made.functions.filename[row] = len(strings) - 1
        return replace(made, strings=tuple(strings))


def decided(tmp_path, base, new, *, how="folder"):
    """Return the identity of two builds, each (files, functions), by their trees."""
    sides = [
        Built(tmp_path / n, *one) for n, one in zip("ab", (base, new), strict=True)
    ]
    if how == "folder":
        named = os.pathsep.join(str(side.folder) for side in sides)
        sources = sources_of("", "", named)
    else:
        repo = repository(tmp_path / "repo")
        refs = []
        for side in sides:
            for old in repo.folder.rglob("*.go"):
                old.unlink()
            files = [f for f in side.folder.rglob("*") if f.is_file()]
            text = {
                str(f.relative_to(side.folder)): f.read_text("utf-8") for f in files
            }
            refs.append(repo.commit("x", text))
        sources = sources_of("..".join(refs), str(repo.folder), "")
    trees = partial(trees_of, sources)
    return identify(*([side.profile] for side in sides), trees=trees)


def paired(identity):
    """Return the names that are one, less the path of the module, and by what."""
    return {
        (pair.base.removeprefix(PACKAGE), name.removeprefix(PACKAGE)): pair.by
        for name, pair in identity.pairs.items()
    }


def named(text, name):
    """Return a function's text under another name."""
    return re.sub(r"\b(Add|Mul|Walk)\b", name, text)


@pytest.mark.parametrize("how", ["folder", "git"])
def test_what_both_trees_have_is_not_renamed(tmp_path, how):
    """Each is sampled in one build alone, from the same place, in the same lines."""
    files = {"m.go": ADD + "\n" + named(ADD, "AddSlow") + "\n" + MUL}
    after = {"m.go": files["m.go"].replace("^", "|")}
    base, new = {".Add": ("m.go", "func Add(")}, {".AddSlow": ("m.go", "func AddSlow(")}
    identity = decided(tmp_path, (files, base), (after, new), how=how)
    assert paired(identity) == {}
    assert identity.base_of(f"{PACKAGE}.AddSlow") is None


RENAMES = {
    "renamed": ({"m.go": ADD}, {"m.go": named(ADD, "Sum")}, ".Add", ".Sum", "source"),
    "renamed and changed": (
        {"m.go": MUL},
        {"m.go": named(MUL, "Product").replace("i > most", "i >= most+1")},
        ".Mul", ".Product", "source",
    ),
    "moved to another file": (
        {"m.go": ADD + MUL}, {"m.go": ADD, "n.go": named(MUL, "Times")},
        ".Mul", ".Times", "source",
    ),
    "moved to another package": (
        {"m.go": ADD, "sub/s.go": MUL}, {"m.go": "", "sub/s.go": MUL + "\n" + ADD},
        ".Add", "/sub.Add", "package",
    ),
    "package renamed": (
        {"old/s.go": MUL}, {"now/s.go": MUL}, "/old.Mul", "/now.Mul", "package",
    ),
    "module renamed": (
        {"m.go": MUL},
        {"go.mod": "module example.com/shop/v2\n", "m.go": MUL.replace("i > most", "i >= most")},
        ".Mul", "/v2.Mul", "package",
    ),
    "letters": ({"m.go": ADD}, {"m.go": named(ADD, "add")}, ".Add", ".add", "letter_case"),
    "a method": (
        {"m.go": "func walk(t *Tree, " + WALK.partition("Walk(")[2]},
        {"m.go": WALK}, ".walk", ".(*Tree).Walk", "source",
    ),
    "a method with another text": (
        {"m.go": "func walk(t *Tree) int {\n\treturn t.size + 1\n}\n"},
        {"m.go": WALK.replace("Walk(", "walk(")}, ".walk", ".(*Tree).walk", "source",
    ),
    "of a value": (
        {"m.go": WALK}, {"m.go": WALK.replace("*Tree", "Tree")},
        ".(*Tree).Walk", ".Tree.Walk", "source",
    ),
    "generic": (
        {"m.go": ADD}, {"m.go": ADD.replace("Add(", "Add[T any](").replace("uint64", "T")},
        ".Add", ".Add[go.shape.uint64]", "type_arguments",
    ),
}  # fmt: skip


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("how", ["folder", "git"])
@pytest.mark.parametrize("case", RENAMES)
def test_what_one_tree_alone_has_was_renamed_or_moved(tmp_path, case, how):
    before, after, old, now, by = RENAMES[case]

    def functions(files, name):
        plain = re.sub(r"\[.*\]", "", name).rpartition(".")[2]
        for path, text in files.items():
            for line in text.split("\n"):
                if re.match(rf"func (\([^)]*\) )?{plain}[\[(]", line):
                    return {name: (path, line)}
        raise AssertionError(name)

    sides = (before, functions(before, old)), (after, functions(after, now))
    assert paired(decided(tmp_path, *sides, how=how)) == {(old, now): by}
    (tmp_path / "back").mkdir()
    there = decided(tmp_path / "back", *sides[::-1], how=how)
    assert paired(there) == {(now, old): by}


REST = '\tif i > most {\n\t\t\tpanic("too many: }")\n\t\t}\n'
CHECK = "func check(i, most int) {\n" + REST.replace("\t\t", "\t") + "}\n"


@pytest.mark.parametrize(
    ("before", "after", "old", "now"),
    [
        # It is split off.
        (MUL, MUL.replace(REST, "\tcheck(i, most)\n") + "\n" + CHECK, ".Mul", ".check"),
        # Two are alike.
        (ADD, named(ADD, "Sum") + "\n" + named(ADD, "Total"), ".Add", ".Sum"),
        # Many have such a line.
        (
            "func (s a) Len() int { return len(s) }\n",
            "func (s b) Size() int { return len(s) }\n",
            ".a.Len",
            ".b.Size",
        ),
    ],
)  # fmt: skip
def test_what_is_not_known_to_be_renamed_is_new(tmp_path, before, after, old, now):
    sides = [
        ({"m.go": text}, {name: ("m.go", f" {name.rpartition('.')[2]}(")})
        for text, name in ((before, old), (after, now))
    ]
    assert after.count("check(") in (0, 2)
    assert paired(decided(tmp_path, *sides)) == {}


CLOSURES = {
    ".(*Tree).Walk.gowrap1": ("m.go", "go t.log"),
    ".(*Tree).Walk.func1": ("m.go", "func(n int) {", 0),
    ".(*Tree).Walk.func2": ("m.go", "func(n int) {", 1),
    ".(*Tree).Walk.func2.1": ("m.go", "defer func()"),
}


@pytest.mark.parametrize("how", ["folder", "git"])
def test_closures_follow_their_text(tmp_path, how):
    """One is put before the others, and one of these changes."""
    more = "	each(t.up, func(n int) {\n		t.up = nil\n	})\n	each(t.left,"
    text = WALK.replace("	each(t.left,", more).replace("t.hash*31", "t.hash*37")
    after = {
        ".(*Tree).Walk.gowrap1": ("m.go", "go t.log"),
        ".(*Tree).Walk.func1": ("m.go", "func(n int) {", 0),
        ".(*Tree).Walk.func2": ("m.go", "func(n int) {", 1),
        ".(*Tree).Walk.func3": ("m.go", "func(n int) {", 2),
        ".(*Tree).Walk.func3.1": ("m.go", "defer func()"),
    }
    identity = decided(
        tmp_path, ({"m.go": WALK}, CLOSURES), ({"m.go": text}, after), how=how
    )
    walk = ".(*Tree).Walk."
    assert paired(identity) == {
        (f"{walk}func1", f"{walk}func2"): "closure",
        (f"{walk}func2", f"{walk}func3"): "closure",
        (f"{walk}func2.1", f"{walk}func3.1"): "closure",
    }
    assert identity.base_of(f"{PACKAGE}{walk}func1") is None
    assert identity.base_of(f"{PACKAGE}{walk}gowrap1") == f"{PACKAGE}{walk}gowrap1"


def test_closures_go_with_a_renamed_function(tmp_path):
    after = {name.replace("Walk", "Visit"): (path, *rest)
             for name, (path, *rest) in CLOSURES.items()}  # fmt: skip
    base = {"m.go": WALK}, CLOSURES
    new = {"m.go": ADD + "\n" + named(WALK, "Visit")}, after
    assert {pair for pair, _ in paired(decided(tmp_path, base, new)).items()} == {
        (name, name.replace("Walk", "Visit")) for name in CLOSURES
    }


def test_closures_of_variables_and_init_functions_go_by_their_place(tmp_path):
    one = (
        "var sum = func(a int) int {\n\treturn a + 1\n}\n\nfunc init() {\n\tsum(4)\n}\n"
    )
    more = "var product = func(a int) int {\n\treturn a * 2\n}\n\nfunc init() {\n\tproduct(7)\n}\n"
    base = (
        {"m.go": one},
        {".init.func1": ("m.go", "func(a"), ".init.0": ("m.go", "func init")},
    )
    new = {"m.go": more + one}, {
        ".init.func1": ("m.go", "func(a"), ".init.func2": ("m.go", "func(a", 1),
        ".init.0": ("m.go", "func init"), ".init.1": ("m.go", "func init", 1),
    }  # fmt: skip
    identity = decided(tmp_path, base, new)
    assert paired(identity)[".init.func1", ".init.func2"] == "closure"


def test_what_a_tree_does_not_show_is_left_to_samples(tmp_path):
    """Another commit was built: the function stands elsewhere."""
    sides = [({"m.go": ADD}, {".Add": ("m.go", "func Add(")}),
             ({"m.go": named(ADD, "Sum")}, {".Sum": ("m.go", "func Sum(")})]  # fmt: skip
    shifted = [({"m.go": "\n\n\n" + text["m.go"]}, f) for text, f in sides]
    built = [Built(tmp_path / n, *one) for n, one in zip("ab", sides, strict=True)]
    for n, (files, _) in zip("ab", shifted, strict=True):
        written(tmp_path / n, files)
    sources = sources_of("", "", os.pathsep.join(str(one.folder) for one in built))
    seen = []

    def trees(*sides):
        seen.extend(trees_of(sources, *sides))
        return tuple(seen)

    identify(*([side.profile] for side in built), trees=trees)
    assert [set(tree.places) for tree in seen] == [{None}, {None}]


def test_a_dependency_of_two_versions_is_read_from_the_module_cache(
    tmp_path, monkeypatch
):
    cache = tmp_path / "cache"
    after = {"m.go": named(ADD, "Sum") + "\n" + named(MUL, "AddAll")}
    texts = {"v1.0.0": {"m.go": ADD + "\n" + MUL}, "v1.1.0": after}
    functions = {"v1.0.0": {".Add": "func Add(", ".Mul": "func Mul("},
                 "v1.1.0": {".Sum": "func Sum(", ".AddAll": "func AddAll("}}  # fmt: skip
    sides = []
    for version, files in texts.items():
        place = cache / f"example.com/shop@{version}"
        chosen = {n: ("m.go", text) for n, text in functions[version].items()}
        side = Built(place, files, chosen)
        strings = [
            s.replace("/build/shop", f"/go/pkg/mod/example.com/shop@{version}")
            for s in side.profile.strings
        ]
        side.profile = replace(side.profile, strings=strings)
        sides.append(side.profile)
    monkeypatch.setenv("GOMODCACHE", str(cache))
    own = written(tmp_path / "own", {"go.mod": "module example.com/own\n"})
    sources = sources_of("", "", str(own))
    identity = identify(*([s] for s in sides), trees=partial(trees_of, sources))
    assert paired(identity) == {
        (".Add", ".Sum"): "source",
        (".Mul", ".AddAll"): "source",
    }


BODIES = {
    "Add": ADD, "Mul": MUL, "Sum": named(ADD, "Sum").replace("+", "-"),
    "Walk": WALK, "Visit": named(WALK, "Visit").replace("31", "37"),
}  # fmt: skip
CHOSEN = st.sets(st.sampled_from(sorted(BODIES)), min_size=1)


@given(CHOSEN, CHOSEN, CHOSEN, CHOSEN)
def test_names_in_both_trees_pair_with_no_other(
    tmp_path_factory, base, new, one, other
):
    sides = []
    for declared, sampled_ in ((base, one), (new, other)):
        functions = {
            (f".(*Tree).{n}" if n in ("Walk", "Visit") else f".{n}"): ("m.go", f"{n}(")
            for n in sorted(declared & sampled_)
        }
        sides.append(
            ({"m.go": "\n".join(BODIES[n] for n in sorted(declared))}, functions)
        )
    pairs = paired(decided(tmp_path_factory.mktemp("trees"), *sides))
    short = [(old.rpartition(".")[2], now.rpartition(".")[2]) for old, now in pairs]
    assert not any({*pair} & base & new for pair in short)
    assert (
        len({old for old, _ in short}) == len({now for _, now in short}) == len(short)
    )
