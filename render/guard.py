"""A filtering proxy: the only way out for the browser and for the plain fetcher.

It resolves each name itself, refuses a target if any of its addresses is not public, and connects
to exactly an address that it has checked, so that a name cannot change its address between the
check and the use.
"""

from __future__ import annotations

import asyncio
import os
import socket
from asyncio import IncompleteReadError, StreamReader, StreamWriter
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from .addresses import resolve
from .errors import ForbiddenError, SourceError
from .relay import (
    BadMessage,
    Head,
    end_stream,
    forwarded,
    read_head,
    relay_all,
    relay_request_body,
    relay_response,
    run_all,
    run_first,
)

REASON_HEADER = "x-pagesight-guard"

_PORTS = {"http": 80, "https": 443}
_HEAD_SECONDS = 60.0
_CONNECT_SECONDS = 10.0
_FAILURES_KEPT = 256
_BUFFER = 256 * 1024


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a target was not reached: the guard forbids it, or nothing answers there."""

    forbidden: bool
    reason: str


def check_url(url: str) -> None:
    """Raise ForbiddenError unless the scheme is http or https, SourceError without a host."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise SourceError(f"{url}: no valid address: {error}") from error
    if parts.scheme not in _PORTS:
        raise ForbiddenError(f"{url}: only http and https addresses are fetched")
    if not host:
        raise SourceError(f"{url}: no host in this address")


class Guard:
    """The proxy, on a port of 127.0.0.1 of its own.

    It answers 403 for a forbidden target and 502 for one that cannot be reached, both with the
    reason in the header REASON_HEADER.
    """

    def __init__(self, allow_private: bool = False) -> None:
        self.allow_private = allow_private
        self._failures: dict[str, Failure] = {}
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def url(self) -> str:
        """The proxy's own address; it has to be started."""
        if self._server is None:
            raise RuntimeError("the guard is not started")
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    @property
    def refused(self) -> list[str]:
        """The latest forbidden targets, "host:port"."""
        return [target for target, failure in self._failures.items() if failure.forbidden]

    def failure(self, url: str) -> Failure | None:
        """Why the host of an address was not reached the last time, if it was not."""
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme, 0)
        return self._failures.get(_target(parts.hostname or "", port))

    async def start(self) -> None:
        """Listen; does nothing where it already does."""
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=_BUFFER)

    async def close(self) -> None:
        """Stop listening and end every connection."""
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await server.wait_closed()

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            async with asyncio.timeout(_HEAD_SECONDS):
                head = await read_head(reader)
            await self._exchange(head, reader, writer)
        except BadMessage as error:
            writer.write(_answer(400, str(error)))
        except (IncompleteReadError, OSError):
            # Either side has gone; a TimeoutError is an OSError.
            writer.transport.abort()
        except asyncio.CancelledError:
            # By `close`: there is nothing above this task that should hear of it.
            writer.transport.abort()
        finally:
            self._tasks.discard(task)
            await end_stream(writer)

    async def _exchange(self, head: Head, reader: StreamReader, writer: StreamWriter) -> None:
        method, host, port, path = _parse(head)
        try:
            upstream = await self._dial(host, port)
        except SourceError as error:
            self._note(_target(host, port), error)
            forbidden = isinstance(error, ForbiddenError)
            writer.write(_answer(403 if forbidden else 502, str(error)))
            await writer.drain()
            return
        self._failures.pop(_target(host, port), None)
        try:
            if method == "CONNECT":
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await run_all(relay_all(reader, upstream[1]), relay_all(upstream[0], writer))
            else:
                await _forward(head, (method, host, port, path), (reader, writer), upstream)
        finally:
            await end_stream(upstream[1])

    async def _dial(self, host: str, port: int) -> tuple[StreamReader, StreamWriter]:
        """Connect to a checked address of a host. Raises ForbiddenError, SourceError."""
        if not self.allow_private and port not in _PORTS.values():
            raise ForbiddenError(f"{host}: port {port} is neither 80 nor 443")
        reason = "no address"
        for address in await resolve(host, port, allow_private=self.allow_private):
            try:
                async with asyncio.timeout(_CONNECT_SECONDS):
                    return await asyncio.open_connection(address, port, limit=_BUFFER)
            except TimeoutError:
                reason = "no answer"
            except OSError as error:
                reason = os.strerror(error.errno) if error.errno else str(error)
        raise SourceError(f"{host}: cannot connect: {reason.lower()}")

    def _note(self, target: str, error: SourceError) -> None:
        self._failures.pop(target, None)
        self._failures[target] = Failure(isinstance(error, ForbiddenError), str(error))
        while len(self._failures) > _FAILURES_KEPT:
            del self._failures[next(iter(self._failures))]


class ClosedPort:
    """A proxy address where nothing will ever listen: what is sent there goes nowhere."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None

    @property
    def url(self) -> str:
        """The address; the port is held until `close`, so that no other program can get it."""
        if self._socket is None:
            self._socket = socket.socket()
            self._socket.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def close(self) -> None:
        """Give the port back."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


Streams = tuple[StreamReader, StreamWriter]


async def _forward(
    head: Head, request: tuple[str, str, int, str], client: Streams, upstream: Streams
) -> None:
    """Pass a plain request on and its response back, until either side is through."""
    method, host, port, path = request
    authority = _target(host, port).removesuffix(":80")
    first = f"{method} {path} HTTP/1.1"
    upstream[1].write(forwarded(first, head, [("Host", authority)], frozenset({"host"})))

    async def send() -> None:
        await relay_request_body(head, client[0], upstream[1])
        # A client that goes away ends the exchange, even where the server never answers.
        while await client[0].read(_BUFFER):
            continue

    receive = relay_response(method, upstream[0], client[1], frozenset({REASON_HEADER}))
    await run_first(receive, send())


def _parse(head: Head) -> tuple[str, str, int, str]:
    """Method, host, port and path of a request to a proxy. Raises BadMessage."""
    parts = head.first.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        raise BadMessage("no request line")
    method, target, _ = parts
    try:
        url = urlsplit(f"//{target}" if method == "CONNECT" else target)
        host, port = url.hostname, url.port
    except ValueError as error:
        raise BadMessage("no valid target") from error
    if not host or (method == "CONNECT" and port is None):
        raise BadMessage("no absolute target")
    if method != "CONNECT" and url.scheme != "http":
        raise BadMessage("only http is forwarded; use CONNECT")
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    return method, host, 80 if port is None else port, path


def _target(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _answer(status: int, reason: str) -> bytes:
    phrase = {400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway"}[status]
    plain = " ".join(reason.encode("ascii", "replace").decode().split())
    # With a body, since Chromium has an error page of its own for answers without.
    return (
        f"HTTP/1.1 {status} {phrase}\r\n{REASON_HEADER}: {plain}\r\nContent-Type: text/plain\r\n"
        f"Content-Length: {len(plain)}\r\nConnection: close\r\n\r\n{plain}"
    ).encode()
