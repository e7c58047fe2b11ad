"""Test binaries linked again: the same functions in another order, of both sides."""

import os
import subprocess

import pytest

from pprofdiff.measure import gobuild
from pprofdiff.measure.goflags import go_test
from pprofdiff.measure.layouts import Layouts
from pprofdiff.measure.sides import SIDES, Checkout
from tests.repository import go

pytestmark = pytest.mark.go

FILES = {
    "go.mod": "module example.com/sum\n\ngo 1.20\n",
    "sum.go": 'package sum\n\nvar Name = "usual"\n\nfunc Sum(n int) int { return n * n }\n',
    "sum_test.go": """package sum

import "testing"

var sink int

func BenchmarkSum(b *testing.B) {
	println(Name)
	for i := 0; i < b.N; i++ {
		sink += Sum(i)
	}
}
""",
}


@pytest.fixture
def built(tmp_path):
    """Return a function: words of go test and GOFLAGS in, two sides' binaries out."""

    def build(*words, goflags=""):
        asked = go_test(list(words))
        trees, binaries = {}, {}
        for side in SIDES:
            folder = tmp_path / side
            folder.mkdir()
            for name, text in FILES.items():
                (folder / name).write_text(text)
            variables = {
                **gobuild.environment(),
                "GOFLAGS": f"-buildvcs=false {goflags}".strip(),
            }
            checkout = Checkout(side, side, "")
            trees[side] = gobuild.Tree(checkout, str(folder), str(folder), variables)
            binaries[side] = gobuild.test_binaries(
                trees[side], asked, str(tmp_path / "bin" / side)
            )
        return Layouts(asked, trees, binaries)

    return build


def order(binary):
    """Return the functions of a binary by their addresses."""
    rows = map(str.split, go("tool", "nm", "-n", binary.path).splitlines())
    return [row[2] for row in rows if row[1] in "Tt"]


def test_each_layout_has_the_same_functions_in_another_order(built):
    layouts = built()
    seen = [order(layouts.of("base", "example.com/sum"))]
    for _ in range(2):
        layouts.change()
        sides = [layouts.of(side, "example.com/sum") for side in SIDES]
        assert order(sides[0]) == order(sides[1])
        seen.append(order(sides[0]))
    assert layouts.vary
    assert len({tuple(one) for one in seen}) == 3
    assert len({tuple(sorted(one)) for one in seen}) == 1


@pytest.mark.whole
def test_of_all_layouts_only_the_one_in_force_is_kept(built):
    layouts = built()
    for _ in range(3):
        layouts.change()
    path = layouts.of("new", "example.com/sum").path
    assert sorted(os.listdir(os.path.dirname(path))) == [
        "0.test",
        os.path.basename(path),
    ]


@pytest.mark.whole
def test_flags_for_the_linker_stay_in_force(built):
    layouts = built("-ldflags=-X=example.com/sum.Name=asked")
    layouts.change()
    path = layouts.of("base", "example.com/sum").path
    said = subprocess.run(
        [path, "-test.bench=.", "-test.benchtime=1x"], capture_output=True, check=True
    ).stderr
    assert layouts.vary
    assert said.split() == [b"asked"]


@pytest.mark.whole
def test_flags_of_the_environment_are_not_replaced(built):
    layouts = built(goflags="-ldflags=-X=example.com/sum.Name=asked")
    before = layouts.of("base", "example.com/sum")
    layouts.change()
    assert not layouts.vary
    assert layouts.of("base", "example.com/sum") == before


@pytest.mark.whole
def test_a_side_that_cannot_be_linked_again_keeps_the_usual_order(built, tmp_path):
    layouts = built()
    before = {side: layouts.of(side, "example.com/sum") for side in SIDES}
    (tmp_path / "new" / "sum.go").write_text("package sum\n\nfunc Sum(")
    layouts.change()
    assert not layouts.vary
    assert {side: layouts.of(side, "example.com/sum") for side in SIDES} == before
