"""Check the whole installation, offline: one row a check."""

from __future__ import annotations

import io
import platform
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import numpy as np
from PIL import Image

from ..layout.page import Page, build_page
from ..model.predict import Model
from ..render.browser import find_browser
from ..render.capture import Renderer
from ..render.loop import LoopThread
from ..render.settings import RenderSettings
from ..render.snapshot import Snapshot
from ..render.store import cache_folder
from .setup import try_browser

_SAMPLE = Path(__file__).parents[1] / "data/samples/article.html"
# One stroke against twenty-nine: only where a font has neither do they leave as much ink.
_IDEOGRAPHS = "<!doctype html><body style='font: 64px sans-serif'><p>一<p>鬱"
_INK_RATIO = 2.0

Show = Callable[[bytes], Snapshot]


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, whether it is well, and what was seen or what to do."""

    name: str
    ok: bool
    detail: str


class _Unwell(Exception):
    """A check failed; the message says how, and what to do."""


def run_checks() -> list[Check]:
    """Every check, in the order in which a broken one explains the ones below it."""
    with _renderer() as show:
        probes: dict[str, Callable[[], str]] = {
            "python": _python,
            "packages": _packages,
            "browser": _browser,
            "rendering": lambda: _rendering(show),
            "fonts": lambda: _fonts(show),
            "model": _model,
            "cache": _cache,
        }
        return [_check(name, probe) for name, probe in probes.items()]


def _check(name: str, probe: Callable[[], str]) -> Check:
    try:
        return Check(name, True, probe())
    except Exception as error:  # whatever is broken, and however: that is what is asked for
        return Check(name, False, str(error).partition("\n")[0] or type(error).__name__)


@contextmanager
def _renderer() -> Iterator[Show]:
    loop = LoopThread()
    renderer = Renderer(RenderSettings(screenshot_scale=1.0))
    try:
        yield lambda html: loop.run(renderer.replay(html, "http://doctor.invalid/", "utf-8"))
    finally:
        loop.run(renderer.close())
        loop.close()


def _python() -> str:
    return f"{platform.python_version()}, {platform.platform(terse=True)}"


def _packages() -> str:
    required = [line for line in metadata.requires("pagesight") or () if "extra ==" not in line]
    names = [re.split(r"[^\w.-]", line)[0] for line in required]
    return ", ".join(f"{name} {metadata.version(name)}" for name in ("pagesight", *names))


def _browser() -> str:
    build, sandboxed = try_browser()
    return f"{find_browser()}, {build}, {'sandboxed' if sandboxed else 'not sandboxed'}"


def _rendering(show: Show) -> str:
    page = build_page(show(_SAMPLE.read_bytes()))
    boxed = int((np.nan_to_num(page.box)[:, 2:] > 0).all(axis=1).sum())
    seen = f"{boxed} of {len(page)} blocks of {_SAMPLE.name} have boxes"
    if not page or boxed < len(page) / 2:
        raise _Unwell(seen)
    return seen


def _fonts(show: Show) -> str:
    snapshot = show(_IDEOGRAPHS.encode())
    few, many = _ink(snapshot, build_page(snapshot))
    if many <= few * _INK_RATIO:
        raise _Unwell("Chinese text is drawn as empty boxes: install fonts-wqy-zenhei or the like")
    return "Chinese text is drawn"


def _ink(snapshot: Snapshot, page: Page) -> list[int]:
    """The dark pixels of each block."""
    with Image.open(io.BytesIO(snapshot.screenshot)) as picture:
        grey = np.asarray(picture.convert("L"))
    boxes = page.box.round().astype(int).tolist()
    return [int((grey[y : y + height, x : x + width] < 128).sum()) for x, y, width, height in boxes]


def _model() -> str:
    card = Model.load().card
    taught = ", ".join(dict.fromkeys(dataset for dataset, _ in card.sources()))
    return f"{card.name}, trained on {taught}"


def _cache() -> str:
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        return f"{folder} can be written"
