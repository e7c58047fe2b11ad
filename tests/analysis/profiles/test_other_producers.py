"""Profiles of producers other than Go: Node.js, py-spy, and perf on Rust and C++."""

import re

import numpy as np
import pytest
from msgspec.structs import replace

import pprofdiff
from pprofdiff.analysis.profiles.diff import compare
from pprofdiff.analysis.profiles.kinds import is_of_go, kind_name, primary_column
from pprofdiff.analysis.profiles.own_code import allocators, own_code
from pprofdiff.analysis.profiles.side import side as side_of
from pprofdiff.loaders.profiles.encode import encode
from pprofdiff.model.profiles.merge import equal_samples
from pprofdiff.model.profiles.profile import ValueType
from pprofdiff.model.side import Capture
from tests.conftest import DATA

NODE, DONE = DATA / "node", {"base": 6707, "new": 2250, "same": 5951}


def read(name):
    return pprofdiff.load(NODE / f"{name}.pb.gz")


def marks(diff):
    """Return the functions that moved beyond noise."""
    table = diff.functions
    return set(table.index[~table["noise_cum"].to_numpy(bool)])


def test_values_that_are_multiples_of_the_period_are_judged():
    base, new = read("base"), read("new")
    moved = marks(new - base)
    assert {"dearer", "parse"} <= moved


def test_two_runs_of_one_program_are_within_noise():
    assert marks(read("same") - read("base")) == set()


def test_counts_of_samples_are_judged_too():
    diff = pprofdiff.diff(read("base"), read("new"), sample_type="sample")
    assert diff.data.model is not None
    assert diff.data.model.base_step == pytest.approx(
        diff.data.normalization.factors[0]
    )


@pytest.fixture
def as_cpu(tmp_path):
    """Return a function: write a capture as one of CPU time; its path."""

    def write(name):
        profile = read(name).data
        cpu = ValueType("cpu", "nanoseconds")
        types = (ValueType("samples", "count"), cpu)
        path = tmp_path / f"{name}.pb"
        path.write_bytes(encode(replace(profile, sample_types=types, period_type=cpu)))
        return str(path)

    return write


GO = r"(?i)\bgo\b|goroutine|runtime\b|mallocgc|mark assist|scheduler|gcBg|--explain gc"


def test_rules_that_need_no_go_run_and_no_word_is_of_go(cli, as_cpu):
    work = f"{DONE['base']}:{DONE['new']}"
    short = cli(as_cpu("base"), as_cpu("new"), "--work", work).out
    assert not re.search(GO, short)
    out = cli(as_cpu("base"), as_cpu("new"), "--work", work, "--full").out
    got = out.partition("\nWhy")[2].partition("\nGot slower")[0]
    assert re.search(r"1\. dearer uses 3\.68× the CPU: .*▲", got)
    assert "▲" in out
    assert not re.search(GO, out)
    assert "ms/op" in out


def test_wall_time_is_no_waiting_and_no_word_is_of_go(cli):
    for full in ((), ("--full",)):
        out = cli(*both("node/{}.pb.gz"), *full).out
        assert "waited" not in out
        assert not re.search(GO, out)


def test_a_profile_of_go_is_known():
    assert not is_of_go(read("base").data)
    for kind in ("cpu", "heap", "goroutine"):
        profile = pprofdiff.load(DATA / "zstd" / "base" / f"{kind}.pb.gz").data
        assert is_of_go(profile)


def both(sides):
    """Return the paths of base and new, whose names differ only in that."""
    return [DATA / sides.format(side) for side in ("base", "new")]


def first_cause(out):
    """Return the title of the first cause of a report, as one line."""
    found = re.search(r"^1\. (.*?),? (?:major|minor)$", out, re.MULTILINE | re.DOTALL)
    return " ".join(found[1].split())


@pytest.mark.parametrize(
    ("sides", "work", "cause"),
    [
        # What shop.py, shop.js and main.rs say they changed.
        ("python/{}.folded", "", "compile now takes 65.1%"),
        ("python/{}.folded", "103526:25563", "discount uses 185×"),
        ("node/format/{}", "4663:3454", "format uses 19.0×"),
        ("rust/{}.folded", "40271:32846", "shop::checksum uses"),
        ("rust/{}.folded", "", "shop::checksum takes more"),
        # The profiler's stacks lack the innermost frame: pprof has serve as well.
        ("rust/{}.pb.gz", "13322:6679", "shop::serve uses 3.15×"),
        # Orders.receipt formats the first line with String.format.
        ("java/{}.folded.gz", "", "String.format now takes"),
        ("java/{}.folded.gz", "86275:27342", "Orders.receipt uses 7.64×"),
        ("java/{}.pb.gz", "95268:20981", "Orders.receipt uses 9.73×"),
        # Index::find compares one name after another; pprof names no function.
        (
            "gperftools/{}.folded.gz",
            "3406000:1760000",
            "Index::find uses 10.6× the samples",
        ),
        # Page#escape compiles its pattern.
        ("ruby/{}.folded.gz", "5275:4870", "Page#escape uses"),
        # Router::match sorts its routes.
        ("php/{}.folded", "19724:13268", "Router::match uses 4.52×"),
        # Cart.total, for the most part inlined, copies its lines by way of JSON.
        (
            "node/{}.perf.folded.gz",
            "",
            "v8::internal::Builtin_JsonParse now takes 45.2%",
        ),
        # lookup searches a seq in place of a table; compilers number its symbol anew.
        ("nim/{}.folded", "", "total__shop_50 takes more of the samples"),
        ("nim/{}.folded", "229030:16800", "total__shop_50 uses 40.9×"),
        # Report::top sorts all rows.
        ("perl/{}.folded", "", "Report::CORE:sort takes more"),
        ("perl/{}.folded", "49920:6620", "Report::top uses 30.9×"),
        # Ledger.find goes through all accounts.
        ("zig/{}.folded", "", "shop.Ledger.find takes more"),
        ("zig/{}.folded", "60000:60000", "shop.Ledger.find uses 9.95"),
        # Shop.find, which ends in a tail call, searches a list; Shop.label has not
        # changed, and its share falls as Shop.serve's rises.
        ("ocaml/{}.folded", "1200000:1200000", "Shop.serve_786 uses 21.7×"),
        (
            "ocaml/{}.folded",
            "",
            "Shop.serve_786 takes more of the samples: 36.01 → 89.35%",
        ),
        # TCart.Total copies its lines by SYSTEM.Move, whose caller is not in its stack;
        # that all stacks begin with another process is no change.
        ("pascal/{}.folded", "600000:600000", "SYSTEM.MOVE uses 3.49×"),
        ("pascal/{}.folded", "", "SYSTEM.MOVE takes"),
        # Cart.total copies its lines deeply.
        ("austin/{}.txt.gz", "", "deepcopy now takes 90.7%"),
        ("austin/{}.txt.gz", "30675:3397", "Cart.total uses 232×"),
        # interest runs its loop four times.
        ("fortran/{}.folded", "", "shop::interest takes more"),
        ("fortran/{}.folded", "251700:95200", "shop::interest uses 3.87×"),
        # Ledger.find searches an array.
        ("dlang/{}.folded.gz", "", "shop.Ledger.find uses"),
        ("dlang/{}.folded.gz", "5943500:5573600", "shop.Ledger.find uses 11.4×"),
        # store_put keeps a copy of each record: its share rises, but not by a quarter.
        (
            "jemalloc/{}.folded",
            "",
            "store_put takes more of the weight: 83.26 → 91.15%",
        ),
        # copy, which is in no stack, calls write 64 times; main calls it.
        ("kernel/{}.folded", "", "main takes more of"),
        ("kernel/{}.folded", "30000:30000", "main uses 9.02×"),
        # Cache::put keeps each key twice.
        ("heaptrack/{}.folded", "60000:60000", "Cache::put uses 2.18× the weight"),
        # price asks for the tariff of each line.
        ("spans/{}.folded.gz", "", "orders::price takes more of the weight: 1.08"),
        ("spans/{}.folded.gz", "57:50", "orders::tariff uses 23.1×"),
        # parse keeps each text that it reads; lines of a function are one.
        ("fil/{}.folded", "", "parse takes more of the weight: 77.84 → 90.85%"),
        ("fil/{}.folded", "40000:40000", "parse uses 2.83× the weight"),
        # Ticket.key parses its day by strptime.
        ("flameprof/{}.folded", "28105:5060", "key uses 39.0×"),
        ("flameprof/{}.folded", "", "<built-in method strptime> now takes 78.2%"),
        # find-rule goes through all rules by a function that it makes.
        ("clojure/{}.folded.gz", "", "shop$find_rule$fn.invoke now takes 13.8%"),
        ("clojure/{}.folded.gz", "23559:2572", "shop$find_rule.invokeStatic uses"),
        # describe makes what touch keeps; layer what step keeps.
        ("jemalloc-rust/{}.pb.gz", "", "MiB: shop::describe holds 22.2 MiB more"),
        ("jax/{}.pb.gz", "50:50", "space grew 7.0 → 35.1 MiB: layer holds 28.1 MiB"),
        # Catalog.search sorts by compareTitles, which a sort of the library calls.
        ("jstack/{}.folded.gz", "", "com.shop.Catalog.compareTitles now takes 36.5%"),
        ("jstack/{}.folded.gz", "80000:80000", "com.shop.Catalog.search uses 28.5×"),
        # lookup copies its table; frames have offsets.
        (
            "bpftrace/{}.folded.gz",
            "5000000:5000000",
            "ingest::Router::lookup uses 11.2×",
        ),
        # get finds no template; counts have decimals.
        ("xdebug/{}.folded", "9000:9000", "TemplateCache->get uses 43.5×"),
        # Cart::total copies its lines, and Cart::sum adds the copies up.
        ("cpp/{}.folded", "", "shop::Cart::total now takes"),
        ("cpp/{}.folded", "88581:33623", "shop::Cart::sum uses"),
    ],
)
def test_the_planted_change_is_the_first_cause(cli, sides, work, cause):
    flags = ["--work", work] if work else []
    for full in ((), ("--full",)):
        out = cli(*flags, *both(sides), *full).out
        assert cause in first_cause(out)
        assert not re.search(GO, out)


def written(folder, **sides):
    """Write folded stacks for each side and return the paths, base first."""
    for name, stacks in sides.items():
        lines = [f"{stack} {count}\n" for stack, count in stacks.items()]
        (folder / name).write_text("".join(lines))
    return [folder / name for name in sides]


def folded(path, **stacks):
    """Write folded stacks below main, by keyword with `__` for `;`; return the path."""
    below = {f"main;{name.replace('__', ';')}": n for name, n in stacks.items()}
    return written(path.parent, **{path.name: below})[0]


def test_functions_of_one_name_are_the_program_s_if_one_of_them_is(tmp_path):
    """Which ``<module>`` comes first differs between sides."""
    library = "/usr/lib/python3.11/pkgutil.py:22 (<module>)"
    stacks = {f"rows.py:2 (load);{library}": 400, "rows.py:31 (<module>)": 100}
    paths = written(tmp_path, base=stacks, new=dict(reversed(stacks.items())))
    diff = pprofdiff.diff(*map(pprofdiff.load, paths)).data
    owned = diff.ledger.every("owner")
    assert owned.base.tolist() == owned.new.tolist()


def test_library_code_that_only_changed_its_name_is_no_cause(tmp_path, cli):
    """A build inlines a library's functions otherwise into one that did not change."""
    same = "main;shop::escape;core::"
    base = {
        f"{same}grow": 650,
        f"{same}len": 50,
        "main;shop::find": 330,
        "main;shop::g": 1100,
    }
    new = {f"{same}len": 1250, "main;shop::find": 3200, "main;shop::g": 2000}
    out = cli(*written(tmp_path, base=base, new=new)).out
    assert "core::" not in out.partition("\nWhy")[2].partition("\n\n")[0]
    assert first_cause(out).startswith("shop::find takes more of the samples")


@pytest.mark.parametrize(
    ("sides", "work"),
    [
        # price, render, parse, each_byte and serve are the same code on both sides; that
        # a function took another's share, or runs differ, makes them differ.
        ("python/{}.folded", ""),
        ("python/{}.folded", "103526:25563"),
        ("node/format/{}/wall.pb.gz", ""),
        ("java/{}.pb.gz", "95268:20981"),
        ("ruby/{}.folded.gz", "5275:4870"),
        ("datadog/{}", ""),
        ("go-perf/{}.folded.gz", "6413700:1589100"),
        ("perl/{}.folded", "49920:6620"),
        ("fil/{}.folded", "40000:40000"),
        ("flameprof/{}.folded", ""),
        ("flameprof/{}.folded", "28105:5060"),
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_code_that_did_not_change_is_no_second_cause(cli, sides, work, swapped):
    pair = both(sides)[:: -1 if swapped else 1]
    work = ":".join(work.split(":")[:: -1 if swapped else 1])
    why = cli(*(["--work", work] if work else []), *pair).out.partition("\nWhy")[2]
    assert "\n1. " in why
    assert not re.search(r"\n2\. |\nAlso", why)


def test_time_per_second_of_a_busy_thread_is_a_share(cli):
    """`dearer` does four times the work; `parse`, which did not change, runs less."""
    sides = both("node/{}.pb.gz")
    for pair, first in ((sides, "dearer"), (sides[::-1], "parse")):
        title = first_cause(cli(*pair).out)
        assert title.startswith(f"{first} takes more of the time: ")


@pytest.mark.parametrize(
    ("sides", "said"),
    [
        # 0.32 times the work; folded stacks do not say how long they were sampled.
        ("java/{}.folded.gz", ""),
        # 0.22 times the work, which is not that of most functions.
        ("java/{}.pb.gz", "! Most functions use fewer samples per second: new"),
        ("agent/{}", "! Most functions use less CPU per second: new"),
    ],
)
def test_work_is_not_guessed(cli, sides, said):
    out = cli(*both(sides)).out
    line = next((row for row in out.splitlines() if "Most functions" in row), "")
    assert line.startswith(said)
    assert bool(line) == bool(said)


@pytest.mark.parametrize(
    ("sides", "library", "caller"),
    [
        ("python/{}.folded", "compile", "discount"),
        ("java/{}.folded.gz", "String.format", "Orders.receipt"),
        ("ruby/{}.folded.gz", "Class#new", "Page#escape"),
        ("datadog/{}", "_deepcopy_list", "Ledger.balance"),
        ("flameprof/{}.folded", "<built-in method strptime>", "key"),
    ],
)
def test_library_code_of_one_side_has_its_caller_in_the_program(
    cli, sides, library, caller
):
    pair = both(sides)
    first, second = cli(*pair).out.partition("\n1. ")[2].split("\n", 2)[:2]
    assert first.startswith(library)
    assert second.strip() == f"{caller} calls it."
    assert f"\n   {caller} called it." in cli(*pair[::-1]).out


@pytest.mark.parametrize("work", [(), ("--work", "108582:5092")])
def test_gc_follows_from_the_function_that_allocates(cli, work):
    """`lookup` copies its map; GC and sweeping take as much time as it does itself."""
    out = cli(*work, *both("agent/{}")).out
    assert first_cause(out).startswith("controller users: main.lookup")
    why = out.partition("\nWhy")[2]
    assert "   ↳ GC, sweeping" in why.partition("\n2. ")[0]


def test_go_by_way_of_perf_is_read_as_go(cli):
    """`ring.put` moves all slots; stacks begin with the programs' unlike names."""
    out = cli("--work", "6413700:1589100", *both("go-perf/{}.folded.gz")).out
    assert first_cause(out).startswith("main.(*ring).put")
    assert "memmove called by user code" in out
    assert "replaces" not in out


def test_the_kernel_is_no_call_site_of_go(cli, tmp_path):
    """Names that gcc gives clones have a dot, as those of Go do."""
    wait = "runtime.mcall;runtime.schedule;runtime.stopm;runtime.futex.abi0"
    kernel = "entry_SYSCALL_64_after_hwframe;do_syscall_64;finish_task_switch.isra.0"
    base, new = (
        {"ring;runtime.main;main.main;main.put": 900, f"ring;{wait};{kernel}": count}
        for count in (5, 80)
    )
    diff = pprofdiff.diff(*written(tmp_path, base=base, new=new)).data
    names = diff.paired_functions.names
    rows = [row for row, name in enumerate(names) if name.endswith("_[k]")]
    assert len(rows) == 3
    assert not diff.paired_functions.own[rows].any()
    sums = diff.ledger.by("payer").known("payer")
    assert [names[row] for row in sums["payer"].tolist()] == ["main.put"]


def test_binaries_without_symbols_are_no_cause(cli):
    out = cli(*both("gperftools/{}.pb.gz"), "--work", "3406000:1760000").out
    assert "100% of new's samples have frames without names" in out
    assert "[index" not in out


def test_library_code_without_frame_pointers_is_no_cause_of_its_callers(cli):
    """`main` calls no allocator in a loop: Cart::total does, and is left out of stacks."""
    out = cli("--work", "88581:33623", *both("cpp/{}.folded")).out
    causes = out.partition("\nWhy")[2].partition("\n\nsamples")[0]
    assert "2. shop::Cart::total now takes" in causes
    assert "main uses" not in causes
    assert "main and" not in causes


def test_a_side_without_names_has_no_new_functions(cli, tmp_path):
    text = (DATA / "cpp/base.folded").read_text()
    stripped = re.sub(
        r"(?<=;)(main|shop::[^;\n]*|std::[^;\n]*)(?=;| \d)", "[unknown]", text
    )
    (tmp_path / "stripped.folded").write_text(stripped)
    out = cli(tmp_path / "stripped.folded", DATA / "cpp/new.folded").out
    assert "of base's samples have frames without names" in out
    assert "is new" not in out


def test_code_without_names_takes_shares_from_all_other(cli):
    """`price` searches a list in code without names; formatting has not changed."""
    out = cli(*both("erlang/{}.folded.gz")).out
    assert "74% of new's samples have frames without names" in out
    assert first_cause(out).startswith("erts_hashmap_get no longer takes samples: ")
    assert "io_lib" not in out.partition("\nWhy")[2].partition("\n\n")[0]


def test_a_share_includes_what_a_function_calls_on_both_sides(cli, tmp_path):
    """`find` looks up a hash in base and searches a list in new."""
    rest = {"serve__render": 300, "serve__parse": 300, "serve__read": 300}
    base = folded(tmp_path / "base", serve__find__lookup=60, serve__find=5, **rest)
    rest = {"serve__render": 170, "serve__parse": 160, "serve__read": 170}
    new = folded(tmp_path / "new", serve__find__equal=400, serve__find=90, **rest)
    out = cli(base, new).out
    assert first_cause(out).startswith("find takes more of the samples: 6.74 → 49.49%")
    assert "lookup 6.22 → 0.00%" in " ".join(out.split())
    assert "2. " not in out


def test_the_report_of_node_opens_on_time(cli):
    out = cli(*both("node/format/{}"), "--full").out
    assert 0 < out.index("   wall, in s/s") < out.index("   heap (inuse_space), in ")


def test_samples_without_names_are_counted_and_are_no_cause(cli):
    out = cli(*both("cpp/{}.folded"), "--full").out
    lines = (DATA / "cpp/new.folded").read_text().splitlines()
    counts = [(int(line.rpartition(" ")[2]), "[unknown]" in line) for line in lines]
    share = sum(n for n, nameless in counts if nameless) / sum(n for n, _ in counts)
    assert f"{share:.0%} of new's samples have frames without names" in out
    causes = out.partition("\nWhy")[2].partition("\n\nbase → new")[0]
    assert "shop::Cart::total now takes" in causes
    assert "[unknown]" not in causes


@pytest.mark.parametrize(
    ("types", "name", "primary"),
    [
        ("samples/count CPU/nanoseconds", "cpu", 1),
        ("cpu-samples/count cpu-time/ns wall-time/ns heap-space/bytes", "cpu", 1),
        ("process_cpu:cpu:nanoseconds:cpu:nanoseconds/nanoseconds", "cpu", 0),
        ("sample/count wall/nanoseconds inuse_space/bytes", "wall", 1),
        ("WALL/microseconds", "wall", 0),
        ("cycles:u_sample/count cycles:u_event/count", "samples", 1),
        ("alloc_in_new_tlab_objects/count alloc_in_new_tlab_bytes/bytes", "heap", 1),
        ("samples/count time/nanoseconds", "time", 1),
        ("contentions/count delay/nanoseconds", "block", 1),
        ("alloc_samples/count", "heap", 0),
    ],
)
def test_sample_types_are_known_by_what_they_mean(types, name, primary):
    kinds = [ValueType(*one.rsplit("/", 1)) for one in types.split()]
    profile = replace(
        read("base").data,
        sample_types=tuple(kinds),
        values=np.ones((len(read("base").data), len(kinds)), np.int64),
    )
    assert (kind_name(profile), primary_column(profile)) == (name, primary)


def test_objects_of_java_follow_their_bytes(tmp_path):
    kinds = ("alloc_in_new_tlab_objects", "alloc_in_new_tlab_bytes")
    types = tuple(map(ValueType, kinds, ("count", "bytes")))
    paths = []
    for side in ("base", "new"):
        profile = replace(read(side).data, sample_types=types, period_type=None)
        paths.append(tmp_path / f"{side}.pb")
        paths[-1].write_bytes(encode(replace(profile, period=None)))
    profiles = pprofdiff.compare(*paths).data.profiles
    assert [one.sample_type.type for one in profiles] == [*kinds[::-1]]


@pytest.mark.parametrize(
    ("name", "file", "own"),
    [
        ("page", "/srv/shop.js", True),
        ("Module._compile", "node:internal/modules/cjs/loader", False),
        ("start", "/srv/node_modules/@datadog/pprof/out/src/time-profiler.js", False),
        ("Garbage Collection", "", False),
        ("JSONEncoder.encode", "json/encoder.py", False),
        ("price", "shop/json.py", True),
        ("get", "/usr/lib/python3.11/site-packages/requests/api.py", False),
        ("<module>", "shop.py", True),
        ("core::hash::Hasher::write_u8", "/rustc/59807616e/library/core/src/hash.rs", False),
        ("shop::sorted", "/srv/shop/src/main.rs", True),
        ("std::vector<shop::Line>::push_back", "/usr/include/c++/12/bits/stl_vector.h", False),
    ],
)  # fmt: skip
def test_a_file_shows_whose_code_a_function_is(name, file, own):
    others = ["main", "/srv/main.c"]
    mask = own_code([name, others[0]], [file, others[1]], of_go=False)
    assert mask.tolist() == [own, True]


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("shop::Cart::total", True),
        ("<shop::Cart as core::fmt::Display>::fmt", True),
        ("<core::hash::sip::Hasher<S> as core::hash::Hasher>::write_str", False),
        ("std::__introsort_loop<unsigned long*>", False),
        ("void std::__cxx11::basic_string<>::_M_construct<>", False),
        ("void shop::sorted<int>", True), ("_Dmain", True),
        ("Regexp#initialize", False), ("Page#escape", True), ("File.read", True),
        ("vfs_write_[k]", False), ("==", False), ("[]?", False), ("same?", True),
        ("operator new", False), ("malloc", False), ("cfree@GLIBC_2.2.5", False),
        ("__memcmp_evex_movbe", False), ("std_total", True), ("main", True),
        ("java/util/HashMap.put", False), ("shop/Cart.total", True),
        ("clojure/lang/Util.equiv", False), ("shop$find_rule.invoke", True),
        ("_rjem_je_prof_backtrace", False), ("tcmalloc::allocate_full", False),
        ("[unknown]", False), ("[libjvm.so]", False), ("0x7f00", False), ("", False),
        ("<unknown>", False), ("@0x561baa9862c0", False),
        ("Shop.serve_786", True), ("Stdlib.List.assoc_371", False),
        ("camlStdlib__Hashtbl__find_996", False), ("caml_compare", False),
        ("do_compare_val", False), ("Stdlibs.find_1", True),
        ("__heat_MOD_relax", True), ("_gfortran_st_write", False),
        ("_D3led6Ledger7balanceMFZl", True), ("_d_run_main", False),
        ("_D3std5array__T8AppenderTAAyaZQp3putMFZv", False),
        ("_D4core8internal2gc4impl", False), ("_D2rt6dmain212_d_run_main", False),
    ],
)  # fmt: skip
def test_without_files_a_name_shows_whose_code_it_is(name, own):
    assert own_code([name], [""], of_go=False).tolist() == [own]


def test_memory_in_use_needs_no_sampling_rate(cli):
    """Neither names one; each has nothing but what is in use at one moment."""
    for sides, kind in (
        ("jemalloc-rust/{}.pb.gz", "inuse_space"),
        ("jax/{}.pb.gz", "space"),
    ):
        out = cli(*both(sides), "--work", "50:50").out
        assert "No outcome: speed was not measured." in out
        assert f"heap ({kind}), in MiB (absolute; each profile is a snapshot" in out
        assert "lifetime" not in out
        assert "▲" in out
        assert "~" in out
        assert not re.search(r"debug/pprof|GC|mean size", out)
    fewer = cli(*both("jemalloc-rust/{}.pb.gz")[::-1]).out
    assert "shop::describe holds 22.2 MiB less" in fewer


def test_allocators_are_no_call_sites(cli):
    out = cli(*both("jemalloc-rust/{}.pb.gz"), "--full").out
    assert "<alloc::vec::Vec<u8>>::reserve ← shop::describe" in out
    assert not re.search("rallocx|_rjem|prof_|raw_vec|alloc::alloc|rust_alloc", out)


@pytest.mark.parametrize(
    ("name", "file", "allocates"),
    [
        ("operator new", "", True),
        ("malloc", "", True),
        ("tc_malloc", "", True),
        ("je_malloc_default", "", True),
        ("__rustc::__rust_alloc", "", True),
        ("<alloc::raw_vec::RawVecInner>::finish_grow", "", True),
        ("std::allocator_traits<std::allocator<char> >::allocate", "", True),
        ("irallocx_prof", "/x/tikv-jemalloc-sys/src/jemalloc.c", True),
        ("alloc::vec::Vec<T,A>::push", "/rustc/1/library/alloc/src/vec/mod.rs", False),
        ("std::vector<int>::push_back", "", False),
        ("shop::alloc", "", False),
        ("Cache::realloc_all", "", False),
    ],
)  # fmt: skip
def test_what_allocates_for_its_callers_is_known(name, file, allocates):
    assert allocators([name], [file]).tolist() == [allocates]


def test_bytes_and_ticks_of_folded_stacks_are_no_samples(cli, tmp_path):
    jemalloc = both("jemalloc/{}.folded")
    out = cli(*jemalloc, "--full").out
    assert "samples" not in re.sub("folded stacks have no unit.*?weights", "", out)
    # 80 KiB of 57 and of 107 MiB are about a dozen samples each.
    assert re.search(r"▼.*  store_index\n", out)
    assert "call_init" not in out
    few = tmp_path / "few.folded"
    few.write_text("main;store_put 800000\nmain;store_index 150000\n")
    assert cli(few, jemalloc[0]).status == 0


@pytest.mark.parametrize("work", [(), ("--work", "1:1")])
@pytest.mark.parametrize(
    ("calls", "others"),
    [
        # One helper that all call, or one of each.
        (("add__get",), {"load__get": 4000}),
        (("add__get",), {"load__get": 2500, "list__get": 1500}),
        (("add__one",), {"load__two": 4000}),
        # What grew calls several functions, each of which grew.
        (("add__a", "add__b", "add__c"), {"load__d": 4000}),
    ],
)
def test_shares_that_fall_are_no_cause_where_another_grew(
    cli, tmp_path, calls, others, work
):
    base, new = (
        folded(tmp_path / name, **dict.fromkeys(calls, n // len(calls)), **others)
        for name, n in (("base", 2000), ("new", 16_000))
    )
    out = cli(*work, base, new).out
    causes = re.findall(r"^\d\. .*", out, re.MULTILINE)
    assert len(causes) == 1
    assert re.match(r"1\. (add|get|one) (takes more|uses [38])", causes[0])
    if causes[0].startswith("1. get"):
        assert "Most of the change is in calls from add: 2,000 → 16,000" in out


def test_a_share_that_falls_by_itself_is_a_cause(cli, tmp_path):
    rest = {"page__render": 900, "page__escape": 700, "query__scan": 800, "log": 600}
    base, new = (folded(tmp_path / f"{n}", find=n, **rest) for n in (3000, 300))
    assert first_cause(cli(base, new).out).startswith("find takes less of the samples")


def test_a_function_and_what_only_it_calls_now_are_one_cause(cli, tmp_path):
    """As Perl's `lookup`, which searches a list by way of a helper."""
    base = folded(tmp_path / "base", op__lookup=40, op__render=4000)
    new = folded(
        tmp_path / "new", op__lookup=2600, op__lookup__same=600, op__render=4000
    )
    why = cli("--work", "3000:3000", base, new).out.partition("\nWhy\n")[2]
    assert why.startswith("1. lookup uses 80.0× the samples: ")
    assert "\n   In it: same 0.000 → 0.200 samples/op.\n" in why
    assert "\n2. " not in why
    # What others call as well is no part of it, nor what goes the other way.
    for stack, causes in (("op__same", 2), ("op__lookup__hash", 1)):
        old = folded(
            tmp_path / "old", **{"op__lookup": 40, "op__render": 4000, stack: 1000}
        )
        out = cli("--work", "3000:3000", old, new).out
        assert len(re.findall(r"^\d\. ", out, re.MULTILINE)) == causes


@pytest.mark.parametrize("swapped", [False, True])
def test_cost_that_moved_between_a_function_and_its_callee_is_one_cause(
    cli, tmp_path, swapped
):
    """As of LuaJIT, where `encode` ends in a tail call in one build only."""
    sort = {"serve__rank": 70, "serve__rank__sort": 740}
    pair = (
        folded(tmp_path / "called", **sort, serve=277, serve__encode=5),
        folded(tmp_path / "ends", **sort, serve=1, serve__encode=196),
    )[:: -1 if swapped else 1]
    assert "\nWhy\n" not in cli(*pair).out
    out = cli("--work", "400000:400000", *pair).out
    much = "43% more" if swapped else "30% fewer"
    assert first_cause(out).startswith(f"serve with encode uses {much} samples: ")
    assert f"moved from {'encode to serve' if swapped else 'serve to encode'}." in out
    assert "\n2. " not in out


def test_a_callee_that_costs_more_did_not_take_it_from_its_caller(cli, tmp_path):
    """Its caller's share falls, as all others do."""
    base = folded(tmp_path / "base", serve=500, serve__rank=300, serve__encode=20)
    new = folded(tmp_path / "new", serve=500, serve__rank=300, serve__encode=400)
    assert first_cause(cli(base, new).out).startswith(
        "encode takes more of the samples"
    )
    out = cli("--work", "9:9", base, new).out
    assert first_cause(out).startswith("encode uses 20.0× the samples: ")


def test_samples_that_are_written_one_by_one_are_counted(cli):
    """Rbspy's have no period and no count; a block of `score` is a part of it."""
    sides = [DATA / f"rbspy/{word}.pb.gz" for word in ("base", "new")]
    out = cli("--work", "19435:4727", *sides).out
    assert first_cause(out).startswith("score uses 12.6× the time: ")
    assert "\n   In it: block in score 23.9 → 306.6 µs/op.\n" in out
    assert "! wall has no duration: values per op are right only if" in out
    assert "lifetime" not in out
    assert "\n2. " not in out
    out = cli(*sides).out
    assert first_cause(out).startswith("score takes more of the time: ")
    # The same, added up by stack: nothing counts samples.
    one = pprofdiff.load(sides[0]).data
    first, group = equal_samples(one)
    sums = np.bincount(group, one.values[:, 0], len(first)).astype(np.int64)
    once = one.take(first).with_values(sums[:, None])
    runs = [side_of("base", [Capture("x", "profile", given)]) for given in (one, once)]
    assert compare(runs[0], runs[0]).model is not None
    assert compare(runs[1], runs[1]).model is None


def test_the_caller_of_a_builtin_is_named(cli):
    """R's `c` grows a vector in `collect`; `fit` calls it as well."""
    sides = [DATA / f"r/{side}.folded" for side in ("base", "new")]
    out = cli(*sides).out
    assert first_cause(out).startswith("c takes more of the samples: 0.00 → 82.14% on")
    assert "\n   collect calls it there.\n" in out
    assert "\n   collect called it there.\n" in cli(*sides[::-1]).out
    out = cli("--work", "60:60", *sides).out
    assert first_cause(out).startswith("c uses more samples: ")
    assert "is in calls from collect: 0.000 → 3.067 samples/op." in out


def test_addresses_of_chunks_are_no_functions(cli):
    """LuaJIT's jit.p: in new, `render` joins strings in a loop."""
    out = cli(*both("lua/{}.folded")).out
    assert "1. render takes more of the samples: 0.58 → 53.95%" in out
    assert "0x" not in out
    assert "without names" not in out


def test_shares_do_not_hide_that_counts_add_up_to_more(cli):
    """Cache::put has nearly all of the bytes on both sides; with --work it is 2.18×."""
    pair = both("heaptrack/{}.folded")
    out = " ".join(cli(*pair).out.split())
    said = "the counts add up to 9,552,434 → 20,761,568 (2.17×): if both sides did the"
    assert f"{said} same work, pass --work 1:1" in out
    assert first_cause(cli("--work", "1:1", *pair).out).startswith("Cache::put uses")
    assert "add up to" not in cli(*both("python/{}.folded")).out


def test_the_share_of_go_that_rose_many_times_is_named(cli):
    """`label` concatenates; by shares, `serve` may as well have become cheaper."""
    out = cli(*both("datadog-go/{}")).out
    assert first_cause(out).startswith("main.label takes more of the CPU: 5.24 → 44.4")
    assert "↳ Copying takes more of the CPU" in out
    out = cli(*both("datadog-go/{}"), "--full").out
    assert "A share also changes" in " ".join(out.split())


def test_samples_whose_period_is_cpu_time_are_cpu_time(cli, tmp_path):
    """As Parca's are: `samples/count`, and 19 Hz as the period."""
    every = ValueType("cpu", "nanoseconds")
    for side in ("base", "new"):
        profile = pprofdiff.load(DATA / f"go-perf/{side}.folded.gz").data
        assert kind_name(profile) == "samples"
        counted = replace(
            profile, period_type=every, period=52_631_578, duration_ns=8_000_000_000
        )
        (tmp_path / f"{side}.pb").write_bytes(encode(counted))
    work = ("--work", "6413700:1589100")
    out = cli(*work, tmp_path / "base.pb", tmp_path / "new.pb").out
    assert "Slower: +92% CPU/op" in out
    assert first_cause(out).startswith("main.(*ring).put uses ")


def test_unchanged_code_is_measured_in_what_the_profile_counts(cli):
    out = cli(*both("dlang/{}.folded.gz")).out
    assert "unchanged code has 0.94× the samples in new" in out
