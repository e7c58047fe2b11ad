"""`decode` against Go's own reader: what ``go tool pprof -raw`` prints of a profile.

Our profile is written the way pprof's profile.go prints one (Profile.String and its
fellows), with a location's text in place of its number, and the texts are compared.
"""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pprofdiff.loaders.profiles.encode import compress, encode
from pprofdiff.loaders.profiles.pprof import decode
from pprofdiff.model.profiles.profile import ValueType
from tests.examples import daily, examples

from .strategies import profiles

pytestmark = [
    pytest.mark.go,
    pytest.mark.skipif(shutil.which("go") is None, reason="needs the Go toolchain"),
]

DATA = Path(__file__).parents[2] / "data"
SAMPLE = re.compile(r"((?: +-?\d+)+): ((?:\d+ )*)")
LOCATION = re.compile(r" *(\d+): (0x[0-9a-f]+ )(?:M=(\d+) )?(.*)")


def _goroot() -> list[Path]:
    """Return the profiles that the Go distribution brings along."""
    if shutil.which("go") is None:
        return []
    done = subprocess.run(
        ["go", "env", "GOROOT"], capture_output=True, text=True, check=True
    )
    source = Path(done.stdout.strip()) / "src"
    found = [p for ending in ("*.pgo", "*.pprof") for p in source.rglob(ending)]
    return sorted(p for p in found if p.read_bytes()[:2] == b"\x1f\x8b")


CAPTURES = [*sorted(DATA.rglob("*.pb.gz")), *_goroot()]
# Of each folder some; the Go distribution's are the last.
SOME = [*CAPTURES[::3], *CAPTURES[-2:]]


@pytest.fixture(
    scope="module", params=daily(CAPTURES, SOME), ids=lambda p: "/".join(p.parts[-3:])
)
def capture(request):
    return request.param


@pytest.fixture(scope="module")
def program():
    """Return the path of pprof itself, once."""
    done = subprocess.run(
        ["go", "tool", "-n", "pprof"], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def run(program, path, *flags):
    """Return what pprof writes about a profile."""
    command = [program, "-symbolize=none", *flags, str(path)]
    environment = {"PATH": "/usr/bin:/bin", "TZ": "UTC", "HOME": "/nonexistent"}
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def printed(raw):
    """Return pprof's text as header lines, types and samples."""
    head, rest = raw.split("\nSamples:\n")
    types, rest = rest.split("\n", 1)
    # A profile without samples has no line before its places.
    rest = f"\n{rest}"
    body, rest = (
        rest.rsplit("\nLocations\n", 1) if "\nLocations\n" in rest else ("", rest)
    )
    places, mappings = rest.rsplit("Mappings\n", 1)
    by_mapping = dict(line.split(": ", 1) for line in mappings.splitlines())
    # pprof invents an empty mapping for a profile that has none.
    by_mapping = {i: m for i, m in by_mapping.items() if m.strip() != "0x0/0x0/0x0"}
    texts = {}
    for line in places.splitlines():
        if line.startswith(" " * 13):
            texts[current] += "\n" + line[13:]  # noqa: F821 - a line follows its location
            continue
        current, address, mapping, rest = LOCATION.fullmatch(line).groups()
        texts[current] = f"{address}[{by_mapping.get(mapping, '')}] {rest}"
    samples = []
    for line in body.strip("\n").splitlines():
        match = SAMPLE.fullmatch(line)
        if match is None:
            samples[-1][2].append(line.strip())
        else:
            values = tuple(map(int, match[1].split()))
            samples.append((values, tuple(texts[i] for i in match[2].split()), []))
    return head.splitlines(), types, samples


def written(profile):
    """Return the same of a `Profile`."""
    strings = profile.strings
    period = profile.period_type
    head = [f"Comment: {c}" for c in profile.comments]
    head += [f"Doc: {profile.doc_url}"] if profile.doc_url else []
    head.append(
        f"PeriodType: {period.type} {period.unit}" if period else "PeriodType:  "
    )
    head.append(f"Period: {profile.period or 0}")
    types = " ".join(
        f"{t.type}/{t.unit}{'[dflt]' * (t.type == (profile.default_sample_type or ''))}"
        for t in profile.sample_types
    )
    places = _places(profile)
    labels = _labels(profile, strings)
    offsets, items = profile.stack_offsets.tolist(), profile.stack_locations.tolist()
    samples = [
        (
            tuple(v),
            tuple(places[j] for j in items[offsets[i] : offsets[i + 1]]),
            labels[i],
        )
        for i, v in enumerate(profile.values.tolist())
    ]
    return head, types, samples


def _places(profile):
    strings, functions, locations = (
        profile.strings,
        profile.functions,
        profile.locations,
    )
    bits = ("[FN]", "[FL]", "[LN]", "[IN]")
    mappings = [
        f"{m.start:#x}/{m.limit:#x}/{m.offset:#x} {m.file} {m.build_id} "
        + "".join(
            b * f
            for b, f in zip(
                bits,
                (
                    m.has_functions,
                    m.has_filenames,
                    m.has_line_numbers,
                    m.has_inline_frames,
                ),
                strict=True,
            )
        )
        for m in profile.mappings
    ]
    lines = []
    for function, number, column in zip(
        locations.line_function.tolist(), locations.line_number.tolist(),
        locations.line_column.tolist(), strict=True,
    ):  # fmt: skip
        if function < 0:
            lines.append("")
            continue
        name, system = (
            strings[c[function]] for c in (functions.name, functions.system_name)
        )
        file, start = (
            strings[functions.filename[function]],
            functions.start_line[function],
        )
        also = "" if name == system else f"({system})"
        lines.append(f"{name} {file}:{number}:{column} s={start}{also}")
    places = []
    offsets = locations.line_offsets.tolist()
    for i, address in enumerate(locations.address.tolist()):
        at = locations.mapping[i]
        folded = "[F] " if locations.folded[i] else ""
        text = "\n".join(lines[offsets[i] : offsets[i + 1]])
        places.append(
            f"{address:#x} [{mappings[at] if at >= 0 else ''}] {folded}{text}"
        )
    return places


def _labels(profile, strings):
    """Return each sample's label lines: texts, then numbers with units."""
    texts = [{} for _ in range(len(profile))]
    numbers = [{} for _ in range(len(profile))]
    rows = (profile.labels.sample, profile.labels.key, profile.labels.text,
            profile.labels.number, profile.labels.unit)  # fmt: skip
    for sample, key, text, number, unit in zip(
        *(r.tolist() for r in rows), strict=True
    ):
        if text:
            texts[sample].setdefault(strings[key], []).append(strings[text])
        elif number or unit:
            numbers[sample].setdefault(strings[key], []).append((number, unit))
    out = []
    for text, number in zip(texts, numbers, strict=True):
        found = []
        if text:
            found.append(
                " ".join(sorted(f"{k}:[{' '.join(v)}]" for k, v in text.items()))
            )
        if number:
            parts = []
            for key, pairs in number.items():
                named = any(u for _, u in pairs)
                shown = [f"{n} {strings[u]}" if named else str(n) for n, u in pairs]
                parts.append(f"{key}:[{' '.join(shown)}]")
            found.append(" ".join(sorted(parts)))
        out.append([line.strip() for line in found])
    return out


def agree(program, path, profile):
    """Fail unless pprof prints what the profile holds."""
    head, types, samples = printed(run(program, path, "-raw").decode())
    our_head, our_types, our_samples = written(profile)
    timed = [line for line in head if line.startswith(("Time: ", "Duration: "))]
    assert [line for line in head if line not in timed] == our_head
    assert bool(profile.duration_ns) == any(
        line.startswith("Duration") for line in timed
    )
    assert types == our_types
    assert samples == our_samples
    return timed


@pytest.mark.matrix
def test_every_sample_location_and_label_is_as_go_prints_it(program, capture):
    profile = decode(gzip.decompress(capture.read_bytes()))
    timed = agree(program, capture, profile)
    if profile.time_ns:
        shown = datetime.fromtimestamp(profile.time_ns // 10**9, UTC)
        assert timed[0].startswith(f"Time: {shown:%Y-%m-%d %H:%M:%S}")


@pytest.mark.matrix
def test_go_reads_what_encode_writes(program, capture, tmp_path):
    profile = decode(gzip.decompress(capture.read_bytes()))
    copy = tmp_path / "copy.pb.gz"
    copy.write_bytes(compress(encode(profile)))
    assert run(program, copy, "-raw") == run(program, capture, "-raw")


# Names that cannot be taken for the layout of -raw.
NAMES = st.text("abcXYZ.()*[]/-_{}é世", min_size=1, max_size=10)


@settings(
    max_examples=examples(30), deadline=None, suppress_health_check=list(HealthCheck)
)
@given(profiles(NAMES, plain=True))
def test_go_reads_the_same_labels_and_lines_from_any_profile(
    program, tmp_path, profile
):
    # What CheckValid refuses, or Merge and the driver rewrite, is not drawn.
    assume(profile.values.any())
    kinds = tuple(
        ValueType(f"kind{i}", "count") for i in range(profile.values.shape[1])
    )
    profile = replace(profile, sample_types=kinds)
    path = tmp_path / "drawn.pb.gz"
    path.write_bytes(compress(encode(profile)))
    agree(program, path, profile)


LABELLED = """
package main

import (
	"context"
	"os"
	"runtime/pprof"
)

func main() {
	labels := pprof.Labels("tenant", "northwind", "route", "/v1/rows/{id}")
	ready, done := make(chan bool), make(chan bool)
	for range 3 {
		go pprof.Do(context.Background(), labels, func(context.Context) {
			ready <- true
			<-done
		})
		<-ready
	}
	if err := pprof.Lookup("goroutine").WriteTo(os.Stdout, 0); err != nil {
		panic(err)
	}
}
"""


def test_labels_set_in_a_go_program_are_read(program, tmp_path):
    source = tmp_path / "main.go"
    source.write_text(LABELLED)
    done = subprocess.run(["go", "run", str(source)], capture_output=True, check=True)
    path = tmp_path / "goroutine.pb.gz"
    path.write_bytes(done.stdout)
    profile = decode(gzip.decompress(done.stdout))
    agree(program, path, profile)
    names, labels = profile.strings, profile.labels
    found = {(names[k], names[t]) for k, t in zip(labels.key, labels.text, strict=True)}
    assert found >= {("tenant", "northwind"), ("route", "/v1/rows/{id}")}
