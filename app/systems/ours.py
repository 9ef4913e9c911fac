"""pagesight itself as a system of a study: static or rendered, with any of its models."""

from __future__ import annotations

from ... import __version__
from ...layout.page import build_page
from ...model.predict import Model
from ...render.snapshot import Meta, Snapshot
from ...render.static import parse
from ..code_digest import code_digest
from ..road import Options, Road
from .protocol import StudyPage, System
from .sitewise import SIBLINGS

# Where the code lies that decides what an extraction gives.
_CODE = ("render/*.py", "layout/**/*.py", "model/*.py", "app/*.py")


class Pagesight(System):
    """Our extractor with one model: of the package by its name, or by the path of its file.

    policy: one that the model knows, "" for its first. by_site: compare with other pages of the
    site, too.

    Raises ModelError.
    """

    def __init__(
        self, name: str, model: str, policy: str, rendered: bool, by_site: bool = False
    ) -> None:
        weights = Model.load(model, policy).card.weights_sha256
        self.name, self.needs_rendering = name, rendered
        self.siblings = SIBLINGS if by_site else 0
        self.version = f"{__version__}+{code_digest(*_CODE)}.{weights[:8]}.{policy}"
        self._road = Road(Options(render=False, model=model, policy=policy, reasons=False))

    def extract(self, page: StudyPage) -> str:
        """The text of the Document."""
        snapshot = page.snapshot if self.needs_rendering else _static(page.html, page.url)
        if snapshot is None:
            raise ValueError("the page was not rendered")
        site = self._road.site(map(_static, page.siblings)) if self.siblings else None
        return self._road.document(snapshot, site).text


class AllText(System):
    """Every text of the page that is no script or style: what is indexed without an extractor."""

    name = "all-text"

    def __init__(self) -> None:
        self.version = f"{__version__}+{code_digest(*_CODE)}"

    def extract(self, page: StudyPage) -> str:
        """A line a block of text."""
        blocks = build_page(_static(page.html))
        broken = blocks.tree.break_before.tolist()
        pairs = zip(broken, blocks.space_before.tolist(), blocks.text, strict=True)
        return "".join(("\n" if b else " " if s else "") + text for b, s, text in pairs).strip()


def _static(html: str, url: str = "") -> Snapshot:
    meta = Meta(url=url, resolved_url=url, frames=(url,))
    return parse(html.encode("utf-8", "replace"), "utf-8", meta)
