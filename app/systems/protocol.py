"""What a system is to a study: a name, a version, and a function from a page to its text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from ...render.snapshot import Snapshot


@dataclass(frozen=True, slots=True, eq=False)
class StudyPage:
    """One page as every system is given it.

    html: the page's source, decoded, or its rendered DOM written out, as the study's input says.
    siblings: `html` of other pages of the same site, for the systems that ask for them.
    snapshot: the page's rendering, for the systems that ask for it.
    """

    id: str
    url: str
    html: str
    siblings: tuple[str, ...] = ()
    snapshot: Snapshot | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TrainingPage:
    """A page to learn from, with its main content as text."""

    page: StudyPage
    gold: str


class System(ABC):
    """One extractor. An exception from `extract` counts as an error on that page, no more.

    name: as `--systems` has it.
    version: of the package behind it, or of the code here; outputs are kept by name and version,
        so that it must grow whenever outputs may change.
    needs_rendering: whether it reads `StudyPage.snapshot`.
    siblings: how many other pages of the site it wants to see.
    deadline: seconds it may take for a page.
    live: whether it asks a service: one page at a time, and errors, which may pass, are not kept.
    """

    name: str
    version: str
    needs_rendering: bool = False
    siblings: int = 0
    deadline: float = 30.0
    live: bool = False

    @abstractmethod
    def extract(self, page: StudyPage) -> str:
        """The main content of a page as plain text, "" where there is none."""

    def warm_up(self) -> None:
        """Import and load what the first page would have to wait for, and be timed with."""
        self.extract(StudyPage("", "", "<title>A page</title><p>A short text, to warm up.</p>"))


class LearnedSystem(System):
    """An extractor that learns from labelled pages before it extracts."""

    @abstractmethod
    def fit(self, pages: Sequence[TrainingPage]) -> bytes:
        """What it learns, as bytes for `load`: the same pages give the same bytes."""

    @abstractmethod
    def load(self, state: bytes) -> None:
        """Take over what `fit` gave; called once, before `extract`."""
