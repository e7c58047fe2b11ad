"""A store that is slow, throttles or fails: what a real one answers, by way of a relay."""

from __future__ import annotations

import http.client
import threading
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

SLOW_DOWN = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>SlowDown</Code>'
    b"<Message>Please reduce your request rate: SECRET</Message></Error>"
)


class Relay(ThreadingHTTPServer):
    """Answers with 503 where it is asked to, after `hang` seconds if it still serves.

    `fails` gets the path that is asked for and how often it was, from 1.
    """

    daemon_threads = True

    def __init__(self, address, *, fails, hang=0.0):
        super().__init__(("127.0.0.1", 0), Handler)
        self.store, self.fails, self.hang = urlsplit(address), fails, hang
        self.asked = Counter()
        self.over = threading.Event()
        self.lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    """Passes on what is asked, and what is answered."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):  # noqa: D102 - named so by http.server
        with self.server.lock:
            self.server.asked[self.path] += 1
            times = self.server.asked[self.path]
        if self.server.fails(self.path, times):
            if not self.server.over.wait(self.server.hang):
                self.answer(503, {"Content-Type": "application/xml"}, SLOW_DOWN)
            return
        store = self.server.store
        # The Host that was signed is passed on as it is.
        asking = http.client.HTTPConnection(store.hostname, store.port, timeout=30)
        asking.request(self.command, self.path, headers=dict(self.headers))
        got = asking.getresponse()
        self.answer(got.status, dict(got.getheaders()), got.read())
        asking.close()

    do_HEAD = do_GET  # noqa: N815 - likewise

    def answer(self, status, headers, body):
        """Send an answer of known length."""
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in (
                "content-length",
                "transfer-encoding",
                "connection",
            ):
                self.send_header(name, value)
        length = headers.get("Content-Length", len(body))
        self.send_header("Content-Length", str(length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


@contextmanager
def relayed(address, **how):
    """Serve a store through a relay; yield (address, relay)."""
    relay = Relay(address, **how)
    thread = threading.Thread(target=relay.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{relay.server_address[1]}", relay
    finally:
        relay.over.set()
        relay.shutdown()
        relay.server_close()
        thread.join()
