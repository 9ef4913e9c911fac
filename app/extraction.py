"""What the commands `extract`, `explain` and `render` do."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from ..layout.page import build_page
from ..render.errors import SourceError
from ..render.settings import RenderSettings
from ..render.sources import pages_of
from .api import Extractor
from .document import Document, Status, build_document

FORMATS: dict[str, Callable[[Document], str]] = {
    "text": lambda document: document.text,
    "markdown": lambda document: document.markdown,
    "html": lambda document: document.html,
    "json": lambda document: json.dumps(document.to_dict(), ensure_ascii=False),
}
_METADATA = ("title", "author", "date", "sitename", "language", "description", "url")
_GOOD = {Status.OK, Status.PARTIAL}


@dataclass(frozen=True, slots=True)
class Request:
    """Which sources to extract, and how to write what was found."""

    sources: tuple[str, ...]
    input_file: Path | None
    input_dir: Path | None
    url: str
    format: str
    with_metadata: bool
    output: Path | None

    def is_empty(self) -> bool:
        """Whether nothing was named at all."""
        return not (self.sources or self.input_file or self.input_dir)

    def expand(self) -> Iterator[str]:
        """The sources one by one, those of lists and folders in their order."""
        listed = self.input_file.read_text().splitlines() if self.input_file else []
        folders = [str(self.input_dir)] if self.input_dir else []
        for source in (*self.sources, *(line.strip() for line in listed), *folders):
            if os.path.isdir(source):
                yield from map(str, pages_of(Path(source)))
            elif source:
                yield source


def extract_all(request: Request, site: bool = False, **options: Any) -> int:
    """Extract and write; returns the exit code. Failures are named on stderr, one line each.

    site: the sources are pages of one site or a few, so that what repeats is template.
    """
    sources = list(request.expand())
    if not sources:
        raise SourceError("no page in these folders and lists")
    failed = False
    with (
        Extractor(reasons=request.format == "json", **options) as extractor,
        _output(request.output) as out,
    ):
        url = request.url or None
        one_by_one = (extractor.extract(source, url) for source in sources)
        documents = extractor.extract_site(sources, url) if site else one_by_one
        for source, document in zip(sources, documents, strict=True):
            if document.error is not None:
                what = document.error.removeprefix(f"{source}: ")
                print(f"pagesight: {source}: {document.status}: {what}", file=sys.stderr)
            failed |= document.status not in _GOOD
            _write(document, source, request, len(sources) > 1, out)
    return int(failed)


def render_one(source: str, output: Path, url: str, **options: Any) -> None:
    """Save the rendering of one page. Raises PagesightError, OSError."""
    with Extractor(settings=RenderSettings(), **options) as extractor:
        extractor.snapshot(source, url or None).save(output)


def explain_one(source: str, output: Path, url: str, **options: Any) -> None:
    """Write the picture of one page with its labels. Raises PagesightError, OSError."""
    from .explain import explain_html, explain_png

    # The picture is to be read: take it at the size that people see.
    settings = RenderSettings(screenshot_scale=1.0)
    with Extractor(settings=settings, **options) as extractor:
        page = build_page(extractor.snapshot(source, url or None))
        labels = extractor.model().label(page)
    if output.suffix == ".png":
        output.write_bytes(explain_png(page, labels))
    else:
        output.write_text(explain_html(page, build_document(page, labels)))


def _write(document: Document, source: str, request: Request, several: bool, out: TextIO) -> None:
    body = FORMATS[request.format](document)
    if request.format == "json":
        print(body, file=out, flush=True)
        return
    if several:
        print(f"==> {source} <==", file=out)
    if request.with_metadata:
        print(_front_matter(document), file=out)
    if body:
        print(body, file=out, flush=True)
    if several:
        print(file=out)


def _front_matter(document: Document) -> str:
    """The metadata that are known, as a YAML block; JSON strings are YAML strings."""
    known = {name: getattr(document, name) for name in _METADATA}
    lines = [f"{name}: {json.dumps(v, ensure_ascii=False)}" for name, v in known.items() if v]
    return "\n".join(["---", *lines, "---"])


@contextmanager
def _output(path: Path | None) -> Iterator[TextIO]:
    if path is None:
        yield sys.stdout
        return
    with path.open("w", encoding="utf-8") as file:
        yield file
