"""What extraction costs: processor time a page beside another road, memory, start-up.

Read figures as ratios within one run. The two roads of a contest take turns page by page, so that
a busy machine slows both alike, and what is counted is processor time, never wall time.
"""

from __future__ import annotations

import asyncio
import base64
import random
import resource
import statistics
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from subprocess import DEVNULL

import psutil
from playwright.async_api import Error

from ..data.datasets import Dataset, PageRecord
from ..layout.page import Labels, Page, build_page
from ..model.predict import Model
from ..render.browser import BrowserKeeper, Chromium
from ..render.capture import Renderer
from ..render.charset import choose
from ..render.errors import PagesightError
from ..render.guard import ClosedPort
from ..render.settings import RenderSettings
from ..render.snapshot import Snapshot
from ..render.static import parse
from ..render.stored import NO_LOADING, StoredPages
from ..render.tab import Tab
from .examples import stored_page

_POLL_SECONDS = 0.02
# What a page still does when its load is over is counted with it, for this long.
_REST_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Series:
    """What one thing cost on each page, in the order of the pages."""

    name: str
    seconds: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Seconds a page."""
        return statistics.fmean(self.seconds)

    @property
    def median(self) -> float:
        """Seconds a page."""
        return statistics.median(self.seconds)


@dataclass(frozen=True, slots=True)
class Contest:
    """Two roads over the same pages: the stages of ours, one after the other, and a rival.

    more: what comes on top of ours where it is asked for.
    failed: how many pages are left out because one of the roads did not get to the end.
    """

    stages: tuple[Series, ...]
    rival: Series
    more: tuple[Series, ...] = ()
    failed: int = 0

    @property
    def ours(self) -> Series:
        """All stages together."""
        columns = (stage.seconds for stage in self.stages)
        return Series("pagesight", tuple(map(sum, zip(*columns, strict=True))))

    @property
    def ratio(self) -> float:
        """Our time for all pages over the rival's."""
        return self.ours.mean / self.rival.mean


@dataclass(frozen=True, slots=True)
class Run:
    """What one command cost.

    cpu: seconds of the command and of the processes that it waited for.
    peak: bytes resident at one time in all its processes, what they share counted in each.
    """

    wall: float
    cpu: float
    peak: int


def draw(dataset: Dataset, count: int, seed: int = 0) -> list[PageRecord]:
    """Pages at random, for one seed always the same."""
    return [dataset.load(id) for id in random.Random(seed).sample(dataset.ids(), count)]


def contest_static(
    records: Sequence[PageRecord],
    model: Model,
    finish: Callable[[Page, Labels], object],
    rival: Callable[[bytes], object],
) -> Contest:
    """The static road against another extractor; the first page warms up and is not counted.

    finish: from the labels to the result. rival: from the bytes of a page to its result.
    """
    laps: list[list[float]] = []
    for record in records:
        times = [time.process_time()]
        snapshot = parse(record.content, choose(record.content, record.charset))
        times.append(time.process_time())
        page = build_page(snapshot)
        times.append(time.process_time())
        model.states(page)
        times.append(time.process_time())
        labels = model.label(page, reasons=False)
        times.append(time.process_time())
        finish(page, labels)
        times.append(time.process_time())
        rival(record.content)
        times.append(time.process_time())
        model.label(page)
        times.append(time.process_time())
        parsed, built, features, plain, document, theirs, full = _laps(times)
        laps.append([parsed, built, features, plain - features, document, theirs, full - plain])
    names = ("charset, parse", "page", "features", "network, chain", "document", "rival", "reasons")
    *ours, other, reasons = _columns(names, laps[1:])
    return Contest(tuple(ours), other, more=(reasons,))


async def contest_rendered(
    records: Sequence[PageRecord],
    finish: Callable[[Snapshot], object],
    settings: RenderSettings | None = None,
) -> Contest:
    """The rendered road against a bare `goto`, each in a browser of its own with the same flags.

    finish: from the Snapshot to the result. The first page warms up and is not counted.
    """
    renderer, bare = Renderer(settings), BareRoad()
    try:
        ours, theirs = await Family.started(renderer.start), await Family.started(bare.start)
        laps: list[list[float]] = []
        for record in records:
            page = stored_page(record)
            charset = choose(page.content, page.charset)
            times = [ours.cpu()]
            try:
                snapshot = await renderer.replay(page.content, page.address, charset)
                await asyncio.sleep(_REST_SECONDS)
                times.append(ours.cpu())
                finish(snapshot)
                times += [ours.cpu(), theirs.cpu()]
                await bare.go(page.content, page.address, charset)
                await asyncio.sleep(_REST_SECONDS)
                times.append(theirs.cpu())
            except (PagesightError, Error):
                continue
            render, rest, _, other = _laps(times)
            laps.append([render, rest, other])
    finally:
        await renderer.close()
        await bare.close()
    *stages, goto = _columns(("render", "extract", "goto"), laps[1:])
    return Contest(tuple(stages), goto, failed=len(records) - len(laps))


def measure(command: Sequence[str | Path], folder: Path) -> Run:
    """Run a command in a folder. Raises CalledProcessError where it ends by more than exit code 1.

    Exit code 1 says that some page has no content.
    """
    before, start, peak = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter(), 0
    with subprocess.Popen(command, cwd=folder, stdout=DEVNULL, stderr=DEVNULL) as process:
        root = psutil.Process(process.pid)
        while process.poll() is None:
            peak = max(peak, sum(_resident(member) for member in _members(root)))
            time.sleep(_POLL_SECONDS)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode > 1:
        raise subprocess.CalledProcessError(process.returncode, command)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Run(wall, cpu, peak)


class BareRoad:
    """Shows stored pages as our renderer does, and does nothing with them."""

    def __init__(self) -> None:
        self._keeper = BrowserKeeper()
        self._nowhere = ClosedPort()
        self._pages: _BarePages | None = None

    async def start(self) -> None:
        """Launch the browser. Raises BrowserError."""
        await self._keeper.version()

    async def close(self) -> None:
        """End the browser."""
        await self._keeper.close()
        self._nowhere.close()

    async def go(self, content: bytes, url: str, charset: str) -> None:
        """Show a page and wait for its `load`. Raises playwright's Error."""
        async with self._keeper.lease() as chromium:
            pages, self._pages = self._pages or await self._new(chromium), None
            await pages.load(content, url, f"text/html; charset={charset}")
            self._pages = pages

    async def _new(self, chromium: Chromium) -> _BarePages:
        context = await chromium.context(RenderSettings(), self._nowhere.url)
        pages = _BarePages(await Tab.open(context))
        await pages.start()
        return pages


class _BarePages(StoredPages):
    async def load(self, content: bytes, url: str, content_type: str) -> None:
        self._response = {
            "responseCode": 200,
            "responseHeaders": [{"name": "Content-Type", "value": content_type}, NO_LOADING],
            "body": base64.b64encode(content).decode(),
        }
        await self.tab.context.pages[0].goto(url)


class Family:
    """This process, and all that one of its children has started."""

    def __init__(self, child: psutil.Process) -> None:
        self._own, self._child = psutil.Process(), child

    @classmethod
    async def started(cls, start: Callable[[], Awaitable[None]]) -> Family:
        """The family of the child that a call starts."""
        before = set(psutil.Process().children())
        await start()
        (child,) = set(psutil.Process().children()) - before
        return cls(child)

    def cpu(self) -> float:
        """Processor seconds so far, those of members that have ended included."""
        own = self._own.cpu_times()
        return own.user + own.system + sum(map(_seconds, _members(self._child)))


def _members(root: psutil.Process) -> list[psutil.Process]:
    try:
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _seconds(process: psutil.Process) -> float:
    """What a process has used, and those that it has waited for."""
    try:
        return sum(process.cpu_times()[:4])
    except psutil.NoSuchProcess:
        return 0.0


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def _laps(times: Sequence[float]) -> list[float]:
    return [end - start for start, end in pairwise(times)]


def _columns(names: Iterable[str], rows: Iterable[Iterable[float]]) -> list[Series]:
    columns = zip(*rows, strict=True)
    return [Series(name, column) for name, column in zip(names, columns, strict=True)]
