"""The filtering proxy: what it lets through, what it refuses, and that it passes messages whole."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator

import httpx
import pytest

from pagesight.render.addresses import is_public
from pagesight.render.errors import ForbiddenError, SourceError
from pagesight.render.guard import REASON_HEADER, ClosedPort, Guard, check_url
from pagesight.render.loop import LoopThread


@pytest.fixture
def guard(loop: LoopThread) -> Iterator[Guard]:
    """A guard that lets this machine's own addresses through."""
    made = Guard(allow_private=True)
    loop.run(made.start())
    yield made
    loop.run(made.close())


@pytest.fixture
def strict(loop: LoopThread) -> Iterator[Guard]:
    made = Guard()
    loop.run(made.start())
    yield made
    loop.run(made.close())


def client(guard: Guard) -> httpx.Client:
    return httpx.Client(proxy=guard.url, trust_env=False, timeout=10)


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "100.64.0.1",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
        "172.16.0.1",
        "192.0.0.1",
        "192.0.2.1",
        "192.168.1.1",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "2001::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:a00:1::1",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "fc00::1",
        "fd12::1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
    ],
)
def test_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    ["1.1.1.1", "93.184.215.14", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"],
)
def test_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "data:text/html,x",
        "chrome://version",
        "view-source:http://a.example/",
        "javascript:1",
        "ftp://a.example/",
        "about:blank",
        "/etc/passwd",
        "",
    ],
)
def test_schemes(url: str) -> None:
    with pytest.raises(ForbiddenError):
        check_url(url)


@pytest.mark.parametrize("url", ["http://", "https:///x", "http://[::1", "http://a:99999999/"])
def test_addresses_without_a_host(url: str) -> None:
    with pytest.raises(SourceError):
        check_url(url)


def test_get(guard: Guard, server) -> None:
    url = server.add("/a", "hello", headers={"Keep-Alive": "timeout=5", REASON_HEADER: "forged"})
    with client(guard) as http:
        answer = http.get(url + "?q=1&r=%20")
    assert (answer.status_code, answer.text) == (200, "hello")
    assert server.requests == ["/a?q=1&r=%20"]
    assert REASON_HEADER not in answer.headers
    assert "keep-alive" not in answer.headers


def test_many_requests_of_one_client(guard: Guard, server) -> None:
    url = server.add("/", "x" * 100_000)
    with client(guard) as http:
        assert [len(http.get(url).content) for _ in range(20)] == [100_000] * 20
        assert http.head(url).headers["content-length"] == "100000"
        assert http.get(url + "none").status_code == 404


def test_post(guard: Guard, server) -> None:
    url = server.add("/", "ok")
    body = bytes(range(256)) * 4000
    with client(guard) as http:
        assert http.post(url, content=body).text == "ok"
    assert server.bodies == [body]


def one_shot(answer: bytes, seen: list[bytes]) -> str:
    """A raw server of one connection; the address of it."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with listener, listener.accept()[0] as connection:
            connection.settimeout(2)
            try:
                while piece := connection.recv(65536):
                    seen.append(piece)
                    if b"\r\n\r\n" in piece:
                        connection.sendall(answer)
            except OSError:
                return

    threading.Thread(target=serve, daemon=True).start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}/"


def test_chunks_both_ways(guard: Guard) -> None:
    seen: list[bytes] = []
    url = one_shot(
        b"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n"
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n"
        b"5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: t\r\n\r\n",
        seen,
    )
    with client(guard) as http:
        assert http.post(url, content=iter([b"ab", b"cde"])).text == "hello world"
    assert b"transfer-encoding: chunked" in b"".join(seen).lower()
    assert b"connection: close" in b"".join(seen).lower()


def test_a_server_that_keeps_the_connection_open(guard: Guard) -> None:
    url = one_shot(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", [])
    with client(guard) as http:
        assert http.get(url).text == "ok"


def test_a_server_that_speaks_no_http(guard: Guard) -> None:
    url = one_shot(b"SSH-2.0-OpenSSH\r\n\r\n", [])
    with client(guard) as http, pytest.raises(httpx.HTTPError):
        http.get(url).raise_for_status()


def test_an_answer_cut_short(guard: Guard) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with listener.accept()[0] as connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf")

        threading.Thread(target=serve, daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        with client(guard) as http, pytest.raises(httpx.HTTPError):
            http.get(url)


def tunnel(guard: Guard, host: str) -> socket.socket:
    port = int(guard.url.rpartition(":")[2])
    connection = socket.create_connection(("127.0.0.1", port), timeout=5)
    connection.sendall(f"CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    return connection


def test_connect(guard: Guard, server) -> None:
    server.add("/", "through")
    with tunnel(guard, f"127.0.0.1:{server.port}") as connection:
        assert connection.recv(100).startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    assert answer.endswith(b"through")


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"GET / HTTP/1.1",
        b"GET https://a.example/ HTTP/1.1",
        b"GET ftp://a.example/ HTTP/1.1",
        b"CONNECT a.example HTTP/1.1",
        b"CONNECT a.example:x HTTP/1.1",
        b"GET http://a.example:99999999/ HTTP/1.1",
    ],
)
def test_requests_that_are_none(guard: Guard, line: bytes) -> None:
    port = int(guard.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(line + b"\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:7f00:1]"]
)
def test_loopback_in_every_spelling(strict: Guard, host: str) -> None:
    port = int(strict.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(f"GET http://{host}/ HTTP/1.1\r\n\r\n".encode())
        answer = connection.recv(1000)
    assert answer.startswith(b"HTTP/1.1 403")
    assert b"not public" in answer


def test_refusals_are_remembered(strict: Guard, server) -> None:
    server.add("/", "secret")
    with client(strict) as http:
        assert http.get(server.url).status_code == 403
    with tunnel(strict, "127.0.0.1:443") as connection:
        assert connection.recv(100).startswith(b"HTTP/1.1 403")
    assert not server.requests
    assert strict.refused == [f"127.0.0.1:{server.port}", "127.0.0.1:443"]
    failure = strict.failure("https://127.0.0.1/x")
    assert failure is not None
    assert failure.forbidden


def test_dead_hosts(guard: Guard) -> None:
    closed = ClosedPort()
    with client(guard) as http:
        for url in (closed.url, "http://no-such-host.invalid/"):
            answer = http.get(url)
            assert answer.status_code == 502
            failure = guard.failure(url)
            assert failure is not None
            assert not failure.forbidden
    closed.close()
    assert guard.refused == []


@pytest.mark.timeout(20)
def test_close_ends_every_connection(loop: LoopThread, make_server: Callable) -> None:
    slow = make_server()
    url = slow.add("/", "late", delay=30)
    guard = Guard(allow_private=True)
    loop.run(guard.start())
    open_tunnel = tunnel(guard, f"127.0.0.1:{slow.port}")
    assert open_tunnel.recv(100).startswith(b"HTTP/1.1 200")
    idle = socket.create_connection(("127.0.0.1", int(guard.url.rpartition(":")[2])))
    failed: list[str] = []

    def ask() -> None:
        try:
            with client(guard) as http:
                http.get(url)
        except httpx.HTTPError as error:
            failed.append(str(error))

    waiting = threading.Thread(target=ask)
    waiting.start()
    while "/" not in slow.requests:
        threading.Event().wait(0.01)
    loop.run(guard.close())
    waiting.join(5)
    assert len(failed) == 1
    assert open_tunnel.recv(100) == b""
    assert idle.recv(100) == b""
    open_tunnel.close()
    idle.close()

    async def rest() -> int:
        return sum("Guard" in repr(task) for task in asyncio.all_tasks())

    assert loop.run(rest()) == 0


@pytest.mark.timeout(20)
def test_a_client_that_goes_away_ends_the_exchange(guard: Guard, loop: LoopThread) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        target = f"127.0.0.1:{listener.getsockname()[1]}"
        port = int(guard.url.rpartition(":")[2])
        connection = socket.create_connection(("127.0.0.1", port))
        connection.sendall(f"GET http://{target}/ HTTP/1.1\r\n\r\n".encode())
        upstream = listener.accept()[0]
        upstream.settimeout(5)
        assert upstream.recv(65536).startswith(b"GET / HTTP/1.1\r\nHost: 127.0.0.1")
        connection.close()
        assert upstream.recv(100) == b""
        upstream.close()
