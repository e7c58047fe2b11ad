"""What names of the Go runtime mean: rules that give every CPU stack exactly one category.

A rule names functions. `runtime` lists names inside package runtime, `symbols` lists
complete symbol names; a final `*` matches any rest. A function belongs to the rule with
its exact name, else to the rule with its longest prefix: one rule a function. Names are
normalised before they are looked up (pprofdiff.goruntime.names), so closures and type
arguments never appear here. Lists are words in one string.

Which rule decides a stack: its tier first, in the order of `TIERS`, then the frame nearest
the leaf. Tier `gc` looks at the whole stack. The others look at the frames from the leaf
up to the first frame that is not the runtime's, so that runtime.main and other roots claim
nothing.

- `yields_to`: a frame further from the leaf, of one of these rules, takes the stack over.
- `by_leaf_kind`: another rule takes over when the leaf does that kind of work.

Facts are from the runtime sources of Go 1.9 to 1.27. The table is Python because every
comparison of CPU profiles needs it: to parse it, and to import a parser, took 5 % of a
short run.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Group(Struct, frozen=True):
    """A row of a report's first table: the sum of its categories; `id` is stable.

    `labels` are its categories, in display order, and what each is called.
    """

    id: str
    label: str
    detail: str
    labels: Mapping[str, str]

    @property
    def categories(self) -> tuple[str, ...]:
        """The ids of its categories."""
        return tuple(self.labels)


class LeafKind(Struct, frozen=True):
    """What a leaf function does (copy, clear, lock), whatever the stack's category."""

    id: str
    label: str
    patterns: tuple[str, ...] = ()


class Rule(Struct, frozen=True):
    """A rule: functions that, as deciding frame, put a stack into `category`.

    `patterns` are complete symbol names, or prefixes if they end in `*`. `yields_to`
    and `by_leaf_kind` hold ids of other rules.
    """

    id: str
    category: str
    tier: str
    why: str
    patterns: tuple[str, ...] = ()
    yields_to: tuple[str, ...] = ()
    by_leaf_kind: tuple[tuple[str, str], ...] = ()


def _patterns(runtime: str, symbols: str) -> tuple[str, ...]:
    return (*(f"runtime.{name}" for name in runtime.split()), *symbols.split())


def _kind(id_: str, label: str, runtime: str, symbols: str = "") -> LeafKind:
    return LeafKind(id_, label, _patterns(runtime, symbols))


def _rule(  # noqa: PLR0913 - the cells of a row
    tier: str,
    id_: str,
    why: str,
    *,
    category: str = "",
    runtime: str = "",
    symbols: str = "",
    yields_to: str = "",
    by_leaf_kind: tuple[tuple[str, str], ...] = (),
) -> Rule:
    patterns, others = _patterns(runtime, symbols), tuple(yields_to.split())
    return Rule(id_, category or id_, tier, why, patterns, others, by_leaf_kind)


VERSION = "1"
TIERS = "gc allocation owner helper primitive other"
# Leading frames of these functions are dropped: SIGPROF arrived just after the preemption signal had
# rewritten the program counter, so the time belongs to the frame below (7-16 % of samples on a busy host).
DROPPED_LEAVES = "runtime.asyncPreempt"
# Packages that work for the runtime and for everybody else: never an owner, and never the end of the
# search for one. A stack with only such frames above the user's is the user's.
TRANSPARENT = """
  internal/abi.* internal/asan.* internal/byteorder.* internal/chacha8rand.* internal/cpu.*
  internal/goarch.* internal/goos.* internal/msan.* internal/race.* internal/stringslite.*
  runtime.resolveNameOff runtime.resolveTypeOff runtime.rtype.* runtime.reflect_resolve*
  runtime.reflectlite_resolve* runtime.(*_type).* runtime.reflectcall* runtime.spillArgs
  runtime.unspillArgs callRet runtime.name.*
"""
# First elements of the import paths that ship with Go.
STANDARD_LIBRARY = """
  arena archive bufio builtin bytes cmp compress container context crypto database debug embed
  encoding errors expvar flag fmt go hash html image index internal io iter log maps math mime net
  os path plugin reflect regexp runtime simd slices sort strconv strings structs sync syscall
  testing text time unicode unique unsafe uuid vendor weak
"""
# Functions of the packages below that call the program's code: the code they call is the program's.
PROGRAM = "runtime/pprof.Do runtime/trace.WithRegion"

# fmt: off
GROUPS = (
    Group("gc", "GC", "gcBgMarkWorker, assist, phases", {
        "gc.mark.dedicated": "background mark, dedicated worker",
        "gc.mark.fractional": "background mark, fractional worker",
        "gc.mark.idle": "background mark on idle processors",
        "gc.mark.bg": "background mark",
        "gc.mark.assist": "mark assist",
        "gc.phase": "phase changes (start, barriers, termination)",
        "gc.phase.parked": "threads parking for a stopped world",
        "gc.other": "GC, stack not unwound",
        "gc.unknown": "GC work, no worker in the stack",
    }),
    Group("gc_tax", "GC sweeping, barriers, scavenging", "", {
        "gc.sweep.bg": "background sweep",
        "gc.sweep.assist": "sweep before allocation",
        "gc.writebarrier": "write barriers",
        "gc.allocblack": "marking of new objects",
        "gc.scavenge.bg": "background scavenger",
        "gc.scavenge.assist": "scavenging during allocation",
    }),
    Group("alloc", "Allocation", "mallocgc", {
        "alloc": "allocation",
        "alloc.growcopy": "copying while slices grow",
        "alloc.makecopy": "copying into new slices",
    }),
    Group("sched", "Scheduler", "schedule, findRunnable", {
        "sched": "scheduling",
        "sched.wake": "waking goroutines and threads",
        "sched.netpoll": "network poller",
        "sched.timer": "timers",
        "sched.sysmon": "system monitor",
        "sched.newproc": "starting goroutines",
    }),
    Group("locks", "Locks and channels", "", {
        "sync": "package sync",
        "chan": "channels and select",
    }),
    Group("syscall", "System calls, non-Go code", "", {
        "syscall": "system calls",
        "cgo": "calls into C",
        "external": "non-Go code: generated, C, or lost samples",
    }),
    Group("runtime", "Other runtime", "", {
        "stack": "goroutine stacks",
        "map": "maps",
        "hash_eq": "hashing and equality",
        "string": "string conversion and concatenation",
        "string.rune": "decoding runes",
        "pool": "sync.Pool",
        "defer_panic": "defer and panic",
        "iface_conv": "interface conversion, typed copies",
        "finalizer": "finalizers and cleanups",
        "traceback": "walking stacks",
        "signal": "signals",
        "mem.move": "memmove called by user code",
        "mem.clear": "clearing memory (not mallocgc's)",
        "mem.cmp_index": "comparing and searching bytes",
        "mem.duff": "Duff's device (copy, zero)",
        "rt.lock": "runtime locks",
        "rt.clock": "reading clocks",
        "rt.atomic": "atomic operations",
        "rt.kernel": "kernel calls of the runtime",
        "stw.other": "stop the world, not for GC",
        "profiling": "profiling and tracing",
        "rt.other": "rest of the runtime",
    }),
    Group("user", "User code", "", {"user": "user code"}),
)
# What the leaf does, independent of who owns the stack.
LEAF_KINDS = (
    LeafKind("", "none"),
    _kind("copy", "copying", runtime="memmove duffcopy memmove_* typedmemmove typedslicecopy",
        symbols="reflect.memmove reflect.typedmemmove reflect.typedslicecopy"),
    _kind("clear", "zeroing",
        runtime="memclr* duffzero typedmemclr typedmemclrpartial typedarrayclear memzero*",
        symbols="memclr* reflect.memclrNoHeapPointers reflect.typedmemclr reflect.typedarrayclear"),
    _kind("compare", "comparing and searching bytes",
        runtime="""
  memequal* memeq* cmpstring eqstring efaceeq ifaceeq nilintereq interequal nilinterequal strequal
""",
        symbols="""
  internal/bytealg.* memeqbody cmpbody indexbody indexbytebody countbody cmpstring* memequal*
  type..eq.* type:.eq.* equalPortable strings.IndexByte bytes.IndexByte bytes.Equal bytes.Compare
  countgeneric*
"""),
    _kind("hash", "hashing",
        runtime="""
  aeshash* memhash* strhash* interhash nilinterhash typehash f32hash f64hash c64hash c128hash mix
  r4 r8 readUnaligned*
""",
        symbols="""
  aeshash* internal/runtime/maps.memHash* internal/runtime/maps.MemHash*
  internal/runtime/maps.strHash* internal/runtime/maps.StrHash* type..hash.* type:.hash.*
"""),
    _kind("lock", "runtime locks, spinning",
        runtime="""
  lock lock2 lockWithRank* unlock unlock2 unlockWithRank* unlock2Wake unlock2WakeNext
  lockVerifyMSize mutexContended mutexPreferLowLatency mutexSampleContention procyield* osyield*
  (*mLockProfile).* key8 (*rwmutex).* mutexWaitListHead
"""),
    _kind("futex", "futex",
        runtime="""
  futex futexsleep* futexwakeup* semasleep* semawakeup* pthread_cond_* pthread_mutex_* sys_umtx_*
  thrsleep thrwakeup lwp_park lwp_unpark semacreate
""", symbols="runtime.notesleep runtime.notetsleep runtime.notetsleep_internal"),
    _kind("atomic", "atomic operations",
        runtime="atomic* publicationBarrier _LostSIGPROFDuringAtomic64",
        symbols="internal/runtime/atomic.* sync/atomic.*"),
    _kind("clock", "reading clocks",
        runtime="""
  nanotime* walltime* cputicks time_now time_runtimeNano time_runtimeNow vdsoCall* _VDSO ticks*
  runtimeNano rdtsc
""", symbols="time.now time.runtimeNano time.runtimeNow time.Now time.Since time.Until"),
    _kind("kernel", "kernel",
        runtime="""
  usleep usleep2* madvise mmap munmap sysMmap sysMunmap callCgoMmap mincore read write write1 open
  closefd pipe* epollwait epollctl epollcreate* kevent kqueue tgkill raise raiseproc clone
  newosproc* sigaltstack rt_sigaction sysSigaction sigprocmask rtsigprocmask setitimer timer_*
  sched_getaffinity getpid gettid exit exitThread stdcall* asmstdcall* libcCall sigreturn* port_*
  poll fcntl prctl pthread_kill pthread_create pthread_sigmask madvise_trampoline bsdthread*
  mach_*
""",
        symbols="""
  internal/runtime/syscall/* syscall.Syscall* syscall.RawSyscall* syscall.rawSyscall*
  syscall.rawVforkSyscall syscall.runtime_doAllThreadsSyscall syscall.syscall*
  internal/syscall/unix.Syscall*
"""),
)
RULES = (
    _rule("gc", "gc.mark.dedicated", "a worker that marks until the cycle ends; the name exists since Go 1.22",
        runtime="gcDrainMarkWorkerDedicated"),
    _rule("gc", "gc.mark.fractional", "a part-time worker that tops marking up to 25% of the CPU; named since Go 1.22",
        runtime="gcDrainMarkWorkerFractional"),
    _rule("gc", "gc.mark.idle", "marking on processors that had nothing else to do; named since Go 1.22",
        runtime="gcDrainMarkWorkerIdle"),
    _rule("gc", "gc.mark.bg", "a background mark worker whose mode the stack does not show (all of them before Go 1.22)",
        runtime="gcBgMarkWorker gchelper gcBgMarkPrepare"),
    _rule("gc", "gc.mark.assist", "an allocating goroutine marks in proportion to what it allocates",
        runtime="gcAssistAlloc gcAssistAlloc1 gcParkAssist"),
    _rule("gc", "gc.phase.start", "starting a cycle: stop the world, finish sweeping, clear pools, start workers",
        category="gc.phase",
        runtime="gcStart gcResetMarkState clearpools gcBgMarkStartWorkers finishsweep_m gcSweep",
        symbols="sync.poolCleanup"),
    _rule("gc", "gc.phase.end", "ragged barriers, mark termination and the work done in its stopped world",
        category="gc.phase",
        runtime="""
  gcMarkDone gcMark gcMarkTermination gcMarkTinyAllocs gcMarkRootPrepare gcMarkRootCheck
  findGoroutineLeaks
"""),
    _rule("gc", "gc.phase.driver", "runtime.GC, or the forced collection every two minutes",
        category="gc.phase", runtime="forcegchelper GC goroutineLeakGC gcWaitOnMark"),
    _rule("gc", "gc.phase.safepoint", "a processor answers a ragged barrier of the collector's",
        category="gc.phase", runtime="runSafePointFn"),
    _rule("gc", "gc.phase.parked", "a thread stops because the world is being stopped",
        runtime="gcstopm"),
    _rule("gc", "stw", "stopping all goroutines; a frame above says for whom, else GOMAXPROCS or runtime/debug",
        category="stw.other", runtime="stopTheWorld* startTheWorld* forEachP*",
        yields_to="profiling gc.phase.start gc.phase.end gc.phase.driver gc.mark.assist gc.mark.bg"),
    _rule("gc", "gc.writebarrier", "pointer writes while a cycle runs; a flush inside a worker, an assist or a phase is theirs",
        runtime="""
  gcWriteBarrier* wbBufFlush* (*wbBuf).* bulkBarrier* typeBitsBulkBarrier wbMove wbZero shade
  gcmarkwb_m writebarrierptr* atomicwb
""", symbols="gcWriteBarrier",
        yields_to="""
  gc.mark.dedicated gc.mark.fractional gc.mark.idle gc.mark.bg gc.mark.assist gc.phase.start
  gc.phase.end gc.phase.driver
"""),
    _rule("gc", "profiling", "heap, block, mutex and CPU profiling, runtime/metrics, execution traces; inside GC it is GC's",
        runtime="""
  mProf_* mProfStack* profilealloc (*profBuf).* sigprof* saveblockevent* blockevent* mutexevent*
  trace* traceLocker.* (*trace* saveBlockEventStack stkbucket newBucket (*bucket).* blockProfile*
  mutexProfile* ReadMemStats readmemstats_m readMetrics* readMetricNames readGCStats*
  goroutineProfile* GoroutineProfile ThreadCreateProfile MemProfile memProfile* BlockProfile
  MutexProfile SetCPUProfileRate setcpuprofilerate CPUProfile StartTrace StopTrace ReadTrace
  readTrace* (*cpuProfile).* doRecordGoroutineProfile tryRecordGoroutineProfile* pprof_*
  runtime_pprof_* runtime_setProfLabel (*mLockProfile).capture* threadCreateProfile* profilem
  setThreadCPUProfiler setProcessCPUProfiler*
""", symbols="runtime/pprof.* runtime/trace.* internal/runtime/pprof/*",
        yields_to="""
  gc.sweep gc.sweep.bg gc.scavenge gc.scavenge.bg gc.mark.dedicated gc.mark.fractional
  gc.mark.idle gc.mark.bg gc.mark.assist gc.phase.start gc.phase.end gc.phase.driver
"""),
    _rule("gc", "gc.sweep.bg", "the background sweeper goroutine", runtime="bgsweep"),
    _rule("gc", "gc.sweep", "an allocating goroutine sweeps before it may take a span; the sweeper itself if bgsweep is above",
        category="gc.sweep.assist",
        runtime="""
  deductSweepCredit sweepone (*mspan).sweep (*sweepLocked).sweep (*mspan).ensureSwept
  (*mheap).reclaim* (*sweepLocker).* (*mheap).nextSpanForSweep (*activeSweep).*
""", yields_to="gc.sweep.bg gc.phase.start gc.phase.end"),
    _rule("gc", "gc.scavenge.bg", "the scavenger goroutine returns memory to the system (sysmon did up to Go 1.12)",
        runtime="bgscavenge (*scavengerState).* (*mheap).scavenge wakeScavenger"),
    _rule("gc", "gc.scavenge", "returning memory to the system inline, because of the memory limit or debug.FreeOSMemory",
        category="gc.scavenge.assist",
        runtime="(*pageAlloc).scavenge* (*mheap).scavenge* (*scavengeIndex).*",
        yields_to="gc.scavenge.bg"),
    _rule("gc", "gc.allocblack", "objects allocated during a cycle are marked by the goroutine that allocates them",
        runtime="gcmarknewobject"),
    _rule("gc", "gc.other", "the profiler could not unwind a thread that was busy with GC",
        runtime="_GC"),
    _rule("allocation", "alloc", "the allocator: spans, size classes, pages, zeroing below mallocgc",
        runtime="""
  mallocgc* newobject newarray makeslice* (*mcache).* (*mcentral).* (*mheap).* (*pageAlloc).*
  (*pageCache).* nextFreeFast heapBitsSetType* heapSetType* largeAlloc persistentalloc* sysAlloc*
  deductAssistCredit memclrNoHeapPointersChunked (*fixalloc).* (*linearAlloc).* (*pallocBits).*
  (*pallocData).* (*pageBits).* reflect_unsafe_New* reflectlite_unsafe_New maps_new*
  bytealg_MakeNoZero arena_* newUserArena* (*userArena).* allocmcache freemcache writeHeapBits*
  freegc* mergeSummaries spanAlloc* sysMap* sysUsed* sysHugePage* sysReserve* sysFault*
""",
        symbols="""
  reflect.unsafe_New reflect.unsafe_NewArray internal/reflectlite.unsafe_New
  internal/runtime/maps.newobject internal/runtime/maps.newarray internal/bytealg.MakeNoZero
"""),
    _rule("allocation", "alloc.growslice", "append that needs a larger array, apart from the copy",
        category="alloc", runtime="growslice* reflect_growslice nextslicecap moveSlice*",
        symbols="reflect.growslice",
        by_leaf_kind=(("copy", "alloc.growcopy"),)),
    _rule("allocation", "alloc.growcopy", "copying the old elements in append (memmove below growslice)"),
    _rule("allocation", "alloc.makeslicecopy", "make and copy in one, apart from the copy",
        category="alloc", runtime="makeslicecopy",
        by_leaf_kind=(("copy", "alloc.makecopy"),)),
    _rule("allocation", "alloc.makecopy", "copying in make and copy (memmove below makeslicecopy)"),
    _rule("owner", "stack", "goroutine stacks that grow, shrink or move",
        runtime="""
  newstack morestack* copystack stackalloc stackcacherefill stackcacherelease stackcache_clear
  stackpoolalloc stackpoolfree stackfree shrinkstack isShrinkStackSafe adjust* syncadjustsudogs
  freeStackSpans round2 stacklog2
"""),
    _rule("owner", "sched.netpoll", "asking the kernel which connections are ready",
        runtime="netpoll* epoll* poll_runtime_* (*pollDesc).* (*pollCache).*",
        symbols="""
  internal/poll.runtime_poll* internal/runtime/syscall/linux.Epoll*
  internal/runtime/syscall/linux.Eventfd
"""),
    _rule("owner", "sched.timer", "running, adding and removing timers",
        runtime="""
  timerproc checkTimers checkTimersNoP runtimer runOneTimer adjusttimers (*timers).* (*timer).*
  timeSleep timeSleepUntil goroutineReady addtimer* doaddtimer deltimer dodeltimer* modtimer
  resettimer resetTimer resetForSleep startTimer stopTimer newTimer siftupTimer siftdownTimer
  cleantimers moveTimers clearDeletedTimers nobarrierWakeTime timejump* wakeNetPoller
  blockTimerChan unblockTimerChan timerchandrain badTimer updateTimer* addAdjustedTimers
""",
        symbols="""
  time.Sleep time.goFunc time.sendTime time.startTimer time.stopTimer time.resetTimer
  time.newTimer time.NewTimer time.NewTicker time.After time.AfterFunc time.Tick time.(*Timer).*
  time.(*Ticker).* time.when time.syncTimer
"""),
    _rule("owner", "sched.sysmon", "the monitor thread: preempts long runners, takes processors back from system calls",
        runtime="sysmon retake handoffp sysmonUpdateGOMAXPROCS checkdead updateMaxProcsGoroutine",
        symbols="internal/runtime/cgroup.*"),
    _rule("owner", "sched.wake", "making another goroutine runnable and waking a thread for it",
        runtime="""
  ready goready readyWithTime wakep startm newm* injectglist* notewakeup resetspinning
  startTemplateThread templateThread newextram newosproc* allocm mcommoninit startlockedm
"""),
    _rule("owner", "sched", "choosing the next goroutine, parking, preemption",
        runtime="""
  schedule findRunnable findrunnable stealWork runqsteal runqgrab execute park_m gopark*
  goparkunlock mcall gosched* Gosched goschedImpl goschedIfBusy goschedguarded* goyield*
  gopreempt_m goexit* gdestroy stopm mPark mstart* rt0_go
  (*gcControllerState).findRunnableGCWorker (*gcControllerState).assignWaitingGCWorker
  asyncPreempt2 preempt* suspendG resumeG chanparkcommit selparkcommit parkunlock_c stoplockedm
  checkRunqsNoP checkIdleGCNoP pollWork procresize runqputslow checkRunqs* dolockOSThread
  LockOSThread UnlockOSThread lockOSThread unlockOSThread mexit mspinning canPreemptM
  wantAsyncPreempt mstart coroswitch* corostart* coroexit* newcoro (*p).* synctest*
  (*synctestBubble).*
"""),
    _rule("owner", "sched.newproc", "the go statement",
        runtime="newproc* malg gfget gfput* gfpurge saveAncestors allgadd gostartcall*"),
    _rule("owner", "chan", "channel operations and select, apart from the sends of timers",
        runtime="""
  chansend* chanrecv* selectgo* selectnb* selectsend* selectrecv* selectdefault* newselect
  selectsize closechan send recv sendDirect recvDirect sellock selunlock acquireSudog releaseSudog
  (*waitq).* (*hchan).* makechan* chanbuf full empty reflect_chan* reflect_rselect
  reflect_makechan chanlen chancap block (*maybeTraceable*
""",
        symbols="""
  reflect.chansend* reflect.chanrecv reflect.chanclose reflect.rselect reflect.makechan
""", yields_to="sched.timer"),
    _rule("owner", "pool", "a sync.Pool pins the goroutine to its P and takes no lock while it finds an object there",
        runtime="sync_runtime_procPin sync_runtime_procUnpin",
        symbols="""
  sync.(*Pool).* sync.(*poolChain).* sync.(*poolDequeue).* sync.indexLocal sync.runtime_procPin
  sync.runtime_procUnpin
"""),
    _rule("owner", "sync", "locks, wait groups and other tools of package sync",
        runtime="""
  semacquire* semrelease* (*semaRoot).* (*semTable).* notifyList* sync_* internal_sync_*
  poll_runtime_Sem* cansemacquire less
""", symbols="sync.* internal/sync.* internal/poll.runtime_Sem*"),
    _rule("owner", "syscall", "system calls made for the program",
        runtime="entersyscall* exitsyscall* reentersyscall syscall_*",
        symbols="syscall.* internal/syscall/* internal/poll.*"),
    _rule("owner", "cgo", "calls into C; on Windows package syscall comes this way too",
        runtime="""
  cgocall* asmcgocall* cgoCheck* cgocallback* cgoUse cgoIsGoPointer cgoInRange needm needAndBindM
  dropm callbackUpdateSystemStack unwindm
""", symbols="x_cgo_* _cgo_* _cgoexp_* crosscall*", yields_to="syscall"),
    _rule("owner", "external", "what the profiler writes for code that is not Go's, such as generated code or C",
        runtime="_ExternalCode _LostExternalCode"),
    _rule("owner", "map", "built-in maps and sync.Map, which reads without locks; its mutex is package sync's",
        runtime="""
  mapaccess* mapassign* mapdelete* mapiter* mapIter* mapclear mapclone* makemap* maps_* evacuate*
  growWork* hashGrow (*hmap).* (*bmap).* (*maptype).* makeBucketArray bucketShift bucketMask
  tophash advanceEvacuationMark bucketEvacuated overLoadFactor tooManyOverflowBuckets reflect_map*
  reflect_makemap moveToBmap keys values copyKeys copyValues isEmpty evacuated mapinitnoop
  mapKeyError*
""",
        symbols="""
  internal/runtime/maps.* reflect.mapaccess* reflect.mapassign* reflect.mapdelete*
  reflect.mapiter* reflect.mapclear reflect.makemap maps.clone sync.(*Map).* sync.(*entry).*
  sync.newEntry internal/sync.(*HashTrieMap).* internal/sync.(*indirect).* internal/sync.(*node).*
  internal/sync.(*entry).* internal/sync.newEntryNode internal/sync.newIndirectNode
  internal/concurrent.*
"""),
    _rule("owner", "hash_eq", "hash and equality functions of types; those of keys are part of their map",
        runtime="""
  aeshash* memhash* strhash* efaceeq ifaceeq interhash nilinterhash interequal nilinterequal
  typehash f32hash f64hash c64hash c128hash f32equal f64equal c64equal c128equal strequal
  reflect_typehash
""",
        symbols="""
  aeshash* type..hash.* type..eq.* type:.hash.* type:.eq.* internal/runtime/maps.memHash*
  internal/runtime/maps.MemHash* internal/runtime/maps.strHash* internal/runtime/maps.StrHash*
""", yields_to="map"),
    _rule("owner", "string.rune", "range loops over strings, and their length in runes",
        runtime="decoderune countrunes", yields_to="string sched sched.newproc"),
    _rule("owner", "string", "string conversion and concatenation",
        runtime="""
  concatstring* concatbyte* slicebytetostring* stringtoslicebyte slicerunetostring
  stringtoslicerune intstring encoderune gostring* findnull* stringStructOf
  slicecopy slicestringcopy internal_syscall_gostring rawstring* rawbyteslice rawruneslice
""", yields_to="sched sched.newproc"),
    _rule("owner", "defer_panic", "defer, panic and recover",
        runtime="""
  defer* newdefer freedefer* gopanic gorecover recovery sigpanic* panic* goPanic* (*_panic).*
  jmpdefer fatalpanic preprintpanics printpanics printpanicval addOneOpenDeferFrame
  runOpenDeferFrame Goexit throw fatalthrow dopanic_m popDefer
"""),
    _rule("owner", "iface_conv", "values put into interfaces, type assertions and switches",
        runtime="""
  convT* convI2I assert* getitab (*itabTableType).* (*itab).* itabAdd itabHashFunc typeAssert*
  interfaceSwitch* reflect_ifaceE2I buildTypeAssertCache buildInterfaceSwitchCache itabInit
  panicdottype*
""", symbols="reflect.ifaceE2I internal/reflectlite.ifaceE2I"),
    _rule("owner", "finalizer", "finalizers, cleanups and weak pointers, apart from the user's own functions",
        runtime="""
  runfinq runFinalizers runCleanups SetFinalizer AddCleanup addfinalizer removefinalizer
  queuefinalizer createfing wakefing addspecial removespecial freespecial freeSpecial addCleanup
  (*cleanupQueue).* (*cleanupBlock).* getOrAddWeak* getWeak* internal_weak_* unique_*
  (*specialsIter).* finalizercommit Cleanup.*
""", symbols="weak.runtime_* unique.runtime_*"),
    _rule("owner", "traceback", "walking stacks: Callers, panics, stack scans without a worker above",
        runtime="""
  gentraceback (*unwinder).* pcvalue pcdatavalue* Callers callers* Caller gcallers (*Frames).*
  CallersFrames FuncForPC (*Func).* findfunc* funcspdelta funcdata funcMaxSPDelta funcname*
  funcline* funcfile funcInfo.* funcNameForPrint (*stkframe).* step readvarint pcvalueCacheKey
  traceback* Stack fpTracebackPCs fpTracebackPartialExpand pcdatastart (*inlineUnwinder).*
  newInlineUnwinder runtime_expandFinalInlineFrame findmoduledatap (*moduledata).* tracebackPCs
  srcFunc.* printAncestorTraceback* elideWrapperCalling showframe* (*_func).* debugCall*
  dumpgstatus
""", yields_to="stack defer_panic sched sched.newproc"),
    _rule("owner", "signal", "sending and handling signals",
        runtime="""
  sigtramp* sighandler sigsend tgkill sigreturn* sigfwdgo sigFetchG sigfwd signal*
  adjustSignalStack* (*sigctxt).* doSigPreempt badsignal unblocksig sigblock sigInstallGoHandler
  setSignalstackSP os_sigpipe validSIGPROF sigNote* pthread_kill raise cgoSigtramp
""", symbols="os/signal.signal_* os/signal.signalWaitUntilIdle"),
    _rule("helper", "gc.unknown", "marking functions in a stack that shows no worker, assist or phase: not unwound to its root",
        runtime="""
  gcDrain* scanobject scanObject* scanblock scanstack scanframe* scanConservative scanSpan
  scanObjectsSmall spanSetScans greyobject markroot* gcFlush* (*gcWork).* lfstack* (*lfstack).*
  findObject heapBitsForAddr heapBitsForObject heapBits* markBits.* (*markBits).* (*gcBits).*
  markBitsForAddr getempty putempty getfull putfull trygetfull handoff (*workbuf).*
  prepareFreeWorkbufs freeSomeWbufs tryDeferToSpanScan (*spanQueue).* (*spanSPMC).*
  (*spanInlineMarkBits).* (*spanScanOwnership).* objptr.* spanPtr* typePointers.* spanOf*
  extractHeapBits* heapBitsSmallForAddr* (*gcControllerState).* (*gcCPULimiterState).*
  (*stackScanState).* (*mspan).markBits* (*mspan).objIndex (*mspan).divideByElemSize
  (*mspan).typePointers* (*mspan).heapBits* (*mspan).isFree* (*mspan).inlineMarkBits
  (*mspan).scannedBits* (*mspan).moveInlineMarks (*mspan).initInlineMarkBits badPointer scang
  gcDumpObject (*spanSet* freeDeadSpanSPMCs pollFractionalWorkerExit dumpScanStats arenaIndex
  arenaBase heapArenaOf pageIndexOf addb add1 subtract1 subtractb heapBitsSlice*
""", symbols="internal/runtime/gc/scan.* internal/runtime/gc.*"),
    _rule("helper", "alloc.span", "spans of memory, with neither allocator nor collector above",
        category="alloc", runtime="(*mspan).* spanClass.* makeSpanClass divRoundUp"),
    _rule("helper", "sched.helper", "run queues, processor and goroutine states, with no scheduler function above",
        category="sched",
        runtime="""
  casgstatus castogscanstatus casfrom_Gscanstatus casGTo* casGFrom* casgcopystack readgstatus
  acquirep releasep* wirep pidle* runqput* runqget* runqempty runqdrain* globrunq* (*guintptr).*
  (*muintptr).* (*puintptr).* guintptr.* muintptr.* puintptr.* acquirem releasem dropg setGNoWB
  setMNoWB mget mput (*gQueue).* (*gList).* (*randomOrder).* (*randomEnum).* pMask.* gogo gosave*
  save incidlelocked schedEnabled schedEnableUser notesleep notetsleep* noteclear minit unminit
  mReserveID sched* atomicAllG* allGs* forEachG* waitReason.* (*limiterEvent).* usleep_no_g
""", symbols="gogo gosave_systemstack_switch"),
    _rule("helper", "sched.wake.helper", "waking a thread; below a lock it belongs to the owner of the lock",
        category="sched.wake", runtime="futexwakeup semawakeup clone"),
    _rule("helper", "iface_conv.copy", "copies of values with pointers; a map or channel operation above owns them",
        category="iface_conv",
        runtime="""
  typedmemmove typedslicecopy typedmemclr* typedarrayclear reflect_typed* reflectlite_typed*
""", symbols="reflect.typed* internal/reflectlite.typed* internal/runtime/maps.typed*"),
    _rule("primitive", "mem.move", "copying memory for the program",
        runtime="memmove* reflect_memmove", symbols="reflect.memmove"),
    _rule("primitive", "mem.clear", "zeroing memory for the program",
        runtime="memclr* reflect_memclr*", symbols="memclr* reflect.memclrNoHeapPointers"),
    _rule("primitive", "mem.cmp_index", "comparing and searching bytes and strings",
        runtime="memequal* memeq* cmpstring eqstring",
        symbols="internal/bytealg.* memeqbody cmpbody indexbody indexbytebody countbody memequal*"),
    _rule("primitive", "mem.duff", "copying and zeroing of medium-sized values",
        runtime="duffcopy duffzero"),
    _rule("primitive", "rt.lock", "locks inside the runtime, with no owner in the stack",
        runtime="""
  lock lock2 lockWithRank* unlock* lockRank* procyield* osyield* futex futexsleep* semasleep*
  pthread_cond_* pthread_mutex_* thrsleep thrwakeup (*rwmutex).* _LostContendedRuntimeLock
  (*mLockProfile).* mutex* acquireLockRank* assertLockHeld assertRankHeld assertWorld*
"""),
    _rule("primitive", "rt.clock", "reading the clock",
        runtime="nanotime* walltime* cputicks time_* vdso* _VDSO ticks*",
        symbols="time.now time.runtimeNano time.runtimeNow time.Now time.Since time.Until"),
    _rule("primitive", "rt.atomic", "atomic operations",
        runtime="atomic* publicationBarrier _LostSIGPROFDuringAtomic64",
        symbols="internal/runtime/atomic.* sync/atomic.*"),
    _rule("primitive", "rt.kernel", "kernel calls of the runtime itself",
        runtime="""
  usleep* madvise mmap munmap mincore read write* open closefd pipe* kevent kqueue raiseproc
  sysUnused* sysFree* sysNoHugePage* sysSigaction rt_sigaction rtsigprocmask sigprocmask
  sigaltstack setitimer timer_* sched_getaffinity getpid gettid exit exitThread stdcall*
  asmstdcall* libcCall callCgoMmap callCgoMunmap poll fcntl sysMmap sysMunmap mach_* pthread_*
""", symbols="internal/runtime/syscall/*"),
    _rule("other", "rt.other", "functions of the runtime that no other rule knows, detectors of -race, and empty stacks",
        runtime="""
  * traceEnabled traceAcquire traceShuttingDown traceAllocFreeEnabled traceLocker.ok traceRelease
""",
        symbols="""
  internal/runtime/* setg_gcc _rt0_* rt0_* runtime/internal/* racecall* racefunc* raceread*
  racewrite* __tsan* __msan* __asan* __sanitizer* _ZN6__tsan* _ZN11__sanitizer*
"""),
    _rule("other", "user", "the frame nearest the leaf that matters is not the runtime's"),
)
# The present name of a function <- its names in other releases (the longest prefix wins here too).
# Two names are taken for one function only where a release on one side lacks the other's name, by
# `FIRST` and `LAST`: names that one release has both are two functions. A new alias needs its bounds there.
ALIASES = {
    "runtime.findRunnable": "runtime.findrunnable",
    "runtime.mallocgc": "runtime.mallocgc*",
    "runtime.(*mcache).allocLarge": "runtime.largeAlloc",
    "runtime.(*mheap).allocSpan": "runtime.(*mheap).alloc_m runtime.(*mheap).allocSpanLocked",
    "runtime.heapSetType": """
  runtime.heapBitsSetType* runtime.heapSetType* runtime.(*mspan).writeHeapBitsSmall
""",
    "runtime.(*sweepLocked).sweep": "runtime.(*mspan).sweep",
    "runtime.scanObject": """
  runtime.scanobject runtime.scanSpan runtime.scanObjectsSmall runtime.scanObjectSmall
""",
    "runtime.gcWriteBarrier": """
  runtime.gcWriteBarrier* gcWriteBarrier runtime.gcmarkwb_m runtime.writebarrierptr*
""",
    "runtime.(*timers).check": "runtime.checkTimers runtime.timerproc",
    "runtime.(*timers).run": "runtime.runtimer",
    "runtime.(*timers).adjust": "runtime.adjusttimers",
    "runtime.(*timer).unlockAndRun": "runtime.runOneTimer",
    "runtime.exitsyscallTryGetP": "runtime.exitsyscallfast runtime.exitsyscallfast_*",
    "runtime.exitsyscallNoP": "runtime.exitsyscall0",
    "internal/sync.(*Mutex).lockSlow": "sync.(*Mutex).lockSlow",
    "internal/sync.(*Mutex).unlockSlow": "sync.(*Mutex).unlockSlow",
    "internal/sync.runtime_SemacquireMutex": "sync.runtime_SemacquireMutex",
    "internal/runtime/syscall/linux.EpollWait": "runtime.epollwait",
    "runtime.entersyscallHandleGCWait": "runtime.entersyscall_gcwait",
    "runtime.(*gcWork).putObj": "runtime.(*gcWork).put",
    "runtime.(*gcWork).putObjBatch": "runtime.(*gcWork).putBatch",
    "runtime.(*gcWork).putObjFast": "runtime.(*gcWork).putFast",
    "runtime.(*gcWork).tryGetObj": "runtime.(*gcWork).tryGet",
    "runtime.(*gcWork).tryGetObjFast": "runtime.(*gcWork).tryGetFast",
    "runtime.mapIterStart": "runtime.mapiterinit",
    "runtime.mapIterNext": "runtime.mapiternext",
    "runtime.cheaprand": "runtime.fastrand",
    "runtime.cheaprandn": "runtime.fastrandn",
    "runtime.suspendG": "runtime.scang",
    "runtime.(*unwinder).next": "runtime.gentraceback",
    "runtime.(*scavengerState).run": "runtime.(*mheap).scavenge",
    "runtime.runFinalizers": "runtime.runfinq",
}
# Names that bound the Go release: `FIRST` lists names by the first release whose sources have them
# (behind an experiment too), `LAST` by the last one. A final `*` matches any rest.
RELEASES = "1.9 1.10 1.11 1.12 1.13 1.14 1.15 1.16 1.17 1.18 1.19 1.20 1.21 1.22 1.23 1.24 1.25 1.26 1.27"
FIRST = {
    "1.14": """
  runtime.asyncPreempt* runtime.(*pageAlloc).* runtime.(*pageCache).* runtime.(*pallocBits).*
  runtime.checkTimers runtime.runtimer runtime.suspendG runtime.chanparkcommit
  runtime.mergeSummaries runtime.preemptM runtime.scanConservative
""",
    "1.15": """
  runtime.lock2 runtime.unlock2 runtime.lockWithRank runtime.unlockWithRank runtime.(*spanSet).*
  runtime.(*sweepClass).* runtime.runqputbatch runtime.headTailIndex.*
  runtime.(*mcentral).partialSwept runtime.(*mcentral).fullSwept
""",
    "1.16": """
  runtime.mPark runtime.(*mcache).allocLarge runtime.(*timeHistogram).* runtime.(*sysMemStat).*
  runtime.(*consistentHeapStats).* runtime.getMCache internal/poll.ignoringEINTRIO
""",
    "1.17": """
  runtime.(*sweepLocked).* runtime.(*sweepLocker).* runtime.stealWork
  runtime.(*mspan).divideByElemSize runtime.memclrNoHeapPointersChunked runtime.freeSpecial
""",
    "1.18": """
  runtime.(*activeSweep).* runtime.convT runtime.(*gcControllerState).update
  runtime.funcInfo.entry runtime.(*moduledata).textAddr runtime/internal/atomic.(*Uint*
  runtime/internal/atomic.(*Int* runtime/internal/syscall.*
""",
    "1.19": """
  runtime.findRunnable runtime.(*gcCPULimiterState).* runtime.(*scavengerState).*
  runtime.(*scavengeIndex).* runtime.sysUnusedOS runtime.(*gcControllerState).heapGoal*
  runtime.(*gcControllerState).trigger runtime/internal/atomic.(*Bool).* sync/atomic.(*Int*
  sync/atomic.(*Uint* sync/atomic.(*Pointer).*
""",
    "1.20": """
  runtime.deductAssistCredit runtime.(*mspan).initHeapBits runtime.(*mheap).initSpan
  runtime.(*stkframe).getStackMap runtime.pidlegetSpinning runtime.goschedIfBusy
  runtime.writeHeapBitsForAddr runtime.(*atomicHeadTailIndex).* runtime/internal/syscall.EpollWait
  runtime.waitReason.isMutexWait
""",
    "1.21": """
  runtime.gcWriteBarrier1 runtime.gcWriteBarrier2 runtime.gcWriteBarrier3 runtime.gcWriteBarrier4
  runtime.(*unwinder).* runtime.(*inlineUnwinder).* runtime.(*wbBuf).get1 runtime.(*wbBuf).get2
  runtime.traceEnabled runtime.tracebackPCs runtime.(*moduledata).funcName
  internal/bytealg.MakeNoZero internal/abi.(*Type).*
""",
    "1.22": """
  runtime.gcDrainMarkWorker* runtime.typePointers.* runtime.heapSetType
  runtime.(*mspan).typePointersOf* runtime.(*mspan).heapBits* runtime.(*mspan).writeHeapBitsSmall
  runtime.(*mLockProfile).* runtime.traceAcquire runtime.traceLocker.* runtime.gdestroy
  runtime.cheaprand* runtime.rand runtime.forEachPInternal runtime.(*_panic).start
  internal/chacha8rand.*
""",
    "1.23": """
  internal/runtime/* runtime.(*timers).* runtime.(*timer).lock runtime.(*timer).unlock*
  runtime.(*timer).modify runtime.(*timer).maybe* runtime.(*timer).updateHeap
  runtime.blockTimerChan runtime.popDefer runtime.traceAllocFreeEnabled time.newTimer
  time.syncTimer
""",
    "1.24": """
  internal/runtime/maps.* internal/runtime/sys.* internal/sync.* runtime.mallocgcSmall*
  runtime.mallocgcTiny runtime.mallocgcLarge runtime.heapSetTypeNoHeader
  runtime.heapSetTypeSmallHeader runtime.mapIterStart runtime.mapIterNext runtime.unlock2Wake
  time.runtimeNow
""",
    "1.25": """
  runtime.(*gcWork).tryGetObj* runtime.(*gcWork).tryGetSpan runtime.(*gcWork).putObj*
  runtime.scanSpan runtime.scanObjectSmall runtime.scanObjectsSmall runtime.tryDeferToSpanScan
  runtime.spanSetScans runtime.(*spanInlineMarkBits).* runtime.(*spanScanOwnership).*
  runtime.(*mspan).inlineMarkBits runtime.gcUsesSpanInlineMarkBits runtime.objptr.*
  runtime.globrunqgetbatch runtime.runFinalizers runtime.runCleanups runtime.heapArenaOf
  runtime.gcScanFinalizer
""",
    "1.26": """
  internal/runtime/gc/scan.* internal/runtime/syscall/linux.* runtime.scanObject
  runtime.(*spanSPMC).* runtime.(*spanQueue).put runtime.(*spanQueue).refill
  runtime.(*spanQueue).steal runtime.extractHeapBitsSmall
  runtime.(*gcControllerState).assignWaitingGCWorker runtime.mallocgcSmallNoScanSC*
  runtime.mallocgcSmallScanNoHeaderSC* runtime.mallocgcTinySize* runtime.(*maybeTraceablePtr).*
  runtime.(*maybeTraceableChan).* runtime.acquirepNoTrace runtime.exitsyscallNoP
  runtime.exitsyscallTryGetP runtime.gcShouldScheduleWorker runtime.procyieldAsm
""",
    "1.27": """
  runtime.mallocgcTinySC2 runtime.mallocgcTinySlowPath runtime.mallocgcSmallScanSlowPath
  runtime.mallocgcSmallNoScanSlowPath internal/runtime/maps.MemHash*
  internal/runtime/maps.memHash* internal/runtime/maps.StrHash
  internal/runtime/maps.(*table).uncheckedPutSlotForAssign* runtime.cheaprandu64
  runtime.postMallocgc
""",
}
LAST = {
    "1.13": """
  runtime.timerproc runtime.scang runtime.(*mheap).alloc_m runtime.gchelper
  runtime.(*mheap).allocSpanLocked
""",
    "1.15": "runtime.largeAlloc",
    "1.16": "runtime.(*mspan).sweep",
    "1.18": """
  runtime.findrunnable runtime.(*gcControllerState).effectiveGrowthRatio runtime.semroot
  runtime.wakeScavenger
""",
    "1.19": """
  runtime.epollwait runtime.getStackMap runtime.heapBits.bits runtime.heapBits.initSpan
  runtime.heapBits.isPointer runtime.heapBits.forward runtime.heapBitsSetTypeGCProg
  runtime.(*headTailIndex).*
""",
    "1.20": """
  runtime.gcWriteBarrier runtime.gentraceback runtime.(*wbBuf).putFast
  runtime.(*scavengeIndex).mark
""",
    "1.21": """
  runtime.convI2I runtime.assertI2I runtime.assertI2I2 runtime.addOneOpenDeferFrame
  runtime.runOpenDeferFrame runtime.fastrandu sync.fastrandn
""",
    "1.22": """
  runtime/internal/atomic.* runtime/internal/syscall.* runtime.heapBitsSetType
  runtime.heapBits.next runtime.heapBits.nextFast runtime.heapBitsForAddr
  runtime.writeHeapBits.write runtime.writeHeapBits.flush runtime.writeHeapBitsForAddr
  runtime.checkTimers runtime.runtimer runtime.adjusttimers runtime.runOneTimer runtime.addtimer
  runtime.doaddtimer runtime.dodeltimer0 runtime.cleantimers runtime.siftupTimer
  runtime.siftdownTimer time.startTimer
""",
    "1.23": """
  runtime.heapSetType sync.(*Mutex).lockSlow sync.(*Mutex).unlockSlow sync.runtime_SemacquireMutex
  runtime.casgcopystack sync.runtime_nanotime
""",
    "1.24": """
  runtime.(*gcWork).put runtime.(*gcWork).putFast runtime.(*gcWork).putBatch
  runtime.(*gcWork).tryGet runtime.(*gcWork).tryGetFast runtime.runfinq
  runtime.(*mLockProfile).recordLock runtime.return0
""",
    "1.25": """
  runtime.scanobject internal/runtime/syscall.EpollWait internal/runtime/syscall.Syscall6
  runtime.evacuate* runtime.growWork* runtime.hashGrow runtime.(*bmap).* runtime.(*hmap).*
  runtime.bucketShift runtime.bucketMask runtime.tophash runtime.isEmpty runtime.evacuated
  runtime.exitsyscallfast runtime.exitsyscall0 runtime.entersyscall_gcwait sync.(*entry).*
""",
    "1.26": """
  runtime.memhash32Fallback runtime.memhash64Fallback runtime.memhashFallback
  runtime.strhashFallback runtime.mallocgcTinySize* aeshashbody
""",
}
