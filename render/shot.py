"""The capture itself: what a tab shows now, as a Snapshot."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import dataclass, replace
from typing import Any

from playwright.async_api import Error

from .decode import decode, frame_elements
from .errors import DeadlineError
from .settings import Limits, RenderSettings
from .settle import Navigated
from .snapshot import STYLES, Meta, Snapshot
from .tab import Tab

# After the deadline, for the capture of what is there.
GRACE_SECONDS = 3.0

# Runs last before the capture, in the page's isolated world. What is off the screen is laid out,
# what stands after the `most`-th node is removed. Returns whether anything was.
_PREPARE = """(most => {
  for (const store of ['localStorage', 'sessionStorage']) try { window[store].clear() } catch {}
  const rule = '* { content-visibility: visible !important }'
  const reveal = root => {
    try {
      const sheet = new (root.ownerDocument ?? root).defaultView.CSSStyleSheet()
      sheet.replaceSync(rule)
      root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet]
    } catch {}
    for (const element of root.querySelectorAll('*')) {
      if (element.shadowRoot) reveal(element.shadowRoot)
      if (element.contentDocument) reveal(element.contentDocument)
    }
  }
  reveal(document)
  const walker = document.createTreeWalker(document)
  let count = 1
  while (count < most && walker.nextNode()) count++
  const kept = walker.currentNode
  if (!walker.nextNode()) return false
  const range = document.createRange()
  range.setStartBefore(walker.currentNode)
  range.setEndAfter(document.documentElement)
  range.deleteContents()
  return true
})"""

_ATTEMPTS = 3
_JPEG_QUALITY = 70


@dataclass(slots=True)
class _Shot:
    """What has been captured so far; `result` comes first and is enough."""

    result: dict[str, Any] | None = None
    trimmed: bool = False
    insets: dict[int, tuple[float, float]] | None = None
    picture: bytes = b""


async def capture(
    tab: Tab, meta: Meta, settings: RenderSettings, limits: Limits, until: float
) -> Snapshot:
    """The Snapshot of a tab's page; `meta` is completed by what only the capture knows.

    Past loop time `until` the page is stopped and GRACE_SECONDS are left. Raises DeadlineError
    where nothing can be had by then; Gone, Navigated and playwright's Error.
    """
    if not tab.arrived:
        raise DeadlineError(f"{meta.url}: no answer within {limits.seconds:g} seconds")
    shot = _Shot()
    task = asyncio.ensure_future(_take(tab, shot, settings, limits))
    cut = list(meta.cut)
    try:
        if not await tab.wait(task, until):
            if not tab.stopped.is_set():
                cut.append("deadline")
                tab.stop()
            await tab.wait(task, until + GRACE_SECONDS)
        if task.done():
            task.result()
    finally:
        task.cancel()
    if shot.result is None:
        raise DeadlineError(f"{meta.url}: nothing to capture after {limits.seconds:g} seconds")
    if shot.trimmed:
        cut.append("nodes")
    scale = settings.screenshot_scale if shot.picture else 0.0
    meta = replace(meta, cut=tuple(cut), screenshot_scale=scale)
    return decode(shot.result, meta, shot.picture, shot.insets)


async def _take(tab: Tab, shot: _Shot, settings: RenderSettings, limits: Limits) -> None:
    for _ in range(_ATTEMPTS):
        try:
            shot.trimmed = bool(await tab.evaluate(f"{_PREPARE}({limits.nodes})"))
            break
        except Navigated:
            continue
    result = await tab.send(
        "DOMSnapshot.captureSnapshot",
        computedStyles=list(STYLES),
        includePaintOrder=True,
    )
    shot.insets = await _insets(tab, frame_elements(result))
    shot.result = result
    if settings.screenshot_scale:
        shot.picture = await _picture(tab, result["documents"][0], settings)


async def _insets(tab: Tab, elements: list[int]) -> dict[int, tuple[float, float]]:
    """For each frame element, how far its content lies inside its box: borders and padding."""
    insets: dict[int, tuple[float, float]] = {}
    for element in elements:
        try:
            model = (await tab.send("DOM.getBoxModel", backendNodeId=element))["model"]
        except Error:
            # Not laid out, so there is nothing in it to place.
            continue
        border, content = model["border"], model["content"]
        insets[element] = content[0] - border[0], content[1] - border[1]
    return insets


async def _picture(tab: Tab, page: dict[str, Any], settings: RenderSettings) -> bytes:
    """A JPEG of the page's top; empty where Chromium cannot make one."""
    height = min(max(page["contentHeight"], settings.height), settings.screenshot_height)
    clip = {"x": 0, "y": 0, "width": settings.width, "height": height}
    try:
        answer = await tab.send(
            "Page.captureScreenshot",
            format="jpeg",
            quality=_JPEG_QUALITY,
            clip=clip | {"scale": settings.screenshot_scale},
            captureBeyondViewport=True,
            optimizeForSpeed=True,
        )
    except Error:
        return b""
    return base64.b64decode(answer["data"])
