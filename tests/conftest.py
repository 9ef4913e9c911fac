"""A local web server and one renderer for all tests that need a browser."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pagesight.render.browser import find_browser
from pagesight.render.capture import Renderer
from pagesight.render.loop import LoopThread


@dataclass
class Route:
    """What one path answers; `body` is bytes, or pieces sent as they come."""

    body: bytes | Iterable[bytes] = b""
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0


class Server:
    """A threaded HTTP server of given routes that remembers what it was asked for."""

    def __init__(self) -> None:
        self.routes: dict[str, Route] = {}
        self.requests: list[str] = []
        self.bodies: list[bytes] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        self.port = self._http.server_port
        self.url = f"http://127.0.0.1:{self.port}"

    def add(self, path: str, body: str | bytes | Iterable[bytes] = b"", **options: object) -> str:
        """Serve `body` at `path`; the address of it."""
        content = body.encode() if isinstance(body, str) else body
        self.routes[path] = Route(content, **options)  # type: ignore[arg-type]
        return self.url + path

    def redirect(self, path: str, target: str) -> str:
        return self.add(path, status=302, headers={"Location": target})

    def close(self) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                _answer(server, self)

            do_POST = do_HEAD = do_GET

            def log_message(self, *_: object) -> None:
                return

        return Handler


def _answer(server: Server, handler: BaseHTTPRequestHandler) -> None:
    server.requests.append(handler.path)
    if size := int(handler.headers.get("Content-Length", 0)):
        server.bodies.append(handler.rfile.read(size))
    route = server.routes.get(handler.path.partition("?")[0], Route(b"nothing here", status=404))
    time.sleep(route.delay)
    whole = isinstance(route.body, bytes)
    try:
        handler.send_response(route.status)
        handler.send_header("Content-Type", route.content_type)
        if whole:
            handler.send_header("Content-Length", str(len(route.body)))
        for name, value in route.headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        if handler.command != "HEAD":
            for piece in [route.body] if whole else route.body:
                handler.wfile.write(piece)
    except OSError:
        return


@pytest.fixture
def make_server() -> Iterator[Callable[[], Server]]:
    servers: list[Server] = []

    def make() -> Server:
        servers.append(Server())
        return servers[-1]

    yield make
    for server in servers:
        server.close()


@pytest.fixture
def server(make_server: Callable[[], Server]) -> Server:
    return make_server()


@pytest.fixture(scope="session")
def loop() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.close()


@pytest.fixture(scope="session")
def renderer(loop: LoopThread) -> Iterator[Renderer]:
    """A started renderer that may open addresses of this machine."""
    if find_browser() is None:
        pytest.skip("no Chromium on this machine")
    made = Renderer(allow_private=True)
    loop.run(made.start())
    yield made
    loop.run(made.close())
