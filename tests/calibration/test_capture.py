"""A run is made once, of the build that is asked for, and loads."""

import json

import pytest

from pprofdiff.analysis.comparison import compare_sides
from tests.calibration.capture import main, measure
from tests.calibration.loading import RunSet, load_run, side_of
from tests.calibration.workloads import WORKLOADS
from tests.examples import daily

pytestmark = [pytest.mark.go, pytest.mark.slow]


@pytest.mark.whole
@pytest.mark.parametrize("name", daily(WORKLOADS, list(WORKLOADS)[:1]))
def test_a_run_leaves_what_a_report_is_made_of(name, tmp_path):
    workload = WORKLOADS[name]
    workload.input(tmp_path / "input")
    operations = max(workload.pilot // 10, 1)
    # So many rounds more take most of the time: a short run has samples of them.
    rounds = 20 * workload.trial
    for number in (0, 1):
        out = tmp_path / "quiet" / "unchanged" / str(number)
        measure(workload, tmp_path, out, number * rounds, operations)
        assert {path.name for path in out.iterdir()} == {
            "cpu.pb.gz", "allocs.pb.gz", "bench.txt", "gctrace.log", "run.json"}  # fmt: skip
    runs = [load_run(tmp_path / "quiet" / "unchanged" / str(n)) for n in (0, 1)]
    assert [run.operations for run in runs] == [operations] * 2
    assert [run.rounds for run in runs] == [0, rounds]
    assert runs[0].start < runs[1].start
    assert RunSet.of(tmp_path / "quiet").runs[1].rounds == rounds
    sides = side_of("base", runs[:1]), side_of("new", runs[1:])
    comparison = compare_sides(*sides)
    assert comparison.work is not None
    assert comparison.gc is not None
    assert {diff.name for diff in comparison.profiles} == {"cpu", "allocs"}
    sums = runs[1].sums
    assert workload.planted in sums.names


@pytest.mark.whole  # nine runs of a server
def test_what_is_there_is_not_made_again(tmp_path):
    place = tmp_path / "server"
    place.mkdir()
    (place / "plan.json").write_text(
        json.dumps({"operations": 500, "spins": 5.0, "pilot": 1}), "utf-8"
    )
    WORKLOADS["server"].input(place / "input")
    arguments = [str(tmp_path), "--runs", "2", "--workloads", "server"]
    arguments += ["--conditions", "busy", "--sizes", "10"]
    main(arguments)
    made = {path: path.read_bytes() for path in place.glob("*/*/*/run.json")}
    builds = sorted(path.parents[1].name for path in made)
    assert builds == ["+10", "unchanged", "unchanged"]
    got = [json.loads(text) for text in made.values()]
    assert sorted(run["rounds"] for run in got) == [0, 0, 50]
    lost = next(iter(made))
    lost.unlink()
    for path in lost.parent.iterdir():
        path.unlink()
    lost.parent.rmdir()
    main(arguments)
    again = {path: path.read_bytes() for path in place.glob("*/*/*/run.json")}
    assert again.keys() == made.keys()
    assert [path for path in made if made[path] != again[path]] == [lost]
