"""pagesight: the main content of any web page, found the way a person sees it.

>>> import pagesight
>>> document = pagesight.extract("<p>Hello</p>", render=False)

The names below load on first use: importing the package starts no browser and loads no model.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .app.api import AsyncExtractor, Extractor, extract, extract_snapshot, render
    from .app.document import Block, Document
    from .render.errors import PagesightError
    from .render.snapshot import Snapshot

__version__ = "0.1.0"

__all__ = [
    "AsyncExtractor",
    "Block",
    "Document",
    "Extractor",
    "PagesightError",
    "Snapshot",
    "extract",
    "extract_snapshot",
    "render",
]

_HOMES = {
    "AsyncExtractor": "app.api",
    "Block": "app.document",
    "Document": "app.document",
    "Extractor": "app.api",
    "PagesightError": "render.errors",
    "Snapshot": "render.snapshot",
    "extract": "app.api",
    "extract_snapshot": "app.api",
    "render": "app.api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
