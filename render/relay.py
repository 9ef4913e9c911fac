"""HTTP/1.1 messages passed on from one stream to another, one exchange a connection."""

from __future__ import annotations

import asyncio
from asyncio import IncompleteReadError, StreamReader, StreamWriter
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

_HEAD_MAX = 256 * 1024
_PIECE = 64 * 1024
_HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "upgrade",
    }
)
_NO_BODY = frozenset({204, 304})


class BadMessage(Exception):
    """What came is no HTTP message, or an ambiguous one."""


@dataclass(frozen=True, slots=True)
class Head:
    """The first line and the headers of a message, names as they came."""

    first: str
    headers: list[tuple[str, str]]

    def get(self, name: str) -> str:
        """All values of a header, joined by commas; empty where it is absent."""
        return ", ".join(value for key, value in self.headers if key.lower() == name)

    @property
    def chunked(self) -> bool:
        """Whether the body comes in chunks."""
        return self.get("transfer-encoding").lower().endswith("chunked")

    @property
    def length(self) -> int | None:
        """The announced size of the body. Raises BadMessage."""
        values = {value.strip() for value in self.get("content-length").split(",")}
        if values == {""}:
            return None
        text = values.pop()
        if values or not (text.isascii() and text.isdigit()):
            raise BadMessage("more than one length, or none that is a number")
        return int(text)

    @property
    def status(self) -> int:
        """The status of a response. Raises BadMessage."""
        parts = self.first.split(None, 2)
        if len(parts) < 2 or not parts[0].startswith("HTTP/") or not parts[1].isdigit():
            raise BadMessage("no status line")
        return int(parts[1])


async def read_head(reader: StreamReader) -> Head:
    """Read up to the empty line. Raises BadMessage, IncompleteReadError at an early end."""
    lines: list[str] = []
    size = 0
    while True:
        line = await _line(reader)
        size += len(line)
        if size > _HEAD_MAX:
            raise BadMessage("headers too large")
        text = line.decode("latin-1").rstrip("\r\n")
        if not text and lines:
            break
        if text[:1] in (" ", "\t") and len(lines) > 1:
            lines[-1] += " " + text.strip()
        elif text:
            lines.append(text)
    pairs = [line.partition(":") for line in lines[1:]]
    headers = [(name, value.strip()) for name, colon, value in pairs if colon and name.strip()]
    return Head(lines[0], [(name.strip(), value) for name, value in headers])


def forwarded(first: str, head: Head, extra: list[tuple[str, str]], drop: frozenset[str]) -> bytes:
    """A head for the next hop, which is told to close: first line changed, `drop` left out."""
    named = {name.strip().lower() for name in head.get("connection").split(",")}
    gone = (_HOP_BY_HOP | drop | named) - {"", "content-length", "transfer-encoding"}
    if head.chunked:
        # With both, two readers of one message may see different ends of it.
        gone |= {"content-length"}
    kept = [(name, value) for name, value in head.headers if name.lower() not in gone]
    lines = [first, *(f"{name}: {value}" for name, value in [*extra, *kept])]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1", "replace")


async def relay_request_body(head: Head, reader: StreamReader, writer: StreamWriter) -> None:
    """Pass on what follows a request's head."""
    if head.chunked:
        await _relay_chunks(reader, writer)
    else:
        await _relay_bytes(reader, writer, head.length or 0)


async def relay_response(
    method: str, reader: StreamReader, writer: StreamWriter, drop: frozenset[str]
) -> None:
    """Pass on a response, interim ones before it included; headers in `drop` are left out."""
    while True:
        head = await read_head(reader)
        status = head.status
        reason = head.first.split(None, 2)[2:]
        writer.write(forwarded(" ".join(["HTTP/1.1", str(status), *reason]), head, [], drop))
        await writer.drain()
        if status >= 200:
            break
    if method == "HEAD" or status in _NO_BODY:
        return
    if head.chunked:
        await _relay_chunks(reader, writer)
    elif head.length is not None:
        await _relay_bytes(reader, writer, head.length)
    else:
        await relay_all(reader, writer)


async def relay_all(reader: StreamReader, writer: StreamWriter) -> None:
    """Pass on everything up to the end of the stream, and the end itself."""
    while piece := await reader.read(_PIECE):
        writer.write(piece)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


async def _relay_bytes(reader: StreamReader, writer: StreamWriter, size: int) -> None:
    while size:
        piece = await reader.read(min(size, _PIECE))
        if not piece:
            raise IncompleteReadError(b"", size)
        writer.write(piece)
        await writer.drain()
        size -= len(piece)


async def _relay_chunks(reader: StreamReader, writer: StreamWriter) -> None:
    while True:
        line = await _line(reader)
        writer.write(line)
        try:
            size = int(line.split(b";")[0], 16)
        except ValueError as error:
            raise BadMessage("no chunk size") from error
        if not size:
            break
        await _relay_bytes(reader, writer, size)
        writer.write(await _line(reader))
    while (line := await _line(reader)).strip():
        writer.write(line)
    writer.write(line)
    await writer.drain()


async def _line(reader: StreamReader) -> bytes:
    try:
        line = await reader.readline()
    except ValueError as error:
        raise BadMessage("a line too long") from error
    if not line.endswith(b"\n"):
        raise IncompleteReadError(line, None)
    return line


async def run_all(*works: Coroutine[Any, Any, None]) -> None:
    """Run works together; the first to fail ends the others."""
    await _run(works, asyncio.FIRST_EXCEPTION)


async def run_first(*works: Coroutine[Any, Any, None]) -> None:
    """Run works together; the first to end ends the others."""
    await _run(works, asyncio.FIRST_COMPLETED)


async def _run(works: tuple[Coroutine[Any, Any, None], ...], until: str) -> None:
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=until)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()


async def end_stream(writer: StreamWriter) -> None:
    """Close a stream, whatever state it is in."""
    writer.close()
    try:
        await writer.wait_closed()
    except OSError:
        return
