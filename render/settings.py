"""What a rendering is asked for, and what it may cost."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Limits:
    """What one page may cost; a page that meets a limit is cut there and flagged, never dropped.

    seconds: from the first request to the last capture, wall time.
    bytes: of the page and all that it loads.
    nodes: of the DOM, elements and texts.
    """

    seconds: float = DEFAULT_SECONDS
    bytes: int = 30_000_000
    nodes: int = 50_000


@dataclass(frozen=True, slots=True)
class RenderSettings:
    """How a page is laid out. Two renderings compare only under the same settings.

    width, height: viewport in CSS pixels.
    screenshot_scale: picture pixels a CSS pixel; 0 takes no picture.
    screenshot_height: CSS pixels of the page that the picture covers at most; Chromium repeats
        or drops rows of pictures that are taller than this default.
    """

    width: int = 1280
    height: int = 800
    screenshot_scale: float = 0.25
    screenshot_height: int = 16_384
