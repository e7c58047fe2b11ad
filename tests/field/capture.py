"""Build and measure pairs again: ``python -m tests.field.capture [NAME…]``.

Needs Go, whose module proxy gives upstream programs and other toolchains. Each side's
recipe in ``pair.toml`` has:

``program``
    Folder of ``programs`` that is built (the same for both sides, or one a side).
``go``
    The toolchain, such as ``1.23.12``; the default is the one on PATH.
``require``
    Modules and versions, ``{"github.com/tidwall/gjson" = "v1.14.0"}``.
``experiment``
    What ``GOEXPERIMENT`` is when the program is built.
``tags``
    Build tags, which choose between variants of a source file.
``forks``
    Upstream modules under another path, ``{"example.com/acme/gj" = {of = "MODULE@VERSION",
    edits = [{file = "gjson.go", old = "…", new = "…"}]}}``: the program imports the copy
    instead. What an edit replaces stands there once.
``pgo``
    A CPU profile of the pair's folder for ``-pgo``.
``bench``
    A pattern for ``go test -bench``, which writes bench.txt, cpu and allocs profiles;
    without it the program is run, and writes what ``files`` names.
``flags``, ``env``
    More arguments and environment; ``GODEBUG=gctrace=1`` makes gctrace.log.
``script``
    A shell script of the program's folder that builds and measures in place of Go; it
    receives the folder for the files, and ``flags``.
``runs``
    How often each side is measured, in turns: a folder a run.
``next to``
    How many busy processes of another program run meanwhile.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAIRS = HERE / "pairs"
PROGRAMS = HERE / "programs"
_CAPTURE = "example.com/field/capture"
_BUSY = "while :; do :; done"

Recipe = Mapping[str, Any]


def recipe(pair: Mapping[str, Any], side: str) -> Recipe:
    """Return how a side is made: what both sides share, and its own."""
    shared = {
        key: value for key, value in pair["make"].items() if key not in ("base", "new")
    }
    own = pair["make"].get(side, {})
    env = shared.get("env", {}) | own.get("env", {})
    made: Recipe = shared | own | {"env": env}
    return made


def capture(folder: Path) -> None:
    """Build and measure both sides of a pair, new after base, run by run."""
    pair = tomllib.loads((folder / "pair.toml").read_text("utf-8"))
    for side in ("base", "new"):
        shutil.rmtree(folder / side, ignore_errors=True)
    runs = pair["make"].get("runs", 1)
    for run in range(1, runs + 1):
        for side in ("base", "new"):
            out = folder / side if runs == 1 else folder / side / str(run)
            out.mkdir(parents=True)
            _capture_side(folder, recipe(pair, side), out)


def _capture_side(folder: Path, how: Recipe, out: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        built = Path(place) / "program"
        shutil.copytree(PROGRAMS / how["program"], built)
        shutil.copytree(PROGRAMS / "capture", Path(place) / "capture")
        env = _environment(how)
        if "script" not in how:
            _modules(built, how, env)
        options = ["-tags", ",".join(how.get("tags", ()))]
        if "pgo" in how:
            options.append(f"-pgo={folder / how['pgo']}")
        busy = [
            subprocess.Popen(["sh", "-c", _BUSY]) for _ in range(how.get("beside", 0))
        ]
        try:
            if "script" in how:
                _run(["sh", how["script"], str(out), *how["flags"]], built, env)
            elif "bench" in how:
                _benchmark(built, how, env, options, out)
            else:
                _program(built, how, env, options, out)
        finally:
            for process in busy:
                process.kill()
                process.wait()


def _environment(how: Recipe) -> dict[str, str]:
    """Return the environment of builds; the program's is added when it runs."""
    env = dict(os.environ, GOFLAGS="-mod=mod", CGO_ENABLED="0", GOWORK="off")
    env["GOTOOLCHAIN"] = f"go{how['go']}" if "go" in how else "local"
    env["GOEXPERIMENT"] = how.get("experiment", "")
    return env


def _modules(built: Path, how: Recipe, env: Mapping[str, str]) -> None:
    if not (built / "go.mod").exists():
        _run(["go", "mod", "init", "example.com/field/program"], built, env)
    replaced = f"-replace={_CAPTURE}=../capture"
    wanted = [f"{path}@{version}" for path, version in how.get("require", {}).items()]
    _run(["go", "mod", "edit", f"-require={_CAPTURE}@v0.0.0", replaced], built, env)
    for path, fork in how.get("forks", {}).items():
        _fork(built, path, fork, env)
    if wanted:
        _run(["go", "get", *wanted], built, env)
    _run(["go", "mod", "tidy"], built, env)
    if wanted:
        _run(["go", "get", *wanted], built, env)


def _fork(
    built: Path, path: str, fork: Mapping[str, Any], env: Mapping[str, str]
) -> None:
    """Copy a module next to the program, edited, and have the program import it."""
    command = ["go", "mod", "download", "-json", fork["of"]]
    listed = subprocess.run(command, cwd=built, env=env, stdout=-1, check=True)
    place = built.parent / path
    shutil.copytree(
        json.loads(listed.stdout)["Dir"],
        place,
        copy_function=shutil.copyfile,
        ignore=shutil.ignore_patterns("*_test.go", "testdata", "vendor", ".*"),
    )
    for folder in (place, *(p for p in place.rglob("*") if p.is_dir())):
        folder.chmod(0o755)
    module = fork["of"].partition("@")[0]
    sources = (*place.rglob("*.go"), place / "go.mod", *built.glob("*.go"))
    for source in filter(Path.exists, sources):
        text = source.read_text("utf-8")
        source.write_text(text.replace(module, path), "utf-8")
    for edit in fork.get("edits", ()):
        source = place / edit["file"]
        text = source.read_text("utf-8")
        if text.count(edit["old"]) != 1:
            raise ValueError(f"{edit['file']}: {edit['old']!r} is not there once")
        source.write_text(text.replace(edit["old"], edit["new"]), "utf-8")
    replaced = f"-replace={path}=../{path}"
    _run(["go", "mod", "edit", f"-require={path}@v0.0.0", replaced], built, env)


def _benchmark(
    built: Path, how: Recipe, env: dict[str, str], options: Sequence[str], out: Path
) -> None:
    binary = built / "program.test"
    _run(["go", "test", *options, "-c", "-o", str(binary), "."], built, env)
    command = [str(binary), "-test.run=^$", f"-test.bench={how['bench']}"]
    command += ["-test.benchmem", "-test.cpuprofile=cpu.pb.gz"]
    command += ["-test.memprofile=allocs.pb.gz", f"-test.outputdir={out}"]
    _measured([*command, *how.get("flags", ())], built, how, env, out, "bench.txt")


def _program(
    built: Path, how: Recipe, env: dict[str, str], options: Sequence[str], out: Path
) -> None:
    binary = built / "program.bin"
    _run(["go", "build", *options, "-o", str(binary), "."], built, env)
    command = [str(binary), f"-out={out}", f"-files={','.join(how['files'])}"]
    _measured([*command, *how.get("flags", ())], built, how, env, out, "")


def _measured(
    command: Sequence[str],
    built: Path,
    how: Recipe,
    env: Mapping[str, str],
    out: Path,
    stdout: str,
) -> None:
    env = {**env, **how["env"]}
    with (
        (out / (stdout or os.devnull)).open("wb") as text,
        (out / "gctrace.log").open("wb") as log,
    ):
        subprocess.run(command, cwd=built, env=env, stdout=text, stderr=log, check=True)
    if "gctrace=1" not in env.get("GODEBUG", ""):
        (out / "gctrace.log").unlink()


def _run(command: Sequence[str], place: Path, env: Mapping[str, str]) -> None:
    subprocess.run(command, cwd=place, env=env, check=True)


def main(names: Sequence[str]) -> None:
    """Make the named pairs again, or all."""
    folders = [PAIRS / name for name in names] or sorted(
        path.parent for path in PAIRS.glob("*/pair.toml")
    )
    for folder in folders:
        print(folder.name, flush=True)
        capture(folder)


if __name__ == "__main__":
    main(sys.argv[1:])
