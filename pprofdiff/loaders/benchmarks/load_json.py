"""Read the summaries that load generators write as JSON, as `load_texts` does text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from json import JSONDecoder
from typing import Any

from pprofdiff.loaders.benchmarks.load_texts import (
    NoSummaryError,
    good_status,
    known,
    summary,
)
from pprofdiff.model.benchmarks import LoadSummary, Loop

_MOST = 1e15  # up to here, sums and products are finite and counts exact
# ghz lists each call after everything else: it may be far longer than a summary.
_DETAILS = re.compile(rb',\s*"details":\s*\[')

Object = Mapping[str, Any]


def decoded(text: bytes) -> Object:
    """Return the object that `text` begins with; raises NoSummaryError."""
    if details := _DETAILS.search(text):
        text = text[: details.start()] + b"}"
    try:
        tree, _ = JSONDecoder().raw_decode(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        tree = None
    return known(tree if isinstance(tree, dict) else None)


def vegeta(tree: Object) -> LoadSummary:
    """Read ``vegeta report -type=json``: nanoseconds; the rate is set."""
    requests, rate = known(_count(tree, "requests")), known(_number(tree, "rate"))
    lasted, waited = known(_number(tree, "duration")), known(_number(tree, "wait"))
    latencies = _at(tree, "latencies")
    failed = requests - _good(_at(tree, "status_codes"))
    found = _percentiles(latencies, 1e-9)
    mean = _scaled(_number(latencies, "mean"), 1e-9)
    counted = (lasted + waited) / 1e9, requests, failed, rate
    made = summary("vegeta", counted, found, mean, None, "open")
    return made._replace(began=_moment(tree.get("earliest")))


def k6(tree: Object) -> LoadSummary:
    """Read k6's ``--summary-export``, its handleSummary, or its new format."""
    listed = _at(tree, "results").get("metrics")
    metrics = _at(tree, "metrics")
    if isinstance(listed, list):
        metrics = {str(m.get("name")): m for m in listed if isinstance(m, dict)}
    total, times, failures, users = (
        _at(found, "values") or found
        for name in ("http_reqs", "http_req_duration", "http_req_failed", "vus_max")
        for found in [_at(metrics, name)]
    )
    requests = known(_count(total, "count"))
    lasted = _scaled(_number(_at(tree, "state"), "testRunDurationMs"), 1e-3)
    lasted = lasted or _number(_at(tree, "config"), "duration")
    rate = _number(total, "rate")
    rate = requests / known(lasted or None) if rate is None else rate
    mean = _scaled(_number(times, "avg"), 1e-3)
    failed = _count(failures, "passes")
    failed = _count(failures, "matches") if failed is None else failed
    lasted = lasted or (requests / rate if rate else None)
    found, connections = _percentiles(times, 1e-3), _count(users, "max")
    return summary("k6", (lasted, requests, failed, rate), found, mean, connections)


def bombardier(tree: Object) -> LoadSummary:
    """Read bombardier's ``-o json``: microseconds; ``rps`` is a mean of samples."""
    result, spec = _at(tree, "result"), _at(tree, "spec")
    seconds = known(_number(result, "timeTakenSeconds") or None)
    names = ("req1xx", "req2xx", "req3xx", "req4xx", "req5xx", "others")
    counts = [known(_count(result, name)) for name in names]
    times = _at(result, "latency")
    ranks = {**_at(times, "percentiles"), "max": times.get("max")}
    counted = seconds, sum(counts), sum(counts[3:]), sum(counts) / seconds
    return summary(
        "bombardier",
        counted,
        _percentiles(ranks, 1e-6),
        _scaled(_number(times, "mean"), 1e-6),
        _count(spec, "numberOfConnections"),
        "" if "rate" in spec else None,
    )


def autocannon(tree: Object) -> LoadSummary:
    """Read ``autocannon --json``: whole milliseconds."""
    seconds = known(_number(tree, "duration") or None)
    done = known(_count(_at(tree, "requests"), "total"))
    errors = known(_count(tree, "errors"))
    times = _at(tree, "latency")
    ranks = {key.replace("_", "."): value for key, value in times.items() if value}
    failed = (_count(tree, "non2xx") or 0) + errors
    mean = _scaled(_number(times, "mean"), 1e-3)
    counted = seconds, done + errors, failed, done / seconds
    found, connections = _percentiles(ranks, 1e-3), _count(tree, "connections")
    made = summary("autocannon", counted, found, mean, connections)
    return made._replace(began=_moment(tree.get("start")))


def oha(tree: Object) -> LoadSummary:
    """Read oha's JSON: seconds; it does not say how many connections there were."""
    whole = _at(tree, "summary")
    seconds = known(_number(whole, "total"))
    rate = known(_number(whole, "requestsPerSec"))
    codes, errors = _at(tree, "statusCodeDistribution"), _at(tree, "errorDistribution")
    requests = sum(_count(codes, code) or 0 for code in codes)
    requests += sum(_count(errors, error) or 0 for error in errors)
    ranks = {**_at(tree, "latencyPercentiles"), "max": whole.get("slowest")}
    counted = seconds, requests, requests - _good(codes), rate
    found, mean = _percentiles(ranks, 1.0), _number(whole, "average")
    return summary("oha", counted, found, mean)


def ghz(tree: Object) -> LoadSummary:
    """Read ``ghz -O json``: nanoseconds."""
    total, rate = known(_number(tree, "total")), known(_number(tree, "rps"))
    requests = known(_count(tree, "count"))
    keys = "percentage", "latency"
    found = _listed(tree.get("latencyDistribution"), keys, 1e-9)
    if longest := _number(tree, "slowest"):  # 0 where no call succeeded
        found[100.0] = longest / 1e9
    options = _at(tree, "options")
    failed = requests - _good(_at(tree, "statusCodeDistribution"))
    mean = _scaled(_number(tree, "average"), 1e-9)
    loop: Loop | None = "" if options.get("rps") else None
    connections = _count(options, "concurrency")
    counted = total / 1e9, requests, failed, rate
    return summary("ghz", counted, found, mean, connections, loop)


def fortio(tree: Object) -> LoadSummary:
    """Read ``fortio load -json``: seconds, but the duration is in nanoseconds."""
    times = _at(tree, "DurationHistogram")
    lasted = known(_number(tree, "ActualDuration"))
    rate = known(_number(tree, "ActualQPS"))
    requests = known(_count(times, "Count"))
    found = _listed(times.get("Percentiles"), ("Percentile", "Value"), 1.0)
    if (longest := _number(times, "Max")) is not None:
        found[100.0] = longest
    codes, connections = _at(tree, "RetCodes"), _count(tree, "NumThreads")
    failed = requests - _good(codes) if codes else None
    counted = lasted / 1e9, requests, failed, rate
    loop: Loop | None = None if tree.get("RequestedQPS") == "max" else ""
    mean = _number(times, "Avg")
    made = summary("fortio", counted, found, mean, connections, loop)
    return made._replace(began=_moment(tree.get("StartTime")))


def siege(tree: Object) -> LoadSummary:
    """Read what siege prints: seconds with two decimals, too few for latencies."""
    done = known(_count(tree, "transactions"))
    failed = known(_count(tree, "failed_transactions"))
    seconds = known(_number(tree, "elapsed_time"))
    rate = known(_number(tree, "transaction_rate"))
    return LoadSummary("siege", seconds, done + failed, failed, rate)


def _at(tree: Object, key: str) -> Object:
    found = tree.get(key)
    return found if isinstance(found, dict) else {}


def _number(tree: object, key: str) -> float | None:
    found = tree.get(key) if isinstance(tree, dict) else None
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    if not 0 <= found < _MOST:
        raise NoSummaryError
    return float(found)


def _count(tree: Object, key: str) -> int | None:
    found = _number(tree, key)
    return None if found is None else int(found)


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _good(codes: Object) -> int:
    return sum(_count(codes, code) or 0 for code in codes if good_status(code))


def _percentiles(times: Object, factor: float) -> dict[float, float]:
    """Return seconds by percentile of keys such as ``50``, ``50th``, ``p(50)``."""
    found = {}
    for key in times:
        rank = {"med": "50", "max": "100"}.get(key, key.strip("p()th"))
        value = _number(times, key) if rank.replace(".", "", 1).isdecimal() else None
        if value is not None and float(rank) <= 100:
            found[float(rank)] = value * factor
    return found


def _listed(
    entries: object, keys: tuple[str, str], factor: float
) -> dict[float, float]:
    """Return seconds by percentile of a list whose entries have both under `keys`."""
    return {
        rank: latency * factor
        for entry in (entries if isinstance(entries, list) else [])
        if (rank := _number(entry, keys[0])) is not None
        and (latency := _number(entry, keys[1])) is not None
    }


def _moment(text: object) -> float | None:
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except (ValueError, OverflowError):
        return None
