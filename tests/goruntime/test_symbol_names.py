"""What symbol names are made of, and which names are one function."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.goruntime.names import (
    alias,
    canonical_user,
    is_runtime_like,
    is_standard_library,
    normalise,
    package_of,
    shown,
    strip_type_arguments,
)

SYMBOLS = st.one_of(
    st.text(max_size=40),
    st.text(alphabet="ab/.()*[]%2e@v1·-_func0 ", max_size=40),
    st.lists(
        st.sampled_from(
            [
                "runtime",
                "main",
                "a.b/c",
                "(*T)",
                "f",
                "func1",
                "gowrap2",
                "2",
                "_",
                "[int]",
                "-fm",
                "send",
                "goready",
            ]
        ),
        max_size=8,
    ).map(".".join),
)


@pytest.mark.parametrize(
    ("name", "candidates"),
    [
        ("runtime.mallocgc", ["runtime.mallocgc"]),
        ("runtime.memmove.abi0", ["runtime.memmove"]),
        ("runtime.gcBgMarkWorker.func2", ["runtime.gcBgMarkWorker"]),
        ("runtime.gcStart.func1.2", ["runtime.gcStart"]),
        ("runtime.(*mheap).freeSpan-fm", ["runtime.(*mheap).freeSpan"]),
        ("runtime.main.gowrap1", ["runtime.main"]),
        ("runtime.f.deferwrap2", ["runtime.f"]),
        ("runtime.f·dwrap·3", ["runtime.f"]),
        ("runtime.f.dwrap.3", ["runtime.f"]),
        ("main.walk-range1.1", ["main.walk"]),
        ("runtime._.goready.func1", ["runtime.goready"]),
        (
            "runtime.send.goready.func1",
            ["runtime.goready", "runtime.send.goready", "runtime.send"],
        ),
        (
            "runtime.gcMarkDone.forEachP.func5",
            ["runtime.forEachP", "runtime.gcMarkDone.forEachP", "runtime.gcMarkDone"],
        ),
        (
            "runtime.(*sweepLocked).sweep.(*mheap).freeSpan.func2",
            ["runtime.(*mheap).freeSpan", "runtime.(*sweepLocked).sweep"],
        ),
        ("runtime.traceLocker.GoStart", ["runtime.traceLocker.GoStart"]),
        (
            "runtime/internal/atomic.(*Uint32).Load",
            ["internal/runtime/atomic.(*Uint32).Load"],
        ),
        (
            "runtime/internal/syscall.Syscall6",
            ["internal/runtime/syscall/linux.Syscall6"],
        ),
        (
            "internal/runtime/syscall.Syscall6",
            ["internal/runtime/syscall/linux.Syscall6"],
        ),
        (
            "internal/sync.(*HashTrieMap[go.shape.[]interface {},go.shape.*net/http.T]).Load",
            ["internal/sync.(*HashTrieMap).Load"],
        ),
        ("memeqbody", ["memeqbody"]),
        ("main.func1", ["main.func1"]),
        ("", [""]),
    ],
)
def test_normalise(name, candidates):
    assert list(normalise(name)) == candidates


@given(SYMBOLS)
def test_any_text_has_keys_and_a_package_that_is_not_all_of_it(name):
    assert bool(alias(name)) == bool(canonical_user(name)) == bool(name)
    assert package_of(name) == "" or len(package_of(name)) < len(name)
    assert normalise(name)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("main.Map[go.shape.int]", "main.Map"),
        ("main.Map[...]", "main.Map"),
        (
            "main.(*Cache[go.shape.struct { F map[string][]int }]).Get.func1",
            "main.(*Cache).Get.func1",
        ),
        ("main.F[int].func1[string]", "main.F.func1"),
        ("type:.eq.[4]string", "type:.eq.[4]string"),
        ("[vdso]", "[vdso]"),
        ("main.f[", "main.f["),
        ("main.]f[", "main.]f["),
    ],
)
def test_type_arguments_go(name, plain):
    assert strip_type_arguments(name) == plain


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("main.main", "main"),
        ("main.(*T).m", "main"),
        ("net/http.(*conn).serve", "net/http"),
        ("github.com/a/b/v2.(*T).M-fm", "github.com/a/b/v2"),
        ("gopkg.in/yaml%2ev3.(*Decoder).Decode", "gopkg.in/yaml.v3"),
        ("gopkg.in/yaml.v3.Unmarshal", "gopkg.in/yaml.v3"),
        ("gopkg.in/yaml.v3.(*Decoder).Decode", "gopkg.in/yaml.v3"),
        ("example.com/my%2elib.F", "example.com/my.lib"),
        ("main.(*Cache[github.com/x/y.T]).Get", "main"),
        ("a.b/c.Map[go.shape.struct { net/url.URL }].func1", "a.b/c"),
        ("github.com/a/b@v1.2.3/c.F", "github.com/a/b/c"),
        ("github.com/a/b@v0.0.0-20240101-abcdef.F", "github.com/a/b"),
        ("internal/runtime/maps.(*Map).Get", "internal/runtime/maps"),
        ("sync/atomic.(*Pointer[...]).Load", "sync/atomic"),
        ("main.glob..func1", "main"),
        ("main.v1.m", "main"),
        ("memeqbody", ""),
        ("_cgo_3f_Cfunc_puts", ""),
        ("type:.eq.main.T", ""),
        ("go.itab.*os.File,io.Reader", ""),
        ("go.shape.struct { a/b.T }", ""),
        # Hosts of modules begin as symbols of the linker did up to Go 1.19.
        ("go.etcd.io/bbolt.(*DB).Update", "go.etcd.io/bbolt"),
        ("go.uber.org/zap.(*Logger).Info", "go.uber.org/zap"),
        ("type..hash.struct { F a.T }", ""),
        ("go.(*struct { *sync.Mutex }).Lock", ""),
        ("std::vector<int>::push_back(std.x)", ""),
        ("finish_task_switch.isra.0_[k]", ""),
        ("malloc_consolidate.isra.0", ""),
        ("main.part", "main"),
        ("[vdso]", ""),
        (".x", ""),
        ("", ""),
    ],
)
def test_package_of(name, package):
    assert package_of(name) == package


@pytest.mark.parametrize(
    ("package", "standard"),
    [
        ("fmt", True),
        ("net/http", True),
        ("internal/runtime/maps", True),
        ("vendor/golang.org/x/net/idna", True),
        ("crypto/internal/fips140/sha256", True),
        ("main", False),
        ("golang.org/x/net/idna", False),
        ("command-line-arguments", False),
        ("myapp/internal/log", False),
        ("", False),
    ],
)
def test_standard_library(package, standard):
    assert is_standard_library(package) is standard


@pytest.mark.parametrize(
    "names",
    [
        ["runtime.findrunnable", "runtime.findRunnable"],
        [
            "runtime.mallocgc",
            "runtime.mallocgcTiny",
            "runtime.mallocgcLarge",
            "runtime.mallocgcSmallScanNoHeader",
            "runtime.mallocgcSmallScanNoHeaderSC7",
            "runtime.mallocgcTinySize4",
            "runtime.mallocgcTinySC2",
            "runtime.mallocgcSmallScanSlowPath",
        ],
        ["runtime.largeAlloc", "runtime.(*mcache).allocLarge"],
        [
            "runtime.(*mheap).alloc_m",
            "runtime.(*mheap).allocSpanLocked",
            "runtime.(*mheap).allocSpan",
        ],
        [
            "runtime.heapBitsSetType",
            "runtime.heapSetTypeNoHeader",
            "runtime.heapSetTypeSmallHeader",
            "runtime.(*mspan).writeHeapBitsSmall",
        ],
        ["runtime.(*mspan).sweep", "runtime.(*sweepLocked).sweep"],
        [
            "runtime.scanobject",
            "runtime.scanObject",
            "runtime.scanObjectSmall",
            "runtime.scanObjectsSmall",
            "runtime.scanSpan",
        ],
        [
            "runtime.gcWriteBarrier",
            "runtime.gcWriteBarrierCX",
            "runtime.gcWriteBarrier2",
            "gcWriteBarrier",
            "runtime.writebarrierptr_prewrite1.func1",
        ],
        ["runtime.checkTimers", "runtime.(*timers).check", "runtime.timerproc"],
        ["runtime.runtimer", "runtime.(*timers).run"],
        [
            "runtime.exitsyscallfast_pidle",
            "runtime.exitsyscallfast",
            "runtime.exitsyscallTryGetP",
        ],
        ["runtime.exitsyscall0", "runtime.exitsyscallNoP"],
        ["sync.(*Mutex).lockSlow", "internal/sync.(*Mutex).lockSlow"],
        ["runtime.scang", "runtime.suspendG"],
        ["runtime.gentraceback", "runtime.(*unwinder).next"],
        ["runtime.runfinq", "runtime.runFinalizers"],
        ["runtime/internal/atomic.Xadd", "internal/runtime/atomic.Xadd"],
        [
            "runtime/internal/syscall.Syscall6",
            "internal/runtime/syscall.Syscall6",
            "internal/runtime/syscall/linux.Syscall6",
        ],
        ["runtime.send.goready.func1", "runtime._.goready.func1", "runtime.goready"],
        ["runtime.memmove.abi0", "runtime.memmove"],
    ],
)
def test_names_of_one_runtime_function(names):
    assert len({alias(name) for name in names}) == 1
    assert all(is_runtime_like(name) for name in names)


def test_different_runtime_functions_keep_their_names():
    names = [
        "runtime.mallocgc",
        "runtime.makeslice",
        "runtime.findRunnable",
        "sync.(*Mutex).Lock",
        "internal/sync.(*Mutex).Lock",
    ]
    assert len({alias(name) for name in names}) == len(names)


@pytest.mark.parametrize(
    ("base", "new"),
    [
        ("main.f.func1", "main.f.func12"),
        ("main.f.func1.2", "main.f.func3.1"),
        ("main.glob..func1", "main.init.func4"),
        ("main.init.0", "main.init.1"),
        ("main.(*T).Run.gowrap1", "main.(*T).Run.gowrap2"),
        ("main.walk-range1", "main.walk-range2"),
        ("main.Map[go.shape.int]", "main.Map[go.shape.string]"),
        ("main.(*Cache[a/b.T]).Get", "main.(*Cache[...]).Get"),
        ("github.com/me/app/vendor/github.com/x/y.F", "github.com/x/y.F"),
        ("github.com/x/y@v1.2.3.F", "github.com/x/y@v1.10.0.F"),
        ("github.com/x/y@v1.2.3/z.F", "github.com/x/y/z.F"),
        ("gopkg.in/yaml%2ev3.Unmarshal", "gopkg.in/yaml.v3.Unmarshal"),
        ("_/home/a/src/app/pkg.F", "_/build/app/pkg.F"),
    ],
)
def test_user_functions_that_are_the_same_across_builds(base, new):
    assert canonical_user(base) == canonical_user(new)
    assert not is_runtime_like(base)


@pytest.mark.parametrize(
    ("base", "new"),
    [
        ("github.com/x/y.F", "github.com/x/y/v2.F"),
        ("main.func1", "main.func2"),
        ("main.f", "main.f.func1"),
        ("main.f.func1", "main.f.func1.1"),
        ("main.(*T).Run", "main.T.Run"),
        ("main.encode1", "main.encode2"),
        ("vendor/golang.org/x/net/idna.ToASCII", "golang.org/x/net/idna.ToASCII"),
        ("type:.eq.a.T", "type:.eq.b.T"),
    ],
)
def test_user_functions_that_differ(base, new):
    assert canonical_user(base) != canonical_user(new)


@given(SYMBOLS.filter(lambda name: not set("[@%/") & set(name)))
def test_a_canonical_name_is_its_own(name):
    assert canonical_user(canonical_user(name)) == canonical_user(name)


@pytest.mark.parametrize(
    ("name", "runtime"),
    [
        ("runtime.mallocgc", True),
        ("runtime/debug.FreeOSMemory", False),
        ("runtime/pprof.StartCPUProfile", True),
        ("runtime/pprof.Do", False),
        ("sync.(*Mutex).Lock", True),
        ("sync/errgroup.F", False),
        ("syscall.Read", True),
        ("time.Sleep", True),
        ("time.Time.Format", False),
        ("reflect.mapassign_faststr", True),
        ("reflect.Value.Call", False),
        ("memeqbody", True),
        ("type:.eq.main.T", True),
        ("p256MulInternal", False),
        ("main.main", False),
    ],
)
def test_runtime_like(name, runtime):
    assert is_runtime_like(name) is runtime


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gopkg.in/yaml%2ev3.(*parser).peek", "gopkg.in/yaml.v3.(*parser).peek"),
        ("example.com/a%22b.F", 'example.com/a"b.F'),
        ("example.com/a%0ab.F", "example.com/a%0ab.F"),
        ("example.com/%e4%b8%96%2ev2.F", "example.com/世.v2.F"),
        ("example.com/a%e4.F", "example.com/a%e4.F"),
        ("go.uber.org/yaml%2ev3.F", "go.uber.org/yaml.v3.F"),
        ("main.F%2e", "main.F%2e"),
        ("main.main", "main.main"),
    ],
)
def test_what_people_read_has_no_escapes(name, said):
    assert shown(name) == said
