"""A server on this machine, for downloads, which can misbehave."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


@pytest.fixture
def serve():
    """``serve(content, ...)`` gives an address that serves it, and the list of Range headers asked.

    Args:
        drop_after: bytes after which a connection is closed.
        ranges: whether Range is honoured.
        errors: status codes of the first answers.
    """
    running = []

    def start(content, drop_after=None, ranges=True, errors=()):
        requests, pending = [], list(errors)

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                wanted = self.headers.get("Range")
                requests.append(wanted)
                if pending:
                    self.send_error(pending.pop(0))
                    return
                start = int(wanted.split("=")[1].rstrip("-")) if wanted and ranges else 0
                if start >= len(content):
                    self.send_error(416)
                    return
                self.send_response(206 if wanted and ranges else 200)
                self.send_header("Content-Length", str(len(content) - start))
                self.end_headers()
                end = len(content) if drop_after is None else start + drop_after
                self.wfile.write(content[start:end])
                self.close_connection = True

            def log_message(self, *args):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        running.append((server, thread))
        return f"http://127.0.0.1:{server.server_port}/file.bin", requests

    yield start
    for server, thread in running:
        server.shutdown()
        thread.join()
        server.server_close()
