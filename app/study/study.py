"""Make a study: every system runs over the same pages."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

from ...data.datasets import ALL, Dataset, open_dataset
from ...render.errors import BrowserError, DatasetError, StudyError
from ...train.prepare import SnapshotOf
from ..progress import track
from ..renderings import reader, render_all
from ..systems.protocol import LearnedSystem, System, TrainingPage
from ..systems.recorded import Recorded
from ..systems.registry import Spec, find
from .outputs import Output, Outputs
from .pages import Pages
from .runner import Runner
from .worker import learn

INPUTS = ("raw", "rendered")
# Where only the test pages of a split are unknown to the models that are trained on the data set.
DEFAULT_SPLITS = {"cleaneval": "cleaneval"}
# Whose training pages the learned systems get where the study's split has none of its own.
LEARN_FROM = "cleaneval:web2text"


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be compared on what.

    split: "" for the data set's usual one. input: what systems that read HTML are given, "raw" or
        "rendered".
    learn_from: "DATASET:SPLIT" whose training pages the learned systems get, "" for the study's
        own split, or LEARN_FROM where that has no training part.
    """

    dataset: str
    data: Path | None
    split: str
    systems: tuple[str, ...]
    limit: int | None = None
    workers: int = 1
    input: str = "raw"
    learn_from: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """What one system gave, by page id. `timed` is False for recorded ones.

    costs: its outputs without their texts; these are kept packed, as dozens of systems are.
    """

    name: str
    version: str
    timed: bool
    costs: dict[str, Output] = field(default_factory=dict)
    _packed: dict[str, bytes] = field(default_factory=dict)

    def add(self, id: str, output: Output) -> None:
        """Keep the output for a page."""
        self._packed[id] = zlib.compress(output.text.encode(), 1)
        self.costs[id] = replace(output, text="")

    def scored_text(self, id: str) -> str | None:
        """The text for a page, None where the system failed."""
        return None if self.costs[id].error else self.text(id)

    def text(self, id: str) -> str:
        """The text for a page, "" where the system failed."""
        return zlib.decompress(self._packed[id]).decode()


class Study:
    """Opens the data, finds the systems and runs them.

    not_rendered, cut: pages that could not be rendered, and those that were in part, with why.
    Raises PagesightError where the data, a system or a model is not there: before anything runs.
    """

    not_rendered: Mapping[str, str] = MappingProxyType({})
    cut: Mapping[str, Sequence[str]] = MappingProxyType({})

    def __init__(self, request: Request) -> None:
        self.dataset: Dataset = open_dataset(request.dataset, request.data)
        if not request.split:
            request = replace(request, split=DEFAULT_SPLITS.get(self.dataset.name, ALL))
        self.request = request
        part = "" if request.split == ALL else "test"
        self.ids: Sequence[str] = self.dataset.ids(request.split, part)[: request.limit]
        specs = [find(name, self.dataset, request.split) for name in request.systems]
        self._entries: list[tuple[Spec, System]] = [(spec, spec.make()) for spec in specs]
        if any(isinstance(system, LearnedSystem) for _, system in self._entries):
            dataset, split = self._learn_from()
            dataset.ids(split, "train")

    def stored_renderings(self) -> SnapshotOf:
        """Reads the renderings that are in the store; none where there is no browser."""
        try:
            return reader()
        except BrowserError:
            return lambda record: None

    def run(self, ids: Sequence[str], store: Outputs) -> Iterator[Run]:
        """One system after the other, on these pages; they are rendered first if need be.

        Raises BrowserError where that needs a browser and there is none.
        """
        is_rendered = self.request.input == "rendered"
        if is_rendered or any(system.needs_rendering for _, system in self._entries):
            tally = render_all(self.dataset, ids, max(2, self.request.workers))
            self.not_rendered, self.cut = tally.failures, tally.partial
            pages = Pages(self.dataset, ids, is_rendered, reader())
        else:
            pages = Pages(self.dataset, ids)
        runner = Runner(pages, store, self.request.workers)
        for spec, system in self._entries:
            state = self._state(spec, system, store)
            run = Run(spec.name, system.version, timed=not isinstance(system, Recorded))
            with track(spec.name, len(ids)) as advance:
                for id, output in runner.run(spec, system, state):
                    run.add(id, output)
                    advance()
            yield run

    def _state(self, spec: Spec, system: System, store: Outputs) -> bytes | None:
        """What a learned system has learned, None for others; its version says from what."""
        if not isinstance(system, LearnedSystem):
            return None
        source, pages = self._training
        system.version += f" from {source}"
        with track(f"{spec.name}: learning", 1) as advance:
            state = store.state(spec.name, system.version, lambda: learn(spec, pages))
            advance()
        return state

    @cached_property
    def _training(self) -> tuple[str, list[TrainingPage]]:
        """Where the training pages are from, with a digest of them, and the pages."""
        dataset, split = self._learn_from()
        pages = Pages(dataset, dataset.ids(split, "train")).training()
        digest = sha256()
        for page in pages:
            digest.update(sha256(f"{page.page.html}\0{page.gold}".encode()).digest())
        return f"{dataset.name}:{split} {digest.hexdigest()[:8]}", pages

    def _learn_from(self) -> tuple[Dataset, str]:
        """The data set and the split to learn from. Raises StudyError, DatasetError."""
        request = self.request
        if not request.learn_from and request.split != ALL:
            return self.dataset, request.split
        name, _, split = (request.learn_from or LEARN_FROM).rpartition(":")
        if not name:
            raise StudyError(f"--learn-from {split}: name a data set and a split, with : between")
        dataset = self._open_beside(name)
        same = dataset.name == self.dataset.name
        if same and dataset.name == "folder":
            same = dataset.root.resolve() == self.dataset.root.resolve()
        if same and split != request.split:
            raise StudyError(
                f"systems that learn would know some of these pages: choose --split {split}, "
                "or other pages to learn from (--learn-from DATASET:SPLIT)"
            )
        return dataset, split

    def _open_beside(self, name: str) -> Dataset:
        """Another data set: where this one was looked for, else where the environment says."""
        try:
            return open_dataset(name, self.request.data)
        except DatasetError:
            return open_dataset(name)
