"""Finding, keeping and replacing the browser, and the loop it lives on."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from pagesight.render.browser import PATH_VARIABLE, BrowserKeeper, find_browser
from pagesight.render.capture import Renderer
from pagesight.render.errors import BrowserError
from pagesight.render.loop import LoopThread


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\nexit 1\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without any browser; what is in `bin` is on its path."""
    monkeypatch.delenv(PATH_VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "downloads"))
    return tmp_path


def test_order_of_search(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_browser() is None
    full = program(bare / "bin/google-chrome")
    assert find_browser() == full
    chromium = program(bare / "bin/chromium")
    assert find_browser() == chromium
    downloaded = program(bare / "downloads/chromium-1200/chrome-linux/chrome")
    assert find_browser() == downloaded
    shell = program(bare / "downloads/chromium_headless_shell-1200/chrome-linux/headless_shell")
    assert find_browser() == shell
    system = program(bare / "bin/chromium-headless-shell")
    assert find_browser() == system
    chosen = program(bare / "mine")
    monkeypatch.setenv(PATH_VARIABLE, str(chosen))
    assert find_browser() == chosen


def test_a_configured_browser_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(PATH_VARIABLE, str(tmp_path / "nothing"))
    with pytest.raises(BrowserError, match="no such file"):
        find_browser()


def test_no_browser_and_one_that_does_not_start(
    bare: Path, monkeypatch: pytest.MonkeyPatch, loop: LoopThread
) -> None:
    broken = Renderer()
    with pytest.raises(BrowserError, match="pagesight setup"):
        loop.run(broken.start())
    monkeypatch.setenv(PATH_VARIABLE, str(program(bare / "mine")))
    with pytest.raises(BrowserError, match="does not start"):
        loop.run(broken.start())
    loop.run(broken.close())


def test_version(loop: LoopThread, renderer: Renderer) -> None:
    assert loop.run(renderer.version()).split("/")[0] in ("HeadlessChrome", "Chrome")


def running(pid: int) -> bool:
    """Whether a process runs; one that only waits to be collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_recycling(loop: LoopThread, renderer: Renderer) -> None:
    async def pids() -> tuple[list[int], int]:
        keeper = BrowserKeeper(recycle_after=2)
        seen = []
        async with keeper.lease() as held:
            seen.append(held.pid)
            for _ in range(3):
                async with keeper.lease() as chromium:
                    seen.append(chromium.pid)
            assert running(held.pid)
        assert not running(seen[0])
        await keeper.close()
        return seen, sum(map(running, seen))

    (first, second, third, fourth), left = loop.run(pids())
    assert first == second != third == fourth
    assert left == 0


def test_a_killed_browser_is_replaced(loop: LoopThread) -> None:
    own = Renderer()
    before = loop.run(own.replay(b"<p>one", "http://a.example/", "utf-8"))

    async def kill() -> None:
        async with own._keeper.lease() as chromium:
            os.kill(chromium.pid, signal.SIGKILL)

    loop.run(kill())
    after = loop.run(own.replay(b"<p>one", "http://a.example/", "utf-8"))
    assert len(after.kind) == len(before.kind)
    loop.run(own.close())


@pytest.mark.timeout(60)
def test_a_browser_killed_under_a_page(loop: LoopThread, server) -> None:
    own = Renderer(allow_private=True)
    url = server.add("/", "<p>slow", delay=1.5)

    async def both() -> tuple[int, int]:
        page = asyncio.ensure_future(own.open(url))
        while not server.requests:
            await asyncio.sleep(0.02)
        async with own._keeper.lease() as chromium:
            chromium.kill()
        return (await page).meta.http_status, len(server.requests)

    assert loop.run(both()) == (200, 2)
    loop.run(own.close())


def test_closing_leaves_nothing_and_is_not_the_end(loop: LoopThread) -> None:
    own = Renderer()

    async def pid() -> int:
        async with own._keeper.lease() as chromium:
            return chromium.pid

    first = loop.run(pid())
    loop.run(own.close())
    loop.run(own.close())
    assert not running(first)
    assert loop.run(own.replay(b"<p>x", "http://a.example/", "")).rendered
    loop.run(own.close())


def test_a_loop_thread() -> None:
    thread = LoopThread()

    async def double(number: int) -> int:
        await asyncio.sleep(0)
        return 2 * number

    assert thread.run(double(2)) == 4
    assert thread.submit(double(3)).result() == 6

    async def from_another_loop() -> int:
        return await asyncio.wrap_future(thread.submit(double(4)))

    assert asyncio.run(from_another_loop()) == 8
    thread.close()
    thread.close()
    assert thread.run(double(5)) == 10
    thread.close()


def test_an_interrupt_cancels_the_coroutine() -> None:
    thread = LoopThread()
    ended: list[str] = []

    async def long() -> None:
        try:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    with pytest.raises(KeyboardInterrupt):
        thread.run(long())
    until = time.monotonic() + 5
    while not ended and time.monotonic() < until:
        time.sleep(0.01)
    thread.close()
    assert ended == ["cancelled"]
