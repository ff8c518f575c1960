"""A server on this machine that remembers who asked it for what: a page that asks nobody leaves it alone."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class _Counter(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        page = self.server.pages.get(self.path)
        self.send_response(404 if page is None else 200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write((page or "").encode())

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_):
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Counter)
        self.connections, self.asked, self.pages = 0, [], {}
        self.address = f"http://127.0.0.1:{self.server_port}/"

    def process_request(self, *connection):
        self.connections += 1  # also those on which nothing is asked
        super().process_request(*connection)


@contextmanager
def counting_server():
    server = _Server()
    # `shutdown` waits for the next look at whether the server shall end.
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()
