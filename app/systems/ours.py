"""pagesight itself as a system of a study: static or rendered, with any of its models."""

from __future__ import annotations

from ... import __version__
from ...layout.page import build_page
from ...model.predict import Model
from ...render.snapshot import Snapshot
from ...render.static import parse
from ..code_digest import code_digest
from ..road import Options, Road
from .protocol import StudyPage, System

# Where the code lies that decides what an extraction gives.
_CODE = ("render/*.py", "layout/**/*.py", "model/*.py", "app/*.py")


class Pagesight(System):
    """Our extractor with one model: of the package by its name, or by the path of its file.

    Raises ModelError.
    """

    def __init__(self, name: str, model: str, rendered: bool) -> None:
        weights = Model.load(model).card.weights_sha256
        self.name, self.needs_rendering = name, rendered
        self.version = f"{__version__}+{code_digest(*_CODE)}.{weights[:8]}"
        self._road = Road(Options(render=False, model=model, reasons=False))

    def extract(self, page: StudyPage) -> str:
        """The text of the Document."""
        snapshot = page.snapshot if self.needs_rendering else _static(page)
        if snapshot is None:
            raise ValueError("the page was not rendered")
        return self._road.document(snapshot).text


class AllText(System):
    """Every text of the page that is no script or style: what is indexed without an extractor."""

    name = "all-text"

    def __init__(self) -> None:
        self.version = f"{__version__}+{code_digest(*_CODE)}"

    def extract(self, page: StudyPage) -> str:
        """A line a block of text."""
        blocks = build_page(_static(page))
        broken = blocks.tree.break_before.tolist()
        pairs = zip(broken, blocks.space_before.tolist(), blocks.text, strict=True)
        return "".join(("\n" if b else " " if s else "") + text for b, s, text in pairs).strip()


def _static(page: StudyPage) -> Snapshot:
    return parse(page.html.encode("utf-8", "replace"), "utf-8")
