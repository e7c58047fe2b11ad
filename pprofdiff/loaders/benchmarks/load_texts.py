"""Read the summaries that load generators print for people.

Each reader takes the text from the tool's first known line on, and raises
NoSummaryError where a line is missing that the tool always prints.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

from pprofdiff.model.benchmarks import LoadSummary, Loop, loop_of

_MOST_DIGITS = 15  # up to here, sums and products are finite and counts exact
_NUMBER = rb"(\d+(?:\.\d+)?)"
_HEY_MOST_TIMES = 1_000_000  # requester/report.go, maxRes

# Go's time.Duration, wrk's units.c, and the words of hey, oha and ghz.
_SECONDS = {
    b"ns": 1e-9,
    b"us": 1e-6,
    "µs".encode(): 1e-6,
    b"ms": 1e-3,
    b"s": 1.0,
    b"sec": 1.0,
    b"secs": 1.0,
    b"m": 60.0,
    b"h": 3600.0,
}
_PART = re.compile(_NUMBER + rb" ?(ns|us|\xc2\xb5s|ms|secs?|s|m|h)(?![a-z])")
_DURATION = rb"((?:\d[\d.]* ?(?:ns|us|\xc2\xb5s|ms|secs?|s|m|h))+)"


T = TypeVar("T")


class NoSummaryError(ValueError):
    """A line is missing, or a number is longer than any load generator prints it."""


def known(found: T | None) -> T:
    """Return what a summary always has; raises NoSummaryError for None."""
    if found is None:
        raise NoSummaryError
    return found


def hey(text: bytes) -> LoadSummary:
    """Read what hey prints (requester/print.go)."""
    total, rate = _total_and_rate(text)
    requests, failed = _hey_counts(text, total, rate)
    return _of_summary("hey", text, (total, requests, failed, rate), "closed")


def _hey_counts(
    text: bytes, seconds: float, rate: float
) -> tuple[int | None, int | None]:
    """Return the numbers of requests and of failed requests; None is unknown.

    Hey keeps the status of only the first million responses, so the total is checked
    against the printed rate, which is accurate to 0.00005.
    """
    good, bad = _statuses(text)
    total, made = good + bad, rate * seconds
    blur = 0.00005 * (rate + seconds) + 1e-6
    if good < _HEY_MOST_TIMES and abs(total - made) <= blur:
        return total, bad
    return (round(made) if blur < 0.5 else None), None


def oha(text: bytes) -> LoadSummary:
    """Read what oha prints; requests that its deadline ended count as failed."""
    total, rate = _total_and_rate(text)
    good, bad = _statuses(text)
    return _of_summary("oha", text, (total, good + bad, bad, rate), "")


def ghz(text: bytes) -> LoadSummary:
    """Read ghz's summary of gRPC calls; statuses other than OK are failures."""
    total, rate = _total_and_rate(text)
    count = known(_count(rb"  Count:\t", text))
    fine = _count(rb"  \[OK\] +", text) or 0
    return _of_summary("ghz", text, (total, count, count - fine, rate), "")


def _total_and_rate(text: bytes) -> tuple[float, float]:
    total, rate = _duration(rb"  Total:\t", text), _number(rb"  Requests/sec:\t", text)
    return known(total), known(rate)


def _of_summary(
    tool: str,
    text: bytes,
    counted: tuple[float, int | None, int | None, float],
    loop: Loop,
) -> LoadSummary:
    """Return a summary with the latencies as hey, oha and ghz print them."""
    # oha may repeat the distribution for 2xx only, and for others.
    first = text.partition(b" only):")[0]
    found = _percentiles(rb"(?m)^  " + _NUMBER + rb" ?%{1,2} in ", first)
    slowest = _duration(rb"  Slowest:\t", text)
    if slowest:  # ghz prints 0 where no call succeeded
        found[100.0] = slowest
    mean = _duration(rb"  Average:\t", text)
    return summary(tool, counted, found, mean, None, loop)


def _statuses(text: bytes) -> tuple[int, int]:
    """Return how many requests had a status below 400, and how many others ended."""
    codes = re.findall(rb"(?m)^  \[(\d{3})\][\t ]+(\d+) responses", text)
    _, _, rest = text.partition(b"Error distribution:")
    listed = re.match(rb"\r?\n((?:  \[\d+\][\t ][^\n]*(?:\n|\Z))*)", rest)
    errors = re.findall(rb"(?m)^  \[(\d+)\]", listed[1]) if listed else []
    good = sum(_int(count) for code, count in codes if int(code) < 400)
    answered = sum(_int(count) for _, count in codes)
    return good, answered - good + sum(map(_int, errors))


def wrk(text: bytes) -> LoadSummary:
    """Read what wrk and wrk2 print (wrk.c); wrk2's histogram is an HdrHistogram."""
    rate = known(_number(rb"Requests/sec: +", text))
    total = _line(rb"^  (\d+) requests in " + _DURATION, text)
    requests, seconds = _int(total[1]), _seconds(total[2])
    if total[2][-1:] in b"mh" and rate > float(total[2][:-1]):
        # Both have two decimals, so the larger number is more precise.
        seconds = requests / rate
    refused = _count(rb"  Non-2xx or 3xx responses: ", text) or 0
    sockets = re.search(
        rb"(?m)^  Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)",
        text,
    )
    failed = refused + sum(map(_int, sockets.groups())) if sockets else refused
    row = re.search(rb"(?m)^    Latency +" + _DURATION + rb" +\S+ +" + _DURATION, text)
    # wrk2 -U prints a second distribution, which leaves out delayed starts.
    found = _percentiles(
        rb"(?m)^ *" + _NUMBER + rb"% +", text.partition(b"(HdrHistogram - Unc")[0]
    )
    mean = None
    if row is not None and _seconds(row[2]):  # 0 where nothing was answered
        mean = _seconds(row[1])
        found.setdefault(100.0, _seconds(row[2]))
    connections = _count(rb"  \d+ threads and ", text)
    paced = b"HdrHistogram" in text or b"  Thread calibration:" in text
    counted = seconds, requests, failed, rate
    if paced:
        return summary("wrk2", counted, found, mean, connections, "open")
    return summary("wrk", counted, found, mean, connections)


def vegeta(text: bytes) -> LoadSummary:
    """Read the text that vegeta reports (lib/reporters.go); its rate is set."""
    head = rb"Requests +\[total, rate(?:, throughput)?\] +(\d+), "
    first = known(re.match(head + _NUMBER, text))
    lasted = _line(rb"^Duration +\[total, [^\]]+\] +" + _DURATION, text)
    row = _line(rb"^Latencies +\[([^\]]+)\] +([^\r\n]+)", text)
    codes = _line(rb"^Status Codes +\[code:count\] +([^\r\n]*)", text)
    named = zip(row[1].split(b", "), row[2].split(b", "), strict=False)
    listed = {name: _seconds(value) for name, value in named}
    found = {float(name): value for name, value in listed.items() if name.isdigit()}
    if b"max" in listed:
        found[100.0] = listed[b"max"]
    requests = _int(first[1])
    good = sum(
        _int(count)
        for code, count in re.findall(rb"(\d+):(\d+)", codes[1])
        if 200 <= int(code) < 400
    )
    counted = _seconds(lasted[1]), requests, requests - good, _float(first[2])
    return summary("vegeta", counted, found, listed.get(b"mean"), None, "open")


def ab(text: bytes) -> LoadSummary:
    """Read what ApacheBench prints (support/ab.c); it counts milliseconds."""
    seconds = known(_duration(rb"Time taken for tests: +", text))
    rate = known(_number(rb"Requests per second: +", text))
    requests = known(_count(rb"Complete requests: +", text))
    failed = known(_count(rb"Failed requests: +", text))
    # Another length than the first answer's is no failure.
    lengths = re.search(rb"(?m)^ +\(Connect: .*Length: (\d+)", text)
    failed -= _int(lengths[1]) if lengths else 0
    failed += _count(rb"Non-2xx responses: +", text) or 0
    mean = _number(rb"Time per request: +", text)
    listed = re.search(rb"(?m)^Percentage of the requests.*\n((?: +\d+% .*\n?)*)", text)
    ranks = re.findall(rb"(\d+)% +(\d+)", listed[1] if listed else b"")
    found = {_float(rank): _int(value) / 1e3 for rank, value in ranks}
    connections = _count(rb"Concurrency Level: +", text)
    mean = None if mean is None else mean / 1e3
    counted = seconds, requests, failed, rate
    return summary("ab", counted, found, mean, connections, "closed")


def httperf(text: bytes) -> LoadSummary:
    """Read what httperf prints: each connection sends its requests one by one.

    With ``--rate``, connections are opened whether or not others were answered.
    """
    total = _line(
        rb"^Total: connections \d+ requests (\d+) replies \d+ test-duration "
        + _DURATION,
        text,
    )
    rate = known(_number(rb"Request rate: ", text))
    times = _line(
        rb"^Reply time \[ms\]: response " + _NUMBER + rb" transfer " + _NUMBER,
        text,
    )
    codes = _line(rb"^Reply status: 1xx=\d+ 2xx=(\d+) 3xx=(\d+) 4xx=\d+ 5xx=\d+", text)
    requests, good = _int(total[1]), _int(codes[1]) + _int(codes[2])
    mean = (_float(times[1]) + _float(times[2])) / 1e3
    most = re.search(rb"(?m)^Connection rate: .*<=(\d+) concurrent", text)
    connections = None if most is None else _int(most[1])
    loop: Loop | None = "open" if b" --rate=" in text.partition(b"\n")[0] else None
    counted = _seconds(total[2]), requests, max(requests - good, 0), rate
    return summary("httperf", counted, {}, mean or None, connections, loop)


def loadtest(text: bytes) -> LoadSummary:
    """Read what loadtest of npm prints; it counts whole milliseconds."""
    seconds = known(_duration(rb"Total time: +", text))
    rate = known(_number(rb"Effective rps: +", text))
    mean = known(_duration(rb"Mean latency: +", text))
    requests = known(_count(rb"Completed requests: +", text))
    failed = known(_count(rb"Total errors: +", text))
    listed = re.search(rb"(?m)^Percentage of requests.*\n((?: +\d+% .*\n?)*)", text)
    found = _percentiles(
        rb"(?m)^ *(\d+)% +",
        (listed[1] if listed else b"").replace(b" (longest request)", b""),
    )
    connections = _count(rb"Concurrent clients: +", text)
    paced = re.search(rb"(?m)^Target rps: ", text) is not None
    counted = seconds, requests, failed, rate
    loop: Loop = "" if paced else "closed"
    return summary("loadtest", counted, found, mean, connections, loop)


def h2load(text: bytes) -> LoadSummary:
    """Read what h2load prints (h2load.cc); its rate is of requests that were answered.

    Its failures include what it never sends where a connection was closed.
    """
    total = _line(rb"^finished in " + _DURATION + rb", " + _NUMBER + rb" req/s, ", text)
    counts = _line(
        rb"^requests: \d+ total, \d+ started, (\d+) done, (\d+) succeeded, ",
        text,
    )
    row = _line(
        rb"^ +min +max +mean .*\ntime for request: +\S+ +"
        + _DURATION
        + rb" +"
        + _DURATION,
        text,
    )
    mean, rate = _seconds(row[2]), _float(total[2])
    clients = re.findall(rb"(?m)^spawning thread #\d+: (\d+) total client", text)
    done, connections = _int(counts[1]), sum(map(_int, clients))
    counted = _seconds(total[1]), done, done - _int(counts[2]), rate
    return summary("h2load", counted, {100.0: _seconds(row[1])}, mean, connections)


def locust(text: bytes) -> LoadSummary:
    """Read the ``_stats.csv`` that locust writes: milliseconds of all requests.

    How many users there are, and how long they wait between requests, is not in it.
    """
    row = _line(rb"^(?:None)?,Aggregated,([^\r\n]+)", text)
    # Neither of these rows has quotes.
    names, values = text.splitlines()[0].split(b",")[2:], row[1].split(b",")
    listed = {
        name: _float(number[1])
        for name, value in zip(names, values, strict=False)
        # It prints all decimals that a float has.
        if (number := re.fullmatch(rb"(\d+(?:\.\d{1,6})?)\d*", value))
    }
    ranks = {
        _float(rank[1]): value / 1e3
        for name, value in listed.items()
        if (rank := re.fullmatch(_NUMBER + rb"%", name))
    }
    requests = known(listed.get(b"Request Count"))
    failed = known(listed.get(b"Failure Count"))
    rate = known(listed.get(b"Requests/s") or None)
    mean = known(listed.get(b"Average Response Time"))
    counted = requests / rate, int(requests), int(failed), rate
    return summary("locust", counted, ranks, mean / 1e3)


def bombardier(text: bytes) -> LoadSummary:
    """Read what bombardier prints; its rate is the mean of samples, not a ratio."""
    first = known(
        re.match(
            rb"Bombarding \S+ (?:for " + _DURATION + rb"|with \d+ request\(s\)) "
            rb"using (\d+) connection",
            text,
        )
    )
    row = _line(rb"^  Latency +" + _DURATION + rb" +\S+ +" + _DURATION, text)
    codes = _line(
        rb"^    1xx - (\d+), 2xx - (\d+), 3xx - (\d+), 4xx - (\d+), 5xx - (\d+)"
        rb"\r?\n    others - (\d+)",
        text,
    )
    *good, refused, broken, others = map(_int, codes.groups())
    requests = sum(good) + refused + broken + others
    seconds = None if first[1] is None else _seconds(first[1])
    rate = requests / seconds if seconds else None
    mean, connections = _seconds(row[1]), _int(first[2])
    found = _percentiles(rb"(?m)^ +" + _NUMBER + rb"% +", text)
    found[100.0] = _seconds(row[2])
    counted = seconds, requests, refused + broken + others, rate
    return summary("bombardier", counted, found, mean, connections)


def k6(text: bytes) -> LoadSummary:
    """Read the summary that k6 prints at the end of a test of HTTP requests."""
    name = rb"(?m)^[^\w\n]*%s\.*: +"  # a threshold puts a mark before the name
    total = known(
        re.search(name % rb"http_reqs" + rb"(\d+) +" + _NUMBER + rb"/s", text)
    )
    row = known(re.search(name % rb"http_req_duration" + rb"(avg=[^\r\n]+)", text))
    listed = {
        key: _seconds(value)
        for key, value in re.findall(rb"(\S+?)=" + _DURATION, row[1])
    }
    found = {
        _float(named[1]): value
        for key, value in listed.items()
        if (named := re.fullmatch(rb"p\(" + _NUMBER + rb"\)", key))
    }
    for key, rank in ((b"med", 50.0), (b"max", 100.0)):
        if key in listed:
            found[rank] = listed[key]
    failures = re.search(
        name % rb"http_req_failed"
        + rb"[\d.]+% +(?:\xe2\x9c\x93 (\d+)|(\d+) out of \d+)",
        text,
    )
    failed = None if failures is None else _int(failures[1] or failures[2])
    requests, rate = _int(total[1]), _float(total[2])
    users = re.search(name % rb"vus_max" + rb"(\d+)", text)
    connections = None if users is None else _int(users[1])
    counted = requests / rate if rate else None, requests, failed, rate
    return summary("k6", counted, found, listed.get(b"avg"), connections)


def fortio(text: bytes) -> LoadSummary:
    """Read what fortio prints: `text` begins with the line on its start."""
    first = known(re.match(rb"Starting at (max|\S+) qps with (\d+) thread", text))
    ended = _line(
        rb"^Ended after " + _DURATION + rb" : (\d+) calls\. qps=" + _NUMBER,
        text,
    )
    row = _line(
        rb"^Aggregated Function Time : count \d+ avg "
        + _NUMBER
        + rb" .* max "
        + _NUMBER
        + rb".*\n((?:[#>].*\n)*)",
        text,
    )
    requests, rate, mean = _int(ended[2]), _float(ended[3]), _float(row[1])
    codes = re.findall(rb"(?m)^Code +(\w+) : (\d+)", text)
    good = sum(_int(count) for code, count in codes if good_status(code.decode()))
    # Histograms of sleeps and of connections are printed alike.
    listed = re.findall(rb"(?m)^# target " + _NUMBER + rb"% " + _NUMBER, row[3])
    found = {_float(rank): _float(value) for rank, value in listed}
    found[100.0] = _float(row[2])
    connections = _int(first[2])
    failed = requests - good if codes else None
    counted = _seconds(ended[1]), requests, failed, rate
    loop: Loop | None = None if first[1] == b"max" else ""
    return summary("fortio", counted, found, mean, connections, loop)


def summary(
    tool: str,
    counted: tuple[float | None, int | None, int | None, float | None],
    latencies: Mapping[float, float],
    mean: float | None = None,
    connections: int | None = None,
    loop: Loop | None = None,
) -> LoadSummary:
    """Return the summary of a run; a `loop` of None is as `loop_of` finds it.

    `counted` are the seconds, requests, failures, and requests per second. `latencies`
    are seconds by percentile.
    """
    if loop is None:
        loop = loop_of(counted[-1], mean, connections)
    ranked = tuple(sorted(latencies.items()))
    return LoadSummary(tool, *counted, ranked, mean, connections, loop)


def good_status(code: str) -> bool:
    """Return whether a status is no failure: HTTP below 400, gRPC OK or SERVING."""
    return code in ("OK", "SERVING") or (code.isdecimal() and 200 <= int(code) < 400)


def _line(pattern: bytes, text: bytes) -> re.Match[bytes]:
    return known(re.search(rb"(?m)" + pattern, text))


def _number(before: bytes, text: bytes) -> float | None:
    """Return the number of the line that begins with `before`, None without it."""
    match = re.search(rb"(?m)^" + before + _NUMBER, text)
    return None if match is None else _float(match[1])


def _count(before: bytes, text: bytes) -> int | None:
    match = re.search(rb"(?m)^" + before + rb"(\d+)", text)
    return None if match is None else _int(match[1])


def _duration(before: bytes, text: bytes) -> float | None:
    match = re.search(rb"(?m)^" + before + _DURATION, text)
    return None if match is None else _seconds(match[1])


def _percentiles(before: bytes, text: bytes) -> dict[float, float]:
    """Return seconds by percentile, which `before` matches with what follows it."""
    found = re.findall(before + _DURATION + rb"(?=[ \t]*\r?$)", text)
    return {_float(rank): _seconds(value) for rank, value in found}


def _seconds(text: bytes) -> float:
    """Return a duration, which may have several parts, such as ``1m2.5s``."""
    return sum(_float(value) * _SECONDS[unit] for value, unit in _PART.findall(text))


def _float(number: bytes) -> float:
    if len(number) > _MOST_DIGITS:
        raise NoSummaryError
    return float(number)


def _int(number: bytes) -> int:
    if len(number) > _MOST_DIGITS:
        raise NoSummaryError
    return int(number)
