"""Stacks to categories: worked examples, every category, and a plain reference."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.goruntime import classify as module
from pprofdiff.goruntime.classify import classify, compile_traits
from pprofdiff.goruntime.names import lookup
from pprofdiff.goruntime.rules import rules


def _frames(text):
    return [name.strip() for name in text.split(" < ")] if text else []


def _classify(stacks):
    names = sorted({name for stack in stacks for name in stack})
    index = {name: i for i, name in enumerate(names)}
    offsets = np.cumsum([0, *map(len, stacks)], dtype=np.int64)
    frames = np.array([index[n] for stack in stacks for n in stack], dtype=np.int32)
    return classify(compile_traits(names), offsets, frames)


def _one(text):
    """Return category, rule, leaf kind ids and anchor, payer names."""
    stack = _frames(text)
    found, table = _classify([stack]), rules()

    def name(position):
        return stack[position] if position >= 0 else None

    return {
        "category": table.categories[found.category[0]],
        "rule": table.rules[found.rule[0]].id,
        "kind": table.leaf_kinds[found.leaf_kind[0]].id,
        "anchor": name(found.anchor[0]),
        "payer": name(found.payer[0]),
    }


ASSIST = "runtime.gcDrainN < runtime.gcAssistAlloc1 < runtime.gcAssistAlloc.func1 < runtime.systemstack < runtime.gcAssistAlloc"
USER = "main.handle < net/http.HandlerFunc.ServeHTTP < net/http.(*conn).serve"
PARK = "runtime.findRunnable < runtime.schedule < runtime.park_m < runtime.mcall"
DEEP = " < ".join(["main.visit"] * 55)

# fmt: off
WORKED = [
    # Go 1.9-1.25, and with Green Tea (1.26), whose allocator has no mallocgc (1.27).
    ("gc.mark.assist", "", f"runtime.scanobject < {ASSIST} < runtime.mallocgc < {USER}"),
    ("gc.mark.assist", "", f"runtime.scanObject < {ASSIST} < runtime.mallocgc < {USER}"),
    ("gc.mark.assist", "", f"runtime.scanObjectsSmall < runtime.scanSpan < {ASSIST} < runtime.deductAssistCredit < runtime.mallocgcSmallScanNoHeaderSC7 < {USER}"),
    ("gc.mark.assist", "", f"internal/runtime/gc/scan.scanSpanPackedAVX512 < internal/runtime/gc/scan.ScanSpanPackedAVX512 < runtime.spanSetScans < runtime.scanSpan < {ASSIST} < {USER}"),
    ("gc.phase", "futex", f"runtime.futex < runtime.futexsleep < runtime.notetsleep_internal < runtime.notetsleep < runtime.stopTheWorldWithSema < runtime.gcStart.func2 < runtime.systemstack < runtime.gcStart < runtime.mallocgc < {USER}"),
    ("gc.sweep.assist", "", f"runtime.(*sweepLocked).sweep < runtime.sweepone < runtime.deductSweepCredit < runtime.(*mcentral).cacheSpan < runtime.(*mcache).refill < runtime.mallocgc < {USER}"),
    ("gc.sweep.assist", "", f"runtime.(*mspan).sweep < runtime.sweepone < runtime.deductSweepCredit < runtime.(*mcentral).cacheSpan < runtime.(*mcache).refill < runtime.mallocgc < {USER}"),
    ("alloc", "clear", f"runtime.memclrNoHeapPointers < runtime.mallocgcSmallScanNoHeader < runtime.mallocgc < runtime.newobject < {USER}"),
    ("alloc", "clear", f"runtime.memclrNoHeapPointers < runtime.mallocgcSmallScanNoHeaderSC5 < {USER}"),
    ("alloc.growcopy", "copy", f"runtime.memmove < runtime.growslice < {USER}"),
    ("alloc.makecopy", "copy", f"runtime.memmove < runtime.makeslicecopy < {USER}"),
    ("alloc", "", f"runtime.nextFreeFast < runtime.mallocgc < runtime.growslice < {USER}"),
    ("gc.allocblack", "", f"runtime.gcmarknewobject < runtime.mallocgc < runtime.newobject < {USER}"),
    ("gc.allocblack", "", f"runtime.greyobject < runtime.gcmarknewobject < runtime.mallocgcSmallScanNoHeader < runtime.mallocgc < {USER}"),
    ("gc.writebarrier", "", f"runtime.tryDeferToSpanScan < runtime.wbBufFlush1 < runtime.wbBufFlush.func1 < runtime.systemstack < runtime.wbBufFlush < gcWriteBarrier < {USER}"),
    ("gc.writebarrier", "", f"runtime.findObject < runtime.wbBufFlush1 < runtime.wbBufFlush.func1 < runtime.systemstack < runtime.wbBufFlush < runtime.gcWriteBarrier < {USER}"),
    ("gc.writebarrier", "", f"runtime.gcWriteBarrierCX < {USER}"),
    ("gc.writebarrier", "", f"runtime.gcWriteBarrier2 < {USER}"),
    ("sched", "", f"runtime.(*lfstack).pop < runtime.(*gcControllerState).findRunnableGCWorker < {PARK}"),
    ("sched", "", "runtime.(*lfstack).pop < runtime.(*gcControllerState).findRunnableGCWorker < runtime.findrunnable < runtime.schedule < runtime.park_m < runtime.mcall"),
    ("sched.timer", "clock", f"runtime.nanotime < runtime.(*timers).check < {PARK}"),
    ("sched.timer", "clock", f"runtime.nanotime < runtime.checkTimers < {PARK}"),
    ("sched.netpoll", "kernel", f"internal/runtime/syscall/linux.Syscall6 < internal/runtime/syscall/linux.EpollWait < runtime.netpoll < {PARK}"),
    ("sched.netpoll", "kernel", f"internal/runtime/syscall.Syscall6 < internal/runtime/syscall.EpollWait < runtime.netpoll < {PARK}"),
    ("sched.netpoll", "kernel", f"runtime.epollwait < runtime.netpoll < {PARK}"),
    ("syscall", "kernel", "internal/runtime/syscall/linux.Syscall6 < syscall.RawSyscall6 < syscall.Syscall < syscall.write < syscall.Write < internal/poll.ignoringEINTRIO < internal/poll.(*FD).Write < net.(*netFD).Write < net.(*conn).Write < main.reply"),
    ("sched.wake", "futex", "runtime.futex < runtime.futexwakeup < runtime.notewakeup < runtime.startm < runtime.wakep < runtime.ready < runtime.send.goready.func1 < runtime.systemstack < runtime.goready < runtime.send < runtime.chansend < runtime.chansend1 < main.produce"),
    ("sched.wake", "", "runtime.casgstatus < runtime._.goready.func1 < runtime.systemstack < runtime.chansend1 < main.produce"),
    ("sync", "", "runtime.asyncPreempt < sync.(*Mutex).Lock < main.f"),
    ("pool", "", "sync.(*Pool).pin < sync.(*Pool).Get < fmt.newPrinter < main.f"),
    ("sync", "", "sync.(*Mutex).Lock < sync.(*Pool).pinSlow < sync.(*Pool).pin < main.f"),
    ("map", "", "internal/sync.(*HashTrieMap).Load < sync.(*Map).Load < main.f"),
    ("sync", "", "internal/sync.(*Mutex).Lock < sync.(*Mutex).Lock < internal/sync.(*HashTrieMap).Swap < sync.(*Map).Store < main.f"),
    ("string", "", "runtime.rawstringtmp < runtime.concatstrings < main.f"),
    ("alloc", "", "runtime.mallocgc < runtime.rawstring < runtime.rawstringtmp < main.f"),
    ("sync", "", "runtime.asyncPreempt < internal/sync.(*Mutex).lockSlow < internal/sync.(*Mutex).Lock < sync.(*Mutex).Lock < main.f"),
    ("user", "", "runtime.asyncPreempt < main.f"),
    ("gc.phase", "", f"sync.poolCleanup < runtime.clearpools < runtime.gcStart < runtime.mallocgc < {USER}"),
    ("profiling", "", f"runtime.mProf_Malloc < runtime.profilealloc < runtime.mallocgc < {USER}"),
    ("user", "", "main.finalize < runtime.runfinq"),
    ("user", "", "main.finalize < runtime.call16 < runtime.runFinalizers"),
    ("gc.mark.assist", "", f"runtime.findObject < runtime.greyobject < runtime.scanobject < {ASSIST} < runtime.mallocgc < {DEEP}"),
]
# fmt: on


@pytest.mark.parametrize(("category", "kind", "stack"), WORKED)
def test_worked_examples(category, kind, stack):
    found = _one(stack)
    assert (found["category"], found["kind"]) == (category, kind)


def test_truncated_stack_has_the_length_at_which_the_profiler_cuts():
    assert len(_frames(WORKED[-1][-1])) == 64


WORKER = "runtime.gcBgMarkWorker.func2 < runtime.systemstack < runtime.gcBgMarkWorker"

# fmt: off
CATEGORIES = [
    ("gc.mark.dedicated", f"runtime.scanobject < runtime.gcDrain < runtime.gcDrainMarkWorkerDedicated < {WORKER}"),
    ("gc.mark.fractional", f"runtime.scanobject < runtime.gcDrain < runtime.gcDrainMarkWorkerFractional < {WORKER}"),
    ("gc.mark.idle", f"runtime.scanobject < runtime.gcDrain < runtime.gcDrainMarkWorkerIdle < {WORKER}"),
    ("gc.mark.idle", f"runtime.wbBufFlush1 < runtime.gcDrain < runtime.gcDrainMarkWorkerIdle < {WORKER}"),
    ("gc.mark.bg", f"runtime.scanobject < runtime.gcDrain < {WORKER}"),
    ("gc.phase", f"runtime.futex < runtime.futexwakeup < runtime.notewakeup < runtime.runSafePointFn < {PARK}"),
    ("gc.phase", "runtime.tgkill < runtime.signalM < runtime.preemptM < runtime.preemptone < runtime.preemptall < runtime.forEachPInternal < runtime.gcMarkDone.forEachP.func5 < runtime.systemstack < runtime.forEachP < runtime.gcMarkDone < runtime.gcBgMarkWorker"),
    ("gc.phase.parked", f"runtime.futex < runtime.futexsleep < runtime.notesleep < runtime.mPark < runtime.stopm < runtime.gcstopm < {PARK}"),
    ("gc.other", "runtime.greyobject < runtime._GC"),
    ("gc.unknown", "runtime.markBits.isMarked < runtime.greyobject < runtime.scanobject < runtime.gcDrain"),
    ("gc.sweep.bg", "runtime.(*mspan).sweep < runtime.sweepone < runtime.bgsweep"),
    ("gc.sweep.bg", "runtime.(*sweepLocked).sweep < runtime.sweepone < runtime.bgsweep"),
    ("gc.phase", "runtime.(*sweepLocked).sweep < runtime.sweepone < runtime.finishsweep_m < runtime.gcStart.func2 < runtime.systemstack < runtime.gcStart < runtime.mallocgc < main.f"),
    ("gc.sweep.assist", "runtime.(*sweepLocked).sweep < runtime.sweepone < runtime.GC < main.f"),
    ("gc.scavenge.bg", "runtime.madvise < runtime.sysUnusedOS < runtime.(*pageAlloc).scavengeOne < runtime.(*pageAlloc).scavenge.func1 < runtime.systemstack < runtime.(*pageAlloc).scavenge < runtime.(*scavengerState).init.func2 < runtime.(*scavengerState).run < runtime.bgscavenge"),
    ("gc.scavenge.assist", "runtime.madvise < runtime.sysUnused < runtime.(*pageAlloc).scavengeOne < runtime.(*mheap).allocSpan < runtime.(*mheap).alloc.func1 < runtime.systemstack < runtime.mallocgc < main.f"),
    ("stack", "runtime.memmove < runtime.copystack < runtime.newstack < runtime.morestack < main.deep"),
    ("stack", "runtime.pcvalue < runtime.(*unwinder).next < runtime.copystack < runtime.newstack < runtime.morestack < main.deep"),
    ("traceback", "runtime.pcvalue < runtime.gentraceback < runtime.callers.func1 < runtime.systemstack < runtime.callers < runtime.Callers < log.(*Logger).Output < main.f"),
    ("sched.sysmon", "runtime.retake < runtime.sysmon < runtime.mstart1 < runtime.mstart0 < runtime.mstart"),
    ("sched.newproc", "runtime.newproc1 < runtime.newproc.func1 < runtime.systemstack < runtime.newproc < main.f"),
    ("chan", "runtime.chanrecv < runtime.chanrecv1 < main.f"),
    ("sched.timer", f"runtime.lock2 < runtime.chansend < runtime.selectnbsend < time.sendTime < runtime.runOneTimer < runtime.runtimer < runtime.checkTimers < {PARK}"),
    ("cgo", "runtime.cgocall < main._Cfunc_compress < main.f"),
    ("syscall", "runtime.cgocall < syscall.SyscallN < syscall.WriteFile < internal/poll.(*FD).Write < os.(*File).Write < main.f"),
    ("external", "runtime._ExternalCode < runtime._System"),
    ("external", "runtime._LostExternalCode < runtime._ExternalCode"),
    ("map", "memeqbody < runtime.memequal < runtime.mapaccess2 < main.f"),
    ("map", "internal/runtime/maps.(*Map).getWithKeySmall < runtime.mapaccess2_faststr < main.f"),
    ("map", "runtime.typedmemmove < runtime.mapassign < main.f"),
    ("map", "aeshashbody < runtime.mapaccess1 < main.f"),
    ("hash_eq", "runtime.memhash < main.f"),
    ("hash_eq", "type:.eq.main.Key < main.f"),
    ("string", "runtime.memmove < runtime.concatstrings < runtime.concatstring2 < main.f"),
    ("string.rune", "runtime.decoderune < main.f"),
    ("string", "runtime.decoderune < runtime.stringtoslicerune < main.f"),
    ("defer_panic", "runtime.deferproc < main.f"),
    ("iface_conv", "runtime.assertE2I < main.f"),
    ("iface_conv", "runtime.memmove < runtime.typedmemmove < main.f"),
    ("finalizer", "runtime.addspecial < runtime.addfinalizer < runtime.SetFinalizer.func2 < runtime.systemstack < runtime.SetFinalizer < main.f"),
    ("signal", "runtime.sighandler < runtime.sigtrampgo < runtime.sigtramp"),
    ("mem.move", "runtime.memmove < main.f"),
    ("mem.clear", "runtime.memclrNoHeapPointers < main.f"),
    ("mem.cmp_index", "indexbytebody < internal/bytealg.IndexByteString < strings.IndexByte < main.f"),
    ("mem.duff", "runtime.duffcopy < main.f"),
    ("rt.lock", "runtime.procyield < runtime.lock2 < runtime.lock < main.f"),
    ("rt.clock", "runtime.nanotime1 < runtime.nanotime < time.Now < main.f"),
    ("rt.atomic", "sync/atomic.(*Int64).Add < main.f"),
    ("rt.kernel", "runtime.madvise < main.f"),
    ("stw.other", "runtime.stopTheWorldWithSema < runtime.stopTheWorldGC < runtime.GOMAXPROCS < main.f"),
    ("profiling", "runtime.stopTheWorldWithSema < runtime.stopTheWorld < runtime.ReadMemStats < main.f"),
    ("profiling", "compress/flate.(*compressor).deflate < runtime/pprof.(*profileBuilder).flush < runtime/pprof.profileWriter"),
    ("user", "main.work < runtime/pprof.Do < main.f"),
    ("user", "main.work < runtime/trace.WithRegion < main.f"),
    ("alloc", "runtime.mallocgc < main.work < runtime/pprof.Do < main.f"),
    ("rt.other", "runtime.systemstack"),
    ("rt.other", ""),
    ("rt.other", "runtime.asyncPreempt"),
    ("user", "p256SqrInternal < crypto/internal/fips140/nistec.p256Sqr < main.f"),
    ("cgo", "deflate < compress2 < runtime.asmcgocall < runtime.cgocall < main._Cfunc_compress < main.f"),
    ("user", "internal/abi.NoEscape < strings.(*Builder).WriteByte < main.f"),
    ("user", "runtime.resolveNameOff < reflect.resolveNameOff < reflect.(*rtype).String < main.f"),
    ("user", "time.Time.AppendFormat < main.f"),
    ("user", "runtime.reflectcallmove < callRet < reflect.Value.call < reflect.Value.Call < main.f"),
    ("alloc.growcopy", "runtime.memmove < runtime.moveSliceNoCap < main.f"),
    ("sched", "runtime.findfunc < runtime.isSystemGoroutine < runtime.gdestroy < runtime.goexit0 < runtime.mcall"),
    ("user", "std::sort"),
]
# fmt: on


@pytest.mark.parametrize(("category", "stack"), CATEGORIES)
def test_categories(category, stack):
    assert _one(stack)["category"] == category


def test_every_category_is_reached_by_an_example():
    shown = {category for category, _ in CATEGORIES}
    shown |= {category for category, *_ in WORKED}
    assert shown == set(rules().categories)


def test_the_deciding_frame_and_the_payer_are_named_and_preemption_is_no_leaf():
    found = _one(
        "runtime.asyncPreempt < runtime.memclrNoHeapPointers < runtime.mallocgc < runtime.makeslice < strings.Repeat < main.f"
    )
    assert found["anchor"] == "runtime.mallocgc"
    assert found["payer"] == "strings.Repeat"
    assert found["kind"] == "clear"
    assert found["rule"] == "alloc"


def test_a_frame_that_takes_over_is_the_one_that_decides():
    found = _one(
        "runtime.wbBufFlush1 < runtime.gcDrain < runtime.gcDrainMarkWorkerIdle < runtime.gcBgMarkWorker.func2"
    )
    assert found["anchor"] == "runtime.gcDrainMarkWorkerIdle"
    assert found["rule"] == "gc.mark.idle"
    assert found["payer"] is None


def test_a_frame_without_a_function_says_nothing():
    offsets, frames = np.array([0, 2, 3]), np.array([-1, 0, -1], dtype=np.int32)
    found = classify(compile_traits(["runtime.mallocgc"]), offsets, frames)
    table = rules()
    assert [table.categories[c] for c in found.category] == ["alloc", "user"]
    assert found.anchor.tolist() == [1, 2]


def test_no_stacks_give_empty_columns_of_the_same_types():
    none = classify(compile_traits([]), np.zeros(1, np.int64), np.zeros(0, np.int32))
    some = _classify([["main.f"]])
    for name in ("category", "rule", "anchor", "leaf_kind", "payer"):
        assert getattr(none, name).shape == (0,)
        assert getattr(none, name).dtype == getattr(some, name).dtype


VOCABULARY = sorted(
    {name for *_, text in WORKED + CATEGORIES for name in _frames(text)}
    | {"", "github.com/acme/app/v2.(*T[go.shape.int]).Run.func1", "[vdso]"}
)
STACKS = st.lists(st.lists(st.sampled_from(VOCABULARY), max_size=12), max_size=8)


def _reference(stack):
    """Apply the rules to one stack the plain way: (category, rule, anchor, payer)."""
    table = rules()
    tier, rule_of, program = {}, {}, []
    for position, name in enumerate(stack):
        found = -1 if name in table.program else lookup(name)[1]
        if found >= 0:
            rule_of[position] = table.rules[found]
            tier[position] = table.rules[found].tier
        elif "." in name and not name.startswith(("internal/abi.", "runtime.")):
            program.append(position)
    leaf = next((i for i, n in enumerate(stack) if n != "runtime.asyncPreempt"), None)
    if leaf is None:
        return "rt.other", "rt.other", -1, -1
    payer = program[0] if program else -1
    for wanted in table.tiers:
        end = len(stack) if wanted == "gc" or payer < 0 else payer
        own = [
            i
            for i in range(leaf, end)
            if tier.get(i) == wanted and stack[i] != "runtime.asyncPreempt"
        ]
        if own:
            anchor = own[0]
            for position in own:
                if rule_of[position].id in rule_of[anchor].yields_to:
                    anchor = position
            by_kind = dict(rule_of[anchor].by_leaf_kind)
            kind = max(table.leaf_kind_table.find(lookup(stack[leaf])[0]), 0)
            rule = by_kind.get(table.leaf_kinds[kind].id, rule_of[anchor].id)
            category = next(r.category for r in table.rules if r.id == rule)
            return category, rule, anchor, payer
    return "user", "user", payer if payer >= 0 else leaf, payer


@given(STACKS)
def test_columns_agree_with_a_plain_reading_of_the_rules(stacks):
    found, table = _classify(stacks), rules()
    starts = np.cumsum([0, *map(len, stacks)])
    for row, stack in enumerate(stacks):
        category, rule, anchor, payer = _reference(stack)
        assert table.categories[found.category[row]] == category
        assert table.rules[found.rule[row]].id == rule
        assert found.anchor[row] == (anchor if anchor < 0 else anchor + starts[row])
        assert found.payer[row] == (payer if payer < 0 else payer + starts[row])


@given(STACKS)
def test_the_size_of_the_chunks_changes_nothing(stacks):
    whole = _classify(stacks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CHUNK_FRAMES", 3)
        parts = _classify(stacks)
    for name in ("category", "rule", "anchor", "leaf_kind", "payer"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name))
